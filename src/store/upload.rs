//! Uploads of files. An object appears when all of it was received; until then the object before it stays.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};

use futures_util::stream::{FuturesUnordered, StreamExt};
use object_store::{MultipartUpload, ObjectStoreExt, PutPayload};
use tokio::runtime::Handle;
use tokio::task::block_in_place;

use super::{Failure, Object};
use crate::error::{Error, Kind, Result};

/// A longer file is sent in parts of this size.
const PART_BYTES: u64 = 8 << 20;
/// Stores take 10,000 parts.
const MAX_PARTS: u64 = 9_000;
/// Parts in flight, which are in memory.
const IN_FLIGHT: usize = 4;

impl Object {
    /// Uploads a file of this size.
    ///
    /// # Errors
    /// Of this kind. Then the object is as it was before.
    pub async fn upload(&self, mut file: File, bytes: u64, kind: Kind) -> Result<()> {
        let failed = |failure: Failure| failure.into_error(kind, &self.url, "written");
        let unreadable = |cause: std::io::Error| {
            Error::new(kind, format!("the temporary file for `{self}` cannot be read: {cause}")).with_source(cause)
        };
        block_in_place(|| file.seek(SeekFrom::Start(0))).map_err(unreadable)?;
        let part_bytes = PART_BYTES.max(bytes.div_ceil(MAX_PARTS));
        let next = || {
            let mut part = Vec::new();
            block_in_place(|| (&file).take(part_bytes).read_to_end(&mut part)).map_err(unreadable)?;
            Ok::<_, Error>(part)
        };
        if bytes <= part_bytes {
            let put = self.bucket.store.put(&self.path, PutPayload::from(next()?)).await;
            return put.map(drop).map_err(|cause| failed(self.failure(&cause)));
        }
        let begun = self.bucket.store.put_multipart(&self.path).await;
        let mut upload = Multipart(Some(begun.map_err(|cause| failed(self.failure(&cause)))?));
        let mut in_flight = FuturesUnordered::new();
        for _ in 0..bytes.div_ceil(part_bytes) {
            in_flight.push(upload.put(next()?.into()));
            if in_flight.len() == IN_FLIGHT
                && let Some(sent) = in_flight.next().await
            {
                sent.map_err(|cause| failed(self.failure(&cause)))?;
            }
        }
        while let Some(sent) = in_flight.next().await {
            sent.map_err(|cause| failed(self.failure(&cause)))?;
        }
        upload.complete().await.map_err(|cause| failed(self.failure(&cause)))
    }
}

/// An upload in parts. Dropped before it is complete, it is aborted: the store would keep its parts, and charge them.
struct Multipart(Option<Box<dyn MultipartUpload>>);

impl Multipart {
    fn put(&mut self, part: PutPayload) -> object_store::UploadPart {
        match &mut self.0 {
            Some(upload) => upload.put_part(part),
            None => Box::pin(std::future::ready(Ok(()))),
        }
    }

    async fn complete(mut self) -> object_store::Result<()> {
        if let Some(upload) = &mut self.0 {
            upload.complete().await?;
        }
        self.0 = None;
        Ok(())
    }
}

impl Drop for Multipart {
    fn drop(&mut self) {
        if let (Some(mut upload), Ok(runtime)) = (self.0.take(), Handle::try_current()) {
            runtime.spawn(async move { upload.abort().await });
        }
    }
}
