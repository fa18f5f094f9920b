//! The files that a run kept although their responses had less: marked in the folder, until a response replaces them.
//!
//! Such a file is not final: each run requests it again. The mark says what the last response lacked, and for which
//! snapshot it was requested.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use crate::error::Result;
use crate::folder::{Folder, Mark, PartName};

const PART: &str = "part";
const SNAPSHOT: &str = "snapshot";
const LACKS: &str = "lacks";

/// Why a file was kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Kept {
    /// What the response lacked.
    pub(super) lacks: String,
    /// When the run began that requested it, as in the records of parts.
    pub(super) snapshot: i64,
}

impl Kept {
    /// The part of a mark, and why it was kept.
    fn of_mark(mark: &Mark) -> Option<(String, Self)> {
        let mut pairs: BTreeMap<String, String> = mark.pairs().into_iter().collect();
        let snapshot = pairs.remove(SNAPSHOT)?.parse().ok()?;
        Some((pairs.remove(PART)?, Self { lacks: pairs.remove(LACKS)?, snapshot }))
    }

    fn mark(&self, part: &str) -> Mark {
        Mark::new(vec![(PART, part.to_owned()), (SNAPSHOT, self.snapshot.to_string()), (LACKS, self.lacks.clone())])
    }
}

/// The files that were kept, by the names of their parts.
pub(super) type AllKept = BTreeMap<String, Kept>;

/// The files of a folder that were kept.
#[derive(Debug)]
pub(super) struct Doubts {
    /// The marks of each part. A run that was killed may leave two.
    marks: Mutex<BTreeMap<String, Vec<Mark>>>,
}

impl Doubts {
    /// Reads the marks of a folder.
    pub(super) fn read(folder: &Folder) -> Result<(Self, AllKept)> {
        let mut all = AllKept::new();
        let mut marks: BTreeMap<String, Vec<Mark>> = BTreeMap::new();
        for mark in folder.marks()? {
            let Some((part, kept)) = Kept::of_mark(&mark) else { continue };
            marks.entry(part.clone()).or_default().push(mark);
            all.insert(part, kept);
        }
        Ok((Self { marks: Mutex::new(marks) }, all))
    }

    /// Marks that the part was kept, or with `None` that it is no longer in doubt.
    pub(super) async fn mark(&self, folder: &Folder, part: &PartName, kept: Option<Kept>) -> Result<()> {
        let part = part.to_string();
        let mark = kept.map(|kept| kept.mark(&part));
        let before = {
            let mut marks = self.marks.lock().unwrap_or_else(PoisonError::into_inner);
            let before = marks.remove(&part).unwrap_or_default();
            marks.extend(mark.clone().map(|mark| (part, vec![mark])));
            before
        };
        if let Some(mark) = mark.as_ref().filter(|mark| !before.contains(mark)) {
            folder.add_mark(mark).await?;
        }
        for old in before.iter().filter(|old| mark.as_ref() != Some(old)) {
            folder.remove_mark(old).await?;
        }
        Ok(())
    }
}
