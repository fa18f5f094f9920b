//! Business objects the document names (sections 1, 2 and 4).

/// Item type id of promotion codes (section 2.2).
pub const PROMOTION_CODE_ID: i64 = -100;
/// Item type name of promotion codes (section 4.2, rule 1).
pub const PROMOTION_CODE_NAME: &str = "promotion_code";
/// Item type id of customers (section 4.1).
pub const CUSTOMER_ID: i64 = -1003;
/// Item type name of customers (section 4.1).
pub const CUSTOMER_NAME: &str = "customer";

/// The business objects whose name and id the document gives.
pub const KNOWN: [(&str, i64); 2] = [(CUSTOMER_NAME, CUSTOMER_ID), (PROMOTION_CODE_NAME, PROMOTION_CODE_ID)];

/// Attributes of a customer that the document names (section 2.3); a deployment may have more.
pub const CUSTOMER_ATTRIBUTES: [&str; 2] = ["customer_id", "name"];
