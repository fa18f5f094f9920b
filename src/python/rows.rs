//! A whole answer as dicts: a template copied for each record, its keys shared by all.
//!
//! Blocks of cells become dicts while the next are decoded.

use std::sync::Arc;

use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyString};
use pythonize::pythonize;
use tokio::sync::mpsc;

use super::{bridge, json};
use crate::cells::{Block, Cell};
use crate::client::{Client, Event};
use crate::scan::{LastStats, Scan, Stats};

/// Blocks of rows that may wait to become dicts; then the socket waits.
const BLOCKS_AHEAD: usize = 4;

/// Rows, and their figures as a dict.
pub(super) type RowsAndStats = (Py<PyList>, Py<PyAny>);

/// The rows of a scan, waited for.
pub(super) fn block(py: Python<'_>, client: Arc<Client>, scan: Scan, last_stats: &LastStats) -> PyResult<RowsAndStats> {
    let mut rows = Rows::new(py, scan.attributes())?;
    let (sender, events) = mpsc::channel(BLOCKS_AHEAD);
    let asking = async move { scan.rows(&client, sender).await };
    let stats = bridge::block(py, asking, events, |py, event| rows.take(py, event))?;
    rows.found(py, stats, last_stats)
}

/// The rows of a scan, awaited.
pub(super) fn spawn(
    py: Python<'_>,
    client: Arc<Client>,
    scan: Scan,
    last_stats: LastStats,
) -> PyResult<Bound<'_, PyAny>> {
    let mut rows = Rows::new(py, scan.attributes())?;
    let (sender, mut events) = mpsc::channel(BLOCKS_AHEAD);
    bridge::spawn(py, async move {
        let asking = async { bridge::raise_in_python(scan.rows(&client, sender).await).await };
        let taking = async {
            while let Some(event) = events.recv().await {
                rows = bridge::with_gil(move |py| rows.take(py, event).map(|()| rows)).await?;
            }
            Ok(rows)
        };
        let (stats, rows) = tokio::try_join!(asking, taking)?;
        bridge::with_gil(move |py| rows.found(py, stats, &last_stats)).await
    })
}

/// The rows of a search, as far as they have come.
struct Rows {
    names: Vec<Py<PyString>>,
    template: Py<PyDict>,
    list: Py<PyList>,
}

impl Rows {
    /// No rows yet; each will have these keys in this order.
    fn new(py: Python<'_>, attributes: &[String]) -> PyResult<Self> {
        let names: Vec<_> = attributes.iter().map(|name| PyString::intern(py, name).unbind()).collect();
        let template = PyDict::new(py);
        for name in &names {
            template.set_item(name, py.None())?;
        }
        Ok(Self { names, template: template.unbind(), list: PyList::empty(py).unbind() })
    }

    /// The rows with their figures, now that the answer has ended well.
    fn found(self, py: Python<'_>, stats: Stats, last_stats: &LastStats) -> PyResult<RowsAndStats> {
        let stats = Arc::new(stats);
        let told = pythonize(py, stats.as_ref())?.unbind();
        last_stats.store(Some(stats));
        Ok((self.list, told))
    }

    /// Takes what a search tells.
    fn take(&mut self, py: Python<'_>, event: Event<Block>) -> PyResult<()> {
        match event {
            Event::Batch(block) => self.append(py, &block),
            Event::Restart => {
                self.list = PyList::empty(py).unbind();
                Ok(())
            }
        }
    }

    fn append(&self, py: Python<'_>, block: &Block) -> PyResult<()> {
        let list = self.list.bind(py);
        let template = self.template.bind(py);
        let mut extras = 0;
        for row in 0..block.rows() {
            let record = template.copy()?;
            for (cell, name) in block.row(row).zip(&self.names) {
                if cell != Cell::Null {
                    record.set_item(name, value(py, cell)?)?;
                }
            }
            for (name, nested) in block.extras(row, &mut extras) {
                record.set_item(name, json::value(py, nested)?)?;
            }
            list.append(record)?;
        }
        Ok(())
    }
}

fn value<'py>(py: Python<'py>, cell: Cell) -> PyResult<Bound<'py, PyAny>> {
    match cell {
        Cell::Null => Ok(py.None().into_bound(py)),
        Cell::Bool(value) => Ok(value.into_pyobject(py)?.to_owned().into_any()),
        Cell::Integer(digits) => json::integer(py, digits),
        Cell::Number(text) => json::number(py, text),
        Cell::String(text) => Ok(PyString::new(py, text).into_any()),
        Cell::Nested(json) => json::value(py, json),
    }
}
