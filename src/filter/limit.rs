//! `limit`: how many records a caller wants at most.

use super::input::InputValue;
use super::problems::{Place, Problems};
use super::values::is_not;

/// The limit, which has no place in a body.
pub(super) fn check(limit: &InputValue, problems: &mut Problems) -> Option<u64> {
    let read = match limit {
        InputValue::Null => return None,
        InputValue::Integer(number) => match u64::try_from(*number) {
            Ok(limit) if limit >= 1 => Ok(limit),
            _ => Err(format!("{number} is less than 1: leave limit out to get every record")),
        },
        value => Err(is_not(value, "a count of records: write a whole number of at least 1")),
    };
    problems.keep(&Place::argument("limit", ""), limit, read)
}
