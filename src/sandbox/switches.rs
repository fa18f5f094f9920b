//! Switches: the sandbox's behaviour where the specification leaves it open.
//!
//! `docs/service.md` has the questions, the defaults and their reasons; a test holds the two tables equal.

use std::num::NonZeroU64;
use std::time::Duration;

use jiff::tz::TimeZone;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Map, Value, json};

use super::objects::shown;
use super::options::Seconds;
use super::request::nearest;
use crate::contract::SCOPE_DOWNLOAD;
use crate::error::{Error, Kind, Result, excerpt};

/// Scope that a token needs for the promotion code search (4.2, 5).
pub(super) const SCOPE_ITEM: &str = "item";

/// Declares the switches: each with its type, its default, and the values that it takes.
macro_rules! switches {
    ($($(#[$serde:meta])* $name:ident: $kind:ty = $default:expr, $takes:literal;)+) => {
        /// One setting for each open point.
        #[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
        #[serde(default, deny_unknown_fields)]
        #[expect(missing_docs, reason = "docs/service.md has a row about each")]
        pub struct Switches { $($(#[$serde])* pub $name: $kind,)+ }

        impl Default for Switches {
            fn default() -> Self {
                Self { $($name: $default,)+ }
            }
        }

        /// Each switch with the values that it takes, its default first.
        pub const SWITCHES: &[(&str, &str)] = &[$((stringify!($name), $takes)),+];
    };
}

switches! {
    #[serde(deserialize_with = "zone", serialize_with = "name_of_zone")]
    day_zone: TimeZone = TimeZone::UTC, "\"UTC\" or another IANA name";
    #[serde(deserialize_with = "zone", serialize_with = "name_of_zone")]
    source_timezone: TimeZone = TimeZone::UTC, "\"UTC\" or another IANA name";
    day_comparison: DayComparison = DayComparison::Exclusive, "\"exclusive\", \"inclusive\", \"instants\"";
    day_equals: DayEquals = DayEquals::Day, "\"day\", \"window\"";
    seconds: Undocumented = Undocumented::Refused, "\"refused\", \"unmatched\"";
    operators: Undocumented = Undocumented::Refused, "\"refused\", \"unmatched\"";
    time_unit: Undocumented = Undocumented::Refused, "\"refused\", \"unmatched\"";
    value_type: Member = Member::Optional, "\"optional\", \"required\", \"refused\"";
    code_condition_type: Member = Member::Optional, "\"optional\", \"required\", \"refused\"";
    attrs_format: AttrsFormat = AttrsFormat::Both, "\"both\", \"array\", \"string\"";
    unknown_attribute: Unlisted = Unlisted::Refused, "\"refused\", \"ignored\"";
    generic_codes: GenericCodes = GenericCodes::Refused, "\"refused\", \"accepted\"";
    empty_shape: EmptyShape = EmptyShape::Array, "\"array\", \"object\", \"null\", \"absent\"";
    last_used_type: LastUsedType = LastUsedType::String, "\"string\", \"object\"";
    channel_id_type: ScalarType = ScalarType::Number, "\"number\", \"string\"";
    #[serde(deserialize_with = "text")]
    generic_scope: String = SCOPE_ITEM.to_owned(), "a string";
    #[serde(deserialize_with = "text")]
    download_scope: String = SCOPE_DOWNLOAD.to_owned(), "a string";
    finished_status: i64 = 2, "an integer";
    failed_status: i64 = 3, "an integer";
    finished_types: ScalarType = ScalarType::Number, "\"number\", \"string\"";
    exported_rows_type: ScalarType = ScalarType::Number, "\"number\", \"string\"";
    end_time_type: ScalarType = ScalarType::String, "\"string\", \"number\"";
    unknown_export: UnknownExport = UnknownExport::NotFound, "\"not_found\", \"no_entries\"";
    download_order: DownloadOrder = DownloadOrder::ScopeFirst, "\"scope_first\", \"export_first\"";
    bearer_case: BearerCase = BearerCase::Any, "\"any\", \"exact\"";
    query_string: Unlisted = Unlisted::Ignored, "\"ignored\", \"refused\"";
    malformed_request: MalformedRequest = MalformedRequest::Status, "\"status\", \"code_only\"";
    row_order: RowOrder = RowOrder::Id, "\"id\", \"reverse\"";
    maximum_rows: Option<NonZeroU64> = None, "none, or an integer of at least 1";
    #[serde(deserialize_with = "seconds", serialize_with = "as_seconds")]
    latency: Duration = Duration::ZERO, "seconds before a response, at least 0";
}

/// Declares the values of switches: a variant `NotFound` is the word `not_found`.
macro_rules! words {
    ($($name:ident { $($variant:ident),+ })+) => {$(
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
        #[serde(rename_all = "snake_case")]
        #[expect(missing_docs, reason = "docs/service.md says what each is")]
        pub enum $name { $($variant),+ }
    )+};
}

words! {
    DayComparison { Exclusive, Inclusive, Instants }
    DayEquals { Day, Window }
    Undocumented { Refused, Unmatched }
    Member { Optional, Required, Refused }
    GenericCodes { Refused, Accepted }
    LastUsedType { String, Object }
    ScalarType { Number, String }
    Unlisted { Refused, Ignored }
    AttrsFormat { Both, Array, String }
    EmptyShape { Array, Object, Null, Absent }
    UnknownExport { NotFound, NoEntries }
    DownloadOrder { ScopeFirst, ExportFirst }
    BearerCase { Any, Exact }
    MalformedRequest { Status, CodeOnly }
    RowOrder { Id, Reverse }
}

impl Switches {
    /// These switches with others by name, all or none.
    ///
    /// # Errors
    /// `Sandbox` for an unknown switch, which names the most similar, or for an invalid value, which names the valid
    /// ones.
    pub fn with(&self, changes: &Map<String, Value>) -> Result<Self> {
        let mut members: Map<String, Value> = serde_json::from_value(json!(self)).unwrap_or_default();
        let mut switches = self.clone();
        for (name, value) in changes {
            let takes = SWITCHES.iter().find(|(known, _)| known == name).ok_or_else(|| unknown(name))?.1;
            members.insert(name.clone(), value.clone());
            switches = Self::deserialize(json!(members)).map_err(|_| {
                let given = if value.is_null() { "none".to_owned() } else { shown(value) };
                Error::new(Kind::Sandbox, format!("switch {name}: {given} is not a value of it"))
                    .with_hint(format!("it takes {takes}"))
            })?;
        }
        Ok(switches)
    }

    /// All known scopes, of the specification and of switches.
    pub fn scopes(&self) -> Vec<String> {
        let mut scopes = vec![SCOPE_ITEM.to_owned(), SCOPE_DOWNLOAD.to_owned()];
        for named in [&self.generic_scope, &self.download_scope] {
            if !scopes.contains(named) {
                scopes.push(named.clone());
            }
        }
        scopes
    }
}

fn unknown(name: &str) -> Error {
    let names = || SWITCHES.iter().map(|(name, _)| *name);
    let hint = match nearest(name, names()) {
        Some(nearest) => format!("did you mean {nearest}?"),
        None => format!("there are {}", names().collect::<Vec<_>>().join(", ")),
    };
    Error::new(Kind::Sandbox, format!("there is no switch `{}`", excerpt(name, 60))).with_hint(hint)
}

/// A string that is not empty.
fn text<'de, D: Deserializer<'de>>(input: D) -> std::result::Result<String, D::Error> {
    Some(String::deserialize(input)?).filter(|text| !text.is_empty()).ok_or_else(|| D::Error::custom("it is empty"))
}

fn zone<'de, D: Deserializer<'de>>(input: D) -> std::result::Result<TimeZone, D::Error> {
    TimeZone::get(&String::deserialize(input)?).map_err(D::Error::custom)
}

fn name_of_zone<S: Serializer>(zone: &TimeZone, output: S) -> std::result::Result<S::Ok, S::Error> {
    zone.iana_name().serialize(output)
}

fn seconds<'de, D: Deserializer<'de>>(input: D) -> std::result::Result<Duration, D::Error> {
    Seconds::deserialize(input).map(|seconds| seconds.0)
}

fn as_seconds<S: Serializer>(duration: &Duration, output: S) -> std::result::Result<S::Ok, S::Error> {
    output.serialize_f64(duration.as_secs_f64())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_words_of_the_table_are_those_of_the_types_and_the_first_is_the_default() {
        for (name, takes) in SWITCHES.iter().filter(|(_, takes)| takes.starts_with('"')) {
            for (index, word) in takes.split('"').skip(1).step_by(2).enumerate() {
                let switches = Switches::default().with(&Map::from_iter([((*name).to_owned(), word.into())])).unwrap();
                assert_eq!(switches == Switches::default(), index == 0, "{name} = {word}");
                assert_eq!(json!(switches)[name], word);
            }
        }
    }
}
