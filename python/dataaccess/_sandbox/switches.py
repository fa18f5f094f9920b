"""The names of the switches, for code that must not import the core. `docs/open-points.md` says what each chooses."""

SWITCHES = (
    "day_zone",
    "day_comparison",
    "operators",
    "time_unit",
    "attrs_format",
    "empty_shape",
    "last_used_type",
    "channel_id_type",
    "generic_scope",
    "download_scope",
    "finished_status",
    "failed_status",
    "finished_types",
    "unknown_export",
    "malformed_request",
    "row_order",
    "maximum_rows",
    "key_order",
    "gzip",
    "latency",
)
