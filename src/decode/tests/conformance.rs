//! The tables of `tests/json`: what is JSON and what is not, at each place of a response and for any split.
//!
//! The same tables are read by `tests/python/faults/test_json.py`.

use serde_json::Value;

use super::{DecodePlan, Decoder, Objects, comparable, decode_into, plan};
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
    assert_eq!(names.len(), cases.len(), "a duplicate name");
    cases
}

/// Replaces `<0A 0D>` by these bytes, and `<REPEAT 9 400>` by a text repeated.
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

/// The envelope or the error, and the records before it.
type Outcome = (Result<String, (Kind, String)>, Vec<Value>);

fn outcome<'a>(plan: &DecodePlan, pieces: impl IntoIterator<Item = &'a [u8]>) -> Outcome {
    let mut sink = Objects::new(plan);
    let result = decode_into(Decoder::new(plan.clone()), &mut sink, pieces);
    (comparable(result), sink.rows)
}

/// The outcome, which must be the same for any split.
fn outcome_at_any_split(plan: &DecodePlan, body: &[u8], what: &str) -> Outcome {
    let whole = outcome(plan, [body]);
    for place in 1..body.len() {
        let (before, after) = body.split_at(place);
        assert_eq!(outcome(plan, [before, after]), whole, "{what}, split at {place}");
    }
    assert_eq!(outcome(plan, body.chunks(1)), whole, "{what}, byte by byte");
    whole
}

/// Where a value may occur. Only the first place is a cell that reaches the sink.
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
        Err((kind, message)) => {
            assert!(expected.contains(kind), "{what}: {kind:?}, but {verdict}: {message}");
            let has_offset = message.starts_with("invalid JSON") && message.contains(" byte ");
            assert_eq!(has_offset, *kind == Kind::InvalidJson, "{what}: {message}");
        }
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
