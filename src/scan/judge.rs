//! The judge: what looks wrong in responses and files, by their figures alone. Whatever shows a doubt asks it.

use std::collections::{BTreeMap, BTreeSet};

use super::Scan;
use super::cap::{Count, Suspicion};
use super::data_warning::{self, DataWarning, DataWarningKind, Dropped};
use super::record_stats::add_new;
use super::stats::Figures;
use super::verdict::Verdict;
use super::window::{Strays, Window};
use crate::time::{Calendar, Zone};

/// Reasons of requests that were split and are listed.
const NAMED: usize = 3;
/// Rows from which on it is no accident that none of them has a value.
const USUAL_ROWS: u64 = 10;
/// Other files from which on it is no accident that all have something.
const USUAL_FILES: usize = 3;
/// Responses of several processes whose numbers of rows are compared; fewer say nothing about a cap.
const COMPARED: usize = 3;
/// Days that a day is compared with, and how many it takes at least.
const NEAREST: usize = 14;
const FEWEST: usize = 7;

/// A response, or the file with its rows.
#[derive(Clone, Debug, Default)]
pub(super) struct Seen {
    /// What a warning calls it: its day, or the number of its request.
    pub(super) name: String,
    /// Where its rows must be.
    pub(super) window: Option<Window>,
    pub(super) figures: Figures,
    /// Its number of rows, if that says something about the service: a limit may have cut it.
    pub(super) compared: Option<u64>,
    /// Whether it has all rows of the day that it is named after, which was over when they were requested.
    pub(super) is_day: bool,
    /// Whether it is a file that was not requested: compared, and never suspected.
    pub(super) is_other: bool,
    /// What was decided when it came.
    pub(super) verdict: Verdict,
}

impl Seen {
    fn is_judged(&self) -> bool {
        !self.is_other && !self.verdict.is_accepted
    }
}

/// What the responses have in common.
#[derive(Clone, Copy, Debug)]
pub(super) struct About<'a> {
    pub(super) calendar: &'a Calendar,
    /// The zone of the times in records.
    pub(super) source: &'a Zone,
    /// A number of rows at which the service is known to cut responses.
    pub(super) known_row_cap: Option<u64>,
    pub(super) operation: &'a str,
    /// Whether responses that look capped were split.
    pub(super) splits: bool,
    /// Whether the responses of all requests are seen.
    pub(super) is_whole: bool,
    /// How often the same responses are judged: chance may make counts equal each time.
    pub(super) trials: u32,
}

/// What looks wrong.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Findings {
    /// In each of the responses, in their order.
    pub(super) doubts: Vec<Vec<DataWarning>>,
    /// Why rows may be missing, as responses look capped.
    pub(super) reasons: Vec<String>,
    /// Which look capped, by their positions.
    pub(super) suspects: BTreeSet<usize>,
    /// The number of rows at which they may have been cut.
    pub(super) cap: Option<u64>,
    /// The days whose responses have rows of others.
    pub(super) stray_days: Vec<String>,
    /// The attributes that no record has.
    pub(super) absent: Vec<String>,
    /// All of it, in words.
    pub(super) warnings: Vec<DataWarning>,
}

impl Scan {
    /// What the responses of this scan have in common.
    pub(super) fn about(&self, is_whole: bool, trials: u32) -> About<'_> {
        About {
            calendar: &self.calendar,
            source: self.source_zone(),
            known_row_cap: self.known_row_cap(),
            operation: self.operation,
            splits: self.splits(),
            is_whole,
            trials,
        }
    }
}

impl Scan {
    /// What looks wrong in each of these responses: the ones of a scan of `requests` requests that one process knows, each
    /// with its name, in the order of the plan. May be asked after each of them: chance then makes counts equal as rarely
    /// as in one call for all.
    pub fn doubts_of_some(&self, requests: usize, responses: Vec<(String, Figures)>) -> Vec<Vec<DataWarning>> {
        let are_compared = responses.len() >= COMPARED.min(requests);
        let seen = |(name, figures): (String, Figures)| {
            let is_explained = figures.is_explained || !are_compared;
            let compared = figures.split.is_none().then_some(figures.rows);
            Seen { name, compared, figures: Figures { is_explained, ..figures }, ..Seen::default() }
        };
        let seen: Vec<Seen> = responses.into_iter().map(seen).collect();
        let about = self.about(false, u32::try_from(requests).unwrap_or(u32::MAX));
        judge(&seen.iter().collect::<Vec<_>>(), &about).doubts
    }

    /// Whether the request of a task explains a number of rows: it asks for as many values.
    pub fn explains(&self, rows: u64) -> bool {
        self.request(0, self.limit).explains(rows)
    }
}

