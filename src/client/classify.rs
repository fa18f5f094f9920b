//! Decides whether a response is a result, and if not, which error it is.

use serde_json::Value;
use serde_json::value::RawValue;

use crate::contract::envelope::{CODE_PERMISSION, CODE_SUCCESS, STATUS_PERMISSION, field};
use crate::decode::{Envelope, Member, RecordShape};
use crate::error::{Details, Error, Kind, Result, argument, constant_argument, excerpt};
use crate::transport::Response;

const EXCERPT_CHARACTERS: usize = 200;
const BASE_URL: &str = constant_argument!("base_url");

/// What `data` of a result must contain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ExpectedContent {
    /// Records, or an accepted empty shape.
    Records,
    /// A list of entries.
    Entries,
    /// Anything.
    Any,
}

/// Checks that the envelope of a response with HTTP status 200 is as specified and reports success.
pub(super) fn check_envelope(envelope: &Envelope, shape: ExpectedContent, strict_empty: bool) -> Result<()> {
    let message = || envelope.message().map(|message| excerpt(&message, EXCERPT_CHARACTERS)).unwrap_or_default();
    let code = envelope.code().map_err(|found| match found {
        None => wrong_field(field::CODE, "is absent"),
        Some(found) => wrong_field(field::CODE, &format!("is not an integer but {}", json_type(found))),
    })?;
    if code == CODE_PERMISSION {
        return Err(permission_denied(200, Some(code), Some(message())));
    }
    if code != CODE_SUCCESS {
        return Err(api_error(code, &format!("code {code}"), message()));
    }
    let status = envelope
        .status()
        .map_err(|found| wrong_field("data.status", &format!("is not a boolean but {}", json_type(found))))?;
    if status == Some(false) {
        return Err(api_error(code, "data.status false", message()));
    }
    match shape {
        ExpectedContent::Records => records(envelope, strict_empty),
        ExpectedContent::Entries => entries(envelope),
        ExpectedContent::Any => Ok(()),
    }
}

fn records(envelope: &Envelope, strict_empty: bool) -> Result<()> {
    match envelope.record_shape() {
        RecordShape::Other("data") => Err(wrong_field("data", "is neither an object with records nor empty")),
        RecordShape::Other(place) => Err(wrong_field(place, "is neither a list of records nor empty")),
        RecordShape::Empty(shape) if strict_empty && shape != "data.data []" => {
            let (place, found) = shape.split_once(' ').unwrap_or((shape, ""));
            let strict = argument("strict_empty").of("True");
            let what = format!("is {found}; with {strict} only data.data [] means no records");
            Err(wrong_field(place, &what))
        }
        _ => Ok(()),
    }
}

/// A download has a list of entries, and each is an object.
fn entries(envelope: &Envelope) -> Result<()> {
    let Some(Member::Json(entries)) = envelope.data_member(field::ENTRIES) else {
        return Err(wrong_field("data.entries", "is absent"));
    };
    let is_list = serde_json::from_str::<Vec<&RawValue>>(entries)
        .is_ok_and(|entries| entries.iter().all(|entry| entry.get().starts_with('{')));
    if is_list { Ok(()) } else { Err(wrong_field("data.entries", "is not a list of objects")) }
}

