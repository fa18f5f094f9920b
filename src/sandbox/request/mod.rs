//! What clients ask for: the bodies of sections 4.1 to 4.3, read from JSON and checked rule by rule.
//!
//! The service's own reading of the document: nothing is shared with the client but constants.
//! It answers a broken rule with a refusal that names the place; it reads no store and sends nothing.

mod codes;
mod condition;
mod download;
mod node;
mod search;

pub(super) use download::export_id;
pub(super) use search::{Target, query};

use jiff::tz::TimeZone;
use serde_json::Value;

use super::answer::Refusal;
use super::switches::Switches;

/// How this service reads what the document leaves open of a request.
pub(super) struct Reading<'a> {
    /// The zone of `switches.day_zone`.
    pub(super) zone: &'a TimeZone,
    pub(super) switches: &'a Switches,
}

/// A body as JSON.
pub(super) fn parse(body: &[u8]) -> Result<Value, Refusal> {
    serde_json::from_slice(body).map_err(|cause| Refusal::malformed(format!("the body is not JSON: {cause}")))
}
