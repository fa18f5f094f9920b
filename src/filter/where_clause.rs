//! The `where` of an item search: an expression, or the document's own `{"OR": [{"AND": […]}]}`, brought to
//! one form: conditions and the groups they stand in.
//!
//! The shape of the whole is checked here; what a condition says is left to others.

use super::input::{ColumnCondition, InputValue};
use super::nearest::did_you_mean;
use super::normal_form::Tree;
use super::problems::{Place, Problems};
use super::raw_condition;
use super::values::is_not;

const ARGUMENT: &str = "where";
const EXAMPLE: &str = "write col(\"customer_id\").matches([\"17\", \"42\"]), or {\"OR\": [{\"AND\": […]}]}";

/// Conditions, and the groups of their numbers.
pub(super) struct WhereClause {
    pub(super) conditions: Vec<ParsedCondition>,
    pub(super) groups: Vec<Vec<usize>>,
    /// The argument, for problems of the whole.
    pub(super) shown: InputValue,
}

/// A condition as it was asked for.
pub(super) struct ParsedCondition {
    pub(super) condition: ColumnCondition,
    /// Fields of a raw condition beside those that every condition has; `None` in an expression.
    pub(super) raw: Option<RawFields>,
}

/// What a raw condition has of its own.
pub(super) struct RawFields {
    /// Where it was typed.
    pub(super) argument: String,
    pub(super) fields: Vec<(String, InputValue)>,
}

impl ParsedCondition {
    /// The place of this condition, given that in the body.
    fn place(&self, path: String) -> Place {
        if let Some(raw) = &self.raw {
            return Place::body(raw.argument.as_str(), path);
        }
        let ColumnCondition { column, comparison } = &self.condition;
        Place::within(ARGUMENT, format!("col({}).{}", column.shown(), comparison.method), path)
    }
}

impl WhereClause {
    /// Reads the argument.
    pub(super) fn read(input: InputValue, problems: &mut Problems) -> Option<Self> {
        let place = Place::argument(ARGUMENT, "filters");
        let shown = InputValue::Other { type_name: input.kind(), shown: input.shown() };
        let message = match input {
            InputValue::Expression(tree) => return Self::of_expression(*tree, shown, problems),
            InputValue::Map(fields) => return Self::of_body(fields, shown, problems),
            InputValue::Null => format!("is required: {EXAMPLE}"),
            InputValue::Comparison(_) | InputValue::Days(_) => {
                format!("{} compares with no column: write col(\"…\").{}", input.shown(), input.shown())
            }
            InputValue::List(_) => format!("a list does not say how its conditions are joined: {EXAMPLE}"),
            _ => format!("{}: {EXAMPLE}", is_not(&input, "a filter")),
        };
        problems.add(&place, &input, message);
        None
    }

    fn of_expression(tree: Tree<ColumnCondition>, shown: InputValue, problems: &mut Problems) -> Option<Self> {
        let groups = tree.groups(&|condition| match &condition.comparison.value {
            InputValue::List(values) => values.len(),
            _ => 1,
        });
        let groups = match groups {
            Ok(groups) => groups,
            Err(message) => {
                problems.add(&Place::argument(ARGUMENT, "filters.OR"), &shown, message);
                return None;
            }
        };
        let conditions =
            tree.into_leaves().into_iter().map(|condition| ParsedCondition { condition, raw: None }).collect();
        Some(Self { conditions, groups, shown })
    }

    fn of_body(fields: Vec<(String, InputValue)>, shown: InputValue, problems: &mut Problems) -> Option<Self> {
        let mut where_clause = Self { conditions: Vec::new(), groups: Vec::new(), shown };
        let place = Place::body(ARGUMENT, "filters");
        let groups = only_list(fields, "OR", &place, problems)?;
        let mut good = true;
        for (index, group) in groups.into_iter().enumerate() {
            let place = Place::body(format!("{ARGUMENT}[\"OR\"][{index}]"), format!("filters.OR[{index}]"));
            good &= where_clause.add_group(group, index, &place, problems).is_some();
        }
        good.then_some(where_clause)
    }

    fn add_group(&mut self, group: InputValue, index: usize, place: &Place, problems: &mut Problems) -> Option<()> {
        let InputValue::Map(fields) = group else {
            problems.add(place, &group, is_not(&group, "a group: write {\"AND\": […]}"));
            return None;
        };
        let conditions = only_list(fields, "AND", place, problems)?;
        let mut numbers = Vec::with_capacity(conditions.len());
        for (position, condition) in conditions.into_iter().enumerate() {
            let InputValue::Map(fields) = condition else {
                let place = place.field("AND").element(position);
                problems.add(&place, &condition, is_not(&condition, "a condition, which is a dict"));
                continue;
            };
            numbers.push(self.conditions.len());
            let argument = format!("{ARGUMENT}[\"OR\"][{index}][\"AND\"][{position}]");
            self.conditions.push(raw_condition::split(fields, argument));
        }
        self.groups.push(numbers);
        Some(())
    }

    /// Puts the conditions of each group in the order of a key.
    pub(super) fn sort_by_key<K: Ord>(&mut self, key: impl Fn(&ColumnCondition) -> K) {
        let conditions = &self.conditions;
        for group in &mut self.groups {
            group.sort_by_key(|number| conditions.get(*number).map(|asked| key(&asked.condition)));
        }
    }

    /// The place of each condition: where it first stands in the body.
    pub(super) fn places(&self) -> Vec<Place> {
        let mut paths = vec![None; self.conditions.len()];
        for (index, group) in self.groups.iter().enumerate() {
            for (position, number) in group.iter().enumerate() {
                if let Some(path @ None) = paths.get_mut(*number) {
                    *path = Some(format!("filters.OR[{index}].AND[{position}]"));
                }
            }
        }
        self.conditions.iter().zip(paths).map(|(asked, path)| asked.place(path.unwrap_or_default())).collect()
    }

    /// The conditions with their places, in the order in which they first stand in the body.
    pub(super) fn in_order(&self) -> impl Iterator<Item = (&ParsedCondition, Place)> {
        let places = self.places();
        let mut seen = vec![false; self.conditions.len()];
        self.groups.iter().flatten().filter_map(move |number| {
            let first = !std::mem::replace(seen.get_mut(*number)?, true);
            first.then_some((self.conditions.get(*number)?, places.get(*number)?.clone()))
        })
    }
}

/// The list under the one key that a level of the raw form has.
fn only_list(
    fields: Vec<(String, InputValue)>,
    key: &str,
    place: &Place,
    problems: &mut Problems,
) -> Option<Vec<InputValue>> {
    let mut list = None;
    for (name, value) in fields {
        if name == key {
            list = Some(value);
        } else {
            let message = format!("\"{name}\" has no meaning beside \"{key}\"{}", did_you_mean(&name, [key]));
            problems.add(&place.field(&name), &value, message);
        }
    }
    match list {
        Some(InputValue::List(values)) if !values.is_empty() => Some(values),
        Some(InputValue::List(_)) => {
            problems.add(
                &place.field(key),
                &InputValue::List(Vec::new()),
                "an empty list asks for nothing the document defines",
            );
            None
        }
        Some(other) => {
            problems.add(&place.field(key), &other, is_not(&other, "a list"));
            None
        }
        None => {
            problems.add(&place.field(key), &InputValue::Null, "is required: write {\"OR\": [{\"AND\": […]}]}");
            None
        }
    }
}
