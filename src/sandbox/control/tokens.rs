//! Tokens of the service: issue and revoke.

use serde::Deserialize;
use serde_json::json;

use super::answer::{Answer, Failure};
use super::call::Call;
use super::clock::duration;
use crate::sandbox::service::Service;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Issue {
    scopes: Option<Vec<String>>,
    expires_in: Option<f64>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Revoke {
    token: String,
}

/// Issues a token; without scopes it has all of them.
pub(super) fn issue(service: &Service, call: &Call) -> Result<Answer, Failure> {
    let Issue { scopes, expires_in } = call.json()?;
    let expires_in = expires_in.map(|seconds| duration("expires_in", seconds)).transpose()?;
    let scopes = match scopes {
        Some(scopes) => service.check_scopes(&scopes).map(|()| scopes)?,
        None => service.interpretation().switches.scopes(),
    };
    let token = service.tokens.issue(&scopes, service.clock.now(), expires_in)?;
    Ok(Answer::created(json!({"token": token})))
}

/// Makes a token invalid.
pub(super) fn revoke(service: &Service, call: &Call) -> Result<Answer, Failure> {
    let Revoke { token } = call.json()?;
    Ok(Answer::ok(json!({"revoked": service.tokens.revoke(&token)})))
}
