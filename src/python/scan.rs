//! A scan for Python: opened as a stream, collected as a table or rows, written to files, or exported as a capsule.

use std::collections::BTreeMap;
use std::future::ready;
use std::path::PathBuf;
use std::sync::Arc;

use arc_swap::ArcSwapOption;
use arrow_schema::SchemaRef;
use pyo3::prelude::*;
use pyo3::types::PyCapsule;
use pythonize::pythonize;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use super::client::RawClient;
use super::input::input;
use super::raise::raise;
use super::rows::{self, RowsAndStats};
use super::schema_preview::SchemaPreview;
use super::stream::{Opened, Pulled, RawStream};
use super::table::RawTable;
use super::updates::{self, Updates};
use super::{bridge, capsule};
use crate::columns::Options;
use crate::error::Result;
use crate::files::{Compression, Location};
use crate::scan::{Collected, Format, LastStats, Layout, Progress, Report, RunOptions, Scan, Stats};
use crate::store::StorageOptions;

/// The batches of streams without a batch size. Small enough for the cache of a processor core, and for memory that is
/// used again.
const BATCHES: Options = Options { views: false, max_rows: 8_192, max_bytes: 2 << 20, widen: false };
/// The batches where the first has to show the types, and those of collected results, all of which are kept.
const LARGE_BATCHES: Options = Options { views: false, max_rows: 65_536, max_bytes: 8 << 20, widen: false };

/// A scan of one client. It holds no rows.
#[pyclass(frozen, module = "dataaccess._native")]
pub(super) struct RawScan {
    client: Py<RawClient>,
    scan: Scan,
    last_stats: LastStats,
    /// From the export of the schema to that of the stream.
    preview: ArcSwapOption<SchemaPreview>,
}

impl RawScan {
    pub(super) fn new(client: Py<RawClient>, scan: Scan) -> Self {
        Self { client, scan, last_stats: LastStats::default(), preview: ArcSwapOption::empty() }
    }

    /// Opens a stream and sends its first requests.
    fn begin(&self, py: Python<'_>, scan: &Scan, options: Options) -> PyResult<Opened> {
        let core = self.client.get().core(py)?;
        let stream = || scan.clone().stream(&core, options, Arc::clone(&self.last_stats));
        let (stream, records) = bridge::start(py, stream)?;
        Ok(Opened::new(stream, records))
    }

    /// Opens a stream and waits for its first batch. Returns the schema too.
    fn begun(&self, py: Python<'_>, scan: &Scan) -> PyResult<(Opened, SchemaRef)> {
        let options = if scan.schema(false).is_some() { BATCHES } else { LARGE_BATCHES };
        let opened = self.begin(py, scan, options)?;
        opened.wait(py)?;
        let schema = opened.get().and_then(|open| open.stream.schema()).map_err(|error| raise(py, error))?;
        Ok((opened, schema))
    }
}

/// A file format: its name, the separator of CSV, and the compression.
type RawFormat = (String, u8, Option<String>);

/// `storage_options=`, for a URL.
pub(super) type Storage = Option<BTreeMap<String, String>>;

/// The report of a run as a dict, and its failed tasks, each with its id, day and exception.
type RawReport = (Py<PyAny>, Vec<(String, Option<String>, Py<PyAny>)>);

/// The options of a run, as a dict.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
struct RunArguments<'py> {
    folder: PathBuf,
    storage_options: Storage,
    service: String,
    layout: Option<String>,
    refresh: Bound<'py, PyAny>,
    same_service: bool,
    private: bool,
    fail_fast: bool,
}

impl RunArguments<'_> {
    fn options(self, py: Python<'_>) -> PyResult<RunOptions> {
        let folder = location(py, self.folder, self.storage_options)?;
        let Self { service, layout, refresh, same_service, private, fail_fast, .. } = self;
        let layout = layout.map(|layout| if layout == "days" { Layout::Days } else { Layout::Flat });
        let refresh = input(&refresh)?;
        Ok(RunOptions { folder, service, layout, refresh, same_service, is_private: private, fail_fast })
    }
}

#[pymethods]
impl RawScan {
    /// The number of requests.
    #[getter]
    fn requests(&self) -> usize {
        self.scan.requests()
    }

