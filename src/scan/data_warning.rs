//! Warnings about a complete response whose data look wrong. The data are delivered all the same.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::Scan;
use crate::client::Completed;
use crate::contract::business_object::{CUSTOMER_KEY, PROMOTION_CODE_ID};
use crate::contract::codes::{POSITIONS, STATUSES};
use crate::contract::condition::{AFTER_DATE, Condition, DATETIME, EQUALS, MATCHES};
use crate::contract::envelope::field;
use crate::decode::{Member, column_type};
use crate::filter::Search;
use crate::time::Moment;

const STATUS: &str = POSITIONS[2];
const AVAILABLE: i64 = STATUSES[0].1;
/// Responses that a warning names; a count stands for the others.
const NAMED: usize = 3;

/// A warning about the data of a result.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DataWarning {
    /// The class of the warning.
    #[serde(rename = "category")]
    pub kind: DataWarningKind,
    /// What looks wrong, and where.
    pub message: String,
}

/// The kinds of warnings, serialized as the names of their Python classes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum DataWarningKind {
    /// A requested attribute is missing from every record.
    #[serde(rename = "AbsentAttributeWarning")]
    AbsentAttribute,
    /// Responses look as if the service had capped them.
    #[serde(rename = "IncompleteWarning")]
    Incomplete,
    /// Nothing was found, and the conditions may explain why.
    #[serde(rename = "EmptyResultWarning")]
    EmptyResult,
    /// Rows lie outside the requested day or range, or a day at its end has none.
    #[serde(rename = "StrayDayWarning")]
    StrayDay,
    /// A list of ids of customers finds fewer customers.
    #[serde(rename = "MissingIdsWarning")]
    MissingIds,
    /// A response has less than the file that it would replace.
    #[serde(rename = "ShrunkWarning")]
    Shrunk,
    /// A column of strings has other values too, or ids are missing or come again.
    #[serde(rename = "DataAccessWarning")]
    Other,
}

/// The warning for attributes that no record has, unless there are none.
pub(super) fn absent(names: &[String]) -> Option<DataWarning> {
    let names: Vec<_> = names.iter().map(|name| format!("'{name}'")).collect();
    let message = match names.len() {
        0 => return None,
        1 => format!("{} is missing from every record; is it misspelled in attrs?", names.concat()),
        _ => format!("{} are missing from every record; are they misspelled in attrs?", names.join(", ")),
    };
    Some(DataWarning { kind: DataWarningKind::AbsentAttribute, message })
}

/// The warning for columns of strings that have other values too, unless there are none.
pub(super) fn mixed(names: &[String]) -> Option<DataWarning> {
    let first = names.first()?;
    let names: Vec<_> = names.iter().map(|name| format!("'{name}'")).collect();
    let message = format!(
        "{} is a column of strings with other values too, which became their JSON text; if that is right, set {}",
        names.join(", "),
        column_type(first, "string"),
    );
    Some(DataWarning { kind: DataWarningKind::Other, message })
}

/// An attribute that a response lacks although others have it.
#[derive(Debug)]
pub(super) struct Dropped {
    pub(super) attribute: String,
    /// The name of the task.
    pub(super) task: String,
    /// A key of the response that may be its new name.
    pub(super) instead: Option<String>,
}

/// The warning for attributes that responses lack although others have them, unless there are none.
pub(super) fn dropped(dropped: &[Dropped]) -> Option<DataWarning> {
    let Dropped { attribute, task, instead, .. } = dropped.first()?;
    let others = match dropped.len() {
        1 => String::new(),
        count => format!(", and {} more like this", count - 1),
    };
    let instead = instead.as_ref().map(|key| format!("; the response has '{key}'")).unwrap_or_default();
    let message = format!(
        "'{attribute}' is missing from every record of {task}, and others have it{others}{instead}; the service may have \
         renamed or dropped it"
    );
    Some(DataWarning { kind: DataWarningKind::AbsentAttribute, message })
}

/// What a response says whose `data.meta.total` is not its number of records.
pub(super) fn other_total(completed: &Completed) -> Option<String> {
    let Some(Member::Json(meta)) = completed.envelope.data_member(field::META) else { return None };
    let meta: serde_json::Map<_, _> = serde_json::from_str(meta).ok()?;
    let (total, records) = (meta.get(field::TOTAL)?.as_u64()?, completed.envelope.records);
    let message = format!("the response reports a total of {total} records and has {records}");
    (total != records).then_some(message)
}

/// The warning for responses that look capped, unless there are no reasons.
pub(super) fn incomplete(reasons: &[String], operation: &str, splits: bool) -> Option<DataWarning> {
    if reasons.is_empty() {
        return None;
    }
    let advice = match operation {
        // A search has no argument that would split it.
        "search_codes" => ": by day and by status, or use scan_codes, which can split requests",
        "search_items" => ": fewer values or a narrower where, or use scan_items, which can split requests",
        _ if splits => "",
        _ => ", or split requests that look capped with on_suspected_cap \"split\"",
    };
    let message = format!("rows may be missing: {}; ask for less per request{advice}", reasons.join("; "));
    Some(DataWarning { kind: DataWarningKind::Incomplete, message })
}

