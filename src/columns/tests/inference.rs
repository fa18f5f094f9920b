//! Inferred types: which, when they are frozen, and how batches are unified.

use arrow_schema::DataType;
use proptest::prelude::*;

use super::{Column, ONE_BATCH, Options, cells_of, read, records};
use crate::columns::{ColumnType, codes, items, unify};
use crate::error::Kind as ErrorKind;

const COLLECTED: Options = Options { widen: true, ..ONE_BATCH };

fn one() -> Vec<Column> {
    items(&["a".to_owned()], &[])
}

/// Asserts that a collected column has the type and cells of the oracle, and is named if its strings are mixed.
fn assert_inferred(values: &[&str], max_rows: usize, views: bool) {
    let options = Options { views, max_rows, ..COLLECTED };
    let batches = read(&one(), options, &records(values)).expect("what is inferred takes everything");
    assert_eq!(batches.len(), values.len().div_ceil(max_rows));
    let (schema, batches, mixed) = unify(&one(), views, batches).expect("they have one type");
    assert!(batches.iter().all(|batch| batch.schema() == schema));
    let (data_type, cells) = oracle(values);
    let data_type = if views && data_type == DataType::Utf8 { DataType::Utf8View } else { data_type };
    assert_eq!((schema.field(0).data_type(), cells_of(&batches, 0)), (&data_type, cells), "{values:?}");
    let are_there = |is_string| values.iter().any(|value| *value != "null" && value.starts_with('"') == is_string);
    assert_eq!(mixed.as_slice(), if are_there(true) && are_there(false) { &["a"][..] } else { &[] }, "{values:?}");
}

#[test]
fn two_values_have_the_narrowest_type_that_loses_nothing() {
    let values = POOLS.concat();
    for pair in values.iter().flat_map(|one| values.iter().map(|other| [*one, *other])) {
        for (max_rows, views) in [(1, false), (2, false), (1, true)] {
            assert_inferred(&pair, max_rows, views);
        }
    }
}

#[test]
fn more_values_have_the_type_of_all() {
    for values in [
        &["1.5", "null", "1e3"][..],
        &["5.0", "9007199254740993.0", "7"],
        &["5", "5.0", "-0", "-0.0", "1.50", r#""x""#],
    ] {
        (1..=values.len()).for_each(|max_rows| assert_inferred(values, max_rows, false));
    }
}

#[test]
fn no_rows_have_a_schema() {
    let columns = items(&["a".to_owned(), "b".to_owned()], &[("b".to_owned(), ColumnType::Bool)]);
    assert!(read(&columns, COLLECTED, &[]).expect("nothing").is_empty());
    let (schema, batches, _) = unify(&columns, true, Vec::new()).expect("a schema");
    let types: Vec<_> = schema.fields().iter().map(|field| field.data_type().clone()).collect();
    assert_eq!((types, batches.len()), (vec![DataType::Utf8View, DataType::Boolean], 0));
}

#[test]
fn known_types_are_left_alone_by_unify() {
    let columns = codes(&["id".to_owned(), "pool_id".to_owned()], &[]);
    let rows = [r#"{"id":"5"}"#.to_owned(), r#"{"pool_id":5}"#.to_owned()];
    let batches = read(&columns, Options { max_rows: 1, ..COLLECTED }, &rows).expect("codes");
    let (_, unified, _) = unify(&columns, false, batches.clone()).expect("they match");
    assert_eq!(unified, batches);
}

#[test]
fn batches_with_frozen_types_cannot_be_unified() {
    let batches = read(&one(), ONE_BATCH, &records(&["1"])).expect("one row");
    assert_eq!(unify(&one(), false, batches).expect_err("types are frozen").kind(), ErrorKind::Internal);
}

/// Values, each row of one kind.
const POOLS: [&[&str]; 11] = [
    &["null"],
    &["0", "-7", "123456789012345", "9007199254740992", "-9007199254740992", "1152921504606846976"],
    &["9007199254740993", "9223372036854775807", "-9223372036854775808", "-9223372036854775807"],
    &["9223372036854775808", "-9223372036854775809", "18446744073709551616", "100000000000000000000000000"],
    &["-0", "-0.0", "1.50", "1E-7", "0.1", "1e300"],
    &["5.0", "1e3", "9223372036854775808.0"],
    &["9007199254740993.0", "9223372036854775807.0"],
    &["1e-400", "9223372036854775809.0", "100000000000000000000000.0"],
    &["true", "false"],
    &[r#""""#, r#""5""#, r#""true""#, r#""null""#, r#""[]""#, r#""né\n\"""#, r#""a text of more than twelve bytes""#],
    &["[]", "{}", r#"[1.50,"a b"]"#, r#"{ "a" : null }"#],
];

/// Values of a few kinds, so that every type is inferred often.
fn column_values() -> impl Strategy<Value = Vec<&'static str>> {
    prop::sample::subsequence(POOLS.to_vec(), 1..=3)
        .prop_flat_map(|pools| prop::collection::vec(prop::sample::select(pools.concat()), 1..12))
}

/// The expected type and cells, computed without floats where none are expected. Of numbers, an integer is one in any
/// notation; none is rounded, or becomes zero; and no number has more than 64 bits. What has no other type is text:
/// strings as they are, and JSON.
fn oracle(values: &[&str]) -> (DataType, Vec<String>) {
    let there: Vec<&str> = values.iter().copied().filter(|value| *value != "null").collect();
    let all = |holds: fn(&str) -> bool| there.iter().all(|value| holds(value));
    let map = |cell: &dyn Fn(&str) -> String| {
        values.iter().map(|value| if *value == "null" { (*value).to_owned() } else { cell(value) }).collect()
    };
    let text = |value: &str| match value.chars().next() {
        Some('"') => serde_json::from_str(value).expect("a text"),
        Some('{') => value.replace(' ', ""),
        _ => value.to_owned(),
    };
    if all(|value| value.starts_with('"')) {
        (DataType::Utf8, map(&text))
    } else if all(|value| value == "true" || value == "false") {
        (DataType::Boolean, map(&str::to_owned))
    } else if all(is_int64) && !(all(is_float64) && there.iter().any(|value| value.parse::<i64>().is_err())) {
        (DataType::Int64, map(&|value| integral(value).expect("an integer").to_string()))
    } else if all(is_float64) {
        (DataType::Float64, map(&|value| format!("{:?}", value.parse::<f64>().expect("a number"))))
    } else {
        (DataType::Utf8, map(&text))
    }
}

/// The integer that a number of these tests is, if it is one.
fn integral(value: &str) -> Option<i128> {
    value.strip_suffix(".0").unwrap_or(if value == "1e3" { "1000" } else { value }).parse().ok()
}

fn is_int64(value: &str) -> bool {
    integral(value).is_some_and(|value| i64::try_from(value).is_ok()) && !value.starts_with("-0")
}

/// An integer that is exact as a float, or a fraction that does not become zero. Integers of more than 64 bits have no
/// type, even if exact as floats.
fn is_float64(value: &str) -> bool {
    let Ok(float) = value.parse::<f64>() else { return false };
    #[expect(clippy::cast_possible_truncation, reason = "compared as integers")]
    match integral(value) {
        Some(integer) => float as i128 == integer && (is_int64(value) || value.contains(['.', '-'])),
        None => float != 0.0,
    }
}

proptest! {
    #[test]
    fn batches_of_any_size_have_the_type_of_all_rows(values in column_values(), max_rows in 1_usize..13, views: bool) {
        assert_inferred(&values, max_rows, views);
    }
}
