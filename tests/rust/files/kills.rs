//! A run that is killed again and again: what it has told as done is done, and nothing else is.
#![cfg(unix)]

use std::io::{BufRead, BufReader};
use std::process::Stdio;
use std::thread;
use std::time::Duration;

use super::children::{child, folder};
use super::folder::{Folder, done, open, work};

const TASKS: usize = 300;

#[test]
fn a_killed_run_has_done_what_it_reported() {
    let folder = Folder::new();
    let mut told = Vec::new();
    for round in 0_u64.. {
        let mut worker =
            child("files::kills::works_until_killed", folder.path(), "").stdout(Stdio::piped()).spawn().unwrap();
        let output = BufReader::new(worker.stdout.take().unwrap());
        let reading = thread::spawn(move || {
            let lines = output.lines().map(Result::unwrap);
            lines.filter_map(|line| line.strip_prefix("done ").map(|task| task.parse::<usize>().unwrap())).collect()
        });
        thread::sleep(Duration::from_millis(20 + 7 * (round % 13)));
        worker.kill().unwrap();
        worker.wait().unwrap();
        told.extend::<Vec<usize>>(reading.join().unwrap());
        let found = done(&open(folder.path(), TASKS).unwrap());
        // At most the one task at work when the kill came is done and not told.
        let untold: Vec<_> = found.iter().filter(|task| !told.contains(task)).copied().collect();
        assert!(untold.len() <= 1 && told.iter().all(|task| found.contains(task)), "{found:?} {told:?}");
        told.extend(untold);
        if found.len() == TASKS {
            assert!(round > 3, "nothing was killed");
            break;
        }
    }
    told.sort_unstable();
    assert_eq!(told, (0..TASKS).collect::<Vec<_>>());
}

#[test]
#[ignore = "run by a_killed_run_has_done_what_it_reported"]
fn works_until_killed() {
    let mut checkpoint = open(&folder(), TASKS).unwrap();
    // The harness has begun a line.
    println!();
    for task in checkpoint.open_tasks().collect::<Vec<_>>() {
        work(&mut checkpoint, task);
        println!("done {task}");
    }
    // Whoever has nothing left to do waits for the end.
    thread::sleep(Duration::from_secs(60));
}
