//! A value of a request's body together with its place in it, so that a refusal can name both.
//!
//! It knows JSON types and members; what they mean is read elsewhere.

use serde_json::{Map, Value};

use crate::error::excerpt;
use crate::sandbox::reply::Refusal;

/// How much of a value is quoted.
const QUOTED: usize = 60;

/// A value and where it stands, as `filters.OR[0].AND[2].value`; the body itself stands nowhere.
pub(super) struct Node<'a> {
    pub(super) value: &'a Value,
    place: String,
}

impl<'a> Node<'a> {
    /// The body.
    pub(super) fn body(value: &'a Value) -> Self {
        Self { value, place: String::new() }
    }

    /// A refusal that names this place.
    pub(super) fn refusal(&self, problem: &str) -> Refusal {
        let place = if self.place.is_empty() { "the body" } else { &self.place };
        Refusal::malformed(format!("{place}: {problem}"))
    }

    /// A refusal that names this place and quotes the value.
    pub(super) fn unfit(&self, expected: &str) -> Refusal {
        self.refusal(&format!("{} is not {expected}", excerpt(&self.value.to_string(), QUOTED)))
    }

    /// The value as an object that has no members but these: one that nobody reads would be a silent mistake.
    pub(super) fn object(&self, known: &[&str]) -> Result<&'a Map<String, Value>, Refusal> {
        let object = self.value.as_object().ok_or_else(|| self.unfit("an object"))?;
        match object.keys().find(|name| !known.contains(&name.as_str())) {
            None => Ok(object),
            Some(name) => {
                let name = excerpt(name, QUOTED);
                Err(self.refusal(&format!("`{name}` is not known here; known are {}", known.join(", "))))
            }
        }
    }

    /// A member, which must be there.
    pub(super) fn member(&self, name: &str) -> Result<Self, Refusal> {
        self.optional(name).ok_or_else(|| self.refusal(&format!("`{name}` is required")))
    }

    /// A member that may be absent.
    pub(super) fn optional(&self, name: &str) -> Option<Self> {
        let value = self.value.get(name)?;
        let divider = if self.place.is_empty() { "" } else { "." };
        Some(Self { value, place: format!("{}{divider}{name}", self.place) })
    }

    /// The value as an array.
    pub(super) fn array(&self) -> Result<&'a [Value], Refusal> {
        self.value.as_array().map(Vec::as_slice).ok_or_else(|| self.unfit("an array"))
    }

    /// An element of the value, which is an array.
    pub(super) fn element(&self, index: usize, value: &'a Value) -> Self {
        Self { value, place: format!("{}[{index}]", self.place) }
    }

    /// The elements of the value, which must be an array.
    pub(super) fn elements(&self) -> Result<impl Iterator<Item = Self>, Refusal> {
        Ok(self.array()?.iter().enumerate().map(|(index, value)| self.element(index, value)))
    }

    /// The value as a text.
    pub(super) fn text(&self) -> Result<&'a str, Refusal> {
        self.value.as_str().ok_or_else(|| self.unfit("a text"))
    }

    /// The value as a whole number; JSON has one kind of number, so that `4.0` is one too.
    pub(super) fn integer(&self) -> Result<i64, Refusal> {
        let whole = |number: f64| (number.fract() == 0.0).then(|| format!("{number:.0}").parse().ok()).flatten();
        let integer = self.value.as_i64().or_else(|| self.value.as_f64().and_then(whole));
        integer.ok_or_else(|| self.unfit("a whole number"))
    }

    /// The value as the one text that is allowed here.
    pub(super) fn fixed(&self, expected: &str) -> Result<(), Refusal> {
        if self.text()? == expected { Ok(()) } else { Err(self.unfit(&format!("`{expected}`, the only one shown"))) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_whole_number_may_be_written_with_a_point() {
        let read = |text: &str| Node::body(&serde_json::from_str(text).unwrap()).integer().ok();
        assert_eq!(read("-100"), Some(-100));
        assert_eq!(read("-100.0"), Some(-100));
        assert_eq!(read("5.637051e6"), Some(5_637_051));
        assert_eq!(read("-9223372036854775808"), Some(i64::MIN));
        for refused in ["0.5", "9223372036854775808", "1e300", "\"1\"", "true", "null", "[1]"] {
            assert_eq!(read(refused), None, "{refused}");
        }
    }
}
