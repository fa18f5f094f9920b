//! Scans into folders: which tasks are done, kept and done again.

use std::collections::BTreeSet;
use std::fs;
use std::time::SystemTime;

use tempfile::TempDir;

use super::*;
use crate::error::Kind;
use crate::files::{AtomicFile, Footer, Location, Parquet, RowMemory, Writer};

fn location(folder: &TempDir) -> Location {
    Location::Path(folder.path().to_path_buf())
}

fn options(folder: &TempDir) -> RunOptions {
    RunOptions {
        folder: location(folder),
        service: Service { address: "https://cdp.example.com".to_owned(), is_synthetic: false, same_service: false },
        refresh: InputValue::Null,
        accept: InputValue::Null,
        settle: Duration::from_secs(3_600),
        on_doubt: OnDoubt::Warn(BTreeSet::new()),
        requested_at: false,
    }
}

fn any_memory() -> RowMemory {
    RowMemory::new(u64::MAX)
}

fn refreshed(folder: &TempDir) -> RunOptions {
    RunOptions { refresh: InputValue::text("all"), ..options(folder) }
}

fn strict(folder: &TempDir) -> RunOptions {
    RunOptions { on_doubt: OnDoubt::Error, ..options(folder) }
}

/// A new folder and a service.
fn in_folder(reply: impl Fn(Asked) -> Reply + Send + Sync + 'static) -> (TempDir, Arc<Client>, Requests) {
    let (client, requests) = service(reply);
    (tempfile::tempdir().unwrap(), client, requests)
}

async fn run(scan: &Scan, client: &Arc<Client>, options: &RunOptions) -> Result<FolderReport> {
    let (progress, mut receiver) = mpsc::channel(100);
    let report = scan.run(client, options, progress).await;
    let last = std::iter::from_fn(|| receiver.try_recv().ok()).last();
    if let (Ok(report), Some(last)) = (&report, last) {
        let is_ended = report.ended.is_some();
        assert!(is_ended || (last.done, last.failed) == (report.done, report.failed.len()), "{report:?}");
    }
    report
}

fn rows_of(report: &FolderReport) -> u64 {
    report.files.iter().map(|file| file.rows).sum()
}

/// The days that were asked for. The tasks of a run have no order.
fn sorted_days(requests: &Requests) -> Vec<i64> {
    let mut days = days(requests);
    days.sort_unstable();
    days
}

/// Three rows a day.
fn usual(asked: Asked) -> Reply {
    rows(asked.day, &ids(&asked.day.to_string(), 3))
}

#[tokio::test(start_paused = true)]
async fn a_second_run_requests_only_what_is_missing() {
    let (folder, client, requests) = in_folder(usual);
    let report = run(&scan(2), &client, &options(&folder)).await.unwrap();
    assert_eq!((rows_of(&report), report.files.len(), days(&requests).len()), (6, 2, 2));
    let report = run(&scan(4), &client, &options(&folder)).await.unwrap();
    assert_eq!((rows_of(&report), sorted_days(&requests)), (12, vec![0, 1, 2, 3]));
    let kept: Vec<bool> = report.files.iter().map(|file| file.state == State::Kept).collect();
    assert_eq!(kept, [true, true, false, false]);
    let collected = scan(4).read(&location(&folder), false, &any_memory()).await.unwrap();
    assert_eq!((found(&collected).len(), collected.stats.figures.rows, collected.stats.requests), (12, 12, 4));
}

#[tokio::test(start_paused = true)]
async fn a_task_that_fails_does_not_end_the_others_unless_all_would_fail() {
    let (folder, client, _) = in_folder(|asked| match (asked.day, asked.before) {
        (1, 0) => Reply::status(400),
        (2, 1) => Reply::status(401),
        _ => usual(asked),
    });
    let report = run(&scan(3), &client, &options(&folder)).await.unwrap();
    assert!(report.ended.is_none());
    assert_eq!(report.failed.iter().map(|task| task.day.clone().unwrap()).collect::<Vec<_>>(), ["2024-01-02"]);
    assert_eq!(report.files.len(), 2);

    let report = run(&scan(3), &client, &refreshed(&folder)).await.unwrap();
    assert_eq!(report.ended.map(|error| error.kind()), Some(Kind::PermissionDenied));
    assert!(report.failed.is_empty());
}

