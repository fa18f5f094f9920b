//! Parts: their record is read back, and damage of any byte is reported.

use std::fs;

use dataaccess::error::Kind;
use dataaccess::files::{Footer, Parquet, RowMemory, Unreadable, Writer};
use serde_json::json;

use super::folder::{Folder, Published, of_day, open, part, put, read, rows, wait};

#[test]
fn a_part_has_its_record_and_is_parquet_for_any_reader() {
    let folder = Folder::new();
    let (opened, _) = open(folder.path()).unwrap();
    let name = of_day("2024-01-15", 2);
    let bytes = put(&opened, &name);
    let path = folder.file("day=2024-01-15").join("part-2.parquet");
    let found = wait(opened.part(&name)).unwrap();
    assert_eq!((found.bytes, found.rows), (bytes, 3));
    assert_eq!(found.record, json!({"task": "day=2024-01-15/part-2.parquet"}));
    assert_eq!(path.metadata().unwrap().len(), bytes);
    let file = fs::File::open(path).unwrap();
    let reader = parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder::try_new(file).unwrap().build();
    assert_eq!(reader.unwrap().map(Result::unwrap).collect::<Vec<_>>(), [rows(2)]);
}

#[test]
fn a_record_may_hold_any_text() {
    let folder = Folder::new();
    let (opened, _) = open(folder.path()).unwrap();
    let record = json!({"a": "\"tail_crc32\":\"00000000\"}", "é": ["\n", null]});
    let parquet = Parquet::new(opened.create(&part(0)).unwrap(), rows(0).schema_ref(), rows(0).schema_ref()).unwrap();
    parquet.finish_part(&record).unwrap().published().unwrap();
    assert_eq!(wait(opened.part(&part(0))).unwrap().record, record);
}

#[test]
fn parquet_without_a_record_is_no_part() {
    let folder = Folder::new();
    let (opened, _) = open(folder.path()).unwrap();
    Parquet::new(opened.create(&part(0)).unwrap(), rows(0).schema_ref(), rows(0).schema_ref())
        .unwrap()
        .finish()
        .unwrap()
        .published()
        .unwrap();
    let error = wait(opened.part(&part(0))).unwrap_err();
    assert_eq!(error.kind(), Kind::FolderCorrupt);
    assert!(error.message().contains(" record "), "{error}");
}

/// Whether the footer is damaged, of which the data are no part.
fn is_damaged(content: &[u8]) -> bool {
    matches!(Footer::in_end(content.len() as u64, content), Err(Unreadable::Damaged(_)))
}

#[test]
fn every_damaged_byte_is_reported() {
    let folder = Folder::new();
    let (opened, _) = open(folder.path()).unwrap();
    put(&opened, &part(4));
    let path = opened.path_of(&part(4));
    let content = fs::read(&path).unwrap();
    let mut in_tail = 0;
    for place in 0..content.len() {
        for flip in [1, 255] {
            let mut damaged = content.clone();
            damaged[place] ^= flip;
            in_tail += usize::from(is_damaged(&damaged));
            let read = Footer::in_content(damaged.into(), &RowMemory::new(u64::MAX));
            assert!(matches!(read, Err(Unreadable::Damaged(_))), "byte {place} ^ {flip}");
        }
    }
    // The footer is most of a part of five rows.
    assert!(in_tail > content.len(), "{in_tail} of {}", content.len());
    for length in 0..content.len() {
        assert!(is_damaged(&content[..length]), "cut at {length}");
    }
    for longer in [[&content[..], b"x"].concat(), [b"x", &content[..]].concat()] {
        assert!(is_damaged(&longer));
    }
}

/// A writer of the folder can compute the checksums. The Parquet library panics at a negative size.
#[test]
fn a_forged_footer_is_damage() {
    let size: &[u8] = include_bytes!("../../fuzz/seeds/footer/forged.parquet");
    let count: &[u8] = include_bytes!("../../fuzz/seeds/footer/count.parquet");
    for (content, expected) in [(size, "decoded"), (count, " number ")] {
        assert!(matches!(Footer::in_end(content.len() as u64, content), Ok(Ok(_))), "its checksum is right");
        let problem = match Footer::in_content(content.to_vec().into(), &RowMemory::new(1 << 20)) {
            Err(Unreadable::Damaged(problem)) => problem,
            other => panic!("{other:?}"),
        };
        assert!(problem.contains(expected), "{problem}");
    }
}

#[test]
fn damage_is_reported_with_the_way_out() {
    let folder = Folder::new();
    let (opened, _) = open(folder.path()).unwrap();
    for (name, day, remedy) in
        [(of_day("2024-01-15", 0), Some("2024-01-15"), "refresh \"2024-01-15\""), (part(0), None, "refresh \"all\"")]
    {
        put(&opened, &name);
        let path = opened.path_of(&name);
        let mut content = fs::read(&path).unwrap();
        content[10] ^= 1;
        fs::write(&path, &content).unwrap();
        wait(opened.part(&name)).unwrap();
        let error = read(&path).unwrap_err();
        assert_eq!(error.kind(), Kind::FolderCorrupt);
        assert_eq!((error.details().day.as_deref(), error.details().path.as_deref()), (day, path.to_str()));
        assert!(error.hint().is_some_and(|hint| hint.contains(remedy)), "{error:?}");
        assert!(error.message().contains(" rows ") && error.message().contains("checksum"), "{error}");
    }
}

#[test]
fn the_record_is_in_the_end_or_it_is_known_where_it_begins() {
    let folder = Folder::new();
    let (opened, _) = open(folder.path()).unwrap();
    put(&opened, &part(4));
    let content = fs::read(opened.path_of(&part(4))).unwrap();
    let bytes = content.len() as u64;
    let mut requests = 0;
    for start in (0..content.len()).rev() {
        let mut start = start as u64;
        // As a reader of an object store asks for more.
        let found = loop {
            match Footer::in_end(bytes, &content[usize::try_from(start).unwrap()..]).unwrap() {
                Ok(part) => break part,
                Err(needed) => {
                    assert!(needed < start);
                    (start, requests) = (needed, requests + 1);
                }
            }
        };
        assert_eq!((found.rows, found.bytes), (5, bytes));
    }
    assert!(requests > 0);
    assert!(matches!(Footer::in_end(0, &[]), Err(Unreadable::Damaged(_))));
}

#[test]
fn a_footer_of_any_length_is_refused_before_it_is_read() {
    const GIBIBYTE: u64 = 1 << 30;
    let length = u32::try_from(GIBIBYTE - 100).unwrap().to_le_bytes();
    let refusal = Footer::in_end(GIBIBYTE, &[length.as_slice(), b"PAR1"].concat()).unwrap_err();
    assert!(matches!(refusal, Unreadable::Damaged(problem) if problem.contains("longer")), "{refusal:?}");
}
