//! Signs that the service cut its responses at a maximum number of rows.
//!
//! No paging and no total are specified, so a result is never known to be complete. But responses that were cut look
//! alike: they have the same number of rows and none has more, or a round number.

use std::collections::BTreeSet;

/// Responses with the same, highest number of rows that look capped, unless chance explains them.
const ALIKE: usize = 3;
/// No service is known to cut its responses to fewer rows than this.
const FEWEST: u64 = 10;
/// Equal counts that chance explains more often than this are not reported.
const CHANCE: f64 = 0.02;
/// A highest number of rows that is a multiple of this looks capped.
pub(super) const ROUND: u64 = 1_000;
/// Responses that are named; a count stands for the others.
const NAMED: usize = 3;

/// The rows of a complete response.
#[derive(Clone, Debug, Default)]
pub(super) struct Count {
    /// The index of its request.
    pub(super) request: usize,
    /// What it is in a warning: its day, or the number of its request.
    pub(super) name: String,
    pub(super) rows: u64,
    /// Whether its request explains the number: it has a row for each value of a list.
    pub(super) is_explained: bool,
    /// What the response itself reports, if that is another number of rows.
    pub(super) total: Option<String>,
    /// Whether it is a file that the scan did not request: compared, and never suspected.
    pub(super) is_other: bool,
}

/// Why responses look capped, and which.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Suspicion {
    pub(super) reasons: Vec<String>,
    /// The indices of their requests.
    pub(super) requests: BTreeSet<usize>,
    /// The number of rows at which they may have been cut.
    pub(super) cap: Option<u64>,
}

impl Suspicion {
    /// What to suspect of these responses, where one run asks for `reports` reports: chance may make counts equal in each.
    pub(super) fn in_reports(reports: u32, counts: &[Count], known_row_cap: Option<u64>) -> Self {
        let is_chance = |highest, alike| chance(counts, highest, alike) * f64::from(reports) > CHANCE;
        let mut suspicion = Self::default();
        let all = counts.iter().filter(|count| !count.is_other).count();
        let known = known_row_cap.map(|cap| (cap, own(&with_rows(counts, cap, true))));
        if let Some((cap, alike)) = known.filter(|(_, alike)| !alike.is_empty()) {
            let reason = match all {
                1 => format!("the response has exactly the {cap} rows of known_row_cap"),
                _ => format!(
                    "{} of {all} responses {} exactly the {cap} rows of known_row_cap",
                    alike.len(),
                    has(&alike)
                ),
            };
            suspicion.add(Some(cap), reason, &alike, all);
        } else if let Some(highest) = counts.iter().map(|count| count.rows).max()
            && let alike = with_rows(counts, highest, false)
            && let suspects = own(&alike)
            && !suspects.is_empty()
        {
            if alike.len() >= ALIKE && highest >= FEWEST && !is_chance(highest, alike.len()) {
                let (others, more) = (counts.len() - all, alike.len() - suspects.len());
                let beside =
                    if more > 0 { format!(" and {more} of {others} other files of the folder") } else { String::new() };
                let reason = format!(
                    "{} of {all} responses{beside} have exactly {highest} rows, and none has more",
                    suspects.len()
                );
                suspicion.add(Some(highest), reason, &suspects, counts.len());
            } else if highest > 0 && highest % ROUND == 0 {
                let which = if all == 1 { "the response" } else { "the longest response" };
                suspicion.add(Some(highest), format!("{which} has exactly {highest} rows"), &suspects, all);
            }
        }
        let reported: Vec<_> = counts.iter().filter(|count| count.total.is_some() && !count.is_other).collect();
        suspicion.requests.extend(reported.iter().map(|count| count.request));
        for count in reported.iter().take(NAMED) {
            let text = count.total.clone().unwrap_or_default();
            suspicion.reasons.push(if all == 1 { text } else { format!("{}: {text}", count.name) });
        }
        if reported.len() > NAMED {
            suspicion.reasons.push(format!("{} more report another total than they have", reported.len() - NAMED));
        }
        suspicion
    }

    fn add(&mut self, cap: Option<u64>, reason: String, alike: &[&Count], all: usize) {
        self.cap = cap;
        self.requests.extend(alike.iter().map(|count| count.request));
        self.reasons.push(if all == 1 { reason } else { format!("{reason} ({})", names(alike)) });
    }
}

/// The responses with this number of rows, in the order of the plan. A number that the request explains shows no cap.
fn with_rows(counts: &[Count], rows: u64, with_explained: bool) -> Vec<&Count> {
    let mut alike: Vec<&Count> =
        counts.iter().filter(|count| count.rows == rows && (with_explained || !count.is_explained)).collect();
    alike.sort_by_key(|count| count.request);
    alike
}

/// The counts of responses that the scan requested.
fn own<'a>(counts: &[&'a Count]) -> Vec<&'a Count> {
    counts.iter().copied().filter(|count| !count.is_other).collect()
}

fn has(counts: &[&Count]) -> &'static str {
    if counts.len() == 1 { "has" } else { "have" }
}

/// The names of some responses, in one line.
fn names(counts: &[&Count]) -> String {
    let shown = counts.iter().take(NAMED).map(|count| count.name.as_str()).collect::<Vec<_>>().join(", ");
    if counts.len() > NAMED { format!("{shown} and {} more", counts.len() - NAMED) } else { shown }
}

