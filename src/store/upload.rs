//! Uploads of files, whose parts are sent while the file is written. An object appears when all of it was received; until
//! then the object before it stays.

use object_store::{MultipartUpload, ObjectStoreExt, PutMode, PutPayload, PutResult, UpdateVersion};
use tokio::runtime::Handle;
use tokio::task::JoinSet;

use super::{Failure, Listed, Object, Reason};

/// A longer file is sent in parts of this size, the smallest that stores take.
const PART_BYTES: usize = 5 << 20;
/// Parts after which the next parts are twice as long, as stores take at most 10,000.
const PARTS_OF_A_SIZE: usize = 2_000;
/// Parts in flight, which are in memory.
const IN_FLIGHT: usize = 3;

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
    /// What was not sent yet.
    rest: Vec<u8>,
    /// Bytes of the parts that were sent.
    sent: u64,
    /// None while the file is short enough for one request.
    multipart: Option<Multipart>,
}

impl Upload {
    /// Sends nothing yet.
    #[must_use]
    pub fn new(object: Object, replaces: Replaces) -> Self {
        Self { object, replaces, rest: Vec::new(), sent: 0, multipart: None }
    }

    /// Adds bytes. Blocks while too many are in flight.
    ///
    /// # Errors
    /// A part was refused. Then the file cannot be completed.
    pub fn write(&mut self, piece: &[u8]) -> Result<(), Failure> {
        self.rest.extend_from_slice(piece);
        loop {
            let part_bytes = self.multipart.as_ref().map_or(PART_BYTES, Multipart::part_bytes);
            // One byte more shows that the part is not the last, and that the file needs more than one request.
            if self.rest.len() <= part_bytes {
                return Ok(());
            }
            let rest = self.rest.split_off(part_bytes);
            let part = std::mem::replace(&mut self.rest, rest);
            Handle::current().block_on(self.send(part))?;
        }
    }

    async fn send(&mut self, part: Vec<u8>) -> Result<(), Failure> {
        let multipart = match &mut self.multipart {
            Some(multipart) => multipart,
            none => none.insert(Multipart::begin(&self.object).await?),
        };
        multipart.wait(IN_FLIGHT - 1).await.map_err(|cause| self.object.failure(&cause))?;
        self.sent += part.len() as u64;
        multipart.put(part);
        Ok(())
    }

    /// Sends the rest. The object appears; returns what a listing would say of it.
    ///
    /// # Errors
    /// The store refuses it. Then the object is as it was before; `Changed` or `Exists` if it is not what is replaced.
    pub async fn complete(mut self) -> Result<Listed, Failure> {
        let rest = std::mem::take(&mut self.rest);
        let bytes = self.sent + rest.len() as u64;
        let made = if self.multipart.is_none() {
            self.object.put(rest.into(), &self.replaces).await?
        } else {
            self.send(rest).await?;
            // No request to complete an upload in parts can have a condition, so that this comes right before it.
            self.object.check_replaced(&self.replaces).await?;
            match self.multipart.take() {
                Some(multipart) => multipart.complete().await.map_err(|cause| self.object.failure(&cause))?,
                None => None,
            }
        };
        match made.and_then(|made| made.e_tag) {
            Some(tag) => Ok(Listed { bytes, tag: Some(tag) }),
            None => self.object.head().await,
        }
    }
}

impl Object {
    /// Makes the object in one request. Returns no version if an earlier try had made it.
    async fn put(&self, content: PutPayload, replaces: &Replaces) -> Result<Option<PutResult>, Failure> {
        self.tried(|| async {
            let mode = match self.version_to_replace(replaces).await {
                Ok(mode) => mode,
                Err(failure) => return if self.is(&content).await { Ok(None) } else { Err(failure) },
            };
            let put = self.bucket.store.put_opts(&self.path, content.clone(), mode.into()).await;
            match put.map_err(|cause| self.failure(&cause)) {
                // The response to an earlier try may have been lost.
                Err(failure) if failure.is_conflict() && self.is(&content).await => Ok(None),
                put => put.map(Some),
            }
        })
        .await
    }

    /// Whether the object is still what is replaced.
    async fn check_replaced(&self, replaces: &Replaces) -> Result<(), Failure> {
        match replaces {
            Replaces::Nothing => match self.head().await {
                Err(failure) if failure.reason() == Reason::Missing => Ok(()),
                found => found.and(Err(Failure::conflict(Reason::Exists))),
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
        let found = self.bucket.store.head(&self.path).await.map_err(|cause| self.failure(&cause))?;
        if found.e_tag != listed.tag || found.size != listed.bytes {
            return Err(Failure::conflict(Reason::Changed));
        }
        Ok(match (found.e_tag, found.version) {
            (None, None) => PutMode::Overwrite,
            (e_tag, version) => PutMode::Update(UpdateVersion { e_tag, version }),
        })
    }

    /// Whether the object has this content.
    async fn is(&self, content: &PutPayload) -> bool {
        let length = content.content_length();
        self.read(length as u64).await.is_ok_and(|found| found.is_some_and(|found| found == flat(content)))
    }
}

fn flat(content: &PutPayload) -> Vec<u8> {
    content.iter().flat_map(|piece| piece.iter().copied()).collect()
}

/// An upload in parts.
#[derive(Debug)]
struct Multipart {
    /// None once it is complete.
    upload: Option<Box<dyn MultipartUpload>>,
    in_flight: JoinSet<object_store::Result<()>>,
    parts: usize,
}

impl Multipart {
    async fn begin(object: &Object) -> Result<Self, Failure> {
        let upload = object.bucket.store.put_multipart(&object.path).await.map_err(|cause| object.failure(&cause))?;
        Ok(Self { upload: Some(upload), in_flight: JoinSet::new(), parts: 0 })
    }

    /// The size of the next part.
    fn part_bytes(&self) -> usize {
        PART_BYTES << (self.parts / PARTS_OF_A_SIZE)
    }

    fn put(&mut self, part: Vec<u8>) {
        self.parts += 1;
        if let Some(upload) = &mut self.upload {
            self.in_flight.spawn(upload.put_part(part.into()));
        }
    }

    /// Waits until no more than `most` parts are in flight.
    async fn wait(&mut self, most: usize) -> object_store::Result<()> {
        while self.in_flight.len() > most {
            if let Some(sent) = self.in_flight.join_next().await {
                sent.map_err(|source| object_store::Error::JoinError { source }).flatten()?;
            }
        }
        Ok(())
    }

    async fn complete(mut self) -> object_store::Result<Option<PutResult>> {
        self.wait(0).await?;
        let made = match &mut self.upload {
            Some(upload) => Some(upload.complete().await?),
            None => None,
        };
        self.upload = None;
        Ok(made)
    }
}

impl Drop for Multipart {
    fn drop(&mut self) {
        if let (Some(mut upload), Ok(runtime)) = (self.upload.take(), Handle::try_current()) {
            let mut in_flight = std::mem::take(&mut self.in_flight);
            runtime.spawn(async move {
                // A part that arrives after the abort would stay.
                in_flight.shutdown().await;
                upload.abort().await
            });
        }
    }
}
