//! A part: a Parquet file that holds a record of how it came about, and checksums of itself.
//!
//! The Parquet library writes no checksums of pages. So the footer has one of the data before it, which only a reader
//! of the rows compares, and one of the tail, which is the footer with the page index: that one is compared whenever
//! the record is read, and no damaged footer is parsed.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use bytes::Bytes;
use memchr::memmem;
use parquet::arrow::arrow_reader::{ArrowReaderOptions, ParquetRecordBatchReaderBuilder};
use parquet::arrow::parquet_to_arrow_schema;
use parquet::errors::ParquetError;
use parquet::file::metadata::{FileMetaData, ParquetMetaDataReader};
use serde::Deserialize;
use serde_json::Value;

use super::RowMemory;
use super::system::open_regular;
use crate::error::{Error, Kind, Result, defect};

/// Key of the record in the file's metadata.
pub(super) const KEY: &str = "dataaccess.task";
/// The last bytes of a Parquet file.
const MAGIC: &[u8] = b"PAR1";
/// Bytes of the end of a Parquet file: the length of the footer, and [`MAGIC`].
const END: usize = 8;
/// Most bytes of a tail, which is read as a whole: a response of 8 GiB with a thousand columns has as many. Who can
/// write to the folder could name any length.
const MAX_TAIL: u64 = 256 << 20;
/// Key before the length of the data.
const DATA_BYTES: &str = "\"data_bytes\":";
/// Key before the checksum of the tail.
const TAIL: &str = "\"tail_crc32\":\"";
const TAIL_TOO_LONG: Unreadable = Unreadable::Damaged("its footer is longer than any that was written");
/// Placeholder hashed in place of the checksum of the tail.
const NO_SUM: [u8; 8] = *b"00000000";

/// What the footer of a file in a folder has.
#[derive(Clone, Debug)]
pub struct Footer {
    /// What [`super::Parquet::finish_part`] was given.
    pub record: Value,
    /// The columns.
    pub schema: SchemaRef,
    /// Rows.
    pub rows: u64,
    /// Size of the file.
    pub bytes: u64,
}

/// Why a part cannot be read.
#[derive(Debug)]
pub enum Unreadable {
    /// The system cannot read it.
    Io(io::Error),
    /// It is not what was written.
    Damaged(&'static str),
    /// It, or its rows, take more memory than this limit.
    TooLarge(u64),
}

/// What [`seal`] writes.
#[derive(Deserialize)]
struct Seal {
    record: Value,
    data_crc32: String,
}

impl Footer {
    /// Reads the footer of a file. Fails on a symbolic link.
    ///
    /// # Errors
    /// The system's, and damage of the tail. The data are not read.
    pub fn open(path: &Path) -> Result<Self, Unreadable> {
        let mut file = open_regular(path)?;
        let bytes = file.metadata()?.len();
        let mut read = |range: Range<u64>| read_range(&mut file, range);
        let footer = footer(bytes, &read(end(bytes))?)?;
        let tail = tail(bytes, &footer, &read(footer.clone())?)?;
        Ok(Self::read_tail(bytes, &footer, read(tail)?)?.0)
    }

    /// The footer in the last bytes of a file of this size; or where the bytes begin that are needed.
    ///
    /// # Errors
    /// Damage of the tail.
    pub fn in_end(bytes: u64, content: &[u8]) -> Result<Result<Self, u64>, Unreadable> {
        let first = bytes.saturating_sub(content.len() as u64);
        let have = |range: &Range<u64>| {
            let start = range.start.checked_sub(first)?;
            Some(start..range.end - first)
        };
        let end = end(bytes);
        let Some(found) = have(&end) else { return Ok(Err(end.start)) };
        let footer = footer(bytes, slice(content, &found)?)?;
        let Some(found) = have(&footer) else { return Ok(Err(footer.start)) };
        let tail = tail(bytes, &footer, slice(content, &found)?)?;
        let Some(found) = have(&tail) else { return Ok(Err(tail.start)) };
        Ok(Ok(Self::read_tail(bytes, &footer, slice(content, &found)?.to_vec())?.0))
    }

    /// Reads the rows too.
    ///
    /// # Errors
    /// The system's, any damage, and the limit on memory.
    pub fn read(path: &Path, memory: &RowMemory) -> Result<(Self, Vec<RecordBatch>), Unreadable> {
        let file = open_regular(path)?;
        memory.check(file.metadata()?.len())?;
        let mut content = Vec::new();
        file.take(memory.limit().saturating_add(1)).read_to_end(&mut content)?;
        memory.check(content.len() as u64)?;
        Self::in_content(content.into(), memory)
    }