/// The probability that `alike` responses have the highest number of rows by chance.
///
/// Counts of events vary by their square root at least. Below the highest count, up to that distance, each number of
/// rows is then as likely as the highest one; so of the responses there, each of the others has it with this probability.
#[expect(clippy::cast_precision_loss, reason = "a probability needs no more digits")]
fn chance(counts: &[Count], highest: u64, alike: usize) -> f64 {
    let spread = (highest as f64).sqrt();
    let others = counts.iter().filter(|count| count.rows as f64 >= highest as f64 - spread).count() - 1;
    let probability: f64 = 1.0 / (spread + 1.0);
    // The binomial distribution, in logarithms: its terms are too small for a product.
    let mut logarithm = others as f64 * (1.0 - probability).ln();
    let mut sum = 0.0;
    for number in 0..=others {
        if number + 1 >= alike {
            sum += logarithm.exp();
        }
        let ratio = (others - number) as f64 / (number + 1) as f64 * probability / (1.0 - probability);
        logarithm += ratio.ln();
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counts(rows: &[u64]) -> Vec<Count> {
        let count = |(request, rows): (usize, &u64)| Count {
            request,
            name: format!("day {}", request + 1),
            rows: *rows,
            ..Count::default()
        };
        rows.iter().enumerate().map(count).collect()
    }

    #[test]
    fn chance_has_as_many_times_as_there_are_reports() {
        let four_of_eleven = counts(&[75, 75, 75, 75, 74, 73, 72, 60, 60, 60, 60]);
        assert_eq!(Suspicion::in_reports(1, &four_of_eleven, None).requests.len(), 4);
        assert_eq!(Suspicion::in_reports(20, &four_of_eleven, None), Suspicion::default());
        assert_eq!(Suspicion::in_reports(20, &counts(&[75; 11]), None).requests.len(), 11);
    }

    #[test]
    fn equal_highest_counts_and_round_ones_look_capped() {
        for (rows, known_row_cap, requests, data) in [
            (&[][..], None, &[][..], &[][..]),
            (&[0, 0, 0, 0], None, &[], &[]),
            (&[73, 73, 73], None, &[0, 1, 2], &["3 of 3", " 73 ", "(day 1, day 2, day 3)"]),
            (&[4_711, 4_711, 12], None, &[], &[]),
            (&[4_711, 4_711, 4_711, 12, 4_711], None, &[0, 1, 2, 4], &["4 of 5", "(day 1, day 2, day 3 and 1 more)"]),
            (&[4_711, 4_711, 4_711, 4_712], None, &[], &[]),
            (&[10_000], None, &[0], &[" 10000 "]),
            (&[10_000, 17], None, &[0], &[" 10000 ", "(day 1)"]),
            (&[10_000, 10_001], None, &[], &[]),
            (&[41, 7], Some(41), &[0], &["1 of 2", "known_row_cap", "(day 1)"]),
            (&[41, 42, 41], Some(41), &[0, 2], &["2 of 3", "known_row_cap", "(day 1, day 3)"]),
            (&[10_001], Some(10_000), &[], &[]),
        ] {
            let found = Suspicion::in_reports(1, &counts(rows), known_row_cap);
            assert_eq!(found.requests, requests.iter().copied().collect(), "{rows:?}");
            assert_eq!(found.cap, requests.first().map(|first| rows[*first]), "{rows:?}");
            assert_eq!(found.reasons.len(), requests.len().min(1), "{rows:?}");
            assert!(found.reasons.iter().all(|reason| data.iter().all(|datum| reason.contains(datum))), "{found:?}");
        }
    }

    #[test]
    fn small_counts_that_are_equal_by_chance_are_not_reported() {
        for rows in [&[5, 5, 5][..], &[1; 31], &[9; 91], &[36, 36, 36], &[20, 20, 20, 19, 18, 17, 16]] {
            assert_eq!(Suspicion::in_reports(1, &counts(rows), None), Suspicion::default(), "{rows:?}");
        }
        // As many responses as a scan can have.
        let most = vec![100; 100_000];
        for rows in [&[37, 37, 37][..], &[10, 10, 10, 10], &[50; 31], &[100; 3], &most] {
            let found = Suspicion::in_reports(1, &counts(rows), None);
            assert_eq!((found.requests.len(), found.reasons.len()), (rows.len(), 1));
        }
    }

    #[test]
    fn a_row_for_each_value_that_was_asked_for_is_no_cap() {
        let mut all = counts(&[1_000, 1_000, 1_000, 73, 73, 73]);
        for count in &mut all[..3] {
            count.is_explained = true;
        }
        assert_eq!(Suspicion::in_reports(1, &all, None), Suspicion::default());
        assert_eq!(Suspicion::in_reports(1, &all, Some(1_000)).requests, BTreeSet::from([0, 1, 2]));
    }

    #[test]
    fn totals_that_responses_report_are_reasons() {
        let mut all = counts(&[3, 4, 5]);
        all[1].total = Some("reports 9".to_owned());
        let suspicion = Suspicion::in_reports(1, &all, None);
        assert_eq!(suspicion.reasons, ["day 2: reports 9"]);
        assert_eq!(suspicion.requests, BTreeSet::from([1]));
    }
}
