//! The parts of a scan in a folder: which task has which part, which tasks are finished, and of which types.

use std::collections::BTreeSet;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::options::Service;
use super::part_writer::REQUESTED_AT;
use super::query::{Layout, SERVICE, SOURCE_TIMEZONE, SYNTHETIC, TZ};
use crate::columns::{self, ColumnType, Types};
use crate::error::{Error, Kind, Result, defect};
use crate::files::Footer;
use crate::folder::{Folder, Names, PartName, Query, mismatch};
use crate::scan::Scan;
use crate::scan::judge::Seen;
use crate::scan::stats::Figures;
use crate::scan::verdict::Verdict;
use crate::scan::window::Window;
use crate::time::Zone;

/// Version of the records of parts.
const FORMAT: u32 = 3;

/// Parts that are read for the types of columns that had no value so far.
const SAMPLE: usize = 100;
/// Files that are read of the days before those of a scan, and as many of the days after them.
const NEAREST: usize = 100;

/// What a part records of its task.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Record {
    format: u32,
    pub(super) query: Query,
    task: String,
    #[serde(flatten)]
    pub(super) figures: Figures,
    #[serde(flatten)]
    pub(super) verdict: Verdict,
}

impl Record {
    /// The record of a part.
    ///
    /// # Errors
    /// `FolderMismatch` if another version of this package wrote it, `FolderCorrupt` if it is none.
    pub(super) fn of(folder: &Folder, name: &PartName, part: &Footer) -> Result<Self> {
        match part.record.get("format").and_then(Value::as_u64) {
            Some(format) if format != u64::from(FORMAT) => Err(folder.of_another_version(name, format, FORMAT)),
            _ => serde_json::from_value(part.record.clone()).map_err(|_| folder.corrupt(name, "its record is not one")),
        }
    }
}

impl Record {
    /// Refuses the part of another day.
    pub(super) fn check_day(&self, folder: &Folder, name: &PartName) -> Result<()> {
        match &name.day {
            Some(day) if !self.task.starts_with(day.as_str()) => {
                Err(folder.corrupt(name, &format!("it is the part of {}", self.task)))
            }
            _ => Ok(()),
        }
    }

    /// As the judge sees a file with this name, whose days are of this zone.
    pub(super) fn seen(&self, name: &PartName, zone: &Zone, is_other: bool) -> Seen {
        let day = name.day.as_deref().and_then(|day| zone.parse_day(day).ok());
        let window = day.and_then(|day| Window::of_day("day", day, zone));
        let requested_at = self.figures.requested_at();
        Seen {
            name: name.day.clone().unwrap_or_else(|| name.to_string()),
            is_day: window.as_ref().is_some_and(|window| window.is_final(requested_at, Duration::ZERO)),
            window,
            compared: self.figures.compared(),
            figures: self.figures.clone(),
            is_other,
            verdict: self.verdict.clone(),
        }
    }
}

/// A request of a scan, and where its part is.
#[derive(Debug)]
pub(super) struct Task {
    /// The index of its request in the plan.
    pub(super) index: usize,
    pub(super) id: String,
    /// The day that its request is for.
    pub(super) day: Option<String>,
    pub(super) name: PartName,
}

/// The tasks of a scan.
#[derive(Debug)]
pub(super) struct Tasks {
    /// In the order of the plan.
    pub(super) all: Vec<Task>,
    query: Query,
    /// Whether parts of another address are of the same service.
    same_service: bool,
    /// The zone of the days.
    zone: Zone,
    /// Whether parts have a column with the time of their request. None if both are read.
    has_time: Option<bool>,
    /// The types that need no rows.
    known: Vec<(String, Option<ColumnType>)>,
}

/// A finished task.
#[derive(Clone, Debug)]
pub(super) struct Done {
    /// The index of its request in the plan.
    pub(super) index: usize,
    pub(super) figures: Figures,
    /// What was decided of its newest response.
    pub(super) verdict: Verdict,
    /// Bytes of its part. None for a task without rows while the types of a part are not known.
    pub(super) bytes: Option<u64>,
    /// Whether an earlier run wrote its part.
    pub(super) is_kept: bool,
}

/// What a folder has of a task.
#[derive(Debug)]
pub(super) enum Stored {
    Missing,
    Done(Box<Done>),
    /// Its part cannot be read.
    Damaged(Error),
}

