//! A scan for Python: opened as a stream, collected as a table or rows, written to files, or exported as a capsule.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant, SystemTime};

use arc_swap::ArcSwapOption;
use arrow_schema::SchemaRef;
use pyo3::prelude::*;
use pyo3::types::{IntoPyDict, PyCFunction, PyCapsule, PyDict};
use pythonize::{depythonize, pythonize};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use super::client::RawClient;
use super::interrupt::Interrupt;
use super::raise::raise;
use super::runs::{RunArguments, Storage, location, raw_report};
use super::stream::RawStream;
use super::table::RawTable;
use super::updates::Events;
use super::{capsule, rows, runtime, updates};
use crate::client::Headers;
use crate::columns::Options;
use crate::error::{Result, defect};
use crate::files::{Complete, RowMemory};
use crate::scan::{Collected, Format, LastStats, Scan, Stats};
use crate::time::Zone;

/// The batches of streams without a batch size. Small enough for the cache of a processor core, and for memory that is
/// used again.
const BATCHES: Options = Options { views: false, max_rows: 8_192, max_bytes: 2 << 20, widen: false };
/// Batches of collected results, and of streams whose first batch shows the types.
const LARGE_BATCHES: Options = Options { views: false, max_rows: 65_536, max_bytes: 8 << 20, widen: false };

/// How long the stream of a schema is kept; a service does not hold a response for ever.
const PATIENCE: Duration = Duration::from_secs(20);
/// In which polars raises `KeyboardInterrupt` by itself, where its signal handler was not replaced.
const GRACE: Duration = Duration::from_millis(500);

/// The figures of a use of a scan as a dict.
pub(super) fn figures<'py>(py: Python<'py>, stats: &Stats) -> PyResult<Bound<'py, PyAny>> {
    let figures = pythonize(py, stats)?;
    figures.set_item("response_headers", RawHeaders(stats.headers.clone()))?;
    Ok(figures)
}

/// Makes the dict of headers of a response once it is asked for: secrets are looked for in each.
#[pyclass(frozen)]
struct RawHeaders(Option<Headers>);

#[pymethods]
impl RawHeaders {
    fn __call__(&self) -> BTreeMap<String, String> {
        self.0.as_ref().map(Headers::shown).unwrap_or_default()
    }
}

/// Makes a dict of the figures of a use of a scan, and keeps them as its last ones.
fn used(last_stats: &LastStats) -> impl FnOnce(Python<'_>, Stats) -> PyResult<Py<PyAny>> + use<> {
    let last_stats = Arc::clone(last_stats);
    move |py, stats| {
        let figures = figures(py, &stats)?.unbind();
        last_stats.store(Some(Arc::new(stats)));
        Ok(figures)
    }
}

/// A scan of one client. It holds no rows.
#[pyclass(frozen, module = "dataaccess._native")]
pub(super) struct RawScan {
    client: Py<RawClient>,
    scan: Scan,
    last_stats: LastStats,
    /// From the export of the schema to the export of the stream.
    preview: ArcSwapOption<SchemaPreview>,
}

impl RawScan {
    pub(super) fn new(client: Py<RawClient>, scan: Scan) -> Self {
        Self { client, scan, last_stats: LastStats::default(), preview: ArcSwapOption::empty() }
    }

    /// Another scan of this client, which reports the figures of its uses here.
    fn with(&self, py: Python<'_>, scan: Scan) -> Self {
        Self { last_stats: Arc::clone(&self.last_stats), ..Self::new(self.client.clone_ref(py), scan) }
    }

