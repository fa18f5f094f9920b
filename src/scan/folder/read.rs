//! The rows that a folder has of a scan, read without a request.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use arrow_array::{Array as _, RecordBatch};
use arrow_schema::{FieldRef, Fields, Schema, SchemaRef};

use super::query::Layout;
use super::tasks::{Inventory, Stored, Task, Tasks, changes};
use crate::columns::{self, Column};
use crate::error::{Error, Kind, Result};
use crate::files::{Footer, Location, RowMemory};
use crate::folder::{self, Folder, mismatch};
use crate::scan::ids::Ids;
use crate::scan::judge::Findings;
use crate::scan::stats::Figures;
use crate::scan::task::no_tasks;
use crate::scan::{Collected, Scan, Stats, data_warning};

/// Days or tasks that an error names.
const NAMED: usize = 5;

impl Scan {
    /// The rows of the finished tasks. Blocks its thread for short times.
    ///
    /// # Errors
    /// `ScanIncomplete` if tasks are missing, unless `ignore_missing`; `FolderMismatch` for the folder of another
    /// query; `FolderCorrupt` for a part that is damaged; `ResponseTooLarge` for rows beyond the limit on memory.
    pub async fn read(&self, location: &Location, ignore_missing: bool, memory: &RowMemory) -> Result<Collected> {
        let begun = Instant::now();
        if self.limit.is_some() {
            return Err(no_tasks());
        }
        let (folder, names) = Folder::read_only(location).await?;
        let layout = if self.by_day.is_some() && names.parts.is_empty() { Layout::Days } else { Layout::Flat };
        let tasks = Tasks::of(self, layout, None, None)?;
        let Inventory { before, done: finished, .. } = tasks.stored(&folder, &names, &BTreeSet::new()).await?;
        let is_damaged = |stored: &&Stored| matches!(stored, Stored::Damaged(_));
        if let Some(Stored::Damaged(damage)) = before.tasks.iter().find(is_damaged) {
            return Err(damage.clone());
        }
        let done: BTreeSet<usize> = finished.iter().map(|task| task.index).collect();
        let missing: Vec<&Task> = tasks.all.iter().filter(|task| !done.contains(&task.index)).collect();
        if !missing.is_empty() && !ignore_missing {
            return Err(lacks(&folder, &missing));
        }
        let there = tasks.all.iter().filter(|task| done.contains(&task.index));
        let parts: Vec<Location> = there.map(|task| folder.location_of(&task.name)).collect();
        let (schema, batches) = rows(&parts, &self.columns, memory).await?;
        let schema = self.times.schema(schema);
        let batches = batches.into_iter().map(|batch| self.times.batch(batch)).collect::<Result<Vec<_>>>()?;
        let requests = finished.len() as u64;
        let sum = |figure: fn(&Figures) -> u64| finished.iter().map(|done| figure(&done.figures)).sum();
        let Findings { reasons, stray_days, absent, mut warnings, .. } = self.judged(&finished, &before);
        let figures = Figures {
            rows: sum(|figures| figures.rows),
            bytes: sum(|figures| figures.bytes),
            attempts: sum(|figures| figures.attempts),
            seconds: begun.elapsed().as_secs_f64(),
            absent,
            ..Figures::default()
        };
        let is_empty = missing.is_empty() && figures.rows == 0;
        warnings.extend(is_empty.then(|| data_warning::empty(self)).flatten());
        let mut ids = self.ids();
        if let Some(ids) = &mut ids {
            for batch in &batches {
                ids.add(batch)?;
            }
        }
        let missing_ids = ids.as_ref().and_then(Ids::missing);
        let mut stats = Stats { figures, requests, reasons, missing_ids, stray_days, warnings, ..Stats::default() };
        if missing.is_empty() {
            stats.warn_of_missing_ids(self);
        }
        Ok(Collected { schema, batches, stats: Arc::new(stats) })
    }
}

fn lacks(folder: &Folder, missing: &[&Task]) -> Error {
    let mut names: Vec<&str> = missing.iter().filter_map(|task| task.day.as_deref()).collect();
    names.dedup();
    let mut what = if names.is_empty() { "task" } else { "day" }.to_owned();
    if names.is_empty() {
        names = missing.iter().map(|task| task.id.as_str()).collect();
    }
    let more = if names.len() > NAMED { ", …" } else { "" };
    let count = names.len();
    what.push_str(if count == 1 { "" } else { "s" });
    names.truncate(NAMED);
    let message = format!("`{}` lacks {count} {what} ({}{more})", folder.path().display(), names.join(", "));
    Error::new(Kind::ScanIncomplete, message)
        .with_hint("run the scan to get them, or set missing to \"ignore\" to read the others")
}

/// The rows of parts. A column without values in a part has the type that it has in another. Without parts, columns
/// without a known type are strings.
async fn rows(parts: &[Location], columns: &[Column], memory: &RowMemory) -> Result<(SchemaRef, Vec<RecordBatch>)> {
    let mut read = Vec::with_capacity(parts.len());
    for part in folder::read(parts, memory).await {
        read.push(part?);
    }
    let Some((first, _)) = read.first() else {
        let (schema, batches, _) = columns::unify(columns, false, Vec::new())?;
        return Ok((schema, batches));
    };
    let typed = |(index, field): (usize, &FieldRef)| {
        let has_values = |(_, batches): &&(Footer, Vec<RecordBatch>)| {
            batches.iter().any(|batch| batch.columns().get(index).is_some_and(|array| array.null_count() < array.len()))
        };
        let with_values = read.iter().find(has_values).and_then(|(part, _)| part.schema.fields().get(index));
        Arc::clone(with_values.unwrap_or(field))
    };
    let schema: SchemaRef =
        Arc::new(Schema::new(first.schema.fields().iter().enumerate().map(typed).collect::<Fields>()));
    let decided = columns::types(&schema)?;
    let mut rows = Vec::new();
    for ((part, batches), location) in read.iter().zip(parts) {
        let mut others = columns::types(&part.schema)?;
        let empty = |name: &String| {
            let index = part.schema.index_of(name).ok();
            index.is_some_and(|index| batches.iter().all(|batch| batch.column(index).null_count() == batch.num_rows()))
        };
        others.retain(|(name, _)| !empty(name));
        let differences = changes(&others, &decided);
        let has_same_names =
            part.schema.fields().iter().map(|field| field.name()).eq(schema.fields().iter().map(|field| field.name()));
        if !differences.is_empty() || !has_same_names {
            return Err(mismatch(Path::new(&location.to_string()), &differences));
        }
        for batch in batches {
            rows.push(columns::retyped(batch, &schema)?);
        }
    }
    Ok((schema, rows))
}
