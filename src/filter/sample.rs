//! Short ways to write what a caller gives, and to read what comes of it, for the tests of this room.

use serde_json::Value;

use super::given::{ColumnCondition, Comparison, Days, Given, Method};
use super::normal_form::Tree;
use crate::error::{Kind, Problem, Result};

/// What Python's values of a JSON text are.
pub(super) fn given(value: Value) -> Given {
    match value {
        Value::Null => Given::Null,
        Value::Bool(truth) => Given::Bool(truth),
        Value::Number(number) => {
            number.as_i64().map_or_else(|| Given::Number(number.as_f64().unwrap_or(f64::NAN)), Given::Integer)
        }
        Value::String(text) => Given::Text(text),
        Value::Array(values) => Given::List(values.into_iter().map(given).collect()),
        Value::Object(fields) => Given::Map(fields.into_iter().map(|(name, value)| (name, given(value))).collect()),
    }
}

pub(super) fn after(time: impl Into<Value>) -> Given {
    compared(Method::After, time.into())
}

pub(super) fn before(time: impl Into<Value>) -> Given {
    compared(Method::Before, time.into())
}

pub(super) fn on(day: impl Into<Value>) -> Given {
    compared(Method::On, day.into())
}

pub(super) fn op(name: &str, values: impl Into<Value>) -> Given {
    compared(Method::Operator(Given::text(name)), values.into())
}

pub(super) fn days(start: &str, stop: &str) -> Given {
    Given::Days(Box::new(Days { start: Given::text(start), stop: Given::text(stop) }))
}

/// `on(days(start, stop))`.
pub(super) fn compared_days(start: &str, stop: &str) -> Given {
    Given::Comparison(Box::new(Comparison::new(Method::On, days(start, stop))))
}

fn compared(method: Method, value: Value) -> Given {
    Given::Comparison(Box::new(Comparison::new(method, given(value))))
}

/// `col(column)` with one of the above.
pub(super) fn col(column: &str, compared: Given) -> Tree<ColumnCondition> {
    let Given::Comparison(comparison) = compared else { panic!("{compared} is no comparison") };
    Tree::Leaf(ColumnCondition { column: Given::text(column), comparison: *comparison })
}

pub(super) fn matches(column: &str, values: impl Into<Value>) -> Tree<ColumnCondition> {
    col(column, compared(Method::Matches, values.into()))
}

pub(super) fn equals(column: &str, value: impl Into<Value>) -> Tree<ColumnCondition> {
    col(column, compared(Method::Equals, value.into()))
}

pub(super) fn all<const N: usize>(parts: [Tree<ColumnCondition>; N]) -> Tree<ColumnCondition> {
    Tree::All(parts.into())
}

pub(super) fn any<const N: usize>(parts: [Tree<ColumnCondition>; N]) -> Tree<ColumnCondition> {
    Tree::Any(parts.into())
}

pub(super) fn expression(tree: Tree<ColumnCondition>) -> Given {
    Given::Expression(Box::new(tree))
}

/// The problems of a check that must fail.
pub(super) fn problems<T: std::fmt::Debug>(checked: Result<T>) -> Vec<Problem> {
    let error = checked.expect_err("a request with problems");
    assert_eq!(error.kind(), Kind::Validation, "{error}");
    error.problems().to_vec()
}

/// The one problem of a check that must fail.
pub(super) fn problem<T: std::fmt::Debug>(checked: Result<T>) -> Problem {
    let problems = problems(checked);
    let [problem] = problems.as_slice() else { panic!("one problem, not {problems:#?}") };
    problem.clone()
}

/// Argument and path of each problem.
pub(super) fn places(problems: &[Problem]) -> Vec<(&str, &str)> {
    problems.iter().map(|problem| (problem.argument.as_str(), problem.path.as_str())).collect()
}
