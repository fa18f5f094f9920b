//! Decides whether a response is a result, and if not, which error it is and what that means for this request and others.

use serde_json::Value;
use serde_json::value::RawValue;

use crate::contract::envelope::{CODE_PERMISSION, CODE_SUCCESS, STATUS_PERMISSION, field};
use crate::decode::{Envelope, Member, RecordShape, json_type};
use crate::error::{Details, Error, Kind, Result, Retry, excerpt};
use crate::retry::{Remedy, Verdict};
use crate::transport::Response;

/// Most characters of a quoted text.
const EXCERPT_CHARACTERS: usize = 200;

/// What a failure means.
pub(super) fn verdict(failure: &Error) -> Verdict {
    let (kind, details) = (failure.kind(), failure.details());
    let status = status(details);
    // A 503 without `Retry-After` looks like an outage.
    let asks_to_wait = status == Some(429) || status == Some(503) && details.retry_after.is_some();
    let remedy = match failure.retry() {
        Retry::None if kind == Kind::PermissionDenied => Remedy::NewToken,
        Retry::None => Remedy::None,
        _ if kind == Kind::Throttled && asks_to_wait => Remedy::Pause(details.retry_after),
        Retry::One => Remedy::Once,
        Retry::Any => Remedy::BackOff,
        Retry::AtOnce => Remedy::AtOnce,
    };
    let is_unsent = matches!(kind, Kind::Connect | Kind::Proxy);
    let is_of_service = match (kind, status) {
        (Kind::ConnectionLost, _) => details.received.unwrap_or(0) == 0,
        (Kind::Throttled, _) | (Kind::Server, Some(502 | 504)) => true,
        _ => is_unsent,
    };
    let is_cut_off = matches!(kind, Kind::ConnectionLost | Kind::TruncatedResponse);
    let cut_off_at = details.received.filter(|received| is_cut_off && *received > 0);
    Verdict { remedy, is_of_service, is_unsent, cut_off_at }
}

/// The HTTP status; of a response with status 200 the `code` of its envelope, which means the same.
fn status(details: &Details) -> Option<u16> {
    let code = details.code.filter(|_| details.status == Some(200));
    code.map_or(details.status, |code| u16::try_from(code).ok())
}

/// Checks that the envelope of a response with HTTP status 200 is as specified and reports success.
pub(super) fn check_envelope(envelope: &Envelope) -> Result<()> {
    let code = envelope.code().map_err(|found| match found {
        None => wrong_field(field::CODE, "is absent"),
        Some(found) => wrong_field(field::CODE, &format!("is not an integer but {}", json_type(found))),
    })?;
    if code == CODE_PERMISSION {
        let refusal = refusal_of_envelope(envelope, code);
        let words = words(&refusal);
        return Err(permission_denied(200, refusal, &words));
    }
    if code != CODE_SUCCESS {
        return Err(api_error(code, &format!("code {code}"), refusal_of_envelope(envelope, code)));
    }
    let status = envelope
        .status()
        .map_err(|found| wrong_field("data.status", &format!("is not a bool but {}", json_type(found))))?;
    if status == Some(false) {
        return Err(api_error(code, "data.status false", refusal_of_envelope(envelope, code)));
    }
    Ok(())
}

/// A search has records, or an accepted empty shape.
pub(super) fn records(envelope: &Envelope) -> Result<()> {
    match envelope.record_shape() {
        RecordShape::Other("data") => Err(wrong_field("data", "is neither an object with records nor empty")),
        RecordShape::Other(place) => Err(wrong_field(place, "is neither a list of records nor empty")),
        RecordShape::Misplaced(place) => Err(wrong_field(place, "is absent, and the response has other members there")),
        _ => Ok(()),
    }
}

