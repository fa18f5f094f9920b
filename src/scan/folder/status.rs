//! What a folder holds, by the records of its parts alone: which days, how old, and what looks wrong. Sends nothing to the
//! service.

use std::collections::BTreeSet;
use std::time::{Duration, Instant, SystemTime};

use serde_json::Value;

use super::query::SOURCE_TIMEZONE;
use super::report::{FileReport, FolderReport, service_and_query};
use super::tasks::Record;
use crate::error::{Result, excerpt};
use crate::files::{Footer, Location};
use crate::folder::{Folder, PartName};
use crate::scan::invalid;
use crate::scan::judge::{About, Findings, Seen, judge};
use crate::time::{Calendar, Moment, Zone};

/// The day before today, in the zone of the folder.
const YESTERDAY: &str = "yesterday";

/// The parts of a folder. A day is final once its request was sent so long after its end. `known_row_cap` is a number of
/// rows at which the service is known to cut responses. `until` is the last day that the folder should have, such as
/// `2024-01-31`, or `yesterday`, which is the day before `now`.
///
/// # Errors
/// There is no folder, it holds other files, or it cannot be read. `Validation` for what is no day, or of no day: a folder
/// without days has no last one.
pub async fn folder_status(
    location: &Location,
    settle: Duration,
    known_row_cap: Option<u64>,
    until: Option<&str>,
    now: SystemTime,
) -> Result<FolderReport> {
    let begun = Instant::now();
    let (folder, names) = Folder::read_only(location).await?;
    let mut all: Vec<PartName> = names.parts.iter().cloned().collect();
    for day in &names.days {
        all.extend(folder.parts_of_day(day)?);
    }
    let read = folder.parts(&all.iter().collect::<Vec<_>>()).await;
    let records: Vec<Result<(Footer, Record)>> =
        read.into_iter().zip(&all).map(|(part, name)| record(&folder, name, part)).collect();
    let first = records.iter().flatten().next().map(|(_, record)| record);
    let (service, query) = first.map(|record| service_and_query(&record.query)).unwrap_or_default();
    let zone_of = |name: &str| query.get(name).and_then(Value::as_str).and_then(|name| Zone::try_new(name).ok());
    let (zone, source) = (zone_of("timezone").unwrap_or_default(), zone_of(SOURCE_TIMEZONE).unwrap_or_default());
    let readable = || all.iter().zip(&records).filter_map(|(name, read)| Some((name, &read.as_ref().ok()?.1)));
    let seen: Vec<Seen> = readable().map(|(name, record)| record.seen(name, &zone, false)).collect();
    let calendar = Calendar::new(zone.clone());
    let about = About {
        calendar: &calendar,
        source: &source,
        known_row_cap,
        operation: "scan",
        splits: false,
        is_whole: false,
        trials: 1,
    };
    let Findings { doubts, reasons, warnings, .. } = judge(&seen.iter().collect::<Vec<_>>(), &about);
    let mut judged = seen.iter().zip(doubts);
    let mut report = FolderReport {
        folder: folder.path().to_path_buf(),
        service,
        query,
        warnings,
        maybe_capped: !reasons.is_empty(),
        ..FolderReport::default()
    };
    for (name, read) in all.iter().zip(records) {
        let (path, shown) = (folder.path_of(name), name.day.clone().unwrap_or_else(|| name.to_string()));
        match read {
            Err(damage) => report.add(FileReport::damaged(name.day.clone(), path, &damage), shown, true),
            Ok((part, _)) => {
                let Some((seen, doubts)) = judged.next() else { break };
                let requested_at = seen.figures.requested_at();
                let has_settled = seen.window.as_ref().is_none_or(|window| window.is_final(requested_at, settle));
                let file = FileReport {
                    path: Some(path),
                    is_final: has_settled && !seen.verdict.is_refused,
                    doubts: doubts.into_iter().map(|doubt| doubt.message).collect(),
                    ..FileReport::new(name.day.clone(), &seen.figures, part.bytes)
                };
                report.add(file, shown, name.day.is_none() || seen.is_day);
            }
        }
    }
    // The folder of a day may be empty.
    let days: BTreeSet<&String> = all.iter().filter_map(|part| part.day.as_ref()).collect();
    let until = until.map(|until| last_day(&zone, until, now)).transpose()?;
    if until.is_some() && days.is_empty() && !all.is_empty() {
        return Err(invalid(
            "until",
            "is for folders with a file for each day, and this one has no days: leave it out",
        ));
    }
    let first = days.first().copied().or(until.as_ref());
    let last = days.last().copied().max(until.as_ref());
    report.missing_days = missing_days(&zone, first, last, |day| days.contains(day));
    report.seconds = begun.elapsed().as_secs_f64();
    Ok(report)
}

fn record(folder: &Folder, name: &PartName, part: Result<Footer>) -> Result<(Footer, Record)> {
    let part = part?;
    let record = Record::of(folder, name, &part)?;
    record.check_day(folder, name)?;
    if record.figures.rows != part.rows {
        return Err(
            folder.corrupt(name, &format!("it has {} rows, and its record says {}", part.rows, record.figures.rows))
        );
    }
    Ok((part, record))
}

/// The day that `until` names.
fn last_day(zone: &Zone, until: &str, now: SystemTime) -> Result<String> {
    let day = if until == YESTERDAY {
        let today = zone.start_of_day(Moment::from(now)).ok();
        today.map(|today| zone.day_of(Moment::at(today.milliseconds() - 1)))
    } else {
        zone.parse_day(until).ok().map(|day| zone.day_of(day)).filter(|day| day == until)
    };
    let problem = || format!("`{}` is not a day: write it as \"2024-01-31\", or \"{YESTERDAY}\"", excerpt(until, 40));
    day.ok_or_else(|| invalid("until", &problem()))
}

fn missing_days(
    zone: &Zone,
    first: Option<&String>,
    last: Option<&String>,
    is_there: impl Fn(&String) -> bool,
) -> Vec<String> {
    let moment = |day: Option<&String>| zone.parse_day(day?).ok();
    let Some((first, last)) = moment(first).zip(moment(last)) else { return Vec::new() };
    let days = zone.days(first, last).chain([last]).map(|day| zone.day_of(day));
    days.filter(|day| !is_there(day)).collect()
}
