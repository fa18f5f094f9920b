"""`client.check()` finds the settings of a service however it behaves, and no finding is wrong.

It changes nothing on the service. The platforms are sandboxes with other switches, and servers that respond otherwise.
"""

from __future__ import annotations

import json
import re
import tomllib
from datetime import UTC, date, datetime, timedelta
from itertools import product
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from support.pages import open_points
from support.raw_server import ENTRY, EXPORT, always, http, in_turn, serving
from support.streams import response_of

import dataaccess as da
from dataaccess._client.check import ServiceDay, end_of_day

DAY = "2024-01-15"
ENDED = 5637054
MOST_REQUESTS = 20


# The switches of a platform, the settings of a client, and for each question what is found and whether it is right.
Platform = tuple[dict[str, Any], dict[str, Any], dict[str, tuple[Any, bool]]]
PLATFORMS: list[Platform] = [
    ({"maximum_rows": 60}, {}, {"known_row_cap": (60, False)}),
    ({"maximum_rows": 60}, {"known_row_cap": 60}, {"known_row_cap": (60, True)}),
]
for form, ours in product(("array", "string", "both"), ("array", "string")):
    found = {"attrs_format": (ours if form == "both" else form, form in (ours, "both"))}
    PLATFORMS.append(({"attrs_format": form}, {"attrs_format": ours}, found))
for compared, ours, zone in product(
    ("exclusive", "inclusive", "instants"), ("exclusive", "inclusive"), ("UTC", "Asia/Ho_Chi_Minh")
):
    right = "inclusive" if compared == "inclusive" else "exclusive"
    platform, settings_of = {"day_comparison": compared, "day_zone": zone}, {"day_comparison": ours, "timezone": zone}
    PLATFORMS.append((platform, settings_of, {"day_comparison": (right, ours == right)}))


BOTH = {"exclusive": ["after_date", "before_date", "not"], "inclusive": ["after_date", "before_date"]}


def said(check: Any) -> list[str]:
    """What the answer about comparisons names: operators, whether they include their day, numbers and a setting."""
    return re.findall(r'\w+_date|\bnot\b|\d+|day_comparison|"\w+"', check.answers["day_comparison"].detail)


@pytest.mark.parametrize(("switches", "ours", "expected"), PLATFORMS)
def test_a_wrong_setting_is_named(
    connect: Any, switches: dict[str, Any], ours: dict[str, Any], expected: dict[str, tuple[Any, bool]]
) -> None:
    with da.Sandbox.demo(until="2024-02-29", switches=switches) as sandbox:
        check = connect(sandbox, **ours).check(DAY)
    ((question, (value, is_right)),) = expected.items()
    assert (check.answers[question].value, check.answers[question].is_right) == (value, is_right)
    if question == "day_comparison":
        assert said(check) == [*BOTH[value], *([] if is_right else ["day_comparison", f'"{value}"'])]
        assert check.answers["timezone"].is_right
        assert is_right or not check.is_ok


@pytest.mark.parametrize(
    ("scopes", "expected"),
    [
        (["item", "download"], {"item": True, "download": None}),
        (["item"], {"item": True, "download": False}),
        (["download"], {"item": False, "download": None}),
    ],
)
def test_scopes_are_those_of_the_token(connect: Any, sandbox: da.Sandbox, scopes: Any, expected: Any) -> None:
    before = len(sandbox.requests)
    check = connect(sandbox, scopes=scopes).check()
    assert (check.scopes, check.is_reachable, check.is_ok, check.is_sandbox) == (expected, True, True, True)
    assert set(check.errors) == {f"scope {name}" for name, has in expected.items() if has is False}
    sent = {request.path for request in sandbox.requests[before:] if request.path.startswith("/access/")}
    assert sent == {"/access/api/item/search", "/access/api/segment/download"}


QUESTIONS = ["address", "tls", "proxy", "token", "scope item", "scope download", "timezone", "source_timezone"]

