//! Parquet and CSV, read back.

use std::collections::HashMap;
use std::fs::{self, File};
use std::sync::Arc;

use arrow_array::{ArrayRef, BooleanArray, Float64Array, Int64Array, StringArray, TimestampMicrosecondArray};
use arrow_array::{RecordBatch, RecordBatchReader};
use arrow_schema::{DataType, Field, Schema, SchemaRef, TimeUnit};
use arrow_select::concat::concat_batches;
use dataaccess::error::Kind;
use dataaccess::files::{AtomicFile, Csv, CsvOptions, Output, Parquet, Writer};
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use parquet::basic::Compression;
use parquet::file::metadata::ParquetMetaData;
use proptest::prelude::*;

use super::folder::{Folder, Published};

const OPTIONS: CsvOptions = CsvOptions { separator: b',', escape_formulas: false };

/// A row of each type: string, integer, number, bool, time.
type Row = (Option<String>, Option<i64>, Option<f64>, Option<bool>, Option<i64>);

fn schema() -> SchemaRef {
    let json = HashMap::from([("dataaccess.type".to_owned(), "json".to_owned())]);
    Arc::new(Schema::new(vec![
        Field::new("text", DataType::Utf8, true).with_metadata(json),
        Field::new("integer", DataType::Int64, true),
        Field::new("number", DataType::Float64, true),
        Field::new("truth", DataType::Boolean, true),
        Field::new("time", DataType::Timestamp(TimeUnit::Microsecond, None), true),
    ]))
}

fn batch(rows: &[Row]) -> RecordBatch {
    let arrays: Vec<ArrayRef> = vec![
        Arc::new(rows.iter().map(|row| row.0.as_deref()).collect::<StringArray>()),
        Arc::new(rows.iter().map(|row| row.1).collect::<Int64Array>()),
        Arc::new(rows.iter().map(|row| row.2).collect::<Float64Array>()),
        Arc::new(rows.iter().map(|row| row.3).collect::<BooleanArray>()),
        Arc::new(rows.iter().map(|row| row.4).collect::<TimestampMicrosecondArray>()),
    ];
    RecordBatch::try_new(schema(), arrays).unwrap()
}

/// 2024-01-15 10:00:00.
const MORNING: i64 = 1_705_312_800_000_000;

fn rows() -> Vec<Row> {
    vec![
        (Some("a,\"b\"\r\nc".to_owned()), Some(i64::MIN), Some(0.1), Some(true), Some(MORNING)),
        (None, None, None, None, None),
        (Some("é".to_owned()), Some(9_007_199_254_740_993), Some(-1e300), Some(false), Some(MORNING + 250_000)),
    ]
}

fn read(path: &std::path::Path) -> (RecordBatch, Arc<ParquetMetaData>) {
    let builder = ParquetRecordBatchReaderBuilder::try_new(File::open(path).unwrap()).unwrap();
    let metadata = Arc::clone(builder.metadata());
    let reader = builder.build().unwrap();
    let schema = reader.schema();
    let batches: Vec<_> = reader.map(Result::unwrap).collect();
    (concat_batches(&schema, &batches).unwrap(), metadata)
}

fn file(folder: &Folder, name: &str) -> AtomicFile {
    AtomicFile::create(&folder.file(name), Kind::File).unwrap()
}

fn output(folder: &Folder) -> Output {
    Output::new(file(folder, "a.csv"), dataaccess::files::Compression::None).unwrap()
}

#[test]
fn parquet_reads_back_as_written() {
    let folder = Folder::new();
    let path = folder.file("a.parquet");
    let mut parquet = Parquet::new(file(&folder, "a.parquet"), &schema(), &schema()).unwrap();
    let all = batch(&rows());
    parquet.write(&all.slice(0, 1)).unwrap();
    parquet.write(&all.slice(1, 2)).unwrap();
    let written = parquet.finish().unwrap().published().unwrap();
    assert_eq!(written, path.metadata().unwrap().len());
    let (found, metadata) = read(&path);
    assert_eq!(found, all);
    assert_eq!(found.schema().field(0).metadata(), schema().field(0).metadata(), "what is JSON is known again");
    let keys = metadata.file_metadata().key_value_metadata().unwrap();
    let value = |key: &str| keys.iter().find(|found| found.key == key).and_then(|found| found.value.as_deref());
    assert_eq!(value("dataaccess"), Some(dataaccess::VERSION));
    let column = metadata.row_group(0).column(1);
    assert!(matches!(column.compression(), Compression::ZSTD(_)));
    assert_eq!(column.statistics().unwrap().null_count_opt(), Some(1));
}

#[test]
fn a_row_group_ends_by_rows_and_by_bytes() {
    let folder = Folder::new();
    let groups = |rows: &[Row], batches: usize| {
        let mut parquet = Parquet::new(file(&folder, "a.parquet"), &schema(), &schema()).unwrap();
        let batch = batch(rows);
        for _ in 0..batches {
            parquet.write(&batch).unwrap();
        }
        parquet.finish().unwrap().published().unwrap();
        let metadata = read(&folder.file("a.parquet")).1;
        metadata.row_groups().iter().map(|group| (group.num_rows(), group.compressed_size())).collect::<Vec<_>>()
    };
    let many: Vec<Row> = (0..=1 << 19).map(|row| (None, Some(row), None, None, None)).collect();
    assert_eq!(groups(&many, 2).iter().map(|group| group.0).collect::<Vec<_>>(), [1 << 20, 2]);
    // Texts that do not compress, no two of them the same.
    let mut state = 1_u64;
    let mut text = || {
        let characters = (0..4_000).map(|_| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            char::from(b' ' + u8::try_from((state >> 33) % 90).unwrap())
        });
        characters.collect::<String>()
    };
    let wide: Vec<Row> = (0..2_500).map(|_| (Some(text()), None, None, None, None)).collect();
    let found = groups(&wide, 5);
    assert!(found.len() > 1, "{found:?}");
    assert!(found.iter().all(|group| group.1 < 20 << 20), "{found:?}");
}