    /// Collects rows, and keeps their figures as the last ones.
    fn collected<'py>(
        &self,
        py: Python<'py>,
        wait: bool,
        collecting: impl Future<Output = Result<Collected>> + Send + 'static,
        events: Events,
        on_progress: Option<Py<PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let last_stats = Arc::clone(&self.last_stats);
        updates::call(py, wait, collecting, events, on_progress, move |_, collected| {
            last_stats.store(Some(Arc::clone(&collected.stats)));
            Ok(RawTable::new(collected))
        })
    }

    /// How long the client retries; None of one that is closed.
    fn retry_for(&self, py: Python<'_>) -> Option<Duration> {
        self.client.get().core(py).ok().map(|core| core.retry_for())
    }

    /// Opens a stream and sends its first requests.
    fn begin(&self, py: Python<'_>, scan: &Scan, options: Options, interrupt: Interrupt) -> PyResult<RawStream> {
        let core = self.client.get().core(py)?;
        let (scan, last_stats) = (scan.clone(), Arc::clone(&self.last_stats));
        let stream = || scan.stream(&core, options, last_stats);
        let (stream, records) = runtime::start(py, stream)?;
        Ok(RawStream::new(stream, records, interrupt))
    }

    /// Opens a stream and waits for its first batch. Returns the schema too.
    fn begun(&self, py: Python<'_>, scan: &Scan, interrupt: Interrupt) -> PyResult<(RawStream, SchemaRef)> {
        let options = if scan.schema(false).is_some() { BATCHES } else { LARGE_BATCHES };
        let stream = self.begin(py, scan, options, interrupt)?;
        let schema = stream.schema(py)?;
        Ok((stream, schema))
    }
}

#[pymethods]
impl RawScan {
    #[getter]
    fn requests(&self) -> usize {
        self.scan.requests()
    }

    /// The time at which it was made, in Unix milliseconds.
    #[getter]
    fn now(&self) -> i64 {
        self.scan.now()
    }

