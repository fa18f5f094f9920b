//! Signs of caps in the responses of tasks that several processes run: each knows its own, and a part of the others.

use super::Scan;
use super::cap::{Count, Suspicion};

/// Responses of a larger scan whose numbers of rows are compared; fewer say nothing about a cap.
const COMPARED: usize = 3;

/// The rows of the complete response of a task.
#[derive(Clone, Debug, Default)]
pub struct TaskCount {
    /// What the task is in a warning.
    pub name: String,
    /// Its rows.
    pub rows: u64,
    /// Whether its request explains the number: it has a row for each value of a list.
    pub is_explained: bool,
    /// What the response itself reports, if that is another number of rows.
    pub total: Option<String>,
}

impl Scan {
    /// Whether the request of a task explains a number of rows: it asks for as many values.
    #[must_use]
    pub fn explains(&self, rows: u64) -> bool {
        self.request(0, self.limit).explains(rows)
    }

    /// Why these responses look capped, which are some of a scan of `requests` requests. May be called after each of
    /// them: chance then makes counts equal as rarely as in one call for all.
    #[must_use]
    pub fn cap_reasons(&self, requests: usize, tasks: Vec<TaskCount>) -> Vec<String> {
        reasons(requests, tasks, self.known_row_cap())
    }
}

fn reasons(requests: usize, tasks: Vec<TaskCount>, known_row_cap: Option<u64>) -> Vec<String> {
    let are_compared = tasks.len() >= COMPARED.min(requests);
    let count = |(request, task)| {
        let TaskCount { name, rows, is_explained, total } = task;
        let mut count = Count { request, name, rows, total, ..Count::default() };
        count.is_explained = is_explained || !are_compared;
        count
    };
    let counts: Vec<Count> = (0..).zip(tasks).map(count).collect();
    Suspicion::in_reports(u32::try_from(requests).unwrap_or(u32::MAX), &counts, known_row_cap).reasons
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whether there is one reason, which has this datum.
    fn is_found(requests: usize, rows: &[u64], known_row_cap: Option<u64>, datum: &str) -> bool {
        let found = found(requests, rows, known_row_cap);
        matches!(&found[..], [reason] if reason.contains(datum))
    }

    fn found(requests: usize, rows: &[u64], known_row_cap: Option<u64>) -> Vec<String> {
        let task = |(number, rows): (usize, &u64)| TaskCount {
            name: format!("day {}", number + 1),
            rows: *rows,
            ..TaskCount::default()
        };
        reasons(requests, rows.iter().enumerate().map(task).collect(), known_row_cap)
    }

    #[test]
    fn equal_counts_are_reported_once_chance_explains_them_in_no_call() {
        assert_eq!(found(60, &[50; 4], None), [""; 0]);
        assert!(is_found(60, &[50; 5], None, "(day 1, day 2, day 3 and 2 more)"));
        assert_eq!(found(1_096, &[50; 5], None), [""; 0]);
        assert!(!found(1_096, &[50; 7], None).is_empty());
        assert_eq!(found(60, &[50, 50, 50, 50, 50, 51], None), [""; 0]);
    }

    #[test]
    fn a_round_number_of_one_response_of_several_says_nothing() {
        assert_eq!(found(60, &[3_000], None), [""; 0]);
        assert!(is_found(60, &[3_000, 17, 12], None, "3000 rows (day 1)"));
        assert!(is_found(1, &[3_000], None, "3000 rows"));
        assert!(is_found(2, &[3_000, 17], None, "3000 rows (day 1)"));
    }

    #[test]
    fn one_response_shows_a_known_cap_and_another_total() {
        assert!(is_found(60, &[50], Some(50), "known_row_cap"));
        let task = TaskCount { rows: 3, total: Some("reports 9".to_owned()), ..TaskCount::default() };
        assert_eq!(reasons(60, vec![task], None), ["reports 9"]);
    }
}
