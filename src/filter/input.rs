//! A value as the caller gave it, before any check.
//!
//! It holds any Python value, also one that no request can hold, so that the problems of all arguments are reported
//! together.

use std::fmt::{self, Write as _};

use crate::error::{is_unsafe_for_terminal, sanitize};

use super::days::Days;
use super::normal_form::{Tree, join};

/// Characters of a value in a problem.
const MAX_SHOWN: usize = 60;

/// A value as the caller gave it.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum InputValue {
    /// `None`, and an argument that was left out.
    #[default]
    Null,
    /// A bool, which is not a number here.
    Bool(bool),
    /// An integer.
    Integer(i64),
    /// The decimal digits of an integer that `i64` cannot hold.
    BigInteger(String),
    /// A float, also NaN.
    Number(f64),
    /// A string.
    Text(String),
    /// A date or datetime, in ISO 8601.
    Moment(String),
    /// Several values.
    List(Vec<InputValue>),
    /// Names with values, in the order given.
    Map(Vec<(String, InputValue)>),
    /// Conditions on columns, joined by `&` and `|`.
    Expression(Box<Tree<ColumnCondition>>),
    /// A comparison without a column.
    Comparison(Box<Comparison>),
    /// A range of days.
    Days(Box<Days>),
    /// Anything else.
    Other {
        /// Name of its type.
        type_name: String,
        /// Its `repr`.
        shown: String,
    },
}

/// A comparison of a column, such as `col("name").matches(values)`.
#[derive(Clone, Debug, PartialEq)]
pub struct ColumnCondition {
    /// Name of the column.
    pub column: InputValue,
    /// What it is compared with.
    pub comparison: Comparison,
}

/// A comparison, such as `after(time)` or `op(name, values)`.
#[derive(Clone, Debug, PartialEq)]
pub struct Comparison {
    /// The method the caller chose.
    pub method: Method,
    /// The value or values.
    pub value: InputValue,
    /// The unit of `op`, or null.
    pub unit: InputValue,
    /// The data type of `op`, or null.
    pub data_type: InputValue,
}

impl Comparison {
    /// A comparison without unit and data type.
    #[must_use]
    pub const fn new(method: Method, value: InputValue) -> Self {
        Self { method, value, unit: InputValue::Null, data_type: InputValue::Null }
    }
}

/// The methods that compare.
#[derive(Clone, Debug, PartialEq)]
pub enum Method {
    /// `matches(values)`, and a plain value or list.
    Matches,
    /// `equals(value)`.
    Equals,
    /// `after(time)`.
    After,
    /// `before(time)`.
    Before,
    /// `since(day)`.
    Since,
    /// `until(day)`.
    Until,
    /// `on(day)`.
    On,
    /// `op(name, …)`: an operator sent as given.
    Operator(InputValue),
}

impl Method {
    /// Its name, as it is called.
    pub(super) const fn name(&self) -> &'static str {
        match self {
            Self::Matches => "matches",
            Self::Equals => "equals",
            Self::After => "after",
            Self::Before => "before",
            Self::Since => "since",
            Self::Until => "until",
            Self::On => "on",
            Self::Operator(_) => "op",
        }
    }

    /// Whether it sends one of these operators as given.
    pub(super) fn is_operator(&self, names: &[&str]) -> bool {
        matches!(self, Self::Operator(InputValue::Text(name)) if names.contains(&name.as_str()))
    }

    /// Whether it compares times.
    pub(super) const fn is_of_times(&self) -> bool {
        matches!(self, Self::After | Self::Before | Self::Since | Self::Until | Self::On)
    }
}

impl InputValue {
    /// A string.
    pub fn text(text: impl Into<String>) -> Self {
        Self::Text(text.into())
    }

    /// Whether it is this string.
    pub(super) fn is_text(&self, text: &str) -> bool {
        matches!(self, Self::Text(own) if own == text)
    }

    /// Whether it is null or was left out.
    pub const fn is_null(&self) -> bool {
        matches!(self, Self::Null)
    }

    /// Its type, with an article.
    pub fn kind(&self) -> String {
        let kind = match self {
            Self::Null => "None",
            Self::Bool(_) => "a bool",
            Self::Integer(_) | Self::BigInteger(_) => "an integer",
            Self::Number(number) if number.is_nan() => "NaN",
            Self::Number(_) => "a float",
            Self::Text(_) => "a string",
            Self::Moment(_) => "a time",
            Self::List(_) => "a list",
            Self::Map(_) => "a dict",
            Self::Expression(_) => "an expression",
            Self::Comparison(_) => "a comparison",
            Self::Days(_) => "a range of days",
            Self::Other { type_name, .. } => return format!("of type {}", sanitize(type_name)),
        };
        kind.to_owned()
    }

