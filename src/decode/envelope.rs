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
    pub fn member(&self, name: &str) -> Option<&Member> {
        find(&self.members, name)
    }

    /// A member of `data`, when `data` is an object.
    pub fn data_member(&self, name: &str) -> Option<&Member> {
        let Some(Member::Object(members)) = self.member(field::DATA) else { return None };
        find(members, name)
    }

    /// `code`. The error is what is there instead of an integer, as JSON.
    pub fn code(&self) -> Result<i64, Option<&str>> {
        let json = json(self.member(field::CODE)).ok_or(None)?;
        integer(json).ok_or(Some(json))
    }

    /// A member of the envelope, when it is a string.
    pub fn text(&self, name: &str) -> Option<String> {
        serde_json::from_str(json(self.member(name))?).ok()
    }

    /// `data.status`. The error is what is there instead of a bool, as JSON.
    pub fn status(&self) -> Result<Option<bool>, &str> {
        let Some(json) = json(self.data_member(field::STATUS)) else { return Ok(None) };
        serde_json::from_str(json).map_err(|_| json)
    }

    /// What the response has where its records belong.
    pub fn record_shape(&self) -> RecordShape {
        let (path, members, name, is_success) = match self.member(field::DATA) {
            Some(Member::Object(members)) if members.is_empty() => return RecordShape::Empty("data {}"),
            Some(Member::Object(members)) => ("data.data", members, field::RECORDS, self.status() == Ok(Some(true))),
            _ => ("data", &self.members, field::DATA, true),
        };
        match find(members, name) {
            Some(Member::Records) if self.records == 0 => RecordShape::Empty("data.data []"),
            Some(Member::Records) => RecordShape::Array,
            None if holds_more(members, is_success) => RecordShape::Misplaced(path),
            None if path == "data" => RecordShape::Empty(NO_DATA),
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

fn json(member: Option<&Member>) -> Option<&str> {
    match member? {
        Member::Json(json) => Some(json),
        Member::Object(_) | Member::Records => None,
    }
}

fn find<'a>(members: &'a [(String, Member)], name: &str) -> Option<&'a Member> {
    members.iter().find(|(member, _)| member == name).map(|(_, value)| value)
}

/// Removes white space, so that `{ }` equals `{}`. Looks at a prefix only: longer JSON is not empty.
fn without_space(json: &str) -> String {
    json.chars().take(64).filter(|character| !character.is_ascii_whitespace()).collect()
}

/// The containers that the decoder walks, each within the one before it. All others are values.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Level {
    #[default]
    Outside,
    Root,
    Data,
    Records,
}

/// Up to this number, members are compared one by one.
const FEW: usize = 16;

#[derive(Debug, Default)]
pub(super) struct EnvelopeBuilder {
    level: Level,
    key: String,
    /// The keys of this level, once it has more than a few.
    keys: HashSet<String>,
    /// The members so far.
    pub(super) envelope: Envelope,
    /// The memory of all keys and values.
    pub(super) bytes: usize,
}

impl EnvelopeBuilder {
    pub(super) fn depth(&self) -> usize {
        self.level as usize
    }

    pub(super) fn is_in_records(&self) -> bool {
        self.level == Level::Records
    }

    /// Whether the next value belongs to this key of this container.
    pub(super) fn is_at(&self, level: Level, key: &str) -> bool {
        self.level == level && self.key == key
    }

    pub(super) fn open(&mut self, level: Level) {
        match level {
            Level::Data => self.add(Member::Object(Vec::new())),
            Level::Records => self.add(Member::Records),
            Level::Outside | Level::Root => {}
        }
        self.enter(level);
    }

    /// Closes the innermost container. Returns whether it was the envelope itself.
    pub(super) fn close(&mut self) -> bool {
        self.enter(match self.level {
            Level::Records => Level::Data,
            Level::Data => Level::Root,
            Level::Root | Level::Outside => Level::Outside,
        });
        self.level == Level::Outside
    }

    fn enter(&mut self, level: Level) {
        self.level = level;
        self.keys.clear();
    }

    /// Adds a key. The error is the path of a key that the envelope already has.
    pub(super) fn take_key(&mut self, key: String) -> Result<(), String> {
        let (members, prefix) = match self.envelope.members.last() {
            Some((_, Member::Object(data))) if self.level == Level::Data => (data, "data."),
            _ => (&self.envelope.members, ""),
        };
        let is_repeated = if members.len() < FEW {
            find(members, &key).is_some()
        } else {
            if self.keys.is_empty() {
                self.keys.extend(members.iter().map(|(known, _)| known.clone()));
            }
            !self.keys.insert(key.clone())
        };
        if is_repeated {
            return Err(format!("{prefix}{key}"));
        }
        self.bytes += 2 * (key.len() + size_of::<(String, Member)>());
        self.key = key;
        Ok(())
    }

    /// Adds the value of the last key.
    pub(super) fn take_value(&mut self, value: Box<str>) {
        self.bytes += value.len();
        self.add(Member::Json(value));
    }

    fn add(&mut self, member: Member) {
        let named = (std::mem::take(&mut self.key), member);
        match self.envelope.members.last_mut() {
            Some((_, Member::Object(data))) if self.level == Level::Data => data.push(named),
            _ => self.envelope.members.push(named),
        }
    }

    /// Whether code and status have arrived and report success.
    pub(super) fn is_success(&self) -> bool {
        self.envelope.code() == Ok(CODE_SUCCESS) && self.envelope.status() == Ok(Some(true))
    }
}