/// A download has a list of entries, and each is an object.
pub(super) fn entries(envelope: &Envelope) -> Result<()> {
    let Some(Member::Json(entries)) = envelope.data_member(field::ENTRIES) else {
        return Err(wrong_field("data.entries", "is absent"));
    };
    let is_list = serde_json::from_str::<Vec<&RawValue>>(entries)
        .is_ok_and(|entries| entries.iter().all(|entry| entry.get().starts_with('{')));
    if is_list { Ok(()) } else { Err(wrong_field("data.entries", "is not a list of objects")) }
}

/// What a response with another HTTP status means: its kind, whether it is retried, and in words.
fn meaning(status: u16) -> (Kind, Retry, &'static str) {
    match status {
        204 => (Kind::TruncatedResponse, Retry::One, "the response has no body"),
        300..=399 => (Kind::RedirectRefused, Retry::None, "a redirect was not followed"),
        413 | 414 | 431 => (Kind::RequestRejected, Retry::None, "the request is too large"),
        429 | 503 => (Kind::Throttled, Retry::Any, "the service asks to slow down"),
        // Beyond 511 are the statuses of content delivery networks.
        408 | 500 | 502 | 504 | 507 | 520..=527 | 529 | 530 => (Kind::Server, Retry::Any, "the service failed"),
        400..=499 => (Kind::RequestRejected, Retry::None, "the request was rejected"),
        500..=599 => (Kind::Server, Retry::None, "the service failed"),
        _ => (Kind::Api, Retry::None, "unexpected HTTP status"),
    }
}

/// The error of a response with another HTTP status.
pub(super) fn error_for_status(response: &Response, body: &[u8]) -> Error {
    let status = response.status;
    let refusal = refusal_of_body(status, body);
    // The body may repeat records or the request, so only the words of the service are quoted.
    let words = match (words(&refusal), &response.reason) {
        (words, Some(reason)) if words.is_empty() => format!(": {}", excerpt(reason, EXCERPT_CHARACTERS)),
        (words, _) => words,
    };
    if status == 401 || (status == STATUS_PERMISSION && refusal.code == Some(CODE_PERMISSION)) {
        return permission_denied(status, refusal, &words);
    }
    let text = excerpt(&String::from_utf8_lossy(body), EXCERPT_CHARACTERS);
    let host = response.location_host.clone().unwrap_or_default();
    let detail = match words.as_str() {
        _ if matches!(status, 300..=399) => String::new(),
        "" if text.is_empty() => String::new(),
        "" => format!("; the response has no message (Content-Type: {})", content_type(response)),
        words => words.to_owned(),
    };
    let (kind, retry, what) = meaning(status);
    let what = match status {
        300..=399 if !host.is_empty() => format!("the redirect to {host} was not followed"),
        503 if response.retry_after.is_none() => "the service is unavailable".to_owned(),
        _ => what.to_owned(),
    };
    let retry_after = response.retry_after.filter(|_| kind == Kind::Throttled);
    let asked = retry_after.map(|asked| format!(", Retry-After {:.0} s", asked.as_secs_f64().ceil()));
    let message = format!("{what} (HTTP {status}{}){detail}", asked.unwrap_or_default());
    let error = Error::new(kind, message).retried(retry);
    let error = match status {
        204 => return error.with(|details| details.received = Some(0)),
        300..=399 => error.with_hint("base_url is probably not the service's own URL"),
        404 if refusal.api_message.is_none() => error.with_hint("check the path of base_url"),
        413 | 414 | 431 => error.with_hint("split the list of values over several requests"),
        _ => error,
    };
    let location_host = (kind == Kind::RedirectRefused).then_some(host);
    let body_excerpt = Some(text).filter(|text| !text.is_empty());
    error.with(|details| *details = Details { body_excerpt, retry_after, location_host, ..refusal })
}

/// The error of a response, retried or not as its `x-should-retry` says. No word makes a refused token, a redirect or a
/// failure that an envelope reports one that is retried.
pub(super) fn as_told(error: Error, response: &Response) -> Error {
    match response.should_retry {
        _ if error.kind() == Kind::PermissionDenied => error,
        Some(false) if error.is_retryable() => {
            error.retried(Retry::None).with_reason("not retried, as x-should-retry is false")
        }
        Some(true) if response.status >= 400 => error.retryable(),
        _ => error,
    }
}

