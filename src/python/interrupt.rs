//! Ctrl-C while another library holds the main thread in native code, where no signal handler of Python can run.
//!
//! Python writes the number of each signal into a socket as it comes (`signal.set_wakeup_fd`), before any handler runs.
//! `dataaccess._scan.interrupt` decides whether that is ours to do.

use std::future::pending;
use std::time::Duration;

use pyo3::prelude::*;
use tokio::sync::watch;
use tokio::time::{Instant, sleep_until};

/// Ends a stream when Ctrl-C comes, if that is wanted.
#[derive(Clone, Default)]
pub(super) struct Interrupt {
    /// When it came last.
    received: Option<watch::Receiver<Instant>>,
    grace: Duration,
}

impl Interrupt {
    /// Ctrl-C from now on, where `is_wanted`. The library that reads the stream may end it by itself within `grace`.
    pub(super) fn new(is_wanted: bool, grace: Duration) -> Self {
        Self { received: if is_wanted { socket::received() } else { None }, grace }
    }

    pub(super) fn has_come(&self) -> bool {
        self.received.as_ref().is_some_and(|received| {
            received.has_changed().unwrap_or(false) && received.borrow().elapsed() >= self.grace
        })
    }

    /// Waits for it, forever if it is not wanted.
    pub(super) async fn come(&self) {
        if let Some(mut received) = self.received.clone()
            && received.changed().await.is_ok()
        {
            let since = *received.borrow();
            sleep_until(since + self.grace).await;
            return;
        }
        pending::<()>().await;
    }
}

/// The file descriptor for `signal.set_wakeup_fd`; None on Windows.
#[pyfunction]
pub(super) fn wakeup_fd(py: Python<'_>) -> PyResult<Option<i32>> {
    socket::descriptor(py)
}

#[cfg(unix)]
mod socket {
    use std::io;
    use std::os::fd::AsRawFd;
    use std::os::unix::net::UnixStream;

    use pyo3::prelude::*;
    use tokio::io::AsyncReadExt;
    use tokio::sync::watch;
    use tokio::time::Instant;

    use crate::python::runtime::{PerProcess, spawn_detached};

    /// The number of the signal, which POSIX fixes.
    const SIGINT: u8 = 2;

    /// A forked child has a pair of its own.
    static INTERRUPTS: PerProcess<Interrupts> = PerProcess::empty();

    struct Interrupts {
        written: UnixStream,
        received: watch::Receiver<Instant>,
    }

    pub(super) fn descriptor(py: Python<'_>) -> PyResult<Option<i32>> {
        let interrupts = py.detach(|| INTERRUPTS.get_or_try_make(Interrupts::open))?;
        Ok(Some(interrupts.written.as_raw_fd()))
    }

    pub(super) fn received() -> Option<watch::Receiver<Instant>> {
        let mut received = INTERRUPTS.get()?.received.clone();
        received.mark_unchanged();
        Some(received)
    }

    impl Interrupts {
        fn open() -> io::Result<Self> {
            let (written, read) = UnixStream::pair()?;
            written.set_nonblocking(true)?;
            read.set_nonblocking(true)?;
            let (sender, received) = watch::channel(Instant::now());
            spawn_detached(async move {
                let Ok(mut read) = tokio::net::UnixStream::from_std(read) else { return };
                while let Ok(signal) = read.read_u8().await {
                    if signal == SIGINT {
                        sender.send_replace(Instant::now());
                    }
                }
            });
            Ok(Self { written, received })
        }
    }
}

#[cfg(not(unix))]
mod socket {
    use pyo3::prelude::*;
    use tokio::sync::watch;
    use tokio::time::Instant;

    pub(super) fn descriptor(_py: Python<'_>) -> PyResult<Option<i32>> {
        Ok(None)
    }

    pub(super) fn received() -> Option<watch::Receiver<Instant>> {
        None
    }
}