QUESTIONS += ["day_comparison", "known_row_cap", "attrs_format", "code_value_type", "export codes"]


def test_a_report_has_a_line_for_each_question(sandbox: da.Sandbox) -> None:
    check = sandbox.client(scopes=["item"], timezone="Asia/Ho_Chi_Minh").check("2024-01-15")
    assert [*check.answers] == QUESTIONS
    lines = str(check).splitlines()
    assert [line[2:17].rstrip() for line in lines] == QUESTIONS
    assert [line[0] for line in lines] == [*"✓✓✓✓✓✗✗✓✓?✓✓?"]
    assert sandbox.base_url in lines[0]
    assert "sandbox" in lines[0]
    without = sandbox.client().check()
    assert "name a day" in str(without)
    assert "name an export" in str(without)


def test_a_report_is_json_toml_and_python(sandbox: da.Sandbox) -> None:
    check = sandbox.client().check("2024-01-15", 5637054)
    settings = {
        "timezone": "UTC",
        "source_timezone": "UTC",
        "day_comparison": "exclusive",
        "attrs_format": "array",
    }
    assert check.settings == settings == tomllib.loads(check.to_toml())
    assert json.loads(json.dumps(check.to_dict()))["settings"] == settings
    made = eval(check.to_code().replace("da.Client(", "dict(url="))
    assert made == {"url": sandbox.base_url, **settings}


def test_a_refused_token_is_not_ok(sandbox: da.Sandbox) -> None:
    check = da.Client(sandbox.base_url, token="unknown").check("2024-01-15")
    assert (bool(check), check.is_ok, [*check.errors]) == (False, False, ["scope item", "scope download"])
    assert check.answers["token"].is_right is False
    assert check.requests == 3
    assert da.Client(sandbox.base_url, token=sandbox.issue_token()).check()


def ended(*codes: int) -> bytes:
    """An export whose entries have ended with these codes."""
    entries = [{**ENTRY, "endTime": "2024-01-15T09:00:00.000Z", "responseCode": code} for code in codes]
    return http({**EXPORT, "data": {"entries": entries, "meta": {"total": len(entries)}}})


REJECTED, NOT_FOUND = da.RequestRejectedError, ("not found", None, None)
UNKNOWN, ONLY_ITEM, HAS_BOTH = ({"item": a, "download": b} for a, b in ((None, None), (True, None), (True, True)))
OK, SEVEN, CODES, DOWNLOAD = http(), {"export_id": 7}, "export codes", "scope download"
WRONG = [http(body, "404 Not Found") for body in (b"nope", {"code": 404, "message": "no such export", "data": None})]
NOTHING_FOUND = dict.fromkeys(("token", "timezone"), NOT_FOUND)
# What a service responds in turn, what is asked, the scopes that are found, some errors and some answers.
FINDINGS: dict[str, tuple[list[bytes], dict[str, Any], Any, dict[str, type], dict[str, tuple[str, Any, Any]]]] = {
    "both scopes": ([OK, http(EXPORT)], {}, HAS_BOTH, {}, {}),
    "a code of success": ([OK, ended(200, 500), OK], SEVEN, HAS_BOTH, {}, {CODES: ("found", ["200", "500"], True)}),
    "no code of success": ([OK, ended(0, 500), OK], SEVEN, HAS_BOTH, {}, {CODES: ("reading", ["0", "500"], None)}),
    "an export that has not ended": ([OK, http(EXPORT), OK], SEVEN, HAS_BOTH, {}, {CODES: NOT_FOUND}),
    # What refuses a download without a code is not the service.
    "no download": ([OK, WRONG[0], OK], {}, ONLY_ITEM, {DOWNLOAD: REJECTED}, {DOWNLOAD: NOT_FOUND}),
    "a wrong address": ([WRONG[0]], {"day": DAY}, UNKNOWN, {"scope item": REJECTED}, NOTHING_FOUND),
    "a wrong path": ([WRONG[1]], {"day": DAY}, UNKNOWN, {"scope item": REJECTED}, NOTHING_FOUND),
    "a failure, of which nothing is asked again": ([http(b"", "500 Broken")] * 3, {}, UNKNOWN, {}, {}),
}


