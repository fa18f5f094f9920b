//! Ctrl-C while another library holds the main thread in native code, where no signal handler of Python can run.
//!
//! Python writes the number of each signal into a socket as it comes (`signal.set_wakeup_fd`), before any handler runs.
//! `dataaccess._scan.interrupt` decides whether that is ours to do.

use std::future::pending;
use std::time::Duration;

use pyo3::prelude::*;
use tokio::sync::watch;
use tokio::time::{Instant, sleep_until};

/// When Ctrl-C came last.
type Received = watch::Receiver<Instant>;

/// Ends a stream when Ctrl-C comes, if that is wanted.
#[derive(Clone)]
pub(super) struct Interrupt {
    received: Option<Received>,
    grace: Duration,
}

impl Interrupt {
    /// Ctrl-C from now on, where `is_wanted`.
    pub(super) fn new(is_wanted: bool) -> Self {
        Self { received: if is_wanted { socket::received() } else { None }, grace: Duration::ZERO }
    }

    /// The same, for a library that may end the stream by itself within so much time.
    pub(super) fn after(self, grace: Duration) -> Self {
        Self { grace, ..self }
    }

    /// Whether it has come.
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
    use tokio::sync::watch;
    use tokio::time::Instant;

    use super::Received;
    use crate::python::runtime::{PerProcess, spawn_detached};

    /// The number of the signal, which POSIX fixes.
    const SIGINT: u8 = 2;

    /// A forked child has a pair of its own.
    static INTERRUPTS: PerProcess<Interrupts> = PerProcess::empty();

    struct Interrupts {
        written: UnixStream,
        received: Received,
    }

    pub(super) fn descriptor(py: Python<'_>) -> PyResult<Option<i32>> {
        let interrupts = py.detach(|| INTERRUPTS.get_or_try_make(Interrupts::open))?;
        Ok(Some(interrupts.written.as_raw_fd()))
    }

    pub(super) fn received() -> Option<Received> {
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
            spawn_detached(async move { drop(relay(read, &sender).await) });
            Ok(Self { written, received })
        }
    }

    /// Passes on each Ctrl-C.
    async fn relay(read: UnixStream, sender: &watch::Sender<Instant>) -> io::Result<()> {
        let (read, mut signals) = (tokio::net::UnixStream::from_std(read)?, [0; 64]);
        loop {
            read.readable().await?;
            match read.try_read(&mut signals) {
                Ok(0) => return Ok(()),
                Ok(count) if signals.iter().take(count).any(|signal| *signal == SIGINT) => {
                    sender.send_replace(Instant::now());
                }
                Ok(_) => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                Err(error) => return Err(error),
            }
        }
    }
}

#[cfg(not(unix))]
mod socket {
    use pyo3::prelude::*;

    use super::Received;

    pub(super) fn descriptor(_py: Python<'_>) -> PyResult<Option<i32>> {
        Ok(None)
    }

    pub(super) fn received() -> Option<Received> {
        None
    }
}
