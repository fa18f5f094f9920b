//! A store in memory that serves its next requests as a test says.

use std::collections::VecDeque;
use std::fmt;
use std::io;
use std::sync::Mutex;

use async_trait::async_trait;
use futures_util::StreamExt;
use futures_util::stream::{self, BoxStream};
use object_store::memory::InMemory;
use object_store::{
    CopyOptions, Error, GetResult, ListResult, MultipartUpload, ObjectMeta, PutMultipartOptions, PutOptions, PutResult,
    Result,
};

use super::*;

/// What happens to a request.
#[derive(Clone, Copy, Debug)]
pub(super) enum Fault {
    /// Nothing.
    None,
    /// It fails, and may succeed later.
    Busy,
    /// It is refused as if another process had been faster.
    Conflict,
    /// It is done and its response is lost, so that its repetition is refused.
    LostResponse,
    /// Its condition is ignored.
    NoCondition,
    /// The store does not know its condition.
    Unsupported,
}

/// Requests beyond the faults are served as usual.
#[derive(Debug, Default)]
pub(super) struct FaultyStore {
    store: InMemory,
    faults: Mutex<VecDeque<Fault>>,
}

impl FaultyStore {
    pub(super) fn script(&self, faults: impl IntoIterator<Item = Fault>) {
        self.faults.lock().unwrap().extend(faults);
    }

    fn next(&self) -> Fault {
        self.faults.lock().unwrap().pop_front().unwrap_or(Fault::None)
    }
}

fn busy() -> Error {
    Error::Generic { store: "memory", source: io::Error::other("status code: 503").into() }
}

fn conflict(path: &Path, mode: &PutMode) -> Error {
    let (path, source) = (path.to_string(), io::Error::other("refused").into());
    match mode {
        PutMode::Create => Error::AlreadyExists { path, source },
        _ => Error::Precondition { path, source },
    }
}

#[async_trait]
impl ObjectStore for FaultyStore {
    async fn put_opts(&self, path: &Path, content: PutPayload, options: PutOptions) -> Result<PutResult> {
        let mode = options.mode.clone();
        match self.next() {
            Fault::None => self.store.put_opts(path, content, options).await,
            Fault::Busy => Err(busy()),
            Fault::Conflict => Err(conflict(path, &mode)),
            Fault::LostResponse => {
                self.store.put_opts(path, content, options).await?;
                Err(conflict(path, &mode))
            }
            Fault::NoCondition => self.store.put(path, content).await,
            Fault::Unsupported => {
                Err(Error::NotImplemented { operation: "put".to_owned(), implementer: "memory".to_owned() })
            }
        }
    }

    async fn put_multipart_opts(&self, path: &Path, options: PutMultipartOptions) -> Result<Box<dyn MultipartUpload>> {
        self.store.put_multipart_opts(path, options).await
    }

    async fn get_opts(&self, path: &Path, options: GetOptions) -> Result<GetResult> {
        match self.next() {
            Fault::Busy => Err(busy()),
            _ => self.store.get_opts(path, options).await,
        }
    }

    fn delete_stream(&self, paths: BoxStream<'static, Result<Path>>) -> BoxStream<'static, Result<Path>> {
        match self.next() {
            Fault::Busy => stream::once(async { Err(busy()) }).boxed(),
            _ => self.store.delete_stream(paths),
        }
    }

    fn list(&self, prefix: Option<&Path>) -> BoxStream<'static, Result<ObjectMeta>> {
        self.store.list(prefix)
    }

    async fn list_with_delimiter(&self, prefix: Option<&Path>) -> Result<ListResult> {
        self.store.list_with_delimiter(prefix).await
    }

    async fn copy_opts(&self, from: &Path, to: &Path, options: CopyOptions) -> Result<()> {
        self.store.copy_opts(from, to, options).await
    }
}

impl fmt::Display for FaultyStore {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("FaultyStore")
    }
}
