//! The state of the sandbox as a whole, and its reset.

use serde_json::json;

use super::answer::{Answer, Failure};
use super::call::Call;
use super::clock::written;
use crate::sandbox::service::Service;

/// Address, clock, version, zone, scopes and data.
pub(super) fn show(service: &Service, _: &Call) -> Result<Answer, Failure> {
    let interpretation = service.interpretation();
    Ok(Answer::ok(json!({
        "base_url": service.base_url(),
        "now": written(service.clock.now()),
        "version": crate::VERSION,
        "record_zone": interpretation.switches.source_timezone,
        "scopes": interpretation.switches.scopes(),
        "switches": interpretation.switches,
        "demo": service.demo.as_ref().map(|demo| json!({"until": demo.until().map(|day| day.to_string())})),
    })))
}

/// Puts data, exports, faults, clock and log back to what they were at the start, with the calls that belong to it.
pub(super) fn reset(service: &Service, call: &Call) -> Result<Answer, Failure> {
    service.reset()?;
    let ended = &service.store.stopping;
    // Each succeeded at the start; a stop in between ends the reset.
    for repeated in service.start_calls(|kept| kept.again(ended.child_token())) {
        let answer = super::handle(service, repeated);
        if !answer.is_ok() {
            return Ok(answer);
        }
    }
    show(service, call)
}
