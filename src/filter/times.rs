//! How times are read: in which zone, and whether one condition may stand for a range of days.

use serde_json::Value;

use super::input::{Comparison, Days, InputValue};
use super::plan::MOST_REQUESTS;
use super::values::{moment, wire};
use crate::contract::condition::TIME_UNIT;
use crate::time::Zone;

/// What reading a time depends on.
#[derive(Clone, Copy, Debug)]
pub(super) struct Times<'a> {
    /// The zone of times that tell none.
    pub(super) zone: &'a Zone,
    /// What to write instead of a range of days, where there cannot be a request for each.
    pub(super) instead_of_range: Option<fn(&str) -> String>,
}

impl Times<'_> {
    /// The first instants of the days of a range, as a list: the mark of a condition that is one request each, since
    /// on the wire a time is never a list.
    pub(super) fn starts_of_days(&self, days: &Days, comparison: &Comparison) -> Result<Value, String> {
        let (start, stop) = (moment(&days.start, self.zone)?, moment(&days.stop, self.zone)?);
        if let Some(instead) = self.instead_of_range {
            let shown = InputValue::Days(Box::new(days.clone())).shown();
            return Err(format!("a range is one request a day, and this is one request: write {}", instead(&shown)));
        }
        if !matches!(&comparison.unit, InputValue::Null) && comparison.unit != InputValue::text(TIME_UNIT) {
            let unit = comparison.unit.shown();
            return Err(format!(
                "a range is one request a day, and each of them would be for a {unit}: leave unit out"
            ));
        }
        let starts: Vec<Value> = self.zone.days(start, stop).take(MOST_REQUESTS + 1).map(wire).collect();
        match starts.len() {
            0 => Err("holds no day: stop is the day after the last".to_owned()),
            many if many > MOST_REQUESTS => {
                Err(format!("holds more than {MOST_REQUESTS} days, and each is a request: ask for fewer"))
            }
            _ => Ok(Value::Array(starts)),
        }
    }
}
