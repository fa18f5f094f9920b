//! What each type makes of each JSON value, and what each mismatch suggests.

use super::{Column, ONE_BATCH, cells_of, read};
use crate::columns::{ColumnType, codes, items, schema};
use crate::contract::codes::ATTRIBUTES;
use crate::error::Kind as ErrorKind;

/// Numbers, and the cells that columns of integers and of floats make of them; `-` is a mismatch.
const NUMBERS: [(&str, &str, &str); 23] = [
    ("7", "7", "7.0"),
    ("-0", "0", "-0.0"),
    ("-0.0", "0", "-0.0"),
    ("5.0", "5", "5.0"),
    ("1e3", "1000", "1000.0"),
    ("1.50", "-", "1.5"),
    ("1e300", "-", "1e300"),
    ("1e23", "-", "1e23"),
    ("5e-324", "-", "5e-324"),
    ("1e-400", "-", "-"),
    ("-0.00e-400", "0", "-0.0"),
    // 2^53 + 1, the bounds of 64 bits and numbers beyond
    ("9007199254740993", "9007199254740993", "-"),
    ("9007199254740993.0", "9007199254740993", "-"),
    ("9007199254740993e0", "9007199254740993", "-"),
    ("9007199254740993.5", "-", "9007199254740994.0"),
    ("9223372036854775807", "9223372036854775807", "-"),
    ("-9223372036854775808", "-9223372036854775808", "-9.223372036854776e18"),
    ("9223372036854775808", "-", "9.223372036854776e18"),
    ("9223372036854775808.0", "-", "9.223372036854776e18"),
    ("-9223372036854775809", "-", "-"),
    ("18446744073709551615", "-", "-"),
    ("18446744073709551616", "-", "1.8446744073709552e19"),
    ("100000000000000000000000.0", "-", "-"),
];

const TIMES: [(&str, &str); 3] = [
    ("1970-01-01 00:00:01", "1000000 us"),
    ("1969-12-31T23:59:59.5", "-500000 us"),
    ("2024-02-29 23:59:59.000001000", "1709251199000001 us"),
];

#[rustfmt::skip]
const OTHER_TEXTS: [&str; 9] =
    ["", "x", "5", "true", "null", "é\n\"\0", "2024-01-01 00:00:00Z", "2023-02-29 00:00:00", "2024-01-01"];

