//! The token of each request: fixed, or asked of a source by one caller while the others wait.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use tokio::sync::Mutex;

use super::Token;
use crate::error::Result;
use crate::secret::Secret;

/// An expiring token is renewed so long before its end.
const MARGIN: Duration = Duration::from_secs(300);

/// What a source gives.
#[derive(Clone, Debug)]
pub struct Grant {
    /// The token.
    pub token: Secret,
    /// When it ends; one without an end is kept until the service refuses it.
    pub expires_at: Option<SystemTime>,
}

/// The answer of a source, to be awaited.
pub type TokenFuture = Pin<Box<dyn Future<Output = Result<Grant>> + Send>>;

/// Gives tokens. Its future must not need the interpreter: a thread of its own may.
pub trait TokenSource: Send + Sync + fmt::Debug {
    /// Asks for a token.
    fn fetch(&self) -> TokenFuture;
}

#[derive(Debug)]
pub(super) enum Auth {
    Fixed(Secret),
    Source { source: Arc<dyn TokenSource>, held: Mutex<Option<Grant>> },
}

impl Auth {
    pub(super) fn new(token: Token) -> Self {
        match token {
            Token::Fixed(secret) => Self::Fixed(secret),
            Token::Source(source) => Self::Source { source, held: Mutex::new(None) },
        }
    }

    /// The token to send. The lock is held while a source is asked, so that it is asked once for all.
    pub(super) async fn token(&self) -> Result<Secret> {
        match self {
            Self::Fixed(secret) => Ok(secret.clone()),
            Self::Source { source, held } => {
                let mut held = held.lock().await;
                if let Some(grant) = held.as_ref().filter(|grant| is_fresh(grant)) {
                    return Ok(grant.token.clone());
                }
                let grant = source.fetch().await?;
                let token = grant.token.clone();
                *held = Some(grant);
                Ok(token)
            }
        }
    }

    /// After `refused` was refused: whether there is another token now.
    pub(super) async fn renew(&self, refused: &Secret) -> Result<bool> {
        let Self::Source { source, held } = self else { return Ok(false) };
        let mut held = held.lock().await;
        if held.as_ref().is_some_and(|grant| grant.token != *refused) {
            return Ok(true);
        }
        let grant = source.fetch().await?;
        let changed = grant.token != *refused;
        *held = Some(grant);
        Ok(changed)
    }
}

fn is_fresh(grant: &Grant) -> bool {
    grant.expires_at.is_none_or(|end| end > SystemTime::now() + MARGIN)
}
