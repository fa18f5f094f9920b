//! What each type makes of each JSON value, and which misfit proposes what.

use super::{Column, Kind, WIDE, cells_of, column, read};
use crate::columns::{Type, codes, items, schema};
use crate::contract::codes::ATTRIBUTES;
use crate::error::Kind as ErrorKind;

/// How a value comes out of columns of these kinds, in this order; `-` is a misfit.
const KINDS: [Kind; 7] = [
    Kind::Fixed(Type::Text),
    Kind::StringOrJson,
    Kind::Fixed(Type::Int64),
    Kind::Fixed(Type::Float64),
    Kind::Fixed(Type::Bool),
    Kind::Fixed(Type::Timestamp),
    Kind::Fixed(Type::Json),
];

#[rustfmt::skip]
const TABLE: [(&str, [&str; 7]); 43] = [
    // wire                   text     "string"  int64   float64  bool    timestamp  json
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
    // 2^53 + 1, the ends of 64 bits and what lies beyond
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
    // What a value is when its key is not there.
    ("",                     ["null",  "null",   "null", "null",  "null", "null",    "null"]),
];

#[test]
fn every_type_takes_every_value_or_refuses_it() {
    for (wire, row) in TABLE {
        let record = if wire.is_empty() { "{}".to_owned() } else { format!(r#"{{"a":{wire}}}"#) };
        for (kind, expected) in KINDS.into_iter().zip(row) {
            match read(&[column("a", kind)], WIDE, std::slice::from_ref(&record)) {
                Ok(batches) => assert_eq!(cells_of(&batches, 0), [expected], "{wire} as {kind:?}"),
                Err(error) => {
                    assert_eq!(error.kind(), ErrorKind::Record);
                    assert_eq!(expected, "-", "{wire} as {kind:?}: {}", error.summary());
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
    for kind in [Kind::StringOrJson, Kind::Fixed(Type::Json), Kind::Inferred] {
        let batches = read(&[column("a", kind)], WIDE, std::slice::from_ref(&record)).expect("digits fit");
        assert_eq!(cells_of(&batches, 0), [digits.as_str()]);
    }
    for kind in [Type::Int64, Type::Float64].map(Kind::Fixed) {
        let error = read(&[column("a", kind)], WIDE, std::slice::from_ref(&record)).expect_err("no digit is lost");
        assert_eq!(error.kind(), ErrorKind::Record);
    }
    for (number, kind) in [("9".repeat(5_000), ErrorKind::InvalidJson), ("1e400".to_owned(), ErrorKind::Record)] {
        let record = format!(r#"{{"a":{number}}}"#);
        let error = read(&[column("a", Kind::Fixed(Type::Json))], WIDE, &[record]).expect_err("no such number");
        assert_eq!(error.kind(), kind);
    }
}

#[test]
fn a_misfit_says_what_fits_and_which_schema_mends_it() {
    for (kind, wire, expected, suggested_type) in [
        (Type::Text, "5", "expected a text, found a number", "string"),
        (Type::Int64, r#""5""#, "expected a whole number of 64 bits, found a text", "string"),
        (Type::Int64, "1.5", "expected a whole number of 64 bits, found a number", "float64"),
        (Type::Int64, "9223372036854775808", "expected a whole number of 64 bits, found a number", "string"),
        (
            Type::Float64,
            "9007199254740993",
            "expected a number that a 64-bit float holds, whole numbers exactly, found",
            "string",
        ),
        (Type::Bool, "1", "expected true or false, found a number", "string"),
        (Type::Timestamp, r#""2024""#, "expected a time as `YYYY-MM-DD HH:MM:SS`, without a zone, found", "string"),
    ] {
        let good = r#"{"of \"it\"":null}"#.to_owned();
        let bad = format!(r#"{{"of \"it\"":{wire}}}"#);
        let name = r#"of "it""#;
        let error = read(&[column(name, Kind::Fixed(kind))], WIDE, &[good.clone(), bad.clone()]).expect_err("a misfit");
        assert!(error.message().contains(expected), "{}", error.message());
        assert_eq!(error.hint(), Some(format!(r#"pass schema={{"of \"it\"": "{suggested_type}"}}"#).as_str()));
        assert_eq!(error.details().row, Some(1));
        assert_eq!(error.details().column.as_deref(), Some(name));
        // What is proposed works.
        let mended = items(&[name.to_owned()], &[(name.to_owned(), Type::from_name(suggested_type).expect("a type"))]);
        assert_eq!(read(&mended, WIDE, &[good, bad]).expect("mended")[0].num_rows(), 2);
    }
}

#[test]
fn promotion_codes_have_one_schema() {
    let attributes = ATTRIBUTES.map(str::to_owned);
    let columns = codes(&attributes, &[]);
    let record = r#"{"id":"c1","name":"n","pool_id":5,"date_created":"2024-01-02 03:04:05","allocated_time":null,
        "allocated_audience":"17","audience_type":-1003,"code_status":4,"last_used_source":{"a": 1},
        "last_used_time":1704164645,"channel_id":"5"}"#;
    let batches = read(&columns, WIDE, &[record.to_owned(), "{}".to_owned()]).expect("codes");
    assert_eq!(batches[0].schema(), schema(&columns, false).expect("known beforehand"));
    let types: Vec<String> = batches[0].schema().fields().iter().map(|field| field.data_type().to_string()).collect();
    let (text, int, time) = ("Utf8", "Int64", "Timestamp(µs)");
    assert_eq!(types, [text, text, int, time, time, text, int, int, text, text, text]);
    let row: Vec<String> = (0..11).map(|place| cells_of(&batches, place)[0].clone()).collect();
    assert_eq!(
        row,
        ["c1", "n", "5", "1704164645000000 us", "null", "17", "-1003", "4", r#"{"a":1}"#, "1704164645", "5"]
    );
    assert!((0..11).all(|place| cells_of(&batches, place)[1] == "null"), "all can be null");
}

#[test]
fn an_override_replaces_a_known_type_and_an_inferred_one() {
    let attributes = ["pool_id", "id", "other"].map(str::to_owned);
    let overrides =
        [("pool_id".to_owned(), Type::Text), ("id".to_owned(), Type::Json), ("absent".to_owned(), Type::Bool)];
    let kinds = |columns: Vec<Column>| columns.into_iter().map(|column| column.kind).collect::<Vec<_>>();
    let expected = [Kind::StringOrJson, Kind::Fixed(Type::Json)];
    assert_eq!(kinds(codes(&attributes, &overrides)), [&expected[..], &[Kind::Fixed(Type::Text)]].concat());
    assert_eq!(kinds(items(&attributes, &overrides)), [&expected[..], &[Kind::Inferred]].concat());
    assert!(schema(&items(&attributes, &overrides), false).is_none(), "not known before a record came");
}

#[test]
fn types_have_the_names_of_schema() {
    let names = ["string", "int64", "float64", "bool", "timestamp", "json"];
    assert_eq!(Type::ALL.map(Type::name), names);
    assert_eq!(names.map(Type::from_name), Type::ALL.map(Some));
    assert_eq!(Type::from_name("String"), None);
}
