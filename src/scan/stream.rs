//! Answers on their way, batch by batch, to any number of takers, each batch to one of them.
//!
//! Waiting and taking are two steps: whoever is cancelled while it waits has taken nothing, so nothing is lost.

use std::future::Future;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use arc_swap::ArcSwapOption;
use arrow_array::RecordBatch;
use arrow_schema::SchemaRef;

use super::answers::{Answers, Asking};
use super::watch::Watched;
use super::{Scan, Stats};
use crate::client::{Client, Event};
use crate::columns::{self, Column, Columns, Options};
use crate::error::{Error, Kind, Result};

/// Where the figures of the last use of a scan are kept.
pub type LastStats = Arc<ArcSwapOption<Stats>>;

/// The receiving end of the answers.
#[derive(Debug)]
pub struct Stream {
    scan: Scan,
    options: Options,
    answers: tokio::sync::Mutex<Answers<RecordBatch>>,
    /// The types that the columns came to with the first batch, for the answers that follow.
    settled: Arc<OnceLock<Vec<Column>>>,
    state: Mutex<State>,
    last_stats: LastStats,
}

#[derive(Debug, Default)]
struct State {
    ready: Option<RecordBatch>,
    /// Of the first batch.
    schema: Option<SchemaRef>,
    rows: u64,
    end: Option<Result<()>>,
    stats: Option<Arc<Stats>>,
}

/// What can be taken from a stream.
#[derive(Debug)]
pub enum Next {
    /// The next batch, which is nobody else's.
    Batch(RecordBatch),
    /// Nothing yet: wait with [`Stream::wait`], then look again.
    NotYet,
    /// Nothing more: the answer ended well and all of it was taken.
    End,
}

impl Scan {
    /// Begins a stream: its receiving end, and the work of the other, which ends when it is dropped.
    pub fn stream(
        self,
        client: Arc<Client>,
        options: Options,
        last_stats: LastStats,
    ) -> (Stream, impl Future<Output = ()> + Send + use<>) {
        let (stream, asking) = Stream::new(self.clone(), client.concurrency(), options, last_stats);
        let settled = Arc::clone(&stream.settled);
        let work = async move {
            let sink = || {
                let columns = settled.get().unwrap_or(&self.columns);
                Watched::new(Columns::new(columns, options), self.time_column())
            };
            asking.ask(&client, &self, self.streamed(), sink).await;
        };
        (stream, work)
    }
}

impl Stream {
    fn new(scan: Scan, concurrency: u32, options: Options, last_stats: LastStats) -> (Self, Asking<RecordBatch>) {
        // Where only the rows tell a type, those of the first request that has any decide for all.
        let (answers, asking) = scan.answers(concurrency, scan.schema(options.views).is_none());
        let answers = tokio::sync::Mutex::new(answers);
        let (settled, state) = (Arc::default(), Mutex::default());
        (Self { scan, options, answers, settled, state, last_stats }, asking)
    }

    /// Takes what is there, without waiting.
    ///
    /// # Errors
    /// Why the answer did not end well, to each taker: `StreamInterrupted` once rows were taken or it was closed.
    pub fn take(&self) -> Result<Next> {
        let mut state = self.state();
        if let Some(batch) = state.ready.take() {
            return Ok(Next::Batch(batch));
        }
        match &state.end {
            None => Ok(Next::NotYet),
            Some(end) => end.clone().map(|()| Next::End),
        }
    }

    /// Whether there is nothing more to take.
    #[must_use]
    pub fn has_ended(&self) -> bool {
        let state = self.state();
        state.ready.is_none() && matches!(state.end, Some(Ok(())))
    }

    /// The figures, once the answer ended well.
    #[must_use]
    pub fn stats(&self) -> Option<Arc<Stats>> {
        self.state().stats.clone()
    }

    /// Nothing more can be taken, which is no end unless all was. Whoever waits is told once the work of the other
    /// end was dropped.
    pub fn close(&self) {
        let mut state = self.state();
        if state.end.is_none() {
            state.rows -= state.ready.take().map_or(0, |batch| batch.num_rows() as u64);
            state.end = Some(Err(closed(state.rows)));
        }
    }

