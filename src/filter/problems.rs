//! The problems found in a request, each with its argument and its path in the body.
//!
//! A check adds its problems and goes on, so that one error reports all of them.

use std::mem::{Discriminant, discriminant};

use crate::error::{Error, Problem, Result, defect, sanitize};

use super::input::InputValue;

/// Problems that are listed of one list, for each kind of value; the others are only counted.
const LISTED_OF_A_KIND: usize = 3;

/// Where a value is: in the arguments of the caller, and in the body as sent.
#[derive(Clone, Debug)]
pub(super) struct ProblemPath {
    argument: String,
    path: String,
    notation: Notation,
}

/// How the caller wrote the request.
#[derive(Clone, Debug)]
enum Notation {
    /// As arguments: the fields of a condition have no name of their own.
    Arguments,
    /// As an expression: the message names the condition.
    Expression(String),
    /// As the body itself: the caller wrote the fields.
    Body,
}

impl ProblemPath {
    /// An argument, and its path, which is empty when it is not sent.
    pub(super) fn argument(argument: &str, path: impl Into<String>) -> Self {
        Self { argument: argument.to_owned(), path: path.into(), notation: Notation::Arguments }
    }

    /// A condition of an expression.
    pub(super) fn expression(argument: &str, condition: String, path: String) -> Self {
        Self { argument: argument.to_owned(), path, notation: Notation::Expression(condition) }
    }

    /// A part of a body that the caller wrote.
    pub(super) fn body(argument: &str, path: impl Into<String>) -> Self {
        Self { argument: argument.to_owned(), path: path.into(), notation: Notation::Body }
    }

    /// What the caller writes before the name of a comparison: `da.after(t)`, or `.after(t)` on a column.
    pub(super) const fn comparison_prefix(&self) -> &'static str {
        match self.notation {
            Notation::Arguments => "da.",
            Notation::Expression(_) | Notation::Body => ".",
        }
    }

    /// A field of this object.
    pub(super) fn field(&self, name: &str) -> Self {
        let mut location = self.clone();
        location.path = if self.path.is_empty() { name.to_owned() } else { format!("{}.{name}", self.path) };
        if matches!(self.notation, Notation::Body) {
            location.argument = format!("{}[\"{name}\"]", self.argument);
        }
        location
    }

    /// An element of this list.
    pub(super) fn element(&self, index: usize) -> Self {
        let mut location = self.clone();
        location.path = format!("{}[{index}]", self.path);
        match &mut location.notation {
            Notation::Expression(condition) => *condition = format!("{condition}[{index}]"),
            Notation::Arguments | Notation::Body => location.argument = format!("{}[{index}]", self.argument),
        }
        location
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

    /// Adds a problem.
    pub(super) fn add(&mut self, location: &ProblemPath, value: &InputValue, message: impl Into<String>) {
        let message = message.into();
        let message = match &location.notation {
            Notation::Expression(condition) => format!("{condition}: {message}"),
            Notation::Arguments | Notation::Body => message,
        };
        // All three may hold keys that the caller wrote.
        self.0.push(Problem {
            argument: sanitize(&location.argument),
            path: sanitize(&location.path),
            message: sanitize(&message),
            value: value.shown(),
        });
    }

    /// The value that was read; adds the problem otherwise.
    pub(super) fn keep<T>(&mut self, location: &ProblemPath, value: &InputValue, read: Result<T, String>) -> Option<T> {
        read.map_err(|message| self.add(location, value, message)).ok()
    }

    /// As [`Problems::keep`], for a field of an object.
    pub(super) fn keep_field<T>(
        &mut self,
        object: &ProblemPath,
        field: &str,
        value: &InputValue,
        read: Result<T, String>,
    ) -> Option<T> {
        read.map_err(|message| self.add(&object.field(field), value, message)).ok()
    }

    /// Reads one value or several; `None` when any of them has a problem.
    pub(super) fn keep_each<T>(
        &mut self,
        location: &ProblemPath,
        value: &InputValue,
        read: impl Fn(&InputValue) -> Result<T, String>,
    ) -> Option<Vec<T>> {
        let InputValue::List(values) = value else {
            return self.keep(location, value, read(value)).map(|value| vec![value]);
        };
        let mut good = Vec::with_capacity(values.len());
        let mut bad: Vec<(Discriminant<InputValue>, usize)> = Vec::new();
        for (index, value) in values.iter().enumerate() {
            match read(value) {
                Ok(value) => good.push(value),
                Err(message) => {
                    let kind = discriminant(value);
                    let known = bad.iter().position(|(known, _)| *known == kind).unwrap_or(bad.len());
                    if known == bad.len() {
                        bad.push((kind, 0));
                    }
                    let Some((_, count)) = bad.get_mut(known) else { continue };
                    *count += 1;
                    if *count <= LISTED_OF_A_KIND {
                        self.add(&location.element(index), value, message);
                    }
                }
            }
        }
        let more: usize = bad.iter().map(|(_, count)| count.saturating_sub(LISTED_OF_A_KIND)).sum();
        if more > 0 {
            self.add(location, value, format!("{more} more of its {} values have such problems", values.len()));
        }
        bad.is_empty().then_some(good)
    }
}