/// Objects and arrays, and their JSON.
const NESTED: [(&str, &str); 4] =
    [("[]", "[]"), ("[ 1 , \" a \" ]", r#"[1," a "]"#), ("{}", "{}"), (r#"{ "a" : 1.50 }"#, r#"{"a":1.50}"#)];

/// Asserts the cells that columns make of a value: of strings, of strings or JSON, of integers, floats, `bool`, times and
/// JSON.
fn assert_cells(member: &str, expected: [&str; 7]) {
    use ColumnType::{Bool, Float64, Int64, Json, String, StringOrJson, Timestamp};
    for (column_type, expected) in
        [String, StringOrJson, Int64, Float64, Bool, Timestamp, Json].into_iter().zip(expected)
    {
        match read(&[Column::new("a", column_type)], ONE_BATCH, &[format!("{{{member}}}")]) {
            Ok(batches) => assert_eq!(cells_of(&batches, 0), [expected], "{member} as {column_type:?}"),
            Err(error) => {
                let (summary, wire) = (error.summary(), member.split_at(4).1);
                assert_eq!((error.kind(), expected), (ErrorKind::Record, "-"), "as {column_type:?}: {summary}");
                assert!(wire.len() < 3 || !summary.contains(wire), "a value in a message: {summary}");
            }
        }
    }
}

#[test]
fn every_type_takes_every_value_or_refuses_it() {
    for absent in ["", r#""a":null"#] {
        assert_cells(absent, ["null"; 7]);
    }
    for bool in ["true", "false"] {
        assert_cells(&format!(r#""a":{bool}"#), ["-", bool, "-", "-", bool, "-", bool]);
    }
    for (number, integer, float) in NUMBERS {
        assert_cells(&format!(r#""a":{number}"#), ["-", number, integer, float, "-", "-", number]);
    }
    for (text, time) in TIMES.into_iter().chain(OTHER_TEXTS.map(|text| (text, "-"))) {
        let json = serde_json::to_string(text).expect("JSON");
        assert_cells(&format!(r#""a":{json}"#), [text, text, "-", "-", "-", time, &json]);
    }
    assert_cells(r#""a":"\u00e9\/""#, ["é/", "é/", "-", "-", "-", "-", r#""é/""#]);
    for (written, json) in NESTED {
        assert_cells(&format!(r#""a":{written}"#), ["-", json, "-", "-", "-", "-", json]);
    }
}

#[test]
fn long_integers_keep_every_digit() {
    let digits = "9".repeat(1_000);
    let record = format!(r#"{{"a":{digits}}}"#);
    for column in
        [Column::new("a", ColumnType::StringOrJson), Column::new("a", ColumnType::Json), Column::inferred("a")]
    {
        let batches = read(&[column], ONE_BATCH, std::slice::from_ref(&record)).expect("digits fit");
        assert_eq!(cells_of(&batches, 0), [digits.as_str()]);
    }
    for column_type in [ColumnType::Int64, ColumnType::Float64] {
        let error = read(&[Column::new("a", column_type)], ONE_BATCH, std::slice::from_ref(&record))
            .expect_err("no digit is lost");
        assert_eq!(error.kind(), ErrorKind::Record);
    }
    for (number, kind) in [("9".repeat(5_000), ErrorKind::InvalidJson), ("1e400".to_owned(), ErrorKind::Record)] {
        let record = format!(r#"{{"a":{number}}}"#);
        let error = read(&[Column::new("a", ColumnType::Json)], ONE_BATCH, &[record]).expect_err("no such number");
        assert_eq!(error.kind(), kind);
    }
}

#[test]
fn a_mismatch_says_what_is_expected_and_which_schema_fits() {
    for (column_type, wire, expected, suggested_type) in [
        (ColumnType::String, "5", "string", "string"),
        (ColumnType::Int64, r#""5""#, "integer", "string"),
        (ColumnType::Int64, "1.5", "integer", "float64"),
        (ColumnType::Int64, "9223372036854775808", "integer", "string"),
        (ColumnType::Float64, "9007199254740993", "float", "string"),
        (ColumnType::Bool, "1", "true", "string"),
        (ColumnType::Timestamp, r#""2024""#, "`YYYY-MM-DD HH:MM:SS`", "string"),
    ] {
        let good = r#"{"of \"it\"":null}"#.to_owned();
        let bad = format!(r#"{{"of \"it\"":{wire}}}"#);
        let name = r#"of "it""#;
        let error =
            read(&[Column::new(name, column_type)], ONE_BATCH, &[good.clone(), bad.clone()]).expect_err("a mismatch");
        assert_eq!(error.kind(), ErrorKind::Record);
        assert!(error.message().contains(expected), "{}", error.message());
        assert_eq!(error.hint(), Some(format!(r#"set schema["of \"it\""] to "{suggested_type}""#).as_str()));
        assert_eq!(error.details().row, Some(1));
        assert_eq!(error.details().column.as_deref(), Some(name));
        // The suggested type fits.
        let fixed =
            items(&[name.to_owned()], &[(name.to_owned(), ColumnType::from_name(suggested_type).expect("a type"))]);
        assert_eq!(read(&fixed, ONE_BATCH, &[good, bad]).expect("both fit")[0].num_rows(), 2);
    }
}

#[test]
fn promotion_codes_have_one_schema() {
    let attributes = ATTRIBUTES.map(str::to_owned);
    let columns = codes(&attributes, &[]);
    let record = r#"{"id":"c1","name":"n","pool_id":5,"date_created":"2024-01-02 03:04:05","allocated_time":null,
        "allocated_audience":"17","audience_type":-1003,"code_status":4,"last_used_source":{"a": 1},
        "last_used_time":"2024-01-03T00:00:00","channel_id":"5"}"#;
    let batches = read(&columns, ONE_BATCH, &[record.to_owned(), "{}".to_owned()]).expect("codes");
    assert_eq!(batches[0].schema(), schema(&columns, false).expect("known beforehand"));
    let types: Vec<String> = batches[0].schema().fields().iter().map(|field| field.data_type().to_string()).collect();
    let (text, int, time) = ("Utf8", "Int64", "Timestamp(µs)");
    assert_eq!(types, [text, text, int, time, time, text, int, int, text, time, text]);
    let row: Vec<String> = (0..11).map(|place| cells_of(&batches, place)[0].clone()).collect();
    assert_eq!(
        row,
        ["c1", "n", "5", "1704164645000000 us", "null", "17", "-1003", "4", r#"{"a":1}"#, "1704240000000000 us", "5"]
    );
    assert!((0..11).all(|place| cells_of(&batches, place)[1] == "null"), "all can be null");
}

#[test]
fn an_override_replaces_a_known_type_and_an_inferred_one() {
    let attributes = ["pool_id", "id", "other"].map(str::to_owned);
    let overrides = [
        ("pool_id".to_owned(), ColumnType::String),
        ("id".to_owned(), ColumnType::Json),
        ("absent".to_owned(), ColumnType::Bool),
    ];
    let expected = [Column::new("pool_id", ColumnType::StringOrJson), Column::new("id", ColumnType::Json)];
    let others = [Column::new("other", ColumnType::String), Column::inferred("other")];
    assert_eq!(codes(&attributes, &overrides), [&expected[..], &others[..1]].concat());
    assert_eq!(items(&attributes, &overrides), [&expected[..], &others[1..]].concat());
    assert!(schema(&items(&attributes, &overrides), false).is_none(), "not known before a record came");
}

#[test]
fn types_have_the_names_of_schema() {
    let names = ["string", "int64", "float64", "bool", "timestamp", "json"];
    assert_eq!(ColumnType::ALL.iter().map(|known| known.name()).collect::<Vec<_>>(), names);
    assert_eq!(names.map(|name| ColumnType::from_name(name).expect(name)), ColumnType::ALL);
    for (alias, name) in
        [("String", "string"), ("Int64", "int64"), ("double", "float64"), ("timestamp[us]", "timestamp")]
    {
        assert_eq!(ColumnType::from_name(alias).map(ColumnType::name), Some(name), "{alias}");
    }
    for other in ["", "Int32", "int32", "text", "name", "[us]", "STRING"] {
        assert_eq!(ColumnType::from_name(other), None, "{other}");
    }
}
