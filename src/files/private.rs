//! How files are opened: never through a symbolic link, and those of a checkpoint made for their owner alone.

use std::fs::OpenOptions;

/// Options to open a file with, whose owner alone may use it. What else is wanted, as reading, is added to them.
#[must_use]
pub fn private() -> OpenOptions {
    #[cfg_attr(not(unix), expect(unused_mut, reason = "only Unix has these modes"))]
    let mut options = open();
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options
}

/// As [`private`], for a file whose users the process's mask decides.
pub(super) fn open() -> OpenOptions {
    #[cfg_attr(not(unix), expect(unused_mut, reason = "only Unix has links like these"))]
    let mut options = OpenOptions::new();
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::custom_flags(&mut options, libc::O_NOFOLLOW);
    options
}
