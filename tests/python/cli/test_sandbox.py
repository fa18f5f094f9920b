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
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from support.commands import MODULE, run, serving

import dataaccess as da
from dataaccess.cli import main

SCRIPT = Path(sysconfig.get_path("scripts")) / ("dataaccess.exe" if os.name == "nt" else "dataaccess")

Ended = Callable[..., tuple[int, str, str]]


@pytest.fixture
def ended(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Ended:
    """Runs a command that ends by itself in this process: its code, its output, and its standard error."""
    monkeypatch.setattr(signal, "signal", lambda *_: None)

    def run(*words: str) -> tuple[int, str, str]:
        try:
            code = main(words)
        except SystemExit as stopped:
            code = int(stopped.code or 0)
        return code, *capsys.readouterr()

    return run


def test_it_prints_what_a_client_needs_and_serves_the_demo_data() -> None:
    with serving() as served:
        assert served.exports.keys() == {"DATAACCESS_BASE_URL", "DATAACCESS_TOKEN"}
        codes = served.client().search_codes(["id"], allocated_time=da.on("2024-01-15"))
        assert codes
        assert codes[0]["id"].startswith("demo-")
        assert served.client().download_segment(5637051)["message"] == "Success"


def test_the_environment_alone_is_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    with serving("--demo") as served:
        for name, value in served.exports.items():
            monkeypatch.setenv(name, value)
        assert da.search_codes(["id"], allocated_time=da.on("2024-01-15"), limit=1)


def test_address_and_token_can_be_json() -> None:
    process = subprocess.Popen([*MODULE, "sandbox", "--json"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)  # noqa: S603
    with process:
        assert process.stdout
        found = json.loads(process.stdout.readline())
        assert found["scopes"] == ["item", "download"]
        assert da.Client(found["base_url"], token=found["token"]).check().is_ok
        process.terminate()


def test_empty_is_empty() -> None:
    with serving("--empty") as served:
        assert served.client().search_codes(allocated_time=da.after("2000-01-01")) == []


def test_a_recording_is_replayed(tmp_path: Path) -> None:
    path = str(tmp_path / "exchanges.jsonl")
    with da.Sandbox.demo() as sandbox, pytest.warns(da.RecordingWarning):
        rows = sandbox.client(record=path).search_codes(["id"], allocated_time=da.on("2024-01-15"))
    with serving("--replay", path) as served:
        assert served.client().search_codes(["id"], allocated_time=da.on("2024-01-15")) == rows


def test_a_file_keeps_its_data(tmp_path: Path) -> None:
    file = tmp_path / "service.db"
    with da.Sandbox(db=file) as sandbox:
        sandbox.load("customer", [{"customer_id": "17", "name": "Ada"}])
    for _ in range(2):
        with serving("--db", str(file)) as served:
            rows = served.client().search_items("customer", ["name"], da.col("customer_id").equals("17"))
            assert rows == [{"name": "Ada"}]
            _, reported = served.stop()
            assert str(file) in reported


def test_a_file_is_made(tmp_path: Path) -> None:
    with serving("--db", str(tmp_path / "new.db")) as served:
        assert served.client().search_codes(allocated_time=da.after("2000-01-01")) == []
    assert (tmp_path / "new.db").exists()


def test_a_file_that_is_no_store_is_refused(ended: Ended, tmp_path: Path) -> None:
    file = tmp_path / "notes.txt"
    file.write_text("not a database, but long enough to be read as one\n" * 100, encoding="utf-8")
    code, output, reported = ended("sandbox", "--db", str(file))
    assert (code, output) == (69, "")
    assert reported.startswith("dataaccess: ")
    assert reported.count("\n") == 1


def test_the_token_has_the_scopes_asked_for_and_no_others() -> None:
    with serving("--scopes", "download") as served:
        assert served.client().download_segment(5637051)["code"] == 200
        with pytest.raises(da.PermissionDeniedError):
            served.client().search_codes(allocated_time=da.on("2024-01-15"))


def test_a_port_can_be_chosen() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
        refused = run("sandbox", "--port", str(port))
    assert refused.returncode == 69
    assert refused.stdout == ""
    assert re.fullmatch(rf"dataaccess: .*127\.0\.0\.1:{port}.*\n", refused.stderr)
    with serving("--port", str(port)) as served:
        assert served.exports["DATAACCESS_BASE_URL"] == f"http://127.0.0.1:{port}"


@contextmanager
def heeding(number: signal.Signals) -> Iterator[None]:
    """A process that is started here does not ignore the signal, as it would under `nohup`."""
    before = signal.signal(number, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(number, before)


@pytest.mark.skipif(sys.platform == "win32", reason="a signal to another process ends it there")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, *([signal.SIGHUP] if os.name == "posix" else [])])
def test_signals_end_it_cleanly(number: signal.Signals) -> None:
    with heeding(number), serving() as served:
        served.client().search_codes(["id"], allocated_time=da.on("2024-01-15"))
        code, reported = served.stop(number)
        assert code == 0
        assert "Traceback" not in reported
        address = ("127.0.0.1", int(served.exports["DATAACCESS_BASE_URL"].rpartition(":")[2]))
        with pytest.raises(ConnectionRefusedError):
            socket.create_connection(address, timeout=1).close()


def test_it_prints_what_it_serves_and_no_token() -> None:
    with serving("--scopes", "item") as served:
        url = served.exports["DATAACCESS_BASE_URL"]
        with urllib.request.urlopen(f"{url}/openapi.json") as answer:  # noqa: S310 - our own address
            paths = re.findall(r'"(/access/[^"]*)": \{', answer.read().decode())
        _, reported = served.stop()
    assert [path for path in paths if f"POST {url}{path} " not in reported] == []
    assert f"GET  {url}/openapi.json " in reported
    assert "synthetic data" in reported
    assert "scopes item." in reported
    assert served.exports["DATAACCESS_TOKEN"] not in reported


@pytest.mark.parametrize("port", ["65536", "-1", "http", "8 0", ""])
def test_a_port_that_is_none_is_refused(ended: Ended, port: str) -> None:
    code, output, reported = ended("sandbox", f"--port={port}")
    assert (code, output) == (2, "")
    assert reported.startswith("dataaccess sandbox: invalid value for '--port': ") or "--port" in reported
    assert reported.count("\n") == 1


@pytest.mark.parametrize("words", [("--demo", "--empty"), ("--demo", "--db", "x.db"), ("--empty", "--replay", "x")])
def test_the_data_is_one_of(
    ended: Ended, words: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert ended("sandbox", *words)[0] == 2
    assert list(tmp_path.iterdir()) == []


OWN = "my-own-token-0123456789"


@pytest.fixture
def token_file(tmp_path: Path) -> str:
    file = tmp_path / "token"
    file.write_text(f"{OWN}\n", encoding="utf-8")
    file.chmod(0o600)
    return str(file)


def test_a_token_of_the_caller_outlives_a_restart_and_comes_by_file_or_environment(
    tmp_path: Path, token_file: str
) -> None:
    data = ["--db", str(tmp_path / "data.db")]
    for words, environment in (
        (["--token-file", token_file], {}),
        ([], {"DATAACCESS_SANDBOX_TOKEN": OWN}),
        (["--token-file", token_file], {"DATAACCESS_SANDBOX_TOKEN": "the-file-wins-over-this"}),
    ):
        with serving(*data, *words, **environment) as served:
            assert served.exports["DATAACCESS_TOKEN"] == OWN
            assert served.client().search_codes(allocated_time=da.after("2000-01-01")) == []
            _, reported = served.stop()
            assert OWN not in reported


@pytest.mark.parametrize("option", ["--token", "--tok", "--secret", "--password", "--header"])
def test_no_option_takes_a_secret_which_every_user_of_the_machine_could_read(ended: Ended, option: str) -> None:
    assert ended("sandbox", option, OWN)[0] == 2
    assert ended("sandbox", f"{option}={OWN}")[0] == 2


def test_a_token_of_the_environment_has_every_scope(ended: Ended, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DATAACCESS_SANDBOX_TOKEN", OWN)
    code, output, reported = ended("sandbox", "--scopes", "item")
    assert (code, output) == (78, "")
    assert "--scopes" in reported
    assert "DATAACCESS_SANDBOX_TOKEN" in reported
    assert OWN not in reported
    monkeypatch.setenv("DATAACCESS_SANDBOX_TOKEN", "short")
    code, output, reported = ended("sandbox")
    assert (code, output) == (78, "")
    assert "token: it needs 16 or more visible ASCII characters" in reported


def test_switches_and_names_are_taken() -> None:
    words = ["--switch", "generic_scope=crm.read", "--switch", "maximum_rows=2", "--host-names", "box.internal"]
    with serving(*words) as served:
        rows = served.client().search_items(
            "customer",
            ["customer_id"],
            da.col("customer_id").matches([f"demo-customer-{number:04}" for number in range(1, 9)]),
        )
        assert len(rows) == 2
        address = urllib.request.Request(served.exports["DATAACCESS_BASE_URL"] + "/openapi.json")  # noqa: S310
        address.add_header("Host", "box.internal")
        with urllib.request.urlopen(address) as answer:  # noqa: S310 - our own address
            assert answer.status == 200
        _, reported = served.stop()
        assert "scopes item, download, crm.read." in reported


@pytest.mark.parametrize(
    ("words", "code", "reported"),
    [
        (["--scopes", "itme"], 2, "dataaccess: --scopes: there is no `itme`; there are item, download\n"),
        (["--switch", "latnecy=1"], 2, "dataaccess: --switch: there is no switch `latnecy`; did you mean latency?\n"),
        (["--switch", "maximum_rows=[1]"], 2, "--switch: maximum_rows: [1] is not a value of it"),
        (["--switch", "latency"], 2, "'latency' is not NAME=VALUE, such as latency=0.5"),
        (["--token-file", "/nowhere/token"], 2, "the token file /nowhere/… cannot be read: No such file"),
        (["--replay", "/nowhere/exchanges"], 69, "`/nowhere/exchanges` cannot be read: No such file"),
        (["--replay", "/nowhere/exchanges", "--switch", "latency=1"], 2, "--replay takes --port and --json alone"),
        (["--token-file", "/dev/null", "--scopes", "item"], 2, "--scopes does not apply to the token"),
    ],
    ids=str,
)
def test_options_that_cannot_be_are_reported(ended: Ended, words: list[str], code: int, reported: str) -> None:
    found, output, printed = ended("sandbox", *words)
    assert (found, output) == (code, "")
    assert reported in printed


@pytest.mark.skipif(sys.platform == "win32", reason="pipes end the POSIX way")
def test_a_closed_output_ends_it_quietly() -> None:
    reading, writing = os.pipe()
    os.close(reading)
    done = subprocess.run(  # noqa: S603 - our own command
        [*MODULE, "sandbox"], stdout=writing, stderr=subprocess.PIPE, encoding="utf-8", timeout=30, check=False
    )
    os.close(writing)
    assert done.returncode == 141
    assert done.stderr.endswith("The token has the scopes item, download.\n")


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="there is no device that is always full")  # noqa: PTH110
def test_an_output_that_is_full_is_reported() -> None:
    with open("/dev/full", "w") as full:  # noqa: PTH123
        done = subprocess.run(  # noqa: S603 - our own command
            [*MODULE, "sandbox"], stdout=full, stderr=subprocess.PIPE, encoding="utf-8", timeout=30, check=False
        )
    assert done.returncode == 74
    assert done.stderr.endswith("dataaccess: the output could not be written: No space left on device\n")


@pytest.mark.parametrize("command", [MODULE, (str(SCRIPT),)], ids=["module", "script"])
def test_it_is_a_module_and_a_script(command: tuple[str, ...]) -> None:
    assert run("--version", command=command).stdout == f"dataaccess {da.__version__}\n"
    refused = run("sandbox", "--port=no", command=command)
    assert (refused.returncode, refused.stdout) == (2, "")
    assert "Traceback" not in refused.stderr


def test_it_helps(ended: Ended) -> None:
    assert "sandbox" in ended("--help")[1]
    _, reported, _ = ended("sandbox", "--help")
    assert all(
        option in reported
        for option in ["--port", "--scopes", "--token-file", "--host-names", "--switch", "--demo", "--empty", "--db"]
    )
    code, output, reported = ended()
    assert (code, output) == (2, "")
    assert "--help" in reported or "usage" in reported
