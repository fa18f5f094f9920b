//! Responses with less than the files of a folder have: nothing good is replaced by something worse.

use super::data_warning::DataWarning;
use super::stats::Figures;
use crate::error::{Error, Kind};

/// Columns that a text names.
const NAMED: usize = 3;

impl Figures {
    /// What these figures of a new response lack that a file has; none if it may replace the file.
    pub(super) fn lacks(&self, before: &Self) -> Option<String> {
        if self.rows.saturating_mul(2) < before.rows {
            return Some(format!("{} rows, and {} before", self.rows, before.rows));
        }
        if self.rows == 0 {
            return None;
        }
        let mut empty: Vec<&str> = self.empty_columns.iter().map(String::as_str).collect();
        empty.retain(|name| before.rows > 0 && !before.empty_columns.iter().any(|empty| empty == name));
        let more = if empty.len() > NAMED { ", …" } else { "" };
        empty.truncate(NAMED);
        (!empty.is_empty()).then(|| format!("no value in {}{more}, which had some before", empty.join(", ")))
    }
}

impl Figures {
    /// A key of the response that may be the new name of an attribute.
    pub(super) fn new_key(&self, attribute: &str) -> Option<&String> {
        self.extra_keys.iter().map(|(key, _)| key).find(|key| letters(key) == letters(attribute))
    }
}

/// The letters of a name alone, as conventions differ: `allocated_time` is `allocatedTime`.
fn letters(name: &str) -> String {
    name.chars().filter(|character| character.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

/// The error of a task whose file is not replaced.
pub(super) fn shrunk(lacks: &str) -> Error {
    Error::new(Kind::DoubtfulData, format!("the response has {lacks}: the file is kept"))
        .with_hint("set on_shrink to \"replace\" if that is right")
}

/// The error of a task whose response is not written, for these reasons or because the caller refused it.
pub(super) fn doubtful(doubts: &[DataWarning]) -> Error {
    let texts: Vec<&str> = doubts.iter().map(|doubt| doubt.message.as_str()).collect();
    let message = match doubts {
        [] => "on_doubt refused the response".to_owned(),
        _ => format!("the response was not written: {}", texts.join("; ")),
    };
    Error::new(Kind::DoubtfulData, message)
}
