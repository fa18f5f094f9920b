//! DAY comparisons (section 2.4) at the borders of days.

use dataaccess::sandbox::switches::Switches;
use dataaccess::sandbox::{Cell, Options};
use serde_json::json;

use super::wire::{Service, allocated_time, codes};

const TIMES: [&str; 6] = [
    "2024-02-28 23:59:59",
    "2024-02-29 00:00:00",
    "2024-02-29 16:59:59",
    "2024-02-29 17:00:00",
    "2024-02-29 23:59:59",
    "2024-03-01 00:00:00",
];

/// Codes allocated at the times above, and one that never was.
fn service(day_zone: &str) -> Service {
    let switches = Switches { day_zone: day_zone.to_owned(), ..Switches::default() };
    let service = Service::start(Options { switches, ..Options::default() });
    let row = |id: usize, time: Cell| {
        let mut row = vec![Cell::Null; 11];
        row[0] = format!("{id}").into();
        row[4] = time;
        row
    };
    let mut rows: Vec<Vec<Cell>> = TIMES.iter().enumerate().map(|(id, time)| row(id, (*time).into())).collect();
    rows.push(row(TIMES.len(), Cell::Null));
    assert_eq!(service.sandbox.load("promotion_code", rows).unwrap(), 7);
    service
}

fn found(service: &Service, operator: &str, time: &str) -> Vec<String> {
    service.texts(&codes(&json!(["id"]), &[allocated_time(operator, time)]), "id")
}

#[test]
fn any_instant_of_a_day_means_the_whole_day() {
    let service = service("UTC");
    for time in ["2024-02-29T00:00:00Z", "2024-02-29T12:34:56.789Z", "2024-02-29T23:59:59.999Z"] {
        assert_eq!(found(&service, "equals", time), ["1", "2", "3", "4"], "{time}");
        assert_eq!(found(&service, "before_date", time), ["0"], "{time}");
        assert_eq!(found(&service, "after_date", time), ["5"], "{time}");
    }
    assert_eq!(found(&service, "equals", "2024-03-01T00:00:00Z"), ["5"]);
}

#[test]
fn the_switch_cuts_days_in_another_zone() {
    // 2024-02-29 in Ho Chi Minh City is 2024-02-28 17:00 to 2024-02-29 17:00 in UTC.
    let service = service("Asia/Ho_Chi_Minh");
    let noon = "2024-02-29T05:00:00Z";
    assert_eq!(found(&service, "equals", noon), ["0", "1", "2"]);
    assert_eq!(found(&service, "after_date", noon), ["3", "4", "5"]);
    assert_eq!(found(&service, "before_date", noon), Vec::<String>::new());
}