/// The error of a body with HTTP status 200. One that is empty or not JSON comes from something on the way, if the service
/// has answered properly before.
pub(super) fn of_body(error: Error, response: &Response, has_succeeded: bool) -> Error {
    let error = with_content_type(error, response);
    let is_empty = error.kind() == Kind::TruncatedResponse && error.details().received == Some(0);
    if has_succeeded && (is_empty || error.kind() == Kind::NotJson) { error.retryable() } else { error }
}

/// Adds the content type to the error of a body that is not JSON, or names its charset if that is why.
fn with_content_type(error: Error, response: &Response) -> Error {
    let (kind, shown) = (error.kind(), content_type(response));
    let lower = shown.to_ascii_lowercase();
    let charset = lower.split_once("charset=").map(|(_, charset)| charset.trim_start_matches('"'));
    let is_other = charset.is_some_and(|charset| !charset.starts_with("utf-8"));
    let (what, hint) = match kind {
        Kind::NotJson | Kind::InvalidJson if is_other => ("UTF-8, as JSON must be", "the service may have changed"),
        Kind::NotJson => ("JSON", "a login page or gateway may have responded; check base_url"),
        _ => return error,
    };
    let body_excerpt = error.details().body_excerpt.clone();
    Error::new(kind, format!("the response is not {what} (Content-Type: {shown})"))
        .with(|details| details.body_excerpt = body_excerpt)
        .with_hint(hint)
}

/// The content type for a message.
fn content_type(response: &Response) -> String {
    let given = response.content_type.as_deref().filter(|value| !value.is_empty());
    given.map_or_else(|| "missing".to_owned(), |value| excerpt(value, 80))
}

/// What the envelope of a response with HTTP status 200 says of a failure. Each member is read separately, so that an
/// invalid one does not hide the others.
fn refusal_of_envelope(envelope: &Envelope, code: i64) -> Details {
    let text = |name| envelope.text(name).map(|text| excerpt(&text, EXCERPT_CHARACTERS));
    Details {
        status: Some(200),
        code: Some(code),
        api_message: text(field::MESSAGE),
        data: text(field::DATA),
        code_message: text(field::CODE_MESSAGE),
        ..Details::default()
    }
}

/// What the body of a response with another HTTP status says, which need not be an envelope.
fn refusal_of_body(status: u16, body: &[u8]) -> Details {
    let envelope: Value = serde_json::from_slice(body).unwrap_or_default();
    let at = |pointer: &str| {
        let text = envelope.pointer(pointer).and_then(Value::as_str);
        text.map(|text| excerpt(text, EXCERPT_CHARACTERS))
    };
    let text = |name| at(&format!("/{name}"));
    // Of gateways: RFC 9457, RFC 6749, and what many APIs have.
    let of_gateway = || ["/detail", "/error_description", "/error/message"].into_iter().find_map(at);
    Details {
        status: Some(status),
        code: envelope.get(field::CODE).and_then(Value::as_i64),
        api_message: text(field::MESSAGE).or_else(of_gateway),
        data: text(field::DATA),
        code_message: text(field::CODE_MESSAGE),
        ..Details::default()
    }
}

/// The words of the service for a message: `: message: reason`. Only strings are quoted: other data may have records.
fn words(refusal: &Details) -> String {
    let message = refusal.api_message.as_ref();
    let reason = refusal.data.as_ref().filter(|reason| message != Some(*reason));
    let said = [message, reason].into_iter().flatten().filter(|said| !said.is_empty());
    said.flat_map(|said| [": ", said.as_str()]).collect()
}

