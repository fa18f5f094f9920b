//! What a caller chooses of a run.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::BoxFuture;

use super::report::TaskReport;
use super::service::Service;
use crate::files::Location;
use crate::filter::InputValue;

/// The options of a run.
#[derive(Clone, Debug)]
pub struct RunOptions {
    /// The folder of the parts.
    pub folder: Location,
    /// The service.
    pub service: Service,
    /// How parts are named; by days, if the scan has them.
    pub layout: Option<Layout>,
    /// The days that are asked for once more: `refresh=` as the caller gave it.
    pub refresh: InputValue,
    /// How long the rows of a day may still change after its end.
    pub settle: Duration,
    /// Which files are kept.
    pub keep: Keep,
    /// What happens to a file whose new response has less.
    pub on_shrink: OnShrink,
    /// What happens to a response whose data look wrong.
    pub on_doubt: OnDoubt,
    /// Whether parts have a column with the time of their request.
    pub requested_at: bool,
    /// Whether parts of another service are expected.
    pub same_service: bool,
    /// Whether the first task that fails ends the run.
    pub fail_fast: bool,
}

/// Which files of a folder are kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Keep {
    /// Files of days that were over, and files of a snapshot that was broken off.
    Final,
    /// All files.
    All,
}

/// What happens to a file whose new response has less than half of its rows, or no values in a column that has some.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OnShrink {
    /// It is kept, and the task is doubtful.
    Keep,
    /// It is replaced.
    Replace,
    /// It is kept, and the task fails.
    Error,
}

/// What happens to a response that is complete and whose data look wrong, before it replaces anything.
#[derive(Clone)]
pub enum OnDoubt {
    /// It is written, and the report warns.
    Warn,
    /// The task fails.
    Error,
    /// A function decides on each response. If it refuses, the task fails.
    Ask(Ask),
}

/// Whether a response may be written.
pub type Ask = Arc<dyn Fn(TaskReport) -> BoxFuture<'static, bool> + Send + Sync>;

impl fmt::Debug for OnDoubt {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Warn => "Warn",
            Self::Error => "Error",
            Self::Ask(_) => "Ask",
        })
    }
}

/// How the parts of a folder are named.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Layout {
    /// By the day that they are for.
    Days,
    /// By their number.
    Flat,
}
