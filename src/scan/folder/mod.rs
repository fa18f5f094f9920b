//! Folders of scans: runs that write a file for each request, their reports, and the rows that they hold.

mod options;
mod part_writer;
mod progress;
mod query;
mod read;
mod refresh;
mod refusal;
mod report;
mod run;
mod status;
mod tasks;

pub use options::{Ask, OnDoubt, RunOptions, Service};
pub use report::{FailedTask, FileReport, FolderReport, State};
pub use status::folder_status;
