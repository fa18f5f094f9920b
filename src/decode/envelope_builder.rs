//! The envelope while it arrives: the open containers and the complete members.

use std::collections::HashSet;

use super::envelope::{Member, integer};
use crate::contract::envelope::{CODE_SUCCESS, field};

/// The containers that the decoder walks. All others are values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Level {
    Root,
    Data,
    Records,
}

/// Builds the envelope.
#[derive(Debug, Default)]
pub(super) struct EnvelopeBuilder {
    levels: Vec<Level>,
    key: String,
    root_keys: HashSet<String>,
    data_keys: HashSet<String>,
    root: Vec<(String, Member)>,
    data: Vec<(String, Member)>,
    /// The memory of all keys and values.
    bytes: usize,
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

    /// Whether the next value belongs to this key of this container.
    pub(super) fn is_at(&self, level: Level, key: &str) -> bool {
        self.levels.last() == Some(&level) && self.key == key
    }

    pub(super) fn open(&mut self, level: Level) {
        self.levels.push(level);
    }

    /// Closes the innermost container. Returns whether it was the envelope itself.
    pub(super) fn close(&mut self) -> bool {
        match self.levels.pop() {
            Some(Level::Data) => {
                let data = std::mem::take(&mut self.data);
                self.root.push((field::DATA.to_owned(), Member::Object(data)));
            }
            Some(Level::Records) => self.data.push((field::RECORDS.to_owned(), Member::Records)),
            Some(Level::Root) | None => {}
        }
        self.levels.is_empty()
    }

    /// Adds a key. The error is the path of a key that the envelope already has.
    pub(super) fn take_key(&mut self, key: String) -> Result<(), String> {
        let is_data = self.levels.last() == Some(&Level::Data);
        let (keys, prefix) = if is_data { (&mut self.data_keys, "data.") } else { (&mut self.root_keys, "") };
        if !keys.insert(key.clone()) {
            return Err(format!("{prefix}{key}"));
        }
        self.bytes += 2 * (key.len() + size_of::<(String, Member)>());
        self.key = key;
        Ok(())
    }

    /// The memory of the keys and values so far.
    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }

    /// Adds the value of the last key.
    pub(super) fn take_value(&mut self, value: Box<str>) {
        self.bytes += value.len();
        let name = std::mem::take(&mut self.key);
        let is_data = self.levels.last() == Some(&Level::Data);
        match name.as_str() {
            field::CODE if !is_data => self.code_is_success = integer(&value) == Some(CODE_SUCCESS),
            field::STATUS if is_data => self.status_is_true = &*value == "true",
            _ => {}
        }
        let members = if is_data { &mut self.data } else { &mut self.root };
        members.push((name, Member::Json(value)));
    }

    /// Whether code and status have arrived and report success.
    pub(super) fn is_success(&self) -> bool {
        self.code_is_success && self.status_is_true
    }

    /// All members so far, with the open containers closed.
    pub(super) fn into_members(mut self) -> Vec<(String, Member)> {
        while !self.levels.is_empty() {
            self.close();
        }
        self.root
    }
}