/// What looks wrong in these responses, which are in the order of the plan.
pub(super) fn judge(seen: &[&Seen], about: &About<'_>) -> Findings {
    let mut doubts: Vec<Vec<DataWarning>> = seen.iter().map(|seen| seen.verdict.doubts.clone()).collect();
    let mut more: Vec<(usize, DataWarning)> = Vec::new();
    let dropped = dropped(seen);
    more.extend(dropped.iter().map(|(at, dropped)| (*at, DataWarning::lost(&dropped.attribute))));
    let empty = without_values(seen);

    let counts: Vec<Count> = seen.iter().enumerate().filter_map(|(at, seen)| count(at, seen)).collect();
    let Suspicion { mut reasons, requests: suspects, cap } =
        Suspicion::in_reports(about.trials, &counts, about.known_row_cap);
    // Else they are split, which shows more.
    if !about.splits
        && let Some(reason) = reasons.first()
    {
        more.extend(suspects.iter().map(|at| (*at, DataWarning::capped(reason))));
    }
    let own = || seen.iter().enumerate().filter(|(_, seen)| seen.is_judged());
    let left: Vec<&String> = own().flat_map(|(_, seen)| seen.figures.split.iter().flatten()).collect();
    reasons.extend(left.iter().take(NAMED).map(|reason| (*reason).clone()));
    if left.len() > NAMED {
        reasons.push(format!("{} more like these", left.len() - NAMED));
    }
    let mut strays = Strays::default();
    for (at, seen) in own() {
        more.extend(seen.figures.split.iter().flatten().map(|reason| (at, DataWarning::capped(reason))));
        let (window, times) = (seen.window.as_ref(), seen.figures.times.as_ref());
        if strays.add(window, times, &about.calendar.zone, about.source) {
            let is_of_days = window.is_some_and(Window::is_of_days);
            more.push((at, if is_of_days { DataWarning::of_another_day() } else { DataWarning::out_of_range() }));
        }
    }
    let few = with_few_rows(seen);
    let recorded = own().flat_map(|(at, seen)| seen.verdict.doubts.iter().map(move |doubt| (at, doubt.clone())));
    let unusual: Vec<(usize, DataWarning)> = recorded.chain(empty.clone()).chain(few.clone()).collect();
    for (at, doubt) in more.into_iter().chain(empty).chain(few) {
        if let Some(doubts) = doubts.get_mut(at) {
            doubts.push(doubt);
        }
    }

    let absent = absent(seen);
    let dropped: Vec<Dropped> = dropped.into_iter().map(|(_, dropped)| dropped).collect();
    let misspelled: Vec<String> =
        absent.iter().filter(|name| dropped.iter().all(|lost| lost.attribute != **name)).cloned().collect();
    let mut mixed = Vec::new();
    own().for_each(|(_, seen)| add_new(&mut mixed, seen.figures.mixed.iter().cloned()));
    let rows = seen.iter().filter(|seen| !seen.is_other).map(|seen| seen.figures.rows).sum();
    let warnings = [
        data_warning::absent(&misspelled),
        data_warning::incomplete(&reasons, about.operation, about.splits),
        data_warning::stray(strays.message(about.calendar, about.source, about.is_whole.then_some(rows))),
        data_warning::dropped(&dropped),
        data_warning::mixed(&mixed),
    ];
    let mut warnings: Vec<DataWarning> = warnings.into_iter().flatten().collect();
    let named = unusual.iter().filter_map(|(at, doubt)| Some((seen.get(*at)?.name.as_str(), doubt)));
    warnings.extend(data_warning::unusual(&named.collect::<Vec<_>>()));
    Findings { doubts, reasons, suspects, cap, stray_days: strays.days, absent, warnings }
}

/// What a response says about a cap. One that was split, or accepted, shows what is usual and is not suspected.
fn count(at: usize, seen: &Seen) -> Option<Count> {
    Some(Count {
        request: at,
        name: seen.name.clone(),
        rows: seen.compared?,
        is_explained: seen.figures.is_explained,
        total: seen.figures.other_total.clone(),
        is_other: !seen.is_judged() || seen.figures.split.is_some(),
    })
}

/// The attributes that no record of any response has.
fn absent(seen: &[&Seen]) -> Vec<String> {
    let mut with_rows = seen.iter().filter(|seen| !seen.is_other && seen.figures.rows > 0);
    let Some(first) = with_rows.next() else { return Vec::new() };
    let mut absent = first.figures.absent.clone();
    with_rows.for_each(|seen| absent.retain(|name| seen.figures.absent.contains(name)));
    absent
}

/// The attributes that a response lacks although most others have them, or although its records have a key that may be
/// the new name.
fn dropped(seen: &[&Seen]) -> Vec<(usize, Dropped)> {
    let (all, lacking) = lacking(seen, |figures| &figures.absent);
    let with_rows = seen.iter().enumerate().filter(|(_, seen)| seen.is_judged() && seen.figures.rows > 0);
    // Where the caller takes a file without it, that is right.
    let is_right = |attribute: &String| {
        seen.iter()
            .any(|seen| seen.verdict.is_accepted && seen.figures.rows > 0 && seen.figures.absent.contains(attribute))
    };
    let of_one = |(at, seen): (usize, &&Seen)| {
        let is_lost = |attribute: &&String| {
            let (others, having) = (all - 1, all - lacking.get(attribute.as_str()).copied().unwrap_or_default());
            let is_long = having == others || (having * 2 > others && seen.figures.rows >= USUAL_ROWS);
            (is_long && others >= USUAL_FILES && !is_right(attribute))
                || (having > 0 && seen.figures.new_key(attribute).is_some())
        };
        let dropped = |attribute: &String| Dropped {
            instead: seen.figures.new_key(attribute).cloned(),
            attribute: attribute.clone(),
            task: seen.name.clone(),
        };
        let lost = seen.figures.absent.iter().filter(is_lost);
        lost.map(|attribute| (at, dropped(attribute))).collect::<Vec<_>>()
    };
    with_rows.flat_map(of_one).collect()
}

