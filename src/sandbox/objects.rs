//! Business objects with typed attributes, the cells of a row, and their validation.

use jiff::civil::DateTime;
use serde::{Deserialize, Serialize, Serializer};
use serde_json::Map;
/// One value of a row, in the form of JSON.
pub use serde_json::Value as Cell;

use super::table::{Row, Value};
use crate::contract::condition::{DATETIME, NUMBER, STRING};
use crate::contract::{business_object, codes};
use crate::error::{Error, Kind, Result, excerpt};

/// The format of times on the wire: `YYYY-MM-DD HH:MM:SS`.
pub(super) const TIME_FORMAT: &str = "%Y-%m-%d %H:%M:%S";

/// A business object that can be searched.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct BusinessObject {
    /// `itemTypeName`.
    pub name: String,
    /// `itemTypeId`.
    #[serde(rename = "item_type_id")]
    pub id: i64,
    /// The attributes; the first one identifies a record, is unique and orders the results.
    #[serde(serialize_with = "kinds_by_name")]
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

/// Type of an attribute, by the name of the service or of a column; all but the identifying one may be null.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum AttributeKind {
    /// A string.
    #[serde(rename = "string")]
    Text,
    /// An integer or a float.
    #[serde(alias = "int64", alias = "float64")]
    Number,
    /// A time in the zone of the switch `source_timezone`, formatted `YYYY-MM-DD HH:MM:SS`.
    #[serde(alias = "timestamp")]
    Datetime,
    /// True or false.
    Bool,
    /// A list of strings and numbers.
    List,
}

impl AttributeKind {
    /// Its name: the `data_type` of a condition on such an attribute (section 2.4), where there are conditions.
    pub const fn data_type(self) -> &'static str {
        match self {
            Self::Text => STRING,
            Self::Number => NUMBER,
            Self::Datetime => DATETIME,
            Self::Bool => "bool",
            Self::List => "list",
        }
    }

    /// Whether the specification has conditions on such an attribute.
    pub(super) const fn has_conditions(self) -> bool {
        !matches!(self, Self::Bool | Self::List)
    }

    /// What is wrong with a cell for this attribute, if anything.
    fn problem(self, cell: &Cell) -> Option<String> {
        let found = match (self, cell) {
            (_, Cell::Null) | (Self::Text, Cell::String(_)) | (Self::Bool, Cell::Bool(_)) => return None,
            (Self::List, Cell::Array(elements)) => {
                let fits = |element: &&Cell| element.is_string() || element.is_i64() || element.is_f64();
                let misfit = elements.iter().find(|element| !fits(element))?;
                return Some(format!("has {}, which is neither a string nor a number of 64 bits", shown(misfit)));
            }
            (Self::Number, Cell::Number(number)) => {
                return (number.is_u64() && !number.is_i64()).then(|| "is beyond 64 bits".to_owned());
            }
            (Self::Datetime, Cell::String(text)) => {
                let written = DateTime::strptime(TIME_FORMAT, text).map(|time| time.strftime(TIME_FORMAT).to_string());
                return (written.ok().as_ref() != Some(text))
                    .then(|| "is not a time in whole seconds, written YYYY-MM-DD HH:MM:SS".to_owned());
            }
            (_, Cell::String(_)) => "a string",
            (_, Cell::Number(_)) => "a number",
            (_, Cell::Bool(_)) => "a boolean",
            (_, Cell::Array(_)) => "a list",
            (_, Cell::Object(_)) => "an object",
        };
        Some(format!("is {found}, not a {}", self.data_type()))
    }
}

fn kinds_by_name<S: Serializer>(attributes: &[Attribute], output: S) -> Result<S::Ok, S::Error> {
    output.collect_map(attributes.iter().map(|attribute| (&attribute.name, attribute.kind.data_type())))
}

