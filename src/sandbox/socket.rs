//! A socket that enforces read time limits, suppresses output that belongs to no response, and resets on request.

use std::io::{Error as IoError, ErrorKind, IoSlice, Result as IoResult};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio::time::{Instant, Sleep, sleep_until};

use super::connection_state::{ConnectionState, Ending};

/// The socket of a connection.
pub(super) struct ControlledSocket {
    socket: TcpStream,
    connection: Arc<ConnectionState>,
    has_suppressed_output: bool,
    timer: Pin<Box<Sleep>>,
}

impl ControlledSocket {
    /// Wraps a socket.
    pub(super) fn new(socket: TcpStream, connection: Arc<ConnectionState>) -> Self {
        // Without it small responses wait for an acknowledgement. A failure only makes them slower.
        let _ = socket.set_nodelay(true);
        Self { socket, connection, has_suppressed_output: false, timer: Box::pin(sleep_until(Instant::now())) }
    }

    /// Whether output was suppressed because it belonged to no response.
    pub(super) fn has_suppressed_output(&self) -> bool {
        self.has_suppressed_output
    }

    /// Whether the read deadline has passed; if not, the task is woken then.
    fn has_timed_out(&mut self, context: &mut Context<'_>) -> bool {
        let Some(deadline) = self.connection.deadline() else { return false };
        if self.timer.deadline() != deadline {
            self.timer.as_mut().reset(deadline);
        }
        self.timer.as_mut().poll(context).is_ready()
    }
}

impl Drop for ControlledSocket {
    fn drop(&mut self) {
        if self.connection.ending() == Some(Ending::Reset) {
            // If it fails, the connection is closed properly instead.
            let _ = self.socket.set_zero_linger();
        }
    }
}

impl AsyncRead for ControlledSocket {
    fn poll_read(self: Pin<&mut Self>, context: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<IoResult<()>> {
        let this = self.get_mut();
        let before = buffer.filled().len();
        match Pin::new(&mut this.socket).poll_read(context, buffer) {
            Poll::Pending if this.has_timed_out(context) => Poll::Ready(Err(IoError::from(ErrorKind::TimedOut))),
            Poll::Pending => Poll::Pending,
            Poll::Ready(read) => {
                if buffer.filled().len() > before {
                    this.connection.on_bytes_received();
                }
                // Single bytes do not extend the deadline.
                if this.has_timed_out(context) {
                    Poll::Ready(Err(ErrorKind::TimedOut.into()))
                } else {
                    Poll::Ready(read)
                }
            }
        }
    }
}

impl AsyncWrite for ControlledSocket {
    fn poll_write(self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<IoResult<usize>> {
        self.poll_write_vectored(context, &[IoSlice::new(bytes)])
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        parts: &[IoSlice<'_>],
    ) -> Poll<IoResult<usize>> {
        if !self.connection.begin_write() {
            self.has_suppressed_output = true;
            return Poll::Ready(Ok(parts.iter().map(|part| part.len()).sum()));
        }
        let written = Pin::new(&mut self.socket).poll_write_vectored(context, parts);
        self.connection.on_write(written.is_ready());
        written
    }

    fn is_write_vectored(&self) -> bool {
        self.socket.is_write_vectored()
    }

    /// The HTTP library flushes once everything is written.
    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<IoResult<()>> {
        let flushed = Pin::new(&mut self.socket).poll_flush(context);
        if flushed.is_ready() {
            self.connection.on_flushed();
        }
        flushed
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<IoResult<()>> {
        Pin::new(&mut self.socket).poll_shutdown(context)
    }
}
