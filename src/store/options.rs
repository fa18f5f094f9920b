//! `storage_options=` and the variables of the environment, by the names that the crate `object_store` documents.
//!
//! What the caller gives wins. Credentials and endpoints are each taken from one place: a key of the caller with the
//! session token of the environment would be refused.

use std::collections::BTreeMap;
use std::env;
use std::fmt;
use std::str::FromStr;
use std::sync::Arc;
use std::time::Duration;

use object_store::aws::{AmazonS3Builder, AmazonS3ConfigKey};
use object_store::azure::{AzureConfigKey, MicrosoftAzureBuilder};
use object_store::gcp::{GoogleCloudStorageBuilder, GoogleConfigKey};
use object_store::{BackoffConfig, ObjectStore, ObjectStoreScheme, RetryConfig};
use url::Url;

use super::failure::redact;
use super::{Bucket, of_library};
use crate::error::{Error, Kind, Result, excerpt};
use crate::time::scaled;

/// How long a request is retried, unless a client says it.
const RETRY_FOR: Duration = Duration::from_secs(60);
/// The longest pause before a request is sent again.
const MOST_BACKOFF: Duration = Duration::from_secs(5);
/// The limit of a request, long enough for a part of an upload on a slow line.
const TIMEOUT: &str = "45 seconds";
/// Words in the names of options that are credentials, or say where they are.
const CREDENTIALS: [&str; 13] = [
    "access_key",
    "account_key",
    "master_key",
    "customer_key",
    "encryption_key",
    "secret",
    "token",
    "sas_",
    "role_arn",
    "service_account",
    "credentials",
    "client_id",
    "proxy_url",
];
const ENDPOINTS: [&str; 5] = ["endpoint", "endpoint_url", "aws_endpoint", "aws_endpoint_url", "aws_endpoint_url_s3"];

const OF_ENVIRONMENT: &str = "the environment has options too, as AWS_ENDPOINT_URL: see docs/configuration.md";

/// How to reach a store.
#[derive(Clone, Default)]
pub struct StorageOptions {
    /// Options of the caller.
    pub given: BTreeMap<String, String>,
    /// How long a request is retried. None is a minute.
    pub retry_for: Option<Duration>,
}

/// Applies the settings to a builder. Unknown variables of the environment were left out; an unknown option of the caller
/// is an error.
macro_rules! build {
    ($builder:expr, $key:ty, $settings:expr, $retry:expr, $build_error:expr) => {{
        let mut builder = $builder.with_retry($retry);
        for (name, value) in &$settings {
            let key = <$key>::from_str(name).map_err(|_| unknown(name))?;
            builder = builder.with_config(key, value);
        }
        Arc::new(builder.build().map_err($build_error)?) as Arc<dyn ObjectStore>
    }};
}

impl StorageOptions {
    /// Opens the bucket of a URL. Sends nothing.
    pub(super) fn open(&self, scheme: &ObjectStoreScheme, url: &str) -> Result<Bucket> {
        let (prefix, knows): (_, fn(&str) -> bool) = match scheme {
            ObjectStoreScheme::AmazonS3 => ("AWS_", |name| AmazonS3ConfigKey::from_str(name).is_ok()),
            ObjectStoreScheme::GoogleCloudStorage => ("GOOGLE_", |name| GoogleConfigKey::from_str(name).is_ok()),
            _ => ("AZURE_", |name| AzureConfigKey::from_str(name).is_ok()),
        };
        let settings = self.merged(env_options(prefix, knows));
        check_endpoint(&settings)?;
        let secret = |(name, value): &(String, String)| is_credential(name).then(|| value.clone());
        let secrets: Vec<String> = settings.iter().filter_map(secret).collect();
        let has_credentials = settings.iter().any(|(name, _)| is_credential(name) || name.contains("skip_signature"));
        let failed = |cause: object_store::Error| {
            let text = redact(&cause.to_string(), &secrets);
            Error::new(Kind::Config, format!("storage_options cannot be used for `{url}`: {}", excerpt(&text, 300)))
                .with_hint(OF_ENVIRONMENT)
        };
        let (retry, address) = (self.retry(), of_library(url));
        let store = match scheme {
            ObjectStoreScheme::AmazonS3 => {
                build!(AmazonS3Builder::new().with_url(address), AmazonS3ConfigKey, settings, retry, failed)
            }
            ObjectStoreScheme::GoogleCloudStorage => {
                build!(GoogleCloudStorageBuilder::new().with_url(address), GoogleConfigKey, settings, retry, failed)
            }
            _ => build!(MicrosoftAzureBuilder::new().with_url(address), AzureConfigKey, settings, retry, failed),
        };
        Ok(Bucket { store, options: self.clone(), secrets, has_credentials, is_local: false })
    }

    /// How long a request is retried.
    pub(super) fn retry_for(&self) -> Duration {
        self.retry_for.unwrap_or_else(|| scaled(RETRY_FOR))
    }

