"""Names that do not exist: the error names a similar one, and tab completion shows all that do."""

from __future__ import annotations

import subprocess
import sys
import traceback
from collections.abc import Callable
from copy import copy
from typing import Any

import pytest

import dataaccess as da

PACKAGE: Any = da
OTHER: Any = da.AsyncClient("https://cdp.example.com", token="tok").scan_codes(
    ["id"], allocated_time=da.on("2024-01-15")
)


def scan(sandbox: da.Sandbox) -> Any:
    return sandbox.client().scan_codes(["id", "pool_id"], allocated_time=da.on("2024-01-15"))


CASES: dict[str, tuple[Callable[[da.Sandbox], object], str]] = {
    "module": (lambda _: PACKAGE.day, "module 'dataaccess' has no attribute 'day'; did you mean 'days'?"),
    "exception": (lambda _: PACKAGE.ValidationErr, "; did you mean 'ValidationError'?"),
    "client": (
        lambda s: scan(s)._client.search_code,
        "'Client' object has no attribute 'search_code'; did you mean 'search_codes'?",
    ),
    "scan": (lambda s: scan(s).colum_names, "'Scan' object has no …; did you mean 'column_names'?"),
    "task": (lambda s: scan(s).tasks()[0].to_panda, "; did you mean 'to_pandas'?"),
    "table": (lambda s: scan(s).head(1).colums, "; did you mean 'columns'?"),
    "to_df": (lambda s: scan(s).to_df(), "'Scan' object has no attribute 'to_df': write to_pandas() or to_polars()"),
    "to_dataframe": (lambda s: scan(s).to_dataframe(), "attribute 'to_dataframe': write to_pandas() or to_polars()"),
    "to_df of a table": (lambda s: scan(s).head(1).to_df(), ": write to_pandas() or to_polars()"),
    "lazy": (
        lambda _: OTHER.to_lazyframe(),
        "'AsyncScan' object …: queries of polars do not await: use a scan of da.Client",
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_an_unknown_attribute_is_reported_with_a_known_one(name: str, sandbox: da.Sandbox) -> None:
    act, expected = CASES[name]
    with pytest.raises(AttributeError) as caught:
        act(sandbox)
    for part in expected.split("…"):
        assert part in str(caught.value)
    # Python suggests a name itself when it prints the traceback.
    assert traceback.format_exception_only(caught.value)[-1].lower().count("did you mean") <= 1


def test_an_unlike_name_is_reported_alone(sandbox: da.Sandbox) -> None:
    client: Any = sandbox.client()
    scan_of_a_day = scan(sandbox)
    with pytest.raises(AttributeError, match=r"'Client' object has no attribute 'zzz'$"):
        client.zzz  # noqa: B018
    assert not hasattr(scan_of_a_day, "_repr_mimebundle_")
    assert copy(scan_of_a_day).column_names == scan_of_a_day.column_names


def test_a_property_that_fails_shows_its_own_error() -> None:
    class Broken(da.Client):
        @property
        def lost(self) -> object:
            return self.base_url.nothing  # type: ignore[attr-defined]

    with pytest.raises(AttributeError, match="'str' object has no attribute 'nothing'"):
        Broken("https://cdp.example.com", token="tok").lost  # noqa: B018


def test_tab_completion_shows_what_users_type() -> None:
    shown = dir(da)
    assert shown == sorted(shown)
    assert {*da.__all__, "errors", "filters", "reports", "sandbox", "tokens", "types"} <= set(shown)
    assert {name for name in shown if name.endswith(("Error", "Warning"))} <= set(da.errors.__all__)
    # What no page uses is found where it is not shown, and suggested.
    assert not {"ScanStats", "TaskReport", "FolderLockedError"} & set(shown)
    assert da.FolderLockedError is da.errors.FolderLockedError
    with pytest.raises(AttributeError, match="did you mean 'FolderLockedError'"):
        da.FolderLokedError  # type: ignore[attr-defined]  # noqa: B018
    assert dir(da.errors) == sorted(da.errors.__all__)


def test_the_import_loads_no_exception_for_it() -> None:
    code = "import sys, dataaccess; print([name for name in sys.modules if name.startswith('dataaccess.')])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, text=True)
    assert done.stdout.strip() == "[]"


def test_a_scan_knows_its_types_before_anything_is_sent(sandbox: da.Sandbox) -> None:
    client = sandbox.client()
    assert scan(sandbox).schema == {"id": "string", "pool_id": "int64"}
    items = client.scan_items("customer", ["customer_id", "city"], schema={"city": "string"})
    assert items.schema["city"] == "string"
    assert client.stats.requests == 0
