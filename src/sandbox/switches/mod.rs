//! The sandbox's answers to what the document does not show.
//!
//! `docs/open-points.md` has the questions, the defaults and their reasons.

mod choices;
mod setting;

use std::time::Duration;

pub use choices::{
    AttrsAs, ChannelIdType, Choice, DayComparison, EmptyShape, FinishedTypes, Gzip, KeyOrder, LastUsedType,
    MalformedRequest, RowOrder, UnknownExport, Unshown,
};
pub use setting::Setting;

use crate::contract::open_points::SWITCHES;
use crate::contract::{SCOPE_DOWNLOAD, SCOPE_ITEM};
use crate::error::{Error, Kind, Result, excerpt};

/// One answer for each open point that a deployment may settle otherwise.
#[derive(Clone, Debug, PartialEq)]
pub struct Switches {
    /// IANA name of the zone in which DAY cuts time into days; the texts of times themselves are UTC.
    pub day_zone: String,
    /// Whether `after_date` and `before_date` include the day they name.
    pub day_comparison: DayComparison,
    /// What becomes of an operator that the document does not show.
    pub operators: Unshown,
    /// What becomes of a time unit that the document does not show.
    pub time_unit: Unshown,
    /// Which forms of `attrs` are taken.
    pub attrs_as: AttrsAs,
    /// What `data.data` is when no record is found.
    pub empty_shape: EmptyShape,
    /// How `last_used_source` and `last_used_time` are written once set.
    pub last_used_type: LastUsedType,
    /// How `channel_id` is written.
    pub channel_id_type: ChannelIdType,
    /// Scope of the generic search; that of the promotion code search is not open.
    pub generic_scope: String,
    /// Scope of the segment download.
    pub download_scope: String,
    /// `exportStatus` of an entry that ended well.
    pub finished_status: i64,
    /// `exportStatus` of an entry that failed.
    pub failed_status: i64,
    /// How `durations`, `responseCode` and `responseMessage` are written once set.
    pub finished_types: FinishedTypes,
    /// The answer for an unknown `exportId`.
    pub unknown_export: UnknownExport,
    /// How a malformed request is told.
    pub malformed_request: MalformedRequest,
    /// The order of the records.
    pub row_order: RowOrder,
    /// Most records of an answer; what is beyond is left out.
    pub maximum_rows: Option<u64>,
    /// Whether `code` stands first or last in an answer.
    pub key_order: KeyOrder,
    /// Whether answers are compressed for clients that ask for it.
    pub gzip: Gzip,
    /// How long an answer is held back.
    pub latency: Duration,
}

impl Default for Switches {
    fn default() -> Self {
        Self {
            day_zone: "UTC".to_owned(),
            day_comparison: DayComparison::Exclusive,
            operators: Unshown::Refused,
            time_unit: Unshown::Refused,
            attrs_as: AttrsAs::Both,
            empty_shape: EmptyShape::Array,
            last_used_type: LastUsedType::Text,
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
    /// `Sandbox` when there is no such switch, which names the nearest, or when it does not take the value,
    /// which names what it takes.
    pub fn set(&mut self, name: &str, value: &Setting) -> Result<()> {
        let Some((_, values)) = SWITCHES.iter().find(|(known, _)| *known == name) else { return Err(unknown(name)) };
        self.put(name, value).ok_or_else(|| {
            let problem = format!("switch {name}: {} is not a value of it", excerpt(&value.to_string(), 60));
            Error::new(Kind::Sandbox, problem).with_hint(format!("it takes {values}"))
        })
    }

    /// All scopes that mean something: those of the document, and those that stand in for them.
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

    /// Puts a value in its place; none when it does not fit.
    fn put(&mut self, name: &str, value: &Setting) -> Option<()> {
        match name {
            "day_zone" => self.day_zone = value.zone()?,
            "day_comparison" => self.day_comparison = value.choice()?,
            "operators" => self.operators = value.choice()?,
            "time_unit" => self.time_unit = value.choice()?,
            "attrs_as" => self.attrs_as = value.choice()?,
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

    /// The names of the fields, as the standard library prints them.
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
            // What no switch takes is refused by the switch itself, not for its name.
            let error = Switches::default().set(&name, &Setting::Number(-0.5)).unwrap_err();
            assert!(error.message().starts_with(&format!("switch {name}: -0.5")), "{error}");
        }
    }

    #[test]
    fn the_words_of_the_table_are_those_that_are_taken_and_the_first_is_the_default() {
        for (name, values) in SWITCHES.iter().filter(|(_, values)| values.starts_with('"')) {
            let words: Vec<&str> = values.split('"').skip(1).step_by(2).collect();
            let mut switches = Switches::default();
            for (place, word) in words.iter().enumerate() {
                switches.set(name, &Setting::Text((*word).to_owned())).unwrap();
                assert_eq!(switches == Switches::default(), place == 0, "{name} = {word}");
            }
        }
    }

    #[test]
    fn a_wrong_name_or_value_is_told_what_would_do() {
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
