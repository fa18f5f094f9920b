//! The body of a segment download (section 4.3).

use serde_json::Value;

use super::node::Node;
use crate::contract::SCOPE_DOWNLOAD;
use crate::sandbox::reply::Refusal;

/// Checks the body and gives the export it names.
pub(in crate::sandbox) fn export_id(body: &Value) -> Result<i64, Refusal> {
    let body = Node::body(body);
    body.object(&["scope", "exportId"])?;
    body.member("scope")?.constant(SCOPE_DOWNLOAD)?;
    body.member("exportId")?.integer()
}
