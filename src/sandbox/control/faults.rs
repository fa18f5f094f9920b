//! Faults: list, begin and end.

use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::answer::{Answer, Failure};
use super::call::Call;
use crate::contract::{DOWNLOAD_PATH, SEARCH_PATH};
use crate::sandbox::faults::{ActiveFault, Fault, FaultKind};
use crate::sandbox::service::Service;

/// A fault in JSON.
#[derive(Deserialize)]
struct Given {
    #[serde(flatten)]
    kind: GivenKind,
    path: Option<String>,
    #[serde(default)]
    after: u64,
    times: Option<u64>,
}

#[derive(Deserialize, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
enum GivenKind {
    Reset { after_bytes: Option<usize> },
    Cut { after_bytes: Option<usize> },
    Stall { after_bytes: Option<usize> },
    Status { status: u16, retry_after: Option<u64>, body: Option<String> },
    Delay { seconds: f64 },
    Drip { chunk_bytes: usize, seconds: f64 },
    LateCode { code: i64 },
}

impl From<Given> for Fault {
    fn from(given: Given) -> Self {
        // A delay that no duration can hold never ends.
        let duration = |seconds| Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX);
        let kind = match given.kind {
            GivenKind::Reset { after_bytes } => FaultKind::Reset { after_bytes },
            GivenKind::Cut { after_bytes } => FaultKind::Cut { after_bytes },
            GivenKind::Stall { after_bytes } => FaultKind::Stall { after_bytes },
            GivenKind::Status { status, retry_after, body } => FaultKind::Status { status, retry_after, body },
            GivenKind::Delay { seconds } => FaultKind::Delay(duration(seconds)),
            GivenKind::Drip { chunk_bytes, seconds } => FaultKind::Drip { chunk_bytes, pause: duration(seconds) },
            GivenKind::LateCode { code } => FaultKind::LateCode(code),
        };
        let path = given.path.map(|path| match path.as_str() {
            "search" => SEARCH_PATH.to_owned(),
            "download" => DOWNLOAD_PATH.to_owned(),
            _ => path,
        });
        Self { kind, path, after: given.after, times: given.times }
    }
}

/// All active faults, oldest first.
pub(super) fn list(service: &Service, _: &Call) -> Result<Answer, Failure> {
    Ok(Answer::ok(service.faults.all().iter().map(|fault| shown(fault)).collect()))
}

/// Begins a fault.
pub(super) fn begin(service: &Service, call: &Call) -> Result<Answer, Failure> {
    let fault: Given = call.json()?;
    let begun = service.faults.begin(fault.into())?;
    Ok(Answer::created(shown(&begun)))
}

/// Ends all faults.
pub(super) fn end_all(service: &Service, _: &Call) -> Result<Answer, Failure> {
    Ok(Answer::ok(service.faults.end_all().iter().map(|fault| shown(fault)).collect()))
}

/// An active fault.
pub(super) fn show(service: &Service, call: &Call) -> Result<Answer, Failure> {
    let id = call.id("fault")?;
    found(service.faults.all().into_iter().find(|fault| fault.id == id), id)
}

/// Ends a fault.
pub(super) fn end(service: &Service, call: &Call) -> Result<Answer, Failure> {
    let id = call.id("fault")?;
    found(service.faults.end(id), id)
}

fn found(fault: Option<Arc<ActiveFault>>, id: u64) -> Result<Answer, Failure> {
    let fault = fault.ok_or_else(|| Failure::not_found(format!("there is no fault {id}; it may have ended")))?;
    Ok(Answer::ok(shown(&fault)))
}

fn shown(active: &ActiveFault) -> Value {
    let kind = match active.fault.kind.clone() {
        FaultKind::Reset { after_bytes } => GivenKind::Reset { after_bytes },
        FaultKind::Cut { after_bytes } => GivenKind::Cut { after_bytes },
        FaultKind::Stall { after_bytes } => GivenKind::Stall { after_bytes },
        FaultKind::Status { status, retry_after, body } => GivenKind::Status { status, retry_after, body },
        FaultKind::Delay(delay) => GivenKind::Delay { seconds: delay.as_secs_f64() },
        FaultKind::Drip { chunk_bytes, pause } => GivenKind::Drip { chunk_bytes, seconds: pause.as_secs_f64() },
        FaultKind::LateCode(code) => GivenKind::LateCode { code },
    };
    let mut shown = json!({"id": active.id});
    if let (Some(shown), Ok(Value::Object(kind))) = (shown.as_object_mut(), serde_json::to_value(kind)) {
        shown.extend(kind);
        shown.insert("path".to_owned(), active.fault.path.clone().into());
        shown.insert("after".to_owned(), active.fault.after.into());
        shown.insert("times".to_owned(), active.fault.times.into());
        shown.insert("hits".to_owned(), active.hits().into());
    }
    shown
}
