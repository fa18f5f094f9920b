//! A fault: what goes wrong, for which requests, and how often.
//!
//! Its form is one JSON object, for Python, the control routes and scenario files:
//! `{"kind": "status", "status": 502, "path": "search", "where": {"day": "2024-01-15"}, "times": 2}`. What is null is
//! absent.

use std::collections::BTreeMap;
use std::num::{NonZeroU64, NonZeroUsize};

use axum::http::{HeaderName, HeaderValue, header};
use jiff::civil::Date;
use serde::de::{DeserializeOwned, Error as _, Unexpected};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Map, Value, json};
use serde_path_to_error::Segment;

use crate::contract::envelope::CODE_SUCCESS;
use crate::contract::{DOWNLOAD_PATH, SEARCH_PATH};
use crate::error::{Error, Kind, Result, defect, excerpt};

/// The members of a form that choose the requests, as [`Choice`] has them.
const CHOICE: [&str; 6] = ["path", "where", "after", "times", "probability", "seed"];
const PATHS: [(&str, &str); 2] = [("search", SEARCH_PATH), ("download", DOWNLOAD_PATH)];

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
    // Fewer than half of the rows, which is what a refresh notices.
    ("shrinking", r#"[{"kind": "shrink", "keep": 0.25, "path": "search"}]"#),
];

/// A fault and the requests that it affects.
#[derive(Clone, Debug, PartialEq)]
pub struct Fault {
    pub(super) kind: FaultKind,
    pub(super) choice: Choice,
}

/// What goes wrong with a response. Bytes are counted in its body; without a number not even its head is sent.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub(super) enum FaultKind {
    /// Resets the connection. A response that is no longer than `after_bytes` passes unchanged.
    Reset { after_bytes: Option<usize> },
    /// Closes the connection, whatever `Content-Length` says. A shorter response passes unchanged.
    Cut { after_bytes: Option<usize> },
    /// Sends nothing more until the fault ends.
    Stall { after_bytes: Option<usize> },
    /// Sends random bytes, which are no HTTP, and closes the connection.
    Garbage {},
    /// Sends this response; the service does not handle the request.
    Status {
        status: u16,
        /// Seconds for `Retry-After`.
        retry_after: Option<u64>,
        /// The body; none is an envelope, for 403 the permission failure of section 7.
        body: Option<String>,
        /// None is JSON for an envelope and plain text for another body.
        content_type: Option<String>,
        /// More headers; each replaces one of the same name.
        #[serde(default)]
        headers: BTreeMap<String, String>,
    },
    /// Sends a redirect without a body.
    Redirect {
        location: String,
        #[serde(default = "found")]
        status: u16,
        #[serde(default)]
        headers: BTreeMap<String, String>,
    },
    /// Sends HTTP 200 with a failure in the envelope; the service does not handle the request.
    Code { code: i64, message: Option<String> },
    /// Refuses the token of the first affected request as expired, whenever it is used again.
    ExpiredToken {},
    /// Delays the response, for a varying time with `max_seconds`.
    Delay { seconds: f64, max_seconds: Option<f64> },
    /// Sends the body in pieces of at most `chunk_bytes`, with `seconds` between them.
    Drip { chunk_bytes: NonZeroUsize, seconds: f64 },
    /// Moves the `code` of a success to the end and changes it.
    LateCode { code: i64 },
    /// Leaves out the last rows of a successful search, which stays a success.
    Shrink {
        /// The share of the rows that stay, rounded down.
        #[serde(default = "quarter")]
        keep: f64,
    },
}

/// Which requests a fault affects.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct Choice {
    /// None is every path.
    pub(super) path: Option<String>,
    /// What the body of a request must contain.
    #[serde(rename = "where")]
    pub(super) pattern: Pattern,
    /// How many matching requests pass unchanged first.
    pub(super) after: u64,
    /// How many requests it affects; none is unlimited.
    pub(super) times: Option<NonZeroU64>,
    /// The share of the matching requests that it affects.
    pub(super) probability: f64,
    /// Decides which requests these are, and what else varies.
    pub(super) seed: u64,
}

