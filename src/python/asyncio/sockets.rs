//! The pair of sockets that wakes a loop: a byte that is written to one of them, as the loop watches the other.

use std::io::{self, Read, Write};
use std::os::fd::AsRawFd;
use std::os::unix::net::UnixStream;
use std::sync::Arc;

use pyo3::exceptions::PyNotImplementedError;
use pyo3::intern;
use pyo3::prelude::*;

use super::queue::{Notifier, Queue, Watcher};
use crate::python::process::PerProcess;

/// The watchers of this process by the ids of their loops: a `WeakValueDictionary`, as a loop that is closed drops its
/// watcher.
static WATCHERS: PerProcess<Py<PyAny>> = PerProcess::empty();

pub(super) struct Sockets {
    written: UnixStream,
    watched: UnixStream,
}

impl Sockets {
    fn open() -> io::Result<Self> {
        let (written, watched) = UnixStream::pair()?;
        written.set_nonblocking(true)?;
        watched.set_nonblocking(true)?;
        Ok(Self { written, watched })
    }

    /// Wakes the loop. A full socket wakes it as well.
    pub(super) fn notify(&self) {
        drop((&self.written).write(&[0]));
    }

    pub(super) fn clear(&self) {
        drop((&self.watched).read(&mut [0; 64]));
    }
}

/// The queue of a running loop; `None` for a loop that cannot watch a socket.
pub(super) fn queue_of(running: &Bound<'_, PyAny>) -> PyResult<Option<Arc<Queue>>> {
    let py = running.py();
    let watchers = WATCHERS
        .get_or_try_make(|| PyResult::Ok(py.import("weakref")?.getattr("WeakValueDictionary")?.call0()?.unbind()))?;
    let watchers = watchers.bind(py);
    let id = running.as_ptr() as usize;
    if let Ok(known) = watchers.call_method1(intern!(py, "get"), (id,))?.cast_into::<Watcher>() {
        return Ok(Some(Arc::clone(&known.get().0)));
    }
    let sockets = Sockets::open()?;
    let file = sockets.watched.as_raw_fd();
    let watcher = Bound::new(py, Watcher(Queue::new(Notifier::Sockets(sockets))))?;
    // Otherwise the loop would keep the context of the first call.
    let context = py.import("contextvars")?.getattr("Context")?.call0()?;
    match context.call_method1("run", (running.getattr("add_reader")?, file, &watcher)) {
        Ok(_) => watchers.set_item(id, &watcher)?,
        Err(error) if error.is_instance_of::<PyNotImplementedError>(py) => return Ok(None),
        Err(error) => return Err(error),
    }
    Ok(Some(Arc::clone(&watcher.get().0)))
}
