//! The `schema=` that a mismatch suggests reads the same records and loses nothing.

use arrow_schema::DataType;

use super::{Column, ONE_BATCH, Options, cells_of, read, records};
use crate::columns::{ColumnType, frozen, items, retyped, types};
use crate::error::{Error, Kind as ErrorKind};

/// Two rows to a batch.
const PAIRS: Options = Options { max_rows: 2, ..ONE_BATCH };

/// Types, and values of which the first two freeze that type.
#[rustfmt::skip]
const BEFORE: [(Option<ColumnType>, &[&str]); 15] = [
    (Some(ColumnType::Int64), &["1", "2"]),
    (Some(ColumnType::Int64), &["1", "2", "-9007199254740991", "3"]),
    (Some(ColumnType::Int64), &["1", "2", "9007199254740993", "3"]),
    (Some(ColumnType::Int64), &["1", "2", "9007199254740993"]),
    (Some(ColumnType::Int64), &["9007199254740993", "1"]),
    (Some(ColumnType::Int64), &["9007199254740993.0", "5.0", "null", "null"]),
    (Some(ColumnType::Int64), &["-9223372036854775808", "null"]),
    (Some(ColumnType::Float64), &["1.5", "2", "3", "4"]),
    (Some(ColumnType::Float64), &["1e300", "-0"]),
    (Some(ColumnType::Bool), &["true", "null"]),
    (Some(ColumnType::String), &[r#""x""#, "null", r#""5""#]),
    (Some(ColumnType::Timestamp), &[r#""2024-01-15 10:00:00""#, "null"]),
    (Some(ColumnType::Json), &["9007199254740993", "1.5"]),
    (Some(ColumnType::Json), &["[]", r#""x""#]),
    (None, &["null", "null"]),
];

/// Values that come later.
#[rustfmt::skip]
const LATER: [&str; 22] = [
    "null", "7", "-0", "2.5", "3.0", "9007199254740993", "9007199254740993.0", "9223372036854775808",
    "9223372036854775808.0", "18446744073709551617", "100000000000000000000000", "1e23", "1e300", "1e-400", "5e-324",
    "true", r#""x""#, r#""5""#, r#""true""#, r#""2024-01-15 10:00:00""#, "[1]", r#"{"k":1.50}"#,
];

/// Whether a cell of any type holds the whole value.
fn holds(cell: &str, wire: &str) -> bool {
    let text = serde_json::from_str::<String>(wire).ok();
    let whole = |number: &str| number.strip_suffix(".0").unwrap_or(number).parse::<i128>().ok();
    let float = |number: &str| number.parse::<f64>().ok().filter(|float| *float != 0.0);
    let is_time = |text: &str| text == "2024-01-15 10:00:00" && cell == "1705312800000000 us";
    cell == wire
        || text.is_some_and(|text| cell == text || is_time(&text))
        || match (whole(wire), whole(cell)) {
            (Some(wire), Some(cell)) => wire == cell,
            #[expect(clippy::cast_possible_truncation, reason = "compared as integers")]
            (Some(wire), None) => float(cell).is_some_and(|float| float as i128 == wire),
            (None, _) => float(wire).is_some() && float(wire) == float(cell),
        }
}

/// Reads values and checks that each cell holds its value.
fn read_all(columns: &[Column], values: &[&str]) -> Result<(), Error> {
    let batches = read(columns, PAIRS, &records(values))?;
    let schema = batches.last().expect("rows").schema();
    if *schema.field(0).data_type() == DataType::Null {
        assert!(values.iter().all(|value| *value == "null"), "{values:?} have no type");
        return Ok(());
    }
    let batches: Vec<_> = batches.iter().map(|batch| retyped(batch, &schema).expect("one type")).collect();
    let cells = cells_of(&batches, 0);
    assert_eq!(cells.len(), values.len());
    for (cell, wire) in cells.iter().zip(values) {
        assert!(holds(cell, wire), "{wire} became {cell} as {columns:?}, among {values:?}");
    }
    Ok(())
}

/// Reads all values, if necessary with the type that the hint suggests, and returns that type.
fn read_as_suggested(columns: &[Column], values: &[&str]) -> Option<ColumnType> {
    let error = read_all(columns, values).err()?;
    assert_eq!(error.kind(), ErrorKind::Record);
    let hint = error.hint().expect("every value fits some type");
    let name = hint.strip_prefix(r#"set schema["a"] to ""#).and_then(|rest| rest.strip_suffix('"')).expect(hint);
    let suggested = ColumnType::from_name(name).expect("a type");
    let fixed = items(&["a".to_owned()], &[("a".to_owned(), suggested)]);
    if let Err(error) = read_all(&fixed, values) {
        panic!("{hint}, for {values:?} as {columns:?}: {}", error.summary());
    }
    Some(suggested)
}

#[test]
fn every_hint_works() {
    let inferred = items(&["a".to_owned()], &[]);
    for (of_column, before) in BEFORE {
        for later in LATER {
            let values = [before, &[later]].concat();
            // Frozen by the first batch, by the first batch of another response, and given as `schema=`.
            let suggested = read_as_suggested(&inferred, &values);
            let first = read(&inferred, PAIRS, &records(&before[..2])).expect("what is inferred takes everything");
            assert_eq!(
                read_as_suggested(&frozen(&inferred, &types(&first[0].schema()).expect("our schema")), &values),
                suggested,
                "{values:?}"
            );
            assert_ne!(suggested, Some(ColumnType::Json), "another type would do: {values:?}");
            if let Some(of_column) = of_column {
                read_as_suggested(&[Column::new("a", of_column)], &values);
            }
        }
    }
}

#[test]
fn the_first_batch_freezes_the_type_and_later_values_decide_the_hint() {
    for (before, later, suggested) in [
        (&["1", "2"][..], "1.5", Some(ColumnType::Float64)),
        (&["1", "2"], r#""1""#, Some(ColumnType::String)),
        (&["1", "2"], "9223372036854775808", Some(ColumnType::String)),
        (&["1", "2"], "3.0", None),
        (&["1", "2.5"], "3", None),
        (&["1", "2.5"], "9007199254740993", Some(ColumnType::String)),
        (&["true", "null"], "0", Some(ColumnType::String)),
        (&["null", r#""x""#], "0", None),
        (&["null", "null"], r#""x""#, None),
        (&["null", "null"], "0", None),
        (&["null", "null", "null", "7"], r#""x""#, Some(ColumnType::String)),
        (&["1", r#""x""#], r#"{"any":"thing"}"#, None),
        (&["[]", "{}"], "0", None),
        (&["[]", "{}"], r#""x""#, Some(ColumnType::String)),
        // A float is suggested only if it holds the values before.
        (&["1", "null"], "2.5", Some(ColumnType::Float64)),
        (&["1", "2", "-9007199254740991", "3"], "2.5", Some(ColumnType::Float64)),
        (&["1", "2", "9007199254740993", "3"], "2.5", Some(ColumnType::String)),
        (&["1", "2", "3", "4", "5", "-9007199254740993"], "2.5", Some(ColumnType::String)),
        (&["9007199254740993.0", "1", "2"], "2.5", Some(ColumnType::String)),
    ] {
        let inferred = items(&["a".to_owned()], &[]);
        assert_eq!(read_as_suggested(&inferred, &[before, &[later]].concat()), suggested, "{before:?}, then {later}");
    }
}
