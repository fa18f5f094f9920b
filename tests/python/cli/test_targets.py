"""`scan`: what is wrong with its file or folder is found before anything is sent, in each format alike."""

from __future__ import annotations

import errno
import os
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
    ".parquet, .pq; .csv, .tsv, each also with .gz, .zst; .json, .jsonl, .ndjson, each also with .gz, .zst; "
    ".arrow, .feather, .ipc"
)


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        ("-o codes", 2, "--output 'codes' is a folder: name a file, or write --folder codes"),
        ("-o codes --format arrow", 2, "--output 'codes' is a folder: name a file, or write --folder codes"),
        ("-o a.x", 2, f"--output 'a.x' has none of the suffixes {KNOWN}: add one, or --format"),
        (
            "-o a.parquet --format arrow",
            2,
            "--output 'a.parquet' has a suffix of --format parquet: leave --format arrow",
        ),
        ("-o a.arrow --format csv", 2, "--output 'a.arrow' has a suffix of --format arrow: leave --format csv out"),
        ("-o a.arrow.gz", 2, "--output 'a.arrow.gz' ends with .gz, which --format arrow does not write: use .arrow"),
        ("-o a.parquet.zst", 2, "--output 'a.parquet.zst' ends with .zst, which --format parquet does not write"),
        ("-o a.csv.xz --format csv", 2, "--output 'a.csv.xz' ends with .xz, which --format csv does not write"),
        ("-o no/a.parquet", 74, "`no/a.parquet` cannot be written: No such file or directory"),
        ("-o no/a.arrow", 74, "`no/a.arrow` cannot be written: No such file or directory; make its folder"),
        ("-o /dev/null --format arrow", 74, "`/dev/null` cannot be written: it is not a regular file"),
        ("--folder file.csv", 74, "--folder: 'file.csv' is a file: name a folder, or write the file with --output"),
        ("--explain --folder a --format csv", 2, "--folder holds Parquet files: leave out --output and --format"),
        ("--explain --fail-fast", 2, "--fail-fast: only with --folder"),
        ("--explain -o a.x", 2, "--output 'a.x' has none of the suffixes"),
        ("--explain --json", 2, "--explain prints text: leave --json out; `dataaccess validate` prints requests as"),
    ],
)
def test_a_target_that_does_not_fit_sends_nothing(
    run: Any, demo: da.Sandbox, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: str, code: int, message: str
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "codes").mkdir()
    (tmp_path / "file.csv").touch()
    before = len(demo.requests)
    ended = run(*DAY, *words.split())
    assert (ended.code, ended.output, ended.reported.count("\n")) == (code, "", 1)
    assert ended.reported.startswith(f"dataaccess: {message}")
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
    assert ended.code == 74
    assert "is a link to an open file" in ended.reported


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
    assert failed.stderr == f"dataaccess: the output could not be written: {os.strerror(errno.ENOSPC)}\n"


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
