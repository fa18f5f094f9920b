//! The tables of `tests/json`: what is JSON and what is not, in each place of an answer and however it is cut.
//!
//! The same tables are read by `tests/python/faults/test_json.py`.

use serde_json::Value;

use super::{DecodePlan, Decoder, Objects, plan};
use crate::error::Kind;

const VALUES: &str = include_str!("../../../tests/json/values.txt");
const DOCUMENTS: &str = include_str!("../../../tests/json/documents.txt");

/// A line of a table.
struct Case {
    verdict: &'static str,
    name: &'static str,
    json: Vec<u8>,
}

fn cases(table: &'static str) -> Vec<Case> {
    let lines = table.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    let cases: Vec<Case> = lines
        .map(|line| {
            let mut parts = line.splitn(3, " | ");
            let mut part = || parts.next().unwrap_or_else(|| panic!("a line of three parts: {line}"));
            Case { verdict: part(), name: part(), json: bytes(part()) }
        })
        .collect();
    let mut names: Vec<&str> = cases.iter().map(|case| case.name).collect();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), cases.len(), "a name stands twice");
    cases
}

/// `<0A 0D>` are bytes, `<REPEAT 9 400>` is a text so many times, all else is itself.
fn bytes(written: &str) -> Vec<u8> {
    let mut found = Vec::new();
    let mut rest = written;
    while let Some((plain, after)) = rest.split_once('<') {
        let (code, behind) = after.split_once('>').expect("a closing >");
        found.extend_from_slice(plain.as_bytes());
        match code.split(' ').collect::<Vec<_>>().as_slice() {
            ["REPEAT", text, times] => found.extend(text.repeat(times.parse().expect("a number")).bytes()),
            codes => found.extend(
                codes.iter().filter(|code| !code.is_empty()).map(|code| u8::from_str_radix(code, 16).expect("a byte")),
            ),
        }
        rest = behind;
    }
    found.extend_from_slice(rest.as_bytes());
    found
}

/// What becomes of a body: its envelope and records, or the error; and the records up to there.
type Outcome = (Result<String, (Kind, String)>, Vec<Value>);

fn outcome<'a>(plan: &DecodePlan, pieces: impl IntoIterator<Item = &'a [u8]>) -> Outcome {
    let mut sink = Objects { names: plan.columns.clone().unwrap_or_default(), ..Objects::default() };
    let mut decoder = Decoder::new(plan.clone());
    let fed = pieces.into_iter().try_for_each(|piece| decoder.feed(piece, &mut sink));
    let found = fed.and_then(|()| decoder.finish());
    let told = found.map(|envelope| format!("{envelope:?}"));
    (told.map_err(|error| (error.kind(), error.message().to_owned())), sink.rows)
}

/// The outcome, which must be the same however the body is cut.
fn outcome_at_any_split(plan: &DecodePlan, body: &[u8], what: &str) -> Outcome {
    let whole = outcome(plan, [body]);
    for place in 1..body.len() {
        let (before, after) = body.split_at(place);
        assert_eq!(outcome(plan, [before, after]), whole, "{what}, split at {place}");
    }
    assert_eq!(outcome(plan, body.chunks(1)), whole, "{what}, byte by byte");
    whole
}

/// Where a value may stand, and the only place where it was asked for.
const PLACES: [(&str, &str); 7] = [
    ("cell", r#"{"code":200,"data":{"status":true,"data":[{"a":0},{"a":@}]}}"#),
    ("in a cell", r#"{"code":200,"data":{"status":true,"data":[{"a":{"k":@}}]}}"#),
    ("extra", r#"{"code":200,"data":{"status":true,"data":[{"a":0,"z":@}]}}"#),
    ("in an extra", r#"{"code":200,"data":{"status":true,"data":[{"z":[{"k":@}],"a":0}]}}"#),
    ("cell of a record too many", r#"{"code":200,"data":{"data":[{"a":0},{"a":0},{"a":@}]}}"#),
    ("in the envelope", r#"{"code":200,"x":@,"data":{"status":true,"data":[{"a":0}]}}"#),
    ("in data", r#"{"code":200,"data":{"data":[{"a":0}],"x":@}}"#),
];

fn assert_verdict(verdict: &str, found: &Result<String, (Kind, String)>, what: &str) {
    let expected: &[Kind] = match verdict {
        "ok" | "empty" => &[],
        "invalid" => &[Kind::InvalidJson],
        "record" => &[Kind::Record],
        "truncated" => &[Kind::TruncatedResponse],
        "envelope" => &[Kind::Envelope],
        "notjson" => &[Kind::NotJson],
        "unclosed" => &[Kind::InvalidJson, Kind::TruncatedResponse],
        other => panic!("no verdict: {other}"),
    };
    match found {
        Ok(_) => assert!(expected.is_empty(), "{what}: taken, but {verdict}"),
        Err((kind, message)) => assert!(expected.contains(kind), "{what}: {kind:?}, but {verdict}: {message}"),
    }
}

#[test]
fn each_value_has_its_verdict_in_each_place_and_at_any_split() {
    let cases = cases(VALUES);
    assert!(cases.len() > 250);
    for Case { verdict, name, json } in cases {
        let is_free = verdict.starts_with("free ");
        let verdict = verdict.trim_start_matches("free ");
        let (asked, elsewhere) = verdict.split_once('/').unwrap_or((verdict, verdict));
        let judge = serde_json::from_slice::<Value>(&json);
        if !is_free {
            assert_eq!(judge.is_ok(), verdict == "ok", "{name}: serde_json says otherwise");
        }
        for (place, around) in PLACES {
            let what = format!("{name} {place}");
            let (before, after) = around.split_once('@').expect("a place");
            let body = [before.as_bytes(), &json, after.as_bytes()].concat();
            let plan = DecodePlan { max_records: Some(2), ..plan(&["a"]) };
            let (found, rows) = outcome_at_any_split(&plan, &body, &what);
            let is_cell = place.starts_with("cell");
            assert_verdict(if is_cell { asked } else { elsewhere }, &found, &what);
            if place == "cell" && asked == "ok" {
                let read = rows.last().and_then(|row| row.get("a"));
                match &judge {
                    Ok(expected) => assert_eq!(read, Some(expected), "{what}"),
                    Err(_) => {
                        assert_eq!(read.and_then(Value::as_str).map(str::as_bytes), Some(json.as_slice()), "{what}");
                    }
                }
            }
        }
    }
}

#[test]
fn each_document_has_its_verdict_at_any_split() {
    let cases = cases(DOCUMENTS);
    assert!(cases.len() > 100);
    for Case { verdict, name, json } in cases {
        let (found, rows) = outcome_at_any_split(&plan(&["a"]), &json, name);
        assert_verdict(verdict, &found, name);
        match verdict {
            "ok" => assert_eq!(rows, [serde_json::json!({"a": 1})], "{name}"),
            "empty" => assert!(rows.is_empty(), "{name}"),
            _ => {}
        }
    }
}