    /// The footer and the rows in the content of a file.
    ///
    /// # Errors
    /// Any damage, and the limit on memory.
    pub fn in_content(content: Bytes, memory: &RowMemory) -> Result<(Self, Vec<RecordBatch>), Unreadable> {
        let bytes = content.len() as u64;
        let footer = footer(bytes, slice(&content, &end(bytes))?)?;
        let tail = tail(bytes, &footer, slice(&content, &footer)?)?;
        let data = 0..tail.start;
        let (part, data_crc32) = Self::read_tail(bytes, &footer, slice(&content, &tail)?.to_vec())?;
        if data_crc32 != sum(slice(&content, &data)?) {
            return Err(Unreadable::Damaged("its rows do not have the checksum that was written"));
        }
        let options = ArrowReaderOptions::new().with_schema(SchemaRef::clone(&part.schema));
        let mut reader = undamaged("its rows cannot be decoded", || {
            ParquetRecordBatchReaderBuilder::try_new_with_options(content, options)?.build()
        })?;
        let mut batches = Vec::new();
        while let Some(batch) = undamaged("its rows cannot be decoded", || Ok(reader.next().transpose()?))? {
            // A file of a kibibyte may have any number of rows.
            memory.add(batch.get_array_memory_size())?;
            batches.push(batch);
        }
        let rows: usize = batches.iter().map(RecordBatch::num_rows).sum();
        if rows as u64 != part.rows {
            return Err(Unreadable::Damaged("it has another number of rows than its footer says"));
        }
        Ok((part, batches))
    }