#[test]
fn formulas_are_escaped_if_that_is_asked_for() {
    let schema: SchemaRef = Arc::new(Schema::new(vec![
        Field::new("=HYPERLINK(1)", DataType::Utf8, true),
        Field::new("number", DataType::Int64, true),
    ]));
    let texts = ["=1", "+1", "-1", "@SUM(1)", "\t=1", "\u{ff1d}1", "a=1", ""].map(Some).into_iter().chain([None]);
    let columns: Vec<ArrayRef> =
        vec![Arc::new(texts.collect::<StringArray>()), Arc::new(Int64Array::from(vec![Some(-1); 9]))];
    let batch = RecordBatch::try_new(Arc::clone(&schema), columns).unwrap();
    for (escape_formulas, expected) in [
        (false, "=HYPERLINK(1),number\n=1,-1\n+1,-1\n-1,-1\n@SUM(1),-1\n\t=1,-1\n\u{ff1d}1,-1\na=1,-1\n\"\",-1\n,-1\n"),
        (
            true,
            "'=HYPERLINK(1),number\n'=1,-1\n'+1,-1\n'-1,-1\n'@SUM(1),-1\n'\t=1,-1\n'\u{ff1d}1,-1\na=1,-1\n\"\",-1\n,-1\n",
        ),
    ] {
        let folder = Folder::new();
        let mut csv = Csv::new(output(&folder), CsvOptions { escape_formulas, ..OPTIONS }, &schema).unwrap();
        csv.write(&batch).unwrap();
        csv.finish().unwrap().published().unwrap();
        // Whether an empty string is quoted is the writer's choice.
        let written = fs::read_to_string(folder.file("a.csv")).unwrap().replace("\"\"", "");
        assert_eq!(written, expected.replace("\"\"", ""));
    }
}

/// The fields of RFC 4180, by a reader that is not the writer's.
fn fields(csv: &str) -> Vec<Vec<String>> {
    let (mut lines, mut line, mut field) = (Vec::new(), Vec::new(), String::new());
    let mut is_quoted = false;
    let mut characters = csv.chars().peekable();
    while let Some(character) = characters.next() {
        match character {
            '"' if is_quoted && characters.peek() == Some(&'"') => field.extend(characters.next()),
            '"' => is_quoted = !is_quoted,
            ',' | '\n' if !is_quoted => {
                line.push(std::mem::take(&mut field));
                if character == '\n' {
                    lines.push(std::mem::take(&mut line));
                }
            }
            other => field.push(other),
        }
    }
    lines
}

fn any_row() -> impl Strategy<Value = Row> {
    let text = "(\\PC|[\\x00-\\x20\",\r\n\\\\é😀])*";
    // Years 1 to 9999.
    let time = -62_135_596_800_000_000..253_402_300_800_000_000_i64;
    let number = any::<f64>().prop_filter("JSON has no others", |number| number.is_finite());
    let option = prop::option::of::<BoxedStrategy<i64>>;
    (
        prop::option::of(text),
        option(any::<i64>().boxed()),
        prop::option::of(number),
        any::<Option<bool>>(),
        option(time.boxed()),
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn any_rows_read_back_from_parquet(batches in prop::collection::vec(prop::collection::vec(any_row(), 0..20), 0..4)) {
        let folder = Folder::new();
        let mut parquet = Parquet::new(file(&folder, "a.parquet"), &schema(), &schema()).unwrap();
        for rows in &batches {
            parquet.write(&batch(rows)).unwrap();
        }
        parquet.finish().unwrap().published().unwrap();
        prop_assert_eq!(read(&folder.file("a.parquet")).0, batch(&batches.concat()));
    }

    #[test]
    fn any_rows_read_back_from_csv(rows in prop::collection::vec(any_row(), 0..20)) {
        let folder = Folder::new();
        let mut csv = Csv::new(output(&folder), OPTIONS, &schema()).unwrap();
        csv.write(&batch(&rows)).unwrap();
        csv.finish().unwrap().published().unwrap();
        let found = fields(&fs::read_to_string(folder.file("a.csv")).unwrap());
        prop_assert_eq!(found.len(), rows.len() + 1);
        for (found, row) in found[1..].iter().zip(&rows) {
            prop_assert_eq!(&found[0], row.0.as_deref().unwrap_or_default());
            prop_assert_eq!(&found[1], &row.1.map(|value| value.to_string()).unwrap_or_default());
            prop_assert_eq!(found[2].parse::<f64>().ok(), row.2);
            prop_assert_eq!(found[3].parse::<bool>().ok(), row.3);
            let time = found[4].parse::<jiff::civil::DateTime>().ok();
            let time = time.map(|time| time.to_zoned(jiff::tz::TimeZone::UTC).unwrap().timestamp().as_microsecond());
            prop_assert_eq!(time, row.4);
        }
    }
}
