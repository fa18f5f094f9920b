//! Local times of a zone as instants: what a text without an offset means.
//!
//! The order stays: of two local times, the later one is never the earlier instant, but where the clocks are set back by
//! the repeated hour. So the least and the greatest text of a column are its least and its greatest instant.

use std::ops::Range;

use jiff::tz::{AmbiguousOffset, Offset};
use jiff::{Timestamp, ToSpan as _};

use super::zone::known_instant;
use super::{Moment, Zone, wall_clock_microseconds};

const MICROSECONDS: i64 = 1_000_000;

/// Turns local times into instants, both in Unix microseconds.
#[derive(Debug)]
pub struct Instants<'a> {
    zone: &'a Zone,
    /// The offset of the last time, in microseconds, and the local times around it that have the same one.
    offset: i64,
    known: Range<i64>,
}

impl Zone {
    /// Turns local times of this zone into instants.
    pub const fn instants(&self) -> Instants<'_> {
        Instants { zone: self, offset: 0, known: 0..0 }
    }

    /// The instant of a local time `YYYY-MM-DD HH:MM:SS` of this zone. None of a text that is no such time.
    pub fn instant_of(&self, text: &str) -> Option<Moment> {
        let local = wall_clock_microseconds(text)?;
        Some(Moment::at(self.instants().instant(local).div_euclid(1_000)))
    }
}

impl Instants<'_> {
    /// The instant of a local time: the earlier one where a clock change repeats it, the first one after the change
    /// where that skips it.
    #[inline]
    pub fn instant(&mut self, local: i64) -> i64 {
        if self.known.contains(&local) { local - self.offset } else { self.look_up(local) }
    }

    #[cold]
    fn look_up(&mut self, local: i64) -> i64 {
        let rules = &self.zone.rules;
        let near = known_instant(local);
        let time = Offset::UTC.to_datetime(near);
        match rules.to_ambiguous_timestamp(time).offset() {
            AmbiguousOffset::Fold { before, .. } => local - microseconds(before),
            AmbiguousOffset::Gap { before, .. } => {
                let reached = local - microseconds(before);
                let change = Timestamp::from_microsecond(reached).ok().and_then(|time| self.zone.last_change(time));
                change.map_or(reached, Timestamp::as_microsecond)
            }
            AmbiguousOffset::Unambiguous { offset } => {
                self.offset = microseconds(offset);
                self.known = self.like(near.as_microsecond());
                if !self.known.contains(&local) {
                    self.known = local..local.saturating_add(1);
                }
                local - self.offset
            }
        }
    }

    /// The local times around one that all have its offset, and are neither repeated nor skipped.
    fn like(&self, local: i64) -> Range<i64> {
        let Ok(instant) = Timestamp::from_microsecond(local - self.offset) else { return 0..0 };
        let rules = &self.zone.rules;
        let at = |time: Timestamp| microseconds(rules.to_offset(time));
        let just_after = instant.saturating_add(1.nanosecond()).unwrap_or(instant);
        let start = rules.preceding(just_after).next().map(|change| {
            let change = change.timestamp();
            let before = change.saturating_sub(1.nanosecond()).map_or(self.offset, at);
            change.as_microsecond() + self.offset.max(before)
        });
        let end = rules.following(instant).next().map(|change| {
            let change = change.timestamp();
            change.as_microsecond() + self.offset.min(at(change))
        });
        start.unwrap_or(i64::MIN)..end.unwrap_or(i64::MAX)
    }
}

fn microseconds(offset: Offset) -> i64 {
    i64::from(offset.seconds()) * MICROSECONDS
}

#[cfg(test)]
mod tests {
    use jiff::civil::DateTime;
    use proptest::prelude::*;

    use super::*;

    fn zone(name: &str) -> Zone {
        Zone::try_new(name).expect("a known zone")
    }

