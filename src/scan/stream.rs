//! Answers on their way, batch by batch, to any number of takers, each batch to one of them.
//!
//! Waiting and taking are two steps: whoever is cancelled while it waits has taken nothing, so nothing is lost.

use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use arc_swap::ArcSwapOption;
use arrow_array::RecordBatch;
use arrow_schema::SchemaRef;
use tokio_util::sync::CancellationToken;

use super::record_stats::WithStats;
use super::responses::Responses;
use super::{Scan, Stats};
use crate::client::{BufferBudget, Client, Event};
use crate::columns::{self, Column, ColumnSink, Options};
use crate::error::{Error, Kind, Result};

/// Where the figures of the last use of a scan are kept.
pub type LastStats = Arc<ArcSwapOption<Stats>>;

/// The batches of a scan in flight. Closed or dropped, it ends the requests in flight.
pub struct Stream {
    scan: Scan,
    options: Options,
    responses: tokio::sync::Mutex<Responses<WithStats<ColumnSink>, RecordBatch>>,
    cancelled: CancellationToken,
    budget: Arc<BufferBudget>,
    /// The types that the columns came to with the first batch, for the answers that follow.
    frozen: Arc<OnceLock<Vec<Column>>>,
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
    /// A stream of its batches, whose first requests are sent now. To be called inside a runtime.
    #[must_use]
    pub fn stream(self, client: &Arc<Client>, options: Options, last_stats: LastStats) -> Stream {
        let frozen: Arc<OnceLock<Vec<Column>>> = Arc::default();
        let (known, columns, time_column) = (Arc::clone(&frozen), self.columns.clone(), self.time_column());
        let sink = move || WithStats::new(ColumnSink::new(known.get().unwrap_or(&columns), options), time_column);
        let mut responses = Responses::new(&self, client, self.streamed(), client.max_buffered_bytes(), sink);
        // Where only the rows show a type, those of the first request that has any decide for all.
        if self.schema(options.views).is_none() {
            responses = responses.one_by_one();
        }
        responses.send_requests();
        Stream {
            scan: self,
            options,
            cancelled: responses.cancellation(),
            budget: responses.budget(),
            responses: tokio::sync::Mutex::new(responses),
            frozen,
            state: Mutex::default(),
            last_stats,
        }
    }
}

impl Stream {
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

    /// Ends the requests in flight. Nothing more can be taken, which is an error unless all was.
    pub fn close(&self) {
        let mut state = self.state();
        if state.end.is_none() {
            state.rows -= state.ready.take().map_or(0, |batch| batch.num_rows() as u64);
            state.end = Some(Err(closed(state.rows)));
        }
        self.cancelled.cancel();
    }

    /// From now on another library takes the batches. It may hold the interpreter while it waits.
    pub fn hand_over(&self) {
        self.budget.set_pulled();
    }

    /// Ends the requests in flight. A consumer that reads on gets an error.
    pub fn abort(&self) {
        self.cancelled.cancel();
    }

    /// Waits until there is something to take. May be dropped at any time.
    pub async fn wait(&self) {
        let mut responses = self.responses.lock().await;
        if self.has_something() {
            return;
        }
        match responses.next().await {
            Ok(Some(Event::Batch(batch))) => {
                self.frozen.get_or_init(|| columns::frozen(&self.scan.columns, batch.schema_ref()));
                responses.open_all();
                self.arrived(batch);
            }
            Ok(Some(Event::Restart)) => {}
            Ok(None) => self.ended(Ok(responses.stats())),
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
        .with(|details| details.rows_yielded = Some(rows))
        .with_hint(cause.hint().unwrap_or("they are not all there is; ask again").to_owned())
        .with_source(cause)
        .with_context(context)
}

/// Whoever reads on after closing would take a part for the whole.
fn closed(rows: u64) -> Error {
    Error::new(Kind::StreamInterrupted, format!("the stream was closed after {rows} rows, before its end"))
        .with(|details| details.rows_yielded = Some(rows))
        .with_hint("they are not all there is; ask again")
}