/// What the body of a request must contain, all of it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, expecting = "an object with members")]
pub(super) struct Pattern {
    /// A day, in the zone of days, whose rows the conditions of one column do not exclude.
    #[serde(deserialize_with = "read_day", serialize_with = "write_day", skip_serializing_if = "Option::is_none")]
    pub(super) day: Option<Date>,
    /// Text of the body as it was sent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) contains: Option<String>,
}

impl Default for Choice {
    fn default() -> Self {
        Self { path: None, pattern: Pattern::default(), after: 0, times: None, probability: 1.0, seed: 0 }
    }
}

impl Choice {
    /// Whether a request has the path.
    pub(super) fn has_path(&self, path: &str) -> bool {
        self.path.as_ref().is_none_or(|wanted| wanted == path || PATHS.contains(&(wanted, path)))
    }
}

impl Fault {
    /// The fault of a form, or the faults of a preset: `{"preset": "flaky", "path": "search"}`. Members that choose
    /// requests hold for each fault of a preset.
    ///
    /// # Errors
    /// `Config` for an unknown kind, preset or member, a missing member, and an invalid value.
    pub fn from_form(form: Map<String, Value>) -> Result<Vec<Self>> {
        let mut form: Map<String, Value> = form.into_iter().filter(|(_, value)| !value.is_null()).collect();
        let Some(preset) = form.shift_remove("preset") else {
            return Self::read(form).map(|fault| vec![fault]);
        };
        let Some((name, faults)) = PRESETS.iter().find(|(name, _)| preset == *name) else {
            return Err(must("preset", &one_of(&PRESETS.map(|(name, _)| name)), &preset));
        };
        if let Some(unknown) = form.keys().find(|name| !CHOICE.contains(&name.as_str())) {
            return Err(unknown_member(&format!("the preset `{name}`"), &CHOICE, unknown));
        }
        let faults: Vec<Map<String, Value>> =
            serde_json::from_str(faults).map_err(|cause| defect(&format!("preset {name}: {cause}")))?;
        let chosen = faults.into_iter().map(|mut fault| {
            let seed = fault.get("seed").and_then(Value::as_u64).unwrap_or_default();
            fault.extend(form.clone());
            let mut fault = Self::read(fault)?;
            if form.contains_key("seed") {
                // The faults of a preset decide independently of each other.
                fault.choice.seed = fault.choice.seed.wrapping_add(seed);
            }
            Ok(fault)
        });
        chosen.collect()
    }

    fn read(mut form: Map<String, Value>) -> Result<Self> {
        let kind = form.shift_remove("kind").unwrap_or_default();
        let (choice, options): (Map<_, _>, Map<_, _>) =
            form.into_iter().partition(|(name, _)| CHOICE.contains(&name.as_str()));
        let name = kind.as_str().unwrap_or_default();
        let fault = Self { kind: read(&json!({ name: options }), &kind)?, choice: read(&choice.into(), &kind)? };
        fault.check()?;
        Ok(fault)
    }

    /// The form; what is absent or has its default is left out.
    pub(super) fn form(&self) -> Map<String, Value> {
        let members = |value: Value| if let Value::Object(members) = value { members } else { Map::new() };
        let mut form = Map::new();
        for (kind, options) in members(json!(self.kind)) {
            form.insert("kind".to_owned(), kind.into());
            form.extend(members(options));
        }
        let defaults = json!(Choice::default());
        form.extend(members(json!(self.choice)).into_iter().filter(|(name, value)| defaults.get(name) != Some(value)));
        form.retain(|_, value| !value.is_null() && *value != json!({}));
        form
    }

