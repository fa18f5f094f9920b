//! What the envelope of a response says about a failure: code, message and reason.

use serde_json::Value;

use crate::contract::envelope::field;
use crate::decode::Envelope;
use crate::error::{Details, excerpt};

/// Most characters of a quoted text.
pub(super) const EXCERPT_CHARACTERS: usize = 200;

/// The members of a refusal's envelope. Each is read separately, so that an invalid one does not hide the others.
#[derive(Debug)]
pub(super) struct Refusal {
    pub(super) status: u16,
    pub(super) code: Option<i64>,
    pub(super) message: Option<String>,
    data: Option<String>,
    code_message: Option<String>,
}

impl Refusal {
    /// The refusal of a response with HTTP status 200.
    pub(super) fn of_envelope(envelope: &Envelope, code: i64) -> Self {
        let text = |name| envelope.text(name).map(|text| excerpt(&text, EXCERPT_CHARACTERS));
        Self {
            status: 200,
            code: Some(code),
            message: text(field::MESSAGE),
            data: text(field::DATA),
            code_message: text(field::CODE_MESSAGE),
        }
    }

    /// The refusal of a response with another HTTP status, whose body need not be an envelope.
    pub(super) fn of_body(status: u16, body: &[u8]) -> Self {
        let envelope: Value = serde_json::from_slice(body).unwrap_or_default();
        let at = |pointer: &str| {
            let text = envelope.pointer(pointer).and_then(Value::as_str);
            text.map(|text| excerpt(text, EXCERPT_CHARACTERS))
        };
        let text = |name| at(&format!("/{name}"));
        // Of gateways: RFC 9457, RFC 6749, and what many APIs have.
        let of_gateway = || ["/detail", "/error_description", "/error/message"].into_iter().find_map(at);
        Self {
            status,
            code: envelope.get(field::CODE).and_then(Value::as_i64),
            message: text(field::MESSAGE).or_else(of_gateway),
            data: text(field::DATA),
            code_message: text(field::CODE_MESSAGE),
        }
    }

    /// The words of the service for a message: `: message: reason`. Only strings are quoted: other data may have
    /// records.
    pub(super) fn words(&self) -> String {
        let reason = self.data.as_ref().filter(|reason| self.message.as_ref() != Some(*reason));
        let said = [self.message.as_ref(), reason].into_iter().flatten().filter(|said| !said.is_empty());
        said.flat_map(|said| [": ", said.as_str()]).collect()
    }

    /// Sets the details of the error.
    pub(super) fn set(self, details: &mut Details) {
        let Self { status, code, message, data, code_message } = self;
        (details.status, details.code, details.api_message) = (Some(status), code, message);
        (details.data, details.code_message) = (data, code_message);
    }
}
