"""No failure shows a token, a password or a row: printed, logged, pickled or in its frames."""

from __future__ import annotations

import pickle
import traceback
from collections.abc import Iterator
from pathlib import Path

import pytest
from support import kinds
from support.failures import (
    ASKED,
    HEADERS,
    OTHERS,
    RESPONSES,
    ROW,
    SECRETS,
    STATUSES,
    TOKEN,
    echo_of_all,
    failing,
)
from support.raw_server import always, http, serving
from support.service_machine import locals_of_package

import dataaccess as da


def chain(error: BaseException) -> Iterator[BaseException]:
    """The error and all it came from."""
    seen: list[BaseException] = []
    waiting: list[BaseException | None] = [error]
    while waiting:
        one = waiting.pop()
        if one is not None and one not in seen:
            seen.append(one)
            waiting += [one.__cause__, one.__context__]
    yield from seen


def shown(error: BaseException) -> dict[str, str]:
    """Whatever can be seen of an error, by where."""
    texts = {"traceback": "".join(traceback.format_exception(error))}
    for number, one in enumerate(chain(error)):
        texts[f"{number} repr"] = repr(one) + str(one)
        texts[f"{number} fields"] = repr(vars(one))
        # The caller's own frames hold what the caller put there.
        texts[f"{number} locals"] = repr(locals_of_package(one))
    if isinstance(error, da.DataAccessError):
        texts["pickle"] = repr(pickle.dumps(error))
    return texts


@pytest.mark.usefixtures("short_pauses")
@pytest.mark.parametrize("failure", [*RESPONSES, *OTHERS])
def test_no_failure_shows_a_secret_or_a_row(failure: str, caplog: pytest.LogCaptureFixture) -> None:
    for name in (None, "dataaccess", "dataaccess.request", "dataaccess.access", "dataaccess.retry"):
        caplog.set_level(1, name)
    error, warned = failing(failure)
    assert (error is None) == (failure in {"nothing fails", "busy, then well"}), repr(error)
    assert error is None or isinstance(error, da.DataAccessError)
    texts = {"warnings": repr(warned), "log": repr([vars(record) for record in caplog.records]) + caplog.text}
    if error is not None:
        texts |= shown(error)
    if "into store" in failure or failure == "profile 0":
        # The address as it was given, and the names of profiles, are no secrets where they are right.
        del texts["0 locals"]
    for secret in SECRETS:
        # Bytes are shown as numbers.
        forms = (secret, ", ".join(map(str, secret[:12].encode())))
        found = {place for place, text in texts.items() if any(form in text for form in forms)}
        assert not found, f"{secret} in {found}"
    # Only the caller gets the value of a record that does not fit, and the beginning of a body.
    rows = {place for place, text in texts.items() if ROW in text}
    has_values = isinstance(error, kinds.Record) or getattr(error, "body_excerpt", None) is not None
    assert rows <= ({"0 fields"} if has_values else set())
    assert not {place for place, text in texts.items() if ASKED in text and "locals" not in place}


def test_part_of_a_token_is_not_shown_either() -> None:
    error, _ = failing("echo cut by the excerpt")
    assert isinstance(error, da.ServerError)
    assert TOKEN[:8] not in repr(vars(error)) + str(error)
    assert "<redacted>" in str(error.body_excerpt)


def test_no_form_of_a_token_is_shown() -> None:
    for failure in ("echo in a URL", "echo in base64"):
        error, _ = failing(failure)
        assert isinstance(error, da.RequestRejectedError)
        assert "<redacted>" in str(error.body_excerpt), failure
        assert len(str(error.body_excerpt)) < len("/login?token=<redacted>") + 3


@pytest.mark.parametrize("body", [{"rows": [{"id": ROW}]}, b"<html>", b""])
def test_the_beginning_of_a_body_does_not_travel(body: object) -> None:
    with serving(always(http(body, "400 Bad"))) as server, pytest.raises(da.RequestRejectedError) as caught:
        da.Client(server.base_url, token=TOKEN).search_codes(["id"], allocated_time=da.on("2024-01-15"))
    excerpt = caught.value.body_excerpt
    assert (excerpt is None) == (body == b"")
    assert excerpt is None or excerpt not in str(caught.value)
    assert pickle.loads(pickle.dumps(caught.value)).body_excerpt is None


@pytest.mark.usefixtures("short_pauses")
@pytest.mark.filterwarnings("ignore::dataaccess.DataAccessWarning")
@pytest.mark.parametrize("status", STATUSES)
def test_neither_a_check_nor_a_recording_has_what_a_service_repeats(tmp_path: Path, status: str) -> None:
    record = tmp_path / "exchanges.jsonl"
    with serving(echo_of_all(status)) as server:
        client = da.Client(server.base_url, token=TOKEN, headers=HEADERS, record=record, retry_for=0.5)
        report = client.check()
    everything = f"{report} {report!r} {record.read_text()}"
    assert [secret for secret in SECRETS if secret in everything] == []


@pytest.mark.parametrize("bad", ["tok\r\nX-Evil: 1", "tok\n", "tok\0", "tök", "tok tok", "\u2028tok", "tok\x7f", ""])
def test_a_token_that_no_header_carries_is_refused_unquoted(bad: str) -> None:
    with pytest.raises(da.ConfigError) as at_once:
        da.Client("http://127.0.0.1:9", token=bad)
    client = da.Client("http://127.0.0.1:9", token=lambda: bad)
    with pytest.raises(da.ConfigError) as when_asked:
        client.download_segment(1)
    for caught in (at_once, when_asked):
        assert not bad or bad not in str(caught.value)
