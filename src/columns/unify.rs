//! Batches of a sink that widens, brought to one schema: the widest types that any of them needs.

use std::sync::Arc;

use arrow_array::cast::AsArray as _;
use arrow_array::{Array as _, ArrayRef, RecordBatch, new_null_array};
use arrow_cast::cast;
use arrow_schema::{DataType, Field, Schema, SchemaRef};

use super::batch::{assemble, defect, seen_of};
use super::builder::Builder;
use super::inferred::ObservedTypes;
use super::types::{Column, Kind, Type, fixed_type};
use crate::error::Result;

/// Brings all batches of sinks that widen ([`super::Options::widen`]) to one schema, which is known also when
/// there are none. A column without values becomes text.
///
/// # Errors
/// `Internal` when the batches are not of these columns.
pub fn unify(columns: &[Column], views: bool, batches: Vec<RecordBatch>) -> Result<(SchemaRef, Vec<RecordBatch>)> {
    let types = columns
        .iter()
        .enumerate()
        .map(|(place, column)| match fixed_type(column.kind) {
            Some(of_column) => Ok(of_column),
            None => widest(&batches, place),
        })
        .collect::<Result<Vec<Type>>>()?;
    let fields = columns.iter().zip(&types);
    let fields: Vec<Field> = fields.map(|(column, of_column)| of_column.field(&column.name, views)).collect();
    let schema = Arc::new(Schema::new(fields));
    let widened = batches.into_iter().map(|batch| widen(&batch, columns, &types, views, &schema));
    let widened = widened.collect::<Result<Vec<_>>>()?;
    Ok((schema, widened))
}

/// The type that holds what all batches have in a column.
fn widest(batches: &[RecordBatch], place: usize) -> Result<Type> {
    let mut seen = ObservedTypes::NOTHING;
    for batch in batches {
        seen = seen | seen_of(batch, place)?;
    }
    Ok(seen.narrowest().unwrap_or(Type::Text))
}

fn widen(
    batch: &RecordBatch,
    columns: &[Column],
    types: &[Type],
    views: bool,
    schema: &SchemaRef,
) -> Result<RecordBatch> {
    let mut arrays = Vec::with_capacity(columns.len());
    for (place, (column, wanted)) in columns.iter().zip(types).enumerate() {
        let array = batch.columns().get(place).ok_or_else(|| defect("a batch has too few columns"))?;
        arrays.push(match column.kind {
            Kind::Inferred => widen_array(array, seen_of(batch, place)?, *wanted, views)?,
            _ => Arc::clone(array),
        });
    }
    assemble(schema, arrays, batch.num_rows())
}

/// The values of an array whose type came from what was seen, in a type that holds them too.
fn widen_array(array: &ArrayRef, seen: ObservedTypes, wanted: Type, views: bool) -> Result<ArrayRef> {
    let (kind, is_there) = match seen.widenable() {
        None => return Ok(new_null_array(&wanted.data_type(views), array.len())),
        Some(Type::Int64) => (ObservedTypes::INTEGER, wanted == Type::Int64),
        Some(Type::Bool) => (ObservedTypes::BOOL, wanted == Type::Bool),
        Some(Type::Text | Type::Timestamp) => (ObservedTypes::TEXT, wanted == Type::Text),
        // These are JSON: numbers, unless that is wanted too.
        Some(Type::Float64 | Type::Json) => (ObservedTypes::POINT, wanted == Type::Json),
    };
    if is_there {
        return Ok(Arc::clone(array));
    }
    let written = cast(array, &DataType::Utf8).map_err(|error| defect("a column has no text").with_source(error))?;
    let mut builder = Builder::new(Kind::Fixed(wanted), views);
    for text in written.as_string::<i32>() {
        let kind = if text.is_some() { kind } else { ObservedTypes::NOTHING };
        kind.hand_on(text.unwrap_or_default(), &mut builder)?;
    }
    builder.finish()
}