    fn body<'py>(&self, py: Python<'py>, index: usize) -> PyResult<Bound<'py, PyAny>> {
        Ok(pythonize(py, &self.scan.body(index))?)
    }

    /// The day that a request is for; None if it is for no single day.
    fn day(&self, index: usize) -> Option<String> {
        self.scan.day(index)
    }

    /// Whether the request of a task explains a number of rows: it asks for as many values.
    fn explains(&self, rows: u64) -> bool {
        self.scan.explains(rows)
    }

    /// What looks wrong in each of some responses of a larger scan: their names and figures, in the order of the plan.
    fn doubts_of_some<'py>(
        &self,
        py: Python<'py>,
        requests: usize,
        responses: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyAny>> {
        Ok(pythonize(py, &self.scan.doubts_of_some(requests, depythonize(responses)?))?)
    }

    /// The days that are not over by the clock of this machine, or were over for less than `settle` seconds.
    fn open_days(&self, settle: f64) -> Vec<String> {
        let settle = Duration::try_from_secs_f64(settle).unwrap_or(Duration::MAX);
        self.scan.open_days(SystemTime::now(), settle)
    }

    /// A request as a scan of its own, and its task id.
    fn task(&self, py: Python<'_>, index: usize) -> PyResult<(Self, String)> {
        let id = self.scan.task_id(index).map_err(|error| raise(py, error))?;
        Ok((Self::new(self.client.clone_ref(py), self.scan.task(index)), id))
    }

    /// The same scan whose results have times in a zone, or as the service wrote them. It reports the figures of its uses
    /// here.
    fn in_zone(&self, py: Python<'_>, zone: Option<&str>) -> PyResult<Self> {
        let zone = zone.map(Zone::try_new).transpose().map_err(|error| raise(py, error))?;
        Ok(self.with(py, self.scan.in_zone(zone.as_ref())))
    }

    /// The same scan with the zone of results of another one. It shares inferred types with it, and reports the figures of
    /// its uses there.
    fn for_use_of(&self, py: Python<'_>, other: &Self) -> Self {
        other.with(py, self.scan.in_zone(other.scan.result_zone()).assuming(&other.scan))
    }

    /// The IANA name of the zone of times in records.
    #[getter]
    fn source_zone(&self) -> &str {
        self.scan.source_zone().name()
    }

    /// The IANA name of the zone of times in results; None if they stay as the service wrote them.
    #[getter]
    fn result_zone(&self) -> Option<&str> {
        self.scan.result_zone().map(Zone::name)
    }

    /// The types of the columns in words.
    #[getter]
    fn types<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        self.scan.attributes().iter().zip(self.scan.types()).into_py_dict(py)
    }

    /// The figures of the last complete use.
    #[getter]
    fn stats<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        self.last_stats.load_full().map(|stats| figures(py, &stats)).transpose()
    }

    /// Opens a stream of batches. With `ends_at_interrupt`, Ctrl-C ends it in every thread.
    fn open(&self, py: Python<'_>, max_rows: usize, max_bytes: usize, ends_at_interrupt: bool) -> PyResult<RawStream> {
        let interrupt = Interrupt::new(ends_at_interrupt, GRACE);
        self.begin(py, &self.scan, Options { max_rows, max_bytes, ..BATCHES }, interrupt)
    }

    /// Collects the rows in columns.
    fn collect<'py>(
        &self,
        py: Python<'py>,
        limit: Option<u64>,
        views: bool,
        on_progress: Option<Py<PyAny>>,
        wait: bool,
    ) -> PyResult<Bound<'py, PyAny>> {
        let core = self.client.get().core(py)?;
        let (scan, events) = updates::reporting(self.scan.limited(limit), on_progress.as_ref());
        let options = Options { views, widen: true, ..LARGE_BATCHES };
        let collecting = async move { scan.collect(&core, options).await };
        self.collected(py, wait, collecting, events, on_progress)
    }

    /// Collects the rows as dicts. Returns them with their figures.
    fn rows<'py>(&self, py: Python<'py>, on_progress: Option<Py<PyAny>>, wait: bool) -> PyResult<Bound<'py, PyAny>> {
        let core = self.client.get().core(py)?;
        rows::call(py, wait, core, self.scan.clone(), on_progress, used(&self.last_stats))
    }

    /// Writes the rows to a file of a format, which is a dict. Returns their figures, and the file, which appears when
    /// it is published.
    fn write<'py>(
        &self,
        py: Python<'py>,
        path: PathBuf,
        format: &Bound<'py, PyAny>,
        storage_options: Storage,
        on_progress: Option<Py<PyAny>>,
        wait: bool,
    ) -> PyResult<Bound<'py, PyAny>> {
        let location = location(py, path, storage_options, self.retry_for(py))?;
        let core = self.client.get().core(py)?;
        let (scan, events) = updates::reporting(self.scan.clone(), on_progress.as_ref());
        let format: Format = depythonize(format)?;
        let writing = async move { scan.write(&core, &location, format).await };
        let used = used(&self.last_stats);
        updates::call(py, wait, writing, events, on_progress, |py, (stats, complete)| {
            Ok((used(py, stats)?, RawUnpublished(Mutex::new(Some(complete)))))
        })
    }

    /// Runs the unfinished tasks into parts of a folder.
    fn run<'py>(
        &self,
        py: Python<'py>,
        options: RunArguments<'_>,
        on_progress: Py<PyAny>,
        wait: bool,
    ) -> PyResult<Bound<'py, PyAny>> {
        let options = options.options(py, self.retry_for(py))?;
        let (core, scan) = (self.client.get().core(py)?, self.scan.clone());
        let (sender, events) = mpsc::channel(scan.requests() + 2);
        let run = async move { scan.run(&core, &options, sender).await };
        updates::call(py, wait, run, Some(events), Some(on_progress), raw_report)
    }

    /// Reads the rows that a folder has of this scan.
    fn read<'py>(
        &self,
        py: Python<'py>,
        folder: PathBuf,
        ignore_missing: bool,
        storage_options: Storage,
        wait: bool,
    ) -> PyResult<Bound<'py, PyAny>> {
        let folder = location(py, folder, storage_options, self.retry_for(py))?;
        // A folder can be read without a token, and after the client was closed.
        let (scan, memory) = (self.scan.clone(), RowMemory::new(self.client.get().max_result_bytes()));
        let reading = async move { scan.read(&folder, ignore_missing, &memory).await };
        self.collected(py, wait, reading, None, None)
    }

    /// Exports the schema. If it must be inferred, opens the stream and keeps it for `stream_capsule`.
    fn schema_capsule<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        if let Some(schema) = self.scan.schema(false) {
            return capsule::of_schema(py, &schema);
        }
        if let Some(preview) = self.preview.load_full().filter(|preview| preview.is_open()) {
            return capsule::of_schema(py, &preview.schema);
        }
        let (stream, schema) = self.begun(py, &self.scan, Interrupt::default())?;
        self.preview.store(Some(SchemaPreview::new(stream, SchemaRef::clone(&schema))));
        capsule::of_schema(py, &schema)
    }

    /// Exports the stream that the last export of the schema opened, or a new one. With `ends_at_interrupt`, Ctrl-C ends
    /// it in every thread.
    fn stream_capsule<'py>(&self, py: Python<'py>, ends_at_interrupt: bool) -> PyResult<Bound<'py, PyCapsule>> {
        let interrupt = Interrupt::new(ends_at_interrupt, Duration::ZERO);
        let (stream, schema) = match self.preview.swap(None) {
            None => self.begun(py, &self.scan, interrupt)?,
            Some(preview) if preview.is_open() => {
                (preview.stream.ending_at(interrupt), SchemaRef::clone(&preview.schema))
            }
            Some(preview) => {
                // The stream was closed, but a new one has to match the schema that was exported.
                let scan = self.scan.frozen(&preview.schema).map_err(|error| raise(py, error))?;
                self.begun(py, &scan, interrupt)?
            }
        };
        stream.capsule(py, &schema)
    }
}

