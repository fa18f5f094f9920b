//! A fault: what goes wrong, for which requests, and how often.
//!
//! Its form is one JSON object, for Python, the control routes and scenario files:
//! `{"kind": "status", "status": 502, "path": "search", "where": {"day": "2024-01-15"}, "times": 2}`. What is null is
//! absent.

use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use jiff::civil::Date;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};
use serde_path_to_error::Segment;

use crate::contract::envelope::CODE_SUCCESS;
use crate::contract::{DOWNLOAD_PATH, SEARCH_PATH};
use crate::error::{Error, Kind, Result, excerpt};
use crate::sandbox::options::{Seconds, must_be};

/// The members of a form that choose the requests, as [`Choice`] has them.
const CHOICE: &[&str] = &["path", "where", "after", "times", "probability", "seed"];

/// Named lists of faults. The chances of a list are small enough that the default retries suffice.
const PRESETS: [(&str, &str); 5] = [
    // A proxy that fails now and then, and connections that break.
    (
        "flaky",
        r#"[
            {"kind": "status", "status": 502, "content_type": "text/html", "probability": 0.15, "seed": 1,
             "body": "<html><body><h1>502 Bad Gateway</h1></body></html>"},
            {"kind": "reset", "probability": 0.1, "seed": 2},
            {"kind": "cut", "after_bytes": 60, "probability": 0.1, "seed": 3}
        ]"#,
    ),
    ("slow", r#"[{"kind": "delay", "seconds": 0.5, "max_seconds": 3}]"#),
    ("throttled", r#"[{"kind": "status", "status": 429, "retry_after": 1, "probability": 0.4}]"#),
    ("expired-token", r#"[{"kind": "expired_token"}]"#),
    ("shrinking", r#"[{"kind": "shrink", "path": "search"}]"#),
];

/// Declares the types of members: how each is read from JSON, and what it must be.
macro_rules! members {
    ($($(#[$derive:meta])* $name:ident($kind:ty) = $read:expr, $expected:literal;)+) => {$(
        $(#[$derive])*
        #[derive(Clone, Debug, Deserialize)]
        #[serde(try_from = "Value")]
        pub(super) struct $name(pub(super) $kind);

        impl TryFrom<Value> for $name {
            type Error = String;

            fn try_from(given: Value) -> std::result::Result<Self, String> {
                let read: fn(&Value) -> Option<$kind> = $read;
                read(&given).map(Self).ok_or_else(|| must_be($expected, &given))
            }
        }
    )+};
}

members! {
    #[derive(Default)]
    Whole(u64) = Value::as_u64, "an integer from 0 on";
    Count(u64) = |given| given.as_u64().filter(|count| *count > 0), "an integer from 1 on";
    Share(f64) = |given| given.as_f64().filter(|share| *share > 0.0 && *share <= 1.0), "a number above 0, at most 1";
    Kept(f64) = |given| given.as_f64().filter(|share| (0.0..1.0).contains(share)), "a number from 0 to below 1";
    Status(StatusCode) = |given| status(given, |code| matches!(code, 200..=599)), "an integer from 200 to 599";
    Redirection(StatusCode) = |given| status(given, |code| matches!(code, 301 | 302 | 303 | 307 | 308)),
        "301, 302, 303, 307 or 308";
    Failure(i64) = |given| given.as_i64().filter(|code| *code != CODE_SUCCESS),
        "an integer other than 200, which is a success";
    Text(String) = |given| given.as_str().map(str::to_owned), "a string";
    HeaderText(HeaderValue) = header_text, "text that a header can have";
    Headers(HeaderMap) = headers, "a map of headers and texts, without Content-Length, Transfer-Encoding and Connection";
    Day(Date) = |given| given.as_str()?.parse().ok(), "a day as 2024-01-15";
    Path(String) = path, "`search`, `download` or a path that begins with /";
}

fn status(given: &Value, is_allowed: fn(u16) -> bool) -> Option<StatusCode> {
    let code = given.as_u64()?.try_into().ok().filter(|code| is_allowed(*code))?;
    StatusCode::from_u16(code).ok()
}

fn header_text(given: &Value) -> Option<HeaderValue> {
    HeaderValue::from_str(given.as_str()?).ok()
}

/// Headers without those that frame a response: a fault `cut` breaks the frame.
fn headers(given: &Value) -> Option<HeaderMap> {
    let framing = [header::CONTENT_LENGTH, header::TRANSFER_ENCODING, header::CONNECTION];
    let header = |(name, value): (&String, &Value)| {
        let name = HeaderName::try_from(name).ok().filter(|name| !framing.contains(name))?;
        Some((name, header_text(value)?))
    };
    given.as_object()?.iter().map(header).collect()
}

fn path(given: &Value) -> Option<String> {
    let path = match given.as_str()? {
        "search" => SEARCH_PATH,
        "download" => DOWNLOAD_PATH,
        path => Some(path).filter(|path| path.starts_with('/'))?,
    };
    Some(path.to_owned())
}

/// Declares the kinds of faults by their names: each with the members that it needs, and with others that it takes.
macro_rules! kinds {
    ($($(#[doc = $doc:literal])+ $name:literal $kind:ident { $($needed:ident: $needs:ty),* } $(or { $($other:ident: $takes:ty),+ })?;)+) => {
        /// What goes wrong with a response. Bytes are counted in its body; without a number not even its head is sent.
        #[derive(Clone, Debug, Deserialize)]
        pub(super) enum FaultKind {
            $($(#[doc = $doc])+ #[serde(rename = $name)] $kind { $($needed: $needs,)* $($($other: Option<$takes>),+)? },)+
        }

        const KINDS: &[(&str, &[&str], &[&str])] =
            &[$(($name, &[$(stringify!($needed)),*], &[$($(stringify!($other)),+)?])),+];
    };
}

kinds! {
    /// Resets the connection. A response that is no longer than `after_bytes` passes unchanged.
    "reset" Reset {} or { after_bytes: Whole };
    /// Closes the connection, whatever `Content-Length` says. A shorter response passes unchanged.
    "cut" Cut {} or { after_bytes: Whole };
    /// Sends nothing more until the fault ends.
    "stall" Stall {} or { after_bytes: Whole };
    /// Sends random bytes, which are no HTTP, and closes the connection.
    "garbage" Garbage {};
    /// Sends this response; the service does not handle the request. Without `body` it is an envelope, for 403 the
    /// permission failure of section 7. Each of `headers` replaces one of the same name.
    "status" Status { status: Status }
        or { retry_after: Whole, body: Text, content_type: HeaderText, headers: Headers };
    /// Sends a redirect without a body, by default 302.
    "redirect" Redirect { location: HeaderText } or { status: Redirection, headers: Headers };
    /// Sends HTTP 200 with a failure in the envelope; the service does not handle the request.
    "code" Code { code: Failure } or { message: Text };
    /// Refuses the token of the first affected request as expired, whenever it is used again.
    "expired_token" ExpiredToken {};
    /// Delays the response, for a varying time with `max_seconds`.
    "delay" Delay { seconds: Seconds } or { max_seconds: Seconds };
    /// Sends the body in pieces of at most `chunk_bytes`, with `seconds` between them.
    "drip" Drip { chunk_bytes: Count, seconds: Seconds };
    /// Moves the `code` of a success to the end and changes it.
    "late_code" LateCode { code: Failure };
    /// Leaves out the last rows of a successful search, which stays a success. `keep` is the share that stays, rounded
    /// down, by default a quarter.
    "shrink" Shrink {} or { keep: Kept };
}

/// A fault and the requests that it affects.
#[derive(Clone, Debug)]
pub struct Fault {
    pub(super) kind: FaultKind,
    pub(super) choice: Choice,
    pub(super) form: Map<String, Value>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Choice {
    /// None is every path.
    path: Option<Path>,
    #[serde(rename = "where")]
    pub(super) pattern: Pattern,
    /// How many matching requests pass unchanged first.
    pub(super) after: Whole,
    /// How many requests it affects; none is unlimited.
    pub(super) times: Option<Count>,
    /// The share of the matching requests that it affects; none is all.
    pub(super) probability: Option<Share>,
    /// Decides which requests these are, and what else varies.
    pub(super) seed: Whole,
}

/// What the body of a request must contain, all of it.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Pattern {
    /// A day, in the zone of days, whose rows the conditions of one column do not exclude.
    pub(super) day: Option<Day>,
    /// Text of the body as it was sent.
    pub(super) contains: Option<Text>,
}

impl Choice {
    pub(super) fn has_path(&self, path: &str) -> bool {
        self.path.as_ref().is_none_or(|wanted| wanted.0 == path)
    }
}

impl Fault {
    /// The fault of a form, or the faults of a preset: `{"preset": "flaky", "path": "search"}`. Members that choose
    /// requests hold for each fault of a preset.
    ///
    /// # Errors
    /// `Config` for an unknown kind, preset or member, a missing member, and an invalid value.
    pub fn from_form(mut form: Map<String, Value>) -> Result<Vec<Self>> {
        form.retain(|_, value| !value.is_null());
        let Some(preset) = form.shift_remove("preset") else {
            return Self::read(form).map(|fault| vec![fault]);
        };
        let Some((name, faults)) = PRESETS.iter().find(|(name, _)| preset == *name) else {
            return Err(refused("preset", &one_of(PRESETS.iter().map(|(name, _)| *name)), &preset));
        };
        check_members(&format!("the preset `{name}`"), &form, CHOICE)?;
        let faults: Vec<Map<String, Value>> = serde_json::from_str(faults).unwrap_or_default();
        let seed = |form: &Map<String, Value>| form.get("seed").and_then(Value::as_u64);
        let chosen = faults.into_iter().map(|mut fault| {
            let seeds = seed(&fault).zip(seed(&form));
            fault.extend(form.clone());
            if let Some((own, given)) = seeds {
                // The faults of a preset decide independently of each other.
                fault.insert("seed".to_owned(), own.wrapping_add(given).into());
            }
            Self::read(fault)
        });
        chosen.collect()
    }

    fn read(form: Map<String, Value>) -> Result<Self> {
        let (choice, mut options): (Map<_, _>, Map<_, _>) =
            form.clone().into_iter().partition(|(member, _)| CHOICE.contains(&member.as_str()));
        let kind = options.shift_remove("kind").unwrap_or_default();
        let Some((kind, needs, takes)) = KINDS.iter().find(|(name, ..)| kind == *name) else {
            return Err(refused("kind", &one_of(KINDS.iter().map(|(name, ..)| *name)), &kind));
        };
        let about = format!("a fault `{kind}`");
        check_members(&about, &options, &[needs, takes, CHOICE].concat())?;
        if let Some(missing) = needs.iter().find(|needed| !options.contains_key(**needed)) {
            return Err(Error::new(Kind::Config, format!("{about} needs {missing}")));
        }
        match choice.get("where") {
            None => {}
            Some(Value::Object(pattern)) => check_members("where", pattern, &["day", "contains"])?,
            Some(other) => return Err(refused("where", "an object with members", other)),
        }
        let given = |member| form.get(member).unwrap_or(&Value::Null);
        let (kind, choice) = (part(json!({ *kind: options }))?, part(choice.into())?);
        match &kind {
            FaultKind::Delay { seconds, max_seconds: Some(most) } if most.0 < seconds.0 => {
                Err(refused("max_seconds", "at least seconds", given("max_seconds")))
            }
            FaultKind::Status { status, body: Some(_), .. } if has_no_body(status.0) => {
                Err(refused("body", "absent with status 204 or 304", given("body")))
            }
            _ => Ok(Self { kind, choice, form }),
        }
    }
}

pub(super) fn has_no_body(status: StatusCode) -> bool {
    matches!(status, StatusCode::NO_CONTENT | StatusCode::NOT_MODIFIED)
}

/// Reads a part of a form whose members are known.
fn part<T: DeserializeOwned>(part: Value) -> Result<T> {
    serde_path_to_error::deserialize(part).map_err(|error| {
        let key = |segment: &Segment| if let Segment::Map { key } = segment { Some(key.clone()) } else { None };
        let path: Vec<String> = error.path().iter().filter_map(key).collect();
        Error::new(Kind::Config, format!("{} {}", path.join("."), error.inner()))
    })
}

fn check_members(about: &str, form: &Map<String, Value>, known: &[&str]) -> Result<()> {
    form.keys().find(|name| !known.contains(&name.as_str())).map_or(Ok(()), |unknown| {
        let problem = format!("{about} takes {}, not {}", known.join(", "), excerpt(unknown, 60));
        Err(Error::new(Kind::Config, problem))
    })
}

fn one_of<'a>(words: impl Iterator<Item = &'a str>) -> String {
    format!("one of {}", words.map(|word| format!("\"{word}\"")).collect::<Vec<_>>().join(", "))
}

fn refused(member: &str, expected: &str, given: &Value) -> Error {
    Error::new(Kind::Config, format!("{member} {}", must_be(expected, given)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(form: Value) -> Result<Vec<Fault>> {
        Fault::from_form(serde_json::from_value(form).unwrap())
    }

    #[test]
    fn a_fault_is_written_as_it_was_read() {
        for form in [
            json!({"kind": "reset"}),
            json!({"kind": "cut", "after_bytes": 0, "path": "search", "after": 1, "times": 2}),
            json!({"kind": "stall", "after_bytes": 10, "path": "/x"}),
            json!({"kind": "garbage"}),
            json!({"kind": "status", "status": 502, "retry_after": 3, "body": "<html>", "content_type": "text/html",
                   "headers": {"Via": "1.1 proxy"}, "probability": 0.5, "seed": 7}),
            json!({"kind": "redirect", "location": "https://elsewhere.example/", "status": 307}),
            json!({"kind": "code", "code": 301, "message": "no"}),
            json!({"kind": "expired_token", "after": 3}),
            json!({"kind": "delay", "seconds": 0.5, "max_seconds": 2.0}),
            json!({"kind": "drip", "chunk_bytes": 5, "seconds": 1.0}),
            json!({"kind": "late_code", "code": -1}),
            json!({"kind": "shrink", "keep": 0.25, "where": {"day": "2024-01-15", "contains": "text"}}),
        ] {
            assert_eq!(read(form.clone()).unwrap()[0].form, *form.as_object().unwrap());
        }
        let form = json!({"kind": "reset", "path": null, "times": null, "after": 0, "probability": 1.0, "seed": 0,
            "where": {"day": null}});
        let kept = json!({"kind": "reset", "after": 0, "probability": 1.0, "seed": 0, "where": {"day": null}});
        assert_eq!(json!(read(form).unwrap()[0].form), kept);
    }

    #[test]
    fn the_faults_of_a_preset_have_the_choice_and_seeds_of_their_own() {
        for (preset, _) in PRESETS {
            assert!(!read(json!({"preset": preset})).unwrap().is_empty(), "{preset}");
        }
        let faults =
            read(json!({"preset": "flaky", "path": "search", "seed": 10, "where": {"contains": "x"}})).unwrap();
        assert_eq!(faults.iter().map(|fault| fault.choice.seed.0).collect::<Vec<_>>(), [11, 12, 13]);
        assert!(faults.iter().all(|Fault { choice, .. }| {
            choice.has_path(SEARCH_PATH) && !choice.has_path(DOWNLOAD_PATH) && choice.pattern.contains.is_some()
        }));
    }
}
