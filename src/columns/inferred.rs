//! A column whose type follows from its values: they are kept as written until a batch is made of them.
//!
//! So nothing that was taken in has ever to be converted back, and what is undone leaves no trace in the type.

use std::ops::{BitOr, BitOrAssign};
use std::sync::Arc;

use arrow::array::{ArrayRef, NullArray, StringBuilder};

use super::builder::{Builder, text_array};
use super::numbers::exact_float;
use super::types::{Kind, Type};
use crate::decode::{Fit, Misfit};

/// Integers of so many characters are whole numbers that a float holds too.
const SHORT: usize = 15;

/// A set of kinds of values.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Seen(u8);

impl Seen {
    /// Nothing but nulls.
    pub(super) const NOTHING: Self = Self(0);
    /// An integer of 64 bits that a float holds exactly.
    pub(super) const INTEGER: Self = Self(1);
    /// An integer of 64 bits that a float would round.
    const WIDE: Self = Self(1 << 1);
    /// An integer of more than 64 bits.
    const HUGE: Self = Self(1 << 2);
    /// A number that only a float holds.
    pub(super) const FLOAT: Self = Self(1 << 3);
    pub(super) const BOOL: Self = Self(1 << 4);
    pub(super) const TEXT: Self = Self(1 << 5);
    pub(super) const NESTED: Self = Self(1 << 6);

    /// The set as bits, to be found again.
    pub(super) fn bits(self) -> u8 {
        self.0
    }

    pub(super) fn from_bits(bits: u8) -> Self {
        Self(bits)
    }

    /// Which kind of number an integer is.
    #[inline]
    pub(super) fn integer(digits: &str) -> Self {
        match digits.parse::<i64>() {
            // Of its sign an integer would know nothing.
            Ok(0) if digits.starts_with('-') => Self::INTEGER | Self::FLOAT,
            Ok(_) if digits.len() <= SHORT || exact_float(digits).is_some() => Self::INTEGER,
            Ok(_) => Self::WIDE,
            Err(_) => Self::HUGE,
        }
    }

    /// The narrowest type that holds all of it; none when there is nothing to hold.
    pub(super) fn narrowest(self) -> Option<Type> {
        let only = |kinds: Self| self | kinds == kinds;
        match self {
            Self::NOTHING => None,
            Self::BOOL => Some(Type::Bool),
            Self::TEXT => Some(Type::Text),
            _ if only(Self::INTEGER | Self::WIDE) => Some(Type::Int64),
            _ if only(Self::INTEGER | Self::FLOAT) => Some(Type::Float64),
            _ => Some(Type::Json),
        }
    }

    /// Hands on a value of this one kind.
    pub(super) fn hand_on(self, written: &str, to: &mut Builder) -> Fit {
        match self {
            Self::NOTHING => to.null(),
            Self::FLOAT => to.number(written)?,
            Self::BOOL => to.bool(written == "true")?,
            Self::TEXT => to.text(written)?,
            Self::NESTED => to.nested(written)?,
            _ => to.integer(written)?,
        }
        Ok(())
    }
}

impl BitOr for Seen {
    type Output = Self;

    fn bitor(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

impl BitOrAssign for Seen {
    fn bitor_assign(&mut self, other: Self) {
        *self = *self | other;
    }
}

/// Cells as written, each with its kind.
#[derive(Debug, Default)]
pub(super) struct Inferred {
    written: StringBuilder,
    kinds: Vec<Seen>,
    seen: Seen,
    /// What was seen before the last cell.
    before: Seen,
}

impl Inferred {
    pub(super) fn len(&self) -> usize {
        self.kinds.len()
    }

    pub(super) fn seen(&self) -> Seen {
        self.seen
    }

    #[inline]
    pub(super) fn null(&mut self) {
        self.before = self.seen;
        self.kinds.push(Seen::NOTHING);
        self.written.append_null();
    }

    #[inline]
    pub(super) fn push(&mut self, kind: Seen, written: &str) {
        self.before = self.seen;
        self.seen |= kind;
        self.kinds.push(kind);
        self.written.append_value(written);
    }

    /// The last cell does not count.
    pub(super) fn give_up(&mut self) {
        self.seen = self.before;
        if let Some(kind) = self.kinds.last_mut() {
            *kind = Seen::NOTHING;
        }
    }

    /// Hands on all cells, and has none then.
    pub(super) fn hand_over(&mut self, to: &mut Builder) -> Fit {
        let written = self.written.finish();
        self.seen = Seen::NOTHING;
        self.kinds.drain(..).zip(&written).try_for_each(|(kind, text)| kind.hand_on(text.unwrap_or_default(), to))
    }

    /// An array that can still be widened: of the narrowest type, but numbers with a fraction as JSON, since
    /// of `5`, `5.0` and `-0` a float would keep but the value.
    pub(super) fn finish(&mut self, views: bool) -> Result<ArrayRef, Misfit> {
        let array_type = match self.seen.narrowest() {
            None => {
                let nulls = self.kinds.len();
                *self = Self::default();
                return Ok(Arc::new(NullArray::new(nulls)));
            }
            Some(Type::Text) => {
                self.kinds.clear();
                self.seen = Seen::NOTHING;
                return Ok(text_array(&mut self.written, views));
            }
            Some(Type::Float64) => Type::Json,
            Some(other) => other,
        };
        let mut builder = Builder::new(Kind::Fixed(array_type));
        self.hand_over(&mut builder)?;
        builder.finish(views)
    }
}
