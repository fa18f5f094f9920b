//! What a checkpoint is of, so that another scan is not mixed into it.

use std::path::Path;

use serde::{Deserialize, Serialize};

use super::fault::at;
use crate::error::{Error, Kind};
use crate::files::sha256;

/// A longer text is kept by its digest.
const SHOWN: usize = 64;
/// What a digest begins with,
const DIGEST: &str = "sha256:";
/// and how much of it a message shows.
const SHORT: usize = DIGEST.len() + 8;

/// Names with texts: all that must be the same when a run goes on. A token is never among them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Fingerprint(Vec<(String, String)>);

impl Fingerprint {
    /// Adds a text. A message of a mismatch shows it, unless it is long.
    #[must_use]
    pub fn with(self, field: &str, text: &str) -> Self {
        if text.chars().nth(SHOWN).is_some() { self.with_hidden(field, text) } else { self.and(field, text.to_owned()) }
    }

    /// Adds a text that may name customers: only its digest is kept.
    #[must_use]
    pub fn with_hidden(self, field: &str, text: &str) -> Self {
        self.and(field, format!("{DIGEST}{}", sha256(text)))
    }

    fn and(mut self, field: &str, kept: String) -> Self {
        self.0.push((field.to_owned(), kept));
        self
    }

    fn get(&self, field: &str) -> Option<&str> {
        self.0.iter().find(|(name, _)| name == field).map(|(_, kept)| kept.as_str())
    }

    /// The error that names the first difference between this one and that with which a checkpoint was begun.
    pub(super) fn mismatch(&self, begun: &Self, folder: &Path) -> Option<Error> {
        let fields = self.0.iter().chain(&begun.0).map(|(field, _)| field);
        let field = fields.into_iter().find(|field| self.get(field) != begun.get(field))?;
        let (then, now) = (shown(begun.get(field)), shown(self.get(field)));
        let problem = format!("holds another scan: its {field} was {then} and is now {now}");
        Some(
            at(Kind::CheckpointMismatch, folder, &problem)
                .with("field", field.as_str())
                .with_hint("name another folder, or delete this one"),
        )
    }
}

/// A text as a message has it.
fn shown(kept: Option<&str>) -> String {
    match kept {
        None => "nothing".to_owned(),
        Some(kept) if kept.starts_with(DIGEST) => format!("{}…", kept.get(..SHORT).unwrap_or(kept)),
        Some(kept) => format!("`{kept}`"),
    }
}