    /// The body of a request.
    fn body<'py>(&self, py: Python<'py>, index: usize) -> PyResult<Bound<'py, PyAny>> {
        Ok(pythonize(py, &self.scan.body(index))?)
    }

    /// A request as a scan of its own, and its task id.
    fn task(&self, py: Python<'_>, index: usize) -> PyResult<(Self, String)> {
        let id = self.scan.task_id(index).map_err(|error| raise(py, error))?;
        Ok((Self::new(self.client.clone_ref(py), self.scan.task(index)), id))
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

    /// The figures of the last complete use.
    #[getter]
    fn stats<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        Ok(self.last_stats.load_full().map(|stats| pythonize(py, stats.as_ref())).transpose()?)
    }

    /// Opens a stream of batches.
    fn open(&self, py: Python<'_>, max_rows: usize, max_bytes: usize) -> PyResult<RawStream> {
        self.begin(py, &self.scan, Options { max_rows, max_bytes, ..BATCHES }).map(RawStream::new)
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
        bridge::block_with(py, collecting, events, |py, progress| updates.take(py, &progress)).map(RawTable::new)
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
        bridge::spawn_call(py, collecting, updates.relay(events), |_, collected, _| Ok(RawTable::new(collected)))
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

    /// Writes the rows to a file of a format: its name, its separator and its compression. Returns their figures.
    fn write(
        &self,
        py: Python<'_>,
        path: PathBuf,
        format: RawFormat,
        private: bool,
        on_progress: Option<Py<PyAny>>,
        storage_options: Storage,
    ) -> PyResult<Py<PyAny>> {
        let abandoned = CancellationToken::new();
        let _ends = abandoned.clone().drop_guard();
        let location = location(py, path, storage_options)?;
        let (writing, events) = self.writing(py, location, format, private, abandoned, on_progress.is_some())?;
        let mut updates = Updates::new(on_progress);
        self.used(py, bridge::block_with(py, writing, events, |py, progress| updates.take(py, &progress))?)
    }

    /// As `write`, awaited.
    fn write_async(
        slf: Bound<'_, Self>,
        path: PathBuf,
        format: RawFormat,
        private: bool,
        on_progress: Option<Py<PyAny>>,
        storage_options: Storage,
    ) -> PyResult<Bound<'_, PyAny>> {
        let (py, abandoned) = (slf.py(), CancellationToken::new());
        let location = location(py, path, storage_options)?;
        let (writing, events) =
            slf.get().writing(py, location, format, private, abandoned.clone(), on_progress.is_some())?;
        let updates = Updates::in_running_loop(py, on_progress)?;
        let scan = slf.unbind();
        let used = move |py: Python<'_>, stats, _| scan.get().used(py, stats);
        let future = bridge::spawn_call(py, writing, updates.relay(events), used)?;
        future.call_method1("add_done_callback", (Cancel(abandoned),))?;
        Ok(future)
    }

    /// Runs the unfinished tasks into parts of a folder.
    fn run(&self, py: Python<'_>, options: RunArguments<'_>, on_progress: Py<PyAny>) -> PyResult<RawReport> {
        let (run, events) = self.running(py, options.options(py)?)?;
        let mut updates = Updates::new(Some(on_progress));
        let report = bridge::block_with(py, run, events, |py, progress| updates.take(py, &progress))?;
        raw_report(py, report)
    }

    /// As `run`, awaited. `on_progress` is called in the loop's thread.
    fn run_async<'py>(
        &self,
        py: Python<'py>,
        options: RunArguments<'_>,
        on_progress: Py<PyAny>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let (run, events) = self.running(py, options.options(py)?)?;
        let updates = Updates::in_running_loop(py, Some(on_progress))?;
        bridge::spawn_call(py, run, updates.relay(events), |py, report, _| raw_report(py, report))
    }

    /// Reads the rows that a folder has of this scan.
    fn read(
        &self,
        py: Python<'_>,
        folder: PathBuf,
        service: String,
        ignore_missing: bool,
        storage_options: Storage,
    ) -> PyResult<RawTable> {
        let folder = location(py, folder, storage_options)?;
        bridge::block(py, self.reading(folder, service, ignore_missing)).map(RawTable::new)
    }

    /// As `read`, awaited.
    fn read_async<'py>(
        &self,
        py: Python<'py>,
        folder: PathBuf,
        service: String,
        ignore_missing: bool,
        storage_options: Storage,
    ) -> PyResult<Bound<'py, PyAny>> {
        let reading = self.reading(location(py, folder, storage_options)?, service, ignore_missing);
        bridge::spawn_call(py, reading, ready(Ok(())), |_, collected, ()| Ok(RawTable::new(collected)))
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
            let (opened, schema) = self.begun(py, &self.scan)?;
            let preview = Arc::new(SchemaPreview::new(py, schema, opened)?);
            self.preview.store(Some(Arc::clone(&preview)));
            preview
        };
        capsule::of_schema(py, &preview.schema)
    }

    /// Exports a stream: the one that the last export of the schema opened, or a new one.
    fn stream_capsule<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        let (opened, schema) = match self.preview.swap(None) {
            None => self.begun(py, &self.scan)?,
            Some(preview) => match preview.stream() {
                Some(opened) => (opened, SchemaRef::clone(&preview.schema)),
                // The stream was closed, but a new one has to match the schema that was exported.
                None => self.begun(py, &self.scan.frozen(&preview.schema))?,
            },
        };
        opened.get().map_err(|error| raise(py, error))?.stream.hand_over();
        capsule::of_stream(py, Pulled::new(opened, schema))
    }
}

