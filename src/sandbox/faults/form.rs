//! The JSON form of a fault: one object, for Python, the control routes and scenario files.
//!
//! `{"kind": "status", "status": 502, "path": "search", "where": {"day": "2024-01-15"}, "times": 2}`. What is null is
//! absent.

use std::time::Duration;

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Map, Value, json};

use super::fault::{Fault, FaultKind, invalid};
use super::members::Members;
use super::pattern::BodyPattern;
use super::presets;
use crate::contract::{DOWNLOAD_PATH, SEARCH_PATH};
use crate::error::Result;

/// Each kind with its options.
const KINDS: [(&str, &[&str]); 11] = [
    ("reset", &["after_bytes"]),
    ("cut", &["after_bytes"]),
    ("stall", &["after_bytes"]),
    ("status", &["status", "retry_after", "body", "content_type", "headers"]),
    ("redirect", &["location", "status", "headers"]),
    ("code", &["code", "message"]),
    ("expired_token", &[]),
    ("delay", &["seconds", "max_seconds"]),
    ("drip", &["chunk_bytes", "seconds"]),
    ("late_code", &["code"]),
    ("shrink", &["keep"]),
];
/// The members of every kind, which choose the requests.
const CHOICE: [&str; 6] = ["path", "where", "after", "times", "probability", "seed"];
const PATTERN: [&str; 7] = ["day", "column", "value", "item_type_name", "item_type_id", "export_id", "contains"];
const PATHS: [(&str, &str); 2] = [("search", SEARCH_PATH), ("download", DOWNLOAD_PATH)];

/// The share of rows that a shrunk response keeps: less than the half that a refresh accepts.
const KEEP: f64 = 0.25;

impl Fault {
    /// The fault of a JSON object, or the faults of a preset: `{"preset": "flaky", "path": "search"}`. Members that
    /// choose requests hold for each fault of a preset.
    ///
    /// # Errors
    /// `Config` for an unknown kind, preset or member, a missing member, and an invalid value.
    pub fn from_form(form: Map<String, Value>) -> Result<Vec<Self>> {
        if form.get("preset").is_none_or(Value::is_null) {
            return Self::from_members(form).map(|fault| vec![fault]);
        }
        let mut members = Members::new(form, "");
        let preset = members.word("preset", &presets::PRESETS.map(|(name, _)| name))?;
        members.check_names(&format!("the preset `{preset}`"), &[], &CHOICE)?;
        let faults = presets::faults(preset)?;
        let chosen: Vec<Self> =
            faults.into_iter().map(|fault| fault.chosen(&mut members.clone())).collect::<Result<_>>()?;
        chosen.iter().try_for_each(Self::check)?;
        Ok(chosen)
    }

    fn from_members(form: Map<String, Value>) -> Result<Self> {
        let mut members = Members::new(form, "");
        let kind = members.word("kind", &KINDS.map(|(name, _)| name))?;
        let options = KINDS.iter().find(|(name, _)| *name == kind).map_or(&[][..], |(_, options)| options);
        let about = format!("a fault `{kind}`");
        members.check_names(&about, options, &CHOICE)?;
        let kind = read_kind(kind, &mut members)?.ok_or_else(|| members.missing(&about))?;
        let fault = Self::new(kind).chosen(&mut members)?;
        fault.check()?;
        Ok(fault)
    }

    /// The fault with the members that choose its requests; what is absent stays.
    fn chosen(self, members: &mut Members) -> Result<Self> {
        let path = members.text("path")?.map(|path| {
            let known = PATHS.iter().find(|(name, _)| *name == path);
            known.map_or(path, |(_, path)| (*path).to_owned())
        });
        Ok(Self {
            path: path.or(self.path),
            after: members.unsigned("after")?.unwrap_or(self.after),
            times: members.positive("times")?.or(self.times),
            pattern: members.object("where")?.map(read_pattern).transpose()?.unwrap_or(self.pattern),
            probability: members.number("probability", "a number above 0, at most 1")?.unwrap_or(self.probability),
            // The faults of a preset decide independently of each other.
            seed: members.unsigned("seed")?.map_or(self.seed, |seed| self.seed.wrapping_add(seed)),
            kind: self.kind,
        })
    }

