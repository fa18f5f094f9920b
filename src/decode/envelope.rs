//! What is left of an answer when its records have gone to the sink: the envelope, member by member.

use serde_json::value::RawValue;

use crate::contract::envelope::field;

/// A member of the envelope or of its `data`.
#[derive(Clone, Debug)]
pub enum Member {
    /// Checked JSON, as written.
    Json(Box<RawValue>),
    /// `data`, when it is an object.
    Object(Vec<(String, Member)>),
    /// The records, which went to the sink.
    Records,
}

/// Where and how the records of a search stood.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RecordShape {
    /// An array, as the document has it.
    Array,
    /// Nothing in place of the array: what stood there instead.
    Empty(&'static str),
    /// Something that is neither an array nor an empty answer (`null`, `{}` and absent are): where it stood.
    Other(&'static str),
}

/// An answer that closed well.
#[derive(Clone, Debug, Default)]
pub struct Envelope {
    /// All members in the order of the wire.
    pub members: Vec<(String, Member)>,
    /// Records decoded, whether or not a limit cut them.
    pub records: u64,
    /// For each requested column, in how many records its key was present.
    pub present: Vec<u64>,
    /// Records that had keys nobody asked for.
    pub records_with_extras: u64,
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

    /// `code` as a whole number, or what stood there instead.
    pub fn code(&self) -> Result<i64, Option<&str>> {
        match self.member(field::CODE) {
            Some(Member::Json(json)) => whole_number(json.get()).ok_or(Some(json.get())),
            _ => Err(None),
        }
    }

    /// `message`, when it is a text.
    #[must_use]
    pub fn message(&self) -> Option<String> {
        match self.member(field::MESSAGE) {
            Some(Member::Json(json)) => serde_json::from_str(json.get()).ok(),
            _ => None,
        }
    }

    /// `data.status`, or what stood there instead of a boolean.
    pub fn status(&self) -> Result<Option<bool>, &str> {
        match self.data_member(field::STATUS) {
            Some(Member::Json(json)) => match json.get() {
                "true" => Ok(Some(true)),
                "false" => Ok(Some(false)),
                "null" => Ok(None),
                other => Err(other),
            },
            _ => Ok(None),
        }
    }

    /// How the records stood.
    #[must_use]
    pub fn record_shape(&self) -> RecordShape {
        let (place, member) = match self.member(field::DATA) {
            Some(Member::Object(members)) if members.is_empty() => return RecordShape::Empty("data {}"),
            Some(Member::Object(members)) => ("data.data", find(members, field::RECORDS)),
            other => ("data", other),
        };
        match member {
            Some(Member::Records) if self.records == 0 => RecordShape::Empty("data.data []"),
            Some(Member::Records) => RecordShape::Array,
            None if place == "data" => RecordShape::Empty("data absent"),
            None => RecordShape::Empty("data.data absent"),
            Some(Member::Json(json)) => match (place, without_space(json.get()).as_str()) {
                ("data", "[]") => RecordShape::Empty("data []"),
                ("data", "null") => RecordShape::Empty("data null"),
                ("data.data", "{}") => RecordShape::Empty("data.data {}"),
                ("data.data", "null") => RecordShape::Empty("data.data null"),
                _ => RecordShape::Other(place),
            },
            Some(Member::Object(_)) => RecordShape::Other(place),
        }
    }
}

/// `code` is a number; one written `200.0` or `2e2` is the same number.
pub(super) fn whole_number(json: &str) -> Option<i64> {
    json.parse().ok().or_else(|| {
        let number: f64 = serde_json::from_str(json).ok()?;
        #[expect(clippy::cast_possible_truncation, reason = "a whole number below 2^53 is exact")]
        (number.fract() == 0.0 && number.abs() < 9e15).then_some(number as i64)
    })
}

fn find<'a>(members: &'a [(String, Member)], name: &str) -> Option<&'a Member> {
    members.iter().find(|(member, _)| member == name).map(|(_, value)| value)
}

/// `{ }` and `[ ]` are empty too. Only short texts are looked at: a long one is not empty.
fn without_space(json: &str) -> String {
    json.chars().take(64).filter(|character| !character.is_ascii_whitespace()).collect()
}
