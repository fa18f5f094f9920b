//! The clock of the service, and times and durations in JSON.

use std::time::{Duration, SystemTime};

use jiff::Timestamp;
use serde::Deserialize;
use serde_json::json;

use super::answer::{Answer, Failure};
use super::call::Call;
use crate::sandbox::service::Service;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Advance {
    advance: f64,
}

/// The time of the service.
pub(super) fn show(service: &Service, _: &Call) -> Result<Answer, Failure> {
    Ok(Answer::ok(json!({"now": written(service.clock.now())})))
}

/// Moves the clock forward.
pub(super) fn advance(service: &Service, call: &Call) -> Result<Answer, Failure> {
    let Advance { advance } = call.json()?;
    if !service.clock.advance(duration("advance", advance)?) {
        return Err(Failure::malformed("seconds: more than a thousand years in all"));
    }
    show(service, call)
}

/// A time as ISO 8601 in UTC; none beyond the calendar.
pub(super) fn written(time: SystemTime) -> Option<String> {
    Timestamp::try_from(time).ok().map(|time| format!("{time:.6}"))
}

/// A number of seconds.
pub(super) fn duration(name: &str, seconds: f64) -> Result<Duration, Failure> {
    Duration::try_from_secs_f64(seconds)
        .map_err(|_| Failure::malformed(format!("{name} must be a number of seconds from 0 on, not {seconds}")))
}
