//! The switches: show and change.

use serde_json::{Map, Value, json};

use super::answer::{Answer, Failure};
use super::call::Call;
use crate::sandbox::service::Service;

/// All switches with their values.
pub(super) fn show(service: &Service, _: &Call) -> Result<Answer, Failure> {
    Ok(Answer::ok(json!(service.interpretation().switches)))
}

/// Changes switches, all or none.
pub(super) fn change(service: &Service, call: &Call) -> Result<Answer, Failure> {
    let changes: Map<String, Value> = call.json()?;
    service.switch(&changes).map_err(|error| Failure::of_body(&error))?;
    show(service, call)
}
