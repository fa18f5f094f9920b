//! Rows as dicts: blocks of cells become dicts while the next blocks are decoded.
//!
//! Each dict is a copy of a template, so that no key is made twice. Equal strings of a column are one object, and so are
//! equal integers.

use std::borrow::Borrow;
use std::hash::BuildHasher as _;
use std::mem;
use std::sync::Arc;
use std::thread;

use arc_swap::ArcSwapOption;
use foldhash::fast::FixedState;
use pyo3::IntoPyObjectExt;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyInt, PyList, PyString};
use tokio::sync::mpsc;

use super::asyncio::spawn_call;
use super::json;
use super::runtime::{block_with, with_gil};
use super::updates::{self, Updates};
use crate::cells::{Block, Cell, Value};
use crate::client::{Client, Delivered, OfAttempt};
use crate::decode::Batch as _;
use crate::scan::{Scan, Stats};

/// Blocks that may wait to become dicts; then no more is read from the socket.
const BLOCKS_AHEAD: usize = 4;
/// Rows of more bytes than this become dicts while an awaited call still receives others.
const LARGE: usize = 1 << 18;
/// How many strings are remembered, of all columns.
const STRINGS: usize = 4_096;
/// How many integers are remembered, of all columns: the last one with each last byte.
const INTEGERS: usize = 1 << 8;
/// Longer strings seldom come again.
const LONGEST: usize = 64;
/// Nothing is remembered of fewer strings of a column, or rows of a block.
const FEW: usize = 64;
/// Strings after which a column is judged by how often its strings came again: at least one of four is worth it.
const ENOUGH: u64 = 1_024;

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
    let updates = Updates(on_progress);
    if wait {
        // The sender is part of the outcome: dropped before it, it would wake this thread too.
        let request = async move { Ok((scan.rows(&client, &sender).await?, sender)) };
        let (last, _sender) = block_with(py, request, blocks, |py, block| {
            if let Some(Delivered { attempt, batch }) = block {
                rows.append(py, attempt, &batch)?;
            }
            updates.take_all(py, &mut progress)
        })?;
        updates.take_all(py, &mut progress)?;
        return (rows.finish(py, last.attempt, last.blocks)?, figures(py, last.stats)?).into_bound_py_any(py);
    }
    let request = async move {
        let mut last = scan.rows(&client, &sender).await?;
        // The thread that makes the results of all calls is not for many rows.
        for batch in mem::take(&mut last.blocks) {
            // Without a receiver, the handler has failed.
            drop(sender.send(Delivered { attempt: last.attempt, batch: Box::new(batch) }).await);
        }
        Ok(last)
    };
    let taking = async move {
        let (mut waiting, mut bytes) = (Vec::new(), 0);
        while let Some(Delivered { attempt, batch }) = blocks.recv().await {
            bytes += batch.bytes();
            waiting.push((attempt, batch));
            if bytes > LARGE {
                let taken = mem::take(&mut waiting);
                rows = with_gil(move |py| rows.append_all(py, taken).map(|()| rows)).await?;
                bytes = 0;
            }
        }
        Ok((rows, waiting))
    };
    let handler = async move { tokio::try_join!(taking, updates.relay(progress)) };
    spawn_call(py, request, handler, move |py, last, ((mut rows, waiting), _)| {
        rows.append_all(py, waiting)?;
        Ok((rows.finish(py, last.attempt, last.blocks)?, figures(py, last.stats)?))
    })
}

/// The rows that have arrived, as dicts.
struct Rows {
    template: Arc<RowTemplate>,
    /// The keys of the last record that were not requested. The next one probably has the same.
    extras: Vec<Py<PyString>>,
    objects: Objects,
    list: OfAttempt<Py<PyList>>,
}

impl Rows {
    /// No rows yet. Each will have these keys first, in this order.
    fn new(py: Python<'_>, attributes: &[String]) -> PyResult<Self> {
        Ok(Self {
            template: RowTemplate::of(py, attributes)?,
            extras: Vec::new(),
            objects: Objects::new(attributes.len()),
            list: OfAttempt::new(PyList::empty(py).unbind()),
        })
    }

    /// All rows, with the last ones, now that the result is complete.
    fn finish(mut self, py: Python<'_>, attempt: u32, last: Vec<Block>) -> PyResult<Py<PyList>> {
        self.append_all(py, last.into_iter().map(|block| (attempt, block)))?;
        Ok(self.list.of_last(attempt, || PyList::empty(py).unbind()))
    }

    /// Appends the records of blocks. Between two, other threads have their turn, such as the one of an event loop.
    fn append_all<B: Borrow<Block>>(
        &mut self,
        py: Python<'_>,
        blocks: impl IntoIterator<Item = (u32, B)>,
    ) -> PyResult<()> {
        for (index, (attempt, block)) in blocks.into_iter().enumerate() {
            if index > 0 {
                py.check_signals()?;
                py.detach(thread::yield_now);
            }
            self.append(py, attempt, block.borrow())?;
        }
        Ok(())
    }