    /// The members of its form; what has its default is left out.
    pub(super) fn form(&self) -> Map<String, Value> {
        let mut form = kind_form(&self.kind);
        let short = |path: &String| {
            PATHS.iter().find(|(_, known)| known == path).map_or(path.as_str(), |(name, _)| name).into()
        };
        let pattern = pattern_form(&self.pattern);
        let choice: [(&str, Option<Value>); CHOICE.len()] = [
            ("path", self.path.as_ref().map(short)),
            ("where", (!pattern.is_empty()).then(|| pattern.into())),
            ("after", (self.after > 0).then(|| self.after.into())),
            ("times", self.times.map(Value::from)),
            ("probability", (self.probability < 1.0).then(|| self.probability.into())),
            ("seed", (self.seed > 0).then(|| self.seed.into())),
        ];
        form.extend(choice.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?))));
        form
    }
}

impl<'de> Deserialize<'de> for Fault {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::from_members(Map::deserialize(deserializer)?).map_err(|error| D::Error::custom(error.summary()))
    }
}

impl Serialize for Fault {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.form().serialize(serializer)
    }
}

/// A kind with its options; none when a required one is absent.
fn read_kind(kind: &str, members: &mut Members) -> Result<Option<FaultKind>> {
    let after_bytes = members.size("after_bytes", 0)?;
    Ok(match kind {
        "reset" => Some(FaultKind::Reset { after_bytes }),
        "cut" => Some(FaultKind::Cut { after_bytes }),
        "stall" => Some(FaultKind::Stall { after_bytes }),
        "status" => {
            let (retry_after, body, content_type) =
                (members.whole_seconds("retry_after")?, members.text("body")?, members.text("content_type")?);
            let headers = members.headers("headers")?;
            let status = members.required("status", Members::status)?;
            status.map(|status| FaultKind::Status { status, retry_after, body, content_type, headers })
        }
        "redirect" => {
            let status = members.status("status")?.unwrap_or(302);
            let headers = members.headers("headers")?;
            let location = members.required("location", Members::text)?;
            location.map(|location| FaultKind::Redirect { status, location, headers })
        }
        "code" => {
            let message = members.text("message")?;
            members.required("code", Members::failure_code)?.map(|code| FaultKind::Code { code, message })
        }
        "expired_token" => Some(FaultKind::ExpiredToken),
        "delay" => {
            let most = members.seconds("max_seconds")?;
            members.required("seconds", Members::seconds)?.map(|least| FaultKind::Delay { least, most })
        }
        "drip" => {
            let chunk_bytes = members.required("chunk_bytes", |members, name| members.size(name, 1))?;
            let pause = members.required("seconds", Members::seconds)?;
            chunk_bytes.zip(pause).map(|(chunk_bytes, pause)| FaultKind::Drip { chunk_bytes, pause })
        }
        "late_code" => members.required("code", Members::failure_code)?.map(FaultKind::LateCode),
        "shrink" => {
            Some(FaultKind::Shrink { keep: members.number("keep", "a number from 0 to below 1")?.unwrap_or(KEEP) })
        }
        _ => None,
    })
}

