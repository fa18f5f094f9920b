"""For any combination of arguments, variables and a profile, a setting has the value of the first that sets it."""

from __future__ import annotations

import os
from typing import Any
from unittest import mock

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from support.profiles import Config
from support.toml_documents import value as toml

import dataaccess as da

ADDRESS = "https://cdp.example.com"
# An argument, a text of the environment, and a value of a profile, each with what `settings` shows.
VALUES: dict[str, list[tuple[Any, Any]]] = {
    "timeout": [(11, 11.0), ("12s", 12.0), ("2m", 120.0)],
    "retry_for": [(0, 0.0), ("21", 21.0), (22, 22.0)],
    "concurrency": [(None, None), ("3", 3), (4, 4)],
    "timezone": [("UTC", "UTC"), ("Asia/Tokyo", "Asia/Tokyo"), ("Europe/Berlin", "Europe/Berlin")],
    "day_comparison": [("exclusive", "exclusive"), ("inclusive", "inclusive"), ("exclusive", "exclusive")],
    "allow_http": [(False, False), ("true", True), (True, True)],
    "item_types": [({"a": 1}, {"a": 1}), ('{"b": 2}', {"b": 2}), ({"c": 3}, {"c": 3})],
    "headers": [({"X-A": "1"}, {"X-A": "1"}), ('{"X-B": "2"}', {"X-B": "2"}), ({"X-C": "3"}, {"X-C": "3"})],
    "known_row_cap": [(5, 5), ("6", 6), (7, 7)],
    "attrs_format": [("array", "array"), ("string", "string"), ("string", "string")],
    "proxy": [("http://a:1", "a:1"), ("http://b:2", "b:2"), ("http://c:3", "c:3")],
}
DEFAULTS: dict[str, Any] = {"item_types": {}}
CHOSEN = st.dictionaries(st.sampled_from(sorted(VALUES)), st.sets(st.integers(0, 2)))


@given(chosen=CHOSEN, kind=st.sampled_from([da.Client, da.AsyncClient]))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_the_first_source_wins(config: Config, chosen: dict[str, set[int]], kind: Any) -> None:
    arguments = {name: VALUES[name][0][0] for name, sources in chosen.items() if 0 in sources}
    variables = {f"DATAACCESS_{name.upper()}": VALUES[name][1][0] for name, sources in chosen.items() if 1 in sources}
    profile = {name: VALUES[name][2][0] for name, sources in chosen.items() if 2 in sources}
    lines = [f"{name} = {toml(one)}" for name, one in {"base_url": ADDRESS, "token": "tok", **profile}.items()]
    config.write("\n".join(["[profiles.p]", *lines]))
    with mock.patch.dict(os.environ, variables):
        found = kind(profile="p", **arguments).settings
    for name in VALUES:
        source = min(chosen.get(name, set()), default=None)
        if source is None:
            assert found[name].source == "default", name
            continue
        said = ("argument", f"environment variable DATAACCESS_{name.upper()}", f"profile p in {config.path}")
        assert found[name] == da.Setting(VALUES[name][source][1], said[source]), name


@given(wrong=st.dictionaries(st.sampled_from(["timeout", "retry_for", "known_row_cap"]), st.integers(0, 2), min_size=1))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_each_wrong_setting_is_reported_with_its_source(config: Config, wrong: dict[str, int]) -> None:
    arguments: dict[str, Any] = {name: -1 for name, source in wrong.items() if source == 0}
    variables = {f"DATAACCESS_{name.upper()}": "fast" for name, source in wrong.items() if source == 1}
    profile = [f"{name} = -1" for name, source in wrong.items() if source == 2]
    config.write("\n".join(["[profiles.p]", f"base_url = '{ADDRESS}'", "token = 'tok'", *profile]))
    with mock.patch.dict(os.environ, variables):
        try:
            da.Client(profile="p", **arguments)
        except da.ConfigError as error:
            problems = error.problems
    assert sorted(line.replace(":", " ").split(" ")[0] for line in problems) == sorted(wrong)
    for line in problems:
        name = line.replace(":", " ").split(" ")[0]
        end = ("", f" (from DATAACCESS_{name.upper()})", f" (profile p in {config.path})")[wrong[name]]
        assert line.endswith(end)
        assert bool(end) == line.endswith(")")
