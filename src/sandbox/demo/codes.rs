//! The promotion codes of the demo data (sections 2.2 and 3.1): every day from 2024-01-01 on has the same ones always.
//!
//! A block of 60 days has 6,000 codes: code `n` of block `b` has the number `b * 6000 + n`. Available codes are held by nobody: most have no `allocated_time`, some have one, so that a search finds some. Whether
//! a platform has such codes is an open point (`code_transitions`). Sent and used codes have an audience, and only used
//! ones a last use.

use jiff::civil::{Date, DateTime, date};
use jiff::tz::TimeZone;
use jiff::{SignedDuration, ToSpan};

use super::{HOLDERS, VISITORS, below, customer_id, pick};
use crate::sandbox::days::record_time;
use crate::sandbox::objects::Cell;

/// The first day with codes.
pub(super) const FIRST_DAY: Date = date(2024, 1, 1);
/// Days of a block.
pub(super) const DAYS: u32 = 60;
/// Codes of a block.
const CODES: u32 = 6_000;
const SECONDS_OF_DAY: u32 = 24 * 60 * 60;
const POOLS: [i64; 3] = [901, 902, 903];
const CHANNELS: [i64; 3] = [11, 12, 13];
const SOURCES: [&str; 3] = ["web", "app", "point of sale"];
const NAMES: [&str; 6] = ["Spring Sale", "Café crème", "Tết sum vầy", "夏のセール", "Größenrabatt", "🎁 Welcome"];

const AVAILABLE: i64 = 1;
const SENT: i64 = 3;
const USED: i64 = 4;

/// The numbers of the codes of a day; none before the first day.
pub(super) fn of_day(day: Date) -> impl Iterator<Item = u32> {
    let index = u32::try_from(FIRST_DAY.until(day).map_or(-1, |span| span.get_days())).ok();
    index.into_iter().flat_map(|index| {
        let (block, day) = (index / DAYS, index % DAYS);
        let others = (2 * DAYS + 1..=CODES).filter(move |code| code % DAYS == day);
        [day + 1, DAYS + day + 1].into_iter().chain(others).map(move |code| block * CODES + code)
    })
}

/// Block of a code, and its number in the block.
fn position(number: u32) -> (u32, u32) {
    let before = number.saturating_sub(1);
    (before / CODES, before % CODES + 1)
}

/// The row of a code at a time (UTC), cells in the order of section 2.2.
pub(super) fn row(number: u32, now: DateTime, record_zone: &TimeZone) -> Vec<Cell> {
    let formatted = |time| record_time(time, record_zone);
    let used = used(number).filter(|used| *used <= now);
    let status = match status(number) {
        USED if used.is_none() => SENT,
        status => status,
    };
    let allocated = (status != AVAILABLE || is_found_available(number)).then(|| allocated(number));
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

/// When a code is used, up to ten days after its allocation. Until then it is sent.
pub(super) fn used(number: u32) -> Option<DateTime> {
    let after = seconds(60 + below(10 * SECONDS_OF_DAY, number, 8));
    (status(number) == USED).then(|| allocated(number).saturating_add(after))
}

/// Three of ten codes are available, four sent and three used; the first ones, at the borders of days, are sent.
/// Some of the four are available too.
fn status(number: u32) -> i64 {
    match below(10, number, 5) {
        _ if position(number).1 <= 2 * DAYS => SENT,
        _ if is_found_available(number) => AVAILABLE,
        0..=2 => AVAILABLE,
        3..=6 => SENT,
        _ => USED,
    }
}

/// Whether a code is available and has an `allocated_time`: one of sixteen that would be sent.
fn is_found_available(number: u32) -> bool {
    position(number).1 > 2 * DAYS && (3..=6).contains(&below(10, number, 5)) && below(16, number, 12) == 0
}

/// The first codes of a block are allocated at the first second of each day, the next at the last, the others anywhere.
pub(super) fn allocated(number: u32) -> DateTime {
    let (block, code) = position(number);
    let (day, second) = match code {
        1..=DAYS => (code - 1, 0),
        _ if code <= 2 * DAYS => (code - DAYS - 1, SECONDS_OF_DAY - 1),
        _ => (code % DAYS, below(SECONDS_OF_DAY, number, 6)),
    };
    start(block).saturating_add(i64::from(day).days()).saturating_add(seconds(second))
}

/// Within the 30 days that begin 31 days before the block.
fn created(number: u32) -> DateTime {
    let start = start(position(number).0).saturating_sub(31.days());
    start.saturating_add(seconds(below(30 * SECONDS_OF_DAY, number, 7)))
}

/// When a block begins.
fn start(block: u32) -> DateTime {
    FIRST_DAY.at(0, 0, 0, 0).saturating_add(i64::from(block * DAYS).days())
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
