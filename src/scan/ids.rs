//! Which of the ids that a scan asks for are in the rows. The ids are the list by which the scan selects, if its column
//! is among the attributes.

use std::collections::HashMap;

use arrow_array::RecordBatch;
use serde_json::Value;

use super::Scan;
use crate::cells::Block;
use crate::columns::Values;
use crate::contract::business_object::{CUSTOMER_ID, CUSTOMER_KEY};
use crate::contract::codes::POSITIONS;
use crate::contract::condition::MATCHES;
use crate::contract::search::Filters;
use crate::decode::Cell;
use crate::error::Result;

/// What a list of a code search selects, and is no id: the type of the audience and the status.
const KINDS: [&str; 2] = [POSITIONS[0], POSITIONS[2]];

/// The ids that requests ask for, and which of them were found.
#[derive(Clone, Debug)]
pub(super) struct Ids {
    column: usize,
    asked: Vec<String>,
    positions: HashMap<String, usize>,
    found: Vec<bool>,
    /// Whether the column has a type that was not compared.
    is_unknown: bool,
}

impl Scan {
    /// The ids that all requests ask for, if they ask for ids.
    pub(super) fn ids(&self) -> Option<Ids> {
        if self.limit.is_some() {
            return None;
        }
        let column = self.id_column()?;
        if self.chosen.len() == self.plan.requests() {
            return Ids::new(self, &column, &[self.plan.filters()]);
        }
        let filters: Vec<Filters> = (0..self.requests()).map(|index| self.body(index).filters).collect();
        Ids::new(self, &column, &filters)
    }

    /// Whether it selects customers by a list of their ids, and by nothing else.
    pub(super) fn selects_customers(&self) -> bool {
        let body = &self.plan.template().body;
        let [group] = body.filters.or.as_slice() else { return false };
        let [condition] = group.and.as_slice() else { return false };
        let is_list = condition.column == CUSTOMER_KEY && condition.operator == MATCHES;
        is_list && body.item_type_id == CUSTOMER_ID && self.limit.is_none()
    }

    /// How many customers it selects by their ids.
    pub(super) fn customers(&self) -> usize {
        let conditions = (0..self.requests()).flat_map(|index| self.body(index).filters.or).flat_map(|group| group.and);
        conditions.map(|condition| condition.value.as_array().map_or(0, Vec::len)).sum()
    }

    /// The column by which records are selected: the column of the longest list.
    fn id_column(&self) -> Option<String> {
        let filters = self.plan.filters();
        let [group] = filters.or.as_slice() else { return None };
        let lists = group.and.iter().filter(|condition| condition.operator == MATCHES);
        let lists = lists.filter(|condition| !KINDS.contains(&condition.column.as_str()));
        let length = |value: &Value| value.as_array().map_or(0, Vec::len);
        let longest = lists.max_by_key(|condition| length(&condition.value))?;
        let is_asked = self.attributes().contains(&longest.column);
        (is_asked && length(&longest.value) > 0).then(|| longest.column.clone())
    }
}

impl Ids {
    /// The ids of a column, which is requested.
    fn new(scan: &Scan, column: &str, filters: &[Filters]) -> Option<Self> {
        let mut asked = Vec::new();
        let mut positions = HashMap::new();
        let conditions = filters.iter().filter_map(|filters| filters.or.first()).flat_map(|group| &group.and);
        let lists = conditions.filter(|condition| condition.operator == MATCHES && condition.column == column);
        for value in lists.filter_map(|condition| condition.value.as_array()).flatten() {
            let text = value.as_str().map_or_else(|| value.to_string(), ToOwned::to_owned);
            positions.entry(text).or_insert_with_key(|text| {
                asked.push(text.clone());
                asked.len() - 1
            });
        }
        let column = scan.attributes().iter().position(|name| name == column)?;
        Some(Self { column, found: vec![false; asked.len()], asked, positions, is_unknown: false })
    }

    /// Looks the ids up in rows.
    pub(super) fn add(&mut self, batch: &RecordBatch) -> Result<()> {
        let values = Values::of_column(batch, self.column)?;
        self.is_unknown |= !values.each_written(|id| id.into_iter().for_each(|id| self.find(id)));
        Ok(())
    }

    /// Looks the ids up in rows as they are on the wire.
    pub(super) fn add_block(&mut self, block: &Block) {
        for row in 0..block.rows() {
            if let Some(Cell::String(text) | Cell::Integer(text)) = block.row(row).nth(self.column) {
                self.find(text);
            }
        }
    }

    fn find(&mut self, text: &str) {
        if let Some(position) = self.positions.get(text)
            && let Some(found) = self.found.get_mut(*position)
        {
            *found = true;
        }
    }

    /// The ids that were not found; nothing if that is not known.
    pub(super) fn missing(&self) -> Option<Vec<String>> {
        let missing = self.asked.iter().zip(&self.found).filter(|(_, found)| !**found);
        (!self.is_unknown).then(|| missing.map(|(id, _)| id.clone()).collect())
    }
}
