//! The promotion codes of the demo data (sections 2.2 and 3.1): January and February 2024, every day of them.
//!
//! Available codes are held by nobody: most have no `allocated_time`, some have one, so that a search finds some. Whether
//! a platform has such codes is an open point (`code_transitions`). Sent and used codes have an audience, and only used
//! ones a last use.

use jiff::SignedDuration;
use jiff::civil::{DateTime, date};

use super::{HOLDERS, VISITORS, below, customer_id, pick};
use crate::sandbox::days::Zones;
use crate::sandbox::objects::{Cell, TIME_FORMAT};

/// Days from 2024-01-01 to 2024-02-29.
const DAYS: u32 = 60;
const SECONDS_OF_DAY: u32 = 24 * 60 * 60;
const POOLS: [i64; 3] = [901, 902, 903];
const CHANNELS: [i64; 3] = [11, 12, 13];
const SOURCES: [&str; 3] = ["web", "app", "point of sale"];
const NAMES: [&str; 6] = ["Spring Sale", "Café crème", "Tết sum vầy", "夏のセール", "Größenrabatt", "🎁 Welcome"];

const AVAILABLE: i64 = 1;
const SENT: i64 = 3;
const USED: i64 = 4;

/// The row of a code, cells in the order of section 2.2.
pub(super) fn row(number: u32, zones: &Zones) -> Vec<Cell> {
    let formatted = |time| zones.record_time(time).strftime(TIME_FORMAT).to_string();
    let status = status(number);
    let allocated = (status != AVAILABLE || is_found_available(number)).then(|| allocated(number));
    let used = allocated.filter(|_| status == USED).map(|time| later(time, number));
    let (audience, audience_type) = if status == AVAILABLE { (Cell::Null, Cell::Null) } else { audience(number) };
    let name = pick(&NAMES, number, 1).unwrap_or_default();
    vec![
        format!("demo-code-{number:05}").into(),
        format!("{name} {number}").into(),
        pick(&POOLS, number, 2).into(),
        formatted(created(number)).into(),
        allocated.map(formatted).into(),
        audience,
        audience_type,
        status.into(),
        used.and(pick(&SOURCES, number, 3)).into(),
        used.map(formatted).into(),
        allocated.and(pick(&CHANNELS, number, 4)).into(),
    ]
}

/// Three of ten codes are available, four sent and three used; the first ones, at the borders of days, are sent.
/// Some of the four are available too.
fn status(number: u32) -> i64 {
    match below(10, number, 5) {
        _ if number <= 2 * DAYS => SENT,
        _ if is_found_available(number) => AVAILABLE,
        0..=2 => AVAILABLE,
        3..=6 => SENT,
        _ => USED,
    }
}

/// Whether a code is available and has an `allocated_time`: one of sixteen that would be sent.
fn is_found_available(number: u32) -> bool {
    number > 2 * DAYS && (3..=6).contains(&below(10, number, 5)) && below(16, number, 12) == 0
}

/// The first codes are allocated at the first second of each day, the next at the last, the others anywhere.
fn allocated(number: u32) -> DateTime {
    let (day, second) = match number {
        1..=DAYS => (number - 1, 0),
        _ if number <= 2 * DAYS => (number - DAYS - 1, SECONDS_OF_DAY - 1),
        _ => (number % DAYS, below(SECONDS_OF_DAY, number, 6)),
    };
    let start = date(2024, 1, 1).at(0, 0, 0, 0);
    start.saturating_add(seconds(day * SECONDS_OF_DAY + second))
}

fn created(number: u32) -> DateTime {
    date(2023, 12, 1).at(0, 0, 0, 0).saturating_add(seconds(below(30 * SECONDS_OF_DAY, number, 7)))
}

/// Up to ten days after the allocation.
fn later(time: DateTime, number: u32) -> DateTime {
    time.saturating_add(seconds(60 + below(10 * SECONDS_OF_DAY, number, 8)))
}

fn seconds(count: u32) -> SignedDuration {
    SignedDuration::from_secs(count.into())
}

/// Three of four codes are held by customers, the others by visitors.
fn audience(number: u32) -> (Cell, Cell) {
    if below(4, number, 9) < 3 {
        (customer_id(1 + below(HOLDERS, number, 10)).into(), (-1003).into())
    } else {
        (format!("demo-visitor-{:04}", 1 + below(VISITORS, number, 10)).into(), (-1007).into())
    }
}