fn kind_form(kind: &FaultKind) -> Map<String, Value> {
    let form = match kind {
        FaultKind::Reset { after_bytes } => json!({"kind": "reset", "after_bytes": after_bytes}),
        FaultKind::Cut { after_bytes } => json!({"kind": "cut", "after_bytes": after_bytes}),
        FaultKind::Stall { after_bytes } => json!({"kind": "stall", "after_bytes": after_bytes}),
        FaultKind::Status { status, retry_after, body, content_type, headers } => json!({
            "kind": "status", "status": status, "retry_after": retry_after, "body": body,
            "content_type": content_type, "headers": headers_form(headers),
        }),
        FaultKind::Redirect { status, location, headers } => {
            json!({"kind": "redirect", "location": location, "status": status, "headers": headers_form(headers)})
        }
        FaultKind::Code { code, message } => json!({"kind": "code", "code": code, "message": message}),
        FaultKind::ExpiredToken => json!({"kind": "expired_token"}),
        FaultKind::Delay { least, most } => {
            json!({"kind": "delay", "seconds": seconds(*least), "max_seconds": most.map(seconds)})
        }
        FaultKind::Drip { chunk_bytes, pause } => {
            json!({"kind": "drip", "chunk_bytes": chunk_bytes, "seconds": seconds(*pause)})
        }
        FaultKind::LateCode(code) => json!({"kind": "late_code", "code": code}),
        FaultKind::Shrink { keep } => json!({"kind": "shrink", "keep": keep}),
    };
    given(form)
}

fn read_pattern(pattern: Map<String, Value>) -> Result<BodyPattern> {
    let mut members = Members::new(pattern, "where.");
    members.check_names("where", &PATTERN, &[])?;
    let day = members
        .text("day")?
        .map(|day| day.parse().map_err(|_| invalid(&members.name("day"), "a day as 2024-01-15", &format!("{day:?}"))));
    Ok(BodyPattern {
        item_type_id: members.integer("item_type_id")?,
        item_type_name: members.text("item_type_name")?,
        export_id: members.integer("export_id")?,
        column: members.text("column")?,
        value: members.take("value"),
        day: day.transpose()?,
        contains: members.text("contains")?,
    })
}

fn pattern_form(pattern: &BodyPattern) -> Map<String, Value> {
    given(json!({
        "day": pattern.day.map(|day| day.to_string()), "column": pattern.column, "value": pattern.value,
        "item_type_name": pattern.item_type_name, "item_type_id": pattern.item_type_id,
        "export_id": pattern.export_id, "contains": pattern.contains,
    }))
}

/// The members of an object that are not null.
fn given(object: Value) -> Map<String, Value> {
    let Value::Object(members) = object else { return Map::new() };
    members.into_iter().filter(|(_, value)| !value.is_null()).collect()
}

fn headers_form(headers: &[(String, String)]) -> Option<Map<String, Value>> {
    let members = || headers.iter().map(|(name, text)| (name.clone(), text.as_str().into()));
    (!headers.is_empty()).then(|| members().collect())
}

