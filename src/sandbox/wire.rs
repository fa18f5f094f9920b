//! The socket of a connection, between the kernel and HTTP.
//!
//! It enforces the time limits on reading, sends nothing but answers, and carries out how a connection ends;
//! it knows no HTTP.

use std::io::{Error as IoError, ErrorKind, IoSlice, Result as IoResult};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio::time::{Instant, Sleep, sleep_until};

use super::connection_state::{ConnectionState, Ending};

/// A socket with its line.
pub(super) struct Wire {
    socket: TcpStream,
    line: Arc<ConnectionState>,
    withholds: bool,
    alarm: Pin<Box<Sleep>>,
}

impl Wire {
    /// The wire of a connection.
    pub(super) fn new(socket: TcpStream, line: Arc<ConnectionState>) -> Self {
        // Without it answers could wait for an acknowledgement; should it fail, they are only slower.
        let _ = socket.set_nodelay(true);
        Self { socket, line, withholds: false, alarm: Box::pin(sleep_until(Instant::now())) }
    }

    /// Whether something was kept from the client because it belongs to no answer.
    pub(super) fn withholds(&self) -> bool {
        self.withholds
    }

    /// Whether what is awaited is overdue; if not, the task is woken when it is.
    fn is_overdue(&mut self, context: &mut Context<'_>) -> bool {
        let Some(deadline) = self.line.deadline() else { return false };
        if self.alarm.deadline() != deadline {
            self.alarm.as_mut().reset(deadline);
        }
        self.alarm.as_mut().poll(context).is_ready()
    }
}

impl Drop for Wire {
    fn drop(&mut self) {
        if self.line.ending() == Some(Ending::Reset) {
            // Should it fail, the connection ends properly instead.
            let _ = self.socket.set_zero_linger();
        }
    }
}

impl AsyncRead for Wire {
    fn poll_read(self: Pin<&mut Self>, context: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<IoResult<()>> {
        let this = self.get_mut();
        let before = buffer.filled().len();
        match Pin::new(&mut this.socket).poll_read(context, buffer) {
            Poll::Pending if this.is_overdue(context) => Poll::Ready(Err(IoError::from(ErrorKind::TimedOut))),
            Poll::Pending => Poll::Pending,
            Poll::Ready(read) => {
                if buffer.filled().len() > before {
                    this.line.hears();
                }
                // A drip of bytes is read each time, but no later than allowed.
                if this.is_overdue(context) { Poll::Ready(Err(ErrorKind::TimedOut.into())) } else { Poll::Ready(read) }
            }
        }
    }
}

impl AsyncWrite for Wire {
    fn poll_write(self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<IoResult<usize>> {
        self.poll_write_vectored(context, &[IoSlice::new(bytes)])
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        parts: &[IoSlice<'_>],
    ) -> Poll<IoResult<usize>> {
        if !self.line.sends() {
            self.withholds = true;
            return Poll::Ready(Ok(parts.iter().map(|part| part.len()).sum()));
        }
        let written = Pin::new(&mut self.socket).poll_write_vectored(context, parts);
        self.line.moves(written.is_ready());
        written
    }

    fn is_write_vectored(&self) -> bool {
        self.socket.is_write_vectored()
    }

    /// HTTP flushes when nothing it has to say is left to be written.
    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<IoResult<()>> {
        let flushed = Pin::new(&mut self.socket).poll_flush(context);
        if flushed.is_ready() {
            self.line.has_sent();
        }
        flushed
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<IoResult<()>> {
        Pin::new(&mut self.socket).poll_shutdown(context)
    }
}
