"""What notebooks and `print` show of a client, its settings, its statistics and the attributes of codes."""

from __future__ import annotations

from typing import Any

import pytest

import dataaccess as da

STYLED = '<div class="dataaccess"><style>'


@pytest.fixture(scope="module")
def own() -> da.Client:
    """A client with settings of each kind."""
    return da.Client(
        "https://cdp.example.com",
        token="hunter2",
        timeout=30,
        headers={"X-Api-Key": "hunter2", "X-Team": "<b>us</b>"},
        item_types={"store": 7},
    )


@pytest.mark.parametrize("kind", [da.Client, da.AsyncClient])
def test_a_client_shows_its_address_and_what_is_set(kind: Any) -> None:
    page = kind("https://cdp.example.com", token="hunter2", timeout=30)._repr_html_()
    assert page.startswith(STYLED)
    assert f"{kind.__name__} of https://cdp.example.com" in page
    for cell in ("<td>timeout</td><td>30.0</td><td>argument</td>", "<td>token</td><td>(hidden)</td>"):
        assert cell in page
    assert "retry_for" not in page
    assert "hunter2" not in page


def test_a_client_says_that_data_is_synthetic_or_that_it_is_closed(sandbox: da.Sandbox) -> None:
    assert "synthetic" in sandbox.client()._repr_html_()
    client = da.Client("https://cdp.example.com", token="tok")
    client.close()
    assert ">closed<" in client._repr_html_()


def test_settings_are_a_dict_and_a_table(own: da.Client) -> None:
    settings = own.settings
    assert isinstance(settings, dict)
    page, text = settings._repr_html_(), str(settings)  # type: ignore[attr-defined] # for notebooks
    assert page.startswith(STYLED)
    assert "&lt;b&gt;us" in page
    assert "hunter2" not in page + text
    assert "<td>retry_for</td><td>60.0</td><td>default</td>" in page
    assert text.splitlines()[0].split() == ["setting", "value", "from"]
    assert len(text.splitlines()) == len(settings) + 2


def test_statistics_are_a_table(sandbox: da.Sandbox) -> None:
    client = sandbox.client()
    scan = client.scan_codes(["id"], allocated_time=da.on("2024-01-15"))
    scan.collect()
    assert "<td>requests</td>" in client.stats._repr_html_()
    assert client.stats._repr_html_().startswith(STYLED)
    assert scan.last_stats is not None
    page = scan.last_stats._repr_html_()
    assert "Statistics of a scan" in page
    assert "<td>rows</td><td>73</td>" in page
