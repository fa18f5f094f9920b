"""Objects declared from Python, and files that keep them."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from support.stores import EXPECTED, STORE, service, stored

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


def test_a_file_keeps_objects_and_rows(tmp_path: Path) -> None:
    path = tmp_path / "data.db"
    with da.Sandbox(db=path) as sandbox:
        sandbox.declare("store", 7, STORE)
        sandbox.load("store", [{"store_id": "a", "area": 250, "opened": "2024-01-31 10:00:00"}])
    assert [entry.name for entry in tmp_path.iterdir()] == ["data.db"]
    with da.Sandbox(db=str(path)) as sandbox:
        assert stored(sandbox) == EXPECTED[:1]


def test_a_file_that_is_no_store_is_refused(tmp_path: Path) -> None:
    notes = tmp_path / "notes.txt"
    notes.write_text("my notes " * 200, encoding="utf-8")
    with pytest.raises(da.SandboxError, match=re.escape(str(notes))):
        da.Sandbox(db=notes)
    link = tmp_path / "link.db"
    link.symlink_to(tmp_path / "data.db")
    with pytest.raises(da.SandboxError, match=re.escape(str(link))):
        da.Sandbox(db=link)
    assert notes.read_text(encoding="utf-8") == "my notes " * 200


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
