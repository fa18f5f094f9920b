"""Objects declared from Python."""

from __future__ import annotations

import re
from typing import Any

import pytest
from support.stores import STORE, service

import dataaccess as da

__all__ = ["service"]


def quoted(message: str) -> list[str]:
    """What a message has in backticks."""
    return re.findall(r"`([^`]*)`", message)


def test_declarations_that_cannot_be_are_refused(service: da.Sandbox) -> None:
    def declaration_error(name: str, item_type_id: int, attributes: Any) -> str:
        with pytest.raises(da.SandboxError) as caught:
            service.declare(name, item_type_id, attributes)
        return str(caught.value)

    wrong = declaration_error("shop", 8, {"id": "text"})
    assert quoted(wrong) == ["shop", "id", "text"]
    types = {"string", "int64", "float64", "timestamp", "bool", "list", "number", "datetime"}
    assert types <= set(re.findall(r"\w+", wrong))
    taken = declaration_error("shop", 7, {"id": "string"})
    assert (quoted(taken), " 7 " in taken) == (["shop", "store"], True)
    assert quoted(declaration_error("shop", 8, {})) == ["shop"]
    with pytest.raises(da.SandboxError, match=r"`shop`.* promotion_code, customer\b"):
        service.load("shop", [])
    service.declare("store", 7, STORE)


def test_a_stopped_service_loads_nothing() -> None:
    sandbox = da.Sandbox()
    sandbox.stop()
    with pytest.raises(da.SandboxError):
        sandbox.load("customer", [])
    with pytest.raises(da.SandboxError):
        sandbox.declare("store", 7, STORE)


def test_a_scan_is_loaded_into_another_service(sandbox: da.Sandbox) -> None:
    scan = sandbox.client().scan_codes(["id", "name", "pool_id"], allocated_time=da.on("2024-01-15"))
    with da.Sandbox() as other:
        other.declare("copy", 7, {"id": "string", "name": "string", "pool_id": "number"})
        assert other.load("copy", scan) == scan.collect().num_rows
