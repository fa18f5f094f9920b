//! The fast path against the plain one, its judge: the same cells or the same error, whatever comes and however cut.

use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use serde_json::Value;

use super::bodies::{body, broken, cuts, split, value};
use super::{Objects, plan};
use crate::decode::column_names::ColumnNames;
use crate::decode::fast_path::FastPath;
use crate::decode::{CellResult, DecodePlan, Decoder, Limits, Sink, TypeMismatch};
use crate::error::Kind;

pub(super) const COLUMNS: [&str; 4] = ["a", "b", "é", "a key of more than thirty-two bytes"];

/// Keeps the cells of records, and holds the decoder to its promise: each column once.
#[derive(Debug, Default)]
struct Log {
    rows: Vec<Row>,
    row: Row,
    /// How many records were taken back.
    undone: usize,
    /// Refuses whole numbers in this column.
    narrow: Option<usize>,
}

/// The cells of a record by column, and its extras.
#[derive(Debug, Default, PartialEq)]
struct Row {
    cells: [Option<(char, String)>; COLUMNS.len()],
    extras: Vec<(String, String)>,
}

impl Log {
    #[expect(clippy::unnecessary_wraps, reason = "every method of a sink ends with it")]
    fn put(&mut self, column: usize, kind: char, text: &str) -> CellResult {
        let before = self.row.cells[column].replace((kind, text.to_owned()));
        assert_eq!(before, None, "a column came twice");
        Ok(())
    }
}

impl Sink for Log {
    fn null(&mut self, column: usize) -> CellResult {
        self.put(column, '0', "")
    }
    fn bool(&mut self, column: usize, value: bool) -> CellResult {
        self.put(column, 'b', if value { "true" } else { "false" })
    }
    fn integer(&mut self, column: usize, digits: &str) -> CellResult {
        if self.narrow == Some(column) {
            return Err(TypeMismatch { expected: "no whole number", suggested_type: None });
        }
        self.put(column, 'i', digits)
    }
    fn number(&mut self, column: usize, text: &str) -> CellResult {
        self.put(column, 'n', text)
    }
    fn text(&mut self, column: usize, text: &str) -> CellResult {
        self.put(column, 't', text)
    }
    fn nested(&mut self, column: usize, json: &str) -> CellResult {
        self.put(column, 'j', json)
    }
    fn extra(&mut self, name: &str, json: &str) {
        self.row.extras.push((name.to_owned(), json.to_owned()));
    }
    fn end_record(&mut self) {
        assert!(self.row.cells.iter().all(Option::is_some), "a column did not come");
        self.rows.push(std::mem::take(&mut self.row));
    }
    fn undo_record(&mut self) {
        self.undone += 1;
        self.row = Row::default();
    }
}

/// What a decoder makes of a body: the envelope or the error as texts, and the rows up to there.
fn outcome(mut decoder: Decoder, mut log: Log, pieces: &[&[u8]]) -> (Result<String, (Kind, String)>, Vec<Row>) {
    let mut fed = pieces.iter().try_for_each(|piece| decoder.feed(piece, &mut log));
    let mut envelope = String::new();
    if fed.is_ok() {
        fed = decoder.finish().map(|found| envelope = format!("{found:?}"));
    }
    (fed.map(|()| envelope).map_err(|error| (error.kind(), error.message().to_owned())), log.rows)
}

fn assert_equal(plan: &DecodePlan, narrow: Option<usize>, pieces: &[&[u8]]) {
    let log = || Log { narrow, ..Log::default() };
    let fast_path = outcome(Decoder::new(plan.clone()), log(), pieces);
    assert_eq!(fast_path, outcome(Decoder::reference(plan.clone()), log(), pieces));
}

/// As many cases as `PROPTEST_CASES` says, the same each time unless `PROPTEST_RNG_SEED` says otherwise.
fn config() -> ProptestConfig {
    let config = ProptestConfig::default();
    let rng_seed = if config.rng_seed == RngSeed::Random { RngSeed::Fixed(4) } else { config.rng_seed };
    ProptestConfig { rng_seed, failure_persistence: None, ..config }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn good_records_are_those_of_serde_json(body in body(value()), cuts in cuts()) {
        let names: Vec<String> = COLUMNS.map(str::to_owned).to_vec();
        assert_equal(&plan(&COLUMNS), None, &split(&body, &cuts));
        let mut objects = Objects { names, ..Objects::default() };
        let mut decoder = Decoder::new(plan(&COLUMNS));
        split(&body, &cuts).iter().try_for_each(|piece| decoder.feed(piece, &mut objects)).expect("a good answer");
        let whole: Value = serde_json::from_slice(&body).expect("valid JSON");
        let expected: Vec<Value> = whole["data"]["data"].as_array().expect("an array").iter().map(|row| {
            let mut row = row.as_object().expect("an object").clone();
            for column in COLUMNS {
                row.entry(column).or_insert(Value::Null);
            }
            Value::Object(row)
        }).collect();
        prop_assert_eq!(objects.rows, expected);
    }

    #[test]
    fn bad_values_end_alike(
        body in body(prop_oneof![19 => value(), 1 => broken()].boxed()),
        cuts in cuts(),
        narrow in prop::option::of(0..COLUMNS.len()),
        max_records in prop::option::of(0_u64..6),
    ) {
        assert_equal(&DecodePlan { max_records, ..plan(&COLUMNS) }, narrow, &split(&body, &cuts));
    }

    #[test]
    fn damaged_bodies_end_alike(
        body in body(value()),
        cuts in cuts(),
        place in any::<prop::sample::Index>(),
        damage in prop_oneof![
            prop::sample::select(b"\"\\{}[]:, \x00\x1F0e-\x80\xC3\xFF".to_vec()).prop_map(Some),
            any::<u8>().prop_map(Some),
            Just(None),
        ],
        way in 0..3,
    ) {
        let mut body = body;
        let place = place.index(body.len());
        match (way, damage) {
            (0, _) => body.truncate(place),
            (1, Some(byte)) => body.insert(place, byte),
            (_, Some(byte)) => body[place] = byte,
            (_, None) => { body.remove(place); }
        }
        assert_equal(&plan(&COLUMNS), None, &split(&body, &cuts));
    }

    #[test]
    fn limits_hold_alike(
        body in body(value()),
        cuts in cuts(),
        record in 1_usize..200,
        value in 1_usize..60,
        number in 1_usize..30,
        depth in 3_usize..8,
    ) {
        let limits = Limits { record, value, number, depth, ..Limits::default() };
        assert_equal(&DecodePlan { limits, ..plan(&COLUMNS) }, None, &split(&body, &cuts));
    }
}

