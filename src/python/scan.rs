//! A scan as Python has it: opened as a stream, collected as a table or as rows, or handed over as a capsule.

use std::path::PathBuf;
use std::sync::Arc;

use arc_swap::ArcSwapOption;
use arrow_schema::SchemaRef;
use pyo3::prelude::*;
use pyo3::types::PyCapsule;
use pythonize::pythonize;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use super::bridge::Logged;
use super::client::RawClient;
use super::raise::raise;
use super::rows::{self, RowsAndStats};
use super::schema_preview::SchemaPreview;
use super::stream::{Opened, Pulled, RawStream};
use super::table::RawTable;
use super::updates::Updates;
use super::{bridge, capsule};
use crate::columns::Options;
use crate::error::Result;
use crate::scan::{Collected, Format, LastStats, Progress, Report, RunOptions, Scan, Stats};

/// Rows of a batch for whoever does not say how many.
const BATCH_ROWS: usize = 65_536;
/// And bytes.
const BATCH_BYTES: usize = 8 << 20;

/// A scan of one client. It holds no rows.
#[pyclass(frozen, module = "dataaccess._native")]
pub(super) struct RawScan {
    client: Py<RawClient>,
    scan: Scan,
    last_stats: LastStats,
    /// From the question for the schema to the stream that answers it.
    preview: ArcSwapOption<SchemaPreview>,
}

impl RawScan {
    pub(super) fn new(client: Py<RawClient>, scan: Scan) -> Self {
        Self { client, scan, last_stats: LastStats::default(), preview: ArcSwapOption::empty() }
    }

    /// Begins a request.
    fn begin(&self, py: Python<'_>, scan: &Scan, options: Options) -> PyResult<Opened> {
        let core = self.client.get().core(py)?;
        let make = || scan.clone().stream(&core, options, Arc::clone(&self.last_stats));
        let (stream, logged) = Logged::around(py, make)?;
        Ok(Opened::new(stream, logged))
    }

    /// A stream whose answer has begun well, with its schema.
    fn begun(&self, py: Python<'_>, scan: &Scan) -> PyResult<(Opened, SchemaRef)> {
        let opened = self.begin(py, scan, options(BATCH_ROWS, BATCH_BYTES, false, false))?;
        opened.wait(py)?;
        let schema = opened.get().and_then(|open| open.stream.schema()).map_err(|error| raise(py, error))?;
        Ok((opened, schema))
    }
}

/// What is told of a run, as a dict, and of its tasks that failed: name and exception.
type Told = (Py<PyAny>, Vec<(String, Py<PyAny>)>);

#[pymethods]
impl RawScan {
    /// How many requests it sends.
    #[getter]
    fn requests(&self) -> usize {
        self.scan.requests()
    }

