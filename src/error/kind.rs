//! The closed list of what can go wrong, and the name each has outside. Knows no texts.

/// What went wrong, in the terms of the public exception tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// A setting cannot be used.
    Config,
    /// A request breaks the document's rules; nothing was sent.
    Validation,
    /// No connection could be made.
    Connect,
    /// The TLS handshake was refused.
    Tls,
    /// The proxy refused or failed.
    Proxy,
    /// A time-out, of the phase named in the fields.
    RequestTimeout,
    /// The connection ended before the answer did.
    ConnectionLost,
    /// The answer ended before it was complete.
    TruncatedResponse,
    /// The answer is not HTTP as agreed.
    MalformedHttp,
    /// The service answered with a code that is not success.
    Api,
    /// The token was refused.
    PermissionDenied,
    /// The service asks to slow down.
    Throttled,
    /// The service or a gateway failed.
    Server,
    /// The request was refused by something that is not the service's own check.
    RequestRejected,
    /// A redirect, which is never followed.
    RedirectRefused,
    /// The body is not JSON at all.
    NotJson,
    /// The body is broken JSON.
    InvalidJson,
    /// The envelope is not the document's.
    Envelope,
    /// A record holds what it may not.
    Record,
    /// A limit on size was reached.
    ResponseTooLarge,
    /// A stream broke after rows were handed out.
    StreamInterrupted,
    /// The time to wait for an export was over.
    WaitTimeout,
    /// Some tasks of a scan failed for good.
    ScanIncomplete,
    /// A checkpoint cannot be written or read.
    Checkpoint,
    /// A checkpoint belongs to another query.
    CheckpointMismatch,
    /// A checkpoint is damaged.
    CheckpointCorrupt,
    /// Another process works on the checkpoint.
    CheckpointLocked,
    /// A file could not be written.
    File,
    /// The embedded service could not do it.
    Sandbox,
    /// The client was closed.
    ClientClosed,
    /// A handle made before a fork cannot be used after it.
    ForkedHandle,
    /// A defect of this package.
    Internal,
}

impl Kind {
    /// Every kind, for the tests that hold the exception tree and this list equal.
    pub const ALL: [Self; 32] = [
        Self::Config,
        Self::Validation,
        Self::Connect,
        Self::Tls,
        Self::Proxy,
        Self::RequestTimeout,
        Self::ConnectionLost,
        Self::TruncatedResponse,
        Self::MalformedHttp,
        Self::Api,
        Self::PermissionDenied,
        Self::Throttled,
        Self::Server,
        Self::RequestRejected,
        Self::RedirectRefused,
        Self::NotJson,
        Self::InvalidJson,
        Self::Envelope,
        Self::Record,
        Self::ResponseTooLarge,
        Self::StreamInterrupted,
        Self::WaitTimeout,
        Self::ScanIncomplete,
        Self::Checkpoint,
        Self::CheckpointMismatch,
        Self::CheckpointCorrupt,
        Self::CheckpointLocked,
        Self::File,
        Self::Sandbox,
        Self::ClientClosed,
        Self::ForkedHandle,
        Self::Internal,
    ];

    /// Name of the exception class this kind is raised as.
    #[must_use]
    pub const fn class_name(self) -> &'static str {
        match self {
            Self::Config => "ConfigError",
            Self::Validation => "ValidationError",
            Self::Connect => "ConnectError",
            Self::Tls => "TlsError",
            Self::Proxy => "ProxyError",
            Self::RequestTimeout => "RequestTimeoutError",
            Self::ConnectionLost => "ConnectionLostError",
            Self::TruncatedResponse => "TruncatedResponseError",
            Self::MalformedHttp => "MalformedHttpError",
            Self::Api => "ApiError",
            Self::PermissionDenied => "PermissionDeniedError",
            Self::Throttled => "ThrottledError",
            Self::Server => "ServerError",
            Self::RequestRejected => "RequestRejectedError",
            Self::RedirectRefused => "RedirectRefusedError",
            Self::NotJson => "NotJsonError",
            Self::InvalidJson => "InvalidJsonError",
            Self::Envelope => "EnvelopeError",
            Self::Record => "RecordError",
            Self::ResponseTooLarge => "ResponseTooLargeError",
            Self::StreamInterrupted => "StreamInterruptedError",
            Self::WaitTimeout => "WaitTimeoutError",
            Self::ScanIncomplete => "ScanIncompleteError",
            Self::Checkpoint => "CheckpointError",
            Self::CheckpointMismatch => "CheckpointMismatchError",
            Self::CheckpointCorrupt => "CheckpointCorruptError",
            Self::CheckpointLocked => "CheckpointLockedError",
            Self::File => "FileError",
            Self::Sandbox => "SandboxError",
            Self::ClientClosed => "ClientClosedError",
            Self::ForkedHandle => "ForkedHandleError",
            Self::Internal => "InternalError",
        }
    }
}