@pytest.mark.parametrize("name", FINDINGS)
def test_what_a_service_responds_is_what_is_found(connect: Any, name: str) -> None:
    responses, asked, scopes, errors, answers = FINDINGS[name]
    with serving(in_turn(*responses)) as server:
        check = connect(server.base_url).check(**asked)
        assert len(server.requests) == check.requests == (6 if "day" in asked else 3)
        assert "export_id" not in asked or server.requests[1].json["exportId"] == 7
    assert (check.is_reachable, check.is_ok, check.scopes) == (True, scopes["item"] is True, scopes)
    assert {question: type(check.errors[question]) for question in errors} == errors
    found = {question: check.answers[question] for question in answers}
    assert {question: (one.state, one.value, one.is_right) for question, one in found.items()} == answers


def test_a_service_that_does_not_respond_is_a_finding(connect: Any) -> None:
    check = connect("http://127.0.0.1:9").check()
    assert (check.is_reachable, check.is_ok, check.scopes) == (False, False, UNKNOWN)
    # A second request would wait just as long.
    assert check.requests == 1
    assert isinstance(check.errors["scope item"], da.ConnectError)
    assert [check.answers[name].is_right for name in ("address", "token")] == [False, None]


def test_a_proxy_is_right_or_wrong_only_where_there_is_one(connect: Any, sandbox: da.Sandbox) -> None:
    answer = connect("https://cdp.example.com", proxy="http://user:hidden@127.0.0.1:9").check().answers["proxy"]
    assert (answer.value, answer.is_right) == ("127.0.0.1:9", False)
    answer = connect(sandbox).check().answers["proxy"]
    assert (answer.state, answer.value, answer.is_right) == ("found", None, None)


def test_a_check_whose_time_is_over_at_once_accepts_nothing(client: Any) -> None:
    check = client.check(DAY, timeout=0.0004)  # less than the least time of a request
    assert not check.is_ok
    assert client.stats.requests == 0
    assert {answer.state for name, answer in check.answers.items() if name not in ("tls", "proxy")} == {"not found"}


@pytest.mark.parametrize("day", [None, "1999-01-01"])
def test_without_a_day_of_rows_nothing_is_known(client: Any, day: str | None) -> None:
    check = client.check(day)
    answer = check.answers["day_comparison"]
    assert (answer.state, answer.value, answer.is_right, check.is_ok) == ("not found", None, None, True)
    assert check.answers["timezone"].is_right is None
    assert day is None or check.answers["timezone"].detail.startswith(f"{day} ")


def test_a_code_without_an_audience_leaves_it_open(connect: Any) -> None:
    with da.Sandbox() as sandbox:
        sandbox.load("promotion_code", [{"id": "a", "allocated_time": f"{DAY} 12:00:00"}])
        check = connect(sandbox).check(DAY)
    assert (check.answers["timezone"].is_right, check.answers["day_comparison"].is_right) == (True, None)
    assert "audience" in check.answers["day_comparison"].detail


ROW = {"id": "a", "allocated_time": f"{DAY} 12:00:00", "audience_type": -1003, "allocated_audience": "c-1"}


REFUSAL = http({"code": 400, "message": "no such operator", "data": None}, "400 Bad Request")


def rows(ids: list[str]) -> bytes:
    return response_of([{**ROW, "id": name} for name in ids])


