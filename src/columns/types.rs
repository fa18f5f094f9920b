//! The types of columns: the fixed schema of promotion codes, what `schema=` overrides, and what is inferred.

use std::collections::HashMap;
use std::sync::Arc;

use arrow_schema::{DataType, Field, Schema, SchemaRef, TimeUnit};

use crate::contract::codes::{AUDIENCE_TYPES, STATUSES};

/// Key of the field metadata that marks JSON and names of values, which have the Arrow type of strings.
const TYPE: &str = "dataaccess.type";

/// The type of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Type {
    /// Strings.
    String,
    /// Strings, and any other value as compact JSON. This is what `schema=` means by `string`.
    StringOrJson,
    /// As `Timestamp`. A collected result has strings instead, if one of the values is no time.
    TimeOrString,
    /// The names of the values that a promotion code attribute can have; any other value as `StringOrJson`.
    Name(Names),
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
}

/// Names and their values.
pub type Names = &'static [(&'static str, i64)];

/// The name of [`Type::Name`] in `schema=`: what `decode_status=` sets.
pub const NAME: &str = "name";

/// What other libraries and Python call the types, besides our own names, without parameters.
const ALIASES: [(&str, &[&str]); 6] = [
    ("string", &["str", "String", "Utf8", "utf8", "large_string", "string_view"]),
    ("int64", &["int", "Int64", "integer"]),
    ("float64", &["float", "Float64", "double"]),
    ("bool", &["boolean", "Boolean", "bool_"]),
    ("timestamp", &["datetime", "Datetime", "datetime64", "date"]),
    ("json", &["dict", "list", "struct", "Struct", "List"]),
];

impl Type {
    /// The types that have names.
    pub const ALL: [Self; 6] = [Self::String, Self::Int64, Self::Float64, Self::Bool, Self::Timestamp, Self::Json];

    /// The type with this name, or with the one that another library has for it, such as `timestamp[us]` or `Int64`.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        let bare = name.split(['[', '(', '<']).next().unwrap_or_default();
        let own = ALIASES.iter().find(|(_, aliases)| aliases.contains(&bare)).map_or(bare, |(own, _)| own);
        Self::ALL.into_iter().find(|candidate| candidate.name() == own)
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

    /// The name in `schema=`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::String | Self::StringOrJson => "string",
            Self::Name(_) => NAME,
            Self::Int64 => "int64",
            Self::Float64 => "float64",
            Self::Bool => "bool",
            Self::Timestamp | Self::TimeOrString => "timestamp",
            Self::Json => "json",
        }
    }

    /// The type of a column in words.
    #[must_use]
    pub const fn described(self) -> &'static str {
        match self {
            Self::Name(_) => Self::String.name(),
            other => other.name(),
        }
    }

    /// The type of a field of one of our schemas.
    #[must_use]
    pub fn of(field: &Field) -> Self {
        match field.data_type() {
            DataType::Int64 => Self::Int64,
            DataType::Float64 => Self::Float64,
            DataType::Boolean => Self::Bool,
            DataType::Timestamp(..) => Self::Timestamp,
            _ => match field.metadata().get(TYPE).map(String::as_str) {
                Some("json") => Self::Json,
                Some(NAME) => Self::named(field.name()).unwrap_or(Self::String),
                _ => Self::String,
            },
        }
    }
}

/// A requested column.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Column {
    /// Name of the attribute.
    pub name: String,
    /// None until the type is inferred.
    pub column_type: Option<Type>,
    /// Whether the type is or was inferred, rather than known or given.
    pub is_inferred: bool,
}

impl Column {
    /// A column of this type.
    #[must_use]
    pub fn new(name: &str, column_type: Type) -> Self {
        Self { name: name.to_owned(), column_type: Some(column_type), is_inferred: false }
    }

    /// A column whose type is inferred from its values.
    #[must_use]
    pub fn inferred(name: &str) -> Self {
        Self { name: name.to_owned(), column_type: None, is_inferred: true }
    }

    /// The Arrow field, once the type is known.
    pub(super) fn field(&self, views: bool) -> Option<Field> {
        let data_type = match self.column_type? {
            Type::Int64 => DataType::Int64,
            Type::Float64 => DataType::Float64,
            Type::Bool => DataType::Boolean,
            Type::Timestamp | Type::TimeOrString => DataType::Timestamp(TimeUnit::Microsecond, None),
            _ if views => DataType::Utf8View,
            _ => DataType::Utf8,
        };
        let field = Field::new(&self.name, data_type, true);
        Some(match self.column_type {
            Some(marked @ (Type::Json | Type::Name(_))) => {
                field.with_metadata(HashMap::from([(TYPE.to_owned(), marked.name().to_owned())]))
            }
            _ => field,
        })
    }
}

/// The columns of promotion codes, whose types are known beforehand, so that all batches match.
#[must_use]
pub fn codes(attributes: &[String], overrides: &[(String, Type)]) -> Vec<Column> {
    columns(attributes, overrides, |name| {
        let column_type = match name {
            "pool_id" | "audience_type" | "code_status" => Type::Int64,
            "date_created" | "allocated_time" => Type::Timestamp,
            // The API specification does not define their types.
            "last_used_time" => Type::TimeOrString,
            "last_used_source" | "channel_id" => Type::StringOrJson,
            _ => Type::String,
        };
        Column::new(name, column_type)
    })
}

/// The columns of any other object, whose types are inferred unless `schema=` gives them.
#[must_use]
pub fn items(attributes: &[String], overrides: &[(String, Type)]) -> Vec<Column> {
    columns(attributes, overrides, Column::inferred)
}

fn columns(attributes: &[String], overrides: &[(String, Type)], default: fn(&str) -> Column) -> Vec<Column> {
    let column = |name: &String| match overrides.iter().find(|(overridden, _)| overridden == name) {
        Some((_, Type::String)) => Column::new(name, Type::StringOrJson),
        Some((_, column_type)) => Column::new(name, *column_type),
        None => default(name),
    };
    attributes.iter().map(column).collect()
}

/// The same columns. Those without a type have the one of these [`type_names`].
#[must_use]
pub fn frozen(columns: &[Column], types: &[(String, String)]) -> Vec<Column> {
    let found = |column: &Column| {
        let (_, name) = types.iter().find(|(name, _)| *name == column.name)?;
        Type::from_name(name)
    };
    let freeze = |column: &Column| Column { column_type: column.column_type.or(found(column)), ..column.clone() };
    columns.iter().map(freeze).collect()
}

/// The names of a schema's columns and of their types.
#[must_use]
pub fn type_names(schema: &Schema) -> Vec<(String, String)> {
    schema.fields().iter().map(|field| (field.name().clone(), Type::of(field).name().to_owned())).collect()
}

/// The names of the columns and of their types, as far as these are known before any record.
#[must_use]
pub fn known_types(columns: &[Column]) -> Vec<(String, Option<String>)> {
    let type_name = |column: &Column| column.column_type.map(|known| known.name().to_owned());
    columns.iter().map(|column| (column.name.clone(), type_name(column))).collect()
}

/// The schema, if all types are known.
#[must_use]
pub fn schema(columns: &[Column], views: bool) -> Option<SchemaRef> {
    let fields: Option<Vec<Field>> = columns.iter().map(|column| column.field(views)).collect();
    Some(Arc::new(Schema::new(fields?)))
}
