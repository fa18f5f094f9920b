//! The decoder against `serde_json`: every split, key order, spacing and type; and all it must refuse.

use proptest::prelude::*;
use serde_json::{Map, Value, json};

mod bodies;
mod conformance;
mod equality;

use super::{CellResult, DecodePlan, Decoder, Envelope, Limits, RecordShape, Sink};
use crate::error::{Error, Kind, Result};

/// Builds `serde_json` objects, so that rows can be compared.
#[derive(Default)]
struct Objects {
    names: Vec<String>,
    rows: Vec<Value>,
    row: Map<String, Value>,
}

impl Objects {
    #[expect(clippy::unnecessary_wraps, reason = "every method of a sink ends with it")]
    fn put(&mut self, column: usize, value: Value) -> CellResult {
        self.row.insert(self.names[column].clone(), value);
        Ok(())
    }
}

impl Sink for Objects {
    fn null(&mut self, column: usize) -> CellResult {
        self.put(column, Value::Null)
    }
    fn bool(&mut self, column: usize, value: bool) -> CellResult {
        self.put(column, value.into())
    }
    fn integer(&mut self, column: usize, digits: &str) -> CellResult {
        // The judge holds no integer beyond any float.
        self.put(column, serde_json::from_str(digits).unwrap_or_else(|_| digits.into()))
    }
    fn number(&mut self, column: usize, text: &str) -> CellResult {
        self.put(column, serde_json::from_str(text).expect("a number"))
    }
    fn text(&mut self, column: usize, text: &str) -> CellResult {
        self.put(column, text.into())
    }
    fn nested(&mut self, column: usize, json: &str) -> CellResult {
        self.put(column, serde_json::from_str(json).expect("checked JSON"))
    }
    fn extra(&mut self, name: &str, json: &str) {
        self.row.insert(name.to_owned(), serde_json::from_str(json).expect("checked JSON"));
    }
    fn end_record(&mut self) {
        self.rows.push(Value::Object(std::mem::take(&mut self.row)));
    }
    fn undo_record(&mut self) {
        self.row.clear();
    }
}

fn decode_with(plan: DecodePlan, pieces: &[&[u8]]) -> Result<(Envelope, Vec<Value>)> {
    let mut sink = Objects { names: plan.columns.clone().unwrap_or_default(), ..Objects::default() };
    let mut decoder = Decoder::new(plan);
    for piece in pieces {
        decoder.feed(piece, &mut sink)?;
    }
    Ok((decoder.finish()?, sink.rows))
}

fn plan(columns: &[&str]) -> DecodePlan {
    DecodePlan { columns: Some(columns.iter().map(|name| (*name).to_owned()).collect()), ..DecodePlan::default() }
}

fn decode(columns: &[&str], body: &str) -> Result<(Envelope, Vec<Value>)> {
    decode_with(plan(columns), &[body.as_bytes()])
}

fn refusal(body: &[u8]) -> Error {
    decode_with(plan(&["a"]), &[body]).expect_err("this must be refused")
}

fn record_body(record: &str) -> String {
    format!(r#"{{"code":200,"data":{{"status":true,"data":[{record}]}}}}"#)
}

const ANSWER: &str = r#" {"code": 200, "message" : "Search \u0042O \"ok\"", "data":
 {"status":true,"data":[{"a":1,"b":"x\n\u00e9 \ud83d\ude00"},{"b":null,"a":-2.5e3,"c":[1,{"d":"]}"}]},
  {"a":18446744073709551616,"b":""}], "more": {"x": []}}, "duration":"3ms" } "#;

#[test]
fn rows_and_envelope_are_the_same_for_every_split() {
    let whole: Value = serde_json::from_str(ANSWER).expect("valid JSON");
    let expected: Vec<Value> = whole["data"]["data"]
        .as_array()
        .expect("an array")
        .iter()
        .map(|row| {
            let mut row = row.as_object().expect("an object").clone();
            row.entry("a").or_insert(Value::Null);
            row.entry("b").or_insert(Value::Null);
            Value::Object(row)
        })
        .collect();
    let bytes = ANSWER.as_bytes();
    for split in 0..=bytes.len() {
        let (envelope, rows) =
            decode_with(plan(&["a", "b"]), &[&bytes[..split], &bytes[split..]]).expect("a good answer");
        assert_eq!(rows, expected, "split at {split}");
        assert_eq!(envelope.code(), Ok(200));
        assert_eq!(envelope.message().as_deref(), Some("Search BO \"ok\""));
        assert_eq!(envelope.status(), Ok(Some(true)));
        assert_eq!((envelope.records, envelope.present.as_slice(), envelope.records_with_extras), (3, &[3, 3][..], 1));
    }
    let single: Vec<&[u8]> = bytes.chunks(1).collect();
    assert_eq!(decode_with(plan(&["a", "b"]), &single).expect("a good answer").1, expected);
}

