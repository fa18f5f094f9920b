//! The `where` of an item search: an expression, or the body's own `{"OR": [{"AND": […]}]}`, as conditions and groups.
//!
//! Nothing of a body is dropped silently: a field is used, or reported as a problem.

use super::input::{ColumnCondition, Comparison, InputValue, Method};
use super::nearest::did_you_mean;
use super::normal_form::Tree;
use super::problems::{ProblemPath, Problems};
use super::values::{self, is_not};
use crate::contract::condition::{CODE_CONDITION_TYPE, DATETIME};

const ARGUMENT: &str = "where";
const EXAMPLE: &str = "write col(\"customer_id\").matches([\"17\", \"42\"]), or {\"OR\": [{\"AND\": […]}]}";

/// Fields of every condition of a body.
const COMMON: [&str; 5] = ["column", "data_type", "operator", "value", "time_unit"];
/// Other fields of a promotion code search. 2.4 lists `value_type` for the generic search alone, 4.1 for every condition.
const OF_CODES: [&str; 3] = ["type", "extendValue", "value_type"];
/// Other fields of a generic search.
const OF_ITEMS: [&str; 2] = ["value_type", "condition_type"];

type Fields = Vec<(String, InputValue)>;

/// Conditions, and the groups as lists of their indexes.
pub(super) struct WhereClause {
    pub(super) conditions: Vec<ParsedCondition>,
    pub(super) groups: Vec<Vec<usize>>,
    /// The argument as problems show it.
    pub(super) shown: InputValue,
}

/// A condition as the caller wrote it.
pub(super) struct ParsedCondition {
    pub(super) condition: ColumnCondition,
    /// The argument and the fields other than the common ones, where the caller wrote a body.
    body: Option<(String, Fields)>,
}

impl WhereClause {
    /// Reads the argument.
    pub(super) fn read(input: InputValue, problems: &mut Problems) -> Option<Self> {
        let shown = InputValue::Other { type_name: input.kind(), shown: input.shown() };
        let message = match input {
            InputValue::Expression(tree) => return Self::of_expression(*tree, shown, problems),
            InputValue::Map(fields) => return Self::of_body(fields, shown, problems),
            // Every record satisfies a group without conditions.
            InputValue::Null => return Some(Self { conditions: Vec::new(), groups: vec![Vec::new()], shown }),
            InputValue::Comparison(_) | InputValue::Days(_) => {
                format!("{} names no column: write col(\"…\").{}", input.shown(), input.shown())
            }
            InputValue::List(_) => format!("a list does not say how its conditions are joined: {EXAMPLE}"),
            _ => format!("{}: {EXAMPLE}", is_not(&input, "a filter")),
        };
        problems.add(&ProblemPath::argument(ARGUMENT, "filters"), &input, message);
        None
    }

    fn of_expression(tree: Tree<ColumnCondition>, shown: InputValue, problems: &mut Problems) -> Option<Self> {
        let groups = tree.groups(&|condition| match &condition.comparison.value {
            InputValue::List(values) => values.len(),
            _ => 1,
        });
        let groups = problems.keep(&ProblemPath::argument(ARGUMENT, "filters.OR"), &shown, groups)?;
        let conditions = tree.into_leaves().into_iter();
        let conditions = conditions.map(|condition| ParsedCondition { condition, body: None }).collect();
        Some(Self { conditions, groups, shown })
    }

    fn of_body(fields: Fields, shown: InputValue, problems: &mut Problems) -> Option<Self> {
        let mut clause = Self { conditions: Vec::new(), groups: Vec::new(), shown };
        let groups = only_list(fields, "OR", false, &ProblemPath::body(ARGUMENT, "filters"), problems)?;
        let mut is_valid = true;
        let is_only = groups.len() == 1;
        for (index, group) in groups.into_iter().enumerate() {
            let argument = format!("{ARGUMENT}[\"OR\"][{index}]");
            let location = ProblemPath::body(&argument, format!("filters.OR[{index}]"));
            is_valid &= clause.add_group(group, is_only, &argument, &location, problems).is_some();
        }
        is_valid.then_some(clause)
    }

