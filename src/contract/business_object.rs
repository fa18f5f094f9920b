//! Business objects that the API specification names (1, 2, 4).

/// `itemTypeId` of promotion codes (2.2).
pub const PROMOTION_CODE_ID: i64 = -100;
/// `itemTypeName` of promotion codes (4.2, rule 1).
pub const PROMOTION_CODE_NAME: &str = "promotion_code";
/// `itemTypeId` of customers (4.1).
pub const CUSTOMER_ID: i64 = -1003;
/// `itemTypeName` of customers (4.1).
pub const CUSTOMER_NAME: &str = "customer";

/// The business objects whose name and id are both specified.
pub const KNOWN: [(&str, i64); 2] = [(CUSTOMER_NAME, CUSTOMER_ID), (PROMOTION_CODE_NAME, PROMOTION_CODE_ID)];

/// Specified attributes of a customer (2.3); a deployment may have more.
pub const CUSTOMER_ATTRIBUTES: [&str; 2] = [CUSTOMER_KEY, "name"];
/// The attribute with the id of a customer, a string (2.3).
pub const CUSTOMER_KEY: &str = "customer_id";