    fn retry(&self) -> RetryConfig {
        let BackoffConfig { init_backoff, base, .. } = BackoffConfig::default();
        let [init_backoff, max_backoff] = [init_backoff, MOST_BACKOFF].map(scaled);
        let retry_timeout = self.retry_for();
        // The time decides.
        let max_retries = if retry_timeout.is_zero() { 0 } else { usize::MAX };
        RetryConfig { backoff: BackoffConfig { init_backoff, max_backoff, base }, max_retries, retry_timeout }
    }

    /// All options, of which a later one replaces an earlier one: the store may have several names for it.
    fn merged(&self, environment: Vec<(String, String)>) -> Vec<(String, String)> {
        let given = self.given.iter().map(|(name, value)| (name.to_ascii_lowercase(), value.clone()));
        let given: Vec<(String, String)> = given.collect();
        let replaces = |group: fn(&str) -> bool| given.iter().any(|(name, _)| group(name));
        let (credentials, endpoint) = (replaces(is_credential), replaces(is_endpoint));
        let is_kept =
            |(name, _): &(String, String)| !(credentials && is_credential(name) || endpoint && is_endpoint(name));
        let mut settings = vec![("timeout".to_owned(), TIMEOUT.to_owned())];
        settings.extend(environment.into_iter().filter(is_kept));
        settings.extend(given);
        settings
    }
}

fn env_options(prefix: &str, knows: fn(&str) -> bool) -> Vec<(String, String)> {
    let option = |(name, value): (std::ffi::OsString, std::ffi::OsString)| {
        let name = name.to_str().filter(|name| name.starts_with(prefix))?.to_ascii_lowercase();
        Some((name, value.into_string().ok()?)).filter(|(name, value)| knows(name) && !value.is_empty())
    };
    env::vars_os().filter_map(option).collect()
}

fn is_credential(name: &str) -> bool {
    CREDENTIALS.iter().any(|word| name.contains(word))
}

fn is_endpoint(name: &str) -> bool {
    ENDPOINTS.contains(&name)
}

/// Refuses an endpoint that is no URL, and one without TLS that is not permitted: requests would fail without a reason.
fn check_endpoint(settings: &[(String, String)]) -> Result<()> {
    let last = |names: fn(&str) -> bool| settings.iter().rev().find(|(name, _)| names(name)).map(|(_, value)| value);
    let is_url = |text: &str| Url::parse(text.trim()).is_ok_and(|url| ["http", "https"].contains(&url.scheme()));
    if let Some((name, _)) = settings.iter().find(|(name, value)| is_endpoint(name) && !is_url(value)) {
        // It may have a password.
        let problem = format!("storage_options: `{name}` is no URL such as https://store.example.com");
        return Err(Error::new(Kind::Config, problem).with_hint(OF_ENVIRONMENT));
    }
    let is_plain = last(is_endpoint).is_some_and(|url| url.trim().to_ascii_lowercase().starts_with("http://"));
    // What is no boolean is refused by the library.
    let is_permitted = last(|name| name.ends_with("allow_http"))
        .is_some_and(|value| !matches!(value.to_ascii_lowercase().as_str(), "" | "0" | "false" | "off" | "no" | "n"));
    if !is_plain || is_permitted || last(|name| name.ends_with("use_emulator")).is_some() {
        return Ok(());
    }
    let problem = "storage_options: the endpoint of the store has no TLS (http://)";
    Err(Error::new(Kind::Config, problem)
        .with_hint("set aws_allow_http (azure_allow_http, google_allow_http) to \"true\" to permit it"))
}

fn unknown(name: &str) -> Error {
    Error::new(Kind::Config, format!("storage_options: this store has no option `{}`", excerpt(name, 80)))
        .with_hint("the names are those of polars and delta-rs, such as aws_endpoint_url: see docs/configuration.md")
}

/// Shows no value.
impl fmt::Debug for StorageOptions {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_set().entries(self.given.keys()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pairs(pairs: &[(&str, &str)]) -> Vec<(String, String)> {
        pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
    }

    #[test]
    fn credentials_and_endpoints_come_from_one_place() {
        let [key, token, endpoint, region] =
            ["aws_access_key_id", "aws_session_token", "aws_endpoint_url_s3", "aws_region"].map(|name| (name, "env"));
        let merged = |given: &[(&str, &str)]| {
            let options = StorageOptions { given: pairs(given).into_iter().collect(), ..Default::default() };
            options.merged(pairs(&[key, token, endpoint, region])).split_off(1)
        };
        assert_eq!(merged(&[]), pairs(&[key, token, endpoint, region]));
        let own = ("aws_access_key_id", "own");
        assert_eq!(merged(&[("AWS_ACCESS_KEY_ID", "own")]), pairs(&[endpoint, region, own]));
        let own = [("aws_region", "own"), ("endpoint_url", "own")];
        assert_eq!(merged(&own), pairs(&[key, token, region, own[0], own[1]]));
    }

    #[test]
    fn no_text_shows_a_value() {
        let options = StorageOptions {
            given: pairs(&[("aws_secret_access_key", "s3cr3t")]).into_iter().collect(),
            ..Default::default()
        };
        assert_eq!(format!("{options:?}"), "{\"aws_secret_access_key\"}");
    }
}
