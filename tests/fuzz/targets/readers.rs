//! The three readers of records (fast path with and without its loop, reference) read any body alike, however it is
//! split, and accept what `serde_json` accepts.

#![no_main]

use std::collections::BTreeSet;

use dataaccess::decode::{DecodePlan, Decoder, Limits};
use dataaccess::error::Kind;
use dataaccess_fuzz::Choices;
use dataaccess_fuzz::rows::{Row, Rows, comparable};
use serde::de::IgnoredAny;
use serde_json::Value;

const COLUMNS: [&str; 5] = ["a", "b", "customer_id", "é", "a key of more than thirty-two bytes"];

type Outcome = (Result<String, (Kind, String)>, Vec<Row>);

libfuzzer_sys::fuzz_target!(|body: &[u8]| {
    let mut choices = Choices::of(body);
    let limits = match choices.below(3) {
        0 => Limits { record: 60, depth: 6, ..Limits::default() },
        _ => Limits::default(),
    };
    let is_limited = limits.record < Limits::default().record;
    let max_records = [None, None, Some(0), Some(3)][choices.below(4)];
    let narrow = [None, None, None, Some(1)][choices.below(4)];
    let plan = DecodePlan { columns: Some(COLUMNS.map(str::to_owned).into()), max_records, limits };
    let read = |pieces: &[&[u8]], is_reference: bool, is_slow: bool| -> Outcome {
        let decoder = if is_reference { Decoder::reference(plan.clone()) } else { Decoder::new(plan.clone()) };
        let mut rows = Rows::new(&COLUMNS);
        (rows.narrow, rows.is_slow) = (narrow, is_slow);
        let result = rows.decode(decoder, pieces);
        (comparable(result), rows.rows)
    };
    let whole = read(&[body], false, false);
    let bytes: Vec<&[u8]> = body.chunks(1).collect();
    for (pieces, is_reference, is_slow) in [
        (vec![body], true, false),
        (vec![body], false, true),
        (bytes, false, false),
        (choices.pieces(body), false, false),
        (choices.pieces(body), true, false),
    ] {
        let (result, rows) = read(&pieces, is_reference, is_slow);
        let what = format!("{is_reference} {is_slow} {pieces:?}");
        assert_eq!(rows, whole.1, "{what}");
        // Of a record that is too long and has too many brackets, either is reported.
        if !(is_limited && result.is_err() && whole.0.is_err()) {
            assert_eq!(result, whole.0, "{what}");
        }
    }
    if !is_limited && narrow.is_none() {
        check(body, &whole, max_records);
    }
});

/// Compares with `serde_json`.
fn check(body: &[u8], (result, rows): &Outcome, max_records: Option<u64>) {
    let json = body.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(body);
    let is_json = str::from_utf8(json).is_ok_and(|json| serde_json::from_str::<IgnoredAny>(json).is_ok());
    let value = serde_json::from_slice::<Value>(json);
    match result {
        Ok(_) => {
            assert!(is_json, "no JSON was accepted");
            // Without a value where an integer is larger than any float.
            let Ok(value) = value else { return };
            let Some(records) = value["data"]["data"].as_array() else { return assert!(rows.is_empty()) };
            let kept = max_records.map_or(records.len(), |max| records.len().min(max as usize));
            assert_eq!(rows.len(), kept);
            let names: Vec<String> = COLUMNS.map(str::to_owned).into();
            for (row, record) in rows.iter().zip(records) {
                let mut record = record.as_object().expect("a record is an object").clone();
                for name in &names {
                    record.entry(name).or_insert(Value::Null);
                }
                assert_eq!(row.object(&names).as_ref(), Some(&record));
            }
        }
        Err((kind, message)) => {
            let is_limit = message.contains("a number longer than") || message.contains("open brackets");
            if value.is_ok() && !is_limit {
                let kinds: BTreeSet<_> = [Kind::Envelope, Kind::Record].map(|kind| format!("{kind:?}")).into();
                assert!(kinds.contains(&format!("{kind:?}")), "JSON was refused: {message}");
            }
        }
    }
}
