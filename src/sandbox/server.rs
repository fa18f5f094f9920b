//! The server: a listening socket on loopback, a thread with its own runtime, and an end to both within two seconds.
//!
//! It moves bytes and keeps limits on connections; what is answered is the router's matter.

use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{Builder as ThreadBuilder, JoinHandle};
use std::time::Duration;

use axum::Router;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::net::TcpStream;
use tokio::runtime::{Builder as RuntimeBuilder, Runtime};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use crate::error::{Error, Kind, Result};

/// Most connections at a time; more wait to be accepted.
const MAX_CONNECTIONS: usize = 256;
/// Longest time for a head to arrive, and for a kept connection to stay silent.
const HEADER_TIMEOUT: Duration = Duration::from_secs(5);
/// Most bytes of a head.
const HEADER_LIMIT: usize = 64 * 1024;
/// Most threads for searches; the accept loop has its own. A slow reader keeps one waiting, so each connection
/// has its own, too; one that is idle ends.
const SEARCH_THREADS: usize = MAX_CONNECTIONS;
/// How long requests under way may take to end once the server stops.
const GRACE: Duration = Duration::from_secs(1);
/// How long a search that is still running is waited for after that.
const LAST_GRACE: Duration = Duration::from_millis(500);
/// Pause after a failure to accept, as when the process has no file descriptor left.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);

/// A server that runs until it is stopped.
pub(super) struct Server {
    address: SocketAddr,
    stopping: CancellationToken,
    thread: Mutex<Option<JoinHandle<()>>>,
}

impl Server {
    /// Listens on a port of 127.0.0.1 and serves the router that `routes` makes for that port.
    pub(super) fn start(port: u16, service_at: impl FnOnce(u16) -> Router) -> Result<Self> {
        let cannot = |what: &str| format!("the sandbox cannot {what}");
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).map_err(|cause| {
            Error::new(Kind::Sandbox, format!("the sandbox cannot listen on 127.0.0.1:{port}: {cause}"))
                .with_hint("port 0 takes a free one")
                .with_source(cause)
        })?;
        let failed = |what: &str, cause: std::io::Error| {
            Error::new(Kind::Sandbox, format!("{}: {cause}", cannot(what))).with_source(cause)
        };
        let address = listener.local_addr().map_err(|cause| failed("tell its port", cause))?;
        listener.set_nonblocking(true).map_err(|cause| failed("prepare its socket", cause))?;
        let runtime = RuntimeBuilder::new_current_thread()
            .enable_all()
            .max_blocking_threads(SEARCH_THREADS)
            .thread_name("dataaccess-sandbox-search")
            .build()
            .map_err(|cause| failed("start its runtime", cause))?;
        let stopping = CancellationToken::new();
        let (router, stop) = (service_at(address.port()), stopping.clone());
        let thread = ThreadBuilder::new()
            .name("dataaccess-sandbox".to_owned())
            .spawn(move || run(runtime, listener, &router, &stop))
            .map_err(|cause| failed("start its thread", cause))?;
        Ok(Self { address, stopping, thread: Mutex::new(Some(thread)) })
    }

    /// Where it listens.
    pub(super) fn address(&self) -> SocketAddr {
        self.address
    }

    /// Whether it was told to stop.
    pub(super) fn is_stopped(&self) -> bool {
        self.stopping.is_cancelled()
    }

    /// Stops and waits for the end; a second call finds nothing to do.
    pub(super) fn stop(&self) {
        self.stopping.cancel();
        let mut thread = self.thread.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(thread) = thread.take() {
            // Should the thread have panicked, it has ended all the same.
            let _ = thread.join();
        }
    }
}

fn run(runtime: Runtime, listener: TcpListener, router: &Router, stopping: &CancellationToken) {
    runtime.block_on(serve(listener, router, stopping));
    runtime.shutdown_timeout(LAST_GRACE);
}

async fn serve(listener: TcpListener, router: &Router, stopping: &CancellationToken) {
    let Ok(listener) = tokio::net::TcpListener::from_std(listener) else { return };
    let slots = Arc::new(Semaphore::new(MAX_CONNECTIONS));
    let mut connections = JoinSet::new();
    loop {
        tokio::select! {
            () = stopping.cancelled() => break,
            Some(_) = connections.join_next() => {}
            accepted = accept(&listener, &slots) => {
                if let Some((stream, slot)) = accepted {
                    connections.spawn(talk(stream, router.clone(), stopping.clone(), slot));
                }
            }
        }
    }
    drop(listener);
    // What has not ended by then is cut off when the set is dropped.
    let all_ended = async { while connections.join_next().await.is_some() {} };
    let _ = tokio::time::timeout(GRACE, all_ended).await;
}

async fn accept(
    listener: &tokio::net::TcpListener,
    slots: &Arc<Semaphore>,
) -> Option<(TcpStream, OwnedSemaphorePermit)> {
    let slot = Arc::clone(slots).acquire_owned().await.ok()?;
    if let Ok((stream, _)) = listener.accept().await {
        return Some((stream, slot));
    }
    tokio::time::sleep(ACCEPT_PAUSE).await;
    None
}

/// Serves one connection; it keeps its slot until its end.
async fn talk(stream: TcpStream, router: Router, stopping: CancellationToken, _slot: OwnedSemaphorePermit) {
    // Without it answers could wait for an acknowledgement; should it fail, they are only slower.
    let _ = stream.set_nodelay(true);
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEADER_TIMEOUT)
        .max_header_size(HEADER_LIMIT)
        .serve_connection(TokioIo::new(stream), TowerToHyperService::new(router));
    tokio::pin!(connection);
    tokio::select! {
        // A client that breaks off or sends no HTTP has only itself to tell.
        _ = connection.as_mut() => return,
        () = stopping.cancelled() => connection.as_mut().graceful_shutdown(),
    }
    let _ = connection.await;
}
