//! Parses and validates the bodies of requests (sections 4.1 to 4.3).
//!
//! Written from the specification: only constants are shared with the client. A refusal names the path in the body.

mod body_value;
mod codes;
mod condition;
mod search;
mod strict;

#[cfg(test)]
pub(super) use search::MAX_CONDITIONS;
pub(super) use search::{Target, query};

use jiff::tz::TimeZone;
use serde_json::Value;

use self::body_value::BodyValue;
use self::strict::Strict;
use super::days::Zones;
use super::reply::Refusal;
use super::switches::Switches;
use crate::contract::SCOPE_DOWNLOAD;
use crate::error::{Error, Kind};

/// How this service interprets what the specification leaves open. A request has one from its head to its response.
#[derive(Debug)]
pub(super) struct Interpretation {
    pub(super) switches: Switches,
    /// The zones that the switches name.
    pub(super) zones: Zones,
}

impl Interpretation {
    pub(super) fn new(switches: Switches) -> Result<Self, Error> {
        let zones = Zones {
            days: zone("day_zone", &switches.day_zone)?,
            records: zone("source_timezone", &switches.source_timezone)?,
        };
        Ok(Self { switches, zones })
    }
}

/// The zone that a switch names.
fn zone(switch: &str, name: &str) -> Result<TimeZone, Error> {
    TimeZone::get(name).map_err(|cause| {
        Error::new(Kind::Sandbox, format!("switch {switch}: `{name}` is not an IANA time zone"))
            .with_hint("write it as Asia/Ho_Chi_Minh, or UTC")
            .with_source(cause)
    })
}

/// Deepest nesting of a body; valid ones have at most seven levels.
const MAX_DEPTH: usize = 32;

/// A body as JSON.
pub(super) fn parse(body: &[u8]) -> Result<Value, Refusal> {
    let Strict(value) = serde_json::from_slice(body).map_err(|cause| {
        let problem = if cause.is_data() { "the body" } else { "the body is not JSON" };
        Refusal::malformed(format!("{problem}: {cause}"))
    })?;
    if depth(&value) > MAX_DEPTH {
        return Err(Refusal::malformed(format!("the body is nested more than {MAX_DEPTH} levels deep")));
    }
    Ok(value)
}

/// The nesting depth of a value. The parser stops at 128 levels, which bounds the recursion.
fn depth(value: &Value) -> usize {
    match value {
        Value::Array(elements) => 1 + elements.iter().map(depth).max().unwrap_or(0),
        Value::Object(members) => 1 + members.values().map(depth).max().unwrap_or(0),
        _ => 0,
    }
}

/// The export that the body of a download names (section 4.3).
pub(super) fn export_id(body: &Value) -> Result<i64, Refusal> {
    let body = BodyValue::body(body);
    body.object(&["scope", "exportId"])?;
    body.member("scope")?.constant(SCOPE_DOWNLOAD)?;
    body.member("exportId")?.integer()
}