    /// Adds a group. The only one may have no conditions: it asks for every record.
    fn add_group(
        &mut self,
        group: InputValue,
        is_only: bool,
        argument: &str,
        location: &ProblemPath,
        problems: &mut Problems,
    ) -> Option<()> {
        let InputValue::Map(fields) = group else {
            problems.add(location, &group, is_not(&group, "a group: write {\"AND\": […]}"));
            return None;
        };
        let conditions = only_list(fields, "AND", is_only, location, problems)?;
        let mut group = Vec::with_capacity(conditions.len());
        for (position, condition) in conditions.into_iter().enumerate() {
            let InputValue::Map(fields) = condition else {
                let location = location.field("AND").element(position);
                problems.add(&location, &condition, is_not(&condition, "a condition, which is a dict"));
                continue;
            };
            group.push(self.conditions.len());
            self.conditions.push(ParsedCondition::of_body(fields, format!("{argument}[\"AND\"][{position}]")));
        }
        self.groups.push(group);
        Some(())
    }

    /// Sorts the conditions of each group.
    pub(super) fn sort_by_key<K: Ord>(&mut self, key: impl Fn(&ColumnCondition) -> K) {
        let conditions = &self.conditions;
        for group in &mut self.groups {
            group.sort_by_key(|index| conditions.get(*index).map(|parsed| key(&parsed.condition)));
        }
    }

    /// The location of each condition: its first in the body.
    pub(super) fn locations(&self) -> Vec<ProblemPath> {
        let mut paths = vec![None; self.conditions.len()];
        for (number, group) in self.groups.iter().enumerate() {
            for (position, index) in group.iter().enumerate() {
                if let Some(path @ None) = paths.get_mut(*index) {
                    *path = Some(format!("filters.OR[{number}].AND[{position}]"));
                }
            }
        }
        let locations = self.conditions.iter().zip(paths);
        locations.map(|(parsed, path)| parsed.location(path.unwrap_or_default())).collect()
    }

    /// The conditions with their locations, in the order of the body.
    pub(super) fn in_order(&self) -> impl Iterator<Item = (&ParsedCondition, ProblemPath)> {
        let mut locations: Vec<_> = self.locations().into_iter().map(Some).collect();
        let indexes = self.groups.iter().flatten();
        indexes.filter_map(move |index| Some((self.conditions.get(*index)?, locations.get_mut(*index)?.take()?)))
    }
}

impl ParsedCondition {
    fn of_body(mut fields: Fields, argument: String) -> Self {
        let [column, data_type, operator, value, unit] = COMMON.map(|name| {
            let position = fields.iter().position(|(field, _)| field == name);
            position.map(|position| fields.remove(position).1).unwrap_or_default()
        });
        let comparison = Comparison { method: Method::Operator(operator), value, unit, data_type };
        Self { condition: ColumnCondition { column, comparison }, body: Some((argument, fields)) }
    }

    fn location(&self, path: String) -> ProblemPath {
        if let Some((argument, _)) = &self.body {
            return ProblemPath::body(argument, path);
        }
        let ColumnCondition { column, comparison } = &self.condition;
        let method = comparison.method.to_string();
        ProblemPath::expression(ARGUMENT, format!("col({}).{method}", column.shown()), path)
    }

    /// The fields of a body other than the common ones.
    fn fields(&self) -> &[(String, InputValue)] {
        self.body.as_ref().map(|(_, fields)| fields.as_slice()).unwrap_or_default()
    }

