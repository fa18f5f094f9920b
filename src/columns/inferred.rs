//! A column whose type follows from its values: they are kept as written until a batch is made of them.
//!
//! So nothing that was taken in has ever to be converted back, and what is undone leaves no trace in the type.

use std::ops::BitOr;
use std::sync::Arc;

use arrow_array::cast::AsArray as _;
use arrow_array::{ArrayRef, NullArray};

use super::batch::defect;
use super::builder::Builder;
use super::numbers::{float, integer, whole};
use super::string_builder::StringBuilder;
use super::types::{Kind, Type};
use crate::decode::CellResult;
use crate::error::Result;

/// Integers of so many characters are whole numbers that a float holds too.
const SHORT: usize = 15;

/// A set of kinds of values.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct ObservedTypes(u8);

impl ObservedTypes {
    /// Nothing but nulls.
    pub(super) const NOTHING: Self = Self(0);
    /// A whole number of 64 bits that a float holds exactly.
    pub(super) const INTEGER: Self = Self(1);
    /// A whole number of 64 bits that a float would round.
    const WIDE: Self = Self(1 << 1);
    /// A number that no type of 64 bits holds.
    const HUGE: Self = Self(1 << 2);
    /// A number that only a float holds.
    const FLOAT: Self = Self(1 << 3);
    pub(super) const BOOL: Self = Self(1 << 4);
    pub(super) const TEXT: Self = Self(1 << 5);
    pub(super) const NESTED: Self = Self(1 << 6);
    /// A number written with a fraction or an exponent, of any of these kinds.
    pub(super) const POINT: Self = Self(1 << 7);

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
        match integer(digits) {
            // Of its sign an integer would know nothing.
            Some(0) if digits.starts_with('-') => Self::FLOAT,
            Some(_) if digits.len() <= SHORT || float(digits).is_some() => Self::INTEGER,
            Some(_) => Self::WIDE,
            None => Self::HUGE,
        }
    }

    /// Which kind of number any other is: whole ones are, however they are written.
    pub(super) fn number(text: &str) -> Self {
        let held = float(text);
        if held.is_some_and(|float| float.fract() != 0.0) {
            return Self::FLOAT | Self::POINT;
        }
        let kind = match (whole(text), held) {
            (Some(0), _) if text.starts_with('-') => Self::FLOAT,
            (Some(_), Some(_)) => Self::INTEGER,
            (Some(_), None) => Self::WIDE,
            (None, Some(_)) => Self::FLOAT,
            (None, None) => Self::HUGE,
        };
        kind | Self::POINT
    }

    /// The narrowest type that holds all of it; none when there is nothing to hold.
    pub(super) fn narrowest(self) -> Option<Type> {
        match self {
            Self::NOTHING => None,
            Self::BOOL => Some(Type::Bool),
            Self::TEXT => Some(Type::Text),
            _ if self.is_only(Self::INTEGER | Self::WIDE) => Some(Type::Int64),
            _ if self.is_only(Self::INTEGER | Self::FLOAT | Self::POINT) => Some(Type::Float64),
            _ if self.is_only(Self::INTEGER | Self::WIDE | Self::POINT) => Some(Type::Int64),
            _ => Some(Type::Json),
        }
    }

    /// The type of an array that can still be widened: the narrowest, but JSON as soon as a number is not written
    /// with its digits alone, since of `5`, `5.0` and `-0` any other would keep but the value.
    pub(super) fn widenable(self) -> Option<Type> {
        let is_plain = self.is_only(Self(!(Self::FLOAT | Self::POINT).0));
        self.narrowest().map(|narrowest| if is_plain { narrowest } else { Type::Json })
    }

    fn is_only(self, kinds: Self) -> bool {
        self | kinds == kinds
    }

    /// Hands on a value of this one kind.
    pub(super) fn hand_on(self, written: &str, to: &mut Builder) -> Result<()> {
        self.give(written, to).map_err(|_| defect("a value does not fit what was seen"))
    }

    fn give(self, written: &str, to: &mut Builder) -> CellResult {
        match self {
            Self::NOTHING => to.null(),
            Self::BOOL => to.bool(written == "true")?,
            Self::TEXT => to.text(written)?,
            Self::NESTED => to.nested(written)?,
            _ if self.is_only(Self::INTEGER | Self::WIDE | Self::HUGE | Self::FLOAT) => to.integer(written)?,
            _ => to.number(written)?,
        }
        Ok(())
    }
}

impl BitOr for ObservedTypes {
    type Output = Self;

    fn bitor(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

/// Cells as written, each with its kind.
#[derive(Debug)]
pub(super) struct Inferred {
    written: StringBuilder,
    kinds: Vec<ObservedTypes>,
}

impl Inferred {
    pub(super) fn new(views: bool) -> Self {
        Self { written: StringBuilder::new(views), kinds: Vec::new() }
    }

    /// Whether texts are built as views.
    pub(super) fn views(&self) -> bool {
        self.written.views()
    }

    pub(super) fn seen(&self) -> ObservedTypes {
        self.kinds.iter().fold(ObservedTypes::NOTHING, |seen, kind| seen | *kind)
    }

    #[inline]
    pub(super) fn push_null(&mut self) {
        self.kinds.push(ObservedTypes::NOTHING);
        self.written.push_null();
    }

    #[inline]
    pub(super) fn push(&mut self, kind: ObservedTypes, written: &str) {
        self.kinds.push(kind);
        self.written.push(written);
    }

    /// Forgets all but the first cells.
    pub(super) fn truncate(&mut self, cells: usize) {
        self.kinds.truncate(cells);
        self.written.truncate(cells);
    }

    /// Makes room for as many cells as there were.
    pub(super) fn reserve(&mut self) {
        self.written.reserve();
    }

    /// Hands on all cells, and has none then.
    pub(super) fn replay_into(&mut self, to: &mut Builder) -> Result<()> {
        let written = self.written.finish()?;
        let mut kinds = self.kinds.drain(..);
        let mut hand_on = |text: Option<&str>| kinds.next().unwrap_or_default().hand_on(text.unwrap_or_default(), to);
        match written.as_string_view_opt() {
            Some(views) => views.iter().try_for_each(&mut hand_on),
            None => written.as_string::<i32>().iter().try_for_each(&mut hand_on),
        }
    }

    /// An array that can still be widened.
    pub(super) fn finish(&mut self) -> Result<ArrayRef> {
        let array_type = match self.seen().widenable() {
            None => {
                let nulls = NullArray::new(self.kinds.len());
                self.truncate(0);
                return Ok(Arc::new(nulls));
            }
            Some(Type::Text) => {
                self.kinds.clear();
                return self.written.finish();
            }
            Some(other) => other,
        };
        let mut builder = Builder::new(Kind::Fixed(array_type), self.views());
        self.replay_into(&mut builder)?;
        builder.finish()
    }
}
