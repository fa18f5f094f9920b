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

/// Names with texts: all that must be the same when a run goes on. A token is never among them. And the types of the
/// columns, as far as the scan knows them: with others, only what they change is asked for again.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fingerprint {
    fields: Vec<(String, String)>,
    types: Types,
}

/// The columns by name, with the names of their types where these are known.
pub type Types = Vec<(String, Option<String>)>;

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

    /// With these columns.
    #[must_use]
    pub fn with_types(self, types: Types) -> Self {
        Self { types, ..self }
    }

    fn and(mut self, field: &str, kept: String) -> Self {
        self.fields.push((field.to_owned(), kept));
        self
    }

    fn get(&self, field: &str) -> Option<&str> {
        self.fields.iter().find(|(name, _)| name == field).map(|(_, kept)| kept.as_str())
    }

    /// The error that names the first difference between this one and that with which a checkpoint was begun.
    pub(super) fn mismatch(&self, begun: &Self, folder: &Path) -> Option<Error> {
        let fields = self.fields.iter().chain(&begun.fields).map(|(field, _)| field);
        let field = fields.into_iter().find(|field| self.get(field) != begun.get(field))?;
        Some(other(folder, field, &shown(begun.get(field)), &shown(self.get(field))))
    }

    /// The types of the files that a run wrote which was begun with `begun` and whose first rows settled the others.
    /// The error names a column that has another type now.
    pub(super) fn types_since(
        &self,
        begun: &Self,
        settled: Option<&[(String, String)]>,
        folder: &Path,
    ) -> (Types, Option<Error>) {
        let settled = |name: &String| settled?.iter().find(|(known, _)| known == name).map(|(_, kept)| kept.clone());
        let then = begun.types.iter().map(|(name, kept)| (name.clone(), kept.clone().or_else(|| settled(name))));
        let then: Types = then.collect();
        let pairs = self.types.iter().zip(&then);
        let changed = pairs.into_iter().find_map(|((name, now), (_, then))| {
            let (now, then) = (now.as_ref()?, then.as_ref()?);
            let column = |kept: &String| format!("`{name}: {kept}`");
            (now != then).then(|| other(folder, "schema", &column(then), &column(now)))
        });
        (then, changed)
    }
}

fn other(folder: &Path, field: &str, then: &str, now: &str) -> Error {
    at(Kind::CheckpointMismatch, folder, &format!("holds another scan: its {field} was {then} and is now {now}"))
        .with(|details| details.field = Some(field.to_owned()))
        .with_hint("name another folder, or delete this one")
}

/// A text as a message has it.
fn shown(kept: Option<&str>) -> String {
    match kept {
        None => "nothing".to_owned(),
        Some(kept) if kept.starts_with(DIGEST) => format!("{}…", kept.get(..SHORT).unwrap_or(kept)),
        Some(kept) => format!("`{kept}`"),
    }
}
