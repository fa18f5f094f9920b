//! The rows of a scan of one request, as every search is: straight from the retry loop to the caller, in its task.

use std::future::poll_fn;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use tokio::sync::mpsc;

use super::collect::cancelled;
use super::record_stats::{BatchWithStats, RecordStats, WithStats};
use super::split::Outcome;
use super::stats::Figures;
use super::{Scan, Stats};
use crate::cells::{Block, Cells};
use crate::client::{Client, Delivery, Event, Kept};
use crate::error::Result;
use crate::observe::{self, observed};

impl Scan {
    /// Whether this is one request whose response is taken as it comes.
    pub(super) fn is_one_plain_request(&self) -> bool {
        self.requests() == 1 && self.reporter.is_none() && self.limit != Some(0)
    }

    /// Sends the request and passes full blocks to `events`. Returns the last rows with the figures.
    pub(super) async fn rows_of_one_request(
        &self,
        client: &Client,
        events: &mpsc::Sender<Event<Box<Block>>>,
    ) -> Result<(Vec<Block>, Stats)> {
        let mut figures = Figures::new(self);
        let request = self.request(0, self.limit);
        let columns = self.attributes().len();
        let day_column = request.day.as_ref().map(|(column, _)| column);
        let time_column = day_column.and_then(|column| self.attributes().iter().position(|name| name == column));
        let new_sink = move || WithStats::new(Cells::new(columns), time_column);
        let buffer = client.result_buffer(&client.result_size(Kept::Records));
        let delivery = Delivery::new(0, self.collected().delivery, Arc::new(buffer));
        let mut rows = Rows { delivery: &delivery, records: RecordStats::default() };
        let observer = observe::observer().map(|observer| observer.for_day(self.day(0)));
        let search = observed(observer, client.search(self.collected(), &request.search, &new_sink, &delivery));
        let completed = tokio::select! {
            biased;
            completed = search => completed.map_err(|error| self.error_of(0, error))?,
            () = rows.relay(events) => return Err(cancelled()),
        };
        let (last, records) = rows.rest();
        figures.add(self, &Outcome { index: 0, request, completed, records });
        Ok((last, figures.stats(self)))
    }
}

/// The rows on their way to the caller.
struct Rows<'a> {
    delivery: &'a Delivery<BatchWithStats<Block>>,
    /// Of the blocks that were taken.
    records: RecordStats,
}

impl Rows<'_> {
    /// Passes on what arrives before the response is complete, until the receiver is dropped. It can be dropped at any
    /// time: an event is taken once there is space for it.
    async fn relay(&mut self, events: &mpsc::Sender<Event<Box<Block>>>) {
        while let Ok(space) = events.reserve().await {
            let Some(event) = poll_fn(|context| self.poll(context)).await else { return };
            space.send(event.boxed());
        }
    }

    /// What is left once the response is complete.
    fn rest(mut self) -> (Vec<Block>, RecordStats) {
        let mut blocks = Vec::new();
        while let Poll::Ready(Some(Event::Batch(block))) = self.poll(&mut Context::from_waker(Waker::noop())) {
            blocks.push(block);
        }
        (blocks, self.records)
    }

    fn poll(&mut self, context: &mut Context<'_>) -> Poll<Option<Event<Block>>> {
        self.delivery.poll(context).map(|event| {
            Some(match event? {
                Event::Batch(BatchWithStats { batch, stats }) => {
                    self.records.add(stats);
                    Event::Batch(batch)
                }
                Event::Restart => {
                    self.records = RecordStats::default();
                    Event::Restart
                }
            })
        })
    }
}