    /// Rejects a fault that can match nothing or cannot be sent.
    fn check(&self) -> Result<()> {
        const SECONDS: &str = "a number of seconds of at least 0";
        const SHARE: &str = "a number above 0, at most 1";
        const CODE: &str = "an integer other than 200, which is a success";
        let Choice { path, probability, .. } = &self.choice;
        if let Some(path) = path
            && !path.starts_with('/')
            && !PATHS.iter().any(|(name, _)| name == path)
        {
            return Err(must("path", "`search`, `download` or a path that begins with /", path));
        }
        if !(*probability > 0.0 && *probability <= 1.0) {
            return Err(must("probability", SHARE, probability));
        }
        match &self.kind {
            FaultKind::Delay { seconds, .. } | FaultKind::Drip { seconds, .. } if *seconds < 0.0 => {
                Err(must("seconds", SECONDS, seconds))
            }
            FaultKind::Delay { seconds, max_seconds: Some(most) } if most < seconds => {
                Err(must("max_seconds", "at least seconds", most))
            }
            FaultKind::Code { code: CODE_SUCCESS, .. } | FaultKind::LateCode { code: CODE_SUCCESS } => {
                Err(must("code", CODE, &CODE_SUCCESS))
            }
            FaultKind::Shrink { keep } if !(0.0..1.0).contains(keep) => {
                Err(must("keep", "a number from 0 to below 1", keep))
            }
            FaultKind::Redirect { status, .. } if !matches!(status, 301 | 302 | 303 | 307 | 308) => {
                Err(must("status", "301, 302, 303, 307 or 308", status))
            }
            FaultKind::Redirect { location, headers, .. } => {
                check_value("location", location)?;
                check_headers(headers)
            }
            FaultKind::Status { status, .. } if !(200..=599).contains(status) => Err(must("status", STATUS, status)),
            FaultKind::Status { status: status @ (204 | 304), body, content_type, .. }
                if body.is_some() || content_type.is_some() =>
            {
                let option = if body.is_some() { "body" } else { "content_type" };
                let problem = format!("{option} cannot be sent with status {status}, which has no body");
                Err(Error::new(Kind::Config, problem))
            }
            FaultKind::Status { content_type, headers, .. } => {
                content_type.iter().try_for_each(|given| check_value("content_type", given))?;
                check_headers(headers)
            }
            _ => Ok(()),
        }
    }
}

/// What a status must be.
const STATUS: &str = "an integer from 200 to 599";

const fn found() -> u16 {
    302
}

/// Less than the half that a refresh of a folder accepts.
const fn quarter() -> f64 {
    0.25
}

fn read_day<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Date>, D::Error> {
    let read = |day: String| {
        let invalid = |_| D::Error::invalid_value(Unexpected::Str(&day), &"a day as 2024-01-15");
        day.parse().map_err(invalid)
    };
    Option::deserialize(deserializer)?.map(read).transpose()
}

#[expect(clippy::ref_option, clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn write_day<S: Serializer>(day: &Option<Date>, serializer: S) -> Result<S::Ok, S::Error> {
    day.map(|day| day.to_string()).serialize(serializer)
}

/// Reads a part of a form. A refusal names the member.
fn read<T: DeserializeOwned>(form: &Value, kind: &Value) -> Result<T> {
    serde_path_to_error::deserialize(form).map_err(|error| {
        let (mut names, mut given) = (Vec::new(), Some(form));
        for segment in error.path() {
            given = match segment {
                Segment::Seq { index } => given.and_then(|list| list.get(index)),
                Segment::Enum { variant } => given.and_then(|object| object.get(variant)),
                Segment::Map { key } => {
                    names.push(key.as_str());
                    given.and_then(|object| object.get(key))
                }
                Segment::Unknown => given,
            };
        }
        let cause = error.inner().to_string();
        let quoted: Vec<&str> = cause.split('`').skip(1).step_by(2).collect();
        let about = format!("a fault `{}`", kind.as_str().unwrap_or_default());
        match (cause.split(' ').next(), quoted.split_first(), cause.rsplit_once(", expected ")) {
            (Some("unknown"), Some((_, kinds)), _) if cause.starts_with("unknown variant") => {
                must("kind", &one_of(kinds), kind)
            }
            (Some("unknown"), Some((unknown, known)), _) => match names.split_last() {
                Some((_, [])) | None => unknown_member(&about, &[known, &CHOICE[..]].concat(), unknown),
                Some((_, names)) => unknown_member(&names.join("."), known, unknown),
            },
            (Some("missing"), Some((missing, _)), _) => Error::new(Kind::Config, format!("{about} needs {missing}")),
            (_, _, Some((_, expected))) => must(&names.join("."), plain(expected), &given),
            _ => Error::new(Kind::Config, format!("{about}: {cause}")),
        }
    })
}

