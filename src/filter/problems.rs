//! The problems found in a request, each with its argument and its path in the body.
//!
//! A check adds its problems and goes on, so that one error reports all of them.

use std::borrow::Cow;
use std::collections::HashMap;
use std::mem::{Discriminant, discriminant};

use crate::error::{Error, Problem, Result, defect, sanitize};

use super::input::InputValue;

/// Problems that are listed of one list, for each kind of value; the others are only counted.
const LISTED_OF_A_KIND: usize = 3;

/// Where a value is: in the arguments of the caller, and in the body as sent.
#[derive(Clone, Debug)]
pub(super) struct Place {
    pub(super) argument: Cow<'static, str>,
    /// Empty for an argument that is not sent.
    pub(super) path: Cow<'static, str>,
    pub(super) notation: Notation,
}

/// How the caller wrote the request.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Notation {
    /// As arguments: the fields of a condition have no name of their own.
    Arguments,
    /// As an expression: the message names the condition.
    Expression(String),
    /// As the body itself: the caller wrote the fields.
    Body,
}

impl Place {
    /// An argument.
    pub(super) fn argument(argument: &'static str, path: impl Into<Cow<'static, str>>) -> Self {
        Self { argument: argument.into(), path: path.into(), notation: Notation::Arguments }
    }

    /// A field of this object.
    pub(super) fn field(&self, name: &str) -> Self {
        let argument = match self.notation {
            Notation::Body => format!("{}[\"{name}\"]", self.argument).into(),
            _ => self.argument.clone(),
        };
        Self { argument, path: format!("{}.{name}", self.path).into(), notation: self.notation.clone() }
    }

    /// An element of this list.
    pub(super) fn element(&self, index: usize) -> Self {
        let mut place = self.clone();
        place.path = format!("{}[{index}]", self.path).into();
        match &mut place.notation {
            Notation::Expression(condition) => *condition = format!("{condition}[{index}]"),
            _ => place.argument = format!("{}[{index}]", self.argument).into(),
        }
        place
    }
}

/// The problems found so far.
#[derive(Debug, Default)]
pub(super) struct Problems(Vec<Problem>);

impl Problems {
    /// The result of a check, or the error that reports all its problems.
    pub(super) fn collect<T>(check: impl FnOnce(&mut Self) -> Option<T>) -> Result<T> {
        let mut problems = Self::default();
        match check(&mut problems) {
            Some(checked) if problems.0.is_empty() => Ok(checked),
            None if problems.0.is_empty() => Err(defect("validation failed without a problem")),
            _ => Err(Error::validation(problems.0)),
        }
    }

    pub(super) const fn len(&self) -> usize {
        self.0.len()
    }

    /// Adds a problem.
    pub(super) fn add(&mut self, place: &Place, value: &InputValue, message: impl Into<String>) {
        let message = match &place.notation {
            Notation::Expression(condition) => format!("{condition}: {}", message.into()),
            _ => message.into(),
        };
        // All three may hold keys that the caller wrote.
        self.0.push(Problem {
            argument: sanitize(&place.argument),
            path: sanitize(&place.path),
            message: sanitize(&message),
            value: value.shown(),
        });
    }

    /// The value that was read; adds the problem otherwise.
    pub(super) fn keep<T>(&mut self, place: &Place, value: &InputValue, read: Result<T, String>) -> Option<T> {
        read.map_err(|message| self.add(place, value, message)).ok()
    }

    /// Reads one value or several; `None` when any of them has a problem.
    pub(super) fn keep_each<T>(
        &mut self,
        place: impl Fn() -> Place,
        value: &InputValue,
        read: impl Fn(&InputValue) -> Result<T, String>,
    ) -> Option<Vec<T>> {
        let InputValue::List(values) = value else {
            return match read(value) {
                Ok(value) => Some(vec![value]),
                Err(message) => {
                    self.add(&place(), value, message);
                    None
                }
            };
        };
        let mut good = Vec::with_capacity(values.len());
        let mut bad: HashMap<Discriminant<InputValue>, usize> = HashMap::new();
        for (index, value) in values.iter().enumerate() {
            match read(value) {
                Ok(value) => good.push(value),
                Err(message) => {
                    let count = bad.entry(discriminant(value)).or_default();
                    *count += 1;
                    if *count <= LISTED_OF_A_KIND {
                        self.add(&place().element(index), value, message);
                    }
                }
            }
        }
        let more: usize = bad.values().map(|count| count.saturating_sub(LISTED_OF_A_KIND)).sum();
        if more > 0 {
            self.add(&place(), value, format!("{more} more of its {} values have such problems", values.len()));
        }
        bad.is_empty().then_some(good)
    }
}