/// A schema that was exported, and the stream that was opened to infer it: the export of the stream takes it, so both need
/// one request.
struct SchemaPreview {
    stream: RawStream,
    schema: SchemaRef,
    since: Instant,
}

impl SchemaPreview {
    fn new(stream: RawStream, schema: SchemaRef) -> Arc<Self> {
        let preview = Arc::new(Self { stream, schema, since: Instant::now() });
        let unused = Arc::downgrade(&preview);
        // Some time after it can still be taken, so that it is never closed just after that.
        runtime::spawn_detached(async move {
            tokio::time::sleep(PATIENCE + PATIENCE / 4).await;
            if let Some(preview) = unused.upgrade() {
                preview.stream.close();
            }
        });
        preview
    }

    /// Whether the stream can be taken: it was not kept for too long, and belongs to this process.
    fn is_open(&self) -> bool {
        self.since.elapsed() < PATIENCE && self.stream.is_of_this_process()
    }
}

/// A complete file. Dropped, it leaves nothing.
#[pyclass(frozen, module = "dataaccess._native")]
pub(super) struct RawUnpublished(Mutex<Option<Complete>>);

#[pymethods]
impl RawUnpublished {
    /// Moves the file to its path, or uploads it, and returns its size. After Ctrl-C, or once the future was cancelled, it
    /// does not appear.
    fn publish<'py>(&self, py: Python<'py>, wait: bool) -> PyResult<Bound<'py, PyAny>> {
        let complete = self.0.lock().unwrap_or_else(PoisonError::into_inner).take();
        let complete = complete.ok_or_else(|| raise(py, defect("the file was published already")))?;
        let abandoned = CancellationToken::new();
        let complete = complete.unless(&abandoned);
        let abandon = abandoned.clone().drop_guard();
        let publishing = async move { complete.publish().await.map(|published| published.bytes) };
        let published = runtime::call(py, wait, publishing, |_, bytes| Ok(bytes))?;
        if !wait {
            abandon.disarm();
            let cancel = PyCFunction::new_closure(py, None, None, move |_, _| abandoned.cancel())?;
            published.call_method1("add_done_callback", (cancel,))?;
        }
        Ok(published)
    }

    fn discard(&self) {
        drop(self.0.lock().unwrap_or_else(PoisonError::into_inner).take());
    }
}
