//! The server: a listening socket and a thread with its own runtime; both end within two seconds.

use std::io::{self, ErrorKind};
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::{Mutex, PoisonError};
use std::thread::{Builder as ThreadBuilder, JoinHandle};
use std::time::Duration;

use futures_util::FutureExt;
use tokio::net::TcpListener;
use tokio::runtime::Builder as RuntimeBuilder;
use tokio_util::sync::CancellationToken;

use super::connections::serve;
use super::routes::Shared;
use crate::error::{Error, Kind, Result};

/// How long to wait for running searches after all connections have ended.
const SEARCH_GRACE: Duration = Duration::from_millis(500);

/// A server that runs until it is stopped.
pub(super) struct Server {
    address: SocketAddr,
    /// Cancelled once it stops.
    pub(super) stopping: CancellationToken,
    thread: Mutex<Option<JoinHandle<()>>>,
}

impl Server {
    /// Listens on an address and serves there, until it is stopped.
    pub(super) fn start(at: SocketAddr, shared: Shared) -> Result<Self> {
        let failed = |what: &str, cause: io::Error| {
            Error::new(Kind::Sandbox, format!("the sandbox cannot {what}: {cause}")).with_source(cause)
        };
        let runtime = RuntimeBuilder::new_current_thread()
            .enable_all()
            // A search does not wait for loads, so each connection can have a thread. Idle threads end.
            .max_blocking_threads(shared.limits.connections as usize)
            .thread_name("dataaccess-sandbox-search")
            .build()
            .map_err(|cause| failed("start its runtime", cause))?;
        let listener = {
            // Nothing waits here: the caller may be in a runtime of its own.
            let _context = runtime.enter();
            let bound = TcpListener::bind(at).now_or_never().unwrap_or_else(|| Err(ErrorKind::WouldBlock.into()));
            bound.map_err(|cause| failed(&format!("listen on {at}"), cause).with_hint("port 0 takes a free one"))?
        };
        let address = listener.local_addr().map_err(|cause| failed("read its port", cause))?;
        let stopping = CancellationToken::new();
        let stop = stopping.clone();
        let thread = ThreadBuilder::new()
            .name("dataaccess-sandbox".to_owned())
            .spawn(move || {
                runtime.block_on(serve(listener, shared, stop));
                runtime.shutdown_timeout(SEARCH_GRACE);
            })
            .map_err(|cause| failed("start its thread", cause))?;
        Ok(Self { address, stopping, thread: Mutex::new(Some(thread)) })
    }

    /// The address for clients on this machine.
    pub(super) fn address(&self) -> SocketAddr {
        let mut address = self.address;
        if address.ip().is_unspecified() {
            address.set_ip(if address.is_ipv4() { Ipv4Addr::LOCALHOST.into() } else { Ipv6Addr::LOCALHOST.into() });
        }
        address
    }

    /// Stops and waits for the end. A second call does nothing.
    pub(super) fn stop(&self) {
        self.stopping.cancel();
        let mut thread = self.thread.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(thread) = thread.take() {
            // A panicked thread has ended too.
            let _ = thread.join();
        }
    }
}