/// The service reports three causes alike: an invalid token, an expired one, and a missing scope.
fn permission_denied(status: u16, refusal: Details, words: &str) -> Error {
    let shown = refusal.code.map(|code| format!(", code {code}")).unwrap_or_default();
    let what = format!("the service refused the token (HTTP {status}{shown}){words}");
    Error::new(Kind::PermissionDenied, what).with(|details| *details = refusal).with_hint(
        "the token is invalid, expired, or lacks the scope of this operation (a promotion code search needs the scope \
         item; the scope of a download is not specified, perhaps download)",
    )
}

/// HTTP status 200, and an envelope that reports a failure.
fn api_error(code: i64, what: &str, refusal: Details) -> Error {
    // A status that is retried means the same as a code.
    let retried = u16::try_from(code).map(meaning).ok().filter(|(_, retry, _)| *retry == Retry::Any);
    let kind = retried.map_or(Kind::Api, |(kind, ..)| kind);
    let words = words(&refusal);
    let error = Error::new(kind, format!("the service reported a failure ({what}){words}"));
    let error = error.with(|details| *details = refusal);
    if kind == Kind::Api { error } else { error.retryable() }
}

fn wrong_field(name: &'static str, what: &str) -> Error {
    Error::new(Kind::Envelope, format!("unexpected response envelope: {name} {what}"))
        .with(|details| details.field = Some(name.to_owned()))
        .with_hint("check base_url; the service may have changed")
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    const ASKED: Option<Duration> = Some(Duration::from_secs(7));

    fn of(kind: Kind, status: Option<u16>) -> Error {
        Error::new(kind, "test failure").with(|details| details.status = status).retryable()
    }

    #[test]
    fn the_remedy_follows_from_the_failure() {
        let throttled = |status| of(Kind::Throttled, Some(status));
        let of_envelope = |code| throttled(200).with(|details| details.code = Some(code));
        for (failure, expected) in [
            (throttled(429), Remedy::Pause(None)),
            (throttled(503), Remedy::BackOff),
            (throttled(503).with(|details| details.retry_after = ASKED), Remedy::Pause(ASKED)),
            (of_envelope(429), Remedy::Pause(None)),
            (of_envelope(503), Remedy::BackOff),
            (Error::new(Kind::PermissionDenied, "test failure"), Remedy::NewToken),
            (Error::new(Kind::RequestRejected, "test failure"), Remedy::None),
            (Error::new(Kind::MalformedHttp, "test failure").retried(Retry::One), Remedy::Once),
            (of(Kind::ConnectionLost, None).retried(Retry::AtOnce), Remedy::AtOnce),
        ] {
            assert_eq!(verdict(&failure).remedy, expected, "{failure:?}");
        }
    }

    #[test]
    fn a_failure_concerns_others_as_far_as_it_tells() {
        let lost = || of(Kind::ConnectionLost, None);
        for (failure, is_of_service, is_unsent) in [
            (of(Kind::Connect, None), true, true),
            (of(Kind::Proxy, None), true, true),
            (lost(), true, false),
            (lost().with(|details| details.received = Some(9)), false, false),
            (of(Kind::Throttled, Some(503)), true, false),
            (of(Kind::Throttled, Some(429)), true, false),
            (of(Kind::Server, Some(502)), true, false),
            (of(Kind::Server, Some(500)), false, false),
            (of(Kind::Server, Some(200)), false, false),
            (of(Kind::Server, Some(200)).with(|details| details.code = Some(502)), true, false),
            (of(Kind::RequestTimeout, None), false, false),
        ] {
            let verdict = verdict(&failure);
            assert_eq!((verdict.is_of_service, verdict.is_unsent), (is_of_service, is_unsent), "{failure:?}");
        }
    }

    #[test]
    fn a_response_was_cut_off_after_its_first_byte() {
        let after = |kind, received| verdict(&of(kind, None).with(|details| details.received = received));
        assert_eq!(after(Kind::TruncatedResponse, Some(9)).cut_off_at, Some(9));
        assert_eq!(after(Kind::ConnectionLost, Some(0)).cut_off_at, None);
        assert_eq!(after(Kind::RequestTimeout, Some(9)).cut_off_at, None);
    }
}
