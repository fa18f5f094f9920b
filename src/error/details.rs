//! What an error carries besides its text: the attributes of the exception classes.

use std::time::Duration;

use serde::{Serialize, Serializer};

/// The part of a call that ran out of time or failed to connect.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Phase {
    Dns,
    Tcp,
    /// Opening a tunnel through the proxy.
    Proxy,
    Tls,
    /// All of connecting.
    Connect,
    /// Waiting for the response headers.
    Headers,
    /// Waiting for more of the body.
    Body,
    /// Receiving the body too slowly.
    Stall,
    /// The whole call.
    Deadline,
    /// Waiting for the token callable.
    Token,
}

/// The details of an error. Which of them are set depends on its kind; a member is named like the attribute of the
/// exception class.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Details {
    /// One line for each invalid setting.
    pub problems: Option<Vec<String>>,
    /// What timed out or failed to connect.
    pub phase: Option<Phase>,
    /// Why a TLS handshake failed, in a word or two.
    pub reason: Option<&'static str>,
    pub status: Option<u16>,
    /// `code` of the envelope.
    pub code: Option<i64>,
    /// `message` of the envelope.
    pub api_message: Option<String>,
    /// `data` of the envelope of a refusal, if it is a string: the reason.
    pub data: Option<String>,
    /// `codeMessage` of the envelope of a refusal, if it is a string.
    pub code_message: Option<String>,
    /// The beginning of the body.
    pub body_excerpt: Option<String>,
    /// The wait that the service asks for.
    #[serde(serialize_with = "as_seconds")]
    pub retry_after: Option<Duration>,
    /// Host that a redirect names.
    pub location_host: Option<String>,
    /// Bytes of the body that arrived.
    pub received: Option<u64>,
    /// Byte of the body where the problem is.
    pub offset: Option<u64>,
    /// Member of the envelope, what exceeds its limit, or what differs between two queries.
    pub field: Option<String>,
    /// Number of the record, from 0.
    pub row: Option<u64>,
    /// Attribute of the record.
    pub column: Option<String>,
    /// Value of the attribute, shortened: customer data.
    pub value: Option<String>,
    /// The limit that was exceeded.
    pub limit: Option<u64>,
    /// Rows delivered before a stream was interrupted.
    pub rows_yielded: Option<u64>,
    /// Error number of the operating system.
    pub errno: Option<i32>,
    pub path: Option<String>,
    /// Day of a part, as `2024-01-15`.
    pub day: Option<String>,
    /// Process that holds the lock.
    pub pid: Option<u32>,
    /// Machine of that process, if it may be another one.
    pub host: Option<String>,
}

impl Details {
    /// The texts that may quote a response, and with it a token that the service repeated.
    pub(super) fn texts_mut(&mut self) -> impl Iterator<Item = &mut String> {
        let Self { api_message, data, code_message, body_excerpt, location_host, .. } = self;
        let of_response = [api_message, data, code_message, body_excerpt, location_host];
        let Self { field, column, value, path, .. } = self;
        of_response.into_iter().chain([field, column, value, path]).flatten()
    }
}

#[expect(clippy::ref_option, reason = "the signature that serde calls")]
fn as_seconds<S: Serializer>(duration: &Option<Duration>, serializer: S) -> Result<S::Ok, S::Error> {
    duration.map(|duration| duration.as_secs_f64()).serialize(serializer)
}
