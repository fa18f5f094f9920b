//! What can go wrong, and the exception class that reports it.

/// Declares the kinds; each is raised as an exception class of `dataaccess.errors`, with a reason if the class has
/// several. A failure `of_all` meets every other request and task too.
macro_rules! kinds {
    ($($(#[$documentation:meta])* $kind:ident => $class:ident $(($reason:literal))? $($of_all:ident)?,)*) => {
        /// What went wrong.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum Kind {
            $($(#[$documentation])* $kind,)*
        }

        impl Kind {
            /// Every kind; a test compares their classes with the exceptions.
            pub const ALL: &[Self] = &[$(Self::$kind,)*];

            /// Name of the exception class.
            pub const fn class_name(self) -> &'static str {
                match self {
                    $(Self::$kind => stringify!($class),)*
                }
            }

            /// The attribute `reason` of the exception, if the kind decides it.
            pub const fn reason(self) -> Option<&'static str> {
                match self {
                    $(Self::$kind => kinds!(@reason $($reason)?),)*
                }
            }

            /// Whether an error of this kind meets every other request and task too.
            pub(super) fn is_of_all(self) -> bool {
                [$($(kinds!(@$of_all $kind),)?)*].contains(&self)
            }
        }
    };
    (@reason) => { None };
    (@reason $reason:literal) => { Some($reason) };
    (@of_all $kind:ident) => { Self::$kind };
}

kinds! {
    /// A setting cannot be used.
    Config => ConfigError of_all,
    /// A request breaks a rule of the API specification; nothing was sent.
    Validation => ValidationError,
    /// No connection could be made.
    Connect => ConnectError,
    /// The TLS handshake failed.
    Tls => ConnectError of_all,
    /// The proxy refused or failed.
    Proxy => ConnectError,
    /// The phase named in the details took too long.
    RequestTimeout => RequestTimeoutError,
    /// The connection ended before the response did.
    ConnectionLost => ConnectionLostError ("lost"),
    /// The response ended before it was complete.
    TruncatedResponse => ConnectionLostError ("truncated"),
    /// The response is not valid HTTP.
    MalformedHttp => ConnectionLostError ("malformed"),
    /// The service responded with a code other than success.
    Api => ApiError,
    /// The service refused the token.
    PermissionDenied => PermissionDeniedError of_all,
    /// The service asked to slow down.
    Throttled => ThrottledError,
    /// The service or a gateway failed.
    Server => ServerError,
    /// The request was rejected with another HTTP status of 400 to 499.
    RequestRejected => RequestRejectedError,
    /// The service redirects; redirects are never followed.
    RedirectRefused => RequestRejectedError of_all,
    /// The body is not JSON at all.
    NotJson => ResponseError ("not_json"),
    /// The body is invalid JSON.
    InvalidJson => ResponseError ("invalid_json"),
    /// The envelope is not the specified one.
    Envelope => ResponseError ("envelope"),
    /// A record holds a value that it may not hold.
    Record => ResponseError ("record"),
    /// The response exceeds a size limit.
    ResponseTooLarge => ResponseError ("too_large"),
    /// A stream failed after its first rows were delivered.
    StreamInterrupted => StreamInterruptedError,
    /// The export did not end in time.
    WaitTimeout => WaitTimeoutError,
    /// Some tasks of a run failed.
    ScanIncomplete => ScanIncompleteError,
    /// The data of a complete response look wrong, and the caller does not accept that.
    DoubtfulData => DoubtfulDataError,
    /// The folder of a run cannot be used.
    Folder => FolderError ("unusable") of_all,
    /// A file in the folder of a run could not be written or read.
    FolderFile => FileError of_all,
    /// The folder of a run belongs to another query.
    FolderMismatch => FolderError ("mismatch") of_all,
    /// A part in the folder of a run is damaged.
    FolderCorrupt => FolderError ("corrupt") of_all,
    /// Another run uses the folder.
    FolderLocked => FolderLockedError ("locked") of_all,
    /// A file could not be written.
    File => FileError of_all,
    /// The sandbox could not do what was asked.
    Sandbox => SandboxError,
    /// The client was closed, or a handle made before a fork was used after it.
    ClientClosed => ClientClosedError of_all,
    /// A defect of this package.
    Internal => InternalError of_all,
}
