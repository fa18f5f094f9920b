"""Offsets in place of time zones: the error says what to write."""

from __future__ import annotations

import re

import pytest
from support.arguments import about

import dataaccess as da

# Offsets, each with the zone that it is, if there is one. These zones have an inverted sign.
ZONES = {
    "UTC+7": "Etc/GMT-7",
    "GMT-3": "Etc/GMT+3",
    "+07:00": "Etc/GMT-7",
    "utc +0200": "Etc/GMT-2",
    "UTC+05:30": None,
    "+25": None,
}


def shown(offset: str) -> str:
    """What an error shows: the offset, a name of a zone as an example, and the zone."""
    zone = ZONES[offset]
    end = rf', .*"{re.escape(zone)}" \(.*\)' if zone else ""
    return rf"""'{re.escape(offset)}' .* "Europe/Berlin"{end}$"""


@pytest.mark.parametrize("offset", ZONES)
def test_an_offset_is_named_as_one(offset: str) -> None:
    with pytest.raises(da.ConfigError, match=shown(offset), check=about("timezone")):
        da.Client("https://cdp.example.com", token="tok", timezone=offset)


def test_so_it_is_as_tz() -> None:
    scan = da.Client("https://cdp.example.com", token="tok").scan_codes(allocated_time=da.on("2024-01-15"))
    with pytest.raises(da.ValidationError, match=shown("UTC+7"), check=about("tz")):
        scan.collect(tz="UTC+7")


@pytest.mark.parametrize("zone", ["Etc/GMT-7", "GMT+0", "UTC", "Asia/Ho_Chi_Minh"])
def test_a_zone_stays_one(zone: str) -> None:
    assert da.Client("https://cdp.example.com", token="tok", timezone=zone).timezone == zone


def test_another_mistake_is_reported_as_before() -> None:
    with pytest.raises(da.ConfigError, match=r' "Europe/Berlim"; .* Europe/Berlin\b'):
        da.Client("https://cdp.example.com", token="tok", timezone="Europe/Berlim")
