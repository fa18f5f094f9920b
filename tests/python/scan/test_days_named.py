"""Days are named wherever a request of a scan by days is: in errors, of a scan and of a task, and in log records."""

from __future__ import annotations

import logging
import pickle
import re
from typing import Any

import pytest
from support.runs import some_days

import dataaccess as da


def fails(use: Any) -> list[str]:
    """The number of the request that failed, and its day, as the message names them."""
    with pytest.raises(da.ServerError) as caught:
        use()
    assert caught.value.operation == "scan_codes"
    return re.findall(r"\d+ of \d+|\d{4}-\d\d-\d\d", str(caught.value))


def test_an_error_names_the_day_of_its_request(connect: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    with some_days() as service:
        monkeypatch.setenv("DATAACCESS_TOKEN", service.issue_token())
        client = connect(service.base_url, token=None, retry_for=0, concurrency=1)
        scan = client.scan_codes(["id"], allocated_time=da.days("2024-01-01", "2024-01-04"))
        task = scan.tasks()[1]
        with service.fault("status", status=500, after=1):
            assert fails(scan.to_dicts) == ["2 of 3", "2024-01-02"]
        with service.fault("status", status=500):
            assert fails(task.to_dicts) == ["2 of 3", "2024-01-02"]
            if isinstance(task, da.Task):
                copy = pickle.loads(pickle.dumps(task))
                assert fails(copy.to_dicts) == ["2024-01-02"]
            one = client.scan_codes(["id"], allocated_time=da.on("2024-01-02"))
            assert fails(one.to_dicts) == []


@pytest.mark.parametrize("use", ["to_dicts", "to_folder"])
def test_log_records_have_the_day(connect: Any, tmp_path: Any, caplog: pytest.LogCaptureFixture, use: str) -> None:
    with some_days() as service, caplog.at_level(logging.DEBUG, "dataaccess"):
        scan = connect(service).scan_codes(["id"], allocated_time=da.days("2024-01-01", "2024-01-04"))
        getattr(scan, use)(*([tmp_path] if use == "to_folder" else []))
        connect(service).search_codes(["id"], allocated_time=da.after("2024-01-01"))
    days = [record.__dict__["day"] for record in caplog.records if record.name == "dataaccess.request"]
    assert sorted(days[:6]) == ["2024-01-01", "2024-01-01", "2024-01-02", "2024-01-02", "2024-01-03", "2024-01-03"]
    assert days[6:] == [None, None]