@pytest.mark.parametrize(
    ("row", "narrowed", "answered"),
    [
        ({**ROW, "allocated_time": "15.01.2024"}, [ROW], {"timezone": "reading", "source_timezone": "not found"}),
        (ROW, [], dict.fromkeys(("timezone", "source_timezone", "day_comparison"), "not found")),
    ],
    ids=["times of another form", "an audience that finds nothing"],
)
def test_rows_that_show_little_leave_settings_open(
    connect: Any, row: dict[str, Any], narrowed: list[dict[str, Any]], answered: dict[str, str]
) -> None:
    """Days begin in UTC; a search of the audience of the row of `DAY` finds other rows than one of the day."""

    def respond(connection: Any, number: int) -> None:
        conditions = server.requests[number].json.get("filters", {"OR": [{"AND": [{"value": 0}]}]})["OR"][0]["AND"]
        is_of_day = conditions[-1]["value"] // 86_400_000 == 19_737 if conditions[-1].get("time_unit") else False
        found = narrowed if len(conditions) > 1 else [row]
        connection.sendall(response_of(found if is_of_day else []))

    with serving(respond) as server:
        check = connect(server.base_url).check(DAY)
    assert {name: check.answers[name].state for name in answered} == answered


MANY = [f"b-{number}" for number in range(100)]


@pytest.mark.parametrize(
    ("after", "before", "setting", "names", "is_right"),
    [
        (rows(["a", "b"]), rows([]), "exclusive", [*BOTH["exclusive"], "day_comparison"], False),
        (rows([]), rows(["a"]), "exclusive", ["before_date", "after_date", "not", "day_comparison"], False),
        # More may have been cut off.
        (rows(MANY), rows([]), "exclusive", ["after_date", "100"], None),
        (rows(MANY[1:]), rows(MANY[1:]), "exclusive", BOTH["exclusive"], True),
        (rows([*MANY, "a"]), rows([*MANY, "a"]), "inclusive", BOTH["inclusive"], True),
        (REFUSAL, REFUSAL, "exclusive", ["400"], None),
    ],
    ids=["after", "before", "cut off", "neither", "both", "refused"],
)
def test_what_the_searches_of_two_operators_find_shows_what_they_include(
    connect: Any, after: bytes, before: bytes, setting: str, names: list[str], is_right: bool | None
) -> None:
    """`a` is the only code of the day."""

    def respond(connection: Any, number: int) -> None:
        request = server.requests[number].json
        condition = request["filters"]["OR"][0]["AND"][-1] if "filters" in request else {"value": 0}
        others: dict[Any, bytes] = {"matches": http(), "after_date": after, "before_date": before}
        if (other := others.get(condition.get("operator"))) is None:
            day = datetime.fromtimestamp(condition["value"] / 1_000, UTC).date()
            other = rows(["a"] if day.isoformat() == DAY else [])
        connection.sendall(other)

    with serving(respond) as server:
        check = connect(server.base_url, day_comparison=setting).check(DAY)
    assert (said(check), check.answers["day_comparison"].is_right) == (names, is_right)
    assert check.answers["timezone"].is_right is True
    assert isinstance(check.errors.get("day_comparison"), da.ApiError) == (after is REFUSAL)


def test_zones_a_day_apart_are_not_mixed_up(connect: Any) -> None:
    """They cut the same days, so the times of records are a day apart."""
    switches = dict.fromkeys(("day_zone", "source_timezone"), "Pacific/Pago_Pago")
    with da.Sandbox.demo(until="2024-02-29", switches=switches) as sandbox:
        check = connect(sandbox, timezone="Pacific/Auckland").check(DAY)
    assert check.settings.get("source_timezone") in (None, "Pacific/Pago_Pago")


def test_a_zone_that_is_not_known_is_not_doubted(connect: Any) -> None:
    """Times on two dates, in a day that zones of two offsets begin; one code alone has an audience."""
    with da.Sandbox(switches={"day_zone": "Pacific/Auckland"}) as sandbox:
        other = {"id": "b", "allocated_time": f"{DAY} 05:00:00"}
        sandbox.load("promotion_code", [{**ROW, "allocated_time": "2024-01-14 20:00:00", "code_status": 3}, other])
        answer = connect(sandbox).check(DAY).answers["timezone"]
    assert (answer.state, answer.value, answer.is_right) == ("reading", None, False)
    assert "busier" not in answer.detail