pub(super) fn shown(cell: &Cell) -> String {
    let text = if let Cell::String(text) = cell { format!("`{text}`") } else { cell.to_string() };
    excerpt(&text, 60)
}

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

    /// The only values that an attribute may have (section 8), if limited.
    pub(super) fn allowed_values(&self, attribute: &Attribute) -> Option<&'static [(&'static str, i64)]> {
        if self.id != business_object::PROMOTION_CODE_ID || attribute.kind != AttributeKind::Number {
            return None;
        }
        match attribute.name.as_str() {
            "audience_type" => Some(&codes::AUDIENCE_TYPES),
            "code_status" => Some(&codes::STATUSES),
            _ => None,
        }
    }

    pub(super) fn attribute(&self, name: &str) -> Option<(usize, &Attribute)> {
        self.attributes.iter().enumerate().find(|(_, attribute)| attribute.name == name)
    }

    /// An object with these attributes, each with the name of its kind.
    pub(super) fn declared(id: i64, name: String, attributes: Map<String, Cell>) -> Result<Self> {
        if name.is_empty() {
            return Err(Error::new(Kind::Sandbox, "a business object needs a name"));
        }
        let refused = |problem: String| Error::new(Kind::Sandbox, format!("object `{name}`: {problem}"));
        let attribute = |(name, kind): (String, Cell)| {
            // `attrs` may be a comma-separated string (section 4.1).
            if name.is_empty() || name.contains(',') || name.trim() != name {
                let rule = "no commas, no leading or trailing spaces";
                return Err(refused(format!("an attribute cannot be named `{name}`: {rule}")));
            }
            match AttributeKind::deserialize(&kind) {
                Ok(kind) => Ok(Attribute { name, kind }),
                Err(_) => Err(refused(format!("attribute `{name}` cannot be {}", shown(&kind))).with_hint(
                    "it is string, int64, float64, timestamp, bool or list, or as the service says number or datetime",
                )),
            }
        };
        let attributes: Vec<Attribute> = attributes.into_iter().map(attribute).collect::<Result<_>>()?;
        let Some(Attribute { name: first, kind }) = attributes.first() else {
            return Err(refused("it has no attributes; the first one identifies a record".to_owned()));
        };
        if !kind.has_conditions() {
            let kind = kind.data_type();
            return Err(refused(format!("attribute `{first}` identifies a record, so it cannot be a {kind}")));
        }
        Ok(Self { name, id, attributes })
    }

    /// An error about the row with this number, counted from 0.
    pub fn refusal(&self, row: usize, problem: &str) -> Error {
        Error::new(Kind::Sandbox, format!("object `{}`, row {row}: {problem}", self.name))
    }

    /// A row of this JSON text, an object. A member that is absent is null; one that is not declared is refused.
    pub(super) fn row(&self, number: usize, text: &str) -> Result<Row> {
        let refused = |problem: &str| self.refusal(number, problem);
        let row = serde_json::from_str(text).map_err(|cause| refused(&format!("it is not JSON: {cause}")))?;
        let Cell::Object(mut members) = row else {
            return Err(refused(&format!("a row is an object, not {}", shown(&row))));
        };
        let mut cells = Vec::with_capacity(self.attributes.len());
        for attribute in &self.attributes {
            let cell = members.remove(&attribute.name).unwrap_or_default();
            if let Some(problem) = self.problem(attribute, &cell) {
                return Err(refused(&format!("attribute `{}`: {} {problem}", attribute.name, shown(&cell))));
            }
            cells.push(Value::from(cell));
        }
        if let Some(unknown) = members.keys().next() {
            return Err(refused(&format!("it has no attribute `{}`", excerpt(unknown, 60))));
        }
        if cells.first() == Some(&Value::Null) {
            return Err(refused("the identifying attribute is null"));
        }
        Ok(cells.into())
    }

    fn problem(&self, attribute: &Attribute, cell: &Cell) -> Option<String> {
        attribute.kind.problem(cell).or_else(|| {
            let (allowed, number) = (self.allowed_values(attribute)?, cell.as_f64()?);
            let exists = allowed.iter().any(|(_, value)| value.to_string() == number.to_string());
            (!exists).then(|| format!("does not exist; there are {}", listed(allowed)))
        })
    }
}
