//! The filters of a promotion code search: the rules of 4.2 and 8 for its conditions taken together.

use super::code_condition::{self, Column};
use super::input::InputValue;
use super::problems::{ProblemPath, Problems};
use super::values::Times;
use super::where_clause::{ParsedCondition, WhereClause};
use crate::contract::codes::{MAX_CONDITIONS, OR_GROUPS};
use crate::contract::condition::Condition;
use crate::contract::search::{Filters, Group};

/// The filters of conditions in the order of their positions.
pub(super) fn of(mut conditions: Vec<Condition>, times: &Times<'_>) -> Filters {
    for condition in &mut conditions {
        condition.value_type = condition.value_type.take().or_else(|| times.calendar.code_value_type.clone());
    }
    Filters { or: vec![Group { and: conditions }] }
}

/// The filters of a `where`: one group, whose conditions are put in the order of their positions.
pub(super) fn of_where(mut clause: WhereClause, times: &Times<'_>, problems: &mut Problems) -> Option<Filters> {
    // The order within AND is free. Unknown columns go last and are reported below.
    clause.sort_by_key(|condition| Column::read(&condition.column).map_or(Column::ALL.len(), |column| column as usize));
    let mut conditions: Vec<Condition> = Vec::with_capacity(clause.conditions.len());
    let mut columns = Vec::new();
    let mut is_valid = true;
    for (parsed, location) in clause.in_order() {
        let checked = check(parsed, &location, times, problems);
        if checked.as_ref().is_some_and(|condition| conditions.contains(condition)) {
            // A condition written twice is one condition.
            continue;
        }
        is_valid &= checked.is_some();
        conditions.extend(checked);
        columns.extend(Column::read(&parsed.condition.column));
    }
    if clause.groups.len() == OR_GROUPS {
        check_columns(&columns, &clause.shown, problems);
    } else {
        let message = format!(
            "has {} groups joined by OR, and a promotion code search takes exactly {OR_GROUPS}: put several values of \
             one column into one .matches([...]), or send several searches",
            clause.groups.len()
        );
        problems.add(&ProblemPath::argument("where", "filters.OR"), &clause.shown, message);
    }
    is_valid.then(|| of(conditions, times))
}

fn check(
    parsed: &ParsedCondition,
    location: &ProblemPath,
    times: &Times<'_>,
    problems: &mut Problems,
) -> Option<Condition> {
    let input = &parsed.condition.column;
    let is_complete = parsed.is_complete(location, problems);
    let column = match input {
        InputValue::Null if !is_complete => None,
        input => problems.keep(&location.field("column"), input, Column::read(input)),
    };
    let value_type = parsed.check_code_fields(column == Some(Column::AllocatedTime), location, problems);
    if !is_complete {
        return None;
    }
    let condition = code_condition::check(column?, &parsed.condition.comparison, location, times, problems)?;
    Some(Condition { value_type, ..condition })
}

/// Checks that each column occurs at most once, and the required one does.
fn check_columns(columns: &[Column], shown: &InputValue, problems: &mut Problems) {
    let location = ProblemPath::argument("where", format!("filters.OR[{}].AND", OR_GROUPS - 1));
    if columns.len() > MAX_CONDITIONS {
        let message = format!("has {} conditions, and a promotion code search takes {MAX_CONDITIONS}", columns.len());
        problems.add(&location, shown, message);
    }
    for column in Column::ALL {
        let times = columns.iter().filter(|other| **other == column).count();
        if times > 1 {
            let advice = match column {
                Column::AllocatedTime => "for a range of days, use .on(da.days(start, stop)) in a scan",
                _ => "put its values into one .matches([...])",
            };
            let name = column.name();
            let message = format!("{name} is filtered {times} times, and once is allowed: {advice}");
            problems.add(&location, shown, message);
        }
    }
    if !columns.contains(&Column::AllocatedTime) {
        let name = Column::AllocatedTime.name();
        let condition = format!("& col(\"{name}\").after(\"2024-01-01\")");
        let message = format!("{name} is required in a promotion code search: add {condition}");
        problems.add(&location, shown, message);
    }
    check_audience(columns, &location, shown, problems);
}

/// Refuses audience types without audience ids, for which the service returns no rows (4.2).
pub(super) fn check_audience(columns: &[Column], location: &ProblemPath, input: &InputValue, problems: &mut Problems) {
    if columns.contains(&Column::AudienceType) && !columns.contains(&Column::AllocatedAudience) {
        let [types, ids] = [Column::AudienceType, Column::AllocatedAudience].map(Column::name);
        let message = format!("{types} without {ids} silently matches nothing: add the ids, or leave {types} out");
        problems.add(location, input, message);
    }
}
