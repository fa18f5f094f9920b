"""A team's evening: its job runs in one process, the sandbox in another, and the test moves the sandbox over HTTP."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

import dataaccess as da

# The job, as a team would write it: the codes of the last three days into a folder, each day again.
JOB = """
import sys
import dataaccess as da

client = da.Client(retry_for=0)
report = client.scan_codes(["id", "code_status"], allocated_time=da.last_days(3)).to_folder(sys.argv[1], refresh="all")
print(report.rows)
"""


@pytest.fixture
def service() -> Iterator[dict[str, str]]:
    """`dataaccess sandbox` in a process of its own: what it prints."""
    command = [sys.executable, "-m", "dataaccess", "sandbox", "--json", "--quiet"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        yield json.loads(process.stdout.readline())
        process.terminate()


def run_job(service: dict[str, str], folder: Path) -> subprocess.CompletedProcess[str]:
    environment = {name: value for name, value in os.environ.items() if not name.startswith("DATAACCESS_")}
    environment |= {"DATAACCESS_BASE_URL": service["base_url"], "DATAACCESS_TOKEN": service["token"]}
    command = [sys.executable, "-c", JOB, str(folder)]
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=False)


def test_a_job_of_yesterday_a_fault_for_one_day_an_hour_and_the_log(service: dict[str, str], tmp_path: Path) -> None:
    sandbox = da.Sandbox.connect(service["base_url"], service["admin_token"])
    yesterday = (datetime.now(UTC) - timedelta(days=1)).date().isoformat()

    # The job of yesterday finds rows.
    first = run_job(service, tmp_path / "codes")
    assert first.returncode == 0, first.stderr
    rows = int(first.stdout.split()[-1])
    assert rows > 0
    days = [request for request in sandbox.requests if request.path == "/access/api/item/search"]
    assert len(days) == 3

    # Tonight the day before fails, as the body of its request says; the job says which day is missing.
    sandbox.clear_requests()
    with sandbox.fault(
        "status", status=502, content_type="text/html", body="<h1>Bad gateway</h1>", where={"day": yesterday}
    ) as fault:
        failed = run_job(service, tmp_path / "codes")
        assert failed.returncode != 0
        assert fault.hits == 1
    assert yesterday in failed.stderr
    assert [request.status for request in sandbox.requests].count(502) == 1

    # Hours of an export pass in an instant.
    export = sandbox.start_export(rows=500, seconds=3600)
    client = da.Client(service["base_url"], token=service["token"])
    assert client.download_segment(export)["entries"][0]["exportedRows"] is None
    sandbox.advance(hours=1)
    assert client.download_segment(export)["entries"][0]["exportedRows"] == 500

    # Days later, codes that were sent are used, and the log has all requests.
    before = {
        code["id"]: code["code_status"]
        for code in client.search_codes(["id", "code_status"], allocated_time=da.on(yesterday))
    }
    sandbox.advance(days=11)
    after = {
        code["id"]: code["code_status"]
        for code in client.search_codes(["id", "code_status"], allocated_time=da.on(yesterday))
    }
    assert before.keys() == after.keys()
    moved = {code for code in before if before[code] != after[code]}
    assert moved
    assert {(before[code], after[code]) for code in moved} == {(3, 4)}
    assert [
        request.body["exportId"] for request in sandbox.requests if request.path == "/access/api/segment/download"
    ] == [export, export]