#[tokio::test(start_paused = true)]
async fn an_outage_ends_a_run_and_the_next_one_continues() {
    let folder = tempfile::tempdir().unwrap();
    let set = |arguments: &mut Arguments| (arguments.concurrency, arguments.retry_for) = (Some(2), 5.0);
    let (client, _) = client(set, |asked| if asked.day < 2 { usual(asked) } else { Reply::status(503) });
    let report = run(&scan(6), &client, &options(&folder)).await.unwrap();
    let ended = report.ended.unwrap();
    assert!(ended.is_of_all() && ended.kind() == Kind::Throttled, "{ended:?}");
    assert!(ended.hint().unwrap().contains("2 of 6 "), "{ended:?}");
    assert_eq!((report.files.len(), report.failed.len()), (2, 0));
}

#[tokio::test(start_paused = true)]
async fn a_response_with_less_replaces_no_file_unless_that_is_wanted() {
    let (folder, client, requests) = in_folder(|asked| match asked.before {
        0 => usual(asked),
        _ => rows(asked.day, &ids("few", 1)),
    });
    run(&scan(1), &client, &options(&folder)).await.unwrap();
    let kept = run(&scan(1), &client, &refreshed(&folder)).await.unwrap();
    assert_eq!((rows_of(&kept), kept.warnings[0].kind), (3, DataWarningKind::Shrunk));
    assert_eq!(kept.files[0].doubts.len(), 1);

    let again = run(&scan(1), &client, &options(&folder)).await.unwrap();
    assert_eq!(
        (rows_of(&again), again.files[0].doubts.len()),
        (3, 1),
        "it is requested again until a response is written"
    );
    assert_eq!(requests.lock().unwrap().len(), 3);

    let failed = run(&scan(1), &client, &strict(&folder)).await.unwrap().failed;
    assert_eq!(failed.first().map(|task| task.error.kind()), Some(Kind::DoubtfulData));

    let accept = RunOptions { accept: InputValue::text("all"), ..options(&folder) };
    let replaced = run(&scan(1), &client, &accept).await.unwrap();
    assert!(replaced.warnings.is_empty(), "{:?}", replaced.warnings);
    let task = &replaced.files[0];
    assert_eq!((task.rows, task.rows_before), (1, Some(3)));
    assert_eq!(task.state, State::Refreshed);
    let quiet = run(&scan(1), &client, &refreshed(&folder)).await.unwrap();
    assert!(quiet.warnings.is_empty() && quiet.files[0].doubts.is_empty(), "accepted with the same rows");
}

#[tokio::test(start_paused = true)]
async fn tasks_that_look_capped_are_done_again_in_parts() {
    let folder = tempfile::tempdir().unwrap();
    let (client, requests) = capped(30);
    let report = run(&scan(3).splitting(true), &client, &options(&folder)).await.unwrap();
    assert_eq!((rows_of(&report), report.maybe_capped), (270, false));
    assert_eq!(requests.lock().unwrap().len(), 3 + 3 + 9, "once, and then with their parts");
    let again = run(&scan(3).splitting(true), &client, &options(&folder)).await.unwrap();
    assert_eq!((rows_of(&again), requests.lock().unwrap().len()), (270, 15), "its record says that a file was split");
}

