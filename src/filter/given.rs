//! Conditions as the caller gave them: as arguments, as an expression, or as the body's own `{"OR": [{"AND": […]}]}`.

use super::input::{ColumnCondition, Comparison, InputValue, Method};
use super::problems::{Notation, Place, Problems};
use super::values::{did_you_mean, is_not};
use crate::contract::codes::REQUIRED_COLUMN;

const ARGUMENT: &str = "where";
const EXAMPLE: &str = "write col(\"customer_id\").matches([\"17\", \"42\"]), or {\"OR\": [{\"AND\": […]}]}";

/// Fields of every condition of a body.
pub(super) const COMMON_FIELDS: [&str; 5] = ["column", "data_type", "operator", "value", "time_unit"];

type Fields = Vec<(String, InputValue)>;

/// A condition as the caller gave it.
pub(super) struct Given {
    pub(super) column: InputValue,
    pub(super) comparison: Comparison,
    /// Other fields of a condition of a body.
    pub(super) others: Fields,
    /// Where it is. Its path is known when all conditions are in their order.
    pub(super) place: Place,
}

/// Conditions, and the groups joined by OR as lists of their indexes.
pub(super) struct Conditions {
    pub(super) given: Vec<Given>,
    pub(super) groups: Vec<Vec<usize>>,
    /// Where problems of the conditions of a group taken together are, and the value that they show.
    pub(super) place: Place,
    pub(super) shown: InputValue,
}

impl Given {
    /// What the column of an argument is compared with.
    pub(super) fn argument(column: &'static str, input: InputValue) -> Self {
        let comparison = match input {
            InputValue::Comparison(comparison) => *comparison,
            InputValue::Days(_) if column == REQUIRED_COLUMN => Comparison::new(Method::On, input),
            value => Comparison::new(Method::Matches, value),
        };
        let place = Place::argument(column, "");
        Self { column: InputValue::text(column), comparison, others: Vec::new(), place }
    }

    fn of_expression(ColumnCondition { column, comparison }: ColumnCondition) -> Self {
        let notation = Notation::Expression(format!("col({}).{}", column.shown(), comparison.method.name()));
        let place = Place { notation, ..Place::argument(ARGUMENT, "") };
        Self { column, comparison, others: Vec::new(), place }
    }

    fn of_body(mut fields: Fields, place: Place) -> Self {
        let [column, data_type, operator, value, unit] = COMMON_FIELDS.map(|name| {
            let position = fields.iter().position(|(field, _)| field == name);
            position.map(|position| fields.remove(position).1).unwrap_or_default()
        });
        let comparison = Comparison { method: Method::Operator(operator), value, unit, data_type };
        Self { column, comparison, others: fields, place }
    }

    /// Where it is, by the numbers of its group and of the condition in it.
    pub(super) fn place_in(&self, (group, position): (usize, usize)) -> Place {
        Place { path: format!("filters.OR[{group}].AND[{position}]").into(), ..self.place.clone() }
    }
}

impl Conditions {
    /// Reads the argument `where`.
    pub(super) fn of_where(input: InputValue, problems: &mut Problems) -> Option<Self> {
        let shown = InputValue::Other { type_name: input.kind(), shown: input.shown() };
        let place = Place::argument(ARGUMENT, "filters.OR[0].AND");
        let message = match input {
            InputValue::Expression(tree) => {
                let groups = tree.groups(&|condition| match &condition.comparison.value {
                    InputValue::List(values) => values.len(),
                    _ => 1,
                });
                let groups = problems.keep(&Place::argument(ARGUMENT, "filters.OR"), &shown, groups)?;
                let given = tree.into_leaves().into_iter().map(Given::of_expression).collect();
                return Some(Self { given, groups, place, shown });
            }
            InputValue::Map(_) => {
                let (given, groups) = of_body(input, problems)?;
                return Some(Self { given, groups, place, shown });
            }
            // Every record satisfies a group without conditions.
            InputValue::Null => return Some(Self { given: Vec::new(), groups: vec![Vec::new()], place, shown }),
            InputValue::Comparison(_) => format!("{0} names no column: write col(\"…\").{0}", input.shown()),
            InputValue::Days(_) => format!("{0} names no column: write col(\"…\").on(da.{0})", input.shown()),
            InputValue::List(_) => format!("a list does not say how its conditions are joined: {EXAMPLE}"),
            _ => format!("{}: {EXAMPLE}", is_not(&input, "a filter")),
        };
        problems.add(&Place::argument(ARGUMENT, "filters"), &input, message);
        None
    }
}

/// The conditions and groups of a body.
fn of_body(body: InputValue, problems: &mut Problems) -> Option<(Vec<Given>, Vec<Vec<usize>>)> {
    let place = Place { notation: Notation::Body, ..Place::argument(ARGUMENT, "filters") };
    let lists = only_list(body, "OR", false, &place, problems)?;
    // The only group may have no conditions: it asks for every record.
    let is_only = lists.len() == 1;
    let (mut given, mut groups, mut is_valid) = (Vec::new(), Vec::new(), true);
    for (index, group) in lists.into_iter().enumerate() {
        let place = place.field("OR").element(index);
        let Some(conditions) = only_list(group, "AND", is_only, &place, problems) else {
            is_valid = false;
            continue;
        };
        let mut numbers = Vec::with_capacity(conditions.len());
        for (position, condition) in conditions.into_iter().enumerate() {
            let place = place.field("AND").element(position);
            if let InputValue::Map(fields) = condition {
                numbers.push(given.len());
                given.push(Given::of_body(fields, place));
            } else {
                problems.add(&place, &condition, is_not(&condition, "a condition, which is a dict"));
            }
        }
        groups.push(numbers);
    }
    is_valid.then_some((given, groups))
}

/// The list under the only key of an object of a body.
fn only_list(
    object: InputValue,
    key: &str,
    may_be_empty: bool,
    place: &Place,
    problems: &mut Problems,
) -> Option<Vec<InputValue>> {
    let InputValue::Map(fields) = object else {
        problems.add(place, &object, is_not(&object, &format!("a group: write {{\"{key}\": […]}}")));
        return None;
    };
    let mut list = InputValue::Null;
    for (name, value) in fields {
        if name == key {
            list = value;
        } else {
            let message = format!("\"{name}\" is unknown beside \"{key}\"{}", did_you_mean(&name, [key]));
            problems.add(&place.field(&name), &value, message);
        }
    }
    let message = match list {
        InputValue::List(values) if may_be_empty || !values.is_empty() => return Some(values),
        InputValue::List(_) => "an empty list has no specified meaning: give at least one".to_owned(),
        InputValue::Null => "is required: write {\"OR\": [{\"AND\": […]}]}".to_owned(),
        _ => is_not(&list, "a list"),
    };
    problems.add(&place.field(key), &list, message);
    None
}