    /// The body of one of them.
    fn body<'py>(&self, py: Python<'py>, index: usize) -> PyResult<Bound<'py, PyAny>> {
        Ok(pythonize(py, &self.scan.body(index))?)
    }

    /// One of them on its own, and its name.
    fn task(&self, py: Python<'_>, index: usize) -> PyResult<(Self, String)> {
        let id = self.scan.task_id(index).map_err(|error| raise(py, error))?;
        Ok((Self::new(self.client.clone_ref(py), self.scan.task(index)), id))
    }

    #[getter]
    fn column_names(&self) -> Vec<String> {
        self.scan.attributes().to_vec()
    }

    /// The figures of the last use that ended well.
    #[getter]
    fn stats<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        Ok(self.last_stats.load_full().map(|stats| pythonize(py, stats.as_ref())).transpose()?)
    }

    /// Begins a request whose batches are taken one by one.
    fn open(&self, py: Python<'_>, max_rows: usize, max_bytes: usize) -> PyResult<RawStream> {
        self.begin(py, &self.scan, options(max_rows, max_bytes, false, false)).map(RawStream::new)
    }

    /// The whole answer in columns.
    fn collect(&self, py: Python<'_>, limit: Option<u64>, views: bool) -> PyResult<RawTable> {
        let collecting = self.collecting(py, limit, views)?;
        bridge::block(py, collecting, bridge::no_events(), |_, ()| Ok(())).map(RawTable::new)
    }

    /// As `collect`, awaited.
    fn collect_async<'py>(&self, py: Python<'py>, limit: Option<u64>, views: bool) -> PyResult<Bound<'py, PyAny>> {
        let collecting = self.collecting(py, limit, views)?;
        bridge::spawn(py, async move { bridge::raise_in_python(collecting.await).await.map(RawTable::new) })
    }

    /// The whole answer as rows, and their figures.
    fn rows(&self, py: Python<'_>) -> PyResult<RowsAndStats> {
        rows::block(py, self.client.get().core(py)?, self.scan.clone(), &self.last_stats)
    }

    /// As `rows`, awaited.
    fn rows_async<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        rows::spawn(py, self.client.get().core(py)?, self.scan.clone(), Arc::clone(&self.last_stats))
    }

    /// The rows into one file, and their figures.
    fn write(&self, py: Python<'_>, path: PathBuf, format: &str) -> PyResult<Py<PyAny>> {
        let abandoned = CancellationToken::new();
        let _ends = abandoned.clone().drop_guard();
        let writing = self.writing(py, path, format, abandoned)?;
        let stats = bridge::block(py, writing, bridge::no_events(), |_, ()| Ok(()))?;
        self.used(py, stats)
    }

    /// As `write`, awaited.
    fn write_async<'py>(slf: Bound<'py, Self>, path: PathBuf, format: &str) -> PyResult<Bound<'py, PyAny>> {
        let (py, abandoned) = (slf.py(), CancellationToken::new());
        let writing = slf.get().writing(py, path, format, abandoned.clone())?;
        let scan = slf.unbind();
        let future = bridge::spawn(py, async move {
            let stats = bridge::raise_in_python(writing.await).await?;
            bridge::with_gil(move |py| scan.get().used(py, stats)).await
        })?;
        future.call_method1("add_done_callback", (Cancel(abandoned),))?;
        Ok(future)
    }

    /// The tasks that are not done into their files of a folder.
    fn run(
        &self,
        py: Python<'_>,
        folder: PathBuf,
        service: String,
        fail_fast: bool,
        known_row_cap: Option<u64>,
        on_progress: Option<Py<PyAny>>,
    ) -> PyResult<Told> {
        let (sender, events) = mpsc::channel(self.scan.requests() + 2);
        let run = self.running(py, RunOptions { folder, service, fail_fast, known_row_cap }, sender)?;
        let mut updates = Updates::new(on_progress);
        let report = bridge::block(py, run, events, |py, progress| updates.take(py, &progress))?;
        told(py, report)
    }

    /// As `run`, awaited; `on_progress` is called in the loop's own thread.
    fn run_async<'py>(
        &self,
        py: Python<'py>,
        folder: PathBuf,
        service: String,
        fail_fast: bool,
        known_row_cap: Option<u64>,
        on_progress: Option<Py<PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let (sender, events) = mpsc::channel(self.scan.requests() + 2);
        let run = self.running(py, RunOptions { folder, service, fail_fast, known_row_cap }, sender)?;
        let updates = Updates::in_running_loop(py, on_progress)?;
        bridge::spawn(py, async move {
            let run = async { bridge::raise_in_python(run.await).await };
            let (report, _) = tokio::try_join!(run, updates.relay(events))?;
            bridge::with_gil(move |py| told(py, report)).await
        })
    }

    /// The capsule of the schema. Where only an answer tells it, the request is sent, and the stream parked.
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

    /// The capsule of a stream whose answer has begun: that of the last question for the schema, or a new one.
    fn stream_capsule<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        let (opened, schema) = match self.preview.swap(None) {
            None => self.begun(py, &self.scan)?,
            Some(preview) => match preview.stream() {
                Some(opened) => (opened, SchemaRef::clone(&preview.schema)),
                // It is gone, but what was told still holds: another answer has to fit it.
                None => self.begun(py, &self.scan.frozen(&preview.schema))?,
            },
        };
        opened.get().map_err(|error| raise(py, error))?.stream.hand_over();
        capsule::of_stream(py, Pulled::new(opened, schema))
    }
}

/// Cancels a token when a future is done, so that what works for it in the background learns of it.
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
        path: PathBuf,
        format: &str,
        abandoned: CancellationToken,
    ) -> PyResult<impl Future<Output = Result<Stats>> + Send + use<>> {
        let (core, scan) = (self.client.get().core(py)?, self.scan.clone());
        let format = match format {
            "parquet" => Format::Parquet,
            "csv" => Format::Csv,
            _ => Format::JsonLines,
        };
        Ok(async move { scan.write(&core, &path, format, &abandoned).await })
    }

    /// Keeps the figures of a use that has ended well, and tells them.
    fn used(&self, py: Python<'_>, stats: Stats) -> PyResult<Py<PyAny>> {
        let told = pythonize(py, &stats)?.unbind();
        self.last_stats.store(Some(Arc::new(stats)));
        Ok(told)
    }

    fn running(
        &self,
        py: Python<'_>,
        order: RunOptions,
        progress: mpsc::Sender<Progress>,
    ) -> PyResult<impl Future<Output = Result<Report>> + Send + use<>> {
        let (core, scan) = (self.client.get().core(py)?, self.scan.clone());
        Ok(async move { scan.run(&core, &order, progress).await })
    }

    fn collecting(
        &self,
        py: Python<'_>,
        limit: Option<u64>,
        views: bool,
    ) -> PyResult<impl Future<Output = Result<Collected>> + Send + use<>> {
        let core = self.client.get().core(py)?;
        let (scan, last_stats) = (self.scan.limited(limit), Arc::clone(&self.last_stats));
        Ok(async move {
            let collected = scan.collect(&core, options(BATCH_ROWS, BATCH_BYTES, views, true)).await?;
            last_stats.store(Some(Arc::clone(&collected.stats)));
            Ok(collected)
        })
    }
}

fn told(py: Python<'_>, mut report: Report) -> PyResult<Told> {
    let failed = std::mem::take(&mut report.failed);
    let failed = failed.into_iter().map(|(task, error)| (task, raise(py, error).into_value(py).into_any())).collect();
    Ok((pythonize(py, &report)?.unbind(), failed))
}

fn options(max_rows: usize, max_bytes: usize, views: bool, widen: bool) -> Options {
    Options { views, max_rows, max_bytes, widen }
}