    /// Waits until there is something to take. May be dropped at any time.
    pub async fn wait(&self) {
        let mut answers = self.answers.lock().await;
        if self.has_something() {
            return;
        }
        match answers.next().await {
            Ok(Some(Event::Batch(batch))) => {
                self.settled.get_or_init(|| columns::settled(&self.scan.columns, batch.schema_ref()));
                answers.go_ahead();
                self.arrived(batch);
            }
            Ok(Some(Event::Restart)) => {}
            Ok(None) => self.ended(Ok(answers.stats())),
            Err(error) => self.ended(Err(error)),
        }
    }

    /// The schema of all its batches: known beforehand, or that of the first. To be asked after [`Stream::wait`].
    ///
    /// # Errors
    /// Why the answer has not begun well: there will be no batch.
    pub fn schema(&self) -> Result<SchemaRef> {
        let state = self.state();
        match &state.end {
            Some(Err(error)) if state.rows == 0 => return Err(error.clone()),
            _ => {}
        }
        let views = self.options.views;
        match state.schema.clone().or_else(|| self.scan.schema(views)) {
            Some(schema) => Ok(schema),
            None => columns::unify(&self.scan.columns, views, Vec::new()).map(|(schema, _)| schema),
        }
    }

    fn has_something(&self) -> bool {
        let state = self.state();
        state.ready.is_some() || state.end.is_some()
    }

    fn arrived(&self, batch: RecordBatch) {
        let mut state = self.state();
        if state.end.is_some() {
            return;
        }
        state.schema.get_or_insert_with(|| batch.schema());
        state.rows += batch.num_rows() as u64;
        state.ready = Some(batch);
    }

    fn ended(&self, outcome: Result<Stats>) {
        let mut state = self.state();
        if state.end.is_some() {
            return;
        }
        let rows = state.rows;
        state.end = Some(match outcome {
            Ok(figures) => {
                let figures = Arc::new(figures);
                self.last_stats.store(Some(Arc::clone(&figures)));
                state.stats = Some(figures);
                Ok(())
            }
            Err(error) if rows > 0 => Err(interrupted(error, rows)),
            Err(error) => Err(error),
        });
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Rows were taken that are not a whole answer.
fn interrupted(cause: Error, rows: u64) -> Error {
    let context = cause.context().clone();
    Error::new(Kind::StreamInterrupted, format!("the answer broke off after {rows} rows: {}", cause.message()))
        .with("rows_yielded", rows)
        .with_hint(cause.hint().unwrap_or("they are not all there is; ask again").to_owned())
        .with_source(cause)
        .in_context(context)
}

/// Whoever reads on after closing would take a part for the whole.
fn closed(rows: u64) -> Error {
    Error::new(Kind::StreamInterrupted, format!("the stream was closed after {rows} rows, before its end"))
        .with("rows_yielded", rows)
        .with_hint("they are not all there is; ask again")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contract::search::{Attributes, Filters, SearchBody};
    use crate::filter::Search;

    fn stream() -> (Stream, Asking<RecordBatch>) {
        let body = SearchBody {
            item_type_id: 7,
            item_type_name: "store".to_owned(),
            attrs: Attributes::Names(Vec::new()),
            filters: Filters { or: Vec::new() },
        };
        let scan = Scan::of_rows("scan_items", Search { body, attributes: Vec::new(), limit: None });
        let options = Options { views: false, max_rows: 1, max_bytes: 1, widen: false };
        Stream::new(scan, 1, options, LastStats::default())
    }

    #[tokio::test]
    async fn work_that_is_lost_is_told_as_a_defect_to_each_taker() {
        let (stream, source) = stream();
        assert!(matches!(stream.take(), Ok(Next::NotYet)));
        drop(source);
        for _ in 0..2 {
            stream.wait().await;
            assert_eq!(stream.take().expect_err("a defect").kind(), Kind::Internal);
        }
        assert!(!stream.has_ended());
    }

    #[tokio::test]
    async fn a_closed_stream_has_not_come_to_its_end() {
        let (stream, source) = stream();
        stream.close();
        drop(source);
        stream.wait().await;
        for _ in 0..2 {
            let error = stream.take().expect_err("no end");
            assert_eq!((error.kind(), error.field("rows_yielded")), (Kind::StreamInterrupted, Some(&0_u64.into())));
        }
        assert!(!stream.has_ended());
        assert!(stream.stats().is_none());
    }
}
