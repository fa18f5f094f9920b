//! The rules of an item search.

mod bodies;
mod codes;
mod expressions;
mod objects;

use serde_json::{Value, json};

use super::{ItemsArguments, check};
use crate::error::Result;
use crate::filter::Search;
use crate::filter::input::{ColumnCondition, Comparison, InputValue, Method};
use crate::filter::normal_form::Tree;
use crate::filter::tests::{customers, expression, input, matches, problem};
use crate::time::Calendar;

fn checked(arguments: ItemsArguments) -> Result<Search> {
    check(arguments, &Calendar::default())
}

fn codes(where_clause: InputValue) -> ItemsArguments {
    let item_type_name = InputValue::text("promotion_code");
    ItemsArguments { item_type_name, attrs: input(json!(["id"])), ..customers(where_clause) }
}

fn some_customers() -> InputValue {
    expression(matches("customer_id", json!(["17", "42"])))
}

fn body(arguments: ItemsArguments) -> Value {
    serde_json::to_value(checked(arguments).expect("a valid request").body).expect("a body")
}

/// The request has one problem, with this argument and path, whose message has this datum.
fn refuses(arguments: ItemsArguments, argument: &str, path: &str, datum: &str) {
    let problem = problem(checked(arguments));
    assert_eq!((problem.argument.as_str(), problem.path.as_str()), (argument, path), "{problem}");
    assert!(problem.message.contains(datum), "{problem}");
}

/// The first condition of a body.
fn condition(arguments: ItemsArguments) -> Value {
    body(arguments)["filters"]["OR"][0]["AND"][0].take()
}

/// Columns of the groups of a request.
fn columns(arguments: ItemsArguments) -> Vec<Vec<String>> {
    let groups = checked(arguments).expect("a valid request").body.filters.or;
    groups.into_iter().map(|group| group.and.into_iter().map(|condition| condition.column).collect()).collect()
}

/// `col(column)` compared with any value.
fn leaf(column: &str, method: Method, value: InputValue) -> InputValue {
    let comparison = Comparison::new(method, value);
    expression(Tree::Leaf(ColumnCondition { column: InputValue::text(column), comparison }))
}

/// A condition with `unit=` and `data_type=`.
fn detailed(column: &str, operator: &str, value: Value, data_type: Option<&str>, unit: Option<&str>) -> InputValue {
    let comparison = Comparison {
        method: Method::Operator(InputValue::text(operator)),
        value: input(value),
        unit: unit.map_or(InputValue::Null, InputValue::text),
        data_type: data_type.map_or(InputValue::Null, InputValue::text),
    };
    expression(Tree::Leaf(ColumnCondition { column: InputValue::text(column), comparison }))
}

fn raw(conditions: &Value) -> InputValue {
    input(json!({"OR": [{"AND": conditions}]}))
}
