//! The rules of a promotion code search.

mod arguments;
mod bodies;
mod random;

use serde_json::Value;

use super::{CodesArguments, check};
use crate::error::Result;
use crate::filter::Search;
use crate::filter::input::{Comparison, InputValue, Method};
use crate::filter::tests::{after, problem};
use crate::time::Calendar;

fn checked(arguments: CodesArguments) -> Result<Search> {
    check(arguments, &Calendar::default())
}

fn since_2024() -> CodesArguments {
    CodesArguments { allocated_time: after("2024-01-01"), ..CodesArguments::default() }
}

fn body(arguments: CodesArguments) -> Value {
    serde_json::to_value(checked(arguments).expect("a valid request").body).expect("a body")
}

/// The condition at a position.
fn condition(position: usize, arguments: CodesArguments) -> Value {
    body(arguments)["filters"]["OR"][0]["AND"][position].take()
}

/// The request has one problem, with this argument and path, whose message has this datum.
fn refuses(arguments: CodesArguments, argument: &str, path: &str, datum: &str) {
    let problem = problem(checked(arguments));
    assert_eq!((problem.argument.as_str(), problem.path.as_str()), (argument, path), "{problem}");
    assert!(problem.message.contains(datum), "{problem}");
}

/// A comparison with `unit=`.
fn in_unit(method: Method, value: InputValue, unit: &str) -> InputValue {
    InputValue::Comparison(Box::new(Comparison { unit: InputValue::text(unit), ..Comparison::new(method, value) }))
}