    /// The record in a tail, and the checksum of the data.
    fn read_tail(bytes: u64, footer: &Range<u64>, mut tail: Vec<u8>) -> Result<(Self, String), Unreadable> {
        let written = tail_sum(&mut tail).map(|sum| std::mem::replace(sum, NO_SUM));
        if written.is_none_or(|written| written != sum(&tail).as_bytes()) {
            return Err(Unreadable::Damaged("its footer does not have the checksum that was written"));
        }
        let start = (tail.len() as u64 + footer.start).saturating_sub(bytes);
        let footer = slice(&tail, &(start..start + footer.end - footer.start))?;
        let metadata = undamaged("its footer cannot be decoded", || ParquetMetaDataReader::decode_metadata(footer))?;
        let metadata = metadata.file_metadata();
        let seal = value(metadata).and_then(|text| serde_json::from_str::<Seal>(text).ok());
        let Seal { record, data_crc32 } = seal.ok_or(Unreadable::Damaged("its footer has no record"))?;
        let schema = undamaged("its footer cannot be decoded", || {
            parquet_to_arrow_schema(metadata.schema_descr(), metadata.key_value_metadata())
        })?;
        let rows = u64::try_from(metadata.num_rows());
        let rows = rows.map_err(|_| Unreadable::Damaged("its footer has no number of rows"))?;
        Ok((Self { record, schema: as_written(&schema), rows, bytes }, data_crc32))
    }
}

/// The types of the values in the file: [`super::Parquet::new`] may show dictionaries of them.
fn as_written(schema: &Schema) -> SchemaRef {
    let field = |field: &Arc<Field>| match field.data_type() {
        DataType::Dictionary(_, values) => Arc::new(field.as_ref().clone().with_data_type(values.as_ref().clone())),
        _ => Arc::clone(field),
    };
    Arc::new(Schema::new(schema.fields().iter().map(field).collect::<Vec<_>>()))
}

/// The metadata of a part whose tail is not closed yet.
pub(super) fn seal(record: &Value, data_bytes: u64, data_sum: u32) -> String {
    let none = String::from_utf8_lossy(&NO_SUM);
    format!("{{\"record\":{record},\"data_crc32\":\"{data_sum:08x}\",{DATA_BYTES}{data_bytes},{TAIL}{none}\"}}")
}

/// Writes the checksum of a tail into it.
///
/// # Errors
/// `ResponseTooLarge` when no reader would accept a tail of this length, `Internal` when it has no [`seal`].
pub(super) fn close(tail: &mut [u8]) -> Result<()> {
    if tail.len() as u64 > MAX_TAIL {
        let problem = format!("response too large: the footer of its Parquet file exceeds {MAX_TAIL} bytes");
        return Err(Error::new(Kind::ResponseTooLarge, problem)
            .with(|details| (details.field, details.limit) = (Some("footer".to_owned()), Some(MAX_TAIL)))
            .with_hint("request fewer columns, or fewer rows in a request"));
    }
    let sum = sum(tail);
    let place = tail_sum(tail).ok_or_else(|| defect("a part has no place for its checksum"))?;
    place.copy_from_slice(sum.as_bytes());
    Ok(())
}

/// CRC-32 in hexadecimal.
fn sum(bytes: &[u8]) -> String {
    format!("{:08x}", crc32fast::hash(bytes))
}

/// The checksum in a tail. A value of a record could hold the same text, but comes before it.
fn tail_sum(tail: &mut [u8]) -> Option<&mut [u8; 8]> {
    let start = memmem::rfind(tail, TAIL.as_bytes())? + TAIL.len();
    tail.get_mut(start..)?.first_chunk_mut()
}

/// Where the end of a file is.
fn end(bytes: u64) -> Range<u64> {
    bytes.saturating_sub(END as u64)..bytes
}

/// Where the footer is, by the end of the file.
fn footer(bytes: u64, end: &[u8]) -> Result<Range<u64>, Unreadable> {
    let length = end.first_chunk().map(|length| u64::from(u32::from_le_bytes(*length)));
    let stop = self::end(bytes).start;
    match length.filter(|_| end.ends_with(MAGIC)).and_then(|length| stop.checked_sub(length)) {
        Some(start) if stop - start > MAX_TAIL => Err(TAIL_TOO_LONG),
        Some(start) => Ok(start..stop),
        None => Err(Unreadable::Damaged("it does not end as a Parquet file does")),
    }
}

/// Where the tail is, by the footer.
fn tail(bytes: u64, footer: &Range<u64>, content: &[u8]) -> Result<Range<u64>, Unreadable> {
    let digits =
        memmem::rfind(content, DATA_BYTES.as_bytes()).and_then(|place| content.get(place + DATA_BYTES.len()..));
    let digits = digits.and_then(|digits| digits.split(|byte| !byte.is_ascii_digit()).next());
    let start = digits.and_then(|digits| std::str::from_utf8(digits).ok()?.parse().ok());
    match start.filter(|start| *start <= footer.start) {
        Some(start) if bytes - start > MAX_TAIL => Err(TAIL_TOO_LONG),
        Some(start) => Ok(start..bytes),
        None => Err(Unreadable::Damaged("its footer has no record of a task")),
    }
}

fn read_range(file: &mut File, range: Range<u64>) -> io::Result<Vec<u8>> {
    let mut content = Vec::new();
    file.seek(SeekFrom::Start(range.start))?;
    file.take(range.end - range.start).read_to_end(&mut content)?;
    Ok(content)
}

fn slice<'a>(content: &'a [u8], range: &Range<u64>) -> Result<&'a [u8], Unreadable> {
    let place = |place: u64| usize::try_from(place).unwrap_or(usize::MAX);
    let found = content.get(place(range.start)..place(range.end));
    found.ok_or(Unreadable::Damaged("it is shorter than its footer says"))
}

fn value(metadata: &FileMetaData) -> Option<&str> {
    let entries = metadata.key_value_metadata()?;
    entries.iter().find(|entry| entry.key == KEY)?.value.as_deref()
}

impl From<io::Error> for Unreadable {
    fn from(cause: io::Error) -> Self {
        Self::Io(cause)
    }
}

/// What the Parquet library decodes. It panics at some footers that only a forger writes: their checksums are right.
fn undamaged<T>(problem: &'static str, decode: impl FnOnce() -> Result<T, ParquetError>) -> Result<T, Unreadable> {
    let decoded = catch_unwind(AssertUnwindSafe(decode));
    decoded.ok().and_then(Result::ok).ok_or(Unreadable::Damaged(problem))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_footer_that_no_reader_accepts_is_not_written() {
        let mut tail = vec![0; usize::try_from(MAX_TAIL).expect("a length") + 1];
        let error = close(&mut tail).unwrap_err();
        assert_eq!((error.kind(), error.details().limit), (Kind::ResponseTooLarge, Some(MAX_TAIL)));
        tail.pop();
        assert_eq!(close(&mut tail).unwrap_err().kind(), Kind::Internal, "it has no place for a checksum");
    }
}
