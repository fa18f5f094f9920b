//! The business object of a search: its name and its id, which the document ties together for two of them.

use super::input::InputValue;
use super::nearest::did_you_mean;
use super::problems::{Place, Problems};
use super::values::{self, is_not};
use crate::contract::business_object::{KNOWN, PROMOTION_CODE_ID, PROMOTION_CODE_NAME};

/// What could be read of it.
pub(super) struct ItemType {
    pub(super) name: Option<String>,
    pub(super) id: Option<i64>,
}

impl ItemType {
    /// Reads both arguments; a name of the document needs no id.
    pub(super) fn read(name: &InputValue, id: &InputValue, problems: &mut Problems) -> Self {
        let name_place = Place::argument("item_type_name", "itemTypeName");
        let id_place = Place::argument("item_type_id", "itemTypeId");
        let read_name = problems.keep(&name_place, name, values::name(name, "the name of a business object"));
        let read_id = match id {
            InputValue::Null => None,
            id => problems.keep(&id_place, id, whole(id)),
        };
        let known_id = read_name.as_deref().and_then(id_of);
        match (&read_name, read_id, known_id) {
            (Some(name), None, None) if id.is_null() => {
                let names = KNOWN.map(|(name, _)| name);
                problems.add(
                    &id_place,
                    id,
                    format!(
                        "is required for \"{name}\", whose id the document does not give{}",
                        did_you_mean(name, names)
                    ),
                );
            }
            (Some(name), Some(id), Some(known)) if id != known => {
                let message = format!("\"{name}\" has the id {known}, not {id}: leave item_type_id out");
                problems.add(&id_place, &InputValue::Integer(id), message);
            }
            (Some(other), Some(id), None) => {
                if let Some((known, _)) = KNOWN.into_iter().find(|(_, known)| *known == id) {
                    problems.add(&name_place, name, format!("the id {id} is that of \"{known}\", not of \"{other}\""));
                }
            }
            _ => {}
        }
        Self { name: read_name, id: read_id.or(known_id) }
    }

    /// Whether the rules of promotion codes apply, which the id decides, or the name where the id is wrong.
    pub(super) fn is_promotion_code(&self) -> bool {
        self.id == Some(PROMOTION_CODE_ID) || self.name.as_deref() == Some(PROMOTION_CODE_NAME)
    }
}

fn id_of(name: &str) -> Option<i64> {
    KNOWN.into_iter().find(|(known, _)| *known == name).map(|(_, id)| id)
}

fn whole(id: &InputValue) -> Result<i64, String> {
    match id {
        InputValue::Integer(id) => Ok(*id),
        InputValue::Text(text) if text.trim().parse::<i64>().is_ok() => {
            Err(format!("{} is a text: write int({})", id.shown(), id.shown()))
        }
        id => Err(is_not(id, "the id of a business object, which is a whole number")),
    }
}
