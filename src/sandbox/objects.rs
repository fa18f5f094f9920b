//! Business objects with typed attributes, the cells of a row, and their validation.

use std::fmt;

use jiff::civil::DateTime;
use rusqlite::ToSql;
use rusqlite::types::{ToSqlOutput, ValueRef};

use crate::contract::condition::{DATETIME, NUMBER, STRING};
use crate::contract::{business_object, codes};
use crate::error::{Error, Kind, Result, excerpt};

/// The format of times on the wire: `YYYY-MM-DD HH:MM:SS`.
pub(super) const TIME_FORMAT: &str = "%Y-%m-%d %H:%M:%S";

/// Most attributes of an object: below the column limit of every `SQLite` build.
const MAX_ATTRIBUTES: usize = 1_000;

/// A business object that can be searched.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BusinessObject {
    /// `itemTypeId`.
    pub id: i64,
    /// `itemTypeName`.
    pub name: String,
    /// The attributes; the first one identifies a record, is unique and orders the results.
    pub attributes: Vec<Attribute>,
}

/// An attribute of a business object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Attribute {
    /// Name on the wire.
    pub name: String,
    /// Type of its values.
    pub kind: AttributeKind,
}

/// Type of an attribute; all but the identifying one may be null.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AttributeKind {
    /// A string.
    Text,
    /// An integer or a float.
    Number,
    /// A time in the zone of the switch `source_timezone`, formatted `YYYY-MM-DD HH:MM:SS`.
    Datetime,
}

/// One value of a row.
#[derive(Clone, Debug, PartialEq)]
pub enum Cell {
    /// Null.
    Null,
    /// An integer.
    Integer(i64),
    /// A float.
    Number(f64),
    /// A string or a time.
    Text(String),
}

impl From<&str> for Cell {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl From<String> for Cell {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

impl From<i64> for Cell {
    fn from(number: i64) -> Self {
        Self::Integer(number)
    }
}

impl From<f64> for Cell {
    fn from(number: f64) -> Self {
        Self::Number(number)
    }
}

impl<C: Into<Cell>> From<Option<C>> for Cell {
    fn from(value: Option<C>) -> Self {
        value.map_or(Self::Null, Into::into)
    }
}

impl ToSql for Cell {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::Borrowed(match self {
            Self::Null => ValueRef::Null,
            Self::Integer(number) => ValueRef::Integer(*number),
            Self::Number(number) => ValueRef::Real(*number),
            Self::Text(text) => ValueRef::Text(text.as_bytes()),
        }))
    }
}

impl fmt::Display for Cell {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Null => formatter.write_str("null"),
            Self::Integer(number) => write!(formatter, "{number}"),
            Self::Number(number) => write!(formatter, "{number}"),
            Self::Text(text) => write!(formatter, "`{text}`"),
        }
    }
}

impl AttributeKind {
    /// `data_type` of a condition on such an attribute (section 2.4).
    #[must_use]
    pub const fn data_type(self) -> &'static str {
        match self {
            Self::Text => STRING,
            Self::Number => NUMBER,
            Self::Datetime => DATETIME,
        }
    }

    /// The kind of attribute with this `data_type`.
    #[must_use]
    pub fn from_data_type(data_type: &str) -> Option<Self> {
        [Self::Text, Self::Number, Self::Datetime].into_iter().find(|kind| kind.data_type() == data_type)
    }

    /// The kind of attribute with this `data_type`, or with this type of a column.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::from_data_type(name).or(match name {
            "int64" | "float64" => Some(Self::Number),
            "timestamp" => Some(Self::Datetime),
            _ => None,
        })
    }

    /// What is wrong with a cell for this attribute, if anything.
    fn type_problem(self, cell: &Cell) -> Option<&'static str> {
        match (self, cell) {
            (_, Cell::Null) | (Self::Number, Cell::Integer(_)) | (Self::Text, Cell::Text(_)) => None,
            // JSON has no infinity.
            (Self::Number, Cell::Number(number)) => (!number.is_finite()).then_some("is not a finite number"),
            (Self::Datetime, Cell::Text(text)) => {
                let written = DateTime::strptime(TIME_FORMAT, text).map(|time| time.strftime(TIME_FORMAT).to_string());
                (written.ok().as_ref() != Some(text))
                    .then_some("is not a time in whole seconds, written YYYY-MM-DD HH:MM:SS")
            }
            (Self::Number, Cell::Text(_)) => Some("is a string, not a number"),
            (Self::Text | Self::Datetime, Cell::Integer(_) | Cell::Number(_)) => Some("is a number, not a string"),
        }
    }
}

/// Whether a cell is null or one of these numbers.
#[expect(clippy::cast_precision_loss, clippy::float_cmp, reason = "the values are small integers")]
fn is_one_of(cell: &Cell, values: &[(&str, i64)]) -> bool {
    values.iter().any(|(_, value)| match cell {
        Cell::Null => true,
        Cell::Integer(number) => number == value,
        Cell::Number(number) => *number == *value as f64,
        Cell::Text(_) => false,
    })
}

