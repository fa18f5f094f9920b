//! A scan for Python: opened as a stream, collected as a table or rows, written to files, or exported as a capsule.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use arc_swap::ArcSwapOption;
use arrow_schema::SchemaRef;
use pyo3::prelude::*;
use pyo3::types::PyCapsule;
use pythonize::{depythonize, pythonize};

use super::client::RawClient;
use super::interrupt::Interrupt;
use super::raise::raise;
use super::rows::{self, RowsAndStats};
use super::runs::{RawReport, RunArguments, Storage, location, raw_report};
use super::scan_futures::RawFormat;
use super::schema_preview::SchemaPreview;
use super::stream::{Opened, Pulled, RawStream};
use super::table::RawTable;
use super::unpublished::RawUnpublished;
use super::updates::Updates;
use super::{bridge, capsule};
use crate::columns::Options;
use crate::scan::{LastStats, Scan};
use crate::time::Zone;

/// The batches of streams without a batch size. Small enough for the cache of a processor core, and for memory that is
/// used again.
const BATCHES: Options = Options { views: false, max_rows: 8_192, max_bytes: 2 << 20, widen: false };
/// Batches of collected results, and of streams whose first batch shows the types.
pub(super) const LARGE_BATCHES: Options = Options { views: false, max_rows: 65_536, max_bytes: 8 << 20, widen: false };

/// In which polars raises `KeyboardInterrupt` by itself, where its signal handler was not replaced.
const GRACE: Duration = Duration::from_millis(500);
/// Time-out of a token callable while another library pulls the rows, as it may hold the GIL that the callable needs.
const TOKEN_WAIT: Duration = Duration::from_secs(5);
const TOKEN_HINT: &str = "another library pulls the rows and may hold the GIL, which the token callable needs; \
    use to_arrow() instead, or a token that lives longer";

/// A scan of one client. It holds no rows.
#[pyclass(frozen, module = "dataaccess._native")]
pub(super) struct RawScan {
    pub(super) client: Py<RawClient>,
    pub(super) scan: Scan,
    pub(super) last_stats: LastStats,
    /// From the export of the schema to the export of the stream.
    preview: ArcSwapOption<SchemaPreview>,
}

impl RawScan {
    pub(super) fn new(client: Py<RawClient>, scan: Scan) -> Self {
        Self { client, scan, last_stats: LastStats::default(), preview: ArcSwapOption::empty() }
    }

    /// Opens a stream and sends its first requests.
    fn begin(&self, py: Python<'_>, scan: &Scan, options: Options) -> PyResult<Opened> {
        let core = self.client.get().core(py)?;
        let (scan, last_stats) = (scan.clone(), Arc::clone(&self.last_stats));
        let stream = || scan.stream(&core, options, last_stats);
        let (stream, records) = bridge::start(py, stream)?;
        Ok(Opened::new(stream, records))
    }

    /// Opens a stream and waits for its first batch. Returns the schema too.
    fn begun(&self, py: Python<'_>, scan: &Scan, interrupt: &Interrupt) -> PyResult<(Opened, SchemaRef)> {
        let options = if scan.schema(false).is_some() { BATCHES } else { LARGE_BATCHES };
        let opened = self.begin(py, scan, options)?;
        opened.wait_for(py, Duration::MAX, interrupt)?;
        let schema = opened.get().and_then(|open| open.stream.schema()).map_err(|error| raise(py, error))?;
        Ok((opened, schema))
    }
}

#[pymethods]
impl RawScan {
    /// The number of requests.
    #[getter]
    fn requests(&self) -> usize {
        self.scan.requests()
    }

    /// The time at which it was made, in Unix milliseconds.
    #[getter]
    fn now(&self) -> i64 {
        self.scan.now()
    }