/// What a folder has of a scan.
#[derive(Debug)]
pub(super) struct Inventory {
    /// Also the parts that are to be replaced.
    pub(super) before: Before,
    /// The finished tasks, in the order of the plan.
    pub(super) done: Vec<Done>,
    /// The types of all parts, once there is one. A column that has no value in any has none.
    pub(super) types: Option<Types>,
    /// Whether a part has another type for a column without values, as others have values.
    pub(super) has_untyped: bool,
    /// The zone of the times of the parts, where that is not the zone of the scan.
    pub(super) zone: Option<OtherZone>,
}

/// The zone of the times of parts, UTC or none, where a scan has the other one: both mean the same.
#[derive(Debug)]
pub(super) struct OtherZone(pub(super) Option<Zone>);

/// What a folder had before a run.
#[derive(Debug)]
pub(super) struct Before {
    /// By the index of the task.
    pub(super) tasks: Vec<Stored>,
    /// The files of the nearest other days.
    pub(super) others: Vec<Seen>,
}

impl Before {
    /// The part of a task, if it could be read.
    pub(super) fn of(&self, task: usize) -> Option<&Done> {
        self.tasks.get(task).and_then(Stored::done)
    }

    /// The parts that could be read.
    pub(super) fn done(&self) -> impl Iterator<Item = &Done> + Clone {
        self.tasks.iter().filter_map(Stored::done)
    }
}

impl Stored {
    const fn done(&self) -> Option<&Done> {
        match self {
            Self::Done(done) => Some(done),
            Self::Missing | Self::Damaged(_) => None,
        }
    }
}

/// A part whose record was read.
pub(super) struct StoredPart {
    pub(super) record: Record,
    /// Of the columns that have values, or have a type whatever they have.
    types: Types,
    /// Of the others, as the file has them.
    untyped: Types,
    bytes: u64,
}

impl Tasks {
    pub(super) fn of(scan: &Scan, layout: Layout, service: Option<&Service>, has_time: Option<bool>) -> Result<Self> {
        let mut all: Vec<Task> = Vec::with_capacity(scan.requests());
        for index in 0..scan.requests() {
            let day = scan.day(index);
            let of_day = day.clone().filter(|_| layout == Layout::Days);
            // The requests of a day follow each other.
            let before = all.last().filter(|last| last.name.day == of_day);
            let number = before.map_or(0, |last| last.name.number + 1);
            all.push(Task { index, id: scan.task_id(index)?, day, name: PartName { day: of_day, number } });
        }
        let mut query = scan.query(layout);
        if has_time == Some(true) {
            query.add(REQUESTED_AT, "a column");
        }
        if let Some(service) = service {
            query.add(SERVICE, &service.address);
            if service.is_synthetic {
                query.add(SYNTHETIC, "rows of a sandbox");
            }
        }
        Ok(Self {
            all,
            query,
            zone: scan.calendar.zone.clone(),
            has_time,
            same_service: service.is_none_or(|service| service.same_service),
            known: columns::known_types(&scan.columns),
        })
    }

    /// The same tasks, whose parts have times of this zone.
    pub(super) fn in_zone(mut self, zone: Option<&Zone>) -> Self {
        self.query.remove(TZ);
        if let Some(zone) = zone {
            self.query.add(TZ, zone.name());
        }
        self
    }

    /// What the part of a task records.
    pub(super) fn record(&self, done: &Done) -> Result<Value> {
        let query = self.query.clone();
        let Done { index, figures, verdict, .. } = done.clone();
        let task = self.get(index)?.id.clone();
        let record = Record { format: FORMAT, query, task, figures, verdict };
        serde_json::to_value(record).map_err(|cause| defect("the record of a part is not JSON").with_source(cause))
    }

    /// The query of the parts.
    pub(super) const fn query(&self) -> &Query {
        &self.query
    }

    /// A task.
    pub(super) fn get(&self, index: usize) -> Result<&Task> {
        self.all.get(index).ok_or_else(|| defect("a run has no such task"))
    }

