"""Arguments that do not fit: the error names the public function, and a name that may be meant."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

import dataaccess as da

ON_A_DAY: dict[str, Any] = {"allocated_time": da.on("2024-01-15")}
# Any, as each call is a mistake.
CLIENT: Any = da.Client("https://cdp.example.com", token="tok")
OTHER: Any = da.AsyncClient("https://cdp.example.com", token="tok")
PACKAGE: Any = da
SCAN: Any = CLIENT.scan_codes(["id"], **ON_A_DAY)


def awaited(method: Any, **keywords: Any) -> object:
    async def call() -> object:
        return await method(**keywords)

    return asyncio.run(call())


CASES: dict[str, tuple[Callable[[], object], str]] = {
    "search": (
        lambda: CLIENT.search_codes(**ON_A_DAY, limt=3),
        "Client.search_codes() … 'limt'; did you mean 'limit'?",
    ),
    "function": (lambda: PACKAGE.search_codes(**ON_A_DAY, limt=3), "search_codes() … 'limt'; did you mean 'limit'?"),
    "far": (lambda: CLIENT.search_codes(**ON_A_DAY, colour=3), "Client.search_codes() … 'colour'"),
    "validate": (
        lambda: CLIENT.validate_codes(**ON_A_DAY, code_state=3),
        "Client.validate_codes() … 'code_state'; did you mean 'code_status'?",
    ),
    "output": (
        lambda: SCAN.to_parquet("x", progres=print),
        "Scan.to_parquet() … 'progres'; did you mean 'progress'?",
    ),
    "rows": (lambda: SCAN.iter_rows(timezone="UTC"), "Scan.iter_rows() … 'timezone': it is called tz="),
    "frame": (lambda: SCAN.to_polars(timezone="UTC"), "Scan.to_polars() … 'timezone': it is called tz="),
    "parquet": (
        lambda: SCAN.to_parquet("x", compression="snappy"),
        "Scan.to_parquet() … 'compression': Parquet files are always compressed, with zstd",
    ),
    "resume": (lambda: SCAN.to_folder("x", resume=True), "Scan.to_folder() … 'resume': a run always resumes"),
    "attribute": (
        lambda: CLIENT.search_codes(**ON_A_DAY, last_used_time=da.on("2024-01-15")),
        (
            "Client.search_codes() … 'last_used_time': no condition of codes on last_used_time is specified: "
            "request the attribute and filter the result"
        ),
    ),
    "attribute of a function": (
        lambda: PACKAGE.scan_codes(**ON_A_DAY, pool_id=901),
        "scan_codes() … 'pool_id': no condition of codes on pool_id is specified",
    ),
    "decoded": (
        lambda: CLIENT.search_codes(**ON_A_DAY, decode_status=True),
        "Client.search_codes() … 'decode_status': it is an argument of scan_codes",
    ),
    "verify": (
        lambda: PACKAGE.Client("https://x", verify=False),
        "Client() … 'verify': certificates are always verified; name your own CA by ca_bundle=",
    ),
    "api_key": (lambda: PACKAGE.Client("https://x", api_key="x"), "Client() … 'api_key': it is called token="),
    "logger": (
        lambda: CLIENT.with_options(logger=print),
        "with_options() … 'logger': log records go to logging.getLogger(\"dataaccess\")",
    ),
    "to_folder": (lambda: SCAN.to_folder("x", refesh=["x"]), "Scan.to_folder() … 'refesh'; did you mean 'refresh'?"),
    "task": (lambda: SCAN.tasks()[0].collect(tzz=1), "Task.collect() … 'tzz'; did you mean 'tz'?"),
    "awaited": (
        lambda: awaited(OTHER.scan_codes(["id"], **ON_A_DAY).to_csv, path="x", seperator=";"),
        "AsyncScan.to_csv() … 'path'",
    ),
    "coroutine": (
        lambda: awaited(OTHER.search_codes, **ON_A_DAY, limits=1),
        "AsyncClient.search_codes() … 'limits'; did you mean 'limit'?",
    ),
    "options": (lambda: CLIENT.with_options(timout=3), "with_options() … 'timout'; did you mean 'timeout'?"),
    "client": (lambda: PACKAGE.Client("https://x", timout=3), "Client() … 'timout'; did you mean 'timeout'?"),
    "async client": (
        lambda: PACKAGE.AsyncClient("https://x", retry_four=3),
        "AsyncClient() … 'retry_four'; did you mean 'retry_for'?",
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_an_unknown_argument_is_reported_with_the_public_name(name: str) -> None:
    act, expected = CASES[name]
    with pytest.raises(TypeError) as caught:
        act()
    function, rest = expected.split(" … ")
    assert str(caught.value).startswith(f"{function} got an unexpected keyword argument {rest}")


def test_so_are_other_arguments_that_do_not_fit() -> None:
    with pytest.raises(TypeError, match=r"^Scan\.to_parquet\(\) missing 1 required positional argument: 'target'$"):
        SCAN.to_parquet()
    with pytest.raises(TypeError, match=r"^Client\.search_codes\(\) missing 1 required keyword-only argument"):
        CLIENT.search_codes()
