//! The envelope of a response, while it arrives and when it is complete: everything but its records, which went to the
//! sink.

use std::collections::HashSet;

use crate::contract::envelope::{CODE_SUCCESS, field};

/// A member of the envelope or of its `data`.
#[derive(Clone, Debug)]
pub enum Member {
    /// Valid JSON, as written.
    Json(Box<str>),
    /// `data`, when it is an object.
    Object(Vec<(String, Member)>),
    /// The records, which went to the sink.
    Records,
}

/// What [`RecordShape::Empty`] has of a response without `data`.
pub const NO_DATA: &str = "data absent";

/// What a search response has where its records belong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RecordShape {
    /// An array with records.
    Array,
    /// No records: the path and what is there, such as `data.data []`.
    Empty(&'static str),
    /// Something that holds no records and is not empty either: its path.
    Other(&'static str),
    /// Nothing, but other members that may hold the records, or say why there are none: the path.
    Misplaced(&'static str),
}

/// The envelope of a complete response.
#[derive(Clone, Debug, Default)]
pub struct Envelope {
    /// All members in the order in which they arrived.
    pub members: Vec<(String, Member)>,
    /// Records of the response, those that `max_records` dropped included.
    pub records: u64,
    /// For each requested column, in how many records its key was present.
    pub present: Vec<u64>,
    /// Bytes of the body.
    pub bytes: u64,
}

impl Envelope {
    /// A member of the envelope.
    #[must_use]
    pub fn member(&self, name: &str) -> Option<&Member> {
        find(&self.members, name)
    }

    /// A member of `data`, when `data` is an object.
    #[must_use]
    pub fn data_member(&self, name: &str) -> Option<&Member> {
        match self.member(field::DATA) {
            Some(Member::Object(members)) => find(members, name),
            _ => None,
        }
    }

    /// `code`. The error is what is there instead of an integer, as JSON.
    pub fn code(&self) -> Result<i64, Option<&str>> {
        match self.member(field::CODE) {
            Some(Member::Json(json)) => integer(json).ok_or(Some(json)),
            _ => Err(None),
        }
    }

    /// A member of the envelope, when it is a string.
    #[must_use]
    pub fn text(&self, name: &str) -> Option<String> {
        match self.member(name) {
            Some(Member::Json(json)) => serde_json::from_str(json).ok(),
            _ => None,
        }
    }

    /// `data.status`. The error is what is there instead of a bool, as JSON.
    pub fn status(&self) -> Result<Option<bool>, &str> {
        match self.data_member(field::STATUS) {
            Some(Member::Json(json)) => match &**json {
                "true" => Ok(Some(true)),
                "false" => Ok(Some(false)),
                "null" => Ok(None),
                other => Err(other),
            },
            _ => Ok(None),
        }
    }

    fn data_holds_more(&self) -> bool {
        let Some(Member::Object(members)) = self.member(field::DATA) else { return false };
        holds_more(members, self.status() == Ok(Some(true)))
    }

    /// What the response has where its records belong.
    #[must_use]
    pub fn record_shape(&self) -> RecordShape {
        let (path, member) = match self.member(field::DATA) {
            Some(Member::Object(members)) if members.is_empty() => return RecordShape::Empty("data {}"),
            Some(Member::Object(members)) => ("data.data", find(members, field::RECORDS)),
            other => ("data", other),
        };
        match member {
            Some(Member::Records) if self.records == 0 => RecordShape::Empty("data.data []"),
            Some(Member::Records) => RecordShape::Array,
            None if path == "data" && holds_more(&self.members, true) => RecordShape::Misplaced(path),
            None if path == "data" => RecordShape::Empty(NO_DATA),
            None if self.data_holds_more() => RecordShape::Misplaced(path),
            None => RecordShape::Empty("data.data absent"),
            Some(Member::Json(json)) => match (path, without_space(json).as_str()) {
                ("data", "[]") => RecordShape::Empty("data []"),
                ("data", "null") => RecordShape::Empty("data null"),
                ("data.data", "{}") => RecordShape::Empty("data.data {}"),
                ("data.data", "null") => RecordShape::Empty("data.data null"),
                _ => RecordShape::Other(path),
            },
            Some(Member::Object(_)) => RecordShape::Other(path),
        }
    }
}

/// Whether a response without records has other members than `data.status` and `data.meta`: of a success, lists and
/// objects with content, else any.
fn holds_more(members: &[(String, Member)], is_success: bool) -> bool {
    members.iter().filter(|(name, _)| !matches!(name.as_str(), field::STATUS | field::META)).any(|(_, member)| {
        match member {
            Member::Json(json) if is_success => {
                json.starts_with(['[', '{']) && !matches!(without_space(json).as_str(), "[]" | "{}")
            }
            _ => true,
        }
    })
}

/// An integer, which may also be written as `200.0` or `2e2`.
fn integer(json: &str) -> Option<i64> {
    json.parse().ok().or_else(|| {
        let number: f64 = serde_json::from_str(json).ok()?;
        #[expect(clippy::cast_possible_truncation, reason = "an integer below 2^53 is exact")]
        (number.fract() == 0.0 && number.abs() < 9e15).then_some(number as i64)
    })
}

fn find<'a>(members: &'a [(String, Member)], name: &str) -> Option<&'a Member> {
    members.iter().find(|(member, _)| member == name).map(|(_, value)| value)
}

/// Removes white space, so that `{ }` equals `{}`. Looks at a prefix only: longer JSON is not empty.
fn without_space(json: &str) -> String {
    json.chars().take(64).filter(|character| !character.is_ascii_whitespace()).collect()
}

/// The containers that the decoder walks. All others are values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Level {
    Root,
    Data,
    Records,
}

/// Up to this number, members are compared one by one.
const FEW: usize = 16;

/// Builds the envelope.
#[derive(Debug, Default)]
pub(super) struct EnvelopeBuilder {
    levels: Vec<Level>,
    key: String,
    /// The keys of each level, once it has more than a few.
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
        let (members, keys, prefix) =
            if is_data { (&self.data, &mut self.data_keys, "data.") } else { (&self.root, &mut self.root_keys, "") };
        let is_repeated = if members.len() < FEW {
            members.iter().any(|(known, _)| *known == key)
        } else {
            if keys.is_empty() {
                keys.extend(members.iter().map(|(known, _)| known.clone()));
            }
            !keys.insert(key.clone())
        };
        if is_repeated {
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
