//! Clients for tests: a function replies to their requests, and their back-offs are the same each time.

use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use super::Client;
use super::auth::TokenSource;
use super::classify::{check_envelope, entries, records};
use super::rng::Rng;
pub use crate::config::Arguments;
use crate::config::Settings;
#[cfg(test)]
use crate::contract::search::{Attributes, Filters, SearchBody};
use crate::decode::Envelope;
use crate::error::Result;
#[cfg(test)]
use crate::filter::Search;
use crate::secret::Secret;
use crate::transport::Respond;
pub use crate::transport::{Reply, Step};

/// A token that is never refused.
///
/// # Errors
/// None.
pub fn token() -> Result<Arc<dyn TokenSource>> {
    Ok(Arc::new(Secret::try_new("tok-0123456789".to_owned())?))
}

/// Whether the envelope of a response with HTTP status 200 is the result of a search.
///
/// # Errors
/// As the search would fail.
pub fn check_search(envelope: &Envelope) -> Result<()> {
    check_envelope(envelope).and_then(|()| records(envelope))
}

/// Whether the envelope of a response with HTTP status 200 is the status of an export.
///
/// # Errors
/// As the call would fail.
pub fn check_download(envelope: &Envelope) -> Result<()> {
    check_envelope(envelope).and_then(|()| entries(envelope))
}

/// A search of one attribute.
#[cfg(test)]
pub fn any_search() -> Search {
    let names: Arc<[String]> = Arc::from(["n".to_owned()]);
    let body = SearchBody {
        item_type_id: 7,
        item_type_name: "store".to_owned(),
        attrs: Attributes::Names(Arc::clone(&names)),
        filters: Filters { or: Vec::new() },
    };
    Search { body, attributes: names, limit: None, known_row_cap: None }
}

impl Client {
    /// A client of a service that `respond` plays. `set` changes its arguments: the usual ones, but no result is too
    /// large.
    ///
    /// # Errors
    /// `Config` for arguments that are refused.
    pub fn of_service(
        respond: Respond,
        token: Arc<dyn TokenSource>,
        set: impl FnOnce(&mut Arguments),
    ) -> Result<Arc<Self>> {
        let mut arguments = Arguments {
            base_url: Some("http://127.0.0.1:9".to_owned()),
            max_result_bytes: Some(1 << 40),
            buffered_bytes: 64 << 20,
            ..Arguments::default()
        };
        set(&mut arguments);
        let client = Self::try_new(Settings::resolve(arguments, |_| None)?, token, None)?;
        let transport = client.transport.clone().of_service(respond);
        Ok(Arc::new(Self { transport, rng: Rng::Seeded(AtomicU64::new(7)), ..client }))
    }
}
