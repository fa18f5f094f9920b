//! Object stores: S3, Google Cloud Storage and Azure Blob Storage, named by URLs.
//!
//! Knows objects, and nothing of rows and folders. Requests are sent by the crate `object_store`, which is used here
//! alone, and retried for as long as the client's. No error shows a credential.

mod failure;
mod lock;
mod options;
mod upload;

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;
use std::ops::Range;
use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::Bytes;
use futures_util::TryStreamExt;
use object_store::local::LocalFileSystem;
use object_store::path::Path;
use object_store::{GetOptions, GetRange, ObjectMeta, ObjectStore, ObjectStoreExt, ObjectStoreScheme};
use tokio::time::sleep;
use url::Url;

pub use failure::{Failure, Reason};
pub use lock::{Holder, Lock, Refusal, locks};
pub use options::StorageOptions;
pub use upload::{Replaces, Upload};

use crate::error::{Error, Kind, Result, excerpt};
use crate::time::scaled;

/// The schemes of URLs.
pub const SCHEMES: [&str; 9] = ["s3", "s3a", "gs", "az", "azure", "abfs", "abfss", "wasb", "wasbs"];
/// Characters of a URL that an error shows.
const SHOWN: usize = 200;
/// The pause before a request is sent again that the library did not repeat.
const PAUSE: Duration = Duration::from_millis(500);

/// Whether a location is a URL of an object store.
pub fn is_url(location: &str) -> bool {
    location.split_once("://").is_some_and(|(scheme, _)| SCHEMES.contains(&scheme.to_ascii_lowercase().as_str()))
}

/// A bucket, with what is needed to use it.
struct Bucket {
    store: Arc<dyn ObjectStore>,
    options: StorageOptions,
    /// Credentials, which no text shows.
    secrets: Vec<String>,
    has_credentials: bool,
    /// Whether it is the file system of this machine.
    is_local: bool,
}

/// An object, or the objects whose names begin alike: a folder.
#[derive(Clone)]
pub struct Object {
    bucket: Arc<Bucket>,
    url: String,
    path: Path,
}

/// What a listing says of an object.
#[derive(Clone, Debug)]
pub struct Listed {
    /// Its size.
    pub bytes: u64,
    /// Its version.
    tag: Option<String>,
}

impl Object {
    /// The object of a URL. Sends nothing.
    ///
    /// # Errors
    /// `Config` for a URL or an option that cannot be used.
    pub fn new(url: &str, options: &StorageOptions) -> Result<Self> {
        let (scheme, path) = parse(url)?;
        let bucket = Arc::new(options.open(&scheme, url)?);
        Ok(Self { bucket, url: url.trim_end_matches('/').to_owned(), path })
    }

    /// A folder of this machine, to read what is in it. A file that is written through it would be seen by readers before
    /// it is complete.
    ///
    /// # Errors
    /// It cannot be opened.
    pub fn of_folder(folder: &std::path::Path) -> Result<Self, Failure> {
        let store = LocalFileSystem::new_with_prefix(folder).map_err(|cause| Failure::of_system(&cause))?;
        let (options, secrets) = (StorageOptions::default(), Vec::new());
        let bucket = Bucket { store: Arc::new(store), options, secrets, has_credentials: false, is_local: true };
        Ok(Self { bucket: Arc::new(bucket), url: folder.to_string_lossy().into_owned(), path: Path::default() })
    }

    /// The object of another URL, with the same options.
    ///
    /// # Errors
    /// As [`Object::new`].
    pub fn other(&self, url: &str) -> Result<Self> {
        // An object below this one is in the same bucket.
        match url.strip_prefix(&self.url).and_then(|rest| rest.strip_prefix('/')) {
            Some(name) => Ok(self.join(name)),
            None => Self::new(url, &self.bucket.options),
        }
    }

    /// The object with this name below this one.
    #[must_use]
    pub fn join(&self, name: &str) -> Self {
        let path = name.split('/').fold(self.path.clone(), Path::join);
        Self { bucket: Arc::clone(&self.bucket), url: format!("{}/{name}", self.url), path }
    }

    /// The URL.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// Whether the URL names more than the bucket.
    pub fn has_name(&self) -> bool {
        !self.path.as_ref().is_empty()
    }

    /// The objects below this one, by their names from here.
    ///
    /// # Errors
    /// The bucket does not exist or cannot be listed.
    pub async fn list(&self) -> Result<BTreeMap<String, Listed>, Failure> {
        let list = || self.sent(self.bucket.store.list(self.has_name().then_some(&self.path)).try_collect());
        let objects: Vec<ObjectMeta> = self.tried(list).await?;
        let named = objects.into_iter().filter_map(|object| {
            let parts: Vec<_> =
                object.location.prefix_match(&self.path)?.map(|part| part.as_ref().to_owned()).collect();
            // An object with the name of the folder itself, which some tools make to show the folder.
            let name = Some(parts.join("/")).filter(|name| !name.is_empty())?;
            Some((name, Listed { bytes: object.size, tag: object.e_tag }))
        });
        Ok(named.collect())
    }

    /// Lists what may be below this object, which shows whether the bucket can be used.
    ///
    /// # Errors
    /// As [`Object::list`], but no error if listing is forbidden: writing may be allowed.
    pub async fn check(&self) -> Result<(), Failure> {
        let first = || self.sent(async { self.bucket.store.list(Some(&self.path)).try_next().await });
        match self.tried(first).await {
            Err(failure) if failure.reason() != Reason::Forbidden => Err(failure),
            _ => Ok(()),
        }
    }

