//! The cells of one column on their way into an Arrow array, each held against the column's type.

use std::sync::Arc;

use arrow_array::{ArrayRef, BooleanArray, Float64Array, Int64Array, TimestampMicrosecondArray};

use super::inferred::{Inferred, ObservedTypes};
use super::numbers::{are_wide, float, integer, whole};
use super::primitive_builder::PrimitiveBuilder;
use super::string_builder::StringBuilder;
use super::types::{Kind, Type};
use crate::decode::{CellResult, TypeMismatch};
use crate::error::Result;
use crate::time::wall_clock_microseconds;

/// Cells of one type, or of none yet.
#[derive(Debug)]
enum Cells {
    Text(StringBuilder),
    /// Text, and all else as its compact JSON.
    StringOrJson(StringBuilder),
    /// Everything as its compact JSON.
    Json(StringBuilder),
    Int64(PrimitiveBuilder<i64>),
    Float64(PrimitiveBuilder<f64>),
    Bool(PrimitiveBuilder<bool>),
    Timestamp(PrimitiveBuilder<i64>),
    Inferred(Inferred),
}

/// The same for cells of any type.
macro_rules! each {
    ($cells:expr, $name:ident => $does:expr) => {
        match $cells {
            Cells::Text($name) | Cells::StringOrJson($name) | Cells::Json($name) => $does,
            Cells::Int64($name) | Cells::Timestamp($name) => $does,
            Cells::Float64($name) => $does,
            Cells::Bool($name) => $does,
            Cells::Inferred($name) => $does,
        }
    };
}

/// Builds the array of one column.
#[derive(Debug)]
pub(super) struct Builder {
    cells: Cells,
    /// What to propose for a value that does not fit: a type that takes every value.
    suggested_type: Type,
    /// Whether a batch that is gone had whole numbers that a float may not hold.
    had_wide: bool,
}

impl Builder {
    pub(super) fn new(kind: Kind, views: bool) -> Self {
        let cells = match kind {
            Kind::Fixed(of_column) | Kind::Settled(of_column) => match of_column {
                Type::Text => Cells::Text(StringBuilder::new(views)),
                Type::Json => Cells::Json(StringBuilder::new(views)),
                Type::Int64 => Cells::Int64(PrimitiveBuilder::default()),
                Type::Float64 => Cells::Float64(PrimitiveBuilder::default()),
                Type::Bool => Cells::Bool(PrimitiveBuilder::default()),
                Type::Timestamp => Cells::Timestamp(PrimitiveBuilder::default()),
            },
            Kind::StringOrJson => Cells::StringOrJson(StringBuilder::new(views)),
            Kind::Inferred => Cells::Inferred(Inferred::new(views)),
        };
        Self {
            cells,
            suggested_type: if matches!(kind, Kind::Settled(_)) { Type::Json } else { Type::Text },
            had_wide: false,
        }
    }

    #[inline]
    pub(super) fn null(&mut self) {
        each!(&mut self.cells, cells => cells.push_null());
    }

    #[inline]
    pub(super) fn bool(&mut self, value: bool) -> CellResult {
        let json = if value { "true" } else { "false" };
        match &mut self.cells {
            Cells::Bool(cells) => cells.push(value),
            Cells::StringOrJson(cells) | Cells::Json(cells) => cells.push(json),
            Cells::Inferred(cells) => cells.push(ObservedTypes::BOOL, json),
            _ => return self.misfit(),
        }
        Ok(())
    }

    #[inline]
    pub(super) fn integer(&mut self, digits: &str) -> CellResult {
        match &mut self.cells {
            Cells::Int64(cells) => match integer(digits) {
                Some(value) => cells.push(value),
                None => return self.misfit(),
            },
            Cells::Float64(cells) => match float(digits) {
                Some(value) => cells.push(value),
                None => return self.misfit(),
            },
            Cells::StringOrJson(cells) | Cells::Json(cells) => cells.push(digits),
            Cells::Inferred(cells) => cells.push(ObservedTypes::integer(digits), digits),
            _ => return self.misfit(),
        }
        Ok(())
    }

    #[inline]
    pub(super) fn number(&mut self, text: &str) -> CellResult {
        match &mut self.cells {
            Cells::Float64(cells) => match float(text) {
                Some(value) => cells.push(value),
                None => return self.misfit(),
            },
            Cells::Int64(cells) => match whole(text) {
                Some(value) => cells.push(value),
                None => return self.no_integer(text),
            },
            Cells::StringOrJson(cells) | Cells::Json(cells) => cells.push(text),
            Cells::Inferred(cells) => cells.push(ObservedTypes::number(text), text),
            _ => return self.misfit(),
        }
        Ok(())
    }

