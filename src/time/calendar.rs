//! The days of a client: their zone, what today is, and the instants that select rows by day.
//!
//! The API specification does not say what `after_date` and `before_date` compare. Each instant here gives the same
//! rows in every reading that its [`DayComparison`] stands for.

use serde::Deserialize;

use super::{Moment, Zone};

/// What the service does with the day of `after_date` and `before_date`.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub enum DayComparison {
    /// It compares whole days and excludes the named one, or it compares instants.
    #[default]
    Exclusive,
    /// It compares whole days and includes the named one.
    Inclusive,
}

impl DayComparison {
    /// The names of the setting.
    pub const NAMES: [(&'static str, Self); 2] = [("exclusive", Self::Exclusive), ("inclusive", Self::Inclusive)];

    /// The reading of a name.
    #[must_use]
    pub fn read(name: &str) -> Option<Self> {
        Self::NAMES.into_iter().find_map(|(known, comparison)| (known == name).then_some(comparison))
    }

    /// The name of the other reading.
    #[must_use]
    pub const fn other(self) -> &'static str {
        match self {
            Self::Exclusive => "inclusive",
            Self::Inclusive => "exclusive",
        }
    }
}

/// How days are counted, and how conditions are sent.
#[derive(Clone, Debug)]
pub struct Calendar {
    /// The zone in which a day begins and a time without offset is read.
    pub zone: Zone,
    /// How the service compares days.
    pub comparison: DayComparison,
    /// The time at which `today` is read.
    pub now: Moment,
    /// The `value_type` of the conditions of promotion codes that have none (4.1 requires one, 2.4 and 4.2 show none).
    pub code_value_type: Option<String>,
}

impl Default for Calendar {
    fn default() -> Self {
        Self::new(Zone::default())
    }
}

impl Calendar {
    /// The calendar of a zone, at the beginning of 1970.
    #[must_use]
    pub const fn new(zone: Zone) -> Self {
        Self { zone, comparison: DayComparison::Exclusive, now: Moment::at(0), code_value_type: None }
    }

    /// The instant that `after_date` takes for the rows from the first instant of a day on.
    #[must_use]
    pub const fn after_date(&self, start: Moment) -> Moment {
        match self.comparison {
            DayComparison::Exclusive => start.preceding(),
            DayComparison::Inclusive => start,
        }
    }

    /// The instant that `before_date` takes for the rows before the first instant of a day.
    #[must_use]
    pub const fn before_date(&self, end: Moment) -> Moment {
        match self.comparison {
            DayComparison::Exclusive => end,
            DayComparison::Inclusive => end.preceding(),
        }
    }

    /// The first instant of the rows that `after_date` with this instant asks for. None within a day, where the readings
    /// of the specification differ.
    #[must_use]
    pub fn start_of_rows(&self, after_date: Moment) -> Option<Moment> {
        self.edge(match self.comparison {
            DayComparison::Exclusive => after_date.following(),
            DayComparison::Inclusive => after_date,
        })
    }

    /// The instant before which the rows are that `before_date` with this instant asks for. None within a day.
    #[must_use]
    pub fn end_of_rows(&self, before_date: Moment) -> Option<Moment> {
        self.edge(match self.comparison {
            DayComparison::Exclusive => before_date,
            DayComparison::Inclusive => before_date.following(),
        })
    }

    fn edge(&self, moment: Moment) -> Option<Moment> {
        (self.zone.start_of_day(moment) == Ok(moment)).then_some(moment)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Cairo skips the midnight of 2024-04-26.
    #[test]
    fn the_instants_of_both_readings_lie_on_either_side_of_a_midnight_and_lead_back_to_it() {
        for zone in ["UTC", "Africa/Cairo", "America/Havana"] {
            let zone = Zone::try_new(zone).expect("a zone");
            let start = zone.parse_moment("2024-04-26").expect("a day");
            for (_, comparison) in DayComparison::NAMES {
                let calendar = Calendar { comparison, ..Calendar::new(zone.clone()) };
                let (after, before) = (calendar.after_date(start), calendar.before_date(start));
                assert_eq!(calendar.start_of_rows(after), Some(start));
                assert_eq!(calendar.end_of_rows(before), Some(start));
                let is_included = comparison == DayComparison::Inclusive;
                assert_eq!((after == start, before == start), (is_included, !is_included));
                assert_eq!(if is_included { before } else { after }, Moment::at(start.milliseconds() - 1));
            }
        }
    }

    #[test]
    fn an_instant_within_a_day_says_nothing_of_its_rows() {
        let noon = Zone::default().parse_moment("2024-04-26T12:00").expect("a time");
        for (_, comparison) in DayComparison::NAMES {
            let calendar = Calendar { comparison, ..Calendar::default() };
            assert_eq!((calendar.start_of_rows(noon), calendar.end_of_rows(noon)), (None, None));
        }
    }
}
