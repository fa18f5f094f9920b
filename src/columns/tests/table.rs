//! What each type makes of each JSON value, and what each mismatch suggests.

use super::{Column, ONE_BATCH, cells_of, read};
use crate::columns::{ColumnType, codes, items, schema};
use crate::contract::codes::ATTRIBUTES;
use crate::error::Kind as ErrorKind;

/// The types in the order of the table.
const TYPES: [ColumnType; 7] = [
    ColumnType::String,
    ColumnType::StringOrJson,
    ColumnType::Int64,
    ColumnType::Float64,
    ColumnType::Bool,
    ColumnType::Timestamp,
    ColumnType::Json,
];

/// Values, and the cells that columns of these types make of them; `-` is a mismatch.
#[rustfmt::skip]
const TABLE: [(&str, [&str; 7]); 43] = [
    // value                  string   or JSON   int64   float64  bool    timestamp  json
    ("null",                 ["null",  "null",   "null", "null",  "null", "null",    "null"]),
    ("true",                 ["-",     "true",   "-",    "-",     "true", "-",       "true"]),
    ("false",                ["-",     "false",  "-",    "-",     "false", "-",      "false"]),
    ("7",                    ["-",     "7",      "7",    "7.0",   "-",    "-",       "7"]),
    ("-0",                   ["-",     "-0",     "0",    "-0.0",  "-",    "-",       "-0"]),
    ("-0.0",                 ["-",     "-0.0",   "0",    "-0.0",  "-",    "-",       "-0.0"]),
    ("5.0",                  ["-",     "5.0",    "5",    "5.0",   "-",    "-",       "5.0"]),
    ("1e3",                  ["-",     "1e3",    "1000", "1000.0", "-",   "-",       "1e3"]),
    ("1.50",                 ["-",     "1.50",   "-",    "1.5",   "-",    "-",       "1.50"]),
    ("1e300",                ["-",     "1e300",  "-",    "1e300", "-",    "-",       "1e300"]),
    ("1e23",                 ["-",     "1e23",   "-",    "1e23",  "-",    "-",       "1e23"]),
    ("5e-324",               ["-",     "5e-324", "-",    "5e-324", "-",   "-",       "5e-324"]),
    ("1e-400",               ["-",     "1e-400", "-",    "-",     "-",    "-",       "1e-400"]),
    ("-0.00e-400",           ["-",     "-0.00e-400", "0", "-0.0", "-",    "-",       "-0.00e-400"]),
    // 2^53 + 1, the bounds of 64 bits and numbers beyond
    ("9007199254740993",     ["-", "9007199254740993", "9007199254740993", "-", "-", "-", "9007199254740993"]),
    ("9007199254740993.0",   ["-", "9007199254740993.0", "9007199254740993", "-", "-", "-", "9007199254740993.0"]),
    ("9007199254740993e0",   ["-", "9007199254740993e0", "9007199254740993", "-", "-", "-", "9007199254740993e0"]),
    ("9007199254740993.5",   ["-", "9007199254740993.5", "-", "9007199254740994.0", "-", "-", "9007199254740993.5"]),
    ("9223372036854775807",  ["-", "9223372036854775807", "9223372036854775807", "-", "-", "-",
                              "9223372036854775807"]),
    ("-9223372036854775808", ["-", "-9223372036854775808", "-9223372036854775808", "-9.223372036854776e18", "-", "-",
                              "-9223372036854775808"]),
    ("9223372036854775808",  ["-", "9223372036854775808", "-", "9.223372036854776e18", "-", "-",
                              "9223372036854775808"]),
    ("9223372036854775808.0", ["-", "9223372036854775808.0", "-", "9.223372036854776e18", "-", "-",
                              "9223372036854775808.0"]),
    ("-9223372036854775809", ["-", "-9223372036854775809", "-", "-", "-", "-", "-9223372036854775809"]),
    ("18446744073709551615", ["-", "18446744073709551615", "-", "-", "-", "-", "18446744073709551615"]),
    ("18446744073709551616", ["-", "18446744073709551616", "-", "1.8446744073709552e19", "-", "-",
                              "18446744073709551616"]),
    ("100000000000000000000000.0", ["-", "100000000000000000000000.0", "-", "-", "-", "-",
                              "100000000000000000000000.0"]),
    (r#""""#,                ["",      "",       "-",    "-",     "-",    "-",       r#""""#]),
    (r#""x""#,               ["x",     "x",      "-",    "-",     "-",    "-",       r#""x""#]),
    (r#""5""#,               ["5",     "5",      "-",    "-",     "-",    "-",       r#""5""#]),
    (r#""true""#,            ["true",  "true",   "-",    "-",     "-",    "-",       r#""true""#]),
    (r#""null""#,            ["null",  "null",   "-",    "-",     "-",    "-",       r#""null""#]),
    (r#""\u00e9\n\"\u0000""#, ["é\n\"\0", "é\n\"\0", "-", "-",    "-",    "-",       r#""é\n\"\u0000""#]),
    (r#""1970-01-01 00:00:01""#, ["1970-01-01 00:00:01", "1970-01-01 00:00:01", "-", "-", "-", "1000000 us",
                              r#""1970-01-01 00:00:01""#]),
    (r#""1969-12-31T23:59:59.5""#, ["1969-12-31T23:59:59.5", "1969-12-31T23:59:59.5", "-", "-", "-", "-500000 us",
                              r#""1969-12-31T23:59:59.5""#]),
    (r#""2024-02-29 23:59:59.000001000""#, ["2024-02-29 23:59:59.000001000", "2024-02-29 23:59:59.000001000", "-",
                              "-", "-", "1709251199000001 us", r#""2024-02-29 23:59:59.000001000""#]),
    (r#""2024-01-01 00:00:00Z""#, ["2024-01-01 00:00:00Z", "2024-01-01 00:00:00Z", "-", "-", "-", "-",
                              r#""2024-01-01 00:00:00Z""#]),
    (r#""2023-02-29 00:00:00""#, ["2023-02-29 00:00:00", "2023-02-29 00:00:00", "-", "-", "-", "-",
                              r#""2023-02-29 00:00:00""#]),
    (r#""2024-01-01""#,      ["2024-01-01", "2024-01-01", "-", "-", "-",  "-",       r#""2024-01-01""#]),
    ("[]",                   ["-",     "[]",     "-",    "-",     "-",    "-",       "[]"]),
    ("[ 1 , \" a \" ]",      ["-",     r#"[1," a "]"#, "-", "-",  "-",    "-",       r#"[1," a "]"#]),
    ("{}",                   ["-",     "{}",     "-",    "-",     "-",    "-",       "{}"]),
    (r#"{ "a" : 1.50 }"#,    ["-",     r#"{"a":1.50}"#, "-", "-", "-",    "-",       r#"{"a":1.50}"#]),
    // An absent key.
    ("",                     ["null",  "null",   "null", "null",  "null", "null",    "null"]),
];

#[test]
fn every_type_takes_every_value_or_refuses_it() {
    for (wire, row) in TABLE {
        let record = if wire.is_empty() { "{}".to_owned() } else { format!(r#"{{"a":{wire}}}"#) };
        for (column_type, expected) in TYPES.into_iter().zip(row) {
            match read(&[Column::new("a", column_type)], ONE_BATCH, std::slice::from_ref(&record)) {
                Ok(batches) => assert_eq!(cells_of(&batches, 0), [expected], "{wire} as {column_type:?}"),
                Err(error) => {
                    assert_eq!(error.kind(), ErrorKind::Record);
                    assert_eq!(expected, "-", "{wire} as {column_type:?}: {}", error.summary());
                    assert!(
                        wire.len() < 3 || !error.summary().contains(wire),
                        "a value in a message: {}",
                        error.summary()
                    );
                }
            }
        }
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
