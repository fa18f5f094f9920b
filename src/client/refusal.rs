//! What the envelope of a response says about a failure: code, message and reason. Each member is read separately, so
//! that an invalid one does not hide the others.

use serde_json::Value;

use crate::contract::envelope::field;
use crate::decode::Envelope;
use crate::error::{Details, excerpt};

/// Most characters of a quoted text.
pub(super) const EXCERPT_CHARACTERS: usize = 200;

/// The refusal of a response with HTTP status 200.
pub(super) fn of_envelope(envelope: &Envelope, code: i64) -> Details {
    let text = |name| envelope.text(name).map(|text| excerpt(&text, EXCERPT_CHARACTERS));
    Details {
        status: Some(200),
        code: Some(code),
        api_message: text(field::MESSAGE),
        data: text(field::DATA),
        code_message: text(field::CODE_MESSAGE),
        ..Details::default()
    }
}

/// The refusal of a response with another HTTP status, whose body need not be an envelope.
pub(super) fn of_body(status: u16, body: &[u8]) -> Details {
    let envelope: Value = serde_json::from_slice(body).unwrap_or_default();
    let at = |pointer: &str| {
        let text = envelope.pointer(pointer).and_then(Value::as_str);
        text.map(|text| excerpt(text, EXCERPT_CHARACTERS))
    };
    let text = |name| at(&format!("/{name}"));
    // Of gateways: RFC 9457, RFC 6749, and what many APIs have.
    let of_gateway = || ["/detail", "/error_description", "/error/message"].into_iter().find_map(at);
    Details {
        status: Some(status),
        code: envelope.get(field::CODE).and_then(Value::as_i64),
        api_message: text(field::MESSAGE).or_else(of_gateway),
        data: text(field::DATA),
        code_message: text(field::CODE_MESSAGE),
        ..Details::default()
    }
}

/// The words of the service for a message: `: message: reason`. Only strings are quoted: other data may have records.
pub(super) fn words(refusal: &Details) -> String {
    let message = refusal.api_message.as_ref();
    let reason = refusal.data.as_ref().filter(|reason| message != Some(*reason));
    let said = [message, reason].into_iter().flatten().filter(|said| !said.is_empty());
    said.flat_map(|said| [": ", said.as_str()]).collect()
}
