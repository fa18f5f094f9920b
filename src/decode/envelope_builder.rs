//! The envelope while it is still arriving: which containers are open, and the members that are complete.

use std::collections::HashSet;

use serde_json::value::RawValue;

use super::envelope::{Member, whole_number};
use crate::contract::envelope::{CODE_SUCCESS, field};

/// The containers that are walked; all others are values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Level {
    Root,
    Data,
    Records,
}

/// What is there of an envelope.
#[derive(Debug, Default)]
pub(super) struct EnvelopeBuilder {
    levels: Vec<Level>,
    key: String,
    /// All keys so far.
    root_keys: HashSet<String>,
    data_keys: HashSet<String>,
    root: Vec<(String, Member)>,
    data: Vec<(String, Member)>,
    code_is_success: bool,
    status_is_true: bool,
}

impl EnvelopeBuilder {
    pub(super) fn depth(&self) -> usize {
        self.levels.len()
    }

    pub(super) fn is_in_records(&self) -> bool {
        self.levels.last() == Some(&Level::Records)
    }

    /// Whether the value of this key of this container is what comes next.
    pub(super) fn is_at(&self, level: Level, key: &str) -> bool {
        self.levels.last() == Some(&level) && self.key == key
    }

    pub(super) fn open(&mut self, level: Level) {
        self.levels.push(level);
    }

    /// Closes the innermost container. Answers whether that was the envelope itself.
    pub(super) fn close(&mut self) -> bool {
        match self.levels.pop() {
            Some(Level::Data) => self.complete_data(),
            Some(Level::Records) => self.data.push((field::RECORDS.to_owned(), Member::Records)),
            Some(Level::Root) | None => {}
        }
        self.levels.is_empty()
    }

    fn complete_data(&mut self) {
        let data = std::mem::take(&mut self.data);
        self.root.push((field::DATA.to_owned(), Member::Object(data)));
    }

    /// Takes a key. Answers its path instead when the envelope already has it.
    pub(super) fn take_key(&mut self, key: String) -> Result<(), String> {
        let is_data = self.levels.last() == Some(&Level::Data);
        let (keys, place) = if is_data { (&mut self.data_keys, "data.") } else { (&mut self.root_keys, "") };
        if !keys.insert(key.clone()) {
            return Err(format!("{place}{key}"));
        }
        self.key = key;
        Ok(())
    }

    /// How many keys there are so far.
    pub(super) fn keys(&self) -> usize {
        self.root_keys.len() + self.data_keys.len()
    }

    /// Takes the value of the last key.
    pub(super) fn take_value(&mut self, value: Box<RawValue>) {
        let name = std::mem::take(&mut self.key);
        let is_data = self.levels.last() == Some(&Level::Data);
        match name.as_str() {
            field::CODE if !is_data => self.code_is_success = whole_number(value.get()) == Some(CODE_SUCCESS),
            field::STATUS if is_data => self.status_is_true = value.get() == "true",
            _ => {}
        }
        let members = if is_data { &mut self.data } else { &mut self.root };
        members.push((name, Member::Json(value)));
    }

    /// Whether code and status were told already and are those of success.
    pub(super) fn is_success(&self) -> bool {
        self.code_is_success && self.status_is_true
    }

    /// All members so far, the open containers closed.
    pub(super) fn into_members(mut self) -> Vec<(String, Member)> {
        while !self.levels.is_empty() {
            self.close();
        }
        self.root
    }
}
