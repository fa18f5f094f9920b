//! Reads the bodies of requests (sections 4.1 to 4.3) into types. A refusal names the path in the body and the rule.
//!
//! Written from the specification: only constants are shared with the client.

mod search;

pub(super) use search::SearchBody;

use std::fmt;
use std::marker::PhantomData;

use serde::de::value::MapAccessDeserializer;
use serde::de::{DeserializeOwned, Error as _, MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;
use serde_path_to_error::Segment;

use super::objects::shown;
use super::reply::{Refusal, json};
use crate::contract::SCOPE_DOWNLOAD;
use crate::error::excerpt;

const MAX_QUOTED: usize = 60;

/// The body of a download (section 4.3).
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Download {
    scope: Value,
    #[serde(rename = "exportId", deserialize_with = "integer")]
    export_id: i64,
}

/// The export that the body of a download names.
pub(super) fn export_id(body: &[u8]) -> Result<i64, Refusal> {
    let Download { scope, export_id } = read(body)?;
    constant("scope", &scope, &SCOPE_DOWNLOAD.into())?;
    Ok(export_id)
}

pub(super) fn read<T: DeserializeOwned>(body: &[u8]) -> Result<T, Refusal> {
    let mut reader = serde_json::Deserializer::from_slice(body);
    let read = serde_path_to_error::deserialize(&mut reader).map_err(|error| unread(body, &error));
    let JsonObject(value) = read?;
    reader.end().map_err(|cause| no_json(&cause))?;
    Ok(value)
}

fn no_json(cause: &serde_json::Error) -> Refusal {
    Refusal::malformed(format!("the body is not JSON: {cause}"))
}

/// The refusal of a body that does not have the types of the specification.
fn unread(body: &[u8], error: &serde_path_to_error::Error<serde_json::Error>) -> Refusal {
    if let Err(cause) = serde_json::from_slice::<Value>(body) {
        return no_json(&cause);
    }
    let cause = error.inner();
    let text = cause.to_string();
    let text = text.trim_end_matches(&format!(" at line {} column {}", cause.line(), cause.column()));
    let (found, expected) = text.rsplit_once(", expected ").unwrap_or((text, ""));
    let path = error.path().to_string();
    if let (true, Some(Segment::Map { key })) = (found.starts_with("unknown field"), error.path().iter().next_back()) {
        let known: Vec<&str> = expected.split('`').skip(1).step_by(2).collect();
        let object = path.strip_suffix(key.as_str()).unwrap_or_default().trim_end_matches('.');
        let problem = format!("`{}` is not known here{}", excerpt(key, MAX_QUOTED), instead(key, known));
        return refused(object, &problem);
    }
    let problem = match found.split_once(" field ") {
        Some(("missing", name)) => format!("{name} is required"),
        Some(("duplicate", name)) => format!("{name} occurs twice"),
        _ if expected.is_empty() => excerpt(found, MAX_QUOTED * 2),
        _ => {
            let found = excerpt(found, MAX_QUOTED * 2).replacen("type: sequence", "type: array", 1);
            let found = found.replacen("type: map", "type: object", 1);
            format!("{found}, expected {}", expected.replace("a sequence", "an array"))
        }
    };
    refused(path.trim_start_matches('.'), &problem)
}

/// The known name that an unknown one probably is, whatever their case.
pub(super) fn nearest<'a>(unknown: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let unknown = excerpt(unknown, MAX_QUOTED).to_lowercase();
    let compared = known.into_iter().map(|name| (strsim::jaro_winkler(&unknown, &name.to_lowercase()), name));
    let similar = compared.filter(|(likeness, _)| *likeness > 0.8);
    similar.max_by(|(one, _), (other, _)| one.total_cmp(other)).map(|(_, name)| name)
}

/// What a refusal says after an unknown name: the similar known one, or all.
fn instead<'a>(unknown: &str, known: impl IntoIterator<Item = &'a str>) -> String {
    let known: Vec<&str> = known.into_iter().collect();
    match nearest(unknown, known.iter().copied()) {
        Some(name) => format!("; did you mean `{}`?", excerpt(name, MAX_QUOTED)),
        None => format!("; known are {}", excerpt(&known.join(", "), MAX_QUOTED * 3)),
    }
}

/// A refusal that names a path; the path of the body is empty.
fn refused(path: &str, problem: &str) -> Refusal {
    let path = if path.is_empty() { "the body" } else { path };
    Refusal::malformed(format!("{path}: {problem}"))
}

/// A refusal that names a path and quotes the value.
fn mismatch(path: &str, value: &impl Serialize, expected: &str) -> Refusal {
    refused(path, &format!("{} is not {expected}", excerpt(&json(value), MAX_QUOTED)))
}

/// Checks that a value is the only one that is documented.
fn constant(path: &str, given: &Value, only: &Value) -> Result<(), Refusal> {
    if given == only || (only.is_number() && whole(given) == whole(only)) {
        return Ok(());
    }
    Err(mismatch(path, given, &format!("{}, the only documented value", shown(only))))
}

/// A type that is read from a JSON object only: derived structs are also read from arrays.
struct JsonObject<T>(T);

impl<'de, T: Deserialize<'de>> Deserialize<'de> for JsonObject<T> {
    fn deserialize<D: Deserializer<'de>>(input: D) -> Result<Self, D::Error> {
        input.deserialize_map(ObjectVisitor(PhantomData)).map(Self)
    }
}

struct ObjectVisitor<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de>> Visitor<'de> for ObjectVisitor<T> {
    type Value = T;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, members: A) -> Result<T, A::Error> {
        T::deserialize(MapAccessDeserializer::new(members))
    }
}

fn integer<'de, D: Deserializer<'de>>(input: D) -> Result<i64, D::Error> {
    let value = Value::deserialize(input)?;
    whole(&value).ok_or_else(|| D::Error::custom(format_args!("{value} is not an integer of 64 bits")))
}

/// An integer; JSON has one number type, so `4.0` is one too.
fn whole(value: &Value) -> Option<i64> {
    let whole = |number: f64| (number.fract() == 0.0).then(|| format!("{number:.0}").parse().ok()).flatten();
    value.as_i64().or_else(|| value.as_f64().and_then(whole))
}

/// A member that may be absent, but not null.
fn given<'de, D: Deserializer<'de>, T: Deserialize<'de>>(input: D) -> Result<Option<T>, D::Error> {
    T::deserialize(input).map(Some)
}
