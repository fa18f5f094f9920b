//! The problems found so far, and the place each was found at.
//!
//! A check reports here and goes on, so that one error tells everything. It knows no rule.

use crate::error::{Error, Kind, Problem, Result, sanitize};

use super::input::InputValue;

/// Problems told of one list of values; a count stands for the rest.
const TOLD_OF_A_LIST: usize = 100;

/// Where a value stands: as its caller typed it, and in the body as sent.
#[derive(Clone, Debug)]
pub(super) struct Place {
    argument: String,
    path: String,
    spelling: Spelling,
}

/// How the caller spelled the request.
#[derive(Clone, Debug)]
enum Spelling {
    /// As arguments: fields of a condition have no name of their own.
    Arguments,
    /// As an expression: the condition is named in the message.
    Expression(String),
    /// As the body itself: fields are typed.
    Body,
}

impl Place {
    /// An argument and its place in the body, which is empty when it has none.
    pub(super) fn argument(argument: &str, path: impl Into<String>) -> Self {
        Self { argument: argument.to_owned(), path: path.into(), spelling: Spelling::Arguments }
    }

    /// A condition within an expression.
    pub(super) fn within(argument: &str, condition: String, path: impl Into<String>) -> Self {
        Self { argument: argument.to_owned(), path: path.into(), spelling: Spelling::Expression(condition) }
    }

    /// A part of a body that the caller typed.
    pub(super) fn body(argument: impl Into<String>, path: impl Into<String>) -> Self {
        Self { argument: argument.into(), path: path.into(), spelling: Spelling::Body }
    }

    /// A field below this place.
    pub(super) fn field(&self, name: &str) -> Self {
        let mut place = self.clone();
        place.path = if place.path.is_empty() { name.to_owned() } else { format!("{}.{name}", place.path) };
        if matches!(place.spelling, Spelling::Body) {
            place.argument = format!("{}[\"{name}\"]", place.argument);
        }
        place
    }

    /// An element of the list at this place.
    pub(super) fn element(&self, index: usize) -> Self {
        let mut place = self.clone();
        place.path = format!("{}[{index}]", place.path);
        match &mut place.spelling {
            Spelling::Expression(condition) => *condition = format!("{condition}[{index}]"),
            Spelling::Arguments | Spelling::Body => place.argument = format!("{}[{index}]", place.argument),
        }
        place
    }
}

/// The problems found so far.
#[derive(Debug, Default)]
pub(super) struct Problems(Vec<Problem>);

impl Problems {
    /// Adds one.
    pub(super) fn add(&mut self, place: &Place, value: &InputValue, message: impl Into<String>) {
        let message = message.into();
        let message = match &place.spelling {
            Spelling::Expression(condition) => format!("{condition}: {message}"),
            Spelling::Arguments | Spelling::Body => message,
        };
        // Keys that the caller typed stand in all three.
        self.0.push(Problem {
            argument: sanitize(&place.argument),
            path: sanitize(&place.path),
            message: sanitize(&message),
            value: value.shown(),
        });
    }

    /// The value that was read, or its problem noted.
    pub(super) fn keep<T>(&mut self, place: &Place, value: &InputValue, read: Result<T, String>) -> Option<T> {
        read.map_err(|message| self.add(place, value, message)).ok()
    }

    /// Reads one value or several; `None` when any of them has a problem.
    pub(super) fn keep_each<T>(
        &mut self,
        place: &Place,
        value: &InputValue,
        read: impl Fn(&InputValue) -> Result<T, String>,
    ) -> Option<Vec<T>> {
        let InputValue::List(values) = value else {
            return self.keep(place, value, read(value)).map(|value| vec![value]);
        };
        let mut good = Vec::with_capacity(values.len());
        let mut bad = 0;
        for (index, value) in values.iter().enumerate() {
            match read(value) {
                Ok(value) => good.push(value),
                Err(message) => {
                    bad += 1;
                    if bad <= TOLD_OF_A_LIST {
                        self.add(&place.element(index), value, message);
                    }
                }
            }
        }
        if bad > TOLD_OF_A_LIST {
            self.add(
                place,
                value,
                format!("{} more of its {} values have problems", bad - TOLD_OF_A_LIST, values.len()),
            );
        }
        (bad == 0).then_some(good)
    }

    /// What was checked, unless there were problems.
    pub(super) fn settle<T>(self, checked: Option<T>) -> Result<T> {
        match checked {
            Some(checked) if self.0.is_empty() => Ok(checked),
            None if self.0.is_empty() => Err(Error::new(Kind::Internal, "a request was refused without a reason")),
            _ => Err(Error::validation(self.0)),
        }
    }
}
