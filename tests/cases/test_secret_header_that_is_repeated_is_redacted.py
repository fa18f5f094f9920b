"""The value of a secret header, and the password of the proxy, are redacted where the service repeats them.

Source: a security review (gateways that quote a wrong key).
"""

from __future__ import annotations

import json
import logging
import pickle
from pathlib import Path
from typing import Any

import pytest
from support.raw_server import http, serving

import dataaccess as da

SECRETS = {
    "X-Api-Key": "HdrSecretVal1",
    "Cookie": "theme=dark; sid=CookieSecret99",
    "X-Session": "q9/Zz+secret",
}
HIDDEN = ["HdrSecretVal1", "CookieSecret99", "q9/Zz+secret", "q9\\/Zz+secret", "PrivateToken42", "ProxyPass77"]


def repeating(status: str) -> Any:
    """Responds with the headers of the request in each text that an error has."""

    def respond(connection: Any, _number: int) -> None:
        request = server_of[0].requests[-1]
        seen = " ".join(f"{name} {value}" for name, value in request.headers.items()) + " ProxyPass77"
        body = {"code": 4, "message": f"bad {seen}", "data": f"bad {seen}", "codeMessage": f"bad {seen}"}
        text = json.dumps(body).replace("/", "\\/").encode()
        connection.sendall(http(text, status, headers=(f"X-Seen: {seen}",)))

    return respond


server_of: list[Any] = []


@pytest.mark.usefixtures("short_pauses")
@pytest.mark.filterwarnings("ignore:the client records:dataaccess.DataAccessWarning")
@pytest.mark.parametrize("status", ["200 OK", "400 Bad", "401 No", "403 No", "429 Slow", "500 Bad", "503 Down"])
def test_no_text_has_it(tmp_path: Path, caplog: pytest.LogCaptureFixture, status: str) -> None:
    caplog.set_level(logging.DEBUG)
    record = tmp_path / "exchanges.jsonl"
    with serving(repeating(status)) as server:
        server_of[:] = [server]
        client = da.Client(
            "http://service.invalid",
            token="PrivateToken42",
            headers=SECRETS,
            record=record,
            retry_for=0.5,
            allow_http=True,
            proxy=server.base_url.replace("//", "//robot:ProxyPass77@"),
        )
        with pytest.raises(da.DataAccessError) as caught:
            client.search_codes(["id"], allocated_time=da.on("2024-01-15"))
        report = client.check()
        everything = "\n".join(
            [
                str(caught.value),
                repr(caught.value.__dict__),
                repr(pickle.loads(pickle.dumps(caught.value)).__dict__),
                caplog.text,
                str(report),
                repr(report),
                record.read_text(),
            ]
        )
    assert [secret for secret in HIDDEN if secret in everything] == []
    assert "[secret]" in everything
