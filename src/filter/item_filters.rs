//! The filters of an item search: every condition of a `where` checked, in the shape its business object has.

use super::code_condition::{self, Column};
use super::input::InputValue;
use super::problems::{Place, Problems};
use super::times::Times;
use super::where_clause::{ParsedCondition, WhereClause};
use super::{code_filters, item_condition, raw_condition};
use crate::contract::condition::{CodeCondition, Condition, ItemCondition};
use crate::contract::search::{Filters, Group};

/// Filters in the shape of section 4.2: one group, four columns, by position.
pub(super) fn of_codes(mut where_clause: WhereClause, times: &Times<'_>, problems: &mut Problems) -> Option<Filters> {
    // AND may be reordered freely; columns that do not exist go last and are told below.
    where_clause.sort_by_key(|condition| {
        code_condition::column(&condition.column).map_or(Column::ALL.len(), |column| column as usize)
    });
    let mut conditions: Vec<CodeCondition> = Vec::with_capacity(where_clause.conditions.len());
    let mut columns = Vec::new();
    let mut good = true;
    for (asked, place) in where_clause.in_order() {
        let read = code_condition(asked, &place, times, problems);
        match (read, code_condition::column(&asked.condition.column)) {
            // A condition written twice is one condition.
            (Some(condition), _) if conditions.contains(&condition) => {}
            (read, column) => {
                good &= read.is_some();
                conditions.extend(read);
                columns.extend(column);
            }
        }
    }
    if code_filters::is_one_group(where_clause.groups.len(), &where_clause.shown, problems) {
        code_filters::check_columns(&columns, &where_clause.shown, problems);
    }
    good.then(|| code_filters::of(conditions))
}

fn code_condition(
    asked: &ParsedCondition,
    place: &Place,
    times: &Times<'_>,
    problems: &mut Problems,
) -> Option<CodeCondition> {
    let input = &asked.condition.column;
    let complete = asked.raw.is_none() || raw_condition::is_complete(&asked.condition, place, problems);
    let column = match input {
        InputValue::Null if !complete => None,
        input => problems.keep(&place.field("column"), input, code_condition::column(input)),
    };
    if let Some(raw) = &asked.raw {
        raw_condition::check_code_fields(&raw.fields, column == Some(Column::AllocatedTime), place, problems);
    }
    if !complete {
        return None;
    }
    code_condition::check(column?, &asked.condition.comparison, place, times, problems)
}

/// Filters in the generic shape of section 4.1.
pub(super) fn of_items(where_clause: &WhereClause, times: &Times<'_>, problems: &mut Problems) -> Option<Filters> {
    let conditions: Vec<Option<ItemCondition>> = where_clause
        .conditions
        .iter()
        .zip(where_clause.places())
        .map(|(asked, place)| item_condition(asked, &place, times, problems))
        .collect();
    let groups = where_clause.groups.iter().map(|numbers| {
        let mut group = Vec::with_capacity(numbers.len());
        for number in numbers {
            let condition = Condition::Item(conditions.get(*number)?.clone()?);
            // A condition written twice is one condition.
            if !group.contains(&condition) {
                group.push(condition);
            }
        }
        Some(Group { and: group })
    });
    groups.collect::<Option<Vec<Group>>>().map(|or| Filters { or })
}

fn item_condition(
    asked: &ParsedCondition,
    place: &Place,
    times: &Times<'_>,
    problems: &mut Problems,
) -> Option<ItemCondition> {
    let Some(raw) = &asked.raw else {
        return item_condition::check(&asked.condition, None, place, times, problems);
    };
    let types = raw_condition::item_types(&raw.fields, place, problems);
    if !raw_condition::is_complete(&asked.condition, place, problems) {
        return None;
    }
    item_condition::check(&asked.condition, types, place, times, problems)
}
