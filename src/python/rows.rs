//! Rows as dicts: blocks of cells become dicts while the next blocks are decoded.

use std::mem;
use std::sync::Arc;
use std::thread;

use pyo3::IntoPyObjectExt;
use pyo3::prelude::*;
use pyo3::types::PyList;
use tokio::sync::mpsc;

use super::asyncio::spawn_call;
use super::record_dicts::RecordDicts;
use super::runtime::{block_with, with_gil};
use super::updates::{self, Updates};
use crate::cells::Block;
use crate::client::{Client, Delivered, OfAttempt};
use crate::decode::Batch as _;
use crate::scan::{LastRows, Scan, Stats};

/// Blocks that may wait to become dicts; then no more is read from the socket.
const BLOCKS_AHEAD: usize = 4;
/// Rows of more bytes than this become dicts while an awaited call still receives others.
const LARGE: usize = 1 << 18;

/// The rows of a scan, and what `figures` makes of its figures.
pub(super) fn call(
    py: Python<'_>,
    wait: bool,
    client: Arc<Client>,
    scan: Scan,
    on_progress: Option<Py<PyAny>>,
    figures: impl FnOnce(Python<'_>, Stats) -> PyResult<Py<PyAny>> + Send + 'static,
) -> PyResult<Bound<'_, PyAny>> {
    let mut rows = Rows::new(py, scan.attributes())?;
    let (sender, mut blocks) = mpsc::channel(BLOCKS_AHEAD);
    let (scan, mut progress) = updates::reporting(scan, on_progress.as_ref());
    let mut updates = Updates::new(on_progress);
    if wait {
        // The sender is part of the outcome: dropped before it, it would wake this thread too.
        let request = async move { Ok((scan.rows(&client, &sender).await?, sender)) };
        let (last, _sender) = block_with(py, request, blocks, |py, block| {
            rows.take(py, block)?;
            updates.take_all(py, &mut progress)
        })?;
        updates.take_all(py, &mut progress)?;
        return (rows.finish(py, &last)?, figures(py, last.stats)?).into_bound_py_any(py);
    }
    let request = async move {
        let mut last = scan.rows(&client, &sender).await?;
        for batch in mem::take(&mut last.blocks) {
            // Without a receiver, the handler has failed.
            drop(sender.send(Delivered { attempt: last.attempt, batch }.boxed()).await);
        }
        Ok(last)
    };
    let taking = async move {
        let (mut waiting, mut bytes) = (Vec::new(), 0);
        while let Some(block) = blocks.recv().await {
            bytes += block.batch.bytes();
            waiting.push(block);
            if bytes > LARGE {
                let taken = mem::take(&mut waiting);
                rows = with_gil(move |py| rows.take_all(py, taken).map(|()| rows)).await?;
                bytes = 0;
            }
        }
        Ok((rows, waiting))
    };
    let handler = async move { tokio::try_join!(taking, updates.relay(progress)) };
    spawn_call(py, request, handler, move |py, last, ((mut rows, waiting), _)| {
        rows.take_all(py, waiting)?;
        Ok((rows.finish(py, &last)?, figures(py, last.stats)?))
    })
}

/// The rows that have arrived.
struct Rows {
    dicts: RecordDicts,
    list: OfAttempt<Py<PyList>>,
}

impl Rows {
    /// No rows yet. Each will have these keys in this order.
    fn new(py: Python<'_>, attributes: &[String]) -> PyResult<Self> {
        Ok(Self { dicts: RecordDicts::new(py, attributes)?, list: OfAttempt::new(PyList::empty(py).unbind()) })
    }

    /// All rows, with the last ones, now that the result is complete.
    fn finish(mut self, py: Python<'_>, rows: &LastRows) -> PyResult<Py<PyList>> {
        let list = self.list.of_last(rows.attempt, || PyList::empty(py).unbind());
        for block in &rows.blocks {
            self.dicts.append(block, list.bind(py))?;
            py.check_signals()?;
        }
        Ok(list)
    }

    fn take(&mut self, py: Python<'_>, block: Option<Delivered<Box<Block>>>) -> PyResult<()> {
        let Some(Delivered { attempt, batch }) = block else { return Ok(()) };
        self.dicts.append(&batch, self.list.of(attempt, || PyList::empty(py).unbind()).bind(py))
    }

    /// Takes blocks on a thread of ours, which gives the interpreter away between two of them.
    fn take_all(&mut self, py: Python<'_>, blocks: Vec<Delivered<Box<Block>>>) -> PyResult<()> {
        for (index, block) in blocks.into_iter().enumerate() {
            if index > 0 {
                py.detach(thread::yield_now);
            }
            self.take(py, Some(block))?;
        }
        Ok(())
    }
}
