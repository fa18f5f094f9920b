//! The rows of a scan of one request, as every search is: straight from the retry loop to the caller, in its task.

use std::future::poll_fn;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use tokio::sync::mpsc;

use super::collect::cancelled;
use super::ids::Ids;
use super::record_stats::{BatchWithStats, RecordStats, WithStats};
use super::responses::Outcome;
use super::stats::StatsBuilder;
use super::{Consumer, LastRows, Scan};
use crate::cells::{Block, Cells};
use crate::client::{Client, Delivered, Delivery, Kept, OfAttempt};
use crate::error::Result;
use crate::observe::{self, observed};

impl Scan {
    /// Whether this is one request whose response is taken as it comes.
    pub(super) fn is_one_plain_request(&self) -> bool {
        self.requests() == 1 && self.reporter.is_none() && self.limit != Some(0)
    }

    /// Sends the request and passes full blocks to `blocks`. Returns the last rows with the figures.
    pub(super) async fn rows_of_one_request(
        &self,
        client: &Client,
        blocks: &mpsc::Sender<Delivered<Box<Block>>>,
    ) -> Result<LastRows> {
        let mut figures = StatsBuilder::new();
        let request = self.request(0, self.limit);
        let columns = self.attributes().len();
        let time_column = request.window.as_ref().and_then(|window| self.position_of(window));
        let new_sink = move || WithStats::new(Cells::new(columns), time_column);
        let buffer = client.result_buffer(Kept::Records);
        let mode = self.mode(Consumer::Collects);
        let delivery = Delivery::new(0, mode.delivery, Arc::new(buffer));
        let of_customers = self.selects_customers().then(|| self.ids()).flatten();
        let ids = OfAttempt::new(of_customers.clone());
        let records = OfAttempt::new(RecordStats::default());
        let mut rows = Rows { delivery: &delivery, records, of_customers, ids };
        let observer = observe::observer().map(|observer| observer.for_day(self.day(0)));
        let search = observed(observer, client.search(mode, &request.search, &new_sink, &delivery));
        let completed = tokio::select! {
            biased;
            completed = search => completed.map_err(|error| self.error_of(0, error))?,
            () = rows.relay(blocks) => return Err(cancelled()),
        };
        let (blocks, attempt, records, ids) = rows.rest();
        figures.add(self, &Outcome { index: 0, request, completed, records });
        let mut stats = figures.stats(self);
        stats.set_ids(ids.as_ref());
        Ok(LastRows { blocks, attempt, stats })
    }
}

/// The rows on their way to the caller.
struct Rows<'a> {
    delivery: &'a Delivery<BatchWithStats<Block>>,
    /// Of the blocks that were taken.
    records: OfAttempt<RecordStats>,
    /// The ids of customers that the request asks for.
    of_customers: Option<Ids>,
    /// Which of them are in the blocks that were taken.
    ids: OfAttempt<Option<Ids>>,
}

impl Rows<'_> {
    /// Passes on what arrives before the response is complete, until the receiver is dropped. It can be dropped at any
    /// time: a block is taken once there is space for it.
    async fn relay(&mut self, blocks: &mpsc::Sender<Delivered<Box<Block>>>) {
        while let Ok(space) = blocks.reserve().await {
            let Some(block) = poll_fn(|context| self.poll(context)).await else { return };
            space.send(block.boxed());
        }
    }

    /// What is left once the response is complete: blocks, the number of their attempt, and the counts of all its blocks.
    fn rest(mut self) -> (Vec<Block>, u32, RecordStats, Option<Ids>) {
        let mut blocks = Vec::new();
        while let Poll::Ready(Some(block)) = self.poll(&mut Context::from_waker(Waker::noop())) {
            blocks.push(block.batch);
        }
        let attempt = self.delivery.attempt();
        let ids = self.ids.of_last(attempt, || self.of_customers.clone());
        (blocks, attempt, self.records.of_last(attempt, RecordStats::default), ids)
    }

    fn poll(&mut self, context: &mut Context<'_>) -> Poll<Option<Delivered<Block>>> {
        self.delivery.poll(context).map(|delivered| {
            let Delivered { attempt, batch: BatchWithStats { batch, stats } } = delivered?;
            self.records.of(attempt, RecordStats::default).add(stats);
            if let Some(ids) = self.ids.of(attempt, || self.of_customers.clone()) {
                ids.add_block(&batch);
            }
            Some(Delivered { attempt, batch })
        })
    }
}
