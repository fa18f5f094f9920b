//! The customers of the demo data (section 2.3).

use super::pseudo_random;
use crate::sandbox::objects::Cell;

/// The id of a customer.
pub(super) fn id(number: u32) -> String {
    format!("demo-customer-{number:04}")
}

/// The row of a customer; the name is an opaque encoded string (section 2.3).
pub(super) fn row(number: u32) -> Vec<Cell> {
    let name = format!("{:016x}{:016x}", pseudo_random(number, 11), pseudo_random(number, 12));
    vec![id(number).into(), name.into()]
}
