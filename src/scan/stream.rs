//! An answer on its way, batch by batch, to any number of takers, each batch to one of them.
//!
//! Waiting and taking are two steps: whoever is cancelled while it waits has taken nothing, so nothing is lost.

use std::future::Future;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use arc_swap::ArcSwapOption;
use arrow::array::RecordBatch;
use arrow::datatypes::SchemaRef;
use tokio::sync::{mpsc, oneshot};

use super::watch::Watched;
use super::{Scan, Seen, Stats, Taken};
use crate::client::{Answered, Client, Event};
use crate::columns::{self, Columns, Options};
use crate::error::{Error, Kind, Result};

/// Batches that wait besides the one being made and the one being used: with them memory is bounded.
const BATCHES_AHEAD: usize = 1;

/// Where the figures of the last use of a scan are kept.
pub type LastStats = Arc<ArcSwapOption<Stats>>;

/// The receiving end of an answer.
#[derive(Debug)]
pub struct Stream {
    scan: Scan,
    options: Options,
    arrivals: tokio::sync::Mutex<Arrivals>,
    state: Mutex<State>,
    last_stats: LastStats,
}

#[derive(Debug)]
struct Arrivals {
    events: mpsc::Receiver<Event<Taken<RecordBatch>>>,
    outcome: oneshot::Receiver<Result<Answered>>,
}

#[derive(Debug, Default)]
struct State {
    ready: Option<RecordBatch>,
    /// Of the first batch.
    schema: Option<SchemaRef>,
    rows: u64,
    seen: Seen,
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

/// The end that an answer comes from.
#[derive(Debug)]
struct Source {
    events: mpsc::Sender<Event<Taken<RecordBatch>>>,
    outcome: oneshot::Sender<Result<Answered>>,
}

impl Scan {
    /// Begins a stream: its receiving end, and the work of the other, which ends when it is dropped.
    pub fn stream(
        self,
        client: Arc<Client>,
        options: Options,
        last_stats: LastStats,
    ) -> (Stream, impl Future<Output = ()> + Send + use<>) {
        let (stream, Source { events, outcome }) = Stream::new(self.clone(), options, last_stats);
        let work = async move {
            let sink = || Watched::new(Columns::new(&self.columns, options), self.time_column());
            let answered = client.stream(self.operation, &self.search, sink, events).await;
            // Nobody listens any more when the stream was closed.
            drop(outcome.send(answered));
        };
        (stream, work)
    }
}

impl Stream {
    fn new(scan: Scan, options: Options, last_stats: LastStats) -> (Self, Source) {
        let (events, received) = mpsc::channel(BATCHES_AHEAD);
        let (outcome, told) = oneshot::channel();
        let arrivals = tokio::sync::Mutex::new(Arrivals { events: received, outcome: told });
        let stream = Self { scan, options, arrivals, state: Mutex::default(), last_stats };
        (stream, Source { events, outcome })
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
        let mut arrivals = self.arrivals.lock().await;
        if self.has_something() {
            return;
        }
        match arrivals.events.recv().await {
            Some(Event::Batch(taken)) => self.arrived(taken),
            Some(Event::Restart) => {}
            None => {
                let outcome = (&mut arrivals.outcome).await.unwrap_or_else(|_| Err(lost()));
                self.ended(outcome);
            }
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

    fn arrived(&self, taken: Taken<RecordBatch>) {
        let Taken { batch, seen } = taken;
        let mut state = self.state();
        if state.end.is_some() {
            return;
        }
        state.schema.get_or_insert_with(|| batch.schema());
        state.rows += batch.num_rows() as u64;
        state.seen.add(seen);
        state.ready = Some(batch);
    }

    fn ended(&self, outcome: Result<Answered>) {
        let mut state = self.state();
        if state.end.is_some() {
            return;
        }
        let rows = state.rows;
        let seen = std::mem::take(&mut state.seen);
        state.end = Some(match outcome {
            Ok(answered) => {
                let figures = Arc::new(Stats::new(&self.scan, &answered, rows, seen));
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

/// The work was ended by a defect, which has told its story on standard error.
fn lost() -> Error {
    Error::new(Kind::Internal, "a defect of dataaccess ended the stream")
        .with_hint("please report it with the steps that led here; the client stays usable")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contract::search::{Attributes, Filters, SearchBody};
    use crate::filter::Search;

    fn stream() -> (Stream, Source) {
        let body = SearchBody {
            item_type_id: 7,
            item_type_name: "store".to_owned(),
            attrs: Attributes::Names(Vec::new()),
            filters: Filters { or: Vec::new() },
        };
        let scan = Scan::of_rows("scan_items", Search { body, attributes: Vec::new(), limit: None });
        let options = Options { views: false, max_rows: 1, max_bytes: 1, widen: false };
        Stream::new(scan, options, LastStats::default())
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
