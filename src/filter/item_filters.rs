//! The filters of an item search: every condition of a `where` checked, in the shape its business object has.

use super::clause::{Asked, Clause};
use super::code_condition::{self, Column};
use super::given::Given;
use super::problems::{Place, Problems};
use super::times::Times;
use super::{code_filters, item_condition, raw_condition};
use crate::contract::condition::{CodeCondition, Condition, ItemCondition};
use crate::contract::search::{Filters, Group};

/// Filters in the shape of section 4.2: one group, four columns, by position.
pub(super) fn of_codes(mut clause: Clause, times: &Times<'_>, problems: &mut Problems) -> Option<Filters> {
    // AND may be reordered freely; columns that do not exist go last and are told below.
    clause.sort_by_key(|condition| {
        code_condition::column(&condition.column).map_or(Column::ALL.len(), |column| column as usize)
    });
    let mut conditions: Vec<CodeCondition> = Vec::with_capacity(clause.conditions.len());
    let mut columns = Vec::new();
    let mut good = true;
    for (asked, place) in clause.in_order() {
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
    if code_filters::is_one_group(clause.groups.len(), &clause.shown, problems) {
        code_filters::check_columns(&columns, &clause.shown, problems);
    }
    good.then(|| code_filters::of(conditions))
}

fn code_condition(asked: &Asked, place: &Place, times: &Times<'_>, problems: &mut Problems) -> Option<CodeCondition> {
    let given = &asked.condition.column;
    let complete = asked.raw.is_none() || raw_condition::is_complete(&asked.condition, place, problems);
    let column = match given {
        Given::Null if !complete => None,
        given => problems.keep(&place.field("column"), given, code_condition::column(given)),
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
pub(super) fn of_items(clause: &Clause, times: &Times<'_>, problems: &mut Problems) -> Option<Filters> {
    let conditions: Vec<Option<ItemCondition>> = clause
        .conditions
        .iter()
        .zip(clause.places())
        .map(|(asked, place)| item_condition(asked, &place, times, problems))
        .collect();
    let groups = clause.groups.iter().map(|numbers| {
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

fn item_condition(asked: &Asked, place: &Place, times: &Times<'_>, problems: &mut Problems) -> Option<ItemCondition> {
    let Some(raw) = &asked.raw else {
        return item_condition::check(&asked.condition, None, place, times, problems);
    };
    let types = raw_condition::item_types(&raw.fields, place, problems);
    if !raw_condition::is_complete(&asked.condition, place, problems) {
        return None;
    }
    item_condition::check(&asked.condition, types, place, times, problems)
}