/// A callback that cancels a token when an asyncio future is done, so that a cancelled write leaves no file.
#[pyclass(frozen)]
struct Cancel(CancellationToken);

#[pymethods]
impl Cancel {
    fn __call__(&self, _future: &Bound<'_, PyAny>) {
        self.0.cancel();
    }
}

impl RawScan {
    fn writing(
        &self,
        py: Python<'_>,
        location: Location,
        (format, separator, compression): RawFormat,
        private: bool,
        abandoned: CancellationToken,
        reports: bool,
    ) -> PyResult<(impl Future<Output = Result<Stats>> + Send + use<>, mpsc::Receiver<Progress>)> {
        let core = self.client.get().core(py)?;
        let (scan, events) = updates::reporting(self.scan.clone(), reports);
        let compression = match compression.as_deref() {
            Some("gzip") => Compression::Gzip,
            Some("zstd") => Compression::Zstd,
            _ => Compression::None,
        };
        let format = match format.as_str() {
            "parquet" => Format::Parquet,
            "csv" => Format::Csv { separator, compression },
            _ => Format::JsonLines { compression },
        };
        Ok((async move { scan.write(&core, &location, format, private, &abandoned).await }, events))
    }

    /// Stores the figures of a complete use and returns them as a dict.
    fn used(&self, py: Python<'_>, stats: Stats) -> PyResult<Py<PyAny>> {
        let figures = pythonize(py, &stats)?.unbind();
        self.last_stats.store(Some(Arc::new(stats)));
        Ok(figures)
    }

    fn running(
        &self,
        py: Python<'_>,
        options: RunOptions,
    ) -> PyResult<(impl Future<Output = Result<Report>> + Send + use<>, mpsc::Receiver<Progress>)> {
        let (core, scan) = (self.client.get().core(py)?, self.scan.clone());
        let (sender, events) = mpsc::channel(scan.requests() + 2);
        Ok((async move { scan.run(&core, &options, sender).await }, events))
    }

    fn reading(
        &self,
        folder: Location,
        service: String,
        ignore_missing: bool,
    ) -> impl Future<Output = Result<Collected>> + Send + use<> {
        let (scan, last_stats) = (self.scan.clone(), Arc::clone(&self.last_stats));
        async move {
            let collected = scan.read(&folder, &service, ignore_missing).await?;
            last_stats.store(Some(Arc::clone(&collected.stats)));
            Ok(collected)
        }
    }

    fn collecting(
        &self,
        py: Python<'_>,
        limit: Option<u64>,
        views: bool,
        reports: bool,
    ) -> PyResult<(impl Future<Output = Result<Collected>> + Send + use<>, mpsc::Receiver<Progress>)> {
        let core = self.client.get().core(py)?;
        let (scan, events) = updates::reporting(self.scan.limited(limit), reports);
        let last_stats = Arc::clone(&self.last_stats);
        let collecting = async move {
            let collected = scan.collect(&core, Options { views, widen: true, ..LARGE_BATCHES }).await?;
            last_stats.store(Some(Arc::clone(&collected.stats)));
            Ok(collected)
        };
        Ok((collecting, events))
    }
}

/// The location with a path or URL.
pub(super) fn location(py: Python<'_>, path: PathBuf, storage_options: Storage) -> PyResult<Location> {
    let options = StorageOptions {
        given: storage_options.unwrap_or_default(),
        #[cfg(feature = "testing")]
        time_scale: super::testing::time_scale(),
        #[cfg(not(feature = "testing"))]
        time_scale: 1,
    };
    Location::new(path, &options).map_err(|error| raise(py, error))
}

fn raw_report(py: Python<'_>, mut report: Report) -> PyResult<RawReport> {
    let failed = std::mem::take(&mut report.failed);
    let failed = failed.into_iter().map(|task| (task.id, task.day, raise(py, task.error).into_value(py).into_any()));
    let failed = failed.collect();
    Ok((pythonize(py, &report)?.unbind(), failed))
}
