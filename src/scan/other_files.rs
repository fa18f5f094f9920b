//! The files of the folder's other days, which show what is usual: a scan of one day has no other responses to compare
//! its own with.

use std::collections::BTreeSet;

use super::cap::Count;
use super::stats::Figures;
use super::tasks::Tasks;
use crate::error::{Kind, Result};
use crate::folder::{Folder, PartName};

/// Days that are read before the days of a scan, and as many after them.
const DAYS: usize = 100;

/// A file of another day.
#[derive(Debug)]
pub(super) struct OtherFile {
    pub(super) figures: Figures,
    /// Whether its request explains its number of rows.
    is_explained: bool,
}

impl OtherFile {
    /// What it says about a cap, unless its request was split.
    pub(super) fn count(&self) -> Option<Count> {
        let Self { figures, is_explained } = self;
        let count = Count { rows: figures.rows, is_explained: *is_explained, is_other: true, ..Count::default() };
        figures.split.is_none().then_some(count)
    }
}

impl Tasks {
    /// The files of the nearest other days, without the damaged ones.
    pub(super) async fn other_files(&self, folder: &Folder, other_days: &[&String]) -> Result<Vec<OtherFile>> {
        let Some(last) = self.names.iter().filter_map(|name| name.day.as_ref()).max() else { return Ok(Vec::new()) };
        let (before, after) = other_days.split_at(other_days.partition_point(|day| *day < last));
        let mut names: BTreeSet<PartName> = BTreeSet::new();
        for day in before.iter().rev().take(DAYS).chain(after.iter().take(DAYS)) {
            names.append(&mut folder.parts_of_day(day)?);
        }
        let names: Vec<&PartName> = names.iter().collect();
        let mut others = Vec::with_capacity(names.len());
        for (name, part) in names.iter().zip(folder.parts(&names).await) {
            match part.and_then(|part| self.check(folder, name, None, part)) {
                Err(error) if error.kind() == Kind::FolderCorrupt => {}
                read => {
                    let figures = read?.record.figures;
                    let longest = self.lists.get(name.number).copied().unwrap_or_default() as u64;
                    others.push(OtherFile { is_explained: figures.rows > 0 && figures.rows == longest, figures });
                }
            }
        }
        Ok(others)
    }
}
