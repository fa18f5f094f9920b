//! Builds the Arrow array of one column, and checks each cell against the type of the column.

use std::sync::Arc;

use arrow_array::{ArrayRef, Float64Array, Int64Array, TimestampMicrosecondArray};

use super::inferred::{Inferred, replay};
use super::numbers::{any_wide, float, integral};
use super::primitive_builder::PrimitiveBuilder;
use super::string_builder::StringBuilder;
use super::types::{Column, Names, Type};
use crate::decode::{Block, Cell, CellResult, TypeMismatch, integer};
use crate::error::Result;
use crate::time::{plain_wall_clock, wall_clock_microseconds};

/// Cells of one type, or of none yet.
///
/// The type has a byte of its own: what the compiler would save by hiding it in another field costs more to read.
#[derive(Debug)]
#[repr(u8)]
enum Cells {
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
            Cells::String($name) | Cells::StringOrJson($name) | Cells::Name($name, _) | Cells::Json($name) => $does,
            Cells::Int64($name) | Cells::Timestamp($name) => $does,
            Cells::Float64($name) => $does,
            Cells::Bool($name) => $does,
            Cells::Inferred($name) => $does,
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
fn push_time(cells: &mut PrimitiveBuilder<i64>, text: &Block, length: usize) -> bool {
    let plain = text.first_chunk::<19>().filter(|plain| plain.len() == length);
    cells.push(plain.and_then(plain_wall_clock))
}

/// Builds the array of one column.
#[derive(Debug)]
pub(super) struct Builder {
    column: Column,
    cells: Cells,
    /// Whether an earlier batch had integers that a float may not hold.
    had_wide: bool,
}

impl Builder {
    pub(super) fn new(column: &Column, views: bool) -> Self {
        let cells = match column.column_type {
            Some(Type::String) => Cells::String(StringBuilder::new(views)),
            Some(Type::StringOrJson) => Cells::StringOrJson(StringBuilder::new(views)),
            Some(Type::Name(names)) => Cells::Name(StringBuilder::new(views), names),
            Some(Type::Json) => Cells::Json(StringBuilder::new(views)),
            Some(Type::Int64) => Cells::Int64(PrimitiveBuilder::default()),
            Some(Type::Float64) => Cells::Float64(PrimitiveBuilder::default()),
            Some(Type::Bool) => Cells::Bool(PrimitiveBuilder::default()),
            Some(Type::Timestamp | Type::TimeOrString) => Cells::Timestamp(PrimitiveBuilder::default()),
            None => Cells::Inferred(Inferred::new()),
        };
        Self { column: column.clone(), cells, had_wide: false }
    }

    pub(super) fn column(&self) -> &Column {
        &self.column
    }

    /// Appends a cell, unless it does not fit the type.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "a caller that knows the variant of the cell needs a fraction of this")]
    pub(super) fn push(&mut self, cell: Cell) -> CellResult {
        let fits = match (&mut self.cells, cell) {
            (cells, Cell::Null) => each!(cells, cells => cells.push_null()),
            (Cells::Inferred(cells), cell) => cells.push(cell),
            (Cells::String(cells) | Cells::StringOrJson(cells) | Cells::Name(cells, _), Cell::String(text)) => {
                cells.push(text)
            }
            (Cells::Name(cells, names), cell) => match name_of(cell, names) {
                Some(name) => cells.push(name),
                None => cells.push_json(cell),
            },
            (Cells::Json(cells), Cell::String(text)) => cells.push_quoted(text),
            (Cells::StringOrJson(cells) | Cells::Json(cells), cell) => cells.push_json(cell),
            (Cells::Int64(cells), Cell::Integer(digits)) => cells.push(integer(digits)),
            (Cells::Int64(cells), Cell::Number(number)) => cells.push(integral(number)),
            (Cells::Float64(cells), Cell::Integer(number) | Cell::Number(number)) => cells.push(float(number)),
            (Cells::Bool(cells), Cell::Bool(value)) => cells.push(Some(value)),
            (Cells::Timestamp(cells), Cell::String(text)) => cells.push(wall_clock_microseconds(text)),
            _ => false,
        };
        if fits { Ok(()) } else { Err(self.mismatch(cell)) }
    }