/// The responses without any value in a column in which all others have some.
fn without_values(seen: &[&Seen]) -> Vec<(usize, DataWarning)> {
    let (all, lacking) = lacking(seen, |figures| &figures.empty_columns);
    let long = seen.iter().enumerate().filter(|(_, seen)| seen.is_judged() && seen.figures.rows >= USUAL_ROWS);
    let of_one = |(at, seen): (usize, &&Seen)| {
        let is_alone = |name: &&String| lacking.get(name.as_str()) == Some(&1) && all > USUAL_FILES;
        let is_there = |name: &&String| !seen.figures.absent.contains(name);
        let empty = seen.figures.empty_columns.iter().filter(is_there).filter(is_alone);
        empty.map(|name| (at, DataWarning::without_values(name))).collect::<Vec<_>>()
    };
    long.flat_map(of_one).collect()
}

/// How many responses have rows, and how many of those lack each name.
fn lacking<'a>(seen: &[&'a Seen], names: fn(&Figures) -> &Vec<String>) -> (usize, BTreeMap<&'a str, usize>) {
    let with_rows: Vec<&&Seen> = seen.iter().filter(|seen| seen.figures.rows > 0).collect();
    let mut lacking = BTreeMap::new();
    for name in with_rows.iter().flat_map(|seen| names(&seen.figures)) {
        *lacking.entry(name.as_str()).or_default() += 1;
    }
    (with_rows.len(), lacking)
}

/// The days with less than a quarter of the rows of each day before them, or where there are few, after them. Days that
/// look wrong themselves, or were accepted although they did, show nothing.
fn with_few_rows(seen: &[&Seen]) -> Vec<(usize, DataWarning)> {
    let mut days: Vec<(usize, &Seen)> =
        seen.iter().enumerate().filter(|(_, seen)| seen.is_day).map(|(at, seen)| (at, *seen)).collect();
    days.sort_by(|(_, one), (_, other)| one.name.cmp(&other.name));
    if days.windows(2).any(|pair| matches!(pair, [(_, one), (_, other)] if one.name == other.name)) {
        // The files of one day have parts of a list each.
        return Vec::new();
    }
    let (mut found, mut usual): (Vec<(usize, DataWarning)>, Vec<u64>) = (Vec::new(), Vec::new());
    for (number, (at, day)) in days.iter().enumerate() {
        let rows = day.figures.rows;
        let before = usual.iter().rev().take(NEAREST).copied();
        let after = days.iter().skip(number + 1).filter(|(_, day)| !day.verdict.is_accepted).take(NEAREST);
        let beside: Vec<u64> =
            if usual.len() >= FEWEST { before.collect() } else { after.map(|(_, day)| day.figures.rows).collect() };
        let least = beside.iter().copied().min().filter(|_| beside.len() >= FEWEST);
        match least.filter(|least| rows < least / 4) {
            Some(_) if !day.is_judged() => {}
            Some(least) => found.push((*at, DataWarning::few_rows(rows, least))),
            None if day.verdict.is_accepted => {}
            None => usual.push(rows),
        }
    }
    found
}

impl Figures {
    /// A key of the response that may be the new name of an attribute.
    fn new_key(&self, attribute: &str) -> Option<&String> {
        self.extra_keys.iter().map(|(key, _)| key).find(|key| letters(key) == letters(attribute))
    }
}

/// The letters of a name alone, as conventions differ: `allocated_time` is `allocatedTime`.
fn letters(name: &str) -> String {
    name.chars().filter(|character| character.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

impl DataWarning {
    fn lost(attribute: &str) -> Self {
        let message = format!("'{attribute}' is missing from every record, and other files have it");
        Self { kind: DataWarningKind::AbsentAttribute, message }
    }

    fn without_values(attribute: &str) -> Self {
        let message = format!("no record has a value of '{attribute}', and all other files have some");
        Self { kind: DataWarningKind::AbsentAttribute, message }
    }

    fn capped(reason: &str) -> Self {
        Self { kind: DataWarningKind::Incomplete, message: reason.to_owned() }
    }

    fn of_another_day() -> Self {
        Self { kind: DataWarningKind::StrayDay, message: "it has rows of another day".to_owned() }
    }

    fn out_of_range() -> Self {
        Self { kind: DataWarningKind::StrayDay, message: "it has rows outside the requested range".to_owned() }
    }

    fn few_rows(rows: u64, least: u64) -> Self {
        let message = format!("{rows} rows, and the days beside it have at least {least}");
        Self { kind: DataWarningKind::Incomplete, message }
    }
}
