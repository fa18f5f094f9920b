//! Builders of arguments and readers of problems, for the tests of this module.

use serde_json::{Value, json};

use crate::error::{Kind, Problem, Result};
use crate::filter::days::Days;
use crate::filter::input::{ColumnCondition, Comparison, InputValue, Method};
use crate::filter::items::ItemsArguments;
use crate::filter::normal_form::Tree;

/// The Python value of a JSON text.
pub(super) fn input(value: Value) -> InputValue {
    match value {
        Value::Null => InputValue::Null,
        Value::Bool(flag) => InputValue::Bool(flag),
        Value::Number(number) => {
            number.as_i64().map_or_else(|| InputValue::Number(number.as_f64().unwrap_or(f64::NAN)), InputValue::Integer)
        }
        Value::String(text) => InputValue::Text(text),
        Value::Array(values) => InputValue::List(values.into_iter().map(input).collect()),
        Value::Object(fields) => {
            InputValue::Map(fields.into_iter().map(|(name, value)| (name, input(value))).collect())
        }
    }
}

/// The arguments of a search of customers.
pub(super) fn customers(where_clause: InputValue) -> ItemsArguments {
    ItemsArguments {
        item_type_name: InputValue::text("customer"),
        attrs: input(json!(["customer_id", "name"])),
        where_clause,
        ..ItemsArguments::default()
    }
}

pub(super) fn after(time: impl Into<Value>) -> InputValue {
    compared(Method::After, time.into())
}

pub(super) fn before(time: impl Into<Value>) -> InputValue {
    compared(Method::Before, time.into())
}

pub(super) fn on(day: impl Into<Value>) -> InputValue {
    compared(Method::On, day.into())
}

pub(super) fn op(name: &str, values: impl Into<Value>) -> InputValue {
    compared(Method::Operator(InputValue::text(name)), values.into())
}

pub(super) fn days(start: &str, stop: &str) -> InputValue {
    InputValue::Days(Box::new(Days::Range { start: InputValue::text(start), stop: InputValue::text(stop) }))
}

/// `on(days(start, stop))`.
pub(super) fn compared_days(start: &str, stop: &str) -> InputValue {
    InputValue::Comparison(Box::new(Comparison::new(Method::On, days(start, stop))))
}

fn compared(method: Method, value: Value) -> InputValue {
    InputValue::Comparison(Box::new(Comparison::new(method, input(value))))
}

/// A comparison of a column.
pub(super) fn col(column: &str, compared: InputValue) -> Tree<ColumnCondition> {
    let InputValue::Comparison(comparison) = compared else { panic!("{compared} is not a comparison") };
    Tree::Leaf(ColumnCondition { column: InputValue::text(column), comparison: *comparison })
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

pub(super) fn expression(tree: Tree<ColumnCondition>) -> InputValue {
    InputValue::Expression(Box::new(tree))
}

/// The problems of a request that must be refused.
pub(super) fn problems<T: std::fmt::Debug>(checked: Result<T>) -> Vec<Problem> {
    let error = checked.expect_err("a request with problems");
    assert_eq!(error.kind(), Kind::Validation, "{error}");
    error.problems().to_vec()
}

/// The only problem of a request that must be refused.
pub(super) fn problem<T: std::fmt::Debug>(checked: Result<T>) -> Problem {
    let problems = problems(checked);
    let [problem] = problems.as_slice() else { panic!("one problem, not {problems:#?}") };
    problem.clone()
}

/// Argument and path of each problem.
pub(super) fn locations(problems: &[Problem]) -> Vec<(&str, &str)> {
    problems.iter().map(|problem| (problem.argument.as_str(), problem.path.as_str())).collect()
}
