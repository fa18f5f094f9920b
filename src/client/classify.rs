//! Whether an answer is a result, and if not, which failure it is.

use serde_json::Value;
use serde_json::value::RawValue;

use crate::contract::envelope::{CODE_PERMISSION, CODE_SUCCESS, STATUS_PERMISSION, field};
use crate::decode::{Envelope, Member, RecordShape};
use crate::error::{Details, Error, Kind, Result, excerpt};
use crate::transport::Response;

const EXCERPT_CHARACTERS: usize = 200;

/// What `data` of a result must hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ExpectedContent {
    /// Records, or one of the ways to have none.
    Records,
    /// A list of entries.
    Entries,
    /// Whatever comes.
    Any,
}

/// An answer with HTTP status 200 is a result when its envelope says so, wherever it says so.
pub(super) fn of_envelope(envelope: &Envelope, shape: ExpectedContent, strict_empty: bool) -> Result<()> {
    let message = envelope.message().map(|message| excerpt(&message, EXCERPT_CHARACTERS)).unwrap_or_default();
    let code = envelope.code().map_err(|found| match found {
        None => wrong_field(field::CODE, "is absent"),
        Some(found) => wrong_field(field::CODE, &format!("is not a whole number but {}", excerpt(found, 40))),
    })?;
    if code == CODE_PERMISSION {
        return Err(permission(200, Some(code), Some(message)));
    }
    if code != CODE_SUCCESS {
        return Err(Error::new(Kind::Api, format!("the service answered with code {code}: {message}"))
            .with(|details| of_api(details, 200, Some(code), Some(message))));
    }
    let status = envelope
        .status()
        .map_err(|found| wrong_field("data.status", &format!("is not a boolean but {}", excerpt(found, 40))))?;
    if status == Some(false) {
        return Err(Error::new(Kind::Api, format!("the service answered with data.status false: {message}"))
            .with(|details| of_api(details, 200, Some(code), Some(message))));
    }
    match shape {
        ExpectedContent::Records => records(envelope, strict_empty),
        ExpectedContent::Entries => entries(envelope),
        ExpectedContent::Any => Ok(()),
    }
}

fn records(envelope: &Envelope, strict_empty: bool) -> Result<()> {
    match envelope.record_shape() {
        RecordShape::Other("data") => Err(wrong_field("data", "is neither an object with the records nor empty")),
        RecordShape::Other(place) => Err(wrong_field(place, "is neither a list of records nor empty")),
        RecordShape::Empty(shape) if strict_empty && shape != "data.data []" => {
            let (place, found) = shape.split_once(' ').unwrap_or((shape, ""));
            let what =
                format!("is {found}, which strict_empty=True refuses: it takes no records as data.data [] alone");
            Err(wrong_field(place, &what))
        }
        _ => Ok(()),
    }
}

/// A download has a list of entries, each an object.
fn entries(envelope: &Envelope) -> Result<()> {
    let Some(Member::Json(entries)) = envelope.data_member(field::ENTRIES) else {
        return Err(wrong_field("data.entries", "is absent"));
    };
    let is_list = serde_json::from_str::<Vec<&RawValue>>(entries.get())
        .is_ok_and(|entries| entries.iter().all(|entry| entry.get().starts_with('{')));
    if is_list { Ok(()) } else { Err(wrong_field("data.entries", "is not a list of objects")) }
}

/// An answer with another HTTP status.
pub(super) fn of_status(response: &Response, body: &[u8]) -> Error {
    let status = response.status;
    let envelope: Value = serde_json::from_slice(body).unwrap_or_default();
    // Each for itself: a member of another type does not hide the other.
    let code = envelope.get(field::CODE).and_then(Value::as_i64);
    let message = envelope.get(field::MESSAGE).and_then(Value::as_str);
    let message = message.map(|message| excerpt(message, EXCERPT_CHARACTERS));
    if status == 401 || (status == STATUS_PERMISSION && code == Some(CODE_PERMISSION)) {
        return permission(status, code, message);
    }
    let text = excerpt(&String::from_utf8_lossy(body), EXCERPT_CHARACTERS);
    let said = message.as_deref().unwrap_or(&text);
    let said = if said.is_empty() { String::new() } else { format!(": {said}") };
    let error = match status {
        300..=399 => {
            let host = response.location_host.clone().unwrap_or_default();
            let problem = if host.is_empty() {
                format!("the service neither answers nor redirects to a place (HTTP {status})")
            } else {
                format!("the service redirects (HTTP {status}) to {host}, which is not followed")
            };
            Error::new(Kind::RedirectRefused, problem)
                .with(|details| details.location_host = Some(host))
                .with_hint("base_url= is probably not the service's own address")
        }
        429 | 503 => Error::new(Kind::Throttled, format!("the service asks to slow down (HTTP {status}){said}"))
            .with(|details| details.retry_after = response.retry_after)
            .retryable(),
        408 | 500 | 502 | 504 => {
            Error::new(Kind::Server, format!("the service failed (HTTP {status}){said}")).retryable()
        }
        500..=599 => Error::new(Kind::Server, format!("the service failed (HTTP {status}){said}")),
        204 => {
            return Error::new(Kind::TruncatedResponse, "the answer has no body (HTTP 204)")
                .with(|details| details.received = Some(0))
                .retryable_once();
        }
        413 | 414 | 431 => Error::new(Kind::RequestRejected, format!("the request is too large (HTTP {status}){said}"))
            .with_hint("split the list of values over several requests"),
        400..=499 => Error::new(Kind::RequestRejected, format!("the request was rejected (HTTP {status}){said}")),
        _ => Error::new(Kind::Api, format!("the service answered with HTTP {status}, not 200{said}")),
    };
    error.with(|details| {
        of_api(details, status, code, message);
        details.body_excerpt = Some(text).filter(|text| !text.is_empty());
    })
}

/// A body that is no JSON is best told with what it says it is.
pub(super) fn with_content_type(error: Error, response: &Response) -> Error {
    if error.kind() != Kind::NotJson {
        return error;
    }
    let content_type = excerpt(response.content_type.as_deref().unwrap_or("no content type"), 80);
    let hint = "a login page or gateway may stand between; check base_url=";
    let body_excerpt = error.details().body_excerpt.clone();
    Error::new(Kind::NotJson, format!("the answer is not JSON but {content_type}"))
        .with(|details| {
            details.content_type = Some(content_type);
            details.body_excerpt = body_excerpt;
        })
        .with_hint(hint)
}

/// Section 7. The cause is one of three, which the service does not tell apart.
fn permission(status: u16, code: Option<i64>, message: Option<String>) -> Error {
    let shown = code.map(|code| format!(", code {code}")).unwrap_or_default();
    let said = message.as_ref().map(|message| format!(": {message}")).unwrap_or_default();
    Error::new(Kind::PermissionDenied, format!("the service refused the token (HTTP {status}{shown}){said}"))
        .with(|details| of_api(details, status, code, message))
        .with_hint(
            "the token is invalid, expired or without the scope of this operation (a promotion code search needs the \
             scope item)",
        )
}

fn of_api(details: &mut Details, status: u16, code: Option<i64>, message: Option<String>) {
    (details.status, details.code, details.api_message) = (Some(status), code, message);
}

fn wrong_field(name: &'static str, what: &str) -> Error {
    Error::new(Kind::Envelope, format!("the answer is not the document's: {name} {what}"))
        .with(|details| details.field = Some(name.to_owned()))
}