/// Values with their names, for messages.
pub(super) fn listed(values: &[(&str, i64)]) -> String {
    let values: Vec<String> = values.iter().map(|(name, value)| format!("{value} ({name})")).collect();
    values.join(", ")
}

impl BusinessObject {
    /// A business object with attributes given as pairs of name and kind.
    #[must_use]
    pub fn new(id: i64, name: &str, attributes: &[(&str, AttributeKind)]) -> Self {
        let attributes = attributes.iter().map(|(name, kind)| Attribute { name: (*name).to_owned(), kind: *kind });
        Self { id, name: name.to_owned(), attributes: attributes.collect() }
    }

    /// Promotion codes with the attributes of section 2.2.
    #[must_use]
    pub fn promotion_code() -> Self {
        let kind = |name: &str| match name {
            "pool_id" | "audience_type" | "code_status" | "channel_id" => AttributeKind::Number,
            "date_created" | "allocated_time" | "last_used_time" => AttributeKind::Datetime,
            _ => AttributeKind::Text,
        };
        let attributes = codes::ATTRIBUTES.map(|name| (name, kind(name)));
        Self::new(business_object::PROMOTION_CODE_ID, business_object::PROMOTION_CODE_NAME, &attributes)
    }

    /// Customers with the attributes that section 2.3 names.
    #[must_use]
    pub fn customer() -> Self {
        let attributes = business_object::CUSTOMER_ATTRIBUTES.map(|name| (name, AttributeKind::Text));
        Self::new(business_object::CUSTOMER_ID, business_object::CUSTOMER_NAME, &attributes)
    }

    /// The objects that every sandbox has.
    pub(super) fn of_the_specification() -> [Self; 2] {
        [Self::promotion_code(), Self::customer()]
    }

    /// The only values that an attribute may have (section 8), if limited.
    fn allowed_values(&self, attribute: &Attribute) -> Option<&'static [(&'static str, i64)]> {
        if self.id != business_object::PROMOTION_CODE_ID || attribute.kind != AttributeKind::Number {
            return None;
        }
        match attribute.name.as_str() {
            "audience_type" => Some(&codes::AUDIENCE_TYPES),
            "code_status" => Some(&codes::STATUSES),
            _ => None,
        }
    }

    /// Index and declaration of an attribute.
    pub(super) fn attribute(&self, name: &str) -> Option<(usize, &Attribute)> {
        self.attributes.iter().enumerate().find(|(_, attribute)| attribute.name == name)
    }

    /// Rejects an invalid declaration.
    pub(super) fn check(&self) -> Result<()> {
        let problem = |problem: &str| Err(Error::new(Kind::Sandbox, format!("object `{}`: {problem}", self.name)));
        if self.name.is_empty() {
            return Err(Error::new(Kind::Sandbox, "a business object needs a name"));
        }
        if self.attributes.is_empty() {
            return problem("it has no attributes; the first one identifies a record");
        }
        if self.attributes.len() > MAX_ATTRIBUTES {
            let count = self.attributes.len();
            return problem(&format!("it has {count} attributes; an object has at most {MAX_ATTRIBUTES}"));
        }
        for (index, attribute) in self.attributes.iter().enumerate() {
            let name = &attribute.name;
            // `attrs` may be a comma-separated string (section 4.1).
            if name.is_empty() || name.contains(',') || name.trim() != name {
                return problem(&format!(
                    "an attribute cannot be named `{name}`: no commas, no leading or trailing spaces"
                ));
            }
            if self.attribute(name).is_some_and(|(first, _)| first != index) {
                return problem(&format!("attribute `{name}` is declared twice"));
            }
        }
        Ok(())
    }

    /// An error about the row with this number, counted from 0.
    #[must_use]
    pub fn refusal(&self, row: usize, problem: &str) -> Error {
        Error::new(Kind::Sandbox, format!("object `{}`, row {row}: {problem}", self.name))
    }

    /// Rejects a row that does not match the declaration.
    pub(super) fn check_row(&self, number: usize, row: &[Cell]) -> Result<()> {
        let refused = |problem: String| self.refusal(number, &problem);
        if row.len() != self.attributes.len() {
            return Err(refused(format!("{} cells for {} attributes", row.len(), self.attributes.len())));
        }
        if row.first() == Some(&Cell::Null) {
            return Err(refused("the identifying attribute is null".to_owned()));
        }
        for (attribute, cell) in self.attributes.iter().zip(row) {
            if let Some(type_problem) = attribute.kind.type_problem(cell) {
                let shown = excerpt(&cell.to_string(), 60);
                return Err(refused(format!("attribute `{}`: {shown} {type_problem}", attribute.name)));
            }
            if let Some(allowed_values) = self.allowed_values(attribute)
                && !is_one_of(cell, allowed_values)
            {
                let problem = format!("the number {cell} does not exist; there are {}", listed(allowed_values));
                return Err(refused(format!("attribute `{}`: {problem}", attribute.name)));
            }
        }
        Ok(())
    }
}
