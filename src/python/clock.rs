//! The time that it is, for searches and scans that name days from today on.

use std::time::SystemTime;

use crate::time::Moment;

/// Now, or the time that a test set.
pub(super) fn now() -> Moment {
    #[cfg(feature = "testing")]
    if let Some(now) = super::testing::now() {
        return now;
    }
    Moment::from(SystemTime::now())
}
