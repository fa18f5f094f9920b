//! The cells of an Arrow column, by the kind of its attribute.
//!
//! Each type is read as it is: the kernel that converts any type into any other weighs more than the rest of arrow.

use std::fmt::Display;

use arrow_array::cast::AsArray;
use arrow_array::types::{
    ArrowPrimitiveType, Date32Type, Date64Type, Decimal32Type, Decimal64Type, Decimal128Type, Decimal256Type,
    DecimalType, Float16Type, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type,
    TimestampMicrosecondType, TimestampMillisecondType, TimestampNanosecondType, TimestampSecondType, UInt8Type,
    UInt16Type, UInt32Type, UInt64Type,
};
use arrow_array::{Array, ArrayRef};
use arrow_schema::{DataType, TimeUnit};

use crate::sandbox::{AttributeKind, Cell};

/// Reads the cell of a row, or returns why it is refused.
pub(super) type Reader = Box<dyn Fn(usize) -> Result<Cell, String> + Send>;

/// A decimal of up to so many digits survives the conversion to a double and back.
const EXACT_DIGITS: usize = 15;
const SECONDS_OF_A_DAY: i64 = 86_400;

/// The reader of a column, or why its type does not fit the attribute.
pub(super) fn reader(array: &ArrayRef, kind: AttributeKind) -> Result<Reader, String> {
    match (kind, array.data_type()) {
        (_, DataType::Null) => Ok(Box::new(|_| Ok(Cell::Null))),
        (_, DataType::Dictionary(_, _)) => dictionary(array, kind),
        (AttributeKind::Number, _) => number(array),
        (_, DataType::Utf8) => {
            let texts = array.as_string::<i32>().clone();
            Ok(nullable(array, move |row| Ok(texts.value(row).into())))
        }
        (_, DataType::LargeUtf8) => {
            let texts = array.as_string::<i64>().clone();
            Ok(nullable(array, move |row| Ok(texts.value(row).into())))
        }
        (_, DataType::Utf8View) => {
            let texts = array.as_string_view().clone();
            Ok(nullable(array, move |row| Ok(texts.value(row).into())))
        }
        (AttributeKind::Datetime, _) => time(array),
        (AttributeKind::Text, other) => Err(format!("it holds {other}, not strings")),
    }
}

fn dictionary(array: &ArrayRef, kind: AttributeKind) -> Result<Reader, String> {
    let dictionary = array.as_any_dictionary();
    let values = dictionary.values();
    let read = reader(values, kind)?;
    // Without values, all keys are null, and there is nothing that they could point to.
    let keys = if values.is_empty() { Vec::new() } else { dictionary.normalized_keys() };
    Ok(nullable(array, move |row| keys.get(row).map_or(Ok(Cell::Null), |key| read(*key))))
}

fn number(array: &ArrayRef) -> Result<Reader, String> {
    Ok(match array.data_type() {
        DataType::Int8 => integers::<Int8Type>(array),
        DataType::Int16 => integers::<Int16Type>(array),
        DataType::Int32 => integers::<Int32Type>(array),
        DataType::Int64 => integers::<Int64Type>(array),
        DataType::UInt8 => integers::<UInt8Type>(array),
        DataType::UInt16 => integers::<UInt16Type>(array),
        DataType::UInt32 => integers::<UInt32Type>(array),
        DataType::UInt64 => integers::<UInt64Type>(array),
        DataType::Float16 => floats::<Float16Type>(array),
        DataType::Float32 => floats::<Float32Type>(array),
        DataType::Float64 => floats::<Float64Type>(array),
        DataType::Decimal32(..) => decimals::<Decimal32Type>(array),
        DataType::Decimal64(..) => decimals::<Decimal64Type>(array),
        DataType::Decimal128(..) => decimals::<Decimal128Type>(array),
        DataType::Decimal256(..) => decimals::<Decimal256Type>(array),
        other => return Err(format!("it holds {other}, not numbers")),
    })
}

fn integers<T: ArrowPrimitiveType<Native: TryInto<i64> + Display>>(array: &ArrayRef) -> Reader {
    primitives::<T>(array, |number| {
        number.try_into().map(Cell::Integer).map_err(|_| format!("{number} is beyond 64 bits with a sign"))
    })
}

fn floats<T: ArrowPrimitiveType<Native: Into<f64>>>(array: &ArrayRef) -> Reader {
    primitives::<T>(array, |number| Ok(Cell::Number(number.into())))
}

fn decimals<T: DecimalType>(array: &ArrayRef) -> Reader {
    let decimals = array.as_primitive::<T>().clone();
    nullable(array, move |row| exact(&decimals.value_as_string(row)))
}

/// A decimal as a number, if that is exact.
fn exact(decimal: &str) -> Result<Cell, String> {
    let short = if decimal.contains('.') { decimal.trim_end_matches('0').trim_end_matches('.') } else { decimal };
    if let Ok(whole) = short.parse() {
        return Ok(Cell::Integer(whole));
    }
    let digits = short.trim_start_matches(['-', '0', '.']).bytes().filter(u8::is_ascii_digit).count();
    match short.parse() {
        Ok(number) if digits <= EXACT_DIGITS => Ok(Cell::Number(number)),
        _ => Err(format!("{decimal} has more digits than a number holds exactly")),
    }
}

/// A zone says how a time is shown; what is stored is UTC.
fn time(array: &ArrayRef) -> Result<Reader, String> {
    Ok(match array.data_type() {
        DataType::Date32 => primitives::<Date32Type>(array, |days| seconds(i64::from(days) * SECONDS_OF_A_DAY)),
        DataType::Date64 => times::<Date64Type>(array, 1_000),
        DataType::Timestamp(TimeUnit::Second, _) => times::<TimestampSecondType>(array, 1),
        DataType::Timestamp(TimeUnit::Millisecond, _) => times::<TimestampMillisecondType>(array, 1_000),
        DataType::Timestamp(TimeUnit::Microsecond, _) => times::<TimestampMicrosecondType>(array, 1_000_000),
        DataType::Timestamp(TimeUnit::Nanosecond, _) => times::<TimestampNanosecondType>(array, 1_000_000_000),
        other => return Err(format!("it holds {other}, not times")),
    })
}

fn times<T: ArrowPrimitiveType<Native = i64>>(array: &ArrayRef, units: i64) -> Reader {
    primitives::<T>(array, move |count| match count % units {
        0 => seconds(count / units),
        _ => Err("is not a time in whole seconds".to_owned()),
    })
}

fn seconds(since_epoch: i64) -> Result<Cell, String> {
    Cell::from_unix_seconds(since_epoch).ok_or_else(|| "is a time outside the years 1 to 9999".to_owned())
}

fn primitives<T: ArrowPrimitiveType>(
    array: &ArrayRef,
    read: impl Fn(T::Native) -> Result<Cell, String> + Send + 'static,
) -> Reader {
    let values = array.as_primitive::<T>().clone();
    nullable(array, move |row| read(values.value(row)))
}

/// A reader for a column with nulls; `read` is called for the other rows.
fn nullable(array: &ArrayRef, read: impl Fn(usize) -> Result<Cell, String> + Send + 'static) -> Reader {
    let nulls = array.logical_nulls();
    Box::new(move |row| match &nulls {
        Some(nulls) if nulls.is_null(row) => Ok(Cell::Null),
        _ => read(row),
    })
}