def test_a_token_refused_amid_the_searches_of_a_day_is_no_setting(connect: Any, sandbox: da.Sandbox) -> None:
    with sandbox.fault("status", status=401, after=5):
        check = connect(sandbox).check(DAY)
    assert {"timezone", "source_timezone", "day_comparison"} & {*check.settings} == set()
    assert [check.answers[name].value for name in ("timezone", "day_comparison")] == [None, None]
    assert "refused the token" in check.answers["day_comparison"].detail


def test_a_refusal_amid_the_searches_of_a_day_ends_them(connect: Any) -> None:
    def respond(connection: Any, number: int) -> None:
        is_search_of_end = len(server.requests) > 3
        connection.sendall(
            REFUSAL if is_search_of_end else rows(["a"] if "filters" in server.requests[number].json else [])
        )

    with serving(respond) as server:
        check = connect(server.base_url).check(DAY)
    assert [check.answers[name].value for name in ("timezone", "day_comparison")] == [None, None]
    assert isinstance(check.errors["timezone"], da.ApiError)


ZONES = ["UTC", "Asia/Ho_Chi_Minh", "America/Lima", "Pacific/Auckland", "Pacific/Pago_Pago"]


@pytest.mark.slow
@settings(max_examples=8, deadline=None)
@given(data=st.data())
def test_no_finding_is_wrong_however_a_service_is_switched(data: st.DataObject) -> None:
    values = {
        name: st.sampled_from(re.findall(r'"(\w+)"', takes)) for name, takes in open_points().items() if '", "' in takes
    }
    values["day_zone"] = values["source_timezone"] = st.sampled_from(ZONES)
    values["maximum_rows"] = st.sampled_from([1, 9, 25, 60])
    switches: dict[str, Any] = data.draw(st.fixed_dictionaries({}, optional=values))
    day = data.draw(st.sampled_from([date(2024, 1, 15), date(2024, 2, 20), date(2031, 1, 1)]))
    timezone = data.draw(st.sampled_from(ZONES))
    with da.Sandbox.demo(until="2024-02-29", switches=switches) as sandbox:
        check = sandbox.client(timezone=timezone).check(day, ENDED)
        assert len(sandbox.requests) <= MOST_REQUESTS
    found = {name: answer.value for name, answer in check.answers.items() if answer.state == "found"}
    noon = datetime(day.year, day.month, day.day, 12, tzinfo=UTC)
    # The only code of a day shows no zone where `equals` is 24 hours.
    for name, switch in (("timezone", "day_zone"), ("source_timezone", "source_timezone")):
        zones = [switches.get(switch, "UTC"), found.get(name)]
        if zones[1] is not None and switches.get("day_equals") != "window":
            offsets = [noon.astimezone(ZoneInfo(zone)).utcoffset() or timedelta() for zone in zones]
            # Zones whose offsets differ by a day cut the same days, but write other times.
            apart = (timedelta(0), timedelta(days=1)) if name == "timezone" else (timedelta(0),)
            assert abs(offsets[0] - offsets[1]) in apart, name
    if switches.get("day_equals") != "window":
        compared = switches.get("day_comparison", "exclusive")
        expected = "inclusive" if compared == "inclusive" else "exclusive"
        assert found.get("day_comparison") in (None, expected)
    assert found.get("known_row_cap") in (None, switches.get("maximum_rows"))
    form = switches.get("attrs_format", "both")
    assert found.get("attrs_format") in (None, *(("array", "string") if form == "both" else (form,)))
    assert found.get("code_value_type") in ((None,) if switches.get("value_type") != "required" else (None, "normal"))


DATA: list[object] = [
    *(None, [], "a string", {"status": False, "data": []}, {"status": True, "data": [1, None]}),
    {"status": True, "data": [{"id": ["a"], "allocated_time": {}}]},
    *({"entries": [7], "meta": {}}, {"entries": {}, "meta": {}}),
    {"entries": [{}, {"endTime": 5, "responseCode": []}], "meta": {}},
]
BODIES: list[object] = [
    *({}, [], "text", None, {"code": "200", "data": {}}, {"code": 200, "message": ""}),
    *({"code": 200, "message": "", "data": data} for data in DATA),
    *({"code": code, "message": "", "data": None} for code in (429, 500)),
]


