//! Switches: the sandbox's behaviour where the specification leaves it open.
//!
//! `docs/open-points.md` has the questions, the defaults and their reasons.

mod choices;
mod setting;

use std::time::Duration;

pub use choices::{
    AttrsFormat, ChannelIdType, Choice, CodeValueType, DayComparison, EmptyShape, FinishedTypes, Gzip, KeyOrder,
    LastUsedType, MalformedRequest, RowOrder, Undocumented, UnknownAttribute, UnknownExport,
};
pub use setting::Setting;

use crate::contract::open_points::SWITCHES;
use crate::contract::{SCOPE_DOWNLOAD, SCOPE_ITEM};
use crate::error::{Error, Kind, Result, excerpt};

/// One setting for each open point.
#[derive(Clone, Debug, PartialEq)]
pub struct Switches {
    /// IANA name of the zone in which days are cut.
    pub day_zone: String,
    /// IANA name of the zone of the times in records.
    pub source_timezone: String,
    /// Whether `after_date` and `before_date` include the day they name.
    pub day_comparison: DayComparison,
    /// Treatment of undocumented operators.
    pub operators: Undocumented,
    /// Treatment of undocumented time units.
    pub time_unit: Undocumented,
    /// Treatment of `value_type` in a condition of a promotion code search.
    pub value_type: CodeValueType,
    /// Which forms of `attrs` are accepted.
    pub attrs_format: AttrsFormat,
    /// Treatment of an attribute in `attrs` that the object does not have.
    pub unknown_attribute: UnknownAttribute,
    /// The value of `data.data` when no record matches.
    pub empty_shape: EmptyShape,
    /// Format of `last_used_source` and `last_used_time` once set.
    pub last_used_type: LastUsedType,
    /// Type of `channel_id`.
    pub channel_id_type: ChannelIdType,
    /// Scope of the generic search.
    pub generic_scope: String,
    /// Scope of the segment download.
    pub download_scope: String,
    /// `exportStatus` of an entry that succeeded.
    pub finished_status: i64,
    /// `exportStatus` of an entry that failed.
    pub failed_status: i64,
    /// Format of `durations`, `responseCode` and `responseMessage` once set.
    pub finished_types: FinishedTypes,
    /// The response for an unknown `exportId`.
    pub unknown_export: UnknownExport,
    /// How a malformed request is reported.
    pub malformed_request: MalformedRequest,
    /// The order of the records.
    pub row_order: RowOrder,
    /// Most records of a response; further ones are left out.
    pub maximum_rows: Option<u64>,
    /// Whether `code` is first or last in a response.
    pub key_order: KeyOrder,
    /// Whether responses are compressed for clients that accept it.
    pub gzip: Gzip,
    /// Delay of every response.
    pub latency: Duration,
}

impl Default for Switches {
    fn default() -> Self {
        Self {
            day_zone: "UTC".to_owned(),
            source_timezone: "UTC".to_owned(),
            day_comparison: DayComparison::Exclusive,
            operators: Undocumented::Refused,
            time_unit: Undocumented::Refused,
            value_type: CodeValueType::Refused,
            attrs_format: AttrsFormat::Both,
            unknown_attribute: UnknownAttribute::Refused,
            empty_shape: EmptyShape::Array,
            last_used_type: LastUsedType::String,
            channel_id_type: ChannelIdType::Number,
            generic_scope: SCOPE_ITEM.to_owned(),
            download_scope: SCOPE_DOWNLOAD.to_owned(),
            finished_status: 2,
            failed_status: 3,
            finished_types: FinishedTypes::Plain,
            unknown_export: UnknownExport::NotFound,
            malformed_request: MalformedRequest::Status,
            row_order: RowOrder::Id,
            maximum_rows: None,
            key_order: KeyOrder::CodeFirst,
            gzip: Gzip::Off,
            latency: Duration::ZERO,
        }
    }
}