#[test]
fn an_answer_cut_anywhere_is_never_a_result() {
    let body = ANSWER.trim_end().as_bytes();
    for end in 0..body.len() {
        let error = decode_with(plan(&["a", "b"]), &[&body[..end]]).expect_err("a cut answer");
        assert_eq!(error.kind(), Kind::TruncatedResponse, "cut at {end}");
        assert!(error.is_retryable());
    }
}

#[test]
fn code_and_status_count_wherever_they_stand() {
    let body = r#"{"data":{"data":[{"a":1}],"status":false},"message":"no","code":301}"#;
    let (envelope, rows) = decode(&["a"], body).expect("well formed");
    assert_eq!((envelope.code(), envelope.status(), rows.len()), (Ok(301), Ok(Some(false)), 1));
}

#[test]
fn a_code_that_is_no_whole_number_is_told_as_found() {
    for (json, expected) in
        [("200.0", Ok(200)), ("2e2", Ok(200)), ("\"200\"", Err(Some("\"200\""))), ("1.5", Err(Some("1.5")))]
    {
        let (envelope, _) = decode(&[], &format!(r#"{{"code":{json}}}"#)).expect("well formed");
        assert_eq!(envelope.code(), expected);
    }
    assert_eq!(decode(&[], "{}").expect("well formed").0.code(), Err(None));
}

#[test]
fn empty_answers_are_told_apart_from_wrong_ones() {
    for (data, expected) in [
        (r#"{"data":[]}"#, RecordShape::Empty("data.data []")),
        (r#"{"data":[ ]}"#, RecordShape::Empty("data.data []")),
        (r#"{"data":{ }}"#, RecordShape::Empty("data.data {}")),
        (r#"{"data":null}"#, RecordShape::Empty("data.data null")),
        (r#"{"status":true}"#, RecordShape::Empty("data.data absent")),
        ("[]", RecordShape::Empty("data []")),
        ("{}", RecordShape::Empty("data {}")),
        ("null", RecordShape::Empty("data null")),
        (r#"{"data":"none"}"#, RecordShape::Other("data.data")),
        (r#"{"data":{"a":1}}"#, RecordShape::Other("data.data")),
        (r#""text""#, RecordShape::Other("data")),
        ("[1]", RecordShape::Other("data")),
        (r#"{"data":[{}]}"#, RecordShape::Array),
    ] {
        let (envelope, _) = decode(&["a"], &format!(r#"{{"code":200,"data":{data}}}"#)).expect("well formed");
        assert_eq!(envelope.record_shape(), expected, "{data}");
    }
    assert_eq!(decode(&["a"], "{}").expect("well formed").0.record_shape(), RecordShape::Empty("data absent"));
}

#[test]
fn one_byte_order_mark_is_skipped_and_no_more() {
    let body = [b"\xEF\xBB\xBF".as_slice(), ANSWER.as_bytes()].concat();
    for split in 0..5 {
        assert!(decode_with(plan(&["a"]), &[&body[..split], &body[split..]]).is_ok());
    }
    let twice = [b"\xEF\xBB\xBF\xEF\xBB\xBF".as_slice(), ANSWER.as_bytes()].concat();
    assert_eq!(refusal(&twice).kind(), Kind::NotJson);
}

#[test]
fn what_follows_the_end_is_refused() {
    for tail in ["{}", "x", "\0", "]"] {
        let error = refusal(format!("{{\"code\":200}}{tail}").as_bytes());
        assert_eq!(error.kind(), Kind::InvalidJson);
        assert_eq!(error.details().offset, Some(12));
    }
}

#[test]
fn a_repeated_envelope_key_is_refused_and_a_repeated_record_key_takes_the_last() {
    for body in [r#"{"code":200,"code":301}"#, r#"{"data":{},"data":[]}"#, r#"{"data":{"status":true,"status":false}}"#]
    {
        assert_eq!(refusal(body.as_bytes()).kind(), Kind::Envelope);
    }
    assert_eq!(decode(&["a"], &record_body(r#"{"a":1,"a":2}"#)).expect("well formed").1, [json!({"a": 2})]);
}

#[test]
fn broken_json_is_told_by_its_place() {
    for body in [
        r#"{"code" 200}"#,
        r#"{"code":200,}"#,
        r"{code:200}",
        r#"{"code":NaN}"#,
        r#"{"code":01}"#,
        r#"{"a":tru}"#,
        r#"{"data":{"data":[{"a":1}{"a":2}]}}"#,
        r#"{"data":{"data":[{"a":1},]}}"#,
        r#"{"data":{"data":[,{"a":1}]}}"#,
        r#"{"data":{"data":[{"a":[1}]]}}"#,
        r#"{"data":{"data":[{"a":Infinity}]}}"#,
        "{\"data\":{\"data\":[{\"a\":\"\t\"}]}}",
        r#"{"data":{"data":[{"a":{"b":1e999}}]}}"#,
        r#"{"data":{"data":[{"z":"\ud800"}]}}"#,
        "{\"code\":200\u{c}}",
    ] {
        let error = refusal(body.as_bytes());
        assert_eq!(error.kind(), Kind::InvalidJson, "{body}");
        assert!(error.details().offset.is_some());
    }
    let invalid_utf8 = [br#"{"data":{"data":[{"a":""#.as_slice(), b"\xff", br#""}]}}"#].concat();
    assert_eq!(refusal(&invalid_utf8).kind(), Kind::InvalidJson);
}

#[test]
fn a_value_that_is_missing_is_told_by_what_stands_in_its_place() {
    for (body, place, found) in [
        (r#"{"data":{"data":[{"a":1},]}}"#, 25, "`]`"),
        (r#"{"data":{"data":[{"a":1}, }}"#, 26, "`}`"),
        (r#"{"data":{"data":[,{"a":1}]}}"#, 17, "`,`"),
        (r#"{"code":,"data":[]}"#, 8, "`,`"),
        (r#"{"code":}"#, 8, "`}`"),
        (r#"{"code"::200}"#, 8, "`:`"),
    ] {
        for bytes in [body.as_bytes().chunks(body.len()), body.as_bytes().chunks(1)] {
            let error = decode_with(plan(&["a"]), &bytes.collect::<Vec<_>>()).expect_err(body);
            assert_eq!(error.kind(), Kind::InvalidJson);
            assert_eq!(error.message(), format!("the answer is broken JSON at byte {place}: unexpected {found}"));
        }
    }
}

#[test]
fn bodies_that_are_no_envelope_are_told_apart() {
    let page = refusal(b"<html>\n<b>Sign in</b>");
    assert_eq!(page.kind(), Kind::NotJson);
    assert_eq!(page.details().body_excerpt.as_deref(), Some("<html>\\n<b>Sign in</b>"));
    for body in ["[]", "\"text\"", "12", "null", " false"] {
        assert_eq!(refusal(body.as_bytes()).kind(), Kind::Envelope);
    }
}

#[test]
fn a_record_that_does_not_fit_is_told_by_row_column_and_place_without_its_value() {
    for (record, column, found) in [
        (r#"{"a":1e400}"#, "a", "a number beyond it"),
        (r#"{"a":"\udead"}"#, "a", "a lone surrogate"),
        ("7", "", "a number"),
        ("null", "", "null"),
    ] {
        let error = refusal(record_body(&format!("{{}},{record}")).as_bytes());
        assert_eq!(error.kind(), Kind::Record, "{record}");
        assert_eq!(error.details().row, Some(1));
        assert_eq!(error.details().column.as_deref(), Some(column));
        assert!(error.message().contains(found), "{}", error.message());
    }
}

#[test]
fn what_grows_without_bound_is_refused_early() {
    let deep = refusal("[".repeat(100_000).replacen('[', "{\"x\":[", 1).as_bytes());
    assert_eq!((deep.kind(), deep.details().offset), (Kind::InvalidJson, Some(132)));
    let limits = Limits { body: 500, record: 300, value: 100, number: 20, members: 4, depth: 128 };
    let small =
        |body: &str| decode_with(DecodePlan { limits, ..plan(&["a"]) }, &[body.as_bytes()]).expect_err("over a limit");
    for number in ["1".repeat(21), format!("0.{}", "1".repeat(19)), format!("1e{}1", "0".repeat(18))] {
        for value in [number.clone(), format!("[{number}]"), format!(r#"{{"k":[0,{number} ]}}"#)] {
            for body in [
                record_body(&format!(r#"{{"a":{value}}}"#)),
                record_body(&format!(r#"{{"z":{value}}}"#)),
                format!(r#"{{"code":{value}}}"#),
            ] {
                let error = small(&body);
                let place = body.find(number.as_str()).map(|place| place as u64);
                assert_eq!((error.kind(), error.details().offset), (Kind::InvalidJson, place), "{body}");
            }
        }
    }
    assert_eq!(small(r#"{"code":200,"data":{"b":1,"c":2,"d":3,"e":4}}"#).details().what, Some("members"));
    let text = "x".repeat(101);
    assert_eq!(small(&record_body(&format!(r#"{{"a":"{text}"}}"#))).details().what, Some("value"));
    assert_eq!(small(&format!(r#"{{"code":"{text}"}}"#)).details().what, Some("value"));
    assert_eq!(small(&record_body(&format!(r#"{{"z":"{text}"}}"#))).details().what, Some("value"));
    let long = "x".repeat(99);
    let record = format!(r#"{{"a":"{long}","b":"{long}","c":"{long}"}}"#);
    assert_eq!(small(&record_body(&record)).details().what, Some("record"));
    assert_eq!(small(&" ".repeat(501)).details().what, Some("body"));
}

#[test]
fn a_limit_stops_the_rows_and_says_when_the_rest_cannot_matter() {
    let mut sink = Objects { names: vec!["a".to_owned()], ..Objects::default() };
    let mut decoder = Decoder::new(DecodePlan { max_records: Some(2), ..plan(&["a"]) });
    decoder.feed(br#"{"code":200,"data":{"status":true,"data":[{"a":1},{"a":2}"#, &mut sink).expect("good so far");
    assert!(decoder.is_satisfied());
    decoder.feed(br#",{"a":3}]}}"#, &mut sink).expect("good");
    assert_eq!(decoder.finish().expect("closed").records, 3);
    assert_eq!(sink.rows, [json!({"a": 1}), json!({"a": 2})]);

    let long: Vec<String> = (0..9).map(|n| format!(r#"{{"a":{n},"b":"x"}}"#)).collect();
    let mut counting = Decoder::new(DecodePlan { max_records: Some(1), ..plan(&["a", "b"]) });
    let mut sink = Objects { names: vec!["a".to_owned(), "b".to_owned()], ..Objects::default() };
    counting.feed(format!(r#"{{"data":{{"data":[{}, 7, "#, long.join(", ")).as_bytes(), &mut sink).expect("good");
    counting.feed(br#"{"c":1}],"status":true},"code":200}"#, &mut sink).expect("good");
    let envelope = counting.finish().expect("closed");
    assert_eq!((envelope.records, sink.rows.len()), (11, 1));
    assert_eq!((envelope.present, envelope.records_with_extras), (vec![1, 1], 0), "what is dropped is not counted");

    let mut late = Decoder::new(DecodePlan { max_records: Some(1), ..plan(&["a"]) });
    late.feed(
        br#"{"data":{"data":[{"a":1}]},"code":200"#,
        &mut Objects { names: vec!["a".to_owned()], ..Objects::default() },
    )
    .expect("good so far");
    assert!(!late.is_satisfied(), "status was never told");
}

fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        any::<f64>().prop_filter("finite", |number| number.is_finite()).prop_map(Value::from),
        any::<String>().prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 12, 3, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..3).prop_map(Value::from),
            prop::collection::hash_map(any::<String>(), inner, 0..3)
                .prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn equals_serde_json_for_any_rows_order_spacing_and_split(
        rows in prop::collection::vec(prop::collection::hash_map("[a-d]|\\PC{1,3}", any_json(), 0..5), 0..6),
        code_first in any::<bool>(),
        pretty in any::<bool>(),
        cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..6),
    ) {
        let columns = ["a", "b", "c"];
        let rows: Vec<Value> = rows.into_iter().map(|row| Value::Object(row.into_iter().collect())).collect();
        let data = json!({"data": rows, "status": true});
        let whole = if code_first { json!({"code": 200, "data": data}) } else { json!({"data": data, "code": 200}) };
        let body = if pretty { serde_json::to_vec_pretty(&whole) } else { serde_json::to_vec(&whole) }.expect("JSON");
        let mut places: Vec<usize> = cuts.iter().map(|cut| cut.index(body.len() + 1)).collect();
        places.sort_unstable();
        let mut pieces = Vec::new();
        let mut start = 0;
        for place in places.into_iter().chain([body.len()]) {
            pieces.push(&body[start..place]);
            start = place;
        }
        let (envelope, decoded) = decode_with(plan(&columns), &pieces).expect("a good answer");
        let expected: Vec<Value> = rows.iter().map(|row| {
            let mut row = row.as_object().expect("an object").clone();
            for column in columns {
                row.entry(column).or_insert(Value::Null);
            }
            Value::Object(row)
        }).collect();
        prop_assert_eq!(decoded, expected);
        prop_assert_eq!(envelope.code(), Ok(200));
    }
}
