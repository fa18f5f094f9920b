//! The batches of a scan in flight, one by one, for any number of consumers; each batch goes to one of them.
//!
//! Waiting and taking are separate steps: a consumer that is cancelled while it waits has taken nothing.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use arc_swap::ArcSwapOption;
use arrow_array::RecordBatch;
use arrow_schema::SchemaRef;
use tokio_util::sync::CancellationToken;

use super::typed_batches::TypedBatches;
use super::{Consumer, Scan, Stats};
use crate::client::{Client, Delivered, SearchMode, TokenWait};
use crate::columns::Options;
use crate::error::{Error, Kind, Result};
use crate::time::Moment;

/// Holds the figures of the last use of a scan.
pub type LastStats = Arc<ArcSwapOption<Stats>>;

/// The batches of a scan in flight. Closed or dropped, it cancels the requests.
pub struct Stream {
    scan: Scan,
    views: bool,
    batches: tokio::sync::Mutex<TypedBatches>,
    cancelled: CancellationToken,
    token_wait: Arc<TokenWait>,
    state: Mutex<State>,
    last_stats: LastStats,
}

#[derive(Debug, Default)]
struct State {
    ready: Option<RecordBatch>,
    /// The schema of the first batch.
    schema: Option<SchemaRef>,
    /// When the response of the last batch was requested.
    requested_at: Option<Moment>,
    rows: u64,
    end: Option<Result<()>>,
    stats: Option<Arc<Stats>>,
}

/// What can be taken from a stream.
#[derive(Debug)]
pub enum Next {
    /// The next batch. No other consumer gets it.
    Batch(RecordBatch),
    /// Nothing yet: await [`Stream::wait`], then try again.
    NotYet,
    /// Nothing more: the scan is complete and all batches were taken.
    End,
}

impl Scan {
    /// A stream of the scan's batches, whose first requests are sent now. Must be called inside a runtime.
    ///
    /// # Examples
    #[cfg_attr(feature = "sandbox", doc = "```")]
    #[cfg_attr(not(feature = "sandbox"), doc = "```ignore")]
    /// use std::sync::Arc;
    ///
    /// use dataaccess::columns::Options;
    /// use dataaccess::filter::{Days, InputValue, VALUES_PER_REQUEST, codes};
    /// use dataaccess::scan::{LastStats, Next, Scan};
    /// use dataaccess::time::Calendar;
    /// # use dataaccess::client::Client;
    /// # use dataaccess::config::{Arguments, Settings};
    /// # use dataaccess::sandbox::{Access, Options as SandboxOptions, Sandbox, demo::Demo};
    /// # use dataaccess::secret::Secret;
    ///
    /// # #[tokio::main]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let demo = Some(Demo::until("2024-02-29")?);
    /// # let access = Access { token: Some("a-token-of-the-docs".to_owned()), ..Access::default() };
    /// # let sandbox = Sandbox::start(SandboxOptions { access, demo, ..SandboxOptions::default() })?;
    /// # let token = Secret::try_new("a-token-of-the-docs".to_owned())?;
    /// # let arguments = Arguments { base_url: Some(sandbox.base_url().to_owned()), ..Arguments::default() };
    /// # let client = Arc::new(Client::try_new(Settings::resolve(arguments, |_| None)?, Arc::new(token), None)?);
    /// let days = Days::Range { start: InputValue::text("2024-01-15"), stop: InputValue::text("2024-01-18") };
    /// let arguments = codes::CodesArguments {
    ///     allocated_time: InputValue::Days(Box::new(days)),
    ///     ..codes::CodesArguments::default()
    /// };
    /// let plan = codes::plan(arguments, VALUES_PER_REQUEST, &Calendar::default());
    /// let scan = Scan::try_new("scan_codes", plan, &InputValue::Null, &Calendar::default())?;
    /// assert_eq!(scan.requests(), 3);
    ///
    /// let options = Options { views: false, max_rows: 8_192, max_bytes: 8 << 20, widen: false };
    /// let stream = scan.stream(&client, options, LastStats::default());
    /// let mut rows = 0;
    /// loop {
    ///     match stream.take()? {
    ///         Next::Batch(batch) => rows += batch.num_rows() as u64,
    ///         Next::NotYet => stream.wait().await,
    ///         Next::End => break,
    ///     }
    /// }
    /// assert_eq!(stream.stats().map(|stats| stats.figures.rows), Some(rows));
    /// # Ok(())
    /// # }
    /// ```
    pub fn stream(self, client: &Arc<Client>, options: Options, last_stats: LastStats) -> Stream {
        let token_wait = Arc::<TokenWait>::default();
        let mode = SearchMode { token_wait: Some(Arc::clone(&token_wait)), ..self.mode(Consumer::Streams) };
        let mut batches = TypedBatches::new(&self, client, mode, options);
        batches.send_requests();
        Stream {
            scan: self,
            views: options.views,
            cancelled: batches.cancellation(),
            token_wait,
            batches: tokio::sync::Mutex::new(batches),
            state: Mutex::default(),
            last_stats,
        }
    }
}

