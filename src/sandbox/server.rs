//! The server: a listening socket, a thread with its own runtime, and an end to both within two seconds.
//!
//! What becomes of a connection is the matter of `connections`, what is answered the router's.

use std::io;
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::{Mutex, PoisonError};
use std::thread::{Builder as ThreadBuilder, JoinHandle};
use std::time::Duration;

use tokio::net::{TcpListener, TcpSocket};
use tokio::runtime::{Builder as RuntimeBuilder, Runtime};
use tokio_util::sync::CancellationToken;

use super::connections::serve;
use super::routes::Shared;
use crate::error::{Error, Kind, Result};

/// How long a search that is still running is waited for when all connections have ended.
const LAST_GRACE: Duration = Duration::from_millis(500);
/// Connections that may wait to be accepted. What comes beyond is sent again by its client a second later.
const BACKLOG: u32 = 1_024;

/// A server that runs until it is stopped.
pub(super) struct Server {
    address: SocketAddr,
    stopping: CancellationToken,
    thread: Mutex<Option<JoinHandle<()>>>,
}

impl Server {
    /// Listens on an address and serves there.
    pub(super) fn start(at: SocketAddr, shared: Shared) -> Result<Self> {
        let failed = |what: &str, cause: io::Error| {
            Error::new(Kind::Sandbox, format!("the sandbox cannot {what}: {cause}")).with_source(cause)
        };
        let runtime = RuntimeBuilder::new_current_thread()
            .enable_all()
            // A slow reader keeps a search waiting, so each connection has a thread of its own; one that is idle ends.
            .max_blocking_threads(shared.limits.connections)
            .thread_name("dataaccess-sandbox-search")
            .build()
            .map_err(|cause| failed("start its runtime", cause))?;
        let listener = {
            let _context = runtime.enter();
            listen(at)
                .map_err(|cause| failed(&format!("listen on {at}"), cause).with_hint("port 0 takes a free one"))?
        };
        let address = listener.local_addr().map_err(|cause| failed("tell its port", cause))?;
        let stopping = CancellationToken::new();
        let stop = stopping.clone();
        let thread = ThreadBuilder::new()
            .name("dataaccess-sandbox".to_owned())
            .spawn(move || run(runtime, listener, shared, stop))
            .map_err(|cause| failed("start its thread", cause))?;
        Ok(Self { address, stopping, thread: Mutex::new(Some(thread)) })
    }

    /// Where clients on this machine reach it.
    pub(super) fn address(&self) -> SocketAddr {
        let mut address = self.address;
        if address.ip().is_unspecified() {
            address.set_ip(if address.is_ipv4() { Ipv4Addr::LOCALHOST.into() } else { Ipv6Addr::LOCALHOST.into() });
        }
        address
    }

    /// Whether it was told to stop.
    pub(super) fn is_stopped(&self) -> bool {
        self.stopping.is_cancelled()
    }

    /// Begins to stop and waits for nothing.
    pub(super) fn cancel(&self) {
        self.stopping.cancel();
    }

    /// Stops and waits for the end; a second call finds nothing to do.
    pub(super) fn stop(&self) {
        self.cancel();
        let mut thread = self.thread.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(thread) = thread.take() {
            // Should the thread have panicked, it has ended all the same.
            let _ = thread.join();
        }
    }
}

fn listen(at: SocketAddr) -> io::Result<TcpListener> {
    let socket = if at.is_ipv4() { TcpSocket::new_v4() } else { TcpSocket::new_v6() }?;
    // Elsewhere than on Unix it would let two services share a port.
    #[cfg(unix)]
    socket.set_reuseaddr(true)?;
    socket.bind(at)?;
    socket.listen(BACKLOG)
}

fn run(runtime: Runtime, listener: TcpListener, shared: Shared, stopping: CancellationToken) {
    runtime.block_on(serve(listener, shared, stopping));
    runtime.shutdown_timeout(LAST_GRACE);
}
