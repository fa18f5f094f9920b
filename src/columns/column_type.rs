//! The types of columns: what each is called, and which Arrow type has its values.

use std::collections::HashMap;

use arrow_schema::{DataType, Field, TimeUnit};

use crate::contract::codes::{AUDIENCE_TYPES, STATUSES};
use crate::error::{Result, defect};

/// Key of the field metadata that marks JSON and names of values, which have the Arrow type of strings.
pub(super) const TYPE: &str = "dataaccess.type";

/// The name of [`ColumnType::Name`] in `schema=`: what `decode_status=` sets.
pub const NAME: &str = "name";

/// Names and their values.
pub type Names = &'static [(&'static str, i64)];

const MICROSECONDS: DataType = DataType::Timestamp(TimeUnit::Microsecond, None);

/// The type of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ColumnType {
    /// Strings.
    String,
    /// Integers of 64 bits.
    Int64,
    /// Floats of 64 bits.
    Float64,
    /// `true` and `false`.
    Bool,
    /// Microseconds without a time zone, from `YYYY-MM-DD HH:MM:SS`.
    Timestamp,
    /// Any value as compact JSON, strings in quotes.
    Json,
    /// Strings, and any other value as compact JSON. This is what `schema=` means by `string`.
    StringOrJson,
    /// The names of the values that a promotion code attribute can have; any other value as `StringOrJson`.
    Name(Names),
}

impl ColumnType {
    /// The types that `schema=` can name.
    pub const ALL: &[Self] = &[Self::String, Self::Int64, Self::Float64, Self::Bool, Self::Timestamp, Self::Json];

    /// The name in `schema=`, the Arrow type, and what Python and other libraries call it, without parameters.
    fn row(self) -> (&'static str, DataType, &'static [&'static str]) {
        match self {
            Self::String | Self::StringOrJson => {
                ("string", DataType::Utf8, &["str", "String", "Utf8", "utf8", "large_string", "string_view"])
            }
            Self::Int64 => ("int64", DataType::Int64, &["int", "Int64", "integer"]),
            Self::Float64 => ("float64", DataType::Float64, &["float", "Float64", "double"]),
            Self::Bool => ("bool", DataType::Boolean, &["boolean", "Boolean", "bool_"]),
            Self::Timestamp => ("timestamp", MICROSECONDS, &["datetime", "Datetime", "datetime64", "date"]),
            Self::Json => ("json", DataType::Utf8, &["dict", "list", "struct", "Struct", "List"]),
            Self::Name(_) => (NAME, DataType::Utf8, &[]),
        }
    }

    /// The name in `schema=`, also in a file.
    pub fn name(self) -> &'static str {
        self.row().0
    }

    /// The Arrow field of a column.
    pub(super) fn field(self, name: &str, views: bool) -> Field {
        let data_type = match self.row().1 {
            DataType::Utf8 if views => DataType::Utf8View,
            other => other,
        };
        let mark = self.mark().map(|mark| (TYPE.to_owned(), mark.to_owned()));
        Field::new(name, data_type, true).with_metadata(mark.into_iter().collect::<HashMap<_, _>>())
    }

    /// The type with this name, or with a name of another library such as `timestamp[us]` or `Int64`.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        let bare = name.find(['[', '(', '<']).map_or(name, |end| name.split_at(end).0);
        let is = |candidate: &&Self| {
            let (name, _, aliases) = candidate.row();
            name == bare || aliases.contains(&bare)
        };
        Self::ALL.iter().find(is).copied()
    }

    /// The names of the values of a promotion code attribute, as a type.
    #[must_use]
    pub fn named(attribute: &str) -> Option<Self> {
        match attribute {
            "code_status" => Some(Self::Name(&STATUSES)),
            "audience_type" => Some(Self::Name(&AUDIENCE_TYPES)),
            _ => None,
        }
    }

    /// The type of a field of one of our schemas, as [`Self::in_files`].
    ///
    /// # Errors
    /// `Internal` when no column has such a field.
    pub fn of(field: &Field) -> Result<Self> {
        let named = Self::named(field.name());
        let mut candidates = Self::ALL.iter().copied().chain(named);
        let found = candidates.find(|candidate| {
            let is_marked = field.metadata().get(TYPE).map(String::as_str) == candidate.mark();
            is_marked && candidate.has_arrays_of(field.data_type())
        });
        found.ok_or_else(|| defect(&format!("no column is of type {}", field.data_type())))
    }

    /// The type of the same values in a file, where those that depend on the values are decided.
    #[must_use]
    pub const fn in_files(self) -> Self {
        match self {
            Self::StringOrJson => Self::String,
            decided => decided,
        }
    }

    /// The type that takes any value where this one is of strings, as [`Self::in_files`] the other way around.
    pub(super) const fn of_any_value(self) -> Self {
        match self {
            Self::String => Self::StringOrJson,
            other => other,
        }
    }

    /// The name of the type of its values, for users.
    pub fn described(self) -> &'static str {
        match self {
            Self::Name(_) => Self::String.name(),
            other => other.name(),
        }
    }

    /// The mark in the metadata of a field, for types whose Arrow type is not theirs alone.
    fn mark(self) -> Option<&'static str> {
        matches!(self, Self::Json | Self::Name(_)).then(|| self.name())
    }

    fn has_arrays_of(self, data_type: &DataType) -> bool {
        let (_, arrow, _) = self.row();
        match data_type {
            DataType::Utf8View => arrow == DataType::Utf8,
            DataType::Timestamp(unit, _) => arrow == DataType::Timestamp(*unit, None),
            other => arrow == *other,
        }
    }
}

#[cfg(test)]
mod tests {
    use arrow_array::RecordBatch;
    use arrow_schema::{DataType, Field, Schema};

    use super::ColumnType;
    use crate::columns::{Column, Values};
    use crate::error::Kind;

    #[test]
    fn a_field_has_the_type_of_its_column() {
        for column_type in
            ColumnType::ALL.iter().copied().chain([ColumnType::StringOrJson]).chain(ColumnType::named("code_status"))
        {
            for views in [false, true] {
                let field = Column::new("code_status", column_type).field(views).expect("a known type");
                assert_eq!(ColumnType::of(&field).expect("our field"), column_type.in_files());
                let batch = RecordBatch::new_empty(Schema::new(vec![field]).into());
                assert!(Values::of_column(&batch, 0).is_ok(), "{column_type:?}");
            }
        }
    }

    #[test]
    fn a_field_of_another_arrow_type_is_a_defect() {
        let field = Field::new("a", DataType::Date32, true);
        assert_eq!(ColumnType::of(&field).expect_err("no column").kind(), Kind::Internal);
    }
}
