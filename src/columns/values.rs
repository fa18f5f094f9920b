//! The values of a column of a batch, by the type of the column: the one place that looks into Arrow arrays.

use arrow_array::cast::AsArray as _;
use arrow_array::{
    Array as _, ArrayRef, BooleanArray, Float64Array, Int64Array, RecordBatch, StringArray, StringViewArray,
    TimestampMicrosecondArray,
};

use super::column_type::{ColumnType, Names};
use super::untyped::is_untyped;
use super::zoned::zone_of;
use crate::error::Result;

/// The values of a column.
#[derive(Clone, Copy, Debug)]
pub enum Values<'a> {
    /// Strings.
    Strings(Texts<'a>),
    /// Names of values, and other values as JSON.
    Names(Texts<'a>, Names),
    /// Any value as compact JSON.
    Json(Texts<'a>),
    /// Integers.
    Int64(&'a Int64Array),
    /// Floats.
    Float64(&'a Float64Array),
    /// `true` and `false`.
    Bool(&'a BooleanArray),
    /// Microseconds, and their time zone if they have one.
    Timestamp(&'a TimestampMicrosecondArray, Option<&'a str>),
    /// The number of nulls of a column without a type.
    Nulls(usize),
}

/// Strings in either of Arrow's layouts.
#[derive(Clone, Copy, Debug)]
pub enum Texts<'a> {
    /// In one buffer.
    Plain(&'a StringArray),
    /// As views.
    Views(&'a StringViewArray),
}

impl<'a> Values<'a> {
    /// The values of a column of a batch.
    ///
    /// # Errors
    /// `Internal` when it is no batch of this package.
    pub fn of_column(batch: &'a RecordBatch, column: usize) -> Result<Self> {
        let (field, array) = (batch.schema_ref().field(column), batch.column(column));
        if is_untyped(field) {
            return Ok(Self::Nulls(array.len()));
        }
        Ok(match ColumnType::of(field)? {
            ColumnType::String | ColumnType::StringOrJson => Self::Strings(texts(array)),
            ColumnType::Name(names) => Self::Names(texts(array), names),
            ColumnType::Json => Self::Json(texts(array)),
            ColumnType::Int64 => Self::Int64(array.as_primitive()),
            ColumnType::Float64 => Self::Float64(array.as_primitive()),
            ColumnType::Bool => Self::Bool(array.as_boolean()),
            ColumnType::Timestamp => Self::Timestamp(array.as_primitive(), zone_of(field.data_type())),
        })
    }

    /// Passes each value as the service writes it. Returns false for a type whose values it may write in several ways.
    pub fn each_written(self, mut take: impl FnMut(Option<&str>)) -> bool {
        match self {
            Self::Strings(texts) | Self::Names(texts, _) => texts.each(take),
            Self::Int64(numbers) => {
                numbers.iter().for_each(|number| take(number.map(|number| number.to_string()).as_deref()));
            }
            Self::Nulls(count) => (0..count).for_each(|_| take(None)),
            Self::Json(_) | Self::Float64(_) | Self::Bool(_) | Self::Timestamp(..) => return false,
        }
        true
    }
}

impl<'a> Texts<'a> {
    /// The text of a row that is not null.
    pub fn value(self, row: usize) -> &'a str {
        match self {
            Self::Plain(array) => array.value(row),
            Self::Views(array) => array.value(row),
        }
    }

    /// Passes the text of each row.
    pub fn each(self, take: impl FnMut(Option<&str>)) {
        match self {
            Self::Plain(array) => array.iter().for_each(take),
            Self::Views(array) => array.iter().for_each(take),
        }
    }
}

/// The strings of an array.
pub(super) fn texts(array: &ArrayRef) -> Texts<'_> {
    array.as_string_view_opt().map_or_else(|| Texts::Plain(array.as_string()), Texts::Views)
}
