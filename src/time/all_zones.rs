//! The zones that a service may be in, for advice about a zone that is not known.

use std::sync::OnceLock;

use jiff::tz::TimeZoneDatabase;

use super::Zone;

/// Zones that are named first, from west to east. The others are found too, and named if no such zone fits.
const USUAL: &str = "\
    Pacific/Pago_Pago Pacific/Honolulu America/Anchorage America/Los_Angeles America/Denver America/Chicago \
    America/Mexico_City America/New_York America/Lima America/Halifax America/St_Johns America/Sao_Paulo \
    America/Argentina/Buenos_Aires Atlantic/Azores UTC Europe/London Europe/Berlin Africa/Lagos Europe/Athens \
    Africa/Johannesburg Europe/Moscow Europe/Istanbul Asia/Tehran Asia/Dubai Asia/Kabul Asia/Karachi Asia/Kolkata \
    Asia/Kathmandu Asia/Dhaka Asia/Yangon Asia/Ho_Chi_Minh Asia/Jakarta Asia/Singapore Asia/Shanghai Asia/Tokyo \
    Australia/Adelaide Australia/Darwin Australia/Sydney Pacific/Noumea Pacific/Auckland";
/// Folders of other names for the same zones, and of zones with a fixed offset.
const OTHER_NAMES: [&str; 6] = ["Etc/", "US/", "Brazil/", "Canada/", "Chile/", "Mexico/"];

/// All zones that people live in: the usual ones first, then by name.
pub fn all_zones() -> &'static [Zone] {
    static ZONES: OnceLock<Vec<Zone>> = OnceLock::new();
    ZONES.get_or_init(|| {
        let usual: Vec<&str> = USUAL.split(' ').collect();
        let database = TimeZoneDatabase::bundled();
        let mut others: Vec<String> = database.available().map(|name| name.as_str().to_owned()).collect();
        others.retain(|name| {
            let is_other_name = OTHER_NAMES.iter().any(|folder| name.starts_with(folder));
            name.contains('/') && !is_other_name && !usual.contains(&name.as_str())
        });
        others.sort();
        let names = usual.into_iter().chain(others.iter().map(String::as_str));
        names.filter_map(|name| Zone::try_new(name).ok()).collect()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn beginning_at(text: &str) -> Vec<&'static str> {
        let moment = Zone::default().parse_moment(text).expect("a time");
        all_zones().iter().filter(|zone| zone.begins_day_at(moment)).map(Zone::name).collect()
    }

    #[test]
    fn each_usual_zone_exists_and_each_zone_is_there_once() {
        let mut names: Vec<_> = all_zones().iter().map(Zone::name).collect();
        assert!(names.join(" ").starts_with(USUAL));
        let count = names.len();
        assert!(count > 400, "{count}");
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), count);
        for other_name in ["US/Eastern", "EST", "GMT0", "Etc/GMT+0", "Etc/GMT0", "Etc/GMT", "Etc/UCT"] {
            assert!(!names.contains(&other_name), "{other_name}");
        }
    }

    #[test]
    fn zones_begin_a_day_at_their_midnight() {
        let winter = beginning_at("2024-01-15T05:00Z");
        assert_eq!(winter.first(), Some(&"America/New_York"));
        assert!(!beginning_at("2024-07-15T05:00Z").contains(&"America/New_York"));
        assert_eq!(beginning_at("2024-01-14T18:30Z"), ["Asia/Kolkata", "Asia/Calcutta", "Asia/Colombo"]);
        assert_eq!(beginning_at("2024-01-15T05:10Z"), Vec::<&str>::new());
    }

    #[test]
    fn an_offset_is_in_seconds_east_of_utc() {
        for (name, summer, winter) in [("Asia/Kolkata", 19_800, 19_800), ("America/New_York", -14_400, -18_000)] {
            let zone = Zone::try_new(name).expect("a zone");
            let at = |text| zone.offset_seconds(Zone::default().parse_moment(text).expect("a time"));
            assert_eq!([at("2024-07-15T05:00Z"), at("2024-01-15T05:00Z")], [summer, winter], "{name}");
        }
    }
}
