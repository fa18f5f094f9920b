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
    /// The name of the other reading.
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
    pub fn after_date(&self, start: Moment) -> Moment {
        Moment::at(start.milliseconds().saturating_sub(self.step(DayComparison::Exclusive)))
    }

    /// The instant that `before_date` takes for the rows before the first instant of a day.
    pub fn before_date(&self, end: Moment) -> Moment {
        Moment::at(end.milliseconds().saturating_sub(self.step(DayComparison::Inclusive)))
    }

    /// The first instant of the rows that `after_date` with this instant asks for. None within a day, where the readings
    /// of the specification differ.
    pub fn start_of_rows(&self, after_date: Moment) -> Option<Moment> {
        let start = after_date.milliseconds().saturating_add(self.step(DayComparison::Exclusive));
        Some(Moment::at(start)).filter(|start| self.zone.begins_day_at(*start))
    }

    /// The instant before which the rows are that `before_date` with this instant asks for. None within a day.
    pub fn end_of_rows(&self, before_date: Moment) -> Option<Moment> {
        let end = before_date.milliseconds().saturating_add(self.step(DayComparison::Inclusive));
        Some(Moment::at(end)).filter(|end| self.zone.begins_day_at(*end))
    }

    /// The milliseconds from the instant of a condition to the first instant of a day, if days are compared in this way.
    fn step(&self, comparison: DayComparison) -> i64 {
        i64::from(self.comparison == comparison)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BOTH: [DayComparison; 2] = [DayComparison::Exclusive, DayComparison::Inclusive];

    /// Cairo skips the midnight of 2024-04-26.
    #[test]
    fn the_instants_of_both_readings_lie_on_either_side_of_a_midnight_and_lead_back_to_it() {
        for zone in ["UTC", "Africa/Cairo", "America/Havana"] {
            let zone = Zone::try_new(zone).expect("a zone");
            let start = zone.parse_moment("2024-04-26").expect("a day");
            for comparison in BOTH {
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
        for comparison in BOTH {
            let calendar = Calendar { comparison, ..Calendar::default() };
            assert_eq!((calendar.start_of_rows(noon), calendar.end_of_rows(noon)), (None, None));
        }
    }
}
