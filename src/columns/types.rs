//! Which types columns have: the fixed schema of promotion codes, what `schema=` says, what is left to inference.

use std::collections::HashMap;
use std::sync::Arc;

use arrow_schema::{DataType, Field, Schema, SchemaRef, TimeUnit};

/// Key of a field's metadata that tells JSON from other text, which for Arrow are one type.
const TYPE: &str = "dataaccess.type";

/// A type of `schema=`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Type {
    /// Text.
    Text,
    /// A whole number of 64 bits.
    Int64,
    /// A number of 64 bits with a fraction.
    Float64,
    /// True or false.
    Bool,
    /// Microseconds without a zone, from `YYYY-MM-DD HH:MM:SS`.
    Timestamp,
    /// Any value as compact JSON, a text in its quotes.
    Json,
}

impl Type {
    /// Every type.
    pub const ALL: [Self; 6] = [Self::Text, Self::Int64, Self::Float64, Self::Bool, Self::Timestamp, Self::Json];

    /// The type of a name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|candidate| candidate.name() == name)
    }

    /// Its name in `schema=`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Text => "string",
            Self::Int64 => "int64",
            Self::Float64 => "float64",
            Self::Bool => "bool",
            Self::Timestamp => "timestamp",
            Self::Json => "json",
        }
    }

    /// The type of a field of ours.
    #[must_use]
    pub fn of(field: &Field) -> Self {
        match field.data_type() {
            DataType::Int64 => Self::Int64,
            DataType::Float64 => Self::Float64,
            DataType::Boolean => Self::Bool,
            DataType::Timestamp(..) => Self::Timestamp,
            _ if field.metadata().get(TYPE).is_some_and(|name| name == Self::Json.name()) => Self::Json,
            _ => Self::Text,
        }
    }

    /// A field of this type.
    pub(super) fn field(self, name: &str, views: bool) -> Field {
        let field = Field::new(name, self.data_type(views), true);
        match self {
            Self::Json => field.with_metadata(HashMap::from([(TYPE.to_owned(), self.name().to_owned())])),
            _ => field,
        }
    }

    pub(super) const fn data_type(self, views: bool) -> DataType {
        match self {
            Self::Text | Self::Json if views => DataType::Utf8View,
            Self::Text | Self::Json => DataType::Utf8,
            Self::Int64 => DataType::Int64,
            Self::Float64 => DataType::Float64,
            Self::Bool => DataType::Boolean,
            Self::Timestamp => DataType::Timestamp(TimeUnit::Microsecond, None),
        }
    }
}

/// How a column comes to its type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// It has this one, and what is of another is a misfit.
    Fixed(Type),
    /// It came to this one by its values. What is of another is a misfit too, for which JSON is proposed: of what may
    /// still come, nothing else loses nothing.
    Settled(Type),
    /// Text; all else as its compact JSON.
    StringOrJson,
    /// By what its values are.
    Inferred,
}

/// A column as it was asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Column {
    /// Name of the attribute.
    pub name: String,
    /// How it comes to its type.
    pub kind: Kind,
}

/// The columns of promotion codes, whose types are known beforehand so that all batches match.
#[must_use]
pub fn codes(attributes: &[String], overrides: &[(String, Type)]) -> Vec<Column> {
    columns(attributes, overrides, |attribute| match attribute {
        "pool_id" | "audience_type" | "code_status" => Kind::Fixed(Type::Int64),
        "date_created" | "allocated_time" => Kind::Fixed(Type::Timestamp),
        // The document does not show of what type these are.
        "last_used_source" | "last_used_time" | "channel_id" => Kind::StringOrJson,
        _ => Kind::Fixed(Type::Text),
    })
}

/// The columns of any other object, whose types are inferred unless `schema=` tells them.
#[must_use]
pub fn items(attributes: &[String], overrides: &[(String, Type)]) -> Vec<Column> {
    columns(attributes, overrides, |_| Kind::Inferred)
}

fn columns(attributes: &[String], overrides: &[(String, Type)], kind: fn(&str) -> Kind) -> Vec<Column> {
    let overridden = |attribute: &String| overrides.iter().find(|(name, _)| name == attribute);
    attributes
        .iter()
        .map(|attribute| {
            let kind = match overridden(attribute) {
                // Who asks for texts gets every value as one.
                Some((_, Type::Text)) => Kind::StringOrJson,
                Some((_, of_schema)) => Kind::Fixed(*of_schema),
                None => kind(attribute),
            };
            Column { name: attribute.clone(), kind }
        })
        .collect()
}

/// The type of a column that is not inferred.
pub(super) const fn fixed_type(kind: Kind) -> Option<Type> {
    match kind {
        Kind::Fixed(of_column) | Kind::Settled(of_column) => Some(of_column),
        Kind::StringOrJson => Some(Type::Text),
        Kind::Inferred => None,
    }
}

/// The same columns, with the types that a schema of theirs gives to those that were inferred.
#[must_use]
pub fn frozen(columns: &[Column], schema: &Schema) -> Vec<Column> {
    let freeze = |(column, field): (&Column, &Arc<Field>)| match column.kind {
        Kind::Inferred => Column { name: column.name.clone(), kind: Kind::Settled(Type::of(field)) },
        _ => column.clone(),
    };
    columns.iter().zip(schema.fields()).map(freeze).collect()
}

/// The names of the types of a schema's columns.
#[must_use]
pub fn names(schema: &Schema) -> Vec<(String, String)> {
    schema.fields().iter().map(|field| (field.name().clone(), Type::of(field).name().to_owned())).collect()
}

/// The columns by name, with the names of their types where these are known before any record came.
#[must_use]
pub fn known_types(columns: &[Column]) -> Vec<(String, Option<String>)> {
    let known = |column: &Column| fixed_type(column.kind).map(|known| known.name().to_owned());
    columns.iter().map(|column| (column.name.clone(), known(column))).collect()
}

/// The same columns, with the types of these names for those that were inferred.
#[must_use]
pub fn frozen_by_name(columns: &[Column], types: &[(String, String)]) -> Vec<Column> {
    let freeze = |column: &Column| {
        let found = types.iter().find(|(name, _)| *name == column.name);
        let found = found.and_then(|(_, name)| Type::from_name(name));
        match (column.kind, found) {
            (Kind::Inferred, Some(found)) => Column { name: column.name.clone(), kind: Kind::Settled(found) },
            _ => column.clone(),
        }
    };
    columns.iter().map(freeze).collect()
}

/// The schema, when it is known before any record came.
#[must_use]
pub fn schema(columns: &[Column], views: bool) -> Option<SchemaRef> {
    let field = |column: &Column| Some(fixed_type(column.kind)?.field(&column.name, views));
    let fields: Option<Vec<Field>> = columns.iter().map(field).collect();
    Some(Arc::new(Schema::new(fields?)))
}
