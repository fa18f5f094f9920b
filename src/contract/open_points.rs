//! The switches of the sandbox. Each decides a question that the API specification leaves open.
//!
//! `docs/open-points.md` has the questions, the defaults and their reasons; a test holds the two tables equal.

/// Each switch with the values that it takes, its default first.
pub const SWITCHES: [(&str, &str); 21] = [
    ("day_zone", "\"UTC\" or another IANA name"),
    ("source_timezone", "\"UTC\" or another IANA name"),
    ("day_comparison", "\"exclusive\", \"inclusive\", \"instants\""),
    ("operators", "\"refused\", \"unmatched\""),
    ("time_unit", "\"refused\", \"unmatched\""),
    ("attrs_format", "\"both\", \"array\", \"string\""),
    ("empty_shape", "\"array\", \"object\", \"null\", \"absent\""),
    ("last_used_type", "\"string\", \"object\""),
    ("channel_id_type", "\"number\", \"string\""),
    ("generic_scope", "a string"),
    ("download_scope", "a string"),
    ("finished_status", "an integer"),
    ("failed_status", "an integer"),
    ("finished_types", "\"plain\", \"string\""),
    ("unknown_export", "\"not_found\", \"no_entries\""),
    ("malformed_request", "\"status\", \"code_only\""),
    ("row_order", "\"id\", \"reverse\", \"scattered\""),
    ("maximum_rows", "none, or an integer of at least 1"),
    ("key_order", "\"code_first\", \"code_last\""),
    ("gzip", "\"off\", \"on\""),
    ("latency", "seconds before a response, at least 0"),
];