    /// The value as the caller would recognise it: one line, shortened.
    pub fn shown(&self) -> String {
        let mut line = Line(String::new(), MAX_SHOWN);
        // An error means that the line is full.
        match write!(line, "{self}") {
            Ok(()) => line.0,
            Err(fmt::Error) => line.0 + "…",
        }
    }
}

/// A line, and the characters that it may still take: when it is full it refuses others, so that showing a long list costs
/// little.
struct Line(String, usize);

impl fmt::Write for Line {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        for character in text.chars() {
            self.1 = self.1.checked_sub(1).ok_or(fmt::Error)?;
            if is_unsafe_for_terminal(character) {
                self.0.extend(character.escape_default());
            } else {
                self.0.push(character);
            }
        }
        Ok(())
    }
}

impl fmt::Display for InputValue {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Null => formatter.write_str("None"),
            Self::Bool(true) => formatter.write_str("True"),
            Self::Bool(false) => formatter.write_str("False"),
            Self::Integer(number) => number.fmt(formatter),
            Self::BigInteger(digits) => formatter.write_str(digits),
            Self::Number(number) if number.is_nan() => formatter.write_str("nan"),
            Self::Number(number) => write!(formatter, "{number:?}"),
            Self::Text(text) => write!(formatter, "\"{text}\""),
            Self::Moment(text) => formatter.write_str(text),
            Self::List(values) => {
                formatter.write_char('[')?;
                join(formatter, values, ", ", |formatter, value| value.fmt(formatter))?;
                formatter.write_char(']')
            }
            Self::Map(entries) => {
                formatter.write_char('{')?;
                join(formatter, entries, ", ", |formatter, (name, value)| write!(formatter, "\"{name}\": {value}"))?;
                formatter.write_char('}')
            }
            Self::Expression(tree) => tree.fmt(formatter),
            Self::Comparison(comparison) => comparison.fmt(formatter),
            Self::Days(days) => days.fmt(formatter),
            Self::Other { shown, .. } => formatter.write_str(shown),
        }
    }
}

impl fmt::Display for Comparison {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.method {
            Method::Operator(name) => write!(formatter, "op({name}, {})", self.value),
            method => write!(formatter, "{}({})", method.name(), self.value),
        }
    }
}

impl fmt::Display for ColumnCondition {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "col({}).{}", self.column, self.comparison)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_shown_as_they_were_typed() {
        let comparison = Comparison::new(Method::After, InputValue::text("2024-01-01"));
        let list = InputValue::List(vec![
            InputValue::Null,
            InputValue::Bool(true),
            InputValue::Number(3.0),
            InputValue::text("a"),
        ]);
        for (input, shown) in [
            (list.clone(), "[None, True, 3.0, \"a\"]"),
            (InputValue::Map(vec![("OR".to_owned(), InputValue::List(Vec::new()))]), "{\"OR\": []}"),
            (InputValue::Comparison(Box::new(comparison.clone())), "after(\"2024-01-01\")"),
            (
                InputValue::Days(Box::new(Days::Range { start: InputValue::Integer(1), stop: InputValue::Integer(2) })),
                "days(1, 2)",
            ),
            (
                InputValue::Expression(Box::new(Tree::Any(vec![
                    Tree::Leaf(ColumnCondition { column: InputValue::text("t"), comparison }),
                    Tree::Leaf(ColumnCondition {
                        column: InputValue::text("x"),
                        comparison: Comparison::new(Method::Operator(InputValue::text("gt")), InputValue::Integer(1)),
                    }),
                ]))),
                "col(\"t\").after(\"2024-01-01\") | col(\"x\").op(\"gt\", 1)",
            ),
        ] {
            assert_eq!(input.shown(), shown);
        }
    }

    #[test]
    fn long_values_are_cut_and_control_characters_escaped() {
        let shown = InputValue::List(vec![InputValue::Integer(1); 1_000_000]).shown();
        assert_eq!(shown.chars().count(), MAX_SHOWN + 1);
        assert!(shown.ends_with('…'));
        assert_eq!(InputValue::text("a\n\u{1b}[31m").shown(), "\"a\\n\\u{1b}[31m\"");
    }
}
