//! The files of the folder's other days, which show what is usual: a scan of one day has no other responses to compare
//! its own with.

use std::collections::BTreeSet;

use super::cap::Count;
use super::stats::Figures;
use super::tasks::Tasks;
use crate::folder::{Folder, PartName};

/// Files that are read of the days before those of a scan, and as many of the days after them.
const FILES: usize = 100;

/// A file of another day.
#[derive(Debug)]
pub(super) struct OtherFile {
    pub(super) figures: Figures,
}

impl OtherFile {
    /// What it says about a cap.
    pub(super) fn count(&self) -> Option<Count> {
        let (rows, is_explained) = (self.figures.compared()?, self.figures.is_explained);
        Some(Count { rows, is_explained, is_other: true, ..Count::default() })
    }
}

impl Tasks {
    /// The files of the nearest other days. They only advise: what cannot be listed or read, or is of another query,
    /// is left out, as the days of this scan need none of it.
    pub(super) async fn other_files(&self, folder: &Folder, other_days: &[&String]) -> Vec<OtherFile> {
        let Some(last) = self.names.iter().filter_map(|name| name.day.as_ref()).max() else { return Vec::new() };
        let (before, after) = other_days.split_at(other_days.partition_point(|day| *day < last));
        let mut names = nearest(folder, before.iter().rev());
        names.append(&mut nearest(folder, after.iter()));
        let names: Vec<&PartName> = names.iter().collect();
        let mut others = Vec::with_capacity(names.len());
        for (name, part) in names.iter().zip(folder.parts(&names).await) {
            let Ok(part) = part.and_then(|part| self.check(folder, name, None, part)) else { continue };
            others.push(OtherFile { figures: part.record.figures });
        }
        others
    }
}

fn nearest<'a>(folder: &Folder, days: impl Iterator<Item = &'a &'a String>) -> BTreeSet<PartName> {
    let mut names = BTreeSet::new();
    for day in days {
        if names.len() >= FILES {
            break;
        }
        names.append(&mut folder.parts_of_day(day).unwrap_or_default());
    }
    names
}
