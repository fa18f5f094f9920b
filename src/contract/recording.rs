//! A recording: the exchanges of a client, each as one line of JSON. The client writes it and the sandbox replays it.
//!
//! Also the headers that neither recordings nor logs show.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The version of this format.
pub const VERSION: u32 = 2;
/// How each line begins.
pub const BEGIN: &[u8] = br#"{"recording":2,"#;
/// Most bytes of the body of a response. A line has none of a larger one.
pub const MOST_OF_BODY: usize = 64 << 20;

/// One line of a recording.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct Line {
    pub recording: u32,
    /// Value of `X-Request-Id`.
    pub id: String,
    /// When the request was sent, in milliseconds since 1970.
    pub unix_ms: u64,
    /// Milliseconds from the request to the end of the response.
    pub ms: u64,
    pub path: String,
    /// The body of the request, without its token.
    pub request: Value,
    /// HTTP status of the response; none if there was no response.
    pub status: Option<u16>,
    /// Headers of the response, without those that may hold secrets or that describe the connection.
    pub headers: BTreeMap<String, String>,
    /// The body of the response, decompressed, as far as it came.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub body: String,
    /// The same in base64, if it is not UTF-8.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub base64: String,
    /// Why the response is not complete; none if it is.
    pub failure: Option<String>,
}

/// Parts of header names that indicate a secret.
const SECRET_NAMES: [&str; 7] = ["auth", "cookie", "key", "passw", "secret", "session", "token"];

/// Whether the name of a header says that its value is a secret.
pub fn is_secret_header(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    SECRET_NAMES.iter().any(|part| name.contains(part))
}