#[tokio::test(start_paused = true)]
async fn a_damaged_file_is_reported_and_replaced_on_request() {
    let (folder, client, requests) = in_folder(usual);
    run(&scan(3), &client, &options(&folder)).await.unwrap();
    let file = folder.path().join("day=2024-01-02/part-0.parquet");
    let content = fs::read(&file).unwrap();
    fs::write(&file, &content[..content.len() - 1]).unwrap();

    let report = run(&scan(3), &client, &options(&folder)).await.unwrap();
    assert_eq!(report.failed.iter().map(|task| task.error.kind()).collect::<Vec<_>>(), [Kind::FolderCorrupt]);
    let states: Vec<State> = report.files.iter().map(|file| file.state).collect();
    assert_eq!((states, days(&requests).len()), (vec![State::Kept, State::Damaged, State::Kept], 3));

    let refresh = RunOptions { refresh: InputValue::text("2024-01-02"), ..options(&folder) };
    let report = run(&scan(3), &client, &refresh).await.unwrap();
    assert_eq!((report.failed.len(), rows_of(&report), sorted_days(&requests)), (0, 9, vec![0, 1, 1, 2]));
}

#[tokio::test(start_paused = true)]
async fn the_files_of_another_query_or_service_are_left_alone() {
    let (folder, client, requests) = in_folder(usual);
    run(&scan(2), &client, &options(&folder)).await.unwrap();
    let typed = InputValue::Map(vec![("allocated_time".to_owned(), InputValue::text("string"))]);
    let calendar = Calendar::default();
    let other = Scan::try_new("scan_codes", Ok(Plan::clone(&scan(2).plan)), &typed, &calendar).unwrap();
    let mut elsewhere = options(&folder);
    elsewhere.service.address = "https://other.example.com".to_owned();
    for (scan, options, hint) in [(other, options(&folder), "the same again"), (scan(2), elsewhere, "same_service")] {
        let error = run(&scan, &client, &options).await.unwrap_err();
        assert_eq!(error.kind(), Kind::FolderMismatch);
        assert!(error.hint().unwrap().contains(hint), "{error:?}");
    }
    assert_eq!(days(&requests).len(), 2);
}

#[tokio::test(start_paused = true)]
async fn a_file_of_another_version_is_neither_read_nor_replaced() {
    let (folder, client, requests) = in_folder(usual);
    run(&scan(2), &client, &options(&folder)).await.unwrap();
    let path = folder.path().join("day=2024-01-02/part-0.parquet");
    let (part, batches) = Footer::in_content(std::fs::read(&path).unwrap().into(), &any_memory()).unwrap();
    let mut record = part.record;
    record["format"] = 4.into();
    let file = AtomicFile::create(&path, Kind::FolderFile).unwrap();
    let mut parquet = Parquet::new(file, batches[0].schema_ref(), batches[0].schema_ref()).unwrap();
    parquet.write(&batches[0]).unwrap();
    parquet.finish_part(&record).unwrap().publish().await.unwrap();

    let of_one_day = RunOptions { refresh: InputValue::text("2024-01-02"), ..options(&folder) };
    let errors = [
        run(&scan(2), &client, &options(&folder)).await.unwrap_err(),
        run(&scan(2), &client, &of_one_day).await.unwrap_err(),
        scan(2).read(&location(&folder), false, &any_memory()).await.unwrap_err(),
    ];
    for error in errors {
        assert_eq!((error.kind(), error.details().field.as_deref()), (Kind::FolderMismatch, Some("format")));
        assert!(error.message().contains("format 4"), "{error}");
    }
    let status = folder_status(&location(&folder), Duration::ZERO, None, None, SystemTime::now()).await.unwrap();
    assert!(status.files[1].doubts[0].contains(" version"), "{status:?}");
    assert_eq!(days(&requests).len(), 2);
}

#[tokio::test(start_paused = true)]
async fn days_without_rows_have_files_too() {
    let (folder, client, _) = in_folder(|asked| if asked.day == 0 { usual(asked) } else { rows(asked.day, &[]) });
    let report = run(&scan(3), &client, &options(&folder)).await.unwrap();
    assert!(report.files.iter().all(|task| task.path.as_ref().is_some_and(|path| path.exists())));
    assert!(report.files.iter().all(|task| task.is_final));
}

/// Runs a scan of one day after the other, each with this number of rows.
async fn run_each_day(
    folder: &TempDir,
    rows_of: &'static [usize],
    options: fn(&TempDir) -> RunOptions,
) -> Vec<FolderReport> {
    let (client, _) = service(move |asked| rows(asked.day, &ids("a", rows_of[usize::try_from(asked.day).unwrap()])));
    let mut reports = Vec::new();
    for day in 0..i64::try_from(rows_of.len()).unwrap() {
        reports.push(run(&scan_of(day, day + 1), &client, &options(folder)).await.unwrap());
    }
    reports
}