    /// The body of a request.
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
        let last_stats = Arc::clone(&self.last_stats);
        Ok(Self { last_stats, ..Self::new(self.client.clone_ref(py), self.scan.in_zone(zone.as_ref())) })
    }

    /// The same scan with the zone of results of another one, with which it shares inferred types, and which reports the figures of its uses there.
    fn for_use_of(&self, py: Python<'_>, other: &Self) -> Self {
        let scan = self.scan.in_zone(other.scan.result_zone()).assuming(&other.scan);
        Self { last_stats: Arc::clone(&other.last_stats), ..Self::new(self.client.clone_ref(py), scan) }
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

    #[getter]
    fn column_names(&self) -> Vec<String> {
        self.scan.attributes().to_vec()
    }

    /// The types of the columns in words.
    #[getter]
    fn types(&self) -> Vec<&'static str> {
        self.scan.types().collect()
    }

    /// The query of the folder of a run: everything but its days, with digests of what may be personal.
    #[getter]
    fn query<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        Ok(pythonize(py, &self.scan.folder_query())?)
    }

    /// The figures of the last complete use.
    #[getter]
    fn stats<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        Ok(self.last_stats.load_full().map(|stats| pythonize(py, stats.as_ref())).transpose()?)
    }

    /// Opens a stream of batches. With `ends_at_interrupt`, Ctrl-C ends it in every thread.
    #[pyo3(signature = (max_rows, max_bytes, ends_at_interrupt=false))]
    fn open(&self, py: Python<'_>, max_rows: usize, max_bytes: usize, ends_at_interrupt: bool) -> PyResult<RawStream> {
        let interrupt = Interrupt::new(ends_at_interrupt).after(GRACE);
        let opened = self.begin(py, &self.scan, Options { max_rows, max_bytes, ..BATCHES })?;
        Ok(RawStream::new(opened, interrupt))
    }

    /// Collects the rows in columns.
    fn collect(
        &self,
        py: Python<'_>,
        limit: Option<u64>,
        views: bool,
        on_progress: Option<Py<PyAny>>,
    ) -> PyResult<RawTable> {
        let (collecting, events) = self.collecting(py, limit, views, on_progress.is_some())?;
        let mut updates = Updates::new(on_progress);
        bridge::block_with(py, collecting, events, |py, progress| updates.take(py, progress.as_ref()))
            .map(RawTable::new)
    }

    /// As `collect`, awaited.
    fn collect_async<'py>(
        &self,
        py: Python<'py>,
        limit: Option<u64>,
        views: bool,
        on_progress: Option<Py<PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let (collecting, events) = self.collecting(py, limit, views, on_progress.is_some())?;
        let updates = Updates::in_running_loop(py, on_progress)?;
        let table = |_: Python<'_>, collected, _| Ok(RawTable::new(collected));
        bridge::spawn_call(py, collecting, updates.relay(events), table)
    }

    /// Collects the rows as dicts. Returns them with their figures.
    fn rows(&self, py: Python<'_>, on_progress: Option<Py<PyAny>>) -> PyResult<RowsAndStats> {
        let figures = rows::figures_of_scan(&self.last_stats);
        rows::block(py, self.client.get().core(py)?, self.scan.clone(), on_progress, figures)
    }

    /// As `rows`, awaited.
    fn rows_async<'py>(&self, py: Python<'py>, on_progress: Option<Py<PyAny>>) -> PyResult<Bound<'py, PyAny>> {
        let figures = rows::figures_of_scan(&self.last_stats);
        rows::spawn(py, self.client.get().core(py)?, self.scan.clone(), on_progress, figures)
    }

    /// Writes the rows to a file of a format: see [`RawFormat`]. Returns their figures, and the file, which appears when
    /// it is published.
    fn write(
        &self,
        py: Python<'_>,
        path: PathBuf,
        format: RawFormat,
        on_progress: Option<Py<PyAny>>,
        storage_options: Storage,
    ) -> PyResult<(Py<PyAny>, RawUnpublished)> {
        let location = location(py, path, storage_options, self.retry_for(py))?;
        let (writing, events) = self.writing(py, location, format, on_progress.is_some())?;
        let mut updates = Updates::new(on_progress);
        self.written(py, bridge::block_with(py, writing, events, |py, progress| updates.take(py, progress.as_ref()))?)
    }

    /// As `write`, awaited.
    fn write_async(
        slf: Bound<'_, Self>,
        path: PathBuf,
        format: RawFormat,
        on_progress: Option<Py<PyAny>>,
        storage_options: Storage,
    ) -> PyResult<Bound<'_, PyAny>> {
        let py = slf.py();
        let location = location(py, path, storage_options, slf.get().retry_for(py))?;
        let (writing, events) = slf.get().writing(py, location, format, on_progress.is_some())?;
        let updates = Updates::in_running_loop(py, on_progress)?;
        let scan = slf.unbind();
        let written = move |py: Python<'_>, written, _| scan.get().written(py, written);
        bridge::spawn_call(py, writing, updates.relay(events), written)
    }

    /// Runs the unfinished tasks into parts of a folder.
    fn run(&self, py: Python<'_>, options: RunArguments<'_>, on_progress: Py<PyAny>) -> PyResult<RawReport> {
        let (run, events) = self.running(py, options.options(py, self.retry_for(py))?)?;
        let mut updates = Updates::new(Some(on_progress));
        let report = bridge::block_with(py, run, events, |py, progress| updates.take(py, progress.as_ref()))?;
        raw_report(py, report)
    }

    /// As `run`, awaited. `on_progress` is called in the loop's thread.
    fn run_async<'py>(
        &self,
        py: Python<'py>,
        options: RunArguments<'_>,
        on_progress: Py<PyAny>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let (run, events) = self.running(py, options.options(py, self.retry_for(py))?)?;
        let updates = Updates::in_running_loop(py, Some(on_progress))?;
        bridge::spawn_call(py, run, updates.relay(events), |py, report, _| raw_report(py, report))
    }

    /// Reads the rows that a folder has of this scan.
    fn read(
        &self,
        py: Python<'_>,
        folder: PathBuf,
        ignore_missing: bool,
        storage_options: Storage,
    ) -> PyResult<RawTable> {
        let folder = location(py, folder, storage_options, self.retry_for(py))?;
        bridge::block(py, self.reading(folder, ignore_missing)).map(RawTable::new)
    }

    /// As `read`, awaited.
    fn read_async<'py>(
        &self,
        py: Python<'py>,
        folder: PathBuf,
        ignore_missing: bool,
        storage_options: Storage,
    ) -> PyResult<Bound<'py, PyAny>> {
        let reading = self.reading(location(py, folder, storage_options, self.retry_for(py))?, ignore_missing);
        bridge::spawn(py, reading, |_, collected| Ok(RawTable::new(collected)))
    }

    /// Exports the schema. If it must be inferred, opens the stream and keeps it for `stream_capsule`.
    fn schema_capsule<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        if let Some(schema) = self.scan.schema(false) {
            return capsule::of_schema(py, &schema);
        }
        let open = self.preview.load_full().filter(|preview| preview.stream().is_some());
        let preview = if let Some(preview) = open {
            preview
        } else {
            let (opened, schema) = self.begun(py, &self.scan, &Interrupt::new(false))?;
            let preview = Arc::new(SchemaPreview::new(py, schema, opened)?);
            self.preview.store(Some(Arc::clone(&preview)));
            preview
        };
        capsule::of_schema(py, &preview.schema)
    }

    /// Exports the stream that the last export of the schema opened, or a new one. With `ends_at_interrupt`, Ctrl-C ends
    /// it in every thread.
    fn stream_capsule<'py>(&self, py: Python<'py>, ends_at_interrupt: bool) -> PyResult<Bound<'py, PyCapsule>> {
        let interrupt = Interrupt::new(ends_at_interrupt);
        let (opened, schema) = match self.preview.swap(None) {
            None => self.begun(py, &self.scan, &interrupt)?,
            Some(preview) => match (preview.stream(), self.scan.frozen(&preview.schema)) {
                (Some(opened), _) => (opened, SchemaRef::clone(&preview.schema)),
                // The stream was closed, but a new one has to match the schema that was exported.
                (None, scan) => self.begun(py, &scan.map_err(|error| raise(py, error))?, &interrupt)?,
            },
        };
        opened.get().map_err(|error| raise(py, error))?.stream.limit_token_wait(TOKEN_WAIT, TOKEN_HINT);
        capsule::of_stream(py, Pulled::new(opened, schema, interrupt))
    }
}
