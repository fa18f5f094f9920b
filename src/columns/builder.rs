//! The cells of one column on their way into an Arrow array, each held against the column's type.

use std::sync::Arc;

use arrow_array::{ArrayRef, BooleanArray, Float64Array, Int64Array, TimestampMicrosecondArray};

use super::inferred::{Inferred, Seen};
use super::numbers::{are_wide, float, integer, whole};
use super::texts::Texts;
use super::types::{Kind, Type};
use super::values::Values;
use crate::decode::{Fit, Misfit};
use crate::error::Result;
use crate::time::wall_clock_microseconds;

/// Cells of one type, or of none yet.
#[derive(Debug)]
enum Cells {
    Text(Texts),
    /// Text, and all else as its compact JSON.
    Loose(Texts),
    /// Everything as its compact JSON.
    Json(Texts),
    Int64(Values<i64>),
    Float64(Values<f64>),
    Bool(Values<bool>),
    Timestamp(Values<i64>),
    Inferred(Inferred),
}

/// The same for cells of any type.
macro_rules! each {
    ($cells:expr, $name:ident => $does:expr) => {
        match $cells {
            Cells::Text($name) | Cells::Loose($name) | Cells::Json($name) => $does,
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
    mend: Type,
    /// Whether a batch that is gone had whole numbers that a float may not hold.
    had_wide: bool,
}

impl Builder {
    pub(super) fn new(kind: Kind, views: bool) -> Self {
        let cells = match kind {
            Kind::Fixed(of_column) | Kind::Settled(of_column) => match of_column {
                Type::Text => Cells::Text(Texts::new(views)),
                Type::Json => Cells::Json(Texts::new(views)),
                Type::Int64 => Cells::Int64(Values::default()),
                Type::Float64 => Cells::Float64(Values::default()),
                Type::Bool => Cells::Bool(Values::default()),
                Type::Timestamp => Cells::Timestamp(Values::default()),
            },
            Kind::Loose => Cells::Loose(Texts::new(views)),
            Kind::Inferred => Cells::Inferred(Inferred::new(views)),
        };
        Self { cells, mend: if matches!(kind, Kind::Settled(_)) { Type::Json } else { Type::Text }, had_wide: false }
    }

    #[inline]
    pub(super) fn null(&mut self) {
        each!(&mut self.cells, cells => cells.push_null());
    }

    #[inline]
    pub(super) fn bool(&mut self, value: bool) -> Fit {
        let json = if value { "true" } else { "false" };
        match &mut self.cells {
            Cells::Bool(cells) => cells.push(value),
            Cells::Loose(cells) | Cells::Json(cells) => cells.push(json),
            Cells::Inferred(cells) => cells.push(Seen::BOOL, json),
            _ => return self.misfit(),
        }
        Ok(())
    }

    #[inline]
    pub(super) fn integer(&mut self, digits: &str) -> Fit {
        match &mut self.cells {
            Cells::Int64(cells) => match integer(digits) {
                Some(value) => cells.push(value),
                None => return self.misfit(),
            },
            Cells::Float64(cells) => match float(digits) {
                Some(value) => cells.push(value),
                None => return self.misfit(),
            },
            Cells::Loose(cells) | Cells::Json(cells) => cells.push(digits),
            Cells::Inferred(cells) => cells.push(Seen::integer(digits), digits),
            _ => return self.misfit(),
        }
        Ok(())
    }

    #[inline]
    pub(super) fn number(&mut self, text: &str) -> Fit {
        match &mut self.cells {
            Cells::Float64(cells) => match float(text) {
                Some(value) => cells.push(value),
                None => return self.misfit(),
            },
            Cells::Int64(cells) => match whole(text) {
                Some(value) => cells.push(value),
                None => return self.no_integer(text),
            },
            Cells::Loose(cells) | Cells::Json(cells) => cells.push(text),
            Cells::Inferred(cells) => cells.push(Seen::number(text), text),
            _ => return self.misfit(),
        }
        Ok(())
    }

    #[inline]
    pub(super) fn text(&mut self, text: &str) -> Fit {
        match &mut self.cells {
            Cells::Text(cells) | Cells::Loose(cells) => cells.push(text),
            Cells::Timestamp(cells) => match wall_clock_microseconds(text) {
                Some(value) => cells.push(value),
                None => return self.misfit(),
            },
            Cells::Json(cells) => cells.push_quoted(text),
            Cells::Inferred(cells) => cells.push(Seen::TEXT, text),
            _ => return self.misfit(),
        }
        Ok(())
    }

    pub(super) fn nested(&mut self, json: &str) -> Fit {
        match &mut self.cells {
            Cells::Loose(cells) | Cells::Json(cells) => cells.push_compact(json),
            Cells::Inferred(cells) => cells.push(Seen::NESTED, json),
            _ => return self.misfit(),
        }
        Ok(())
    }

    /// What the column takes, for a value that it does not take.
    #[cold]
    fn misfit(&self) -> Fit {
        self.misfit_for(self.mend)
    }

    /// A number that is not whole: a float is proposed only where it surely holds all of the column too.
    #[cold]
    fn no_integer(&self, number: &str) -> Fit {
        let is_float = float(number).is_some() && !self.has_wide();
        self.misfit_for(if is_float { Type::Float64 } else { self.mend })
    }

    fn misfit_for(&self, mend: Type) -> Fit {
        let expected = match self.cells {
            Cells::Text(_) => "a text",
            Cells::Int64(_) => "a whole number of 64 bits",
            Cells::Float64(_) => "a number that a 64-bit float holds, whole numbers exactly",
            Cells::Bool(_) => "true or false",
            Cells::Timestamp(_) => "a time as `YYYY-MM-DD HH:MM:SS`, without a zone",
            Cells::Loose(_) | Cells::Json(_) | Cells::Inferred(_) => "any value",
        };
        Err(Misfit { expected, mend: Some(mend.name()) })
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
    pub(super) fn seen(&self) -> Option<Seen> {
        match &self.cells {
            Cells::Inferred(cells) => Some(cells.seen()),
            _ => None,
        }
    }

    /// The type of a column that has one.
    pub(super) fn column_type(&self) -> Option<Type> {
        match &self.cells {
            Cells::Text(_) | Cells::Loose(_) => Some(Type::Text),
            Cells::Json(_) => Some(Type::Json),
            Cells::Int64(_) => Some(Type::Int64),
            Cells::Float64(_) => Some(Type::Float64),
            Cells::Bool(_) => Some(Type::Bool),
            Cells::Timestamp(_) => Some(Type::Timestamp),
            Cells::Inferred(_) => None,
        }
    }

    /// Gives an inferred column the narrowest type of what it has seen, for good. One without values becomes text.
    pub(super) fn settle(&mut self) -> Result<()> {
        if let Cells::Inferred(cells) = &mut self.cells {
            let settled = cells.seen().narrowest().unwrap_or(Type::Text);
            let mut builder = Self::new(Kind::Settled(settled), cells.views());
            cells.hand_over(&mut builder)?;
            *self = builder;
        }
        Ok(())
    }

    /// The array of all cells; the builder begins anew.
    pub(super) fn finish(&mut self) -> Result<ArrayRef> {
        self.had_wide = self.has_wide();
        Ok(match &mut self.cells {
            Cells::Text(cells) | Cells::Loose(cells) | Cells::Json(cells) => cells.finish()?,
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