#[tokio::test(start_paused = true)]
async fn a_run_of_one_day_compares_it_with_the_other_days_of_the_folder() {
    let folder = tempfile::tempdir().unwrap();
    let reports = run_each_day(&folder, &[50, 50, 41, 50, 50], options).await;
    let capped: Vec<bool> = reports.iter().map(|report| report.maybe_capped).collect();
    assert_eq!(capped, [false, false, false, true, true], "as a scan of the days so far; the 41 rows are all of a day");
    let last = reports.last().unwrap();
    let [warning] = last.warnings.as_slice() else { panic!("{:?}", last.warnings) };
    let reason = &warning.message;
    assert!(["1 of 1", "3 of 4", "50 rows", "2024-01-05"].iter().all(|datum| reason.contains(datum)), "{reason}");
    assert_eq!((rows_of(last), last.files[0].doubts.len()), (50, 1));
    assert_eq!(last.warnings[0].kind, DataWarningKind::Incomplete);
    assert_eq!(
        scan_of(4, 5).read(&location(&folder), false, &any_memory()).await.unwrap().stats.warnings,
        last.warnings
    );
    assert!(scan_of(2, 3).read(&location(&folder), false, &any_memory()).await.unwrap().stats.reasons.is_empty());
    assert!(
        folder_status(&location(&folder), Duration::ZERO, None, None, SystemTime::now()).await.unwrap().maybe_capped
    );
}

#[tokio::test(start_paused = true)]
async fn a_day_of_the_folder_with_more_rows_disproves_a_cap() {
    let folder = tempfile::tempdir().unwrap();
    let reports = run_each_day(&folder, &[51, 50, 50, 50], options).await;
    assert!(reports.iter().all(|report| !report.maybe_capped));
    assert!(
        !folder_status(&location(&folder), Duration::ZERO, None, None, SystemTime::now()).await.unwrap().maybe_capped
    );
}

#[tokio::test(start_paused = true)]
async fn a_day_that_looks_capped_beside_the_folder_is_refused_or_split() {
    let folder = tempfile::tempdir().unwrap();
    let reports = run_each_day(&folder, &[50, 50, 50], strict).await;
    let failed: Vec<usize> = reports.iter().map(|report| report.failed.len()).collect();
    assert_eq!(failed, [0, 0, 1]);
    assert!(!folder.path().join("day=2024-01-03/part-0.parquet").exists());

    let split = scan_of(2, 3).splitting(true);
    let (client, _) = service(|asked| {
        rows(asked.day, &ids(&format!("{:?}", asked.status), if asked.status.is_none() { 50 } else { 30 }))
    });
    let report = run(&split, &client, &options(&folder)).await.unwrap();
    assert_eq!((rows_of(&report), report.maybe_capped), (90, false));
}

#[tokio::test(start_paused = true)]
async fn a_run_of_one_day_misses_an_attribute_that_the_other_days_have() {
    let (folder, client, _) = in_folder(|asked| match asked.day {
        0 => usual(asked),
        _ => Reply::ok(
            r#"{"code": 200, "data": {"status": true, "data": [{"id": "a", "codeStatus": 3,
            "allocated_time": "2024-01-02 12:00:00"}]}}"#,
        ),
    });
    run(&scan_of(0, 1), &client, &options(&folder)).await.unwrap();
    let refused = run(&scan_of(1, 2), &client, &strict(&folder)).await.unwrap();
    assert_eq!(refused.failed.first().map(|task| task.error.kind()), Some(Kind::DoubtfulData));

    let report = run(&scan_of(1, 2), &client, &options(&folder)).await.unwrap();
    let [warning] = report.warnings.as_slice() else { panic!("{:?}", report.warnings) };
    assert!(warning.message.contains("'codeStatus'"), "{}", warning.message);
}