    /// Appends a string of ASCII characters: the first `length` of the block. Returns false if another way has to be
    /// taken, or none.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "runs for every string")]
    pub(super) fn push_short_string(&mut self, text: &Block, length: usize) -> bool {
        match &mut self.cells {
            Cells::String(cells) | Cells::StringOrJson(cells) | Cells::Name(cells, _) => cells.push_short(text, length),
            Cells::Timestamp(cells) => push_time(cells, text, length),
            Cells::Inferred(cells) => cells.push_short_string(text, length),
            Cells::Json(_) | Cells::Int64(_) | Cells::Float64(_) | Cells::Bool(_) => false,
        }
    }

    /// Appends an integer, which is also the first `length` bytes of the block. Returns false as above.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "runs for every integer")]
    pub(super) fn push_short_integer(&mut self, integer: i32, written: &Block, length: usize) -> bool {
        match &mut self.cells {
            Cells::Int64(cells) => cells.push(Some(integer.into())),
            Cells::Float64(cells) => cells.push(Some(integer.into())),
            Cells::StringOrJson(cells) | Cells::Json(cells) => cells.push_short(written, length),
            Cells::Inferred(cells) => cells.push_short_integer(written, length),
            Cells::String(_) | Cells::Name(..) | Cells::Bool(_) | Cells::Timestamp(_) => false,
        }
    }

    /// What the column accepts, and a type that accepts this cell and all before it.
    #[cold]
    fn mismatch(&self, cell: Cell) -> TypeMismatch {
        let expected = match self.cells {
            Cells::String(_) => "a string",
            Cells::Int64(_) => "a 64-bit integer",
            Cells::Float64(_) => "a number that a 64-bit float holds, integers exactly",
            Cells::Bool(_) => "true or false",
            Cells::Timestamp(_) => "a time as `YYYY-MM-DD HH:MM:SS`, without a time zone",
            Cells::StringOrJson(_) | Cells::Name(..) | Cells::Json(_) | Cells::Inferred(_) => "any value",
        };
        let is_float = |number| float(number).is_some() && !self.has_wide();
        let suggested_type = match (&self.cells, cell) {
            (Cells::Int64(_), Cell::Number(number)) if is_float(number) => Type::Float64,
            // The types of values to come are unknown too: only JSON keeps them apart.
            _ if self.column.is_inferred => Type::Json,
            _ => Type::String,
        };
        TypeMismatch { expected, suggested_type: Some(suggested_type.name()) }
    }

    /// Whether there were integers that a float may not hold.
    fn has_wide(&self) -> bool {
        self.had_wide || matches!(&self.cells, Cells::Int64(cells) if any_wide(cells.as_slice()))
    }

    /// Drops all but the first cells.
    pub(super) fn truncate(&mut self, length: usize) {
        each!(&mut self.cells, cells => cells.truncate(length));
    }

    /// Reserves memory for an array as large as the last.
    pub(super) fn reserve(&mut self) {
        each!(&mut self.cells, cells => cells.reserve());
    }

    /// Gives an inferred column the narrowest type of its cells, permanently.
    pub(super) fn freeze(&mut self, views: bool) -> Result<()> {
        if let Cells::Inferred(cells) = &mut self.cells {
            let values = cells.finish(true)?;
            let column_type = Some(Inferred::observed(&values).narrowest());
            *self = Self::new(&Column { column_type, ..self.column.clone() }, views);
            replay(&values, self)?;
        }
        Ok(())
    }

    /// Takes all cells as an array; the memory of all but the last comes back. See [`Inferred::finish`] for those
    /// without a type.
    pub(super) fn finish(&mut self, is_last: bool) -> Result<ArrayRef> {
        self.had_wide = self.has_wide();
        Ok(match &mut self.cells {
            Cells::String(cells) | Cells::StringOrJson(cells) | Cells::Name(cells, _) | Cells::Json(cells) => {
                cells.finish(is_last)?
            }
            Cells::Int64(cells) => cells.finish(is_last, Int64Array::new),
            Cells::Float64(cells) => cells.finish(is_last, Float64Array::new),
            Cells::Bool(cells) => cells.finish_bits(),
            Cells::Timestamp(cells) => cells.finish(is_last, TimestampMicrosecondArray::new),
            Cells::Inferred(cells) => Arc::new(cells.finish(is_last)?),
        })
    }
}