    #[inline]
    pub(super) fn text(&mut self, text: &str) -> CellResult {
        match &mut self.cells {
            Cells::Text(cells) | Cells::StringOrJson(cells) => cells.push(text),
            Cells::Timestamp(cells) => match wall_clock_microseconds(text) {
                Some(value) => cells.push(value),
                None => return self.misfit(),
            },
            Cells::Json(cells) => cells.push_quoted(text),
            Cells::Inferred(cells) => cells.push(ObservedTypes::TEXT, text),
            _ => return self.misfit(),
        }
        Ok(())
    }

    pub(super) fn nested(&mut self, json: &str) -> CellResult {
        match &mut self.cells {
            Cells::StringOrJson(cells) | Cells::Json(cells) => cells.push_compact(json),
            Cells::Inferred(cells) => cells.push(ObservedTypes::NESTED, json),
            _ => return self.misfit(),
        }
        Ok(())
    }

    /// What the column takes, for a value that it does not take.
    #[cold]
    fn misfit(&self) -> CellResult {
        self.misfit_for(self.suggested_type)
    }

    /// A number that is not whole: a float is proposed only where it surely holds all of the column too.
    #[cold]
    fn no_integer(&self, number: &str) -> CellResult {
        let is_float = float(number).is_some() && !self.has_wide();
        self.misfit_for(if is_float { Type::Float64 } else { self.suggested_type })
    }

    fn misfit_for(&self, suggested_type: Type) -> CellResult {
        let expected = match self.cells {
            Cells::Text(_) => "a text",
            Cells::Int64(_) => "a whole number of 64 bits",
            Cells::Float64(_) => "a number that a 64-bit float holds, whole numbers exactly",
            Cells::Bool(_) => "true or false",
            Cells::Timestamp(_) => "a time as `YYYY-MM-DD HH:MM:SS`, without a zone",
            Cells::StringOrJson(_) | Cells::Json(_) | Cells::Inferred(_) => "any value",
        };
        Err(TypeMismatch { expected, suggested_type: Some(suggested_type.name()) })
    }

    /// Whether there were whole numbers that a float may not hold.
    fn has_wide(&self) -> bool {
        self.had_wide || matches!(&self.cells, Cells::Int64(cells) if are_wide(cells.as_slice()))
    }

    /// Forgets all but the first cells.
    pub(super) fn truncate(&mut self, length: usize) {
        each!(&mut self.cells, cells => cells.truncate(length));
    }

    /// Makes room for an array as large as the last.
    pub(super) fn reserve(&mut self) {
        each!(&mut self.cells, cells => cells.reserve());
    }

    /// What was seen of a column whose type is not settled.
    pub(super) fn seen(&self) -> Option<ObservedTypes> {
        match &self.cells {
            Cells::Inferred(cells) => Some(cells.seen()),
            _ => None,
        }
    }

    /// The type of a column that has one.
    pub(super) fn column_type(&self) -> Option<Type> {
        match &self.cells {
            Cells::Text(_) | Cells::StringOrJson(_) => Some(Type::Text),
            Cells::Json(_) => Some(Type::Json),
            Cells::Int64(_) => Some(Type::Int64),
            Cells::Float64(_) => Some(Type::Float64),
            Cells::Bool(_) => Some(Type::Bool),
            Cells::Timestamp(_) => Some(Type::Timestamp),
            Cells::Inferred(_) => None,
        }
    }

    /// Gives an inferred column the narrowest type of what it has seen, for good. One without values becomes text.
    pub(super) fn freeze(&mut self) -> Result<()> {
        if let Cells::Inferred(cells) = &mut self.cells {
            let frozen = cells.seen().narrowest().unwrap_or(Type::Text);
            let mut builder = Self::new(Kind::Settled(frozen), cells.views());
            cells.replay_into(&mut builder)?;
            *self = builder;
        }
        Ok(())
    }

    /// The array of all cells; the builder begins anew.
    pub(super) fn finish(&mut self) -> Result<ArrayRef> {
        self.had_wide = self.has_wide();
        Ok(match &mut self.cells {
            Cells::Text(cells) | Cells::StringOrJson(cells) | Cells::Json(cells) => cells.finish()?,
            Cells::Int64(cells) => {
                let (values, nulls) = cells.finish();
                Arc::new(Int64Array::new(values.into(), nulls))
            }
            Cells::Float64(cells) => {
                let (values, nulls) = cells.finish();
                Arc::new(Float64Array::new(values.into(), nulls))
            }
            Cells::Bool(cells) => {
                let (values, nulls) = cells.finish();
                Arc::new(BooleanArray::new(values.into(), nulls))
            }
            Cells::Timestamp(cells) => {
                let (values, nulls) = cells.finish();
                Arc::new(TimestampMicrosecondArray::new(values.into(), nulls))
            }
            Cells::Inferred(cells) => cells.finish()?,
        })
    }
}
