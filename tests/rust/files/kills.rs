//! A run that is killed repeatedly: exactly the tasks that it has reported as done are done.
#![cfg(unix)]

use std::io::{BufRead, BufReader};
use std::process::Stdio;
use std::thread;
use std::time::Duration;

use super::children::{child, folder};
use super::folder::{Folder, found, open, part, put};

const TASKS: usize = 300;

#[test]
fn a_killed_run_has_done_what_it_reported() {
    let folder = Folder::new();
    let mut reported = Vec::new();
    for round in 0_u64.. {
        let mut worker =
            child("files::kills::works_until_killed", folder.path(), "").stdout(Stdio::piped()).spawn().unwrap();
        let output = BufReader::new(worker.stdout.take().unwrap());
        let reading = thread::spawn(move || {
            let lines = output.lines().map(Result::unwrap);
            lines.filter_map(|line| line.strip_prefix("done ").map(|task| task.parse::<usize>().unwrap())).collect()
        });
        // Longer and longer: a slow machine needs more until a process has begun.
        thread::sleep(Duration::from_millis(20 + (7 + round / 4) * (round % 13)));
        worker.kill().unwrap();
        worker.wait().unwrap();
        reported.extend::<Vec<usize>>(reading.join().unwrap());
        let (opened, listed) = open(folder.path()).unwrap();
        let found = found(&opened, &listed);
        // At most the task at work when the kill came is done and not reported.
        let unreported: Vec<_> = found.iter().filter(|task| !reported.contains(task)).copied().collect();
        assert!(unreported.len() <= 1 && reported.iter().all(|task| found.contains(task)), "{found:?} {reported:?}");
        reported.extend(unreported);
        if found.len() == TASKS {
            assert!(round > 3, "nothing was killed");
            break;
        }
    }
    reported.sort_unstable();
    assert_eq!(reported, (0..TASKS).collect::<Vec<_>>());
}

#[test]
#[ignore = "run by a_killed_run_has_done_what_it_reported"]
fn works_until_killed() {
    let (opened, listed) = open(&folder()).unwrap();
    // The harness has begun a line.
    println!();
    for task in (0..TASKS).filter(|task| !listed.parts.contains(&part(*task))) {
        put(&opened, &part(task));
        println!("done {task}");
    }
    // Without tasks left, the process waits to be killed.
    thread::sleep(Duration::from_secs(60));
}
