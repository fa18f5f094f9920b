//! A part: a Parquet file that holds a record of how it came about, and checksums of itself.
//!
//! The Parquet library writes no checksums of pages. So the footer has one of the data before it, which only a reader
//! of the rows compares, and one of itself: that one is compared whenever the record is read, and no damaged footer is
//! parsed.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use bytes::Bytes;
use crc32fast::Hasher;
use memchr::memmem;
use parquet::arrow::arrow_reader::{ArrowReaderOptions, ParquetRecordBatchReaderBuilder};
use parquet::arrow::parquet_to_arrow_schema;
use parquet::errors::ParquetError;
use parquet::file::metadata::{FileMetaData, ParquetMetaDataReader};
use serde::Deserialize;
use serde_json::Value;

use super::RowMemory;
use crate::error::{Error, Kind, Result, defect};
use crate::store::{Failure, Listed, Object};

/// Key of the record in the file's metadata.
pub(super) const KEY: &str = "dataaccess.task";
/// Bytes after the footer: its length, and `PAR1`.
const END: usize = 8;
/// The end of a file that is read first: usually all of its footer.
const FIRST: u64 = 64 << 10;
/// Most bytes of a footer, which is read as a whole: a response of 8 GiB with a thousand columns has as many. Who can
/// write to the folder could name any length.
const MAX_FOOTER: usize = 256 << 20;
/// Key before the checksum of the footer.
const SUM: &str = "\"tail_crc32\":\"";
/// Placeholder hashed in place of the checksum of the footer.
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
    /// The system or the store cannot read it.
    Failed(Failure),
    /// It is not what was written.
    Damaged(&'static str),
    /// It, or its rows, take more memory than this limit.
    TooLarge(u64),
}

/// What [`seal`] writes.
#[derive(Deserialize)]
struct Seal {
    record: Value,
    data_bytes: u64,
    data_crc32: String,
}

impl Footer {
    /// Reads the footer of a version of a file, or of the one that is there.
    ///
    /// # Errors
    /// Of the store, and damage of the footer. The data are not read.
    pub async fn read(file: &Object, version: Option<Listed>) -> Result<Self, Unreadable> {
        let (version, mut content) = file.read_end(version, FIRST).await?;
        loop {
            match Self::in_end(version.bytes, &content)? {
                Ok(footer) => return Ok(footer),
                Err(needed) if needed < version.bytes.saturating_sub(content.len() as u64) => {
                    content = file.read_range(&version, needed..version.bytes).await?;
                }
                Err(_) => return Err(NO_PARQUET),
            }
        }
    }

    /// The footer in the last bytes of a file of this size; or where the bytes begin that are needed.
    ///
    /// # Errors
    /// Damage of the footer.
    pub fn in_end(bytes: u64, content: &[u8]) -> Result<Result<Self, u64>, Unreadable> {
        match tail(content, bytes)? {
            Ok(tail) => Ok(Ok(Self::in_tail(bytes, tail)?.0)),
            Err(needed) => Ok(Err(needed)),
        }
    }

    /// Reads the footer and the rows.
    ///
    /// # Errors
    /// Of the store, any damage, and the limit on memory.
    pub async fn read_rows(file: &Object, memory: &RowMemory) -> Result<(Self, Vec<RecordBatch>), Unreadable> {
        memory.add(0)?;
        let content = file.read(memory.limit()).await?;
        Self::in_content(content.ok_or(Unreadable::TooLarge(memory.limit()))?, memory)
    }