/// The error of a response with another HTTP status.
pub(super) fn error_for_status(response: &Response, body: &[u8]) -> Error {
    let status = response.status;
    let envelope: Value = serde_json::from_slice(body).unwrap_or_default();
    // `code` and `message` are read separately, so an invalid one does not hide the other.
    let code = envelope.get(field::CODE).and_then(Value::as_i64);
    let message = envelope.get(field::MESSAGE).and_then(Value::as_str);
    let message = message.map(|message| excerpt(message, EXCERPT_CHARACTERS));
    if status == 401 || (status == STATUS_PERMISSION && code == Some(CODE_PERMISSION)) {
        return permission_denied(status, code, message);
    }
    let text = excerpt(&String::from_utf8_lossy(body), EXCERPT_CHARACTERS);
    let host = response.location_host.clone().unwrap_or_default();
    // The body may repeat records or the request, so only the message of the service is quoted.
    let detail = match &message {
        _ if matches!(status, 300..=399) => String::new(),
        Some(message) if !message.is_empty() => format!(": {message}"),
        _ if text.is_empty() => String::new(),
        _ => format!("; the response has no message (Content-Type: {})", content_type(response)),
    };
    let redirect = match host.as_str() {
        "" => "a redirect was not followed".to_owned(),
        host => format!("the redirect to {host} was not followed"),
    };
    let (kind, what) = match status {
        204 => (Kind::TruncatedResponse, "the response has no body"),
        300..=399 => (Kind::RedirectRefused, redirect.as_str()),
        408 | 500..=502 | 504..=599 => (Kind::Server, "the service failed"),
        413 | 414 | 431 => (Kind::RequestRejected, "the request is too large"),
        503 if response.retry_after.is_none() => (Kind::Throttled, "the service is unavailable"),
        429 | 503 => (Kind::Throttled, "the service asks to slow down"),
        400..=499 => (Kind::RequestRejected, "the request was rejected"),
        _ => (Kind::Api, "unexpected HTTP status"),
    };
    let asked = response.retry_after.filter(|_| kind == Kind::Throttled);
    let asked = asked.map(|asked| format!(", Retry-After {:.0} s", asked.as_secs_f64().ceil())).unwrap_or_default();
    let error = Error::new(kind, format!("{what} (HTTP {status}{asked}){detail}"));
    let error = match status {
        204 => return error.with(|details| details.received = Some(0)).retryable_once(),
        // Beyond 511 are those of content delivery networks.
        408 | 500 | 502 | 504 | 507 | 520..=527 | 529 | 530 => error.retryable(),
        300..=399 => error
            .with(|details| details.location_host = Some(host))
            .with_hint(format!("{BASE_URL} is probably not the service's own URL")),
        429 | 503 => error.with(|details| details.retry_after = response.retry_after).retryable(),
        404 if message.is_none() => error.with_hint(format!("check the path of {BASE_URL}")),
        413 | 414 | 431 => error.with_hint("split the list of values over several requests"),
        _ => error,
    };
    error.with(|details| {
        set_api_details(details, status, code, message);
        details.body_excerpt = Some(text).filter(|text| !text.is_empty());
    })
}

/// Adds the content type to the error of a body that is not JSON.
pub(super) fn with_content_type(error: Error, response: &Response) -> Error {
    if error.kind() != Kind::NotJson {
        return error;
    }
    let shown = content_type(response);
    let content_type = response.content_type.as_deref().map(|value| excerpt(value, 80));
    let hint = format!("a login page or gateway may have responded; check {BASE_URL}");
    let body_excerpt = error.details().body_excerpt.clone();
    Error::new(Kind::NotJson, format!("the response is not JSON (Content-Type: {shown})"))
        .with(|details| (details.content_type, details.body_excerpt) = (content_type, body_excerpt))
        .with_hint(hint)
}

/// The content type for a message.
fn content_type(response: &Response) -> String {
    response.content_type.as_deref().map_or_else(|| "missing".to_owned(), |value| excerpt(value, 80))
}

/// The type of a value of JSON, which may be a value of a record and is not quoted.
fn json_type(json: &str) -> &'static str {
    match json.as_bytes().first() {
        Some(b'n') => "null",
        Some(b't' | b'f') => "a boolean",
        Some(b'"') => "a string",
        Some(b'[') => "an array",
        Some(b'{') => "an object",
        _ => "a number",
    }
}

/// The service reports three causes alike: an invalid token, an expired one, and a missing scope.
fn permission_denied(status: u16, code: Option<i64>, message: Option<String>) -> Error {
    let shown = code.map(|code| format!(", code {code}")).unwrap_or_default();
    let detail = message.as_ref().map(|message| format!(": {message}")).unwrap_or_default();
    Error::new(Kind::PermissionDenied, format!("the service refused the token (HTTP {status}{shown}){detail}"))
        .with(|details| set_api_details(details, status, code, message))
        .with_hint(
            "the token is invalid, expired, or lacks the scope of this operation (a promotion code search needs the \
             scope item, a download of a segment export the scope download)",
        )
}

/// HTTP status 200, and an envelope that reports a failure.
fn api_error(code: i64, what: &str, message: String) -> Error {
    let detail = if message.is_empty() { String::new() } else { format!(": {message}") };
    // As the HTTP statuses of these numbers.
    let kind = match code {
        429 | 503 => Kind::Throttled,
        500 | 502 | 504 => Kind::Server,
        _ => Kind::Api,
    };
    let error = Error::new(kind, format!("the service reported a failure ({what}){detail}"))
        .with(|details| set_api_details(details, 200, Some(code), Some(message)));
    if kind == Kind::Api { error } else { error.retryable() }
}

fn set_api_details(details: &mut Details, status: u16, code: Option<i64>, message: Option<String>) {
    (details.status, details.code, details.api_message) = (Some(status), code, message);
}

fn wrong_field(name: &'static str, what: &str) -> Error {
    Error::new(Kind::Envelope, format!("unexpected response envelope: {name} {what}"))
        .with(|details| details.field = Some(name.to_owned()))
        .with_hint(format!("check {BASE_URL}; the service may have changed"))
}
