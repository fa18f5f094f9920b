"""`scan`: what is wrong with its file or folder is found before anything is sent, in each format alike."""

from __future__ import annotations

import errno
import os
import re
import signal
import stat
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from support.commands import MODULE
from support.raw_server import serving

import dataaccess as da

DAY = ("scan", "codes", "--on", "2024-01-15")
KNOWN = (
    r"\.parquet, \.pq; \.csv, \.tsv,.* \.gz, \.zst; \.json, \.jsonl, \.ndjson,.* \.gz, \.zst; "
    r"\.arrow, \.feather, \.ipc\b"
)


@pytest.mark.parametrize(
    ("words", "code", "data"),
    [
        ("-o codes", 2, "--output 'codes' .*--folder codes"),
        ("-o codes --format arrow", 2, "--output 'codes' .*--folder codes"),
        ("-o a.x", 2, rf"--output 'a\.x' .*{KNOWN}.*--format"),
        ("-o a.parquet --format arrow", 2, r"--output 'a\.parquet' .*--format parquet.*--format arrow"),
        ("-o a.arrow --format csv", 2, r"--output 'a\.arrow' .*--format arrow.*--format csv"),
        ("-o a.arrow.gz", 2, r"--output 'a\.arrow\.gz' .* \.gz, .*--format arrow .* \.arrow"),
        ("-o a.parquet.zst", 2, r"--output 'a\.parquet\.zst' .* \.zst, .*--format parquet "),
        ("-o a.csv.xz --format csv", 2, r"--output 'a\.csv\.xz' .* \.xz, .*--format csv "),
        ("-o no/a.parquet", 74, r"`no/a\.parquet` "),
        ("-o no/a.arrow", 74, r"`no/a\.arrow` "),
        ("-o /dev/null --format arrow", 74, "`/dev/null` "),
        ("--folder file.csv", 74, r"--folder: 'file\.csv' .*--output"),
        ("--explain --folder a --format csv", 2, "--folder .*--output .*--format"),
        ("--explain --requested-at", 2, "--requested-at: .*--folder"),
        ("--explain -o a.x", 2, rf"--output 'a\.x' .*{KNOWN}"),
        ("--explain --json", 2, "--explain .*--json .*`dataaccess validate`"),
    ],
)
def test_a_target_that_does_not_fit_sends_nothing(
    run: Any, demo: da.Sandbox, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: str, code: int, data: str
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "codes").mkdir()
    (tmp_path / "file.csv").touch()
    before = len(demo.requests)
    ended = run(*DAY, *words.split())
    assert (ended.code, ended.output, ended.reported.count("\n")) == (code, "", 1)
    assert re.match(f"dataaccess: {data}", ended.reported), ended.reported
    assert sorted(path.name for path in tmp_path.iterdir()) == ["codes", "file.csv"]
    assert len(demo.requests) == before


@pytest.mark.usefixtures("demo")
@pytest.mark.parametrize(
    "words", ["", "--folder codes", "-o a.arrow", "-o a.b.tsv", "--format csv", "-o - --format arrow"]
)
def test_explaining_takes_each_target_and_writes_none(
    run: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: str
) -> None:
    monkeypatch.chdir(tmp_path)
    ended = run(*DAY, "--explain", *words.split(), terminal=True)
    assert (ended.code, ended.output.partition(" in ")[0]) == (0, "promotion_code (-100)")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.usefixtures("demo")
def test_an_arrow_file_is_as_other_files(run: Any, tmp_path: Path) -> None:
    for name, mode in (("a.arrow", 0o644), ("private.ipc", 0o600)):
        file = tmp_path / name
        file.write_text("old", encoding="utf-8")
        file.chmod(mode)
        assert run(*DAY, "-o", file.as_uri()).code == 0
        with pa.ipc.open_file(file) as reader:
            assert reader.read_all().num_rows == 73
        if sys.platform != "win32":
            assert stat.S_IMODE(file.stat().st_mode) == mode
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.arrow", "private.ipc"]


@pytest.mark.usefixtures("demo")
@pytest.mark.skipif(sys.platform != "linux", reason="Linux names open files in /proc")
@pytest.mark.parametrize("kind", ["arrow", "csv"])
def test_a_link_to_an_open_file_stays(run: Any, tmp_path: Path, kind: str) -> None:
    with (tmp_path / "log").open("w") as log:
        link = tmp_path / "stdout"
        link.symlink_to(f"/proc/self/fd/{log.fileno()}")
        ended = run(*DAY, "-o", str(link), "--format", kind)
        assert link.is_symlink()
    assert (ended.code, str(link) in ended.reported) == (74, True)


@pytest.mark.usefixtures("demo")
def test_a_suffix_with_more_dots_is_tabbed(run: Any, tmp_path: Path) -> None:
    file = tmp_path / "january.2024.tsv"
    assert run(*DAY, "--attrs", "id,pool_id", "-o", str(file)).code == 0
    assert file.read_text(encoding="utf-8").startswith("id\tpool_id\n")


@pytest.mark.usefixtures("demo")
@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full, where every write fails")
def test_arrow_to_standard_output_is_a_stream() -> None:
    done = subprocess.run([*MODULE, *DAY, "-o", "-", "--format", "arrow"], capture_output=True, check=True)
    assert pa.ipc.open_stream(done.stdout).read_all().num_rows == 73
    with open("/dev/full", "wb") as full:  # noqa: PTH123 - a device
        failed = subprocess.run(
            [*MODULE, *DAY, "-o", "-", "--format", "arrow"], stdout=full, stderr=subprocess.PIPE, text=True, check=False
        )
    assert failed.returncode == 74
    assert re.fullmatch(f"dataaccess: .*: {os.strerror(errno.ENOSPC)}\n", failed.stderr)


@pytest.mark.skipif(sys.platform == "win32", reason="needs signals of POSIX")
def test_sigterm_leaves_no_temporary_file_of_arrow(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("DATAACCESS_TOKEN", "tok")
    asked = threading.Event()
    with serving(lambda *_: asked.set()) as server:
        process = subprocess.Popen(
            [*MODULE, *DAY, "-o", "a.arrow", "--base-url", server.base_url],
            stderr=subprocess.PIPE,
            text=True,
            cwd=tmp_path,
        )
        with process:
            assert asked.wait(10)
            process.send_signal(signal.SIGTERM)
            _, reported = process.communicate(timeout=10)
    assert (process.returncode, reported) == (143, "dataaccess: terminated\n")
    assert list(tmp_path.iterdir()) == []
