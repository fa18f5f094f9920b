//! How every file is opened: never through a symbolic link, and made for its owner alone.

use std::fs::OpenOptions;

/// Options to open a file with. What else is wanted, as reading or writing, is added to them.
#[must_use]
pub fn private() -> OpenOptions {
    #[cfg_attr(not(unix), expect(unused_mut, reason = "only Unix has these modes"))]
    let mut options = OpenOptions::new();
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt;
        options.mode(0o600).custom_flags(libc::O_NOFOLLOW);
    }
    options
}