    /// Appends a dict for each record of a block of an attempt.
    fn append(&mut self, py: Python<'_>, attempt: u32, block: &Block) -> PyResult<()> {
        let list = self.list.of(attempt, || PyList::empty(py).unbind()).bind(py);
        let template = self.template.row.bind(py);
        let mut cursor = 0;
        self.objects.remember_integers(block.rows());
        for row in 0..block.rows() {
            let record = template.copy()?;
            for (column, (value, name)) in block.values(row).zip(&self.template.names).enumerate() {
                match value {
                    // As in the template.
                    Value::Cell(Cell::Null) => {}
                    Value::Integer(integer) => record.set_item(name, self.objects.integer(py, integer))?,
                    Value::Cell(Cell::String(text)) => record.set_item(name, self.objects.string(py, column, text))?,
                    Value::Cell(cell) => record.set_item(name, object(py, cell)?)?,
                }
            }
            for (index, (name, nested)) in block.extras(row, &mut cursor).enumerate() {
                let known = self.extras.get(index).filter(|key| key.bind(py).to_str().is_ok_and(|key| key == name));
                let key = known.map_or_else(|| PyString::new(py, name), |key| key.bind(py).clone());
                if known.is_none() {
                    self.extras.truncate(index);
                    self.extras.push(key.clone().unbind());
                }
                record.set_item(key, json::value(py, nested)?)?;
            }
            list.append(record)?;
        }
        Ok(())
    }
}

fn object<'py>(py: Python<'py>, cell: Cell) -> PyResult<Bound<'py, PyAny>> {
    match cell {
        Cell::Null => Ok(py.None().into_bound(py)),
        Cell::Bool(value) => Ok(value.into_pyobject(py)?.to_owned().into_any()),
        Cell::Integer(digits) => json::integer(py, digits),
        Cell::Number(text) => json::number(py, text),
        Cell::String(text) => Ok(PyString::new(py, text).into_any()),
        Cell::Nested(json) => json::value(py, json),
    }
}

/// The template of the last rows. Most searches of a program ask for the same attributes.
static LAST: ArcSwapOption<RowTemplate> = ArcSwapOption::const_empty();

/// What all rows of the same attributes share.
struct RowTemplate {
    attributes: Vec<String>,
    names: Vec<Py<PyString>>,
    /// A row without values. It is copied, never changed.
    row: Py<PyDict>,
}

impl RowTemplate {
    /// The one of these attributes, in this order.
    fn of(py: Python<'_>, attributes: &[String]) -> PyResult<Arc<Self>> {
        if let Some(last) = LAST.load_full().filter(|last| last.attributes == attributes) {
            return Ok(last);
        }
        let names: Vec<_> = attributes.iter().map(|name| PyString::intern(py, name).unbind()).collect();
        let row = PyDict::new(py);
        for name in &names {
            row.set_item(name, py.None())?;
        }
        let template = Arc::new(Self { attributes: attributes.to_vec(), names, row: row.unbind() });
        LAST.store(Some(Arc::clone(&template)));
        Ok(template)
    }
}

/// Objects of values that may come again: for each remainder of a hash the last string with it, and for each last byte
/// the last integer.
struct Objects {
    strings: Vec<Option<(Box<str>, Py<PyString>)>>,
    columns: Vec<Column>,
    integers: Vec<Option<(i32, Py<PyInt>)>>,
}

/// The strings of a column.
#[derive(Clone, Default)]
struct Column {
    strings: u64,
    /// How many of them were remembered.
    repeated: u64,
}

impl Objects {
    fn new(columns: usize) -> Self {
        Self { strings: Vec::new(), columns: vec![Column::default(); columns], integers: Vec::new() }
    }

    /// Remembers integers too, from the first block with enough rows on.
    fn remember_integers(&mut self, rows: usize) {
        if rows > FEW && self.integers.is_empty() {
            self.integers.resize_with(INTEGERS, || None);
        }
    }

    fn integer<'py>(&mut self, py: Python<'py>, value: i32) -> Bound<'py, PyInt> {
        let [last, ..] = value.to_le_bytes();
        let Some(slot) = self.integers.get_mut(usize::from(last)) else { return PyInt::new(py, value) };
        match slot {
            Some((known, object)) if *known == value => object.bind(py).clone(),
            _ => slot.insert((value, PyInt::new(py, value).unbind())).1.bind(py).clone(),
        }
    }

    /// The object of a string of this column.
    fn string<'py>(&mut self, py: Python<'py>, column: usize, text: &str) -> Bound<'py, PyString> {
        let Some(column) = self.columns.get_mut(column).filter(|_| text.len() <= LONGEST) else {
            return PyString::new(py, text);
        };
        if column.count() { remembered(py, &mut self.strings, column, text) } else { PyString::new(py, text) }
    }
}

impl Column {
    /// Counts a string. Returns whether to remember it.
    #[inline]
    fn count(&mut self) -> bool {
        if self.strings >= ENOUGH && self.repeated * 4 < self.strings {
            return false;
        }
        self.strings += 1;
        self.strings > FEW as u64
    }
}

fn remembered<'py>(
    py: Python<'py>,
    slots: &mut Vec<Option<(Box<str>, Py<PyString>)>>,
    column: &mut Column,
    text: &str,
) -> Bound<'py, PyString> {
    if slots.is_empty() {
        slots.resize_with(STRINGS, || None);
    }
    let [low, high, ..] = FixedState::default().hash_one(text).to_le_bytes();
    let slot = slots.get_mut(usize::from(u16::from_le_bytes([low, high])) % STRINGS);
    if let Some(Some((known, object))) = &slot
        && **known == *text
    {
        column.repeated += 1;
        return object.bind(py).clone();
    }
    let object = PyString::new(py, text);
    if let Some(slot) = slot {
        *slot = Some((text.into(), object.clone().unbind()));
    }
    object
}
