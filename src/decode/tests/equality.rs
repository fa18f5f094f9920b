//! The fast path against the reference path: the same cells or the same error, for any body and any split.

use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use serde_json::Value;

use super::bodies::{body, broken, cuts, split, value};
use super::{Objects, comparable, decode_into, decode_with, expected_rows, plan, response};
use crate::decode::records::Records;
use crate::decode::{Bytes32, Cell, CellResult, DecodePlan, Decoder, Limits, Sink, TypeMismatch};

pub(super) const COLUMNS: [&str; 4] = ["a", "b", "é", "a key of more than thirty-two bytes"];

/// Keeps the cells of records, and checks that each column is written once.
#[derive(Debug, Default)]
pub(super) struct Log {
    pub(super) rows: Vec<Row>,
    pub(super) row: Row,
    /// How many records were undone.
    pub(super) undone: usize,
    /// How many cells came from the loop over expected keys.
    pub(super) short: usize,
    /// Refuses integers in this column.
    pub(super) narrow: Option<usize>,
    /// Refuses short strings and integers, which then come as cells.
    pub(super) is_slow: bool,
}

/// The cells of a record by column, and its extras.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Row {
    cells: [Option<String>; COLUMNS.len()],
    extras: Vec<(String, String)>,
}

impl Sink for Log {
    fn cell(&mut self, column: usize, cell: Cell) -> CellResult {
        if matches!(cell, Cell::Integer(_)) && self.narrow == Some(column) {
            return Err(TypeMismatch { expected: "no integer", suggested_type: None });
        }
        let before = self.row.cells[column].replace(format!("{cell:?}"));
        assert_eq!(before, None, "a column was written twice");
        Ok(())
    }
    fn short_string(&mut self, column: usize, text: &Bytes32, length: usize) -> bool {
        let text = text.get(..length).expect("in the block");
        assert!(text.is_ascii());
        self.short += usize::from(!self.is_slow);
        !self.is_slow && self.cell(column, Cell::String(str::from_utf8(text).expect("ASCII"))).is_ok()
    }
    fn short_integer(&mut self, column: usize, integer: i32, written: &Bytes32, length: usize) -> bool {
        let written = str::from_utf8(written.get(..length).expect("in the block")).expect("digits");
        assert_eq!(written.parse(), Ok(integer));
        self.short += usize::from(!self.is_slow);
        !self.is_slow && self.cell(column, Cell::Integer(written)).is_ok()
    }
    fn extra(&mut self, name: &str, json: &str) {
        self.row.extras.push((name.to_owned(), json.to_owned()));
    }
    fn end_record(&mut self) {
        assert!(self.row.cells.iter().all(Option::is_some), "a column was not written");
        self.rows.push(std::mem::take(&mut self.row));
    }
    fn undo_record(&mut self) {
        self.undone += 1;
        self.row = Row::default();
    }
}

/// The loop over expected keys, the rest of the fast path and the reference agree.
pub(super) fn assert_equal(plan: &DecodePlan, narrow: Option<usize>, pieces: &[&[u8]]) {
    let outcome = |decoder: Decoder, is_slow| {
        let mut log = Log { narrow, is_slow, ..Log::default() };
        let result = decode_into(decoder, &mut log, pieces.iter().copied());
        (comparable(result), log.rows)
    };
    let fast = outcome(Decoder::new(plan.clone()), false);
    assert_eq!(fast, outcome(Decoder::new(plan.clone()), true), "with and without the loop");
    assert_eq!(fast, outcome(Decoder::reference(plan.clone()), true), "fast path and reference");
}

/// As many cases as `PROPTEST_CASES` says, with a fixed seed unless `PROPTEST_RNG_SEED` sets one.
fn config() -> ProptestConfig {
    let config = ProptestConfig::default();
    let rng_seed = if config.rng_seed == RngSeed::Random { RngSeed::Fixed(4) } else { config.rng_seed };
    ProptestConfig { rng_seed, failure_persistence: None, ..config }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn good_records_are_those_of_serde_json(body in body(value()), cuts in cuts()) {
        let (plan, pieces) = (plan(&COLUMNS), split(&body, &cuts));
        assert_equal(&plan, None, &pieces);
        let mut objects = Objects::new(&plan);
        let envelope = decode_into(Decoder::new(plan), &mut objects, pieces).expect("a good response");
        prop_assert_eq!(objects.rows, expected_rows(&body, &COLUMNS));
        prop_assert_eq!(envelope.code(), Ok(200));
    }

    #[test]
    fn bad_values_have_the_same_outcome(
        body in body(prop_oneof![19 => value(), 1 => broken()].boxed()),
        cuts in cuts(),
        narrow in prop::option::of(0..COLUMNS.len()),
        max_records in prop::option::of(0_u64..6),
    ) {
        assert_equal(&DecodePlan { max_records, ..plan(&COLUMNS) }, narrow, &split(&body, &cuts));
    }

    #[test]
    fn damaged_bodies_have_the_same_outcome(
        body in body(value()),
        cuts in cuts(),
        place in any::<prop::sample::Index>(),
        damage in prop_oneof![
            prop::sample::select(b"\"\\{}[]:, \x00\x1F0e-\x80\xC3\xFF".to_vec()).prop_map(Some),
            any::<u8>().prop_map(Some),
            Just(None),
        ],
        change in 0..3,
    ) {
        let mut body = body;
        let place = place.index(body.len());
        match (change, damage) {
            (0, _) => body.truncate(place),
            (1, Some(byte)) => body.insert(place, byte),
            (_, Some(byte)) => body[place] = byte,
            (_, None) => { body.remove(place); }
        }
        assert_equal(&plan(&COLUMNS), None, &split(&body, &cuts));
    }

    #[test]
    fn limits_have_the_same_outcome(
        body in body(value()),
        cuts in cuts(),
        record in 1_usize..200,
        depth in 3_usize..8,
    ) {
        let limits = Limits { record, depth, ..Limits::default() };
        assert_equal(&DecodePlan { limits, ..plan(&COLUMNS) }, None, &split(&body, &cuts));
    }
}

