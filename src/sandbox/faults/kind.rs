//! A fault: what goes wrong, for which requests, and how often.
//!
//! Its form is one JSON object, for Python, the control routes and scenario files:
//! `{"kind": "status", "status": 502, "path": "search", "where": {"day": "2024-01-15"}, "times": 2}`. What is null is
//! absent.

use std::collections::HashMap;
use std::num::{NonZeroU64, NonZeroUsize};

use axum::http::{HeaderName, HeaderValue, header};
use jiff::civil::Date;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};

use crate::contract::envelope::CODE_SUCCESS;
use crate::contract::{DOWNLOAD_PATH, SEARCH_PATH};
use crate::error::{Error, Kind, Result, excerpt};

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
    ("shrinking", r#"[{"kind": "shrink", "path": "search"}]"#),
];

/// A fault and the requests that it affects.
#[derive(Clone, Debug)]
pub struct Fault {
    pub(super) kind: FaultKind,
    pub(super) choice: Choice,
    /// As it was asked for.
    pub(super) form: Map<String, Value>,
}

/// What goes wrong with a response. Bytes are counted in its body; without a number not even its head is sent.
#[derive(Clone, Debug, Deserialize)]
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
        headers: HashMap<String, String>,
    },
    /// Sends a redirect without a body.
    Redirect {
        location: String,
        /// None is 302.
        status: Option<u16>,
        #[serde(default)]
        headers: HashMap<String, String>,
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
    /// `keep` is the share that stays, rounded down; none is a quarter.
    Shrink { keep: Option<f64> },
}

/// Which requests a fault affects.
#[derive(Clone, Debug, Default, Deserialize)]
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
    /// The share of the matching requests that it affects; none is all.
    pub(super) probability: Option<f64>,
    /// Decides which requests these are, and what else varies.
    pub(super) seed: u64,
}

/// What the body of a request must contain, all of it.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct Pattern {
    /// A day, in the zone of days, whose rows the conditions of one column do not exclude.
    pub(super) day: Option<String>,
    /// Text of the body as it was sent.
    pub(super) contains: Option<String>,
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
    pub fn from_form(mut form: Map<String, Value>) -> Result<Vec<Self>> {
        let Some(preset) = form.shift_remove("preset").filter(|preset| !preset.is_null()) else {
            return Self::read(form).map(|fault| vec![fault]);
        };
        let Some((name, faults)) = PRESETS.iter().find(|(name, _)| preset == *name) else {
            return Err(must("preset", &one_of(&PRESETS.map(|(name, _)| name)), &preset));
        };
        form.retain(|_, value| !value.is_null());
        if let Some(unknown) = form.keys().find(|name| !CHOICE.contains(&name.as_str())) {
            return Err(unknown_member(&format!("the preset `{name}`"), &CHOICE, unknown));
        }
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

    fn read(mut form: Map<String, Value>) -> Result<Self> {
        form.retain(|_, value| !value.is_null());
        let (choice, mut options): (Map<_, _>, Map<_, _>) =
            form.clone().into_iter().partition(|(member, _)| CHOICE.contains(&member.as_str()));
        let kind = options.shift_remove("kind").unwrap_or_default();
        let kind = kind.as_str().unwrap_or_default();
        let kind = part(json!({ kind: options }), &format!("a fault `{kind}`"), &CHOICE, &form)?;
        let choice = part(choice.into(), "where", &[], &form)?;
        check_all(&form)?;
        Ok(Self { kind, choice, form })
    }
}

/// Rejects a form with a value that is not what its member must be.
fn check_all(form: &Map<String, Value>) -> Result<()> {
    form.iter().try_for_each(|(member, value)| check(member, value, form))
}