@pytest.mark.parametrize("body", BODIES)
def test_a_service_of_one_unexpected_shape_ends_no_check(body: object) -> None:
    with serving(always(http(body))) as server:
        check = da.Client(server.base_url, token="t", timezone="UTC").check(DAY, 7)
        assert len(server.requests) == check.requests <= MOST_REQUESTS
    assert check.is_reachable
    assert not {"timezone", "day_comparison", "known_row_cap"} & {*check.settings}
    assert str(check)
    assert check.to_dict()


def test_a_service_that_ignores_the_day_is_no_finding(connect: Any) -> None:
    with serving(always(rows(["a"]))) as server:
        check = connect(server.base_url).check(DAY)
        assert len(server.requests) <= MOST_REQUESTS
    assert check.answers["timezone"].is_right is None
    assert " 25 hours " in check.answers["timezone"].detail


# Where a day of the service ends, by which rows come, in few searches, and never a wrong offset.


@pytest.mark.parametrize(
    ("switches", "offsets"),
    [
        ({"day_zone": "America/New_York"}, ["UTC-05:00", "UTC-03:00"]),
        ({"day_zone": "Asia/Kolkata"}, ["UTC+05:30", "UTC+06:30"]),
        ({"day_zone": "Asia/Ho_Chi_Minh"}, ["UTC+07:00"]),
        # The times are not of UTC.
        ({"day_zone": "America/New_York", "source_timezone": "America/New_York"}, []),
    ],
)
def test_a_stray_day_names_all_offsets_that_its_rows_allow(
    connect: Any, switches: dict[str, Any], offsets: list[str]
) -> None:
    with da.Sandbox.demo(until="2024-02-29", switches=switches) as sandbox, pytest.warns(da.StrayDayWarning) as caught:
        connect(sandbox).search_codes(allocated_time=da.on(DAY))
    (warning,) = caught
    assert re.findall(r"UTC[+-]\d\d:\d\d", str(warning.message)) == offsets
    assert "check(day)" in str(warning.message)


LOCAL = "Asia/Ho_Chi_Minh"


@pytest.mark.parametrize("timezone", ["UTC", LOCAL])
@pytest.mark.parametrize("source_timezone", ["UTC", LOCAL])
def test_a_platform_that_writes_its_own_times_has_a_right_setting(
    connect: Any, timezone: str, source_timezone: str
) -> None:
    with da.Sandbox.demo(until="2024-02-29", switches={"day_zone": LOCAL, "source_timezone": LOCAL}) as sandbox:
        check = connect(sandbox, timezone=timezone, source_timezone=source_timezone).check(DAY)
    assert check.answers["timezone"].is_right is (timezone == LOCAL)
    assert check.answers["source_timezone"].is_right is (source_timezone == LOCAL)
    # The sign of such a zone is inverted.
    assert {check.settings["timezone"], check.settings["source_timezone"]} <= {LOCAL, "Etc/GMT-7"}


@pytest.mark.parametrize("day", ["2024-03-30", "2024-03-31", "2024-10-26", "2024-10-27", "2024-07-01"])
@pytest.mark.parametrize("timezone", ["Europe/Berlin", "UTC"])
def test_clock_changes_do_not_matter(connect: Any, day: str, timezone: str) -> None:
    """Berlin has a day of 23 hours, and one of 25."""
    noon = datetime.fromisoformat(f"{day}T12:00+00:00")
    times = [noon + number * timedelta(minutes=15) for number in range(-4 * 48, 4 * 48)]
    with da.Sandbox(switches={"day_zone": "Europe/Berlin"}) as sandbox:
        sandbox.load("promotion_code", [{"id": str(at), "allocated_time": f"{at:%Y-%m-%d %H:%M:%S}"} for at in times])
        check = connect(sandbox, timezone=timezone).check(day)
        assert len(sandbox.requests) <= MOST_REQUESTS
    assert check.answers["timezone"].is_right is (timezone == "Europe/Berlin"), check.answers["timezone"].detail
    assert check.answers["source_timezone"].is_right, check.answers["source_timezone"].detail
    if timezone == "UTC":
        assert "Europe/Berlin" in check.answers["timezone"].detail


