//! Builds the Arrow array of one column, and checks each cell against the type of the column.
#![expect(
    clippy::inline_always,
    reason = "what runs for every value: a caller that knows the kind of cell needs a fraction of it"
)]

use std::sync::Arc;

use arrow_array::{ArrayRef, Float64Array, Int64Array, TimestampMicrosecondArray};

use super::column::Column;
use super::column_type::{ColumnType, Names};
use super::inferred::{Inferred, replay};
use super::numbers::{any_wide, as_float, float, integral};
use super::primitives::PrimitiveBuilder;
use super::strings::StringBuilder;
use super::untyped;
use crate::decode::{Bytes32, Cell, CellResult, TypeMismatch, integer};
use crate::error::Result;
use crate::time::{plain_wall_clock, wall_clock_microseconds};

/// Cells of one type, or of none yet.
///
/// The type has a byte of its own: what the compiler would save by hiding it in another field costs more to read.
#[derive(Debug)]
#[repr(u8)]
enum TypedCells {
    String(StringBuilder),
    StringOrJson(StringBuilder),
    Name(StringBuilder, Names),
    Json(StringBuilder),
    Int64(PrimitiveBuilder<i64>),
    Float64(PrimitiveBuilder<f64>),
    Bool(PrimitiveBuilder<bool>),
    Timestamp(PrimitiveBuilder<i64>),
    Inferred(Inferred),
}

/// Runs the same expression for cells of any type.
macro_rules! each {
    ($cells:expr, $name:ident => $does:expr) => {
        match $cells {
            TypedCells::String($name)
            | TypedCells::StringOrJson($name)
            | TypedCells::Name($name, _)
            | TypedCells::Json($name) => $does,
            TypedCells::Int64($name) | TypedCells::Timestamp($name) => $does,
            TypedCells::Float64($name) => $does,
            TypedCells::Bool($name) => $does,
            TypedCells::Inferred($name) => $does,
        }
    };
}

/// The name of a value, if it has one.
fn name_of(cell: Cell, names: Names) -> Option<&'static str> {
    let (Cell::Integer(digits) | Cell::Number(digits)) = cell else { return None };
    let value = integral(digits)?;
    names.iter().find(|(_, known)| *known == value).map(|(name, _)| *name)
}

/// Appends a time without a fraction.
// Not inlined: it needs all registers.
#[inline(never)]
fn push_time(cells: &mut PrimitiveBuilder<i64>, text: &Bytes32, length: usize) -> bool {
    let plain = text.first_chunk::<19>().filter(|plain| plain.len() == length);
    cells.push(plain.and_then(plain_wall_clock))
}

/// Builds the array of one column.
#[derive(Debug)]
pub(super) struct Builder {
    pub(super) column: Column,
    cells: TypedCells,
    /// Whether an earlier batch had integers that a float may not hold.
    had_wide: bool,
    /// Whether there was another value in a column of strings.
    had_others: bool,
}

impl Builder {
    pub(super) fn new(column: &Column, views: bool) -> Self {
        let cells = match column.column_type {
            Some(ColumnType::String) => TypedCells::String(StringBuilder::new(views)),
            Some(ColumnType::StringOrJson) => TypedCells::StringOrJson(StringBuilder::new(views)),
            Some(ColumnType::Name(names)) => TypedCells::Name(StringBuilder::new(views), names),
            Some(ColumnType::Json) => TypedCells::Json(StringBuilder::new(views)),
            Some(ColumnType::Int64) => TypedCells::Int64(PrimitiveBuilder::default()),
            Some(ColumnType::Float64) => TypedCells::Float64(PrimitiveBuilder::default()),
            Some(ColumnType::Bool) => TypedCells::Bool(PrimitiveBuilder::default()),
            Some(ColumnType::Timestamp) => TypedCells::Timestamp(PrimitiveBuilder::default()),
            None => TypedCells::Inferred(Inferred::new()),
        };
        Self { column: column.clone(), cells, had_wide: false, had_others: false }
    }

    /// Appends a cell, unless it does not fit the type.
    #[inline(always)]
    pub(super) fn push(&mut self, cell: Cell) -> CellResult {
        let fits = match (&mut self.cells, cell) {
            (cells, Cell::Null) => each!(cells, cells => cells.push_null()),
            (TypedCells::Inferred(cells), cell) => cells.push(cell),
            (
                TypedCells::String(cells) | TypedCells::StringOrJson(cells) | TypedCells::Name(cells, _),
                Cell::String(text),
            ) => cells.push(text),
            (TypedCells::Name(cells, names), cell) => match name_of(cell, names) {
                Some(name) => cells.push(name),
                None => cells.push_json(cell),
            },
            (TypedCells::Json(cells), Cell::String(text)) => !self.column.is_assumed && cells.push_quoted(text),
            (TypedCells::Json(cells), cell) => cells.push_json(cell),
            (TypedCells::StringOrJson(cells), cell) => {
                self.had_others = true;
                cells.push_json(cell)
            }
            (TypedCells::Int64(cells), Cell::Integer(digits)) => cells.push(integer(digits)),
            (TypedCells::Int64(cells), Cell::Number(number)) => cells.push(integral(number)),
            (TypedCells::Float64(cells), Cell::Integer(number) | Cell::Number(number)) => cells.push(float(number)),
            (TypedCells::Bool(cells), Cell::Bool(value)) => cells.push(Some(value)),
            (TypedCells::Timestamp(cells), Cell::String(text)) => cells.push(wall_clock_microseconds(text)),
            (
                TypedCells::String(_)
                | TypedCells::Int64(_)
                | TypedCells::Float64(_)
                | TypedCells::Bool(_)
                | TypedCells::Timestamp(_),
                _,
            ) => false,
        };
        if fits || self.widen(cell) { Ok(()) } else { Err(self.mismatch(cell)) }
    }

