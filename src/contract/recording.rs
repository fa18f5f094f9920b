//! A recording: the exchanges of a client as lines of JSON. The client writes it and the sandbox replays it.
//!
//! Lines of exchanges that were in flight together are mixed, so each names its exchange: the value of `X-Request-Id`.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The version of this format, in the first line.
pub const VERSION: u32 = 1;

/// One line of a recording.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Line {
    /// The first line. Another one follows wherever a client has opened the file again.
    Recording {
        /// Version of the format.
        version: u32,
        /// Base URL of the client.
        base_url: String,
    },
    /// A request, without its token.
    Request {
        /// The exchange.
        id: String,
        /// When it was sent, in milliseconds since 1970.
        unix_ms: u64,
        /// HTTP method.
        method: String,
        /// Path below the base URL.
        path: String,
        /// JSON.
        body: Value,
    },
    /// The head of the response.
    Response {
        /// The exchange.
        id: String,
        /// Milliseconds since the request.
        ms: u64,
        /// HTTP status.
        status: u16,
        /// Names and values, without those that may hold secrets or that describe the connection.
        headers: Vec<(String, String)>,
    },
    /// The next bytes of the body, decompressed.
    Body {
        /// The exchange.
        id: String,
        /// The bytes, if they are UTF-8.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        text: Option<String>,
        /// The bytes, if they are not.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        bytes: Option<Vec<u8>>,
    },
    /// The end of the exchange.
    End {
        /// The exchange.
        id: String,
        /// Milliseconds since the request.
        ms: u64,
        /// Why the response is not complete; none if it is.
        failure: Option<String>,
    },
}
