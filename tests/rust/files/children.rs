//! Tests run by other tests in a process of their own, with their folder in the environment.

use std::path::PathBuf;
use std::process::Command;

/// Where a child finds its folder.
const FOLDER: &str = "DATAACCESS_TEST_FOLDER";

/// The folder of a child.
pub fn folder() -> PathBuf {
    std::env::var_os(FOLDER).expect("run by another test").into()
}

/// A child that runs one ignored test, after a line of shell that may limit it.
pub fn child(test: &str, folder: &std::path::Path, limits: &str) -> Command {
    let mut command = Command::new("sh");
    command.arg("-c").arg(format!("{limits}\nexec \"$0\" \"$@\"")).arg(std::env::current_exe().unwrap());
    command.args(["--exact", test, "--ignored", "--nocapture", "--test-threads", "1"]).env(FOLDER, folder);
    command
}
