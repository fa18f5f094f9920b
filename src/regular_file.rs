//! Files that users name: only regular files are opened, and only up to a size.

use std::fs::{File, OpenOptions};
use std::io::{self, Read};
use std::path::Path;

/// Opens a file to read it. Refuses at once a pipe, which would wait for another process, a device, and a file that is
/// larger.
///
/// # Errors
/// Why the file cannot be opened.
pub fn open(path: &Path, most: u64) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::custom_flags(&mut options, libc::O_NONBLOCK);
    let file = options.open(path)?;
    let found = file.metadata()?;
    if !found.is_file() {
        return Err(io::Error::other("it is not a regular file"));
    }
    if found.len() > most {
        return Err(io::Error::other(format!("it is larger than {} MiB", most >> 20)));
    }
    Ok(file)
}

/// Reads such a file.
///
/// # Errors
/// Why the file cannot be read.
pub fn read(path: &Path, most: u64) -> io::Result<Vec<u8>> {
    let mut content = Vec::new();
    open(path, most)?.take(most).read_to_end(&mut content)?;
    Ok(content)
}
