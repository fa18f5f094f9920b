"""What travels to another process: clients and scans without their token, exceptions without values of records."""

from __future__ import annotations

import inspect
import multiprocessing
import pickle
from typing import Any

import pytest
from support.pool_workers import count, full, raise_it

import dataaccess as da
from dataaccess import errors

TOKEN = "tok-of-the-parent"
EXCEPTIONS = [
    value for value in vars(errors).values() if inspect.isclass(value) and issubclass(value, da.DataAccessError)
]
SPAWN = multiprocessing.get_context("spawn")


def shown(error: BaseException) -> tuple[Any, ...]:
    return type(error), str(error), sorted((name, repr(value)) for name, value in vars(error).items())


@pytest.mark.fault("P10")
def test_a_client_that_travels_finds_its_token_again(
    sandbox: da.Sandbox, monkeypatch: pytest.MonkeyPatch, tmp_path: Any
) -> None:
    token = sandbox.issue_token()
    path = tmp_path / "token"
    path.write_text(token)
    path.chmod(0o600)
    monkeypatch.setenv("DATAACCESS_TOKEN", token)
    clients = [da.Client(sandbox.base_url), da.Client(sandbox.base_url, token=da.token_file(path))]
    for client in clients:
        assert token.encode() not in pickle.dumps(client)
    expected = count(clients[0])
    with SPAWN.Pool(1) as pool:
        assert pool.map_async(count, clients).get(timeout=50) == [expected] * 2


@pytest.mark.parametrize("kind", [da.Client, da.AsyncClient])
def test_a_literal_token_never_travels(kind: Any) -> None:
    client = kind("https://cdp.example.com", token=TOKEN)
    scan = client.scan_codes(["id"], allocated_time=da.on("2024-01-15"))
    for held in (client, client.with_options(timeout=1), scan, {"nested": [client]}):
        with pytest.raises(TypeError) as caught:
            pickle.dumps(held)
        assert TOKEN not in repr(caught.value)


@pytest.mark.fault("P11")
def test_every_exception_survives_a_process_pool() -> None:
    with SPAWN.Pool(1) as pool:
        pending = [(kind, pool.apply_async(raise_it, (kind,))) for kind in EXCEPTIONS]
        for kind, result in pending:
            with pytest.raises(kind) as caught:
                result.get(timeout=50)
            expected = full(kind)
            if hasattr(expected, "body_excerpt"):
                # It may have values of records.
                expected.body_excerpt = None
            assert shown(caught.value) == shown(expected)


@pytest.mark.filterwarnings("ignore::dataaccess.SandboxWarning")
def test_pickles_name_public_modules_only(tmp_path: Any) -> None:
    client = da.Client("sandbox:demo?until=2024-02-29")
    scan = client.scan_codes(["id"], allocated_time=da.days("2024-01-14", "2024-01-16"), schema={"id": str})
    error = None
    try:
        client.validate_codes(allocated_time=da.on("2024-01-15"), code_status=[7, object()])  # type: ignore[list-item] # the mistake
    except da.ValidationError as raised:
        error = raised
    kept = {
        "client": client,
        "scan": scan,
        "task": scan.tasks()[0],
        "asynchronous task": da.AsyncClient("sandbox:demo?until=2024-02-29")
        .scan_codes(allocated_time=da.on("2024-01-15"))
        .tasks()[0],
        "report": scan.to_folder(tmp_path),
        "figures": (scan.last_stats, client.stats),
        "error": error,
        "condition": da.col("a").since("2024-01-15") & da.col("b").equals(1),
        "range": da.days("2024-01-14", "2024-01-16"),
        "month": da.month("2024-01"),
        "last days": da.last_days(2),
        "yesterday": da.yesterday(),
        "until": da.until("2024-01-15"),
        "token": da.token_file("token"),
    }
    for name, value in kept.items():
        pickled = pickle.dumps(value)
        assert b"dataaccess._" not in pickled, name
        assert repr(pickle.loads(pickled)) == repr(value) or name == "error"