fn answer(records: &str) -> Vec<u8> {
    format!(r#"{{"code":200,"data":{{"status":true,"data":[{records}]}}}}"#).into_bytes()
}

/// How many of these records the fast path takes.
fn fast_records(records: &str) -> u64 {
    let mut columns = ColumnNames::new(COLUMNS.map(str::to_owned).to_vec());
    let mut fast_path = FastPath::new(COLUMNS.len(), Limits::default()).expect("room for a record");
    fast_path.read_all(records, 0, u64::MAX, &mut columns, &mut Log::default()).count
}

#[test]
fn the_fast_path_takes_every_good_shape() {
    for records in [
        r#"{"a":1,"b":"x"},{"a":null,"b":"\u00e9\n"},{"b":[1,{"c":"\ud83d\ude00"}],"a":-1.5e3}"#,
        r#"{"b":true},{},{"z":{"y":[]},"a":"1"},{ "a" : 1 , "\u0062" : false } , {"a":2,"z":1}"#,
        "{\n  \"a\": 1,\n  \"b\": 2\n},\n{\n  \"b\": 2,\n  \"a\": 1\n}",
        r#"{"é":"ü","a":12345678901234567890123},{"é":"","a":1e-150}"#,
    ] {
        let count = serde_json::from_str::<Vec<Value>>(&format!("[{records}]")).expect("valid JSON").len() as u64;
        assert_eq!(fast_records(records), count, "{records}");
    }
}

#[test]
fn many_more_keys_than_are_remembered_are_told_apart() {
    let records: Vec<String> =
        (0..300).map(|row| format!(r#"{{"a":{row},"key {row}":[{row}],"other {row}":null,"b":"{row}"}}"#)).collect();
    let records = records.join(",");
    assert_eq!(fast_records(&records), 300);
    assert_equal(&plan(&COLUMNS), None, &[&answer(&records)]);
}

#[test]
fn records_in_changing_orders_are_all_taken() {
    let forward = r#"{"a":1,"b":2,"é":3}"#;
    let backward = r#"{"é":3,"b":2,"a":1}"#;
    let records = [vec![forward; 20], vec![backward; 50], vec![forward; 50]].concat().join(",");
    assert_eq!(fast_records(&records), 120);
    assert_equal(&plan(&COLUMNS), None, &[&answer(&records)]);
}

#[test]
fn flat_records_are_begun_only_when_they_are_complete() {
    let body = answer(&vec![r#"{"a":1,"b":"text"}"#; 100].join(","));
    for piece in [7, 100, 1_000] {
        let mut decoder = Decoder::new(plan(&COLUMNS));
        let mut log = Log::default();
        body.chunks(piece).try_for_each(|piece| decoder.feed(piece, &mut log)).expect("a good answer");
        assert_eq!((log.rows.len(), log.undone), (100, 0), "in pieces of {piece}");
    }
}

#[test]
fn a_long_value_is_looked_at_once_however_it_is_cut() {
    let text = "x".repeat(16 << 20);
    let body = answer(&format!(r#"{{"a":1}},{{"a":"{}"}}"#, text.get(2..).expect("long")));
    let begun = std::time::Instant::now();
    let mut decoder = Decoder::new(plan(&COLUMNS));
    let mut log = Log::default();
    for piece in body.chunks(1 << 10) {
        decoder.feed(piece, &mut log).expect("a good answer");
    }
    assert_eq!(decoder.finish().expect("closed").records, 2);
    assert_eq!(log.rows[1].cells[0].as_ref().map(|(_, text)| text.len()), Some((16 << 20) - 2));
    // Looking again at all of it for each of its 16,384 pieces would take minutes.
    assert!(begun.elapsed().as_secs() < 20, "{:?}", begun.elapsed());
}