    /// What is known of the object.
    ///
    /// # Errors
    /// There is none.
    pub async fn head(&self) -> Result<Listed, Failure> {
        let object = self.tried(|| self.sent(self.bucket.store.head(&self.path))).await?;
        Ok(Listed { bytes: object.size, tag: object.e_tag })
    }

    /// Reads the end of the version that was listed, or of the one that is there.
    ///
    /// # Errors
    /// `Conflict` if there is another version by now.
    pub async fn read_end(&self, listed: Option<Listed>, most: u64) -> Result<(Listed, Bytes), Failure> {
        let listed = match listed {
            Some(listed) => listed,
            // A file is opened once. Azure knows no such range.
            None if self.bucket.is_local => {
                let options = GetOptions { range: Some(GetRange::Suffix(most)), ..GetOptions::default() };
                let found = self.sent(self.bucket.store.get_opts(&self.path, options)).await?;
                let listed = Listed { bytes: found.meta.size, tag: found.meta.e_tag.clone() };
                return Ok((listed, self.sent(found.bytes()).await?));
            }
            None => self.head().await?,
        };
        // No range of an empty object can be asked for.
        let range = listed.bytes.saturating_sub(most)..listed.bytes;
        let content = if range.is_empty() { Bytes::new() } else { self.read_range(&listed, range).await? };
        Ok((listed, content))
    }

    /// Reads some bytes of the version that was listed.
    ///
    /// # Errors
    /// `Conflict` if there is another version by now.
    pub async fn read_range(&self, listed: &Listed, range: Range<u64>) -> Result<Bytes, Failure> {
        let options =
            || GetOptions { if_match: listed.tag.clone(), range: Some(range.clone().into()), ..GetOptions::default() };
        let get = || self.sent(async { self.bucket.store.get_opts(&self.path, options()).await?.bytes().await });
        self.tried(get).await
    }

    /// Reads the object, or none if it has more than `most` bytes.
    ///
    /// # Errors
    /// It cannot be read.
    pub async fn read(&self, most: u64) -> Result<Option<Bytes>, Failure> {
        let get = || {
            self.sent(async {
                let found = self.bucket.store.get_opts(&self.path, GetOptions::default()).await?;
                if found.meta.size > most { Ok(None) } else { found.bytes().await.map(Some) }
            })
        };
        self.tried(get).await
    }

    /// Deletes the object.
    ///
    /// # Errors
    /// It cannot be deleted.
    pub async fn delete(&self) -> Result<(), Failure> {
        self.sent(self.bucket.store.delete(&self.path)).await
    }

    async fn sent<T>(&self, request: impl Future<Output = object_store::Result<T>>) -> Result<T, Failure> {
        request.await.map_err(|cause| self.failure(&cause))
    }

    /// Sends a request again after failures that the library does not repeat: a connection that hangs or is lost, after
    /// the request was sent.
    async fn tried<T, F: Future<Output = Result<T, Failure>>>(&self, request: impl Fn() -> F) -> Result<T, Failure> {
        let (retry_for, began) = (self.bucket.options.retry_for(), Instant::now());
        let mut is_first = true;
        loop {
            match request().await {
                // One that hung may have taken all of the time.
                Err(failure)
                    if failure.is_transient()
                        && !retry_for.is_zero()
                        && (began.elapsed() < retry_for || is_first && failure.is_timeout()) => {}
                done => return done,
            }
            is_first = false;
            sleep(scaled(PAUSE)).await;
        }
    }

    fn failure(&self, cause: &object_store::Error) -> Failure {
        Failure::of(cause, &self.bucket)
    }
}

/// The URL as the library knows it: `wasbs` is the older name of `abfss`.
fn of_library(url: &str) -> Cow<'_, str> {
    match url.split_at_checked("wasb".len()) {
        Some((scheme, rest)) if scheme.eq_ignore_ascii_case("wasb") => Cow::Owned(format!("abfs{rest}")),
        _ => Cow::Borrowed(url),
    }
}

/// The store that a URL names, and the path in its bucket.
fn parse(text: &str) -> Result<(ObjectStoreScheme, Path)> {
    // A URL may have a password, and a signature behind `?` or `#`.
    let refused = |problem: &str| {
        let shown = text.split(['?', '#']).next().unwrap_or_default();
        let named = shown.split('@').next_back().unwrap_or_default();
        let scheme = shown.split_once("://").map(|(scheme, _)| scheme).unwrap_or_default();
        let named = if named.len() < shown.len() { format!("{scheme}://…@{named}") } else { named.to_owned() };
        Error::new(Kind::Config, format!("`{}` {problem}", excerpt(&named, SHOWN)))
    };
    let url = Url::parse(&of_library(text)).map_err(|cause| refused(&format!("is not a URL: {cause}")))?;
    if url.query().is_some() || url.fragment().is_some() {
        return Err(
            refused("is followed by a `?` or `#`").with_hint("write %3F or %23, and options in storage_options")
        );
    }
    // `abfss://container@account…` is the one with a user.
    let may_have_user = !url.scheme().starts_with("s3") && url.scheme() != "gs";
    if url.password().is_some() || (!url.username().is_empty() && !may_have_user) {
        return Err(refused("has credentials in it").with_hint("pass them in storage_options"));
    }
    if url.host_str().is_none_or(str::is_empty) {
        return Err(refused("names no bucket"));
    }
    ObjectStoreScheme::parse(&url).map_err(|cause| refused(&format!("cannot be used: {cause}")))
}

impl fmt::Display for Object {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.url)
    }
}

impl fmt::Debug for Object {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_tuple("Object").field(&self.url).finish()
    }
}
