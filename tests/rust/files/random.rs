//! Random lives of a checkpoint, each step of which a model takes too.

use std::fs;
use std::fs::OpenOptions;
use std::io::Write;

use proptest::prelude::*;

use super::folder::{Folder, JOURNAL, done, entry, open, put, work};

const TASKS: usize = 5;

#[derive(Clone, Debug)]
enum Step {
    /// A task with rows, from beginning to end.
    Work(usize),
    /// A task without rows.
    Nothing(usize),
    /// A part that is begun and given up.
    GiveUp(usize),
    /// A crash while a part is written.
    Crash(usize),
    /// A crash after the part is in its place.
    CrashBeforeLine(usize),
    /// A crash in the middle of a line.
    CrashInLine(Vec<u8>),
    /// Somebody deletes a part.
    Lose(usize),
    Reopen,
}

fn any_step() -> impl Strategy<Value = Step> {
    let task = || 0..TASKS;
    prop_oneof![
        4 => task().prop_map(Step::Work),
        1 => task().prop_map(Step::Nothing),
        1 => task().prop_map(Step::GiveUp),
        1 => task().prop_map(Step::Crash),
        1 => task().prop_map(Step::CrashBeforeLine),
        1 => prop::collection::vec(any::<u8>().prop_filter("no end of a line", |byte| *byte != b'\n'), 1..20)
            .prop_map(Step::CrashInLine),
        1 => task().prop_map(Step::Lose),
        1 => Just(Step::Reopen),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn the_tasks_that_are_done_are_those_of_the_model(steps in prop::collection::vec(any_step(), 1..30)) {
        let folder = Folder::new();
        let mut checkpoint = open(folder.path(), TASKS).unwrap();
        // The tasks that are done, and whether they have a part.
        let mut model: Vec<(usize, bool)> = Vec::new();
        for step in steps {
            let is_done = |task: usize| model.iter().any(|(done, _)| *done == task);
            let mut ends = true;
            match step {
                Step::Work(task) | Step::Nothing(task) if is_done(task) => {
                    prop_assert!(checkpoint.commit(task, entry(task), None).is_err());
                    ends = false;
                }
                Step::Work(task) => {
                    work(&mut checkpoint, task);
                    model.push((task, true));
                    ends = false;
                }
                Step::Nothing(task) => {
                    checkpoint.commit(task, entry(task), None).unwrap();
                    model.push((task, false));
                    ends = false;
                }
                Step::GiveUp(task) => {
                    checkpoint.part(task).unwrap().write_all(b"half").unwrap();
                    ends = false;
                }
                Step::Crash(task) => {
                    let mut file = checkpoint.part(task).unwrap();
                    file.write_all(b"half").unwrap();
                    std::mem::forget(file);
                }
                Step::CrashBeforeLine(task) if !is_done(task) => drop(put(&checkpoint, task)),
                Step::CrashInLine(bytes) => {
                    let mut journal = OpenOptions::new().append(true).open(folder.file(JOURNAL)).unwrap();
                    journal.write_all(&bytes).unwrap();
                }
                Step::Lose(task) => {
                    _ = fs::remove_file(checkpoint.place(task).unwrap());
                    model.retain(|(done, has_part)| *done != task || !has_part);
                }
                Step::CrashBeforeLine(_) | Step::Reopen => {}
            }
            if ends {
                drop(checkpoint);
                checkpoint = open(folder.path(), TASKS).unwrap();
            }
            let expected: Vec<_> = model.iter().map(|(task, _)| *task).collect();
            prop_assert_eq!(done(&checkpoint), expected);
        }
    }
}