    /// Whether a condition of a body has the fields that 2.4 requires; an expression has them.
    pub(super) fn is_complete(&self, location: &ProblemPath, problems: &mut Problems) -> bool {
        let ColumnCondition { column, comparison } = &self.condition;
        let (Some(_), Method::Operator(operator)) = (&self.body, &comparison.method) else { return true };
        let required = [column, &comparison.data_type, operator, &comparison.value];
        let mut is_complete = true;
        for (name, _) in COMMON.into_iter().zip(required).filter(|(_, input)| input.is_null()) {
            is_complete = false;
            problems.add(&location.field(name), &InputValue::Null, "is required in a condition");
        }
        let is_one = comparison.data_type == InputValue::text(DATETIME);
        if is_complete && !is_one && !matches!(comparison.value, InputValue::List(_)) {
            is_complete = false;
            let message = format!("must be a list: write [{}]", comparison.value.shown());
            problems.add(&location.field("value"), &comparison.value, message);
        }
        is_complete
    }

    /// Checks the other fields of a promotion code search, and returns the `value_type`. `type` and `extendValue` are
    /// filled in later.
    pub(super) fn check_code_fields(
        &self,
        is_datetime: bool,
        location: &ProblemPath,
        problems: &mut Problems,
    ) -> Option<String> {
        let mut value_type = None;
        for (name, value) in self.fields() {
            let shown = value.shown();
            let message = match name.as_str() {
                "type" if *value == InputValue::Integer(CODE_CONDITION_TYPE) => continue,
                "type" => format!("{shown} is not the type of a condition, which is always {CODE_CONDITION_TYPE}"),
                "extendValue" if is_datetime => "belongs to string and number conditions: leave it out here".to_owned(),
                "extendValue" if *value == InputValue::List(Vec::new()) => continue,
                "extendValue" => format!("{shown} is not an empty list, the only specified value"),
                "value_type" => {
                    value_type = problems.keep(&location.field(name), value, values::name(value, "a value_type"));
                    continue;
                }
                name => unknown(name, &OF_CODES, &OF_ITEMS, "a generic search"),
            };
            problems.add(&location.field(name), value, message);
        }
        value_type
    }

    /// The fields that only a generic search has.
    pub(super) fn item_types(&self, location: &ProblemPath, problems: &mut Problems) -> [Option<String>; 2] {
        for (name, value) in self.fields().iter().filter(|(name, _)| !OF_ITEMS.contains(&name.as_str())) {
            let message = unknown(name, &OF_ITEMS, &OF_CODES, "the promotion code search");
            problems.add(&location.field(name), value, message);
        }
        OF_ITEMS.map(|name| {
            let (_, value) = self.fields().iter().find(|(field, _)| field == name)?;
            problems.keep(&location.field(name), value, values::name(value, &format!("a {name}")))
        })
    }
}

fn unknown(name: &str, own: &[&'static str], foreign: &[&str], elsewhere: &str) -> String {
    if foreign.contains(&name) {
        return format!("\"{name}\" belongs to {elsewhere}: leave it out here");
    }
    let known: Vec<&str> = COMMON.iter().chain(own).copied().collect();
    let advice = did_you_mean(name, known.iter().copied());
    let advice = if advice.is_empty() { format!("; they are {}", known.join(", ")) } else { advice };
    format!("\"{name}\" is not a field of a condition{advice}")
}

/// The list under the only key of an object of the body.
fn only_list(
    fields: Fields,
    key: &str,
    may_be_empty: bool,
    location: &ProblemPath,
    problems: &mut Problems,
) -> Option<Vec<InputValue>> {
    let mut list = InputValue::Null;
    for (name, value) in fields {
        if name == key {
            list = value;
        } else {
            let message = format!("\"{name}\" is unknown beside \"{key}\"{}", did_you_mean(&name, [key]));
            problems.add(&location.field(&name), &value, message);
        }
    }
    let message = match list {
        InputValue::List(values) if may_be_empty || !values.is_empty() => return Some(values),
        InputValue::List(_) => "an empty list has no specified meaning: give at least one".to_owned(),
        InputValue::Null => "is required: write {\"OR\": [{\"AND\": […]}]}".to_owned(),
        _ => is_not(&list, "a list"),
    };
    problems.add(&location.field(key), &list, message);
    None
}