/// What serde expects, in plain words.
fn plain(expected: &str) -> &str {
    match expected {
        "usize" | "u64" => "an integer from 0 on",
        "a nonzero usize" | "a nonzero u64" => "an integer from 1 on",
        "i64" => "an integer",
        "u16" => STATUS,
        "f64" => "a number",
        "a map" => "a map of names and strings",
        other => other,
    }
}

fn one_of(words: &[&str]) -> String {
    let quoted: Vec<String> = words.iter().map(|word| format!("\"{word}\"")).collect();
    format!("one of {}", quoted.join(", "))
}

/// The error for a member with an invalid value.
fn must(member: &str, expected: &str, given: &impl Serialize) -> Error {
    let given = json!(given).to_string();
    let given = excerpt(given.strip_suffix(".0").unwrap_or(&given), 60);
    Error::new(Kind::Config, format!("{member} must be {expected}, not {given}"))
}

fn unknown_member(about: &str, known: &[&str], unknown: &str) -> Error {
    Error::new(Kind::Config, format!("{about} takes {}, not {}", known.join(", "), excerpt(unknown, 60)))
}

/// Rejects headers that cannot be sent, and those that frame a response: a fault `cut` breaks the frame.
fn check_headers(headers: &BTreeMap<String, String>) -> Result<()> {
    const FRAMING: [HeaderName; 3] = [header::CONTENT_LENGTH, header::TRANSFER_ENCODING, header::CONNECTION];
    for (name, text) in headers {
        match HeaderName::try_from(name) {
            Ok(name) if FRAMING.contains(&name) => {
                let problem = format!("headers cannot have {name}, which the sandbox sets");
                let hint = "a fault `cut` or `reset` breaks off a response";
                return Err(Error::new(Kind::Config, problem).with_hint(hint));
            }
            Ok(_) => check_value("headers", text)?,
            Err(_) => return Err(must("headers", "a map with names of headers", name)),
        }
    }
    Ok(())
}

/// Rejects the value of a header that cannot be sent.
fn check_value(member: &str, text: &str) -> Result<()> {
    HeaderValue::from_str(text).map(drop).map_err(|_| must(member, "text that a header can have", &text))
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
            assert_eq!(read(form.clone()).unwrap()[0].form(), *form.as_object().unwrap());
        }
        let form = json!({"kind": "reset", "path": null, "times": null, "after": 0, "probability": 1.0, "seed": 0,
            "where": {"day": null}});
        assert_eq!(json!(read(form).unwrap()[0].form()), json!({"kind": "reset"}));
    }

    #[test]
    fn the_faults_of_a_preset_have_the_choice_and_seeds_of_their_own() {
        for (preset, _) in PRESETS {
            assert!(!read(json!({"preset": preset})).unwrap().is_empty(), "{preset}");
        }
        let faults =
            read(json!({"preset": "flaky", "path": "search", "seed": 10, "where": {"contains": "x"}})).unwrap();
        assert_eq!(faults.iter().map(|fault| fault.choice.seed).collect::<Vec<_>>(), [11, 12, 13]);
        assert!(faults.iter().all(|Fault { choice, .. }| {
            choice.has_path(SEARCH_PATH) && !choice.has_path(DOWNLOAD_PATH) && choice.pattern.contains.is_some()
        }));
    }
}
