//! A column whose type is inferred: its values are kept as written until the type is known.
//!
//! So no value has to be converted back, and an undone record does not affect the type.

use std::ops::BitOr;
use std::sync::Arc;

use arrow_array::cast::AsArray as _;
use arrow_array::types::UInt8Type;
use arrow_array::{StructArray, UInt8Array};
use arrow_schema::{DataType, Field};

use super::builder::Builder;
use super::column_type::ColumnType;
use super::numbers::{float, integral};
use super::strings::StringBuilder;
use crate::decode::{Bytes32, Cell, integer};
use crate::error::{Result, defect};

/// Integers of this length are exact as floats.
const SHORT: usize = 15;

/// The types of values that were observed, as a set.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct ObservedTypes(u8);

impl ObservedTypes {
    /// Only nulls.
    const NOTHING: Self = Self(0);
    /// An integer of 64 bits that a float holds exactly.
    const INTEGER: Self = Self(1);
    /// An integer of 64 bits that a float would round.
    const WIDE: Self = Self(1 << 1);
    /// A number that no type of 64 bits holds.
    const HUGE: Self = Self(1 << 2);
    /// A number that only a float holds.
    const FLOAT: Self = Self(1 << 3);
    const BOOL: Self = Self(1 << 4);
    const STRING: Self = Self(1 << 5);
    const NESTED: Self = Self(1 << 6);
    /// Written with a fraction or an exponent. Occurs with one of the numbers above.
    const POINT: Self = Self(1 << 7);

    #[inline]
    fn of_integer(digits: &str) -> Self {
        match integer(digits) {
            // An integer column would lose the sign of `-0`.
            Some(0) if digits.starts_with('-') => Self::FLOAT,
            Some(_) if digits.len() <= SHORT || float(digits).is_some() => Self::INTEGER,
            Some(_) => Self::WIDE,
            None => Self::HUGE,
        }
    }

    fn of_number(text: &str) -> Self {
        let held = float(text);
        if held.is_some_and(|float| float.fract() != 0.0) {
            return Self::FLOAT | Self::POINT;
        }
        let observed = match (integral(text), held) {
            (Some(0), _) if text.starts_with('-') => Self::FLOAT,
            (Some(_), Some(_)) => Self::INTEGER,
            (Some(_), None) => Self::WIDE,
            (None, Some(_)) => Self::FLOAT,
            (None, None) => Self::HUGE,
        };
        observed | Self::POINT
    }

    /// The narrowest type that holds all values; none if there are none. Strings stay as they are: beside them, other
    /// values are their JSON.
    pub(super) fn narrowest(self) -> Option<ColumnType> {
        Some(match self {
            Self::NOTHING => return None,
            _ if self | Self::STRING == self => ColumnType::StringOrJson,
            Self::BOOL => ColumnType::Bool,
            _ if self.is_only(Self::INTEGER | Self::WIDE) => ColumnType::Int64,
            _ if self.is_only(Self::INTEGER | Self::FLOAT | Self::POINT) => ColumnType::Float64,
            _ if self.is_only(Self::INTEGER | Self::WIDE | Self::POINT) => ColumnType::Int64,
            _ => ColumnType::Json,
        })
    }

    /// Whether there are strings and other values.
    pub(super) fn is_mixed(self) -> bool {
        self != Self::STRING && self | Self::STRING == self
    }

    fn is_only(self, types: Self) -> bool {
        self | types == types
    }

    /// The cell of one value.
    fn cell(self, written: &str) -> Cell<'_> {
        match self {
            Self::NOTHING => Cell::Null,
            Self::BOOL => Cell::Bool(written == "true"),
            Self::STRING => Cell::String(written),
            Self::NESTED => Cell::Nested(written),
            _ if self | Self::POINT == self => Cell::Number(written),
            _ => Cell::Integer(written),
        }
    }
}

impl BitOr for ObservedTypes {
    type Output = Self;

    fn bitor(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

/// Cells as written, each with its observed type.
#[derive(Debug)]
pub(super) struct Inferred {
    written: StringBuilder,
    observed: Vec<u8>,
}

impl Inferred {
    pub(super) fn new() -> Self {
        Self { written: StringBuilder::new(false), observed: Vec::new() }
    }

    /// Always true: cells of any type are kept.
    #[inline]
    pub(super) fn push(&mut self, cell: Cell) -> bool {
        let (observed, written) = match cell {
            Cell::Null => return self.push_null(),
            Cell::Bool(value) => (ObservedTypes::BOOL, if value { "true" } else { "false" }),
            Cell::Integer(digits) => (ObservedTypes::of_integer(digits), digits),
            Cell::Number(text) => (ObservedTypes::of_number(text), text),
            Cell::String(text) => (ObservedTypes::STRING, text),
            Cell::Nested(json) => (ObservedTypes::NESTED, json),
        };
        self.observed.push(observed.0);
        self.written.push(written)
    }

    #[inline]
    pub(super) fn push_short_string(&mut self, text: &Bytes32, length: usize) -> bool {
        self.observed.push(ObservedTypes::STRING.0);
        self.written.push_short(text, length)
    }

    /// Appends an integer that a float holds exactly. It is not `-0`.
    #[inline]
    pub(super) fn push_short_integer(&mut self, written: &Bytes32, length: usize) -> bool {
        self.observed.push(ObservedTypes::INTEGER.0);
        self.written.push_short(written, length)
    }

    #[inline]
    pub(super) fn push_null(&mut self) -> bool {
        self.observed.push(ObservedTypes::NOTHING.0);
        self.written.push_null()
    }

    pub(super) fn truncate(&mut self, cells: usize) {
        self.observed.truncate(cells);
        self.written.truncate(cells);
    }

    pub(super) fn reserve(&mut self) {
        self.written.reserve();
    }

    /// Takes all cells, as structs of the value as written and its observed type.
    pub(super) fn finish(&mut self, is_last: bool) -> Result<StructArray> {
        let written = self.written.finish(is_last)?;
        let observed = UInt8Array::from(std::mem::take(&mut self.observed));
        let fields = vec![Field::new("written", DataType::Utf8, true), Field::new("observed", DataType::UInt8, false)];
        StructArray::try_new(fields.into(), vec![written, Arc::new(observed)], None)
            .map_err(|error| defect("cannot build the struct array").with_source(error))
    }

    /// The types of all values of such an array.
    pub(super) fn observed(values: &StructArray) -> ObservedTypes {
        ObservedTypes(observed_types(values).iter().fold(0, |all, observed| all | observed))
    }
}

/// The values of an array of [`Inferred::finish`] as a builder of any type takes them.
pub(super) fn replay(values: &StructArray, builder: &mut Builder) -> Result<()> {
    let written = values.column(0).as_string::<i32>();
    for (text, observed) in written.iter().zip(observed_types(values)) {
        let cell = text.map_or(Cell::Null, |text| ObservedTypes(*observed).cell(text));
        builder.push(cell).map_err(|_| defect("a value does not fit its inferred type"))?;
    }
    Ok(())
}

fn observed_types(values: &StructArray) -> &[u8] {
    values.column(1).as_primitive::<UInt8Type>().values()
}