    /// What a folder has of the tasks, of which `refreshed` are to be replaced. Its other days are left alone.
    pub(super) async fn stored(
        &self,
        folder: &Folder,
        names: &Names,
        refreshed: &BTreeSet<usize>,
    ) -> Result<Inventory> {
        let asked: BTreeSet<&PartName> = self.all.iter().map(|task| &task.name).collect();
        let days: BTreeSet<&String> = asked.iter().filter_map(|name| name.day.as_ref()).collect();
        let mut found = names.parts.clone();
        for day in names.days.iter().filter(|day| days.contains(day)) {
            found.append(&mut folder.parts_of_day(day)?);
        }
        let there: Vec<&Task> = self.all.iter().filter(|task| found.contains(&task.name)).collect();
        let files: Vec<&PartName> = there.iter().map(|task| &task.name).collect();
        let mut parts: Vec<(usize, StoredPart)> = Vec::with_capacity(there.len());
        let mut tasks: Vec<Stored> = self.all.iter().map(|_| Stored::Missing).collect();
        for (task, part) in there.into_iter().zip(folder.parts(&files).await) {
            let stored = match part.and_then(|part| self.check(folder, &task.name, Some(task), part)) {
                Err(error) if error.kind() == Kind::FolderCorrupt => Stored::Damaged(error),
                read => {
                    let part = read?;
                    let done = part.done(task.index);
                    parts.push((task.index, part));
                    Stored::Done(Box::new(done))
                }
            };
            if let Some(place) = tasks.get_mut(task.index) {
                *place = stored;
            }
        }
        parts.retain(|(index, _)| !refreshed.contains(index));

        let other_days: Vec<&String> = names.days.iter().filter(|day| !days.contains(day)).collect();
        let before = Before { tasks, others: self.nearest(folder, &other_days).await };
        let sample = if parts.is_empty() { self.sample(folder, &found, &other_days).await? } else { Vec::new() };
        if let Some(other) = found.iter().find(|name| !asked.contains(name)) {
            return Err(folder.foreign(other));
        }
        let all = || parts.iter().map(|(_, part)| part).chain(&sample);
        let types = self.types(&all().map(|part| &part.types));
        let zone = all().next().and_then(|part| self.other_zone(&part.record.query));
        let has_untyped = types.as_ref().is_some_and(|types| all().any(|part| differ(&part.untyped, types).is_some()));
        if let Some(types) = &types
            && let Some(part) = all().find(|part| !part.is_of(types))
        {
            if !other_days.is_empty() || parts.len() == self.all.len() {
                return Err(mismatch(folder.path(), &changes(&part.types, types)));
            }
            // All parts of the folder are asked for: parts of other types are written anew.
            parts.retain(|(_, part)| part.is_of(types));
        }
        let done = parts.iter().map(|(index, part)| part.done(*index)).collect();
        Ok(Inventory { before, done, types, has_untyped, zone })
    }

    /// The files of the nearest other days, which show what is usual: a scan of one day has no other responses to compare
    /// its own with. They only advise: what cannot be listed or read, or is of another query, is left out, as the days of
    /// this scan need none of it.
    async fn nearest(&self, folder: &Folder, other_days: &[&String]) -> Vec<Seen> {
        let Some(last) = self.all.iter().filter_map(|task| task.name.day.as_ref()).max() else { return Vec::new() };
        let (before, after) = other_days.split_at(other_days.partition_point(|day| *day < last));
        let mut names: Vec<PartName> = Vec::new();
        for days in [before.iter().rev().collect::<Vec<_>>(), after.iter().collect()] {
            let parts = days.into_iter().flat_map(|day| folder.parts_of_day(day).unwrap_or_default());
            names.extend(parts.take(NEAREST));
        }
        let names: Vec<&PartName> = names.iter().collect();
        let mut others = Vec::with_capacity(names.len());
        for (name, part) in names.iter().zip(folder.parts(&names).await) {
            let Ok(part) = part.and_then(|part| self.check(folder, name, None, part)) else { continue };
            others.push(part.record.seen(name, &self.zone, true));
        }
        others
    }

    /// Parts of the folder that can be read, until they show the types of all columns: all are of the same query and types.
    async fn sample(
        &self,
        folder: &Folder,
        found: &BTreeSet<PartName>,
        other_days: &[&String],
    ) -> Result<Vec<StoredPart>> {
        let mut sample: Vec<StoredPart> = Vec::new();
        let of_days = other_days.iter().rev().map(|day| folder.parts_of_day(day));
        for parts in [Ok(found.clone())].into_iter().chain(of_days) {
            for name in parts? {
                let part = folder.part(&name).await;
                match part.and_then(|part| self.check(folder, &name, None, part)) {
                    // The part is refreshed, or not asked for.
                    Err(error) if error.kind() == Kind::FolderCorrupt => {}
                    read => sample.push(read?),
                }
                // A part may have no value in a column whose type others know.
                let types = self.types(&sample.iter().map(|part| &part.types)).unwrap_or_default();
                if !sample.is_empty() && (types.len() == self.known.len() || sample.len() >= SAMPLE) {
                    return Ok(sample);
                }
            }
        }
        Ok(sample)
    }

