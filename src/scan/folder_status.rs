//! What a folder holds, by the records of its parts alone: which days, how old, and what looks wrong. Sends nothing to the
//! service.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use serde::Serialize;
use serde_json::Value;

use super::cap::{Count, Suspicion};
use super::data_warning::DataWarning;
use super::doubts::Doubts;
use super::invalid;
use super::query::SOURCE_TIMEZONE;
use super::tasks::Record;
use super::window::Window;
use crate::error::{Result, excerpt};
use crate::files::{Footer, Location};
use crate::folder::{Folder, PartName};
use crate::time::{Moment, Zone};

/// The day before today, in the zone of the folder.
const YESTERDAY: &str = "yesterday";

/// A part of a folder.
#[derive(Debug, Serialize)]
pub struct PartStatus {
    /// Its day, as `2024-01-15`; none of a scan without days.
    pub day: Option<String>,
    /// Where it is.
    pub path: PathBuf,
    /// Rows.
    pub rows: u64,
    /// Bytes of the file.
    pub bytes: u64,
    /// When it was requested, in Unix milliseconds.
    pub requested_at: Option<i64>,
    /// Whether it was requested after its day was over and had settled, and is not kept in doubt.
    pub is_final: bool,
    /// What looks wrong in its rows.
    pub doubts: Vec<String>,
    /// Why it cannot be read.
    pub damage: Option<String>,
}

/// What a folder holds.
#[derive(Debug, Serialize)]
pub struct FolderStatus {
    /// The folder.
    pub folder: PathBuf,
    /// The address of the service whose rows it has.
    pub service: Option<String>,
    /// The query that it belongs to, in words.
    pub query: BTreeMap<String, Value>,
    /// Its parts, in the order of their names.
    pub parts: Vec<PartStatus>,
    /// The days between the first and the last one that have no part, and those after it up to the one that was named.
    pub missing_days: Vec<String>,
}

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
) -> Result<FolderStatus> {
    let (folder, names) = Folder::read_only(location).await?;
    let mut all: Vec<PartName> = names.parts.iter().cloned().collect();
    for day in &names.days {
        all.extend(folder.parts_of_day(day)?);
    }
    let (_, kept) = Doubts::read(&folder)?;
    let read = folder.parts(&all.iter().collect::<Vec<_>>()).await;
    let records: Vec<Result<(Footer, Record)>> =
        read.into_iter().zip(&all).map(|(part, name)| record(&folder, name, part)).collect();
    let first = records.iter().flatten().next().map(|(_, record)| record);
    let query: BTreeMap<String, Value> = first.map(|record| record.query.fields()).unwrap_or_default();
    let service = first.map(|record| record.service.address.clone());
    let zone_of = |name: &str| query.get(name).and_then(Value::as_str).and_then(|name| Zone::try_new(name).ok());
    let (zone, source) = (zone_of("timezone").unwrap_or_default(), zone_of(SOURCE_TIMEZONE).unwrap_or_default());
    let counts: Vec<Count> =
        records.iter().enumerate().filter_map(|(index, read)| count(index, &all, &read.as_ref().ok()?.1)).collect();
    let suspicion = Suspicion::of(&counts, known_row_cap);
    let mut parts = Vec::with_capacity(all.len());
    for (index, (name, read)) in all.iter().zip(records).enumerate() {
        let mut status = PartStatus {
            day: name.day.clone(),
            path: folder.path_of(name),
            rows: 0,
            bytes: 0,
            requested_at: None,
            is_final: false,
            doubts: Vec::new(),
            damage: None,
        };
        match read {
            Err(error) => status.damage = Some(error.message().to_owned()),
            Ok((part, record)) => {
                let day = name.day.as_deref().and_then(|day| zone.parse_day(day).ok());
                let window = day.and_then(|day| Window::of_day("day", day, &zone));
                let requested_at = record.figures.requested_at();
                (status.rows, status.bytes) = (part.rows, part.bytes);
                status.requested_at = Some(requested_at.milliseconds());
                status.is_final = window.as_ref().is_none_or(|window| window.is_final(requested_at, settle));
                status.doubts = doubts(&record, window.as_ref(), &source);
                if let Some(kept) = kept.get(&name.to_string()) {
                    status.is_final = false;
                    status.doubts.insert(0, DataWarning::kept(&kept.lacks).message);
                }
                if suspicion.requests.contains(&index) {
                    status.doubts.extend(suspicion.reasons.first().cloned());
                }
            }
        }
        parts.push(status);
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
    let missing_days = missing_days(&zone, first, last, |day| days.contains(day));
    Ok(FolderStatus { folder: folder.path().to_path_buf(), service, query, parts, missing_days })
}

fn record(folder: &Folder, name: &PartName, part: Result<Footer>) -> Result<(Footer, Record)> {
    let part = part?;
    let record = Record::of(folder, name, &part)?;
    if record.figures.rows != part.rows {
        return Err(
            folder.corrupt(name, &format!("it has {} rows, and its record says {}", part.rows, record.figures.rows))
        );
    }
    Ok((part, record))
}

/// What a part says about a cap. One that was split shows what is usual, and is not suspected.
fn count(index: usize, names: &[PartName], record: &Record) -> Option<Count> {
    let name = names.get(index)?;
    let name = name.day.clone().unwrap_or_else(|| name.to_string());
    let total = record.figures.other_total.clone();
    let (is_explained, is_other) = (record.figures.is_explained, record.figures.split.is_some());
    Some(Count { request: index, name, rows: record.figures.compared()?, is_explained, total, is_other })
}

fn doubts(record: &Record, window: Option<&Window>, source: &Zone) -> Vec<String> {
    let figures = &record.figures;
    let mut doubts: Vec<String> = figures.split.iter().flatten().cloned().collect();
    if figures.rows > 0 && !figures.absent.is_empty() {
        doubts.push(format!("no record has {}", figures.absent.join(", ")));
    }
    if window.is_some_and(|window| !window.contains(figures.times.as_ref(), source)) {
        doubts.push("it has rows of another day".to_owned());
    }
    doubts
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
