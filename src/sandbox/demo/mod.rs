//! Demo data: promotion codes, customers, and exports in every state.
//!
//! Rows are computed: a day has the same ones in every sandbox. All ids begin with `demo-`.

mod codes;
mod data;

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use jiff::civil::Date;

pub(super) use self::data::DemoData;

use super::exports::{Exports, PlannedEntry};
use super::objects::Cell;
use super::store::{Load, Store};
use crate::contract::business_object::CUSTOMER_NAME;
use crate::error::{Error, Kind, Result, excerpt};

/// Number of customers, from `demo-customer-0001`: not a round one, which would look like a cap.
pub const CUSTOMERS: u32 = 2_025;
/// Number of customers that may hold codes.
const HOLDERS: u32 = 2_000;
/// Number of visitors with codes, from `demo-visitor-0001`.
pub const VISITORS: u32 = 500;

/// An export that ended long before the start of the service.
pub const EXPORT_FINISHED: i64 = 5_637_051;
/// An export that starts with the service and runs for a day.
pub const EXPORT_RUNNING: i64 = 5_637_052;
/// An export that starts with the service and ends [`Demo::export_takes`] later.
pub const EXPORT_FINISHING: i64 = 5_637_053;
/// An export of three entries: one finished, one failed, one still running.
pub const EXPORT_MIXED: i64 = 5_637_054;
/// An export that has no entries yet.
pub const EXPORT_EMPTY: i64 = 5_637_055;

const MINUTE: Duration = Duration::from_secs(60);
const HOUR: Duration = Duration::from_secs(60 * 60);
const DAY: Duration = Duration::from_secs(24 * 60 * 60);

/// Settings of the demo data.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Demo {
    /// How long [`EXPORT_FINISHING`] runs.
    pub export_takes: Duration,
    /// The last day of promotion codes; none is yesterday, by the clock of the sandbox.
    pub until: Option<Date>,
}

impl Default for Demo {
    fn default() -> Self {
        Self { export_takes: Duration::from_secs(3), until: None }
    }
}

impl Demo {
    /// Demo data up to a day, written 2024-02-29.
    ///
    /// # Errors
    /// `Config` for another text, and for a day before 2024-01-01, the first of the demo data.
    pub fn until(day: &str) -> Result<Self> {
        let read = day.parse::<Date>().ok().filter(|read| read.to_string() == day && *read >= codes::FIRST_DAY);
        let until = read.ok_or_else(|| {
            let first = codes::FIRST_DAY;
            let problem = format!("until must be a day from {first} on, not `{}`", excerpt(day, 60));
            Error::new(Kind::Config, problem).with_hint("write it as 2024-02-29")
        })?;
        Ok(Self { until: Some(until), ..Self::default() })
    }

    /// Loads the customers and plans the exports of a service that starts now. [`DemoData`] adds the promotion codes.
    pub(super) fn fill(&self, store: &Arc<Store>, exports: &Exports, now: SystemTime) -> Result<()> {
        let mut load = Load::begin(store, CUSTOMER_NAME, &store.stopping)?;
        load.add((1..=CUSTOMERS).map(customer))?;
        load.finish(false)?;
        for (id, entries) in export_plans(now, self.export_takes) {
            exports.plan(id, entries);
        }
        Ok(())
    }
}

/// The plans of a service that starts now.
fn export_plans(now: SystemTime, finishing_takes: Duration) -> [(i64, Vec<PlannedEntry>); 5] {
    let entry = |ago: Duration, takes, rows, succeeds| {
        let starts = now.checked_sub(ago).unwrap_or(SystemTime::UNIX_EPOCH);
        PlannedEntry { starts, takes, rows, succeeds, code: None, message: None }
    };
    let mixed = vec![
        entry(2 * HOUR, 4 * MINUTE, 1_204, true),
        entry(HOUR, 2 * MINUTE, 0, false),
        entry(Duration::ZERO, DAY, 1_204, true),
    ];
    [
        (EXPORT_FINISHED, vec![entry(HOUR, 5 * MINUTE, 2_000, true)]),
        (EXPORT_RUNNING, vec![entry(Duration::ZERO, DAY, 2_000, true)]),
        (EXPORT_FINISHING, vec![entry(Duration::ZERO, finishing_takes, 2_000, true)]),
        (EXPORT_MIXED, mixed),
        (EXPORT_EMPTY, Vec::new()),
    ]
}

/// The id of a customer.
fn customer_id(number: u32) -> String {
    format!("demo-customer-{number:04}")
}

/// The row of a customer; the name is an opaque encoded string (section 2.3).
fn customer(number: u32) -> Vec<Cell> {
    let name = format!("{:016x}{:016x}", pseudo_random(number, 11), pseudo_random(number, 12));
    vec![customer_id(number).into(), name.into()]
}

/// A pseudo-random number of its arguments (the finalizer of `SplitMix64`).
fn pseudo_random(number: u32, salt: u64) -> u64 {
    let mut state = u64::from(number).wrapping_add(salt.wrapping_mul(0x9e37_79b9_7f4a_7c15));
    state = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    state = (state ^ (state >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    state ^ (state >> 31)
}

/// A pseudo-random number below `below`.
fn below(below: u32, number: u32, salt: u64) -> u32 {
    u32::try_from(pseudo_random(number, salt) % u64::from(below.max(1))).unwrap_or(0)
}

/// A pseudo-random element.
fn pick<T: Copy>(from: &[T], number: u32, salt: u64) -> Option<T> {
    let index = below(u32::try_from(from.len()).unwrap_or(u32::MAX), number, salt);
    from.get(usize::try_from(index).unwrap_or(0)).copied()
}