/// Rejects the value of a member that is not what it must be.
fn check(member: &str, value: &Value, form: &Map<String, Value>) -> Result<()> {
    let (text, whole, number) = (value.as_str(), value.as_u64(), value.as_f64());
    let other = |name| form.get(name).unwrap_or(&Value::Null);
    let (holds, expected) = match member {
        "path" => (
            text.is_some_and(|path| path.starts_with('/') || PATHS.iter().any(|(name, _)| *name == path)),
            "`search`, `download` or a path that begins with /",
        ),
        "where" => (value.is_object(), "an object with members"),
        "where.day" => (text.is_some_and(|day| day.parse::<Date>().is_ok()), "a day as 2024-01-15"),
        "after" | "seed" | "after_bytes" | "retry_after" => (whole.is_some(), "an integer from 0 on"),
        "times" | "chunk_bytes" => (whole.is_some_and(|whole| whole > 0), "an integer from 1 on"),
        "probability" => (number.is_some_and(|share| share > 0.0 && share <= 1.0), "a number above 0, at most 1"),
        "keep" => (number.is_some_and(|share| (0.0..1.0).contains(&share)), "a number from 0 to below 1"),
        "seconds" => (number.is_some_and(|seconds| seconds >= 0.0), "a number of seconds of at least 0"),
        "max_seconds" => (number >= other("seconds").as_f64(), "at least seconds"),
        "status" if other("kind") == "redirect" => {
            (matches!(whole, Some(301 | 302 | 303 | 307 | 308)), "301, 302, 303, 307 or 308")
        }
        "status" => (matches!(whole, Some(200..=599)), "an integer from 200 to 599"),
        "code" => {
            (value.as_i64().is_some_and(|code| code != CODE_SUCCESS), "an integer other than 200, which is a success")
        }
        "body" if matches!(other("status").as_u64(), Some(204 | 304)) => (false, "absent with status 204 or 304"),
        "body" | "message" | "where.contains" => (text.is_some(), "a string"),
        "content_type" | "location" => (is_header_text(value), "text that a header can have"),
        "headers" => (
            value.as_object().is_some_and(|headers| headers.iter().all(|(name, value)| is_header(name, value))),
            "a map of headers and texts, without Content-Length, Transfer-Encoding and Connection",
        ),
        _ => return Ok(()),
    };
    if !holds {
        return Err(must(member, expected, value));
    }
    let inner = value.as_object().filter(|_| member == "where").into_iter().flatten();
    inner
        .filter(|(_, value)| !value.is_null())
        .try_for_each(|(name, value)| check(&format!("where.{name}"), value, form))
}

/// Whether it is a header, and none that frames a response: a fault `cut` breaks the frame.
fn is_header(name: &str, value: &Value) -> bool {
    let framing = [header::CONTENT_LENGTH, header::TRANSFER_ENCODING, header::CONNECTION];
    HeaderName::try_from(name).is_ok_and(|name| !framing.contains(&name)) && is_header_text(value)
}

fn is_header_text(value: &Value) -> bool {
    value.as_str().is_some_and(|text| HeaderValue::from_str(text).is_ok())
}

/// Reads a part of a form.
fn part<T: DeserializeOwned>(part: Value, about: &str, others: &[&str], form: &Map<String, Value>) -> Result<T> {
    serde_json::from_value(part).map_err(|error| {
        let cause = error.to_string();
        let quoted: Vec<&str> = cause.split('`').skip(1).step_by(2).collect();
        match (cause.split(' ').nth(1), &*quoted) {
            (Some("variant"), [_, kinds @ ..]) => {
                must("kind", &one_of(kinds), form.get("kind").unwrap_or(&Value::Null))
            }
            (Some("field"), [missing]) if cause.starts_with("missing") => {
                Error::new(Kind::Config, format!("{about} needs {missing}"))
            }
            (Some("field"), [unknown, known @ ..]) => unknown_member(about, &[known, others].concat(), unknown),
            // A value of another type.
            _ => check_all(form).err().unwrap_or_else(|| Error::new(Kind::Config, format!("{about}: {cause}"))),
        }
    })
}

fn one_of(words: &[&str]) -> String {
    format!("one of {}", format!("{words:?}").trim_matches(['[', ']']))
}

/// The error for a member with an invalid value.
fn must(member: &str, expected: &str, given: &Value) -> Error {
    let given = given.to_string();
    let given = excerpt(given.strip_suffix(".0").unwrap_or(&given), 60);
    Error::new(Kind::Config, format!("{member} must be {expected}, not {given}"))
}

fn unknown_member(about: &str, known: &[&str], unknown: &str) -> Error {
    Error::new(Kind::Config, format!("{about} takes {}, not {}", known.join(", "), excerpt(unknown, 60)))
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
        assert_eq!(faults.iter().map(|fault| fault.choice.seed).collect::<Vec<_>>(), [11, 12, 13]);
        assert!(faults.iter().all(|Fault { choice, .. }| {
            choice.has_path(SEARCH_PATH) && !choice.has_path(DOWNLOAD_PATH) && choice.pattern.contains.is_some()
        }));
    }
}
