//! What section 4.2 asks of the conditions of a promotion code search taken together.
//!
//! Each condition has been read on its own before; here is what they owe each other.

use super::code_condition::Column;
use super::input::InputValue;
use super::problems::{Place, Problems};
use crate::contract::codes::{MAX_CONDITIONS, OR_GROUPS};
use crate::contract::condition::{CodeCondition, Condition};
use crate::contract::search::{Filters, Group};

/// The filters of conditions that stand in the order of their positions.
pub(super) fn of(conditions: Vec<CodeCondition>) -> Filters {
    Filters { or: vec![Group { and: conditions.into_iter().map(Condition::Code).collect() }] }
}

/// The trap of section 4.2: audience types without audience members are answered with no rows.
pub(super) fn audience_trap(columns: &[Column], place: &Place, audience_type: &InputValue, problems: &mut Problems) {
    if columns.contains(&Column::AudienceType) && !columns.contains(&Column::AllocatedAudience) {
        problems.add(
            place,
            audience_type,
            "audience_type without allocated_audience makes the service answer nothing, silently: add the ids, or \
             leave audience_type out",
        );
    }
}

/// Checks the columns of a `where`, of which a promotion code search takes each once.
pub(super) fn check_columns(columns: &[Column], where_clause: &InputValue, problems: &mut Problems) {
    let place = Place::argument("where", format!("filters.OR[{}].AND", OR_GROUPS - 1));
    if columns.len() > MAX_CONDITIONS {
        let message = format!("has {} conditions, and a promotion code search takes {MAX_CONDITIONS}", columns.len());
        problems.add(&place, where_clause, message);
    }
    for column in Column::ALL {
        let times = columns.iter().filter(|other| **other == column).count();
        if times > 1 {
            problems.add(
                &place,
                where_clause,
                format!("{} is filtered {times} times, once is allowed: {}", column.name(), instead(column)),
            );
        }
    }
    if !columns.contains(&Column::AllocatedTime) {
        problems.add(
            &place,
            where_clause,
            "allocated_time is required in a promotion code search: add & col(\"allocated_time\").after(\"2024-01-01\")",
        );
    }
    audience_trap(columns, &place, where_clause, problems);
}

/// Checks that conditions are joined by AND alone.
pub(super) fn is_one_group(groups: usize, where_clause: &InputValue, problems: &mut Problems) -> bool {
    if groups != OR_GROUPS {
        let message = format!(
            "has {groups} groups joined by OR, and a promotion code search takes exactly {OR_GROUPS}: several values \
             of one column go into one .matches([...]), anything else into a second search"
        );
        problems.add(&Place::argument("where", "filters.OR"), where_clause, message);
    }
    groups == OR_GROUPS
}

const fn instead(column: Column) -> &'static str {
    match column {
        Column::AllocatedTime => {
            "a range of days is one on(day) a request, as client.scan_codes(allocated_time=days(start, stop)) sends"
        }
        _ => "give the values that remain in one .matches([...])",
    }
}
