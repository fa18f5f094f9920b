//! The arguments that a message names. A front end spells them in its own way: `timeout=5` in Python, `--timeout 5` in
//! the command, `.option("timeout", "5")` in Spark.
//!
//! Where a message names an argument, its spelling in Python, its name and its value stand between marks. The marks are
//! code points that Unicode reserves for use inside a program; [`sanitize`](super::sanitize) escapes them.

use std::borrow::Cow;
use std::fmt;

const OPEN: char = '\u{fdd0}';
const NEXT: char = '\u{fdd1}';
const CLOSE: char = '\u{fdd2}';

/// Whether a character marks an argument.
pub(super) const fn is_mark(character: char) -> bool {
    matches!(character, OPEN..=CLOSE)
}

/// An argument of a call in a message.
#[derive(Clone, Debug)]
pub struct Argument<'a> {
    name: &'a str,
    value: Option<String>,
    python: Cow<'a, str>,
}

/// An argument that the user can pass: `timeout=`.
#[must_use]
pub fn argument(name: &str) -> Argument<'_> {
    Argument { name, value: None, python: format!("{name}=").into() }
}

/// An argument by its bare name: `code_status`.
#[must_use]
pub fn named(name: &str) -> Argument<'_> {
    Argument { name, value: None, python: name.into() }
}

/// [`argument`] as a constant, for `concat!`.
macro_rules! argument {
    ($name:literal) => {
        concat!("\u{fdd0}", $name, "=\u{fdd1}", $name, "\u{fdd2}")
    };
}
pub(crate) use argument as constant_argument;

/// A phrase about what only a program can do: other front ends leave it out.
#[must_use]
pub fn for_programs(phrase: &str) -> Argument<'_> {
    Argument { name: "", value: None, python: phrase.into() }
}

impl<'a> Argument<'a> {
    /// The argument with a value that Python writes without quotes: `timeout=5`.
    #[must_use]
    pub fn of(self, value: impl fmt::Display) -> Self {
        let value = value.to_string();
        Self { python: format!("{}={value}", self.name).into(), value: Some(value), ..self }
    }

    /// The argument with a string: `missing="ignore"`.
    #[must_use]
    pub fn of_string(self, value: &str) -> Self {
        Self { python: format!("{}={value:?}", self.name).into(), value: Some(value.to_owned()), ..self }
    }

    /// Another spelling in Python, such as `da.days`.
    #[must_use]
    pub fn in_python(self, python: impl Into<Cow<'a, str>>) -> Self {
        Self { python: python.into(), ..self }
    }
}

/// With marks: for messages of [`Error`](super::Error) and [`Problem`](super::Problem).
impl fmt::Display for Argument<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{OPEN}{}{NEXT}{}", self.python, self.name)?;
        if let Some(value) = &self.value {
            write!(formatter, "{NEXT}{value}")?;
        }
        write!(formatter, "{CLOSE}")
    }
}

/// A message as Python spells it, without marks.
#[must_use]
pub fn in_python(message: &str) -> Cow<'_, str> {
    let mut pieces = message.split(OPEN);
    let first = pieces.next().unwrap_or_default();
    if first.len() == message.len() {
        return Cow::Borrowed(message);
    }
    let mut plain = first.to_owned();
    for piece in pieces {
        let (argument, rest) = piece.split_once(CLOSE).unwrap_or((piece, ""));
        plain.extend([argument.split(NEXT).next().unwrap_or_default(), rest]);
    }
    Cow::Owned(plain)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::{Error, Kind, sanitize};

    #[test]
    fn a_message_is_spelled_for_python() {
        let message = format!(
            "{} s ended it: raise {}, or pass {}; {} is {}",
            argument("timeout").of(5),
            argument("timeout"),
            argument("missing").of_string("ignore"),
            named("code_status"),
            named("days").in_python("da.days"),
        );
        let expected = "timeout=5 s ended it: raise timeout=, or pass missing=\"ignore\"; code_status is da.days";
        assert_eq!(in_python(&message), expected);
        let error = Error::new(Kind::Config, message).with_hint(argument("timeout").to_string());
        assert_eq!((error.to_string().as_str(), error.hint().as_deref()), (expected, Some("timeout=")));
        assert_eq!(in_python("raise it"), "raise it");
        assert_eq!(constant_argument!("timeout"), argument("timeout").to_string());
    }

    #[test]
    fn text_of_others_names_no_argument() {
        assert_eq!(sanitize(&named("a").to_string()), "\\u{fdd0}a\\u{fdd1}a\\u{fdd2}");
        assert_eq!(in_python("cut \u{fdd0}off"), "cut off");
    }
}