/// Seconds, as an integer where they are whole.
fn seconds(duration: Duration) -> Value {
    if duration.subsec_nanos() == 0 { duration.as_secs().into() } else { duration.as_secs_f64().into() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(form: Value) -> String {
        serde_json::from_value::<Fault>(form).unwrap_err().to_string()
    }

    #[test]
    fn a_fault_is_written_as_it_was_read() {
        for form in [
            json!({"kind": "reset"}),
            json!({"kind": "cut", "after_bytes": 0, "path": "search", "times": 2, "after": 1}),
            json!({"kind": "stall", "after_bytes": 10, "path": "/x"}),
            json!({"kind": "status", "status": 502, "retry_after": 3, "body": "<html>", "content_type": "text/html",
                   "headers": {"Via": "1.1 proxy"}, "probability": 0.5, "seed": 7}),
            json!({"kind": "redirect", "location": "https://elsewhere.example/", "status": 307}),
            json!({"kind": "code", "code": 301, "message": "no"}),
            json!({"kind": "expired_token", "after": 3}),
            json!({"kind": "delay", "seconds": 0.5, "max_seconds": 2}),
            json!({"kind": "drip", "chunk_bytes": 5, "seconds": 1}),
            json!({"kind": "late_code", "code": -1}),
            json!({"kind": "shrink", "keep": 0.25, "where": {
                "day": "2024-01-15", "column": "t", "value": [1], "item_type_name": "customer", "item_type_id": -1003,
                "export_id": 1, "contains": "text"}}),
        ] {
            let fault: Fault = serde_json::from_value(form.clone()).unwrap();
            assert_eq!(serde_json::to_value(&fault).unwrap(), form);
        }
        let form = json!({"kind": "reset", "path": null, "times": null, "after": 0, "probability": 1.0, "seed": 0,
            "where": {}});
        assert_eq!(serde_json::from_value::<Fault>(form).unwrap().kind, FaultKind::Reset { after_bytes: None });
    }

    #[test]
    fn an_error_names_the_member_and_what_is_valid() {
        let choice = "path, where, after, times, probability, seed";
        for (form, expected) in [
            (json!({"kind": "reset", "tmes": 1}), format!("a fault `reset` takes after_bytes, {choice}, not tmes")),
            (json!({"kind": "status"}), "a fault `status` needs status".to_owned()),
            (json!({"kind": "drip"}), "a fault `drip` needs chunk_bytes, seconds".to_owned()),
            (
                json!({"kind": "status", "status": "502"}),
                "status must be an integer from 200 to 599, not \"502\"".to_owned(),
            ),
            (
                json!({"kind": "late_code", "code": 200}),
                "code must be an integer other than 200, which is a success, not 200".to_owned(),
            ),
            (
                json!({"kind": "reset", "where": {"date": 1}}),
                "where takes day, column, value, item_type_name, item_type_id, export_id, contains, not date"
                    .to_owned(),
            ),
            (
                json!({"kind": "reset", "where": {"day": "15.1."}}),
                "where.day must be a day as 2024-01-15, not \"15.1.\"".to_owned(),
            ),
            (
                json!({"kind": "reset", "where": {"export_id": "5"}}),
                "where.export_id must be an integer, not \"5\"".to_owned(),
            ),
            (
                json!({"kind": "reset", "probability": 0}),
                "probability must be a number above 0, at most 1, not 0".to_owned(),
            ),
            (
                json!({"kind": "delay", "seconds": 2, "max_seconds": 1}),
                "max_seconds must be at least seconds, not 1".to_owned(),
            ),
            (
                json!({"kind": "redirect", "location": "/x", "status": 200}),
                "status must be 301, 302, 303, 307 or 308, not 200".to_owned(),
            ),
            (
                json!({"kind": "redirect", "location": "a\r\nb"}),
                "location must be text that a header can have, not \"a\\r\\nb\"".to_owned(),
            ),
            (json!({"kind": "shrink", "keep": 1}), "keep must be a number from 0 to below 1, not 1".to_owned()),
        ] {
            assert_eq!(error(form), expected);
        }
        assert!(error(json!({"kind": "explode"})).starts_with("kind must be one of \"reset\", \"cut\", "));
        assert!(error(json!({})).ends_with("\"shrink\", not null"));
        let framing = json!({"kind": "status", "status": 200, "headers": {"Content-Length": "5"}});
        assert!(error(framing).starts_with("headers cannot have content-length, which the sandbox sets"));
    }

    #[test]
    fn presets_are_valid_and_take_the_members_that_choose_requests() {
        for (preset, _) in presets::PRESETS {
            assert!(!presets::faults(preset).unwrap().is_empty(), "{preset}");
        }
        let form = |form: Value| given(form);
        let faults = Fault::from_form(form(
            json!({"preset": "flaky", "path": "search", "seed": 10, "where": {"contains": "x"}}),
        ));
        let faults = faults.unwrap();
        assert_eq!(faults.iter().map(|fault| fault.seed).collect::<Vec<_>>(), [11, 12, 13]);
        assert!(
            faults.iter().all(|fault| fault.path.as_deref() == Some(SEARCH_PATH) && fault.pattern.contains.is_some())
        );
        assert_eq!(Fault::from_form(form(json!({"kind": "reset"}))).unwrap().len(), 1);
        let error = |members: Value| Fault::from_form(form(members)).unwrap_err().summary();
        let expected = "the preset `slow` takes path, where, after, times, probability, seed, not seconds";
        assert_eq!(error(json!({"preset": "slow", "seconds": 1})), expected);
        assert!(error(json!({"preset": "bad"})).starts_with("preset must be one of \"flaky\", \"slow\", "));
    }
}