    /// Appends a number with a fraction to integers, which become floats, if the column may have either.
    #[cold]
    fn widen(&mut self, cell: Cell) -> bool {
        let has_wide = self.has_wide();
        let (TypedCells::Int64(cells), Cell::Number(number)) = (&mut self.cells, cell) else { return false };
        let Some(value) = float(number).filter(|_| self.column.widens && !has_wide) else { return false };
        let mut floats = cells.mapped(as_float);
        floats.push(Some(value));
        self.cells = TypedCells::Float64(floats);
        self.column.column_type = Some(ColumnType::Float64);
        true
    }

    /// Appends a string of ASCII characters: the first `length` of the block. Returns false if another way has to be
    /// taken, or none.
    #[inline(always)]
    pub(super) fn push_short_string(&mut self, text: &Bytes32, length: usize) -> bool {
        match &mut self.cells {
            TypedCells::String(cells) | TypedCells::StringOrJson(cells) | TypedCells::Name(cells, _) => {
                cells.push_short(text, length)
            }
            TypedCells::Timestamp(cells) => push_time(cells, text, length),
            TypedCells::Inferred(cells) => cells.push_short_string(text, length),
            TypedCells::Json(_) | TypedCells::Int64(_) | TypedCells::Float64(_) | TypedCells::Bool(_) => false,
        }
    }

    /// Appends an integer, which is also the first `length` bytes of the block. Returns false if another way has to
    /// be taken, or none.
    #[inline(always)]
    pub(super) fn push_short_integer(&mut self, integer: i32, written: &Bytes32, length: usize) -> bool {
        match &mut self.cells {
            TypedCells::Int64(cells) => cells.push(Some(integer.into())),
            TypedCells::Float64(cells) => cells.push(Some(integer.into())),
            TypedCells::StringOrJson(cells) => {
                self.had_others = true;
                cells.push_short(written, length)
            }
            TypedCells::Json(cells) => cells.push_short(written, length),
            TypedCells::Inferred(cells) => cells.push_short_integer(written, length),
            TypedCells::String(_) | TypedCells::Name(..) | TypedCells::Bool(_) | TypedCells::Timestamp(_) => false,
        }
    }

    /// What the column accepts, and a type that accepts this cell and all before it.
    #[cold]
    fn mismatch(&self, cell: Cell) -> TypeMismatch {
        let expected = match self.cells {
            TypedCells::String(_) => "a string",
            TypedCells::Int64(_) => "a 64-bit integer",
            TypedCells::Float64(_) => "a number that a 64-bit float holds, integers exactly",
            TypedCells::Bool(_) => "true or false",
            TypedCells::Timestamp(_) => "a time as `YYYY-MM-DD HH:MM:SS`, without a time zone",
            TypedCells::Json(_) if self.column.is_assumed => "no string, as before",
            TypedCells::StringOrJson(_) | TypedCells::Name(..) | TypedCells::Json(_) | TypedCells::Inferred(_) => {
                "any value"
            }
        };
        let is_float = |number| float(number).is_some() && !self.has_wide();
        let suggested_type = match (&self.cells, cell) {
            (TypedCells::Int64(_), Cell::Number(number)) if is_float(number) => ColumnType::Float64,
            // There was no value before.
            (TypedCells::String(_), cell) if self.column.is_assumed => untyped::suggested(cell),
            // Strings stay as they are, and other values are their JSON.
            _ => ColumnType::String,
        };
        TypeMismatch { expected, suggested_type: Some(suggested_type.name()) }
    }

    /// Whether there were integers that a float may not hold.
    fn has_wide(&self) -> bool {
        self.had_wide || matches!(&self.cells, TypedCells::Int64(cells) if any_wide(&cells.cells))
    }

    pub(super) fn truncate(&mut self, length: usize) {
        each!(&mut self.cells, cells => cells.truncate(length));
    }

    pub(super) fn reserve(&mut self) {
        each!(&mut self.cells, cells => cells.reserve());
    }

    /// Gives an inferred column the narrowest type of its cells, permanently. One without any value stays without a type.
    pub(super) fn freeze(&mut self, views: bool) -> Result<()> {
        if let TypedCells::Inferred(cells) = &mut self.cells {
            let values = cells.finish(true)?;
            let column_type = Inferred::observed(&values).narrowest();
            *self = Self::new(&Column { column_type, ..self.column.clone() }, views);
            replay(&values, self)?;
        }
        Ok(())
    }

    /// Whether a column of strings whose type is assumed had another value so far.
    pub(super) fn is_mixed(&self) -> bool {
        self.column.is_assumed && self.had_others
    }

    /// Takes all cells as an array; the memory of all but the last comes back. See [`Inferred::finish`] for those
    /// without a type.
    pub(super) fn finish(&mut self, is_last: bool) -> Result<ArrayRef> {
        self.had_wide = self.has_wide();
        Ok(match &mut self.cells {
            TypedCells::String(cells)
            | TypedCells::StringOrJson(cells)
            | TypedCells::Name(cells, _)
            | TypedCells::Json(cells) => cells.finish(is_last)?,
            TypedCells::Int64(cells) => cells.finish(is_last, Int64Array::new),
            TypedCells::Float64(cells) => cells.finish(is_last, Float64Array::new),
            TypedCells::Bool(cells) => cells.finish_bits(),
            TypedCells::Timestamp(cells) => cells.finish(is_last, TimestampMicrosecondArray::new),
            TypedCells::Inferred(cells) => Arc::new(cells.finish(is_last)?),
        })
    }
}
