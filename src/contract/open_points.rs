//! What the document does not show, and what we chose: the table of switches.
//!
//! Each row is a question the document leaves open. The client must live with any answer; the sandbox
//! must pick one. The README prints this table, and a test holds the two equal.

/// One open point of the document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OpenPoint {
    /// Name of the switch.
    pub name: &'static str,
    /// Section of the document that leaves it open.
    pub section: &'static str,
    /// What is not shown.
    pub question: &'static str,
    /// What the sandbox answers unless told otherwise.
    pub default: &'static str,
    /// Why that default.
    pub reason: &'static str,
    /// What the sandbox's switch of this name takes, its default first; empty where there is no choice.
    pub values: &'static str,
}

/// Shortens the table below.
const fn point(
    name: &'static str,
    section: &'static str,
    question: &'static str,
    default: &'static str,
    reason: &'static str,
    values: &'static str,
) -> OpenPoint {
    OpenPoint { name, section, question, default, reason, values }
}

/// Every open point that changes what client or sandbox do.
pub const OPEN_POINTS: [OpenPoint; 32] = [
    point(
        "day_zone",
        "2.4",
        "the zone in which DAY cuts a time into days",
        "UTC; the texts of times in records are UTC whatever the zone",
        "the timestamps of exports are UTC",
        "\"UTC\" or another IANA name",
    ),
    point(
        "day_comparison",
        "2.4",
        "whether after_date and before_date include the day itself",
        "both exclude it; equals is that whole day",
        "the three then divide time without overlap",
        "\"exclusive\", \"inclusive\"",
    ),
    point(
        "operators",
        "2.4, 4.1",
        "operators beyond matches, equals, before_date and after_date",
        "refused with a 400 envelope",
        "an answer to an operator nobody has seen would be invented",
        "\"refused\", \"unmatched\"",
    ),
    point(
        "time_unit",
        "4.1",
        "time units beyond DAY",
        "refused with a 400 envelope",
        "as for operators",
        "\"refused\", \"unmatched\"",
    ),
    point(
        "value_type",
        "2.4, 4.1",
        "values of value_type beyond normal",
        "refused with a 400 envelope; the client sends normal unless a raw condition has another",
        "as for operators",
        "",
    ),
    point(
        "condition_type",
        "2.4, 4.1",
        "values of condition_type beyond comp_attr",
        "refused with a 400 envelope; the client sends comp_attr unless a raw condition has another",
        "as for operators",
        "",
    ),
    point(
        "attrs_as",
        "4.1",
        "whether attrs of a generic search is an array or a text",
        "the client sends the array; the sandbox takes both",
        "the promotion code search says array, and takes nothing else",
        "\"both\", \"array\", \"text\"",
    ),
    point(
        "attrs_separator",
        "4.1",
        "the separator of the names when attrs is a string",
        "a comma, with or without blanks around it; so no name contains a comma",
        "the usual separator of a list",
        "",
    ),
    point(
        "empty_shape",
        "4.2",
        "the shape of an empty answer",
        "data.data is []; the client also takes {}, null and absent, unless strict_empty",
        "the plainest array without elements",
        "\"array\", \"object\", \"null\", \"absent\"",
    ),
    point(
        "last_used_type",
        "2.2",
        "type of last_used_source and last_used_time once set",
        "text; the time as YYYY-MM-DD HH:MM:SS",
        "as the other times of a code are written",
        "\"text\", \"object\"",
    ),
    point(
        "channel_id_type",
        "2.2",
        "type and value of channel_id",
        "a number, or null",
        "as the other ids of a code",
        "\"number\", \"text\"",
    ),
    point("generic_scope", "5", "scope of the generic search", "item", "both searches share one path", "a text"),
    point("download_scope", "5", "scope of the segment download", "download", "the body names it so", "a text"),
    point(
        "finished_status",
        "3.2",
        "exportStatus of a finished export",
        "2; the client looks at endTime alone",
        "the next number after 1; nothing depends on it",
        "a whole number",
    ),
    point(
        "failed_status",
        "3.2",
        "exportStatus of a failed export",
        "3; the client looks at endTime alone",
        "the next number after 2; nothing depends on it",
        "a whole number",
    ),
    point(
        "finished_types",
        "2.4",
        "types of durations, responseCode and responseMessage once set",
        "milliseconds as a number, 200, and \"OK\"",
        "the plainest reading of the names",
        "\"plain\", \"text\"",
    ),
    point(
        "unknown_export",
        "4.3",
        "the answer for an unknown exportId",
        "a 404 envelope with code 404",
        "an empty success would look like an export that has not begun",
        "\"not_found\", \"no_entries\"",
    ),
    point(
        "unknown_object",
        "7",
        "the answer for an object that is not there",
        "a 404 envelope with code 404 that names it",
        "as for an unknown exportId; a deployment may have the object",
        "",
    ),
    point(
        "malformed_request",
        "7",
        "the answer to a malformed request",
        "a 400 envelope with code 400 that names the problem; a member the document does not list is one",
        "the envelope is promised for every response; a member nobody reads would be a silent mistake",
        "\"status\", \"code_only\"",
    ),
    point(
        "refusal_data",
        "2.1, 7",
        "data of a refusal other than the permission failure",
        "a string, the same as message",
        "data is an object, an array or a string, and that of the permission failure says what went wrong",
        "",
    ),
    point(
        "no_conditions",
        "4.1",
        "what a filter without conditions finds",
        "an empty AND finds every record, an empty OR none",
        "as all of no conditions hold, and no one of no groups does",
        "",
    ),
    point(
        "empty_values",
        "2.4",
        "which records an empty list of values matches",
        "none; the client refuses to send an empty list",
        "no value is in an empty list",
        "",
    ),
    point(
        "equals_values",
        "2.4",
        "how many values equals takes for a text or a number",
        "exactly one; others are refused with a 400 envelope",
        "matches takes several",
        "",
    ),
    point(
        "member_defaults",
        "4.1, 4.2",
        "whether a condition may leave out time_unit or extendValue",
        "it may, but for the time_unit of allocated_time; absent they are DAY and []",
        "the generic search lists neither; one that is given is checked",
        "",
    ),
    point(
        "repeated_names",
        "4.1",
        "an attribute named twice in attrs, or a member that comes twice",
        "refused with a 400 envelope",
        "one of the two would be lost in silence",
        "",
    ),
    point(
        "declared_types",
        "2.4",
        "a data_type that is not that of the attribute",
        "refused with a 400 envelope that names the right one",
        "a guess at what was meant could find the wrong records",
        "",
    ),
    point(
        "content_type",
        "4.1",
        "Content-Type of a generic search",
        "it may be absent or another",
        "the document requires it for promotion codes alone",
        "",
    ),
    point(
        "row_order",
        "4.4",
        "order of the records",
        "by id",
        "tests can rely on it",
        "\"id\", \"reverse\", \"scattered\"",
    ),
    point(
        "maximum_rows",
        "4.4",
        "paging and maximum result size",
        "no limit, no paging",
        "none is shown",
        "none, or a whole number from 1 on",
    ),
    point(
        "key_order",
        "2.1",
        "the order of an answer's members",
        "code, message, data; status before the records",
        "as the document lists them",
        "\"code_first\", \"code_last\"",
    ),
    point(
        "gzip",
        "1",
        "whether an answer is compressed for a client that asks for it",
        "never",
        "plain JSON is all that is shown",
        "\"off\", \"on\"",
    ),
    point(
        "latency",
        "8",
        "how long an answer takes",
        "as long as the work takes",
        "tests are fast",
        "seconds before an answer, from 0 on",
    ),
];
