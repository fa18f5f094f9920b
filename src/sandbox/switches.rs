//! Switches: the sandbox's behaviour where the specification leaves it open.
//!
//! `docs/open-points.md` has the questions, the defaults and their reasons; a test holds the two tables equal.

use std::num::NonZeroU64;
use std::time::Duration;

use jiff::tz::TimeZone;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Map, Value};

use super::request::nearest;
use crate::contract::{SCOPE_DOWNLOAD, SCOPE_ITEM};
use crate::error::{Error, Kind, Result, excerpt};

/// Declares the switches: each with its type, its default, and the values that it takes.
macro_rules! switches {
    ($($(#[$about:meta])+ $name:ident: $kind:ty = $default:expr, $takes:literal;)+) => {
        /// One setting for each open point.
        #[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
        #[serde(default, deny_unknown_fields)]
        pub struct Switches { $($(#[$about])+ pub $name: $kind,)+ }

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
    /// IANA name of the zone in which days are cut.
    #[serde(deserialize_with = "zone")]
    day_zone: String = "UTC".to_owned(), "\"UTC\" or another IANA name";
    /// IANA name of the zone of the times in records.
    #[serde(deserialize_with = "zone")]
    source_timezone: String = "UTC".to_owned(), "\"UTC\" or another IANA name";
    /// Whether `after_date` and `before_date` include the day they name.
    day_comparison: DayComparison = DayComparison::Exclusive, "\"exclusive\", \"inclusive\", \"instants\"";
    /// The times for which `equals` on a time matches.
    day_equals: DayEquals = DayEquals::Day, "\"day\", \"window\"";
    /// Treatment of a time in seconds.
    seconds: Undocumented = Undocumented::Refused, "\"refused\", \"unmatched\"";
    /// Treatment of undocumented operators.
    operators: Undocumented = Undocumented::Refused, "\"refused\", \"unmatched\"";
    /// Treatment of undocumented time units.
    time_unit: Undocumented = Undocumented::Refused, "\"refused\", \"unmatched\"";
    /// Treatment of `value_type` in a condition of a promotion code search.
    value_type: Member = Member::Optional, "\"optional\", \"required\", \"refused\"";
    /// Treatment of `condition_type` in a condition of a promotion code search.
    code_condition_type: Member = Member::Optional, "\"optional\", \"required\", \"refused\"";
    /// Which forms of `attrs` are accepted.
    attrs_format: AttrsFormat = AttrsFormat::Both, "\"both\", \"array\", \"string\"";
    /// Treatment of an attribute in `attrs` that the object does not have.
    unknown_attribute: UnknownAttribute = UnknownAttribute::Refused, "\"refused\", \"ignored\"";
    /// Treatment of promotion codes in the shape of the generic search.
    generic_codes: GenericCodes = GenericCodes::Refused, "\"refused\", \"accepted\"";
    /// The value of `data.data` when no record matches.
    empty_shape: EmptyShape = EmptyShape::Array, "\"array\", \"object\", \"null\", \"absent\"";
    /// Type of `last_used_source` and `last_used_time` once set.
    last_used_type: LastUsedType = LastUsedType::String, "\"string\", \"object\"";
    /// Type of `channel_id`.
    channel_id_type: ScalarType = ScalarType::Number, "\"number\", \"string\"";
    /// Scope of the generic search.
    #[serde(deserialize_with = "text")]
    generic_scope: String = SCOPE_ITEM.to_owned(), "a string";
    /// Scope of the segment download.
    #[serde(deserialize_with = "text")]
    download_scope: String = SCOPE_DOWNLOAD.to_owned(), "a string";
    /// `exportStatus` of an entry that succeeded.
    finished_status: i64 = 2, "an integer";
    /// `exportStatus` of an entry that failed.
    failed_status: i64 = 3, "an integer";
    /// Types of `durations` and `responseCode` once set.
    finished_types: ScalarType = ScalarType::Number, "\"number\", \"string\"";
    /// Type of `exportedRows` once set.
    exported_rows_type: ScalarType = ScalarType::Number, "\"number\", \"string\"";
    /// Type of `endTime` once set.
    end_time_type: EndTimeType = EndTimeType::String, "\"string\", \"number\"";
    /// The response for an unknown `exportId`.
    unknown_export: UnknownExport = UnknownExport::NotFound, "\"not_found\", \"no_entries\"";
    /// Whether a download checks the scope of the token or the export first.
    download_order: DownloadOrder = DownloadOrder::ScopeFirst, "\"scope_first\", \"export_first\"";
    /// Whether the scheme `Bearer` may be written in another case.
    bearer_case: BearerCase = BearerCase::Any, "\"any\", \"exact\"";
    /// Treatment of a query string on the path of an operation.
    query_string: QueryString = QueryString::Ignored, "\"ignored\", \"refused\"";
    /// How a malformed request is reported; the envelope's code is always 400.
    malformed_request: MalformedRequest = MalformedRequest::Status, "\"status\", \"code_only\"";
    /// The order of the records.
    row_order: RowOrder = RowOrder::Id, "\"id\", \"reverse\"";
    /// Most records of a response; further ones are left out.
    maximum_rows: Option<NonZeroU64> = None, "none, or an integer of at least 1";
    /// Delay of every response.
    #[serde(deserialize_with = "seconds", serialize_with = "as_seconds")]
    latency: Duration = Duration::ZERO, "seconds before a response, at least 0";
}

/// Declares the values of switches: a variant `NotFound` is the word `not_found`.
macro_rules! words {
    ($($(#[$about:meta])+ $name:ident { $($variant:ident),+ })+) => {$(
        $(#[$about])+
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
        #[serde(rename_all = "snake_case")]
        #[expect(missing_docs, reason = "the documentation of the type says what each is")]
        pub enum $name { $($variant),+ }
    )+};
}

words! {
    /// Whether `after_date` and `before_date` exclude the day they name, include it, or compare instants.
    DayComparison { Exclusive, Inclusive, Instants }
    /// `equals` on a time matches the whole day that holds the instant, or the 24 hours that begin at the instant.
    DayEquals { Day, Window }
    /// An undocumented value is refused, or accepted without a match.
    Undocumented { Refused, Unmatched }
    /// A member that sections 2.4 and 4.1 have and section 4.2 does not name: optional, required, or refused.
    Member { Optional, Required, Refused }
    /// A search of promotion codes in the shape of section 4.1 is refused, or accepted beside the shape of 4.2.
    GenericCodes { Refused, Accepted }
    /// `last_used_source` and `last_used_time` are strings, or objects that hold the string as `value`.
    LastUsedType { String, Object }
    /// A JSON number, or a string of its digits.
    ScalarType { Number, String }
    /// A string as `startTime`, or a number of Unix milliseconds.
    EndTimeType { String, Number }
    /// An attribute in `attrs` that the object does not have is refused, or no record has it.
    UnknownAttribute { Refused, Ignored }
    /// `attrs` is an array of names, a string with commas, or either.
    AttrsFormat { Both, Array, String }
    /// `data.data` when no record matches: `[]`, `{}`, `null`, or no member.
    EmptyShape { Array, Object, Null, Absent }
    /// An unknown `exportId`: HTTP 404 with code 404, or a success without entries, as before an export begins.
    UnknownExport { NotFound, NoEntries }
    /// A token without the scope gets 403 for every export, or 404 for an unknown one.
    DownloadOrder { ScopeFirst, ExportFirst }
    /// `bearer` is `Bearer`, or the permission failure.
    BearerCase { Any, Exact }
    /// A query string is ignored, or the request is malformed.
    QueryString { Ignored, Refused }
    /// A malformed request is reported also by HTTP status 400, or by the code 400 alone.
    MalformedRequest { Status, CodeOnly }
    /// Records by their identifying attribute, ascending or descending.
    RowOrder { Id, Reverse }
}

impl Switches {
    /// These switches with others by name, all or none.
    ///
    /// # Errors
    /// `Sandbox` for an unknown switch, which names the most similar, or for an invalid value, which names the valid
    /// ones.
    pub fn with(&self, changes: &Map<String, Value>) -> Result<Self> {
        let mut members = self.to_json();
        let mut switches = self.clone();
        for (name, value) in changes {
            let takes = SWITCHES.iter().find(|(known, _)| known == name).ok_or_else(|| unknown(name))?.1;
            members.insert(name.clone(), value.clone());
            switches = Self::deserialize(&Value::Object(members.clone())).map_err(|_| {
                let given = match value {
                    Value::Null => "none".to_owned(),
                    Value::String(text) => format!("`{text}`"),
                    _ => value.to_string(),
                };
                Error::new(Kind::Sandbox, format!("switch {name}: {} is not a value of it", excerpt(&given, 60)))
                    .with_hint(format!("it takes {takes}"))
            })?;
        }
        Ok(switches)
    }

    /// The value of each switch by its name.
    #[must_use]
    pub fn to_json(&self) -> Map<String, Value> {
        match serde_json::to_value(self) {
            Ok(Value::Object(members)) => members,
            _ => Map::new(),
        }
    }

    /// All known scopes, of the specification and of switches.
    #[must_use]
    pub fn scopes(&self) -> Vec<String> {
        let mut scopes = vec![SCOPE_ITEM, SCOPE_DOWNLOAD];
        for named in [self.generic_scope.as_str(), self.download_scope.as_str()] {
            if !scopes.contains(&named) {
                scopes.push(named);
            }
        }
        scopes.into_iter().map(ToOwned::to_owned).collect()
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

/// The name of a time zone.
fn zone<'de, D: Deserializer<'de>>(input: D) -> std::result::Result<String, D::Error> {
    let name = text(input)?;
    TimeZone::get(&name).map_err(D::Error::custom).map(|_| name)
}

/// A number of seconds from 0 on.
fn seconds<'de, D: Deserializer<'de>>(input: D) -> std::result::Result<Duration, D::Error> {
    Duration::try_from_secs_f64(f64::deserialize(input)?).map_err(D::Error::custom)
}

fn as_seconds<S: Serializer>(duration: &Duration, output: S) -> std::result::Result<S::Ok, S::Error> {
    output.serialize_f64(duration.as_secs_f64())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn with(name: &str, value: Value) -> Result<Switches> {
        Switches::default().with(&Map::from_iter([(name.to_owned(), value)]))
    }

    #[test]
    fn the_words_of_the_table_are_those_of_the_types_and_the_first_is_the_default() {
        for (name, takes) in SWITCHES.iter().filter(|(_, takes)| takes.starts_with('"')) {
            for (index, word) in takes.split('"').skip(1).step_by(2).enumerate() {
                let switches = with(name, json!(word)).unwrap();
                assert_eq!(switches == Switches::default(), index == 0, "{name} = {word}");
                assert_eq!(switches.to_json()[*name], json!(word));
            }
        }
    }

    #[test]
    fn switches_change_all_or_none_and_the_others_stay() {
        let first = with("latency", json!(0.5)).unwrap();
        let changes = json!({"maximum_rows": 7, "row_order": "reverse"});
        let second = first.with(changes.as_object().unwrap()).unwrap();
        let expected = Switches { maximum_rows: NonZeroU64::new(7), row_order: RowOrder::Reverse, ..first };
        assert_eq!(second, expected);
        assert_eq!(Switches::deserialize(Value::Object(second.to_json())).unwrap(), expected);
        assert!(second.with(json!({"latency": 1, "row_order": "no"}).as_object().unwrap()).is_err());
    }

    #[test]
    fn an_error_names_the_valid_switches_or_values() {
        let line = |name: &str, value: Value| with(name, value).unwrap_err().summary();
        assert_eq!(line("empty_shpae", json!(null)), "there is no switch `empty_shpae`; did you mean empty_shape?");
        assert!(line("colour", json!(null)).starts_with("there is no switch `colour`; there are day_zone, "));
        assert_eq!(
            line("empty_shape", json!("nil")),
            "switch empty_shape: `nil` is not a value of it; it takes \"array\", \"object\", \"null\", \"absent\""
        );
        assert!(line("day_zone", json!("Hanoi")).ends_with("or another IANA name"));
        assert!(line("generic_scope", json!("")).ends_with("it takes a string"));
        for value in [json!(0), json!(-1), json!(1.0), json!(true)] {
            assert!(line("maximum_rows", value).ends_with("of at least 1"));
        }
        for value in [json!(-0.5), json!(1e300), json!("1"), json!(null)] {
            assert!(line("latency", value).ends_with("at least 0"));
        }
    }
}