    /// Checks the record of a part, which must be of this query, and of this task.
    pub(super) fn check(
        &self,
        folder: &Folder,
        name: &PartName,
        task: Option<&Task>,
        part: Footer,
    ) -> Result<StoredPart> {
        let record = Record::of(folder, name, &part)?;
        let Footer { schema, rows, bytes, .. } = part;
        let unknown = |error: Error| folder.corrupt(name, error.message());
        let mut types = columns::types(&schema).map_err(unknown)?;
        let (mut asked, mut begun) = (self.query.clone(), record.query.clone());
        types.retain(|(name, _)| !(name == REQUESTED_AT && begun.has(REQUESTED_AT)));
        if self.has_time.is_none() {
            begun.remove(REQUESTED_AT);
        }
        // A reader shows the times in any zone, and a run writes those of UTC as the folder has them.
        if self.has_time.is_none() || self.other_zone(&begun).is_some() {
            begun.remove(TZ);
            asked.remove(TZ);
        }
        // A process does not know which services are sandboxes of other processes.
        if self.has_time.is_none() || asked.get(SERVICE) == begun.get(SERVICE) {
            asked.remove(SYNTHETIC);
            begun.remove(SYNTHETIC);
        }
        if self.same_service && asked.get(SYNTHETIC) == begun.get(SYNTHETIC) {
            asked.remove(SERVICE);
            begun.remove(SERVICE);
        }
        let differences = asked.differences(&begun);
        if !differences.is_empty() {
            return Err(mismatch(folder.path(), &differences));
        }
        if task.is_some_and(|task| task.id != record.task) || rows != record.figures.rows {
            return Err(folder.corrupt(name, &format!("it is the part of {} with {rows} rows", record.task)));
        }
        let is_inferred = |name: &String| self.known.iter().any(|(known, found)| known == name && found.is_none());
        let (untyped, types) =
            types.into_iter().partition(|(name, _)| is_inferred(name) && record.figures.empty_columns.contains(name));
        Ok(StoredPart { record, types, untyped, bytes })
    }

    /// The types of this scan, if it infers none or there are parts. Columns whose types it infers have the types that the
    /// parts have; one that has no value in any has none.
    fn types<'a>(&self, stored: &(impl Iterator<Item = &'a Types> + Clone)) -> Option<Types> {
        let of = |name: &String| stored.clone().flatten().find(|(stored, _)| stored == name).map(|(_, found)| *found);
        let column = |(name, known): &(String, Option<ColumnType>)| Some((name.clone(), known.or_else(|| of(name))?));
        let is_known = self.known.iter().all(|(_, known)| known.is_some()) || stored.clone().next().is_some();
        is_known.then(|| self.known.iter().filter_map(column).collect())
    }

    /// The zone of the times of a part of this query, if it is UTC and here there is none, or the other way round. The
    /// times of records are those of UTC, and mean the same in both.
    fn other_zone(&self, begun: &Query) -> Option<OtherZone> {
        let utc = Zone::default();
        let (asked, begun) = (self.query.get(TZ), begun.get(TZ));
        let is_utc = |zone: Option<&str>| zone.is_none_or(|zone| zone == utc.name());
        let means_same = is_utc(asked) && is_utc(begun) && !self.query.has(SOURCE_TIMEZONE);
        (means_same && asked != begun).then(|| OtherZone(begun.map(|_| utc)))
    }
}

impl StoredPart {
    fn done(&self, index: usize) -> Done {
        let Record { figures, verdict, .. } = self.record.clone();
        Done { index, figures, verdict, bytes: Some(self.bytes), is_kept: true }
    }

    /// Whether a column without values has the type of the file alone.
    pub(super) fn is_untyped(&self, name: &str) -> bool {
        self.untyped.iter().any(|(known, _)| known == name)
    }

    /// Whether its columns are of these types.
    fn is_of(&self, types: &Types) -> bool {
        differ(&self.types, types).is_none()
    }
}

/// A column that both have, with another type.
fn differ<'a>(one: &'a Types, other: &Types) -> Option<&'a (String, ColumnType)> {
    one.iter().find(|(name, found)| other.iter().any(|(known, other)| known == name && other != found))
}

/// The columns whose types differ, in words.
pub(super) fn changes(before: &Types, now: &Types) -> Vec<(String, String)> {
    let changed = |(name, before): &(String, ColumnType)| {
        let (_, now) = now.iter().find(|(known, now)| known == name && now != before)?;
        Some(("schema".to_owned(), format!("`{name}` was {}, now {}", before.name(), now.name())))
    };
    before.iter().filter_map(changed).collect()
}
