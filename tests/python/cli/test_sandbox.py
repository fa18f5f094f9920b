"""`dataaccess sandbox`, as a process of its own."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import subprocess
import sys
import sysconfig
import urllib.request
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from support.commands import MODULE, RunHere, run, serving
from support.plain_http import SEARCH, PlainService

import dataaccess as da

SCRIPT = Path(sysconfig.get_path("scripts")) / ("dataaccess.exe" if os.name == "nt" else "dataaccess")


def test_it_prints_what_a_client_needs_and_serves_the_demo_data() -> None:
    with serving() as served:
        assert served.exports.keys() == {"DATAACCESS_BASE_URL", "DATAACCESS_TOKEN", "DATAACCESS_SANDBOX_ADMIN_TOKEN"}
        codes = served.client().search_codes(["id"], allocated_time=da.yesterday())
        assert codes
        assert codes[0]["id"].startswith("demo-")
        assert served.client().download_segment(5637051)["message"] == "Success"


def test_a_recording_is_replayed(tmp_path: Path) -> None:
    path = str(tmp_path / "exchanges.jsonl")
    with da.Sandbox.demo(until="2024-02-29") as sandbox, pytest.warns(da.DataAccessWarning):
        rows = sandbox.client(record=path).search_codes(["id"], allocated_time=da.on("2024-01-15"))
    with serving("--replay", path) as served:
        assert served.client().search_codes(["id"], allocated_time=da.on("2024-01-15")) == rows


def test_a_port_can_be_chosen() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
        refused = run("sandbox", "--port", str(port))
    assert refused.returncode == 69
    assert refused.stdout == ""
    assert re.fullmatch(rf"dataaccess: .*127\.0\.0\.1:{port}.*\n", refused.stderr)
    with serving("--port", str(port)) as served:
        assert served.exports["DATAACCESS_BASE_URL"] == f"http://127.0.0.1:{port}"


@pytest.mark.skipif(sys.platform == "win32", reason="a signal to another process ends it there")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, *([signal.SIGHUP] if os.name == "posix" else [])])
def test_signals_end_it_cleanly(number: signal.Signals) -> None:
    with ExitStack() as stack:
        # A process that is started here does not ignore the signal, as it would under `nohup`.
        stack.callback(signal.signal, number, signal.signal(number, signal.default_int_handler))
        served = stack.enter_context(serving())
        served.client().search_codes(["id"], allocated_time=da.on("2024-01-15"))
        code, reported = served.stop(number)
        assert code == 0
        assert "Traceback" not in reported
        address = ("127.0.0.1", int(served.exports["DATAACCESS_BASE_URL"].rpartition(":")[2]))
        with pytest.raises(ConnectionRefusedError):
            socket.create_connection(address, timeout=1).close()


def test_it_prints_what_it_serves_and_no_token() -> None:
    with serving("--scopes", "item") as served:
        served.client().search_codes(["id"], allocated_time=da.on("2024-01-15"))
        with pytest.raises(da.PermissionDeniedError):
            served.client().download_segment(5637051)
        url = served.exports["DATAACCESS_BASE_URL"]
        with urllib.request.urlopen(f"{url}/openapi.json") as response:
            paths = re.findall(r'"(/access/[^"]*)": \{', response.read().decode())
        _, reported = served.stop()
    assert [path for path in paths if f"POST {url}{path} " not in reported] == []
    assert f"GET  {url}/openapi.json " in reported
    assert "synthetic" in reported
    assert " item." in reported
    assert served.exports["DATAACCESS_TOKEN"] not in reported


def test_switches_and_names_are_taken() -> None:
    words = ["--switch", "generic_scope=crm.read", "--switch", "maximum_rows=2", "--host-names", "box.internal"]
    with serving(*words) as served:
        ids = [f"demo-customer-{number:04}" for number in range(1, 9)]
        with pytest.warns(da.MissingIdsWarning):
            rows = served.client().search_items("customer", ["customer_id"], da.col("customer_id").matches(ids))
        assert len(rows) == 2
        address = urllib.request.Request(served.exports["DATAACCESS_BASE_URL"] + "/openapi.json")
        address.add_header("Host", "box.internal")
        with urllib.request.urlopen(address) as response:
            assert response.status == 200
        _, reported = served.stop()
        assert " item, download, crm.read." in reported


@pytest.mark.parametrize("command", [MODULE, (str(SCRIPT),)], ids=["module", "script"])
def test_it_is_a_module_and_a_script(command: tuple[str, ...]) -> None:
    assert run("--version", command=command).stdout == f"dataaccess {da.__version__}\n"
    refused = run("sandbox", "--port=no", command=command)
    assert (refused.returncode, refused.stdout) == (2, "")
    assert "Traceback" not in refused.stderr


OWN = "a-token-of-thirty-two-characters-1"
ADMIN = "an-admin-token-of-thirty-two-characters"
SHOP = {"object": "store", "item_type_id": 7, "attributes": {"store_id": "string"}, "rows": [{"store_id": "s-1"}]}


def private(path: Path, text: str) -> str:
    path.touch(mode=0o600)
    path.write_text(text, encoding="utf-8")
    return str(path)


def stores(client: da.Client) -> list[dict[str, Any]]:
    return client.search_items("store", ["store_id"], da.col("store_id").equals("s-1"), item_type_id=7)


def test_a_scenario_is_served_and_comes_back_with_a_reset(tmp_path: Path) -> None:
    scenario = tmp_path / "night.json"
    scenario.write_text(json.dumps({"seeds": [SHOP]}), encoding="utf-8")
    with serving("--scenario", str(scenario)) as served:
        admin = served.exports["DATAACCESS_SANDBOX_ADMIN_TOKEN"]
        with da.Sandbox.connect(served.exports["DATAACCESS_BASE_URL"], admin) as sandbox:
            sandbox.clear("store")
            assert stores(served.client()) == []
            sandbox.reset()
            assert stores(served.client()) == [{"store_id": "s-1"}]
        assert str(scenario) in served.stop()[1]


def test_a_line_for_each_request_says_what_was_asked_and_what_came(tmp_path: Path) -> None:
    scenario = tmp_path / "busy.json"
    busy = {"kind": "status", "status": 503, "retry_after": 0, "times": 1}
    scenario.write_text(json.dumps({"demo": True, "faults": [busy]}), encoding="utf-8")
    for words, lines in (([], 3), (["--quiet"], 0)):
        with serving("--scenario", str(scenario), *words) as served:
            client = served.client()
            client.search_codes(["id"], allocated_time=da.on("2024-01-15"))
            client.download_segment(5637051)
            _, reported = served.stop()
        found = [line for line in reported.splitlines() if "->" in line]
        assert len(found) == lines
        if found:
            search = r"POST /access/api/item/search promotion_code -> "
            assert re.fullmatch(rf"{search}503 .* \(fault .*\) a fault that was asked for", found[0])
            assert re.fullmatch(rf"{search}200 [\d.]+ k?B [\d.]+ ms", found[1])
            assert re.fullmatch(r"POST /access/api/segment/download export 5637051 -> 200 .* ms", found[2])
        assert client.settings["token"].value == "(hidden)"
        assert served.exports["DATAACCESS_TOKEN"] not in reported


def test_a_line_has_no_control_characters_and_no_value() -> None:
    with serving("--empty") as served:
        content = {
            "itemTypeName": "x\x1b[2J",
            "filters": {"OR": [{"AND": [{"column": "c", "value": ["secret"]}, 5]}, 7]},
        }
        with PlainService(served.exports["DATAACCESS_BASE_URL"], "no-token") as service:
            assert service.post(f"{SEARCH}?x=%1b", content).status == 403
        _, reported = served.stop()
    line = next(line for line in reported.splitlines() if "->" in line)
    assert "\x1b" not in line
    assert "secret" not in line


def test_json_has_the_admin_token_too() -> None:
    process = subprocess.Popen([*MODULE, "sandbox", "--json"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    with process:
        assert process.stdout
        found = json.loads(process.stdout.readline())
        assert found["admin_token"].startswith("sbx_admin_")
        with da.Sandbox.connect(found["base_url"], found["admin_token"]) as sandbox:
            assert sandbox.scopes == found["scopes"]
        process.terminate()


def test_other_machines_need_two_tokens_which_are_not_printed(tmp_path: Path) -> None:
    given = {"--token-file": OWN, "--admin-token-file": ADMIN}
    files = [word for name, token in given.items() for word in (name, private(tmp_path / name, token))]
    everywhere = ["--empty", "--host", "0.0.0.0", "--allow-remote"]
    variables = {"DATAACCESS_SANDBOX_TOKEN": OWN, "DATAACCESS_SANDBOX_ADMIN_TOKEN": ADMIN}
    for words, environment in ((files, {}), ([], variables)):
        with serving(*everywhere, *words, **environment) as served:
            assert served.exports.keys() == {"DATAACCESS_BASE_URL"}
            port = served.exports["DATAACCESS_BASE_URL"].rpartition(":")[2]
            url = f"http://127.0.0.1:{port}"
            assert da.Client(url, token=OWN).search_codes(allocated_time=da.on("2024-01-15")) == []
            with da.Sandbox.connect(url, ADMIN) as sandbox:
                assert len(sandbox.requests) == 1
            with urllib.request.urlopen(f"{url}/healthz") as response:
                assert json.load(response)["status"] == "ok"
            _, reported = served.stop()
            assert OWN not in reported
            assert ADMIN not in reported


def test_a_token_of_the_caller_outlives_a_restart_and_comes_by_file_or_environment(tmp_path: Path) -> None:
    token_file = private(tmp_path / "token", f"{OWN}\n")
    for words, environment in (
        (["--token-file", token_file], {}),
        ([], {"DATAACCESS_SANDBOX_TOKEN": OWN}),
        (["--token-file", token_file], {"DATAACCESS_SANDBOX_TOKEN": "the-file-wins-over-this"}),
    ):
        with serving("--empty", *words, **environment) as served:
            assert served.exports["DATAACCESS_TOKEN"] == OWN
            assert served.client().search_codes(allocated_time=da.after("2000-01-01")) == []
            _, reported = served.stop()
            assert OWN not in reported


def test_a_token_of_the_environment_has_every_scope(run_here: RunHere, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DATAACCESS_SANDBOX_TOKEN", OWN)
    code, output, reported = run_here("sandbox", "--scopes", "item")
    assert (code, output) == (78, "")
    assert "--scopes" in reported
    assert "DATAACCESS_SANDBOX_TOKEN" in reported
    assert OWN not in reported
    monkeypatch.setenv("DATAACCESS_SANDBOX_TOKEN", "short")
    code, output, reported = run_here("sandbox")
    assert (code, output) == (78, "")
    assert re.search(r"\btoken: .* 16 ", reported)


@pytest.mark.parametrize(
    ("words", "variables", "code", "data"),
    [
        (["--host", "example.com"], {}, 2, r"--host .*127\.0\.0\.1 "),
        (["--host", "0.0.0.0"], {}, 2, r"--host: 0\.0\.0\.0 .* allow_remote "),
        (["--scopes", "itme"], {}, 2, "--scopes: .*`itme`"),
        (["--switch", "latency=abc"], {}, 2, "--switch: latency: `abc` "),
        (["--allow-remote"], {}, 2, "--allow-remote: .* admin_token"),
        (["--allow-remote"], {"TOKEN": OWN}, 2, "--allow-remote: .* admin_token"),
        (["--allow-remote"], {"TOKEN": "t" * 31, "ADMIN_TOKEN": ADMIN}, 78, "token: .* 32 "),
        (["--allow-remote"], {"TOKEN": OWN, "ADMIN_TOKEN": OWN}, 78, "admin.token.* token"),
        (["--until", "2024-02-29", "--empty"], {}, 2, "--until, --empty"),
        (["--scenario", "a.toml", "--switch", "latency=1"], {}, 2, "--scenario .* platform .* switches"),
        (["--replay", "/nowhere/exchanges", "--platform", "all-utc"], {}, 2, "--replay .*--port, --json .*--quiet"),
        (["--token-file", "/nowhere/token"], {}, 2, "'--token-file': .* /nowhere/… "),
        (["--replay", "/nowhere/exchanges"], {}, 69, "`/nowhere/exchanges` "),
        (["--token-file", __file__, "--scopes", "item"], {}, 2, "--scopes .*--token-file"),
    ],
    ids=str,
)
def test_what_cannot_be_is_reported(
    run_here: RunHere,
    monkeypatch: pytest.MonkeyPatch,
    words: list[str],
    variables: dict[str, str],
    code: int,
    data: str,
) -> None:
    for name, value in variables.items():
        monkeypatch.setenv(f"DATAACCESS_SANDBOX_{name}", value)
    found, output, printed = run_here("sandbox", *words)
    assert (found, output) == (code, "")
    assert re.search(data, printed), printed
    assert printed.count("\n") == 1
    assert OWN not in printed
