//! The cells of one column on their way into an Arrow array, each held against the column's type.

use std::sync::Arc;

use arrow::array::{
    ArrayBuilder as _, ArrayRef, BooleanBuilder, Float64Builder, Int64Builder, TimestampMicrosecondBuilder,
};

use super::inferred::{Inferred, Seen};
use super::numbers::{are_wide, float, whole};
use super::texts::Texts;
use super::types::{Kind, Type};
use crate::decode::{Fit, Misfit};
use crate::time::wall_clock_microseconds;

/// Cells of one type, or of none yet.
#[derive(Debug)]
pub(super) enum Cells {
    Text(Texts),
    /// Text, and all else as its compact JSON.
    Loose(Texts),
    /// Everything as its compact JSON.
    Json(Texts),
    Int64(Int64Builder),
    Float64(Float64Builder),
    Bool(BooleanBuilder),
    Timestamp(TimestampMicrosecondBuilder),
    Inferred(Inferred),
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
                Type::Int64 => Cells::Int64(Int64Builder::new()),
                Type::Float64 => Cells::Float64(Float64Builder::new()),
                Type::Bool => Cells::Bool(BooleanBuilder::new()),
                Type::Timestamp => Cells::Timestamp(TimestampMicrosecondBuilder::new()),
            },
            Kind::Loose => Cells::Loose(Texts::new(views)),
            Kind::Inferred => Cells::Inferred(Inferred::new(views)),
        };
        Self { cells, mend: if matches!(kind, Kind::Settled(_)) { Type::Json } else { Type::Text }, had_wide: false }
    }

    #[inline]
    pub(super) fn null(&mut self) {
        match &mut self.cells {
            Cells::Text(cells) | Cells::Loose(cells) | Cells::Json(cells) => cells.push_null(),
            Cells::Int64(cells) => cells.append_null(),
            Cells::Float64(cells) => cells.append_null(),
            Cells::Bool(cells) => cells.append_null(),
            Cells::Timestamp(cells) => cells.append_null(),
            Cells::Inferred(cells) => cells.null(),
        }
    }

    #[inline]
    pub(super) fn bool(&mut self, value: bool) -> Fit {
        let json = if value { "true" } else { "false" };
        match &mut self.cells {
            Cells::Bool(cells) => cells.append_value(value),
            Cells::Loose(cells) | Cells::Json(cells) => cells.push(json),
            Cells::Inferred(cells) => cells.push(Seen::BOOL, json),
            _ => return Err(self.misfit()),
        }
        Ok(())
    }

    #[inline]
    pub(super) fn integer(&mut self, digits: &str) -> Fit {
        match &mut self.cells {
            Cells::Int64(cells) => match digits.parse() {
                Ok(value) => cells.append_value(value),
                Err(_) => return Err(self.misfit()),
            },
            Cells::Float64(cells) => match float(digits) {
                Some(value) => cells.append_value(value),
                None => return Err(self.misfit()),
            },
            Cells::Loose(cells) | Cells::Json(cells) => cells.push(digits),
            Cells::Inferred(cells) => cells.push(Seen::integer(digits), digits),
            _ => return Err(self.misfit()),
        }
        Ok(())
    }

    pub(super) fn number(&mut self, text: &str) -> Fit {
        match &mut self.cells {
            Cells::Float64(cells) => match float(text) {
                Some(value) => cells.append_value(value),
                None => return Err(self.misfit()),
            },
            Cells::Int64(cells) => match whole(text) {
                Some(value) => cells.append_value(value),
                None if float(text).is_some() && !self.has_wide() => {
                    return Err(Misfit { mend: Some(Type::Float64.name()), ..self.misfit() });
                }
                None => return Err(self.misfit()),
            },
            Cells::Loose(cells) | Cells::Json(cells) => cells.push(text),
            Cells::Inferred(cells) => cells.push(Seen::number(text), text),
            _ => return Err(self.misfit()),
        }
        Ok(())
    }

    #[inline]
    pub(super) fn text(&mut self, text: &str) -> Fit {
        match &mut self.cells {
            Cells::Text(cells) | Cells::Loose(cells) => cells.push(text),
            Cells::Timestamp(cells) => match wall_clock_microseconds(text) {
                Some(value) => cells.append_value(value),
                None => return Err(self.misfit()),
            },
            Cells::Json(cells) => cells.push_quoted(text),
            Cells::Inferred(cells) => cells.push(Seen::TEXT, text),
            _ => return Err(self.misfit()),
        }
        Ok(())
    }

    pub(super) fn nested(&mut self, json: &str) -> Fit {
        match &mut self.cells {
            Cells::Loose(cells) | Cells::Json(cells) => cells.push_compact(json),
            Cells::Inferred(cells) => cells.push(Seen::NESTED, json),
            _ => return Err(self.misfit()),
        }
        Ok(())
    }

    /// What the column takes, for a value that it does not take.
    #[cold]
    fn misfit(&self) -> Misfit {
        let expected = match self.cells {
            Cells::Text(_) => "a text",
            Cells::Int64(_) => "a whole number of 64 bits",
            Cells::Float64(_) => "a number that a 64-bit float holds, whole numbers exactly",
            Cells::Bool(_) => "true or false",
            Cells::Timestamp(_) => "a time as `YYYY-MM-DD HH:MM:SS`, without a zone",
            Cells::Loose(_) | Cells::Json(_) | Cells::Inferred(_) => "any value",
        };
        Misfit { expected, mend: Some(self.mend.name()) }
    }

    /// Whether there were whole numbers that a float may not hold.
    fn has_wide(&self) -> bool {
        self.had_wide || matches!(&self.cells, Cells::Int64(cells) if are_wide(cells.values_slice()))
    }

    pub(super) fn len(&self) -> usize {
        match &self.cells {
            Cells::Text(cells) | Cells::Loose(cells) | Cells::Json(cells) => cells.len(),
            Cells::Int64(cells) => cells.len(),
            Cells::Float64(cells) => cells.len(),
            Cells::Bool(cells) => cells.len(),
            Cells::Timestamp(cells) => cells.len(),
            Cells::Inferred(cells) => cells.len(),
        }
    }

    /// The record after so many does not count: its cell stays where it is, or a null is put in its place, and
    /// nothing is concluded from it.
    pub(super) fn give_up(&mut self, records: usize) {
        if self.len() == records {
            self.null();
        } else if let Cells::Inferred(cells) = &mut self.cells {
            cells.give_up();
        }
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
    pub(super) fn settle(&mut self) -> Fit {
        if let Cells::Inferred(cells) = &mut self.cells {
            let settled = cells.seen().narrowest().unwrap_or(Type::Text);
            let mut builder = Self::new(Kind::Settled(settled), cells.views());
            cells.hand_over(&mut builder)?;
            *self = builder;
        }
        Ok(())
    }

    /// The array of all cells; the builder begins anew.
    pub(super) fn finish(&mut self) -> Result<ArrayRef, Misfit> {
        self.had_wide = self.has_wide();
        Ok(match &mut self.cells {
            Cells::Text(cells) | Cells::Loose(cells) | Cells::Json(cells) => cells.finish(),
            Cells::Int64(cells) => Arc::new(cells.finish()),
            Cells::Float64(cells) => Arc::new(cells.finish()),
            Cells::Bool(cells) => Arc::new(cells.finish()),
            Cells::Timestamp(cells) => Arc::new(cells.finish()),
            Cells::Inferred(cells) => cells.finish()?,
        })
    }
}