    /// The footer and the rows in the content of a file.
    ///
    /// # Errors
    /// Any damage, and the limit on memory.
    pub fn in_content(content: Bytes, memory: &RowMemory) -> Result<(Self, Vec<RecordBatch>), Unreadable> {
        let bytes = content.len() as u64;
        let tail = tail(&content, bytes)?.map_err(|_| NO_PARQUET)?;
        let (part, data_crc32) = Self::in_tail(bytes, tail)?;
        let data = content.get(..content.len() - tail.len()).unwrap_or_default();
        if data_crc32 != format!("{:08x}", crc32fast::hash(data)) {
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

    /// The record in a [`tail`], and the checksum of the data.
    fn in_tail(bytes: u64, tail: &[u8]) -> Result<(Self, String), Unreadable> {
        let (written, computed) = sums(tail).ok_or(Unreadable::Damaged("its footer has no record of a task"))?;
        if written != computed {
            return Err(Unreadable::Damaged("its footer does not have the checksum that was written"));
        }
        let footer = tail.get(..tail.len() - END).unwrap_or_default();
        let metadata = undamaged("its footer cannot be decoded", || ParquetMetaDataReader::decode_metadata(footer))?;
        let metadata = metadata.file_metadata();
        let seal = value(metadata).and_then(|text| serde_json::from_str::<Seal>(text).ok());
        let Seal { record, data_bytes, data_crc32 } = seal.ok_or(Unreadable::Damaged("its footer has no record"))?;
        if bytes.checked_sub(tail.len() as u64) != Some(data_bytes) {
            return Err(Unreadable::Damaged("it has another size than its footer says"));
        }
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

/// The metadata of a part whose footer is not closed yet.
pub(super) fn seal(record: &Value, data_bytes: u64, data_sum: u32) -> String {
    let none = String::from_utf8_lossy(&NO_SUM);
    let data = format!("\"data_bytes\":{data_bytes},\"data_crc32\":\"{data_sum:08x}\"");
    format!("{{\"record\":{record},{data},{SUM}{none}\"}}")
}

/// Writes the checksum of a [`tail`] into it.
///
/// # Errors
/// `ResponseTooLarge` when no reader would accept a footer of this length, `Internal` when it has no [`seal`].
pub(super) fn close(tail: &mut [u8]) -> Result<()> {
    if tail.len() > MAX_FOOTER {
        let problem = format!("response too large: the footer of its Parquet file exceeds {MAX_FOOTER} bytes");
        return Err(Error::new(Kind::ResponseTooLarge, problem)
            .with(|details| (details.field, details.limit) = (Some("footer".to_owned()), Some(MAX_FOOTER as u64)))
            .with_hint("request fewer columns, or fewer rows in a request"));
    }
    let sum = sums(tail).map(|(_, computed)| computed);
    let place = place_of_sum(tail).and_then(|place| tail.get_mut(place..)?.first_chunk_mut());
    match (place, sum) {
        (Some(place), Some(sum)) => *place = sum,
        _ => return Err(defect("a part has no place for its checksum")),
    }
    Ok(())
}

/// Where the checksum of a footer is. A value of a record could hold the same text, but comes before it.
fn place_of_sum(tail: &[u8]) -> Option<usize> {
    memmem::rfind(tail, SUM.as_bytes()).map(|key| key + SUM.len())
}

/// The checksum that is written in a tail, and the one that it should have: CRC-32 in hexadecimal.
fn sums(tail: &[u8]) -> Option<([u8; 8], [u8; 8])> {
    let (before, rest) = tail.split_at_checked(place_of_sum(tail)?)?;
    let (written, after) = rest.split_first_chunk()?;
    let mut hasher = Hasher::new();
    for piece in [before, &NO_SUM, after] {
        hasher.update(piece);
    }
    Some((*written, format!("{:08x}", hasher.finalize()).into_bytes().try_into().ok()?))
}

const NO_PARQUET: Unreadable = Unreadable::Damaged("it does not end as a Parquet file does");

/// The footer and the [`END`] of a file of this size, in its last bytes; or where the bytes begin that are needed.
fn tail(content: &[u8], bytes: u64) -> Result<Result<&[u8], u64>, Unreadable> {
    let Some([l0, l1, l2, l3, b'P', b'A', b'R', b'1']) = content.last_chunk::<END>() else {
        let is_short = content.len() < END;
        return bytes.checked_sub(END as u64).filter(|_| is_short).map(Err).ok_or(NO_PARQUET);
    };
    let length = usize::try_from(u32::from_le_bytes([*l0, *l1, *l2, *l3])).map_or(usize::MAX, |length| length + END);
    let start = bytes.checked_sub(length as u64).ok_or(NO_PARQUET)?;
    if length > MAX_FOOTER {
        return Err(Unreadable::Damaged("its footer is longer than any that was written"));
    }
    Ok(content.len().checked_sub(length).and_then(|place| content.get(place..)).ok_or(start))
}

fn value(metadata: &FileMetaData) -> Option<&str> {
    let entries = metadata.key_value_metadata()?;
    entries.iter().find(|entry| entry.key == KEY)?.value.as_deref()
}

impl From<Failure> for Unreadable {
    fn from(failure: Failure) -> Self {
        Self::Failed(failure)
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
        let mut tail = vec![0; MAX_FOOTER + 1];
        let error = close(&mut tail).unwrap_err();
        assert_eq!((error.kind(), error.details().limit), (Kind::ResponseTooLarge, Some(MAX_FOOTER as u64)));
        tail.pop();
        assert_eq!(close(&mut tail).unwrap_err().kind(), Kind::Internal, "it has no place for a checksum");
    }
}
