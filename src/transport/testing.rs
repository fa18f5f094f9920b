//! Responses that a test writes, in place of a connection: everything from their headers on is read as from a service.

use std::fmt;
use std::io::{self, ErrorKind};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use futures_util::future::BoxFuture;
use futures_util::stream::{self, Stream, StreamExt as _};
use http_body::{Body, Frame};
use hyper::header;
use tokio::time::sleep;

use super::Request;
use crate::error::{Error, Kind, Result};

/// Replies to the body of a request, or fails as a connection does.
pub type Respond = Arc<dyn Fn(Bytes) -> BoxFuture<'static, Result<Reply>> + Send + Sync>;

/// A response of a test.
#[derive(Debug)]
pub struct Reply {
    /// HTTP status.
    pub status: u16,
    /// `Retry-After`, in seconds.
    pub retry_after: Option<u64>,
    /// The body.
    pub body: Vec<Step>,
}

/// A part of the body of a response.
#[derive(Debug)]
pub enum Step {
    /// Bytes.
    Bytes(Bytes),
    /// Time in which nothing arrives.
    Wait(Duration),
    /// The connection is lost.
    Lost,
}

impl Reply {
    /// A response with status 200 that arrives at once.
    #[must_use]
    pub fn ok(body: impl Into<Bytes>) -> Self {
        Self { status: 200, retry_after: None, body: vec![Step::Bytes(body.into())] }
    }

    /// A response with another status, and no body.
    #[must_use]
    pub fn status(status: u16) -> Self {
        Self { status, retry_after: None, body: Vec::new() }
    }
}

/// What replies in place of a connection.
#[derive(Clone)]
pub(super) struct Service(pub(super) Respond);

impl fmt::Debug for Service {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Service")
    }
}

impl Service {
    pub(super) async fn send(&self, request: Request<'_>) -> Result<reqwest::Response> {
        let Reply { status, retry_after, body } = (self.0)(request.body).await?;
        let mut response = hyper::Response::builder().status(status);
        if let Some(seconds) = retry_after {
            response = response.header(header::RETRY_AFTER, seconds);
        }
        let response = response.body(reqwest::Body::wrap(ScriptedBody(Box::pin(stream::iter(body).filter_map(frame)))));
        response
            .map(reqwest::Response::from)
            .map_err(|error| Error::new(Kind::Internal, "no response has this status").with_source(error))
    }
}

async fn frame(step: Step) -> Option<io::Result<Frame<Bytes>>> {
    match step {
        Step::Bytes(bytes) => return Some(Ok(Frame::data(bytes))),
        Step::Wait(time) => sleep(time).await,
        Step::Lost => return Some(Err(ErrorKind::UnexpectedEof.into())),
    }
    None
}

/// A body that arrives step by step.
struct ScriptedBody(Pin<Box<dyn Stream<Item = io::Result<Frame<Bytes>>> + Send + Sync>>);

impl Body for ScriptedBody {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<io::Result<Frame<Bytes>>>> {
        self.0.as_mut().poll_next(context)
    }
}
