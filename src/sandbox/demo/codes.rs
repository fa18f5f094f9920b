//! The promotion codes of the demo data (sections 2.2 and 3.1): every day from 2024-01-01 on has the same ones always.
//!
//! A block of 60 days has 6,000 codes: code `n` of block `b` has the number `b * 6000 + n`. Available codes are held by
//! nobody: most have no `allocated_time`, some have one, so that a search finds some. Whether a platform has such codes is
//! an open point (`code_transitions`). Sent and used codes have an audience, and only used ones a last use. Times are Unix
//! seconds.

use std::ops::Range;

use jiff::tz::TimeZone;

use super::{HOLDERS, VISITORS, below, customer_id, pick};
use crate::sandbox::days::record_time;
use crate::sandbox::objects::Cell;
use crate::sandbox::table::{Row, Value};

const FIRST: i64 = 1_704_067_200;
pub(super) const DAY: i64 = 24 * 60 * 60;
const SECONDS: u32 = 24 * 60 * 60;
pub(super) const DAYS: u32 = 60;
const CODES: u32 = 6_000;
const POOLS: [i64; 3] = [901, 902, 903];
const CHANNELS: [i64; 3] = [11, 12, 13];
const SOURCES: [&str; 3] = ["web", "app", "point of sale"];
const NAMES: [&str; 6] = ["Spring Sale", "Café crème", "Tết sum vầy", "夏のセール", "Größenrabatt", "🎁 Welcome"];

const AVAILABLE: i64 = 1;
const SENT: i64 = 3;
const USED: i64 = 4;

/// The numbers of the codes that are allocated within these times.
pub(super) fn within(times: Range<i64>) -> impl Iterator<Item = u32> {
    let block = |time: i64| u32::try_from((time - FIRST).div_euclid(DAY * i64::from(DAYS))).ok();
    let (first, end) = (block(times.start).unwrap_or(0), block(times.end).map_or(0, |last| last + 1));
    (first * CODES + 1..=end * CODES).filter(move |number| times.contains(&allocated(*number)))
}

/// The row of a code at a time, cells in the order of section 2.2.
pub(super) fn row(number: u32, now: i64, record_zone: &TimeZone) -> Row {
    let (status, is_found) = status(number);
    let used = used(number).filter(|used| *used <= now);
    let allocated = is_found.then(|| allocated(number));
    let (audience, audience_type) = (status != AVAILABLE).then(|| audience(number)).unzip();
    let time = |time: Option<i64>| Cell::from(time.and_then(|time| record_time(time, record_zone)));
    let cells: [Cell; 11] = [
        format!("demo-code-{number:05}").into(),
        format!("{} {number}", pick(&NAMES, number, 1).unwrap_or_default()).into(),
        pick(&POOLS, number, 2).into(),
        time(Some(created(number))),
        time(allocated),
        audience.into(),
        audience_type.into(),
        if status == USED && used.is_none() { SENT } else { status }.into(),
        used.and(pick(&SOURCES, number, 3)).into(),
        time(used),
        allocated.and(pick(&CHANNELS, number, 4)).into(),
    ];
    cells.map(Value::from).into()
}

/// When a code is used, up to ten days after its allocation. Until then it is sent.
pub(super) fn used(number: u32) -> Option<i64> {
    let after = 60 + below(10 * SECONDS, number, 8);
    (status(number).0 == USED).then(|| allocated(number) + i64::from(after))
}

/// The last status, and whether there is an `allocated_time`. Three of ten codes are available, four sent and three used;
/// of those four one of sixteen is available too. The first codes, at the borders of days, are sent.
fn status(number: u32) -> (i64, bool) {
    match below(10, number, 5) {
        _ if position(number).1 <= 2 * DAYS => (SENT, true),
        0..=2 => (AVAILABLE, false),
        3..=6 if below(16, number, 12) == 0 => (AVAILABLE, true),
        3..=6 => (SENT, true),
        _ => (USED, true),
    }
}

/// Days from the first one to the block of a code, and its number in the block.
fn position(number: u32) -> (i64, u32) {
    (i64::from((number - 1) / CODES * DAYS), (number - 1) % CODES + 1)
}

/// The first codes of a block are allocated at the first second of each day, the next at the last, the others anywhere.
fn allocated(number: u32) -> i64 {
    let (days, code) = position(number);
    let (day, second) = match code {
        1..=DAYS => (code - 1, 0),
        _ if code <= 2 * DAYS => (code - DAYS - 1, SECONDS - 1),
        _ => (code % DAYS, below(SECONDS, number, 6)),
    };
    FIRST + (days + i64::from(day)) * DAY + i64::from(second)
}

/// Within the 30 days that begin 31 days before the block.
fn created(number: u32) -> i64 {
    FIRST + (position(number).0 - 31) * DAY + i64::from(below(30 * SECONDS, number, 7))
}

/// Three of four codes are held by customers, the others by visitors.
fn audience(number: u32) -> (String, i64) {
    if below(4, number, 9) < 3 {
        (customer_id(1 + below(HOLDERS, number, 10)), -1003)
    } else {
        (format!("demo-visitor-{:04}", 1 + below(VISITORS, number, 10)), -1007)
    }
}