@given(
    quarters=st.integers(1, 99),
    sent=st.integers(0, 10_000).map(lambda number: 1_705_276_800_000 + number * 900_000),
    next_day=st.sampled_from([{"b"}, set()]),
)
@example(quarters=100, sent=0, next_day=set())  # a day of 25 hours
def test_the_end_is_found_in_few_searches(quarters: int, sent: int, next_day: set[str]) -> None:
    searches: list[int] = []
    end = sent + quarters * 900_000

    async def ids_at(instant: int) -> set[str]:
        searches.append(instant)
        return {"a"} if instant < end else next_day

    with pytest.raises(StopIteration) as found:
        end_of_day(sent, ids_at, is_narrowed=True).send(None)
    assert found.value.value[0] == end
    assert len(searches) <= 8


def day_ending(zone: str, local: str, times: list[str], preferred: str = "UTC") -> ServiceDay:
    """A day that ends at this local midnight."""
    end = datetime.fromisoformat(local).replace(tzinfo=ZoneInfo(zone))
    return ServiceDay(int(end.timestamp() * 1_000), times, preferred)


@pytest.mark.parametrize(
    ("times", "in_utc", "in_own"),
    [
        (["2024-01-14 17:00:00", "2024-01-15 16:59:59"], True, False),
        (["2024-01-15 00:00:00", "2024-01-15 23:59:59"], False, True),
        (["2024-01-15 01:00:00", "2024-01-15 16:59:59"], True, True),
        (["2024-01-15 01:00:00", "2024-01-16 01:00:00"], False, False),
    ],
)
def test_the_zone_of_records_is_read_from_a_day_whose_end_is_known(
    times: list[str], in_utc: bool, in_own: bool
) -> None:
    day = day_ending("Asia/Ho_Chi_Minh", "2024-01-16", times)
    assert (day.has_times_of("UTC"), day.has_times_of("Asia/Ho_Chi_Minh")) == (in_utc, in_own)


def test_the_dates_of_records_tell_zones_apart_that_cut_the_same_days() -> None:
    times = ["2024-01-15 00:00:00", "2024-01-15 23:59:59"]
    assert day_ending("Pacific/Auckland", "2024-01-16", times).zone == "Etc/GMT-13"
    assert day_ending("Pacific/Pago_Pago", "2024-01-16", times).zone == "Etc/GMT+11"
    assert day_ending("Pacific/Auckland", "2024-01-16", []).zone is None
    assert day_ending("Pacific/Auckland", "2024-01-16", [], "Pacific/Pago_Pago").zone == "Pacific/Pago_Pago"


def test_an_offset_is_named_without_a_guess_about_clock_changes() -> None:
    assert day_ending("America/New_York", "2024-01-16", []).zone == "Etc/GMT+5"
    assert day_ending("Asia/Kolkata", "2024-01-16", []).zone == "Asia/Kolkata"
    assert day_ending("Australia/Adelaide", "2024-07-16", []).zone == "Australia/Darwin"
    assert day_ending("Africa/Abidjan", "2024-01-16", []).zone == "UTC"


def test_times_of_no_known_zone_leave_an_interval_of_offsets() -> None:
    day = day_ending("UTC", "2024-01-16", ["2024-01-15 03:00:00", "2024-01-16 01:30:00"])
    assert day.offsets_of_times == "UTC+01:30 to UTC+03:00"
    assert datetime.fromtimestamp(day.start / 1_000, UTC) == datetime(2024, 1, 15, tzinfo=UTC)
