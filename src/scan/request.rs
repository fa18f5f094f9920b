//! The requests of a scan: what each searches, the day it is for, and how warnings and errors name it.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::Scan;
use super::cap::ROUND;
use super::window::Window;
#[cfg(feature = "files")]
use crate::contract::condition::Condition;
use crate::error::{Error, Kind};
use crate::filter::Search;
use crate::time::Moment;

/// One request of a scan.
#[derive(Debug)]
pub(super) struct PlannedRequest {
    pub(super) search: Arc<Search>,
    /// Where its rows must be.
    pub(super) window: Option<Window>,
    /// What it is in a warning.
    pub(super) name: String,
}

impl PlannedRequest {
    /// Whether a number of rows is no sign of a cap, as it is that of the listed values: each may have one row.
    pub(super) fn explains(&self, rows: u64) -> bool {
        self.search.explains(rows, rows.is_multiple_of(ROUND))
    }
}

impl Scan {
    /// The day that a request is for, as `2024-01-15`.
    pub fn day(&self, index: usize) -> Option<String> {
        Some(self.calendar.zone.day_of(self.day_sent(index)?))
    }

    /// The window of the day that a request is for.
    #[cfg(feature = "files")]
    pub(super) fn day_window(&self, index: usize) -> Option<Window> {
        Window::of_day(self.day_condition()?.column.as_str(), self.day_sent(index)?, &self.calendar.zone)
    }

    /// The condition that selects the day of each request, in the template of the plan.
    #[cfg(feature = "files")]
    pub(super) fn day_condition(&self) -> Option<&Condition> {
        self.plan.template().body.filters.or.first()?.and.get(self.by_day?)
    }

    fn day_sent(&self, index: usize) -> Option<Moment> {
        self.plan.value(self.chosen.start + index, self.by_day?)?.as_i64().map(Moment::at)
    }

    /// How many days it asks for, one by one.
    pub(super) fn days(&self) -> usize {
        (0..self.requests()).filter_map(|index| self.day(index)).collect::<BTreeSet<_>>().len()
    }

    /// The error of a request, which names it if the scan has several.
    pub(super) fn error_of(&self, index: usize, error: Error) -> Error {
        let error = if self.is_bounded && self.requests() > 1 && error.kind() == Kind::RequestTimeout {
            let scan = self.operation.replace("search", "scan");
            let requests = self.requests();
            error.with_reason(format!(
                "timeout is for all {requests} requests together; for {scan} it is the time of each request"
            ))
        } else {
            error
        };
        match self.request_name(index) {
            None => error,
            Some(name) => error.with_prefix(&name),
        }
    }

    /// How errors name a request of a scan of several: by its number and its day.
    fn request_name(&self, index: usize) -> Option<String> {
        let (requests, number) = (self.plan.requests(), self.chosen.start + index + 1);
        match self.day(index) {
            Some(day) if requests > 1 => Some(format!("request {number} of {requests} ({day})")),
            None if requests > 1 => Some(format!("request {number} of {requests}")),
            // A task that was pickled knows no other requests.
            Some(day) if self.is_task => Some(format!("request for {day}")),
            _ => None,
        }
    }

    /// A request for at most `limit` records.
    pub(super) fn request(&self, index: usize, limit: Option<u64>) -> PlannedRequest {
        let mut search = self.plan.search(self.chosen.start + index);
        if search.limit != limit {
            search = Arc::new(Search { limit, ..Search::clone(&search) });
        }
        let window = Window::of(&search, &self.calendar);
        let name = self.day(index).unwrap_or_else(|| format!("request {}", index + 1));
        PlannedRequest { search, window, name }
    }

    /// Where the rows of a request must be.
    pub(super) fn window(&self, index: usize) -> Option<Window> {
        Window::of(&self.plan.search(self.chosen.start + index), &self.calendar)
    }

    /// The position of the column whose times show whether rows are in their window.
    pub(super) fn time_column(&self) -> Option<usize> {
        self.position_of(&self.window(0)?)
    }

    /// The position of the column of a window among the attributes.
    pub(super) fn position_of(&self, window: &Window) -> Option<usize> {
        self.attributes().iter().position(|name| *name == window.column)
    }
}
