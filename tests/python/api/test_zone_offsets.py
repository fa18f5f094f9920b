"""Offsets in place of time zones: the error says what to write."""

from __future__ import annotations

import pytest

import dataaccess as da

ADVICE = 'is an offset, not a time zone: write an IANA zone such as "Europe/Berlin"'

CASES = {
    "UTC+7": ', or "Etc/GMT-7" (its sign is inverted)',
    "GMT-3": ', or "Etc/GMT+3" (its sign is inverted)',
    "+07:00": ', or "Etc/GMT-7" (its sign is inverted)',
    "utc +0200": ', or "Etc/GMT-2" (its sign is inverted)',
    "UTC+05:30": "",
    "+25": "",
}


@pytest.mark.parametrize("offset", CASES)
def test_an_offset_is_named_as_one(offset: str) -> None:
    with pytest.raises(da.ConfigError) as caught:
        da.Client("https://cdp.example.com", token="tok", timezone=offset)
    assert str(caught.value) == f"timezone: {offset!r} {ADVICE}{CASES[offset]}"


def test_so_it_is_as_tz() -> None:
    scan = da.Client("https://cdp.example.com", token="tok").scan_codes(allocated_time=da.on("2024-01-15"))
    with pytest.raises(da.ValidationError) as caught:
        scan.collect(tz="UTC+7")
    assert str(caught.value) == f"tz: 'UTC+7' {ADVICE}{CASES['UTC+7']}"


@pytest.mark.parametrize("zone", ["Etc/GMT-7", "GMT+0", "UTC", "Asia/Ho_Chi_Minh"])
def test_a_zone_stays_one(zone: str) -> None:
    assert da.Client("https://cdp.example.com", token="tok", timezone=zone).timezone == zone


def test_another_mistake_is_reported_as_before() -> None:
    with pytest.raises(da.ConfigError, match=r'not "Europe/Berlim"; did you mean Europe/Berlin'):
        da.Client("https://cdp.example.com", token="tok", timezone="Europe/Berlim")
