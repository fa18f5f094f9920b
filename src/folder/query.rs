//! Identifies the query of a folder, so that no other query is mixed into it.

use std::collections::BTreeMap;
use std::path::Path;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use sha2::{Digest, Sha256};

use super::error::at;
use crate::error::{Error, Kind, excerpt};

/// Characters of a value that an error shows.
const SHOWN: usize = 80;

/// What must be the same for all parts of a folder, by the names of the arguments. Never a token.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Query(Map<String, Value>);

impl Query {
    /// Adds a field. Another value of the same field is joined to it.
    pub fn add(&mut self, field: &str, value: &str) {
        let value = match self.0.get(field) {
            Some(Value::String(before)) => format!("{before} and {value}"),
            _ => value.to_owned(),
        };
        self.0.insert(field.to_owned(), Value::from(value));
    }

    /// The fields.
    pub fn fields(&self) -> BTreeMap<String, Value> {
        self.0.clone().into_iter().collect()
    }

    /// The text of a field.
    pub fn get(&self, field: &str) -> Option<&str> {
        self.0.get(field).and_then(Value::as_str)
    }

    /// Whether there is a field.
    pub fn has(&self, field: &str) -> bool {
        self.0.contains_key(field)
    }

    /// Removes a field. Returns whether there was one.
    pub fn remove(&mut self, field: &str) -> bool {
        self.0.remove(field).is_some()
    }

    /// The fields that differ from the query with which a folder began, in words.
    pub fn differences(&self, begun: &Self) -> Vec<(String, String)> {
        let gone = begun.0.keys().filter(|field| !self.0.contains_key(*field));
        let fields = self.0.keys().chain(gone).filter(|field| self.0.get(*field) != begun.0.get(*field));
        let difference = |field: &String| {
            let (before, now) = (begun.0.get(field), self.0.get(field));
            let lists = before.and_then(list).zip(now.and_then(list));
            let text = lists.map(|(before, now)| changed(&before, &now));
            (field.clone(), text.unwrap_or_else(|| format!("was {}, now {}", shown(before), shown(now))))
        };
        fields.map(difference).collect()
    }
}

/// Stands for values that may be personal data: the first eight bytes of a digest, enough to tell values apart. They
/// cannot be read back, but confirm a guess.
pub fn digest(text: &str) -> String {
    let first = Sha256::digest(text).iter().take(8).fold(0_u64, |number, byte| number << 8 | u64::from(*byte));
    format!("{first:016x}")
}

/// The error for the folder of another query, with all fields that differ.
pub fn mismatch(folder: &Path, differences: &[(String, String)]) -> Error {
    let texts: Vec<String> = differences.iter().map(|(field, text)| format!("{field}: {text}")).collect();
    let hint = match differences {
        [(field, _)] if field == "service" => "name another folder, or set same_service if both are one service",
        _ => "ask for the same again, values in the same order, or name another folder",
    };
    at(Kind::FolderMismatch, folder, &format!("belongs to a different query ({})", texts.join("; ")))
        .with(|details| details.field = differences.first().map(|(field, _)| field.clone()))
        .with_hint(hint)
}

/// The names of a list that is written as JSON.
fn list(value: &Value) -> Option<Vec<String>> {
    serde_json::from_str(value.as_str()?).ok()
}

/// What differs between two lists of names.
fn changed(before: &[String], now: &[String]) -> String {
    let only = |these: &[String], others: &[String]| {
        let names: Vec<String> = these.iter().filter(|name| !others.contains(name)).cloned().collect();
        excerpt(&names.join(", "), SHOWN)
    };
    match (only(before, now), only(now, before)) {
        (gone, new) if gone.is_empty() && new.is_empty() => "the same names in another order".to_owned(),
        (gone, new) if gone.is_empty() => format!("now also {new}"),
        (gone, new) if new.is_empty() => format!("no longer {gone}"),
        (gone, new) => format!("no longer {gone}, now also {new}"),
    }
}

fn shown(value: Option<&Value>) -> String {
    value.and_then(Value::as_str).map_or_else(|| "not given".to_owned(), |text| excerpt(text, SHOWN))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn query(attrs: &[&str]) -> Query {
        let mut query = Query::default();
        query.add("attrs", &serde_json::to_string(attrs).expect("strings"));
        query
    }

    #[test]
    fn lists_are_compared_by_their_names() {
        for (begun, now, expected) in [
            (vec!["a", "b"], vec!["b", "a"], &["order"][..]),
            (vec!["a"], vec!["a", "b", "c"], &["also b, c"]),
            (vec!["a", "b", "c"], vec!["b"], &["longer a, c"]),
            (vec!["a", "b"], vec!["b", "c"], &["longer a,", "also c"]),
        ] {
            let found = query(&now).differences(&query(&begun));
            let [(field, text)] = found.as_slice() else { panic!("{found:?}") };
            assert!(field == "attrs" && expected.iter().all(|part| text.contains(part)), "{found:?}");
            assert!(query(&now).differences(&query(&now)).is_empty());
        }
    }

    #[test]
    fn a_digest_tells_values_apart_and_stays() {
        assert_eq!(digest("customer 17"), "82e1e669911584b9");
        assert_ne!(digest("customer 17"), digest("customer 18"));
    }

    #[test]
    fn fields_are_listed_and_removed() {
        let mut query = query(&["a"]);
        assert_eq!(query.fields().into_iter().collect::<Vec<_>>(), [("attrs".to_owned(), Value::from("[\"a\"]"))]);
        assert_eq!([query.remove("attrs"), query.remove("attrs"), query.fields().is_empty()], [true, false, true]);
    }
}
