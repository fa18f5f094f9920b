//! A value of a request's body with its path, so that a refusal can name both.

use serde_json::{Map, Value};

use crate::error::excerpt;
use crate::sandbox::reply::Refusal;

/// Most characters of a quoted value.
const MAX_QUOTED: usize = 60;

/// A value and its path, as `filters.OR[0].AND[2].value`; the path of the body is empty.
pub(super) struct BodyValue<'a> {
    pub(super) value: &'a Value,
    path: String,
}

impl<'a> BodyValue<'a> {
    /// The body.
    pub(super) fn body(value: &'a Value) -> Self {
        Self { value, path: String::new() }
    }

    /// A refusal that names this path.
    pub(super) fn refusal(&self, problem: &str) -> Refusal {
        let path = if self.path.is_empty() { "the body" } else { &self.path };
        Refusal::malformed(format!("{path}: {problem}"))
    }

    /// A refusal that names this path and quotes the value.
    pub(super) fn mismatch(&self, expected: &str) -> Refusal {
        self.refusal(&format!("{} is not {expected}", excerpt(&self.value.to_string(), MAX_QUOTED)))
    }

    /// The value as an object with no other members than these: an ignored member would hide a mistake.
    pub(super) fn object(&self, known: &[&str]) -> Result<&'a Map<String, Value>, Refusal> {
        let object = self.value.as_object().ok_or_else(|| self.mismatch("an object"))?;
        match object.keys().find(|name| !known.contains(&name.as_str())) {
            None => Ok(object),
            Some(name) => {
                let name = excerpt(name, MAX_QUOTED);
                Err(self.refusal(&format!("`{name}` is not known here; known are {}", known.join(", "))))
            }
        }
    }

    /// A required member.
    pub(super) fn member(&self, name: &str) -> Result<Self, Refusal> {
        self.optional(name).ok_or_else(|| self.refusal(&format!("`{name}` is required")))
    }

    /// A member that may be absent.
    pub(super) fn optional(&self, name: &str) -> Option<Self> {
        let value = self.value.get(name)?;
        let divider = if self.path.is_empty() { "" } else { "." };
        Some(Self { value, path: format!("{}{divider}{name}", self.path) })
    }

    /// The value as an array.
    pub(super) fn array(&self) -> Result<&'a [Value], Refusal> {
        self.value.as_array().map(Vec::as_slice).ok_or_else(|| self.mismatch("an array"))
    }

    /// An element of the value, which is an array.
    pub(super) fn element(&self, index: usize, value: &'a Value) -> Self {
        Self { value, path: format!("{}[{index}]", self.path) }
    }

    /// The elements of the value, which must be an array.
    pub(super) fn elements(&self) -> Result<impl Iterator<Item = Self>, Refusal> {
        Ok(self.array()?.iter().enumerate().map(|(index, value)| self.element(index, value)))
    }

    /// The value as a string.
    pub(super) fn text(&self) -> Result<&'a str, Refusal> {
        self.value.as_str().ok_or_else(|| self.mismatch("a string"))
    }

    /// The value as an integer; JSON has one number type, so `4.0` is one too.
    pub(super) fn integer(&self) -> Result<i64, Refusal> {
        let whole = |number: f64| (number.fract() == 0.0).then(|| format!("{number:.0}").parse().ok()).flatten();
        let integer = self.value.as_i64().or_else(|| self.value.as_f64().and_then(whole));
        integer.ok_or_else(|| self.mismatch("an integer"))
    }

    /// Checks that the value is the only string allowed here.
    pub(super) fn constant(&self, expected: &str) -> Result<(), Refusal> {
        if self.text()? == expected {
            Ok(())
        } else {
            Err(self.mismatch(&format!("`{expected}`, the only documented value")))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_integer_may_be_written_with_a_point() {
        let read = |text: &str| BodyValue::body(&serde_json::from_str(text).unwrap()).integer().ok();
        assert_eq!(read("-100"), Some(-100));
        assert_eq!(read("-100.0"), Some(-100));
        assert_eq!(read("5.637051e6"), Some(5_637_051));
        assert_eq!(read("-9223372036854775808"), Some(i64::MIN));
        for refused in ["0.5", "9223372036854775808", "1e300", "\"1\"", "true", "null", "[1]"] {
            assert_eq!(read(refused), None, "{refused}");
        }
    }
}
