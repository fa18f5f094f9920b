//! The zones of a service that explain the rows of its days, whether it writes times in UTC or in the zone of its days.

use std::collections::BTreeMap;

use super::day::{DAY, bounds};
use crate::time::{Moment, Zone, all_zones, offset_text};

/// Zones that a message names, and how many offsets they may have: beyond that, names say nothing.
const NAMES: usize = 3;
const FEW_OFFSETS: usize = 6;

/// The rows of each day, by the first and the last instant that its request names: their least and greatest time, as
/// written.
#[derive(Debug, Default)]
pub(super) struct ZoneFit {
    days: BTreeMap<(i64, i64), (i64, i64)>,
}

impl ZoneFit {
    /// Adds the rows of one response.
    pub(super) fn add(&mut self, sent: (i64, i64), (least, greatest): (i64, i64)) {
        let times = self.days.entry(sent).or_insert((least, greatest));
        *times = (times.0.min(least), times.1.max(greatest));
    }

    /// What the rows say about the zone. The offsets are of the day with this instant. `source` is the zone in
    /// which times are written, as far as the client knows.
    pub(super) fn advice(&self, instant: i64, source: &Zone) -> String {
        let [of_source, own] = self.zones(instant, source);
        let cases = [
            of_source.map(|zones| format!("at {zones} if times are of {}", source.name())),
            own.map(|zones| format!("at {zones} if times are of the zone of its days")),
        ];
        let cases: Vec<String> = cases.into_iter().flatten().collect();
        if cases.is_empty() {
            return "no time zone of the service explains them".to_owned();
        }
        format!(
            "the service cuts days {}; check(day) of the client finds its timezone and source_timezone",
            cases.join(", or ")
        )
    }

    /// The zones that explain the rows: if times are written in the zone `source`, and if in the zone of the days.
    fn zones(&self, instant: i64, source: &Zone) -> [Option<String>; 2] {
        let fits: [fn(&Self, &Zone, &Zone) -> bool; 2] = [Self::fits, Self::fits_own];
        fits.map(|fits| {
            shown(&all_zones().iter().filter(|zone| fits(self, zone, source)).collect::<Vec<_>>(), Moment::at(instant))
        })
    }

    /// Whether all rows are of their day in a zone, if times are written in the zone `source`.
    fn fits(&self, zone: &Zone, source: &Zone) -> bool {
        let read = |written: i64| source.instants().instant(written * 1_000).div_euclid(1_000);
        self.days.iter().all(|((first, last), (least, greatest))| {
            let (start, end) = (bounds(zone, Moment::at(*first)), bounds(zone, Moment::at(*last)));
            start.zip(end).is_some_and(|((start, _), (_, end))| {
                start.milliseconds() <= read(*least) && read(*greatest) < end.milliseconds()
            })
        })
    }

    /// Whether all rows are of their day in a zone, if times are written in that zone too.
    fn fits_own(&self, zone: &Zone, _source: &Zone) -> bool {
        let day =
            |instant: i64| (instant + i64::from(zone.offset_seconds(Moment::at(instant))) * 1_000).div_euclid(DAY);
        self.days.iter().all(|((first, last), (least, greatest))| {
            day(*first) <= least.div_euclid(DAY) && greatest.div_euclid(DAY) <= day(*last)
        })
    }
}

/// The offsets of zones at a moment, each run of neighbors by its ends, and some of their names; none without zones.
fn shown(zones: &[&Zone], at: Moment) -> Option<String> {
    let offsets_of = |zones: &mut dyn Iterator<Item = &Zone>| {
        let mut offsets: Vec<i32> = zones.map(|zone| zone.offset_seconds(at)).collect();
        offsets.sort_unstable();
        offsets.dedup();
        offsets
    };
    let offsets = offsets_of(&mut zones.iter().copied());
    let mut runs: Vec<(i32, i32)> = Vec::new();
    for offset in offsets_of(&mut all_zones().iter()) {
        match runs.last_mut() {
            _ if !offsets.contains(&offset) => runs.push((i32::MAX, i32::MAX)),
            Some((first, last)) if *first < i32::MAX => *last = offset,
            _ => runs.push((offset, offset)),
        }
    }
    let runs = runs.iter().filter(|(first, _)| *first < i32::MAX);
    let texts: Vec<String> = runs
        .map(|(first, last)| match (offset_text(*first), offset_text(*last)) {
            (first, last) if first == last => format!("UTC{first}"),
            (first, last) => format!("UTC{first} to UTC{last}"),
        })
        .collect();
    if texts.is_empty() {
        return None;
    }
    let ranges = texts.join(", ");
    if offsets.len() > FEW_OFFSETS {
        return Some(ranges);
    }
    let names: Vec<&str> = zones.iter().take(NAMES).map(|zone| zone.name()).collect();
    let others = if zones.len() > names.len() { ", …" } else { "" };
    Some(format!("{ranges} ({}{others})", names.join(", ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The zones that explain the rows of the 15th of January, by their least and greatest time as written.
    fn zones(least: &str, greatest: &str) -> [Option<String>; 2] {
        let read = |text: &str| Zone::default().parse_moment(text).expect("a time").milliseconds();
        let (sent, mut fit) = (read("2024-01-15"), ZoneFit::default());
        fit.add((sent, sent), (read(least), read(greatest)));
        let zones = fit.zones(sent, &Zone::default());
        assert_eq!(fit.advice(sent, &Zone::default()).contains(" of UTC"), zones[0].is_some());
        zones
    }

    #[test]
    fn a_full_day_has_one_offset() {
        let expected = "UTC+07:00 (Asia/Ho_Chi_Minh, Asia/Jakarta, Antarctica/Davis, …)".to_owned();
        assert_eq!(zones("2024-01-14 17:00:00", "2024-01-15 16:59:59"), [Some(expected), None]);
    }

    #[test]
    fn few_rows_leave_an_interval_with_its_zones() {
        // New York cuts at 05:00; the rows come from 05:02 on.
        let expected = "UTC-05:00 to UTC-03:00 (America/New_York, America/Lima, America/Halifax, …)".to_owned();
        assert_eq!(zones("2024-01-14 05:02:00", "2024-01-15 02:51:00"), [Some(expected), None]);
    }

    #[test]
    fn rows_of_one_date_fit_a_zone_that_writes_its_own_times() {
        let expected = "UTC-12:00 to UTC-01:00".to_owned();
        assert_eq!(zones("2024-01-14 00:00:00", "2024-01-14 23:59:59"), [None, Some(expected)]);
    }

    #[test]
    fn offsets_of_both_ends_of_the_range_are_runs() {
        let [of_source, _] = zones("2024-01-15 09:00:00", "2024-01-15 09:00:00");
        assert_eq!(of_source.as_deref(), Some("UTC-12:00 to UTC-09:30, UTC+00:00 to UTC+14:00"));
    }
}
