//! The log of received requests.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::answer::{Answer, Failure};
use super::call::Call;
use super::clock::written;
use crate::sandbox::request_log::LoggedRequest;
use crate::sandbox::service::Service;

#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct After {
    after: u64,
}

/// The requests that are kept and have a higher number than `after`.
pub(super) fn list(service: &Service, call: &Call) -> Result<Answer, Failure> {
    let After { after } = call.query()?;
    let requests = service.log.after(after);
    let next = requests.last().map_or(after, |(number, _)| *number);
    let requests: Vec<Value> = requests.into_iter().map(|(number, request)| shown(number, &request)).collect();
    Ok(Answer::ok(json!({"requests": requests, "next": next})))
}

/// Removes all requests.
pub(super) fn clear(service: &Service, _: &Call) -> Result<Answer, Failure> {
    service.log.clear();
    Ok(Answer::ok(json!({})))
}

fn shown(number: u64, request: &LoggedRequest) -> Value {
    let mut headers = Map::new();
    for (name, value) in &request.headers {
        match headers.get_mut(name) {
            Some(Value::String(joined)) => {
                joined.push_str(", ");
                joined.push_str(value);
            }
            _ => drop(headers.insert(name.clone(), value.clone().into())),
        }
    }
    let body = request.body.as_ref().map(|body| match std::str::from_utf8(body) {
        Ok(text) => text.into(),
        Err(_) => json!({"base64": STANDARD.encode(body)}),
    });
    json!({
        "number": number,
        "time": written(request.time),
        "method": request.method,
        "path": request.path,
        "headers": headers,
        "body": body,
        "status": request.status,
        "duration_ms": request.duration.map(|duration| duration.as_secs_f64() * 1e3),
        "bytes": request.sent,
        "fault": request.fault,
        "message": request.message,
    })
}
