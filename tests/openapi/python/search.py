"""Calls the sandbox with the package that openapi-python-client generated, and prints what it found as JSON."""

from __future__ import annotations

import json
import os

from generated.api.exports import download_segment
from generated.api.items import search_items
from generated.client import AuthenticatedClient
from generated.models import (
    CodeCondition,
    Envelope,
    ExportEnvelope,
    Filters,
    Group,
    ItemCondition,
    PromotionCode,
    Search,
    SearchEnvelope,
    SegmentDownload,
    SegmentDownloadScope,
)

client = AuthenticatedClient(os.environ["BASE_URL"], os.environ["TOKEN"])
wrong = AuthenticatedClient(os.environ["BASE_URL"], "wrong")


def search(by: AuthenticatedClient, body: Search) -> SearchEnvelope | Envelope:
    response = search_items.sync(client=by, body=body)
    assert response is not None
    return response


def matches(column: str, data_type: str, value: list[bool | float | str]) -> CodeCondition:
    return CodeCondition(type_=2, column=column, data_type=data_type, operator="matches", value=value, extend_value=[])


day = CodeCondition(
    type_=2,
    column="allocated_time",
    data_type="datetime",
    operator="equals",
    value=int(os.environ["DAY"]),
    time_unit="DAY",
)
conditions: list[CodeCondition | ItemCondition] = [
    matches("allocated_audience", "string", [os.environ["AUDIENCE"]]),
    matches("code_status", "number", [1, 3, 4]),
    day,
]
code_search = Search(
    item_type_id=-100,
    item_type_name="promotion_code",
    attrs=["id", "code_status", "last_used_time"],
    filters=Filters(or_=[Group(and_=conditions)]),
)
customer_condition = ItemCondition(
    column="customer_id",
    data_type="string",
    operator="matches",
    value_type="normal",
    value=["demo-customer-0001", "demo-customer-0002"],
    condition_type="comp_attr",
)
customer_search = Search(
    item_type_id=-1003,
    item_type_name="customer",
    attrs=["customer_id", "name"],
    filters=Filters(or_=[Group(and_=[customer_condition])]),
)

found = search(client, code_search)
assert isinstance(found, SearchEnvelope)
codes = [PromotionCode.from_dict(item.to_dict()) for item in found.data.data or []]

customers = search(client, customer_search)
assert isinstance(customers, SearchEnvelope)

download = download_segment.sync(
    client=client, body=SegmentDownload(scope=SegmentDownloadScope.DOWNLOAD, export_id=5637051)
)
assert isinstance(download, ExportEnvelope)

refused = search_items.sync_detailed(client=wrong, body=customer_search)
assert isinstance(refused.parsed, Envelope)

print(
    json.dumps(
        {
            "codes": [[code.id, code.code_status, code.last_used_time] for code in codes],
            "customers": [[customer["customer_id"], customer["name"]] for customer in customers.data.data or []],
            "entries": [[entry.exported_rows, entry.response_code] for entry in download.data.entries],
            "total": download.data.meta.total,
            "refused": [refused.status_code, refused.parsed.code, refused.parsed.data],
        }
    )
)