impl Switches {
    /// Sets a switch by its name in the table of open points.
    ///
    /// # Errors
    /// `Sandbox` for an unknown switch, which names the most similar, or for an invalid value, which names the valid
    /// ones.
    pub fn set(&mut self, name: &str, value: &Setting) -> Result<()> {
        let Some((_, values)) = SWITCHES.iter().find(|(known, _)| *known == name) else { return Err(unknown(name)) };
        self.put(name, value).ok_or_else(|| {
            let problem = format!("switch {name}: {} is not a value of it", excerpt(&value.to_string(), 60));
            Error::new(Kind::Sandbox, problem).with_hint(format!("it takes {values}"))
        })
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

    /// Sets a switch; none when the value is invalid.
    fn put(&mut self, name: &str, value: &Setting) -> Option<()> {
        match name {
            "day_zone" => self.day_zone = value.zone()?,
            "source_timezone" => self.source_timezone = value.zone()?,
            "day_comparison" => self.day_comparison = value.choice()?,
            "operators" => self.operators = value.choice()?,
            "time_unit" => self.time_unit = value.choice()?,
            "value_type" => self.value_type = value.choice()?,
            "attrs_format" => self.attrs_format = value.choice()?,
            "unknown_attribute" => self.unknown_attribute = value.choice()?,
            "empty_shape" => self.empty_shape = value.choice()?,
            "last_used_type" => self.last_used_type = value.choice()?,
            "channel_id_type" => self.channel_id_type = value.choice()?,
            "generic_scope" => self.generic_scope = value.text()?,
            "download_scope" => self.download_scope = value.text()?,
            "finished_status" => self.finished_status = value.integer()?,
            "failed_status" => self.failed_status = value.integer()?,
            "finished_types" => self.finished_types = value.choice()?,
            "unknown_export" => self.unknown_export = value.choice()?,
            "malformed_request" => self.malformed_request = value.choice()?,
            "row_order" => self.row_order = value.choice()?,
            "maximum_rows" => self.maximum_rows = value.count()?,
            "key_order" => self.key_order = value.choice()?,
            "gzip" => self.gzip = value.choice()?,
            "latency" => self.latency = value.seconds()?,
            _ => return None,
        }
        Some(())
    }
}

fn unknown(name: &str) -> Error {
    let names = || SWITCHES.iter().map(|(name, _)| *name);
    let likeness = |other: &str| strsim::jaro_winkler(name, other);
    let nearest = names().max_by(|one, other| likeness(one).total_cmp(&likeness(other)));
    let hint = match nearest.filter(|nearest| likeness(nearest) > 0.8) {
        Some(nearest) => format!("did you mean {nearest}?"),
        None => format!("there are {}", names().collect::<Vec<_>>().join(", ")),
    };
    Error::new(Kind::Sandbox, format!("there is no switch `{}`", excerpt(name, 60))).with_hint(hint)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The names of the fields, from the derived `Debug`.
    fn fields() -> Vec<String> {
        let printed = format!("{:#?}", Switches::default());
        let names = printed.lines().filter_map(|line| line.strip_prefix("    ")?.split_once(": "));
        names.map(|(name, _)| name.to_owned()).filter(|name| !name.starts_with(' ')).collect()
    }

    #[test]
    fn every_choice_of_the_table_is_a_switch_and_every_switch_a_row() {
        let (mut rows, mut switches) = (SWITCHES.map(|(name, _)| name.to_owned()).to_vec(), fields());
        rows.sort();
        switches.sort();
        assert_eq!(rows, switches);
        for name in rows {
            // -0.5 is valid for no switch: an error about the value shows that the name is known.
            let error = Switches::default().set(&name, &Setting::Number(-0.5)).unwrap_err();
            assert!(error.message().starts_with(&format!("switch {name}: -0.5")), "{error}");
        }
    }

    #[test]
    fn the_words_of_the_table_are_accepted_and_the_first_is_the_default() {
        for (name, values) in SWITCHES.iter().filter(|(_, values)| values.starts_with('"')) {
            let words: Vec<&str> = values.split('"').skip(1).step_by(2).collect();
            let mut switches = Switches::default();
            for (index, word) in words.iter().enumerate() {
                switches.set(name, &Setting::Text((*word).to_owned())).unwrap();
                assert_eq!(switches == Switches::default(), index == 0, "{name} = {word}");
            }
        }
    }

    #[test]
    fn an_error_names_the_valid_switches_or_values() {
        let mut switches = Switches::default();
        let mut line = |name: &str, value: Setting| switches.set(name, &value).unwrap_err().summary();
        assert_eq!(line("empty_shpae", Setting::None), "there is no switch `empty_shpae`; did you mean empty_shape?");
        assert!(line("colour", Setting::None).starts_with("there is no switch `colour`; there are day_zone, "));
        assert_eq!(
            line("empty_shape", Setting::Text("nil".to_owned())),
            "switch empty_shape: `nil` is not a value of it; it takes \"array\", \"object\", \"null\", \"absent\""
        );
        assert!(line("day_zone", Setting::Text("Hanoi".to_owned())).ends_with("or another IANA name"));
        assert!(line("maximum_rows", Setting::Integer(0)).ends_with("of at least 1"));
        assert!(line("latency", Setting::Number(f64::NAN)).ends_with("at least 0"));
    }
}