/// How many of these records the fast path reads.
fn fast_records(records: &str) -> u64 {
    let mut fast_path = Records::new(COLUMNS.map(str::to_owned).into(), None, Limits::default());
    fast_path.read_all(records.as_bytes(), 0, &mut Log::default()).expect("a record is allowed").count
}

#[test]
fn the_fast_path_reads_every_valid_style() {
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
fn many_columns_are_read_however_their_keys_are_written() {
    let names: Vec<String> = (0..130)
        .map(|column| match column % 4 {
            0 => format!("a key of more than thirty-two bytes {column}"),
            1 => format!("é{column}"),
            _ => format!("c{column}"),
        })
        .collect();
    let columns: Vec<&str> = names.iter().map(String::as_str).collect();
    let members: Vec<String> = names.iter().enumerate().map(|(column, name)| format!("\"{name}\":{column}")).collect();
    let left_out: Vec<&str> = members.iter().step_by(3).map(String::as_str).collect();
    let reversed: Vec<&str> = members.iter().rev().map(String::as_str).collect();
    let styles = [members.join(","), members.join(", "), reversed.join(","), left_out.join(","), String::new()];
    for first in 0..styles.len() {
        let records = styles.iter().cycle().skip(first).take(40).map(|record| format!("{{{record}}}"));
        let body = response(&records.collect::<Vec<_>>().join(","));
        let expected = expected_rows(body.as_bytes(), &columns);
        for size in [97, 4_096, body.len()] {
            let pieces: Vec<_> = body.as_bytes().chunks(size).collect();
            let (_, rows) = decode_with(plan(&columns), &pieces).expect("a good response");
            assert!(rows == expected, "style {first} first, in pieces of {size}");
        }
    }
}

#[test]
fn more_keys_than_are_remembered_are_read() {
    let records: Vec<String> =
        (0..300).map(|row| format!(r#"{{"a":{row},"key {row}":[{row}],"other {row}":null,"b":"{row}"}}"#)).collect();
    let records = records.join(",");
    assert_eq!(fast_records(&records), 300);
    assert_equal(&plan(&COLUMNS), None, &[response(&records).as_bytes()]);
}

#[test]
fn records_in_changing_order_are_read() {
    let forward = r#"{"a":1,"b":2,"é":3}"#;
    let backward = r#"{"é":3,"b":2,"a":1}"#;
    let records = [vec![forward; 20], vec![backward; 50], vec![forward; 50]].concat().join(",");
    assert_eq!(fast_records(&records), 120);
    assert_equal(&plan(&COLUMNS), None, &[response(&records).as_bytes()]);
}

#[test]
fn flat_records_are_read_only_when_complete() {
    let body = response(&vec![r#"{"a":1,"b":"text"}"#; 100].join(",")).into_bytes();
    for piece in [7, 100, 1_000] {
        let mut decoder = Decoder::new(plan(&COLUMNS));
        let mut log = Log::default();
        body.chunks(piece).try_for_each(|piece| decoder.feed(piece, &mut log).map(drop)).expect("a good response");
        assert_eq!((log.rows.len(), log.undone), (100, 0), "in pieces of {piece}");
    }
}

#[test]
fn a_long_value_is_scanned_once_for_any_split() {
    let text = "x".repeat(16 << 20);
    let body = response(&format!(r#"{{"a":1}},{{"a":"{}"}}"#, text.get(2..).expect("long"))).into_bytes();
    let begun = std::time::Instant::now();
    let mut decoder = Decoder::new(plan(&COLUMNS));
    let mut log = Log::default();
    for piece in body.chunks(1 << 10) {
        decoder.feed(piece, &mut log).expect("a good response");
    }
    assert_eq!(decoder.finish().expect("closed").records, 2);
    assert_eq!(log.rows[1].cells[0].as_ref().map(String::len), Some((16 << 20) - 2 + "String(\"\")".len()));
    // Scanning it again for each of its 16,384 pieces would take minutes.
    assert!(begun.elapsed().as_secs() < 20, "{:?}", begun.elapsed());
}
