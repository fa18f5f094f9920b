//! Uploads of files, whose parts are sent while the file is written. An object appears when all of it was received; until
//! then the object before it stays.

use bytes::Bytes;
use object_store::{ObjectStoreExt, PutMode, PutResult, UpdateVersion, WriteMultipart};
use tokio::runtime::Handle;

use super::{Failure, Listed, Object, Reason};

/// A longer file is sent in parts of this size. Stores take at most 10,000.
const PART_BYTES: usize = 8 << 20;
/// Parts in flight, which are in memory.
const IN_FLIGHT: usize = 2;

/// What an upload may replace.
#[derive(Clone, Debug)]
pub enum Replaces {
    /// Whatever is there.
    Anything,
    /// Nothing: the object must not exist.
    Nothing,
    /// The version that was listed.
    Version(Listed),
}

/// A file on its way to an object store. Dropped before it is complete, it is aborted: the store would keep its parts, and
/// charge them.
#[derive(Debug)]
pub struct Upload {
    object: Object,
    replaces: Replaces,
    bytes: u64,
    /// The file while it is short enough for one request.
    short: Vec<u8>,
    /// None while it is.
    parts: Option<WriteMultipart>,
}

impl Upload {
    /// Sends nothing yet.
    #[must_use]
    pub fn new(object: Object, replaces: Replaces) -> Self {
        Self { object, replaces, bytes: 0, short: Vec::new(), parts: None }
    }

    /// Adds bytes. Blocks while too many are in flight.
    ///
    /// # Errors
    /// A part was refused. Then the file cannot be completed.
    pub fn write(&mut self, piece: &[u8]) -> Result<(), Failure> {
        self.bytes += piece.len() as u64;
        if self.parts.is_some() {
            return Handle::current().block_on(self.send(piece));
        }
        self.short.extend_from_slice(piece);
        if self.short.len() <= PART_BYTES {
            return Ok(());
        }
        let content = std::mem::take(&mut self.short);
        Handle::current().block_on(self.send(&content))
    }

    async fn send(&mut self, content: &[u8]) -> Result<(), Failure> {
        let (object, failed) = (&self.object, |cause| self.object.failure(&cause));
        let parts = match &mut self.parts {
            Some(parts) => parts,
            none => {
                let begun = object.bucket.store.put_multipart(&object.path).await.map_err(failed)?;
                none.insert(WriteMultipart::new_with_chunk_size(begun, PART_BYTES))
            }
        };
        for piece in content.chunks(PART_BYTES) {
            parts.wait_for_capacity(IN_FLIGHT).await.map_err(failed)?;
            parts.write(piece);
        }
        Ok(())
    }

    /// Sends the rest. The object appears; returns what a listing would say of it.
    ///
    /// # Errors
    /// The store refuses it. Then the object is as it was before; `Conflict` if it is not what is replaced.
    pub async fn complete(mut self) -> Result<Listed, Failure> {
        let made = match &mut self.parts {
            None => self.object.put(std::mem::take(&mut self.short).into(), &self.replaces).await?,
            Some(parts) => {
                let sent = parts.wait_for_capacity(1).await;
                sent.map_err(|cause| self.object.failure(&cause))?;
                // No request to complete an upload in parts can have a condition, so that this comes right before it.
                self.object.check_replaced(&self.replaces).await?;
                match self.parts.take() {
                    // A task, as an upload that is dropped while it ends would not be aborted.
                    Some(parts) => Some(self.object.sent(async { tokio::spawn(parts.finish()).await? }).await?),
                    None => None,
                }
            }
        };
        match made.and_then(|made| made.e_tag) {
            Some(tag) => Ok(Listed { bytes: self.bytes, tag: Some(tag) }),
            None => self.object.head().await,
        }
    }
}

impl Drop for Upload {
    fn drop(&mut self) {
        if let (Some(parts), Ok(runtime)) = (self.parts.take(), Handle::try_current()) {
            runtime.spawn(parts.abort());
        }
    }
}

impl Object {
    /// Makes the object in one request. Returns no version if an earlier try had made it.
    async fn put(&self, content: Bytes, replaces: &Replaces) -> Result<Option<PutResult>, Failure> {
        let put = || async {
            let mode = self.version_to_replace(replaces).await?;
            self.sent(self.bucket.store.put_opts(&self.path, content.clone().into(), mode.into())).await.map(Some)
        };
        self.tried(|| async {
            match put().await {
                // The response to an earlier try may have been lost.
                Err(failure) if failure.is_conflict() && self.is(&content).await => Ok(None),
                done => done,
            }
        })
        .await
    }

    /// Whether the object is still what is replaced.
    async fn check_replaced(&self, replaces: &Replaces) -> Result<(), Failure> {
        match replaces {
            Replaces::Nothing => match self.head().await {
                Err(failure) if failure.reason() == Reason::Missing => Ok(()),
                found => found.and(Err(Failure::conflict())),
            },
            _ => self.version_to_replace(replaces).await.map(drop),
        }
    }

    /// The condition of the request that replaces the object.
    async fn version_to_replace(&self, replaces: &Replaces) -> Result<PutMode, Failure> {
        let listed = match replaces {
            Replaces::Anything => return Ok(PutMode::Overwrite),
            Replaces::Nothing => return Ok(PutMode::Create),
            Replaces::Version(listed) => listed,
        };
        // A listing does not have all that a condition needs.
        let found = self.sent(self.bucket.store.head(&self.path)).await?;
        if found.e_tag != listed.tag || found.size != listed.bytes {
            return Err(Failure::conflict());
        }
        Ok(match (found.e_tag, found.version) {
            (None, None) => PutMode::Overwrite,
            (e_tag, version) => PutMode::Update(UpdateVersion { e_tag, version }),
        })
    }

    /// Whether the object has this content.
    async fn is(&self, content: &Bytes) -> bool {
        self.read(content.len() as u64).await.is_ok_and(|found| found.as_ref() == Some(content))
    }
}
