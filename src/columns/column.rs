//! The columns of a scan: the fixed types of promotion codes, the types that `schema=` overrides, and inferred types.

use std::sync::Arc;

use arrow_schema::{Field, Schema, SchemaRef};

use super::column_type::ColumnType;
use super::untyped::is_untyped;
use crate::contract::business_object::CUSTOMER_ATTRIBUTES;
use crate::error::Result;

/// The types of columns by name, as files have them.
pub type Types = Vec<(String, ColumnType)>;

/// A requested column.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Column {
    /// Name of the attribute.
    pub name: String,
    /// None until the type is inferred.
    pub column_type: Option<ColumnType>,
    /// Whether the type was inferred, or is that of customers, rather than given or that of promotion codes: among its
    /// strings, another value is worth a warning.
    pub is_assumed: bool,
    /// Whether a collected column of integers becomes one of floats where a value has a fraction.
    pub widens: bool,
}

impl Column {
    /// A column of this type.
    #[must_use]
    pub fn new(name: &str, column_type: ColumnType) -> Self {
        Self { name: name.to_owned(), column_type: Some(column_type), is_assumed: false, widens: false }
    }

    /// A column whose type is inferred from its values.
    #[must_use]
    pub fn inferred(name: &str) -> Self {
        Self { name: name.to_owned(), column_type: None, is_assumed: true, widens: false }
    }

    /// The Arrow field, once the type is known.
    pub(super) fn field(&self, views: bool) -> Option<Field> {
        Some(self.column_type?.field(&self.name, views))
    }
}

/// The columns of promotion codes, whose types are known beforehand, so that all batches match.
pub fn codes(attributes: &[String], overrides: &[(String, ColumnType)]) -> Vec<Column> {
    columns(attributes, overrides, |name| {
        let column_type = match name {
            "pool_id" | "audience_type" | "code_status" => ColumnType::Int64,
            "date_created" | "allocated_time" | "last_used_time" => ColumnType::Timestamp,
            // The API specification does not define their types.
            "last_used_source" | "channel_id" => ColumnType::StringOrJson,
            _ => ColumnType::String,
        };
        // The API specification has a number, and integers are usual.
        Column { widens: name == "pool_id", ..Column::new(name, column_type) }
    })
}

/// The columns of any other object, whose types are inferred unless `schema=` gives them.
pub fn items(attributes: &[String], overrides: &[(String, ColumnType)]) -> Vec<Column> {
    columns(attributes, overrides, Column::inferred)
}

/// The columns of customers: the attributes that the API specification has are strings.
pub fn customers(attributes: &[String], overrides: &[(String, ColumnType)]) -> Vec<Column> {
    columns(attributes, overrides, |name| {
        let is_known = CUSTOMER_ATTRIBUTES.contains(&name);
        Column { column_type: is_known.then_some(ColumnType::StringOrJson), ..Column::inferred(name) }
    })
}

fn columns(attributes: &[String], overrides: &[(String, ColumnType)], default: fn(&str) -> Column) -> Vec<Column> {
    let given = |name: &str| Some(Column::new(name, type_of(overrides, name)?.of_any_value()));
    attributes.iter().map(|name| given(name).unwrap_or_else(|| default(name))).collect()
}

/// The type of the column with this name.
pub(super) fn type_of(types: &[(String, ColumnType)], name: &str) -> Option<ColumnType> {
    types.iter().find(|(known, _)| known == name).map(|(_, found)| *found)
}

/// The same columns. A column without a type gets its type of these [`types`], if it has one there. Strings take other
/// values too.
pub fn frozen(columns: &[Column], types: &Types) -> Vec<Column> {
    let found = |column: &Column| type_of(types, &column.name).map(ColumnType::of_any_value);
    let freeze = |column: &Column| Column { column_type: column.column_type.or(found(column)), ..column.clone() };
    columns.iter().map(freeze).collect()
}

/// The types of a schema's columns, but for those that have none yet.
///
/// # Errors
/// `Internal` when it is no schema of this package.
pub fn types(schema: &Schema) -> Result<Types> {
    let typed = schema.fields().iter().filter(|field| !is_untyped(field));
    typed.map(|field| Ok((field.name().clone(), ColumnType::of(field)?))).collect()
}

/// The types of the columns that are known before any record, as files have them.
pub fn known_types(columns: &[Column]) -> Vec<(String, Option<ColumnType>)> {
    columns.iter().map(|column| (column.name.clone(), column.column_type.map(ColumnType::in_files))).collect()
}

/// The schema, if all types are known.
pub fn schema(columns: &[Column], views: bool) -> Option<SchemaRef> {
    let fields: Option<Vec<Field>> = columns.iter().map(|column| column.field(views)).collect();
    Some(Arc::new(Schema::new(fields?)))
}