impl Stream {
    /// Takes what is ready, without waiting.
    ///
    /// # Errors
    /// Why the scan failed, for every consumer: `StreamInterrupted` once rows were taken or the stream was closed.
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

    /// Whether the scan is complete and all batches were taken.
    pub fn has_ended(&self) -> bool {
        let state = self.state();
        state.ready.is_none() && matches!(state.end, Some(Ok(())))
    }

    /// When the response of the last batch was requested; none before the first.
    pub fn requested_at(&self) -> Option<Moment> {
        self.state().requested_at
    }

    /// The figures, once the scan is complete.
    pub fn stats(&self) -> Option<Arc<Stats>> {
        self.state().stats.clone()
    }

    /// Cancels the requests in flight. Reading on is an error unless all batches were taken.
    pub fn close(&self) {
        let mut state = self.state();
        if state.end.is_none() {
            state.rows -= state.ready.take().map_or(0, |batch| batch.num_rows() as u64);
            // Otherwise a consumer would take part of the rows for all of them.
            let message = format!("the stream was closed after {}, before its end", counted(state.rows));
            let error =
                Error::new(Kind::StreamInterrupted, message).with(|details| details.rows_yielded = Some(state.rows));
            state.end = Some(Err(error.with_hint("the rows so far are incomplete; run the scan again")));
        }
        self.cancelled.cancel();
    }

    /// Limits the wait for each token from now on; `hint` is what the user can do if it is over.
    pub fn limit_token_wait(&self, limit: Duration, hint: &'static str) {
        self.token_wait.set(limit, hint);
    }

    /// Waits until there is something to take. Cancel-safe.
    pub async fn wait(&self) {
        let mut batches = self.batches.lock().await;
        if self.has_something() {
            return;
        }
        let next = batches.next().await;
        let mut state = self.state();
        match next {
            // It was closed meanwhile.
            _ if state.end.is_some() => {}
            Ok(Some(Delivered { batch, .. })) => {
                state.schema.get_or_insert_with(|| batch.schema());
                state.rows += batch.num_rows() as u64;
                state.requested_at = Some(batches.requested_at());
                state.ready = Some(batch);
            }
            Ok(None) => {
                let figures = Arc::new(batches.stats());
                self.last_stats.store(Some(Arc::clone(&figures)));
                (state.stats, state.end) = (Some(figures), Some(Ok(())));
            }
            Err(error) if state.rows > 0 => state.end = Some(Err(interrupted(error, state.rows))),
            Err(error) => state.end = Some(Err(error)),
        }
    }

    /// The schema of all batches: known beforehand, or the schema of the first batch. To be called after [`Stream::wait`].
    ///
    /// # Errors
    /// Why the scan failed before its first batch.
    pub fn schema(&self) -> Result<SchemaRef> {
        let state = self.state();
        match &state.end {
            Some(Err(error)) if state.rows == 0 => return Err(error.clone()),
            _ => {}
        }
        match state.schema.clone().or_else(|| self.scan.schema(self.views)) {
            Some(schema) => Ok(schema),
            None => self.scan.empty_schema(self.views),
        }
    }

    fn has_something(&self) -> bool {
        let state = self.state();
        state.ready.is_some() || state.end.is_some()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A number of rows in words.
fn counted(rows: u64) -> String {
    if rows == 1 { "1 row".to_owned() } else { format!("{rows} rows") }
}

/// The error of a scan that failed after rows were taken.
fn interrupted(cause: Error, rows: u64) -> Error {
    let context = cause.context().clone();
    Error::new(Kind::StreamInterrupted, format!("the result was cut off after {}: {}", counted(rows), cause.message()))
        .with(|details| details.rows_yielded = Some(rows))
        .with_hint(cause.hint().unwrap_or("the rows so far are incomplete; run the scan again").to_owned())
        .with_source(cause)
        .with_context(context)
}
