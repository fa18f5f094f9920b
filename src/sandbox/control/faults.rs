//! Faults: list, begin and end. They have the JSON form of `Fault`.

use std::sync::Arc;

use serde_json::{Map, Value};

use super::answer::{Answer, Failure};
use super::call::Call;
use crate::sandbox::faults::{ActiveFault, Fault};
use crate::sandbox::service::Service;

/// All active faults, oldest first.
pub(super) fn list(service: &Service, _: &Call) -> Result<Answer, Failure> {
    Ok(Answer::ok(shown(&service.faults.list())))
}

/// Begins a fault, or the faults of a preset.
pub(super) fn begin(service: &Service, call: &Call) -> Result<Answer, Failure> {
    let form: Map<String, Value> = call.json()?;
    let is_preset = form.get("preset").is_some_and(|preset| !preset.is_null());
    let begun: Vec<_> = Fault::from_form(form)?.into_iter().map(|fault| service.faults.begin(fault)).collect();
    Ok(Answer::created(match &begun[..] {
        [fault] if !is_preset => fault.to_json().into(),
        _ => shown(&begun),
    }))
}

/// Ends all faults.
pub(super) fn end_all(service: &Service, _: &Call) -> Result<Answer, Failure> {
    Ok(Answer::ok(shown(&service.faults.end_all())))
}

/// An active fault.
pub(super) fn show(service: &Service, call: &Call) -> Result<Answer, Failure> {
    let id = call.id("fault")?;
    found(service.faults.get(id), id)
}

/// Ends a fault.
pub(super) fn end(service: &Service, call: &Call) -> Result<Answer, Failure> {
    let id = call.id("fault")?;
    found(service.faults.end(id), id)
}

fn found(fault: Option<Arc<ActiveFault>>, id: u64) -> Result<Answer, Failure> {
    let fault = fault.ok_or_else(|| Failure::not_found(format!("there is no fault {id}; it may have ended")))?;
    Ok(Answer::ok(fault.to_json().into()))
}

fn shown(faults: &[Arc<ActiveFault>]) -> Value {
    faults.iter().map(|fault| Value::Object(fault.to_json())).collect()
}
