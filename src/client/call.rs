//! The one loop that sends: attempts, back-off, deadline, token renewal, and what is told of them.

use std::time::{Duration, Instant};

use bytes::Bytes;
use tokio::sync::mpsc;

use super::verdict::{self, Shape};
use super::{Client, RowEvent};
use crate::cells::{Block, Cells};
use crate::decode::{Decoder, Envelope, Gather, Plan};
use crate::error::{Context, Error, Kind, Result};
use crate::secret::Secret;
use crate::transport::{Answer, Request};

/// One call of an operation.
#[derive(Debug)]
pub(super) struct Call<'a> {
    /// Public name.
    pub(super) operation: &'static str,
    /// Path below the base URL.
    pub(super) path: &'a str,
    /// JSON.
    pub(super) body: Bytes,
    /// How the answer is decoded.
    pub(super) plan: Plan,
    /// What an answer that closed well must have besides.
    pub(super) shape: Shape,
    /// Where records go.
    pub(super) rows: Option<mpsc::Sender<RowEvent>>,
    /// Whether sending twice does no harm.
    pub(super) idempotent: bool,
    /// For everything, sleeps included.
    pub(super) timeout: Duration,
}

/// What was done so far; it outlives a call that is cut off by its deadline.
#[derive(Debug)]
struct Log {
    started: Instant,
    prefix: String,
    attempts: u32,
    history: Vec<String>,
}

impl Log {
    fn new() -> Self {
        Self { started: Instant::now(), prefix: format!("{:016x}", random()), attempts: 0, history: Vec::new() }
    }

    fn request_id(&self) -> String {
        format!("{}-{}", self.prefix, self.attempts)
    }

    fn into_context(self, operation: &'static str) -> Context {
        Context {
            operation: Some(operation),
            attempts: self.attempts,
            elapsed: self.started.elapsed().as_secs_f64(),
            request_id: (self.attempts > 0).then(|| self.request_id()),
            history: self.history,
        }
    }
}

impl Client {
    /// Sends until there is an answer or a final failure, within the call's time.
    pub(super) async fn run(&self, call: &Call<'_>) -> Result<Envelope> {
        let mut log = Log::new();
        let outcome = tokio::select! {
            biased;
            () = self.closed.cancelled() => Err(Error::new(Kind::ClientClosed, "the client is closed")),
            outcome = tokio::time::timeout(call.timeout, self.attempts(call, &mut log)) => {
                outcome.unwrap_or_else(|_| Err(deadline(call.timeout)))
            }
        };
        outcome.map_err(|error| error.in_context(log.into_context(call.operation)))
    }

    async fn attempts(&self, call: &Call<'_>, log: &mut Log) -> Result<Envelope> {
        let mut renewed = false;
        loop {
            let token = self.auth.token().await?;
            self.pace.turn().await;
            log.attempts += 1;
            let request_id = log.request_id();
            let failure = match self.attempt(call, &token, &request_id).await {
                Ok(envelope) => return Ok(envelope),
                Err(failure) => failure,
            };
            log.history.push(format!("{}: {}", failure.kind().class_name(), failure.message()));
            let refused = failure.kind() == Kind::PermissionDenied && !renewed && log.attempts <= self.policy.retries;
            if refused && self.auth.renew(&token).await? {
                renewed = true;
            } else {
                let delay = self.policy.delay(log.attempts, &failure, call.idempotent, chance());
                let left = call.timeout.saturating_sub(log.started.elapsed());
                match delay.filter(|delay| *delay < left) {
                    Some(delay) => tokio::time::sleep(delay).await,
                    None => return Err(failure),
                }
            }
            if let Some(rows) = &call.rows {
                // Whatever rows were handed on belong to an answer that did not end well.
                rows.send(RowEvent::Restart).await.map_err(|_| abandoned())?;
            }
        }
    }

    /// One request and its answer.
    async fn attempt(&self, call: &Call<'_>, token: &Secret, request_id: &str) -> Result<Envelope> {
        let request = Request { path: call.path, body: call.body.clone(), token, request_id };
        let mut answer = self.transport.post(request).await?;
        if answer.status != 200 {
            let body = answer.error_body().await;
            return Err(verdict::of_status(&answer, &body));
        }
        let envelope = receive(call, &mut answer).await.map_err(|error| verdict::with_content_type(error, &answer))?;
        verdict::of_envelope(&envelope, call.shape, self.settings.strict)?;
        Ok(envelope)
    }
}

/// Decodes the body as it arrives and hands on its rows.
async fn receive(call: &Call<'_>, answer: &mut Answer) -> Result<Envelope> {
    let mut decoder = Decoder::new(call.plan.clone());
    let mut cells = Cells::new(call.plan.columns.as_ref().map_or(0, Vec::len));
    while let Some(chunk) = answer.chunk().await? {
        decoder.feed(chunk, &mut cells)?;
        hand_on(call, cells.take_full()?).await?;
        if decoder.is_satisfied() {
            hand_on(call, cells.take()?).await?;
            return Ok(decoder.cut_short());
        }
    }
    let envelope = decoder.finish()?;
    hand_on(call, cells.take()?).await?;
    Ok(envelope)
}

async fn hand_on(call: &Call<'_>, block: Option<Block>) -> Result<()> {
    match (&call.rows, block) {
        (Some(rows), Some(block)) => rows.send(RowEvent::Rows(block)).await.map_err(|_| abandoned()),
        _ => Ok(()),
    }
}

/// Nobody is there to take the rows: whoever asked has gone.
fn abandoned() -> Error {
    Error::new(Kind::Internal, "the rows of a search were abandoned")
}

fn deadline(timeout: Duration) -> Error {
    let seconds = timeout.as_secs_f64();
    Error::new(Kind::RequestTimeout, format!("no complete answer within timeout={seconds} s"))
        .with("phase", "deadline")
        .with_hint("raise timeout=, or ask for less")
        .retryable()
}

/// From the system each time, so that forked processes do not wait in step.
fn random() -> u64 {
    getrandom::u64().unwrap_or_default()
}

/// Uniform in 0 to 1.
fn chance() -> f64 {
    #[expect(clippy::cast_precision_loss, reason = "53 bits fit a float exactly")]
    let fraction = (random() >> 11) as f64 / (1_u64 << 53) as f64;
    fraction
}