    #[test]
    fn a_text_is_a_time_of_the_zone() {
        for (name, text, expected) in [
            ("UTC", "2024-01-31 12:00:00", "2024-01-31T12:00:00Z"),
            ("Asia/Ho_Chi_Minh", "2024-01-31 03:00:00", "2024-01-30T20:00:00Z"),
            ("Europe/Berlin", "2024-07-01 12:00:00", "2024-07-01T10:00:00Z"),
            ("Asia/Kolkata", "2024-01-31 05:29:59", "2024-01-30T23:59:59Z"),
            // A repeated time is the earlier one.
            ("Europe/Berlin", "2024-10-27 02:30:00", "2024-10-27T00:30:00Z"),
            ("Europe/Berlin", "2024-10-27 03:00:00", "2024-10-27T02:00:00Z"),
            // A skipped one is the end of the gap.
            ("Europe/Berlin", "2024-03-31 01:59:59", "2024-03-31T00:59:59Z"),
            ("Europe/Berlin", "2024-03-31 02:00:00", "2024-03-31T01:00:00Z"),
            ("Europe/Berlin", "2024-03-31 02:30:00", "2024-03-31T01:00:00Z"),
            ("Europe/Berlin", "2024-03-31 03:00:00", "2024-03-31T01:00:00Z"),
            // A whole day was skipped.
            ("Pacific/Apia", "2011-12-30 12:00:00", "2011-12-30T10:00:00Z"),
        ] {
            let instant = zone(name).instant_of(text).map(|instant| instant.to_string());
            assert_eq!(instant.as_deref(), Some(expected), "{name} {text}");
        }
        assert_eq!(zone("UTC").instant_of("2024-01-31"), None);
    }

    #[test]
    fn a_time_at_the_end_of_the_calendar_is_an_instant_too() {
        let local = wall_clock_microseconds("9999-12-31 23:59:59").expect("a time");
        assert_eq!(zone("America/New_York").instants().instant(local), local + 5 * 3_600 * MICROSECONDS);
        assert_eq!(zone("Asia/Ho_Chi_Minh").instants().instant(local), local - 7 * 3_600 * MICROSECONDS);
    }

    proptest! {
        /// What is known of the times before changes no instant, and the time library says the same.
        #[test]
        fn any_order_of_times_gives_the_instants_of_the_library(
            name in prop::sample::select(vec![
                "UTC", "Europe/Berlin", "America/New_York", "Asia/Kolkata", "Australia/Lord_Howe", "Africa/Casablanca",
                "America/St_Johns", "Pacific/Apia", "Africa/Cairo",
            ]),
            times in prop::collection::vec(
                prop_oneof![
                    (-2_000_000_000_i64..4_102_444_800).prop_map(|second| (None, second)),
                    (0..4_usize, -60_000..60_000_i64).prop_map(|(change, shift)| (Some(change), shift)),
                ],
                1..40,
            ),
        ) {
            let zone = zone(name);
            let mut instants = zone.instants();
            let begin = Timestamp::from_second(1_300_000_000).expect("in range");
            let changes: Vec<i64> =
                zone.rules.following(begin).take(4).map(|change| change.timestamp().as_second()).collect();
            for (change, shift) in times {
                let second = change.and_then(|change| changes.get(change)).unwrap_or(&0) + shift;
                let local = second * MICROSECONDS;
                let time = Offset::UTC.to_datetime(Timestamp::from_second(second).expect("in range"));
                let read = instants.instant(local);
                let ambiguous = zone.rules.to_ambiguous_timestamp(time);
                if matches!(ambiguous.offset(), AmbiguousOffset::Gap { .. }) {
                    // The end of the gap: the first instant whose clocks show a later time.
                    let shown = |micros: i64| -> DateTime {
                        zone.rules.to_datetime(Timestamp::from_microsecond(micros).expect("in range"))
                    };
                    prop_assert!(shown(read) > time && shown(read - 1) < time);
                } else {
                    let earlier = ambiguous.earlier().expect("in range").as_microsecond();
                    prop_assert_eq!(read, earlier, "{} {}", name, time);
                }
            }
        }
    }
}
