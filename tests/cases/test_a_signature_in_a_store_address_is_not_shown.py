"""What is behind `?` or `#` of a store address is a signature, and no error has it.

Source: a security review; a SAS URL of Azure Storage, RFC 3986 section 3.4.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import dataaccess as da

ADDRESSES = [
    "s3://b/f{}?X-Amz-Signature=SIG",
    "az://c/f{}?sv=1&sig=SIG",
    "az://c/f{}?sv=1&sig=SIG@x",
    "abfss://c@a.dfs.core.windows.net/f{}?sig=SIG",
    "gs://b/f{}#SIG",
    "https://acc.blob.core.windows.net/c/f{}?sv=1&sig=SIG",
]
CALLS: list[Callable[[Any, str], Any]] = [
    lambda scan, address: scan.to_parquet(address.format(".parquet")),
    lambda scan, address: scan.to_parquet(address.format(".csv")),
    lambda scan, address: scan.to_jsonl(address.format(".jsonl"), storage_options={"a": "b"}),
    lambda scan, address: scan.to_folder(address.format("")),
    lambda scan, address: scan.read_folder(address.format("")),
    lambda scan, address: da.folder_status(address.format("")),
    lambda scan, address: scan.to_parquet(Path(address.format(".parquet"))),
]


@pytest.mark.parametrize("address", ADDRESSES)
@pytest.mark.parametrize("call", CALLS)
def test_a_signature_is_not_shown(sandbox: da.Sandbox, call: Callable[[Any, str], Any], address: str) -> None:
    scan = sandbox.client().scan_codes(["id"], allocated_time=da.on("2024-01-15"))
    with pytest.raises((da.ConfigError, da.ValidationError)) as caught:
        call(scan, address)
    error: Any = caught.value
    assert "SIG" not in f"{error} {error!r} {vars(error)} {pickle.dumps(error)!r}"
    assert not any("SIG" in repr(problem) for problem in getattr(error, "problems", ()))