/// The warning for responses without `data`, of this many responses, unless there are none.
pub(super) fn without_data(names: &[String], responses: u64) -> Option<DataWarning> {
    let shown = names.iter().take(NAMED).cloned().collect::<Vec<_>>().join(", ");
    let which = match names.len() {
        0 => return None,
        1 if responses == 1 => "the response has no `data`".to_owned(),
        1 => format!("1 of {responses} responses has no `data` ({shown})"),
        count if count <= NAMED => format!("{count} of {responses} responses have no `data` ({shown})"),
        count => format!("{count} of {responses} responses have no `data` ({shown} and {} more)", count - NAMED),
    };
    let message = format!("{which}: nothing says whether there are records");
    Some(DataWarning { kind: DataWarningKind::Incomplete, message })
}

/// The warning for a result without rows, if its days have not begun, if the status "available" alone may explain it, or
/// if each day of several is empty although nothing but a status narrows the search.
pub(super) fn empty(scan: &Scan) -> Option<DataWarning> {
    let (search, days) = (scan.plan.template(), scan.days());
    let nothing = if days > 1 { format!("no rows on any of the {days} days") } else { "no rows".to_owned() };
    let message = if let Some(first) = future(scan) {
        format!("{nothing}: the search begins on {first}, which is in the future; check the year")
    } else if searches_available(search) {
        format!(
            "{nothing}: a search for available codes needs an allocated_time too, and a code that was never \
             allocated has none if the service leaves it empty"
        )
    } else if days > 1 && is_broad(search) {
        format!("{nothing}; check the days, the zone and the scopes of the token")
    } else {
        return None;
    };
    Some(DataWarning { kind: DataWarningKind::EmptyResult, message })
}

/// The first day on which a search for codes could find some, if that day has not begun.
fn future(scan: &Scan) -> Option<String> {
    if scan.plan.template().body.item_type_id != PROMOTION_CODE_ID {
        return None;
    }
    let begins = |condition: &Condition| {
        let is_start = [EQUALS, AFTER_DATE].contains(&condition.operator.as_str());
        let at =
            condition.value.as_i64().filter(|at| is_start && condition.data_type == DATETIME && *at > scan.now())?;
        let start = scan.calendar.start_of_rows(Moment::at(at)).filter(|_| condition.operator == AFTER_DATE);
        Some(start.map_or(at, Moment::milliseconds))
    };
    let groups = (0..scan.requests()).flat_map(|index| scan.body(index).filters.or);
    let starts: Option<Vec<i64>> = groups.map(|group| group.and.iter().filter_map(begins).max()).collect();
    Some(scan.calendar.zone.day_of(Moment::at(starts?.into_iter().min()?)))
}

/// Whether a search has no condition but its day and a status.
fn is_broad(search: &Search) -> bool {
    let [group] = search.body.filters.or.as_slice() else { return false };
    group.and.iter().filter(|condition| condition.column != STATUS).count() <= 1
}

/// Whether codes are searched by the status "available" alone.
fn searches_available(search: &Search) -> bool {
    let [group] = search.body.filters.or.as_slice() else { return false };
    let is_available = |condition: &Condition| {
        condition.column == STATUS && condition.operator == MATCHES && condition.value == serde_json::json!([AVAILABLE])
    };
    search.body.item_type_id == PROMOTION_CODE_ID && group.and.iter().any(is_available)
}

/// The warning for a list of ids of customers that finds fewer customers. Which were not found may not be known.
pub(super) fn missing_ids(scan: &Scan, missing: Option<&[String]>, rows: u64) -> Option<DataWarning> {
    if !scan.selects_customers() || missing.is_some_and(<[_]>::is_empty) {
        return None;
    }
    let (asked, found) = (scan.customers(), usize::try_from(rows).unwrap_or(usize::MAX));
    let (count, which) = match missing {
        Some(ids) => {
            let more = if ids.len() > NAMED { format!(" and {} more", ids.len() - NAMED) } else { String::new() };
            let shown: Vec<String> = ids.iter().take(NAMED).map(|id| format!("{id:?}")).collect();
            (ids.len(), format!("no row: {}{more}", shown.join(", ")))
        }
        None => (asked.saturating_sub(found), format!("no row; with {CUSTOMER_KEY} in attrs it is known which")),
    };
    let verb = if count == 1 { "has" } else { "have" };
    let message = format!(
        "{count} of {asked} ids {verb} {which}. If the ids were read as numbers, they have lost leading zeros and select \
         other customers: read them as strings"
    );
    (count > 0).then_some(DataWarning { kind: DataWarningKind::MissingIds, message })
}

/// The warnings for what looks wrong in single responses: the name of each, and what; one for each kind.
pub(super) fn unusual(doubts: &[(&str, &DataWarning)]) -> Vec<DataWarning> {
    let mut by_kind: BTreeMap<DataWarningKind, Vec<String>> = BTreeMap::new();
    for (name, doubt) in doubts {
        by_kind.entry(doubt.kind).or_default().push(format!("{name}: {}", doubt.message));
    }
    let warning = |(kind, mut texts): (DataWarningKind, Vec<String>)| {
        let more = texts.len().saturating_sub(NAMED);
        texts.truncate(NAMED);
        let more = if more > 0 { format!("; and {more} more like these") } else { String::new() };
        DataWarning { kind, message: format!("{}{more}; if that is right, set accept", texts.join("; ")) }
    };
    by_kind.into_iter().map(warning).collect()
}

/// The warning for rows outside the requested day or range, unless there are none.
pub(super) fn stray(message: Option<String>) -> Option<DataWarning> {
    Some(DataWarning { kind: DataWarningKind::StrayDay, message: message? })
}
