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

/// Type and cells of a collected column, in batches of `max_rows`.
fn collect(values: &[&str], max_rows: usize, views: bool) -> (DataType, Vec<String>) {
    let options = Options { views, max_rows, ..COLLECTED };
    let batches = read(&one(), options, &records(values)).expect("what is inferred takes everything");
    assert_eq!(batches.len(), values.len().div_ceil(max_rows));
    let (schema, batches, _) = unify(&one(), views, batches).expect("they have one type");
    assert!(batches.iter().all(|batch| batch.schema() == schema));
    (schema.field(0).data_type().clone(), cells_of(&batches, 0))
}

#[test]
fn the_narrowest_type_that_loses_nothing() {
    for (values, expected, cells) in [
        (&["null", "null"][..], DataType::Utf8, &["null", "null"][..]),
        (&["null", "7"], DataType::Int64, &["null", "7"]),
        (&["7", "9223372036854775807"], DataType::Int64, &["7", "9223372036854775807"]),
        (&["9007199254740992", "1.50"], DataType::Float64, &["9007199254740992.0", "1.5"]),
        (&["7", "-0"], DataType::Float64, &["7.0", "-0.0"]),
        (&["1.5", "null", "1e3"], DataType::Float64, &["1.5", "null", "1000.0"]),
        (&["5.0", "7"], DataType::Float64, &["5.0", "7.0"]),
        // An integer is one in any notation, and no float rounds it,
        (&["9007199254740993.0"], DataType::Int64, &["9007199254740993"]),
        (&["5.0", "9007199254740993.0", "7"], DataType::Int64, &["5", "9007199254740993", "7"]),
        (&["1e3", "9007199254740993"], DataType::Int64, &["1000", "9007199254740993"]),
        (&["1.5", "9007199254740993.0"], DataType::Utf8, &["1.5", "9007199254740993.0"]),
        (&["-0.0", "9007199254740993.0"], DataType::Utf8, &["-0.0", "9007199254740993.0"]),
        (&["100000000000000000000000.0", "1.5"], DataType::Utf8, &["100000000000000000000000.0", "1.5"]),
        // nor becomes zero what is not zero.
        (&["1e-400", "1.5"], DataType::Utf8, &["1e-400", "1.5"]),
        // A float would round this one,
        (&["9007199254740993", "1.50"], DataType::Utf8, &["9007199254740993", "1.50"]),
        // and no number of 64 bits holds these.
        (&["7", "9223372036854775808"], DataType::Utf8, &["7", "9223372036854775808"]),
        (&["1.0", "18446744073709551616"], DataType::Utf8, &["1.0", "18446744073709551616"]),
        (&["true", "null", "false"], DataType::Boolean, &["true", "null", "false"]),
        (&[r#""a""#, r#""""#, "null"], DataType::Utf8, &["a", "", "null"]),
        // From here on texts: strings as they are, and JSON.
        (&["true", "1"], DataType::Utf8, &["true", "1"]),
        (&["5", r#""5""#], DataType::Utf8, &["5", "5"]),
        (&["5", "5.0", "-0", "-0.0", "1.50", r#""x""#], DataType::Utf8, &["5", "5.0", "-0", "-0.0", "1.50", "x"]),
        (&[r#""a""#, "null", "true"], DataType::Utf8, &["a", "null", "true"]),
        (&[r#"{ "a" : [] }"#, "null"], DataType::Utf8, &[r#"{"a":[]}"#, "null"]),
        (&["[]", r#""[]""#], DataType::Utf8, &["[]", "[]"]),
    ] {
        for max_rows in 1..=values.len() {
            assert_eq!(
                collect(values, max_rows, false),
                (expected.clone(), cells.iter().map(|cell| (*cell).to_owned()).collect())
            );
        }
    }
}

#[test]
fn views_hold_the_same_strings() {
    for values in
        [&["null"][..], &[r#""a text of more than twelve bytes""#, r#""b""#, "null"], &["5", r#""b""#, "null"]]
    {
        for max_rows in 1..=values.len() {
            let (plain, views) = (collect(values, max_rows, false), collect(values, max_rows, true));
            assert_eq!((plain.0, views.0), (DataType::Utf8, DataType::Utf8View));
            assert_eq!(plain.1, views.1);
        }
    }
}

#[test]
fn columns_with_strings_and_other_values_are_named() {
    for (values, is_mixed) in [(&["1", r#""x""#][..], true), (&["1", "null"], false), (&["[]", "1"], false)] {
        let batches = read(&one(), COLLECTED, &records(values)).expect("what is inferred takes everything");
        let (_, _, mixed) = unify(&one(), false, batches).expect("they have one type");
        assert_eq!(mixed, if is_mixed { vec!["a".to_owned()] } else { Vec::new() });
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

/// Values of a few kinds, so that every type is inferred often.
fn column_values() -> impl Strategy<Value = Vec<String>> {
    let pools: [&[&str]; 11] = [
        &["null"],
        &["0", "-7", "123456789012345", "9007199254740992", "-9007199254740992", "1152921504606846976"],
        &["9007199254740993", "9223372036854775807", "-9223372036854775808", "-9223372036854775807"],
        &["9223372036854775808", "-9223372036854775809", "18446744073709551616", "100000000000000000000000000"],
        &["-0", "-0.0", "1.50", "1E-7", "0.1", "1e300"],
        &["5.0", "1e3", "9223372036854775808.0"],
        &["9007199254740993.0", "9223372036854775807.0"],
        &["1e-400", "9223372036854775809.0"],
        &["true", "false"],
        &[r#""""#, r#""5""#, r#""true""#, r#""null""#, r#""né\n\"""#, r#""a text of more than twelve bytes""#],
        &["[]", "{}", r#"[1.50,"a b"]"#, r#"{"a":null}"#],
    ];
    prop::sample::subsequence(pools.to_vec(), 1..=3).prop_flat_map(|pools| {
        let values: Vec<String> = pools.concat().into_iter().map(str::to_owned).collect();
        prop::collection::vec(prop::sample::select(values), 1..12)
    })
}

/// The expected type and cells, computed without floats where none are expected.
fn oracle(values: &[String]) -> (DataType, Vec<String>) {
    let there: Vec<&str> = values.iter().map(String::as_str).filter(|value| *value != "null").collect();
    let all = |holds: fn(&str) -> bool| there.iter().all(|value| holds(value));
    let map = |cell: &dyn Fn(&str) -> String| {
        values.iter().map(|value| if value == "null" { value.clone() } else { cell(value) }).collect()
    };
    let unquoted = |value: &str| serde_json::from_str::<String>(value).expect("a text");
    let text = |value: &str| if value.starts_with('"') { unquoted(value) } else { value.to_owned() };
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
        let values_in: Vec<&str> = values.iter().map(String::as_str).collect();
        let (data_type, cells) = collect(&values_in, max_rows, views);
        let (expected_type, expected) = oracle(&values);
        let expected_type = if views && expected_type == DataType::Utf8 { DataType::Utf8View } else { expected_type };
        prop_assert_eq!((data_type, cells), (expected_type, expected));
    }
}
