//! What can go wrong: one kind for each exception class that the core raises.

/// Declares the kinds, their list, and the name of the exception class of each.
macro_rules! kinds {
    ($($(#[$documentation:meta])* $kind:ident,)*) => {
        /// What went wrong. A kind is raised as the exception class of its name with `Error` appended.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum Kind {
            $($(#[$documentation])* $kind,)*
        }

        impl Kind {
            /// Every kind; a test compares them with the exception classes.
            pub const ALL: &[Self] = &[$(Self::$kind,)*];

            /// Name of the exception class.
            #[must_use]
            pub const fn class_name(self) -> &'static str {
                match self {
                    $(Self::$kind => concat!(stringify!($kind), "Error"),)*
                }
            }
        }
    };
}

kinds! {
    /// A setting cannot be used.
    Config,
    /// A request breaks a rule of the API specification; nothing was sent.
    Validation,
    /// No connection could be made.
    Connect,
    /// The TLS handshake failed.
    Tls,
    /// The proxy refused or failed.
    Proxy,
    /// The phase named in the details took too long.
    RequestTimeout,
    /// The connection ended before the response did.
    ConnectionLost,
    /// The response ended before it was complete.
    TruncatedResponse,
    /// The response is not valid HTTP.
    MalformedHttp,
    /// The service responded with a code other than success.
    Api,
    /// The service refused the token.
    PermissionDenied,
    /// The service asked to slow down.
    Throttled,
    /// The service or a gateway failed.
    Server,
    /// The request was rejected with another HTTP status of 400 to 499.
    RequestRejected,
    /// The service redirects; redirects are never followed.
    RedirectRefused,
    /// The body is not JSON at all.
    NotJson,
    /// The body is invalid JSON.
    InvalidJson,
    /// The envelope is not the specified one.
    Envelope,
    /// A record holds a value that it may not hold.
    Record,
    /// The response exceeds a size limit.
    ResponseTooLarge,
    /// A stream failed after its first rows were delivered.
    StreamInterrupted,
    /// The export did not end in time.
    WaitTimeout,
    /// Some tasks of a run failed.
    ScanIncomplete,
    /// The data of a complete response look wrong, and the caller does not accept that.
    DoubtfulData,
    /// The folder of a run cannot be used.
    Folder,
    /// The system cannot write or read a file in the folder of a run.
    FolderFile,
    /// The folder of a run belongs to another query.
    FolderMismatch,
    /// A part in the folder of a run is damaged.
    FolderCorrupt,
    /// Another run uses the folder.
    FolderLocked,
    /// A file could not be written.
    File,
    /// The sandbox could not do what was asked.
    Sandbox,
    /// The client was closed.
    ClientClosed,
    /// A handle made before a fork was used after it.
    ForkedHandle,
    /// A defect of this package.
    Internal,
}

impl Kind {
    /// Whether an error of this kind meets every other request and task too.
    pub(super) const fn is_of_all(self) -> bool {
        matches!(
            self,
            Self::PermissionDenied
                | Self::Config
                | Self::Tls
                | Self::RedirectRefused
                | Self::ClientClosed
                | Self::ForkedHandle
                | Self::Internal
                | Self::File
                | Self::Folder
                | Self::FolderFile
                | Self::FolderMismatch
                | Self::FolderCorrupt
                | Self::FolderLocked
        )
    }
}
