//! Responses that a test writes, in place of a connection: everything from their headers on is read as from a service.

use std::collections::VecDeque;
use std::fmt;
use std::io::{self, ErrorKind};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use futures_util::future::BoxFuture;
use http_body::{Body, Frame};
use hyper::header;
use tokio::time::{Sleep, sleep};

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
        let body = reqwest::Body::wrap(ScriptedBody { steps: body.into(), waiting: None });
        let response = response.body(body);
        response
            .map(reqwest::Response::from)
            .map_err(|error| Error::new(Kind::Internal, "no response has this status").with_source(error))
    }
}

/// A body that arrives step by step.
struct ScriptedBody {
    steps: VecDeque<Step>,
    waiting: Option<Pin<Box<Sleep>>>,
}

impl Body for ScriptedBody {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<io::Result<Frame<Bytes>>>> {
        loop {
            if let Some(waiting) = &mut self.waiting {
                std::task::ready!(waiting.as_mut().poll(context));
                self.waiting = None;
            }
            return Poll::Ready(match self.steps.pop_front() {
                Some(Step::Bytes(bytes)) => Some(Ok(Frame::data(bytes))),
                Some(Step::Wait(time)) => {
                    self.waiting = Some(Box::pin(sleep(time)));
                    continue;
                }
                Some(Step::Lost) => Some(Err(ErrorKind::UnexpectedEof.into())),
                None => None,
            });
        }
    }
}
