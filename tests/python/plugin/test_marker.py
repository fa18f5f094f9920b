"""The marker `dataaccess` and the further fixtures, in runs of pytest of their own."""

from __future__ import annotations

import json

import pytest

pytest_plugins = ["pytester"]

# The plugins of other packages take longer than the tests.
ALONE = ["-p", "no:schemathesis", "-p", "no:xdist", "-p", "no:hypothesispytest", "-p", "no:anyio"]

SHOP = {"object": "store", "item_type_id": 7, "attributes": {"store_id": "string"}, "rows": [{"store_id": "s-1"}]}
NIGHT = {"switches": {"maximum_rows": 3}, "demo": {"until": "2024-02-29"}, "seeds": [SHOP]}


@pytest.fixture(autouse=True)
def _strict(pytester: pytest.Pytester) -> None:
    """What a careful team sets: warnings are errors, and every marker is registered."""
    pytester.makeini("[pytest]\nfilterwarnings = error\naddopts = -p no:cacheprovider --strict-markers\n")


@pytest.mark.slow
def test_the_marker_says_what_the_sandbox_of_a_test_has(pytester: pytest.Pytester) -> None:
    pytester.mkdir("jobs").joinpath("night.json").write_text(json.dumps(NIGHT), encoding="utf-8")
    pytester.path.joinpath("jobs", "test_jobs.py").write_text(
        f"SHOP = {SHOP}\n"
        """
import dataaccess as da
import pytest

DAY = da.on("2024-01-15")
pytestmark = pytest.mark.dataaccess(until="2024-02-29")

def stores(client):
    found = da.col("store_id").equals("s-1")
    return client.search_items("store", ["store_id"], found, item_type_id=7)

@pytest.mark.dataaccess(seed=SHOP, switches={"maximum_rows": 2})
def test_rows_and_switches(dataaccess_client):
    assert stores(dataaccess_client) == [{"store_id": "s-1"}]
    assert len(dataaccess_client.search_codes(["id"], allocated_time=DAY)) == 2

def test_the_marker_of_the_module_alone(dataaccess_client):
    assert len(dataaccess_client.search_codes(["id"], allocated_time=DAY)) == 73
    assert dataaccess_client.search_codes(["id"], allocated_time=da.after("2024-03-01")) == []

@pytest.mark.dataaccess(faults=[{"kind": "status", "status": 503, "retry_after": 0, "times": 2}])
def test_faults_for_the_whole_test(dataaccess_client, dataaccess_sandbox):
    assert dataaccess_client.search_codes(["id"], allocated_time=DAY)
    assert [request.status for request in dataaccess_sandbox.requests] == [503, 503, 200]

@pytest.mark.dataaccess(until="2024-01-31", platform="all-utc")
def test_the_closest_marker_counts(dataaccess_client):
    assert dataaccess_client.search_codes(["id"], allocated_time=da.after("2024-02-01")) == []

@pytest.mark.dataaccess(seed={"object": "customer", "rows": [{"customer_id": "mine"}]})
def test_without_demo_data(dataaccess_empty_sandbox):
    client = da.Client()
    assert client.base_url == dataaccess_empty_sandbox.base_url
    assert client.search_codes(allocated_time=da.after("2000-01-01")) == []
    assert client.search_items("customer", ["customer_id"], da.col("customer_id").equals("mine"))

async def _search(client):
    return await client.search_codes(["id"], allocated_time=DAY, limit=1)

def test_awaited(dataaccess_async_client, dataaccess_sandbox):
    import asyncio
    assert asyncio.run(_search(dataaccess_async_client))
    assert len(dataaccess_sandbox.requests) == 1
""",
        encoding="utf-8",
    )
    pytester.path.joinpath("jobs", "test_scenario.py").write_text(
        """
import dataaccess as da
import pytest

@pytest.mark.dataaccess(scenario="night.json")
def test_a_scenario(dataaccess_client):
    found = da.col("store_id").equals("s-1")
    assert dataaccess_client.search_items("store", ["store_id"], found, item_type_id=7)
    assert len(dataaccess_client.search_codes(["id"], allocated_time=da.on("2024-01-15"))) == 3
""",
        encoding="utf-8",
    )
    pytester.runpytest_subprocess(*ALONE, timeout=50).assert_outcomes(passed=7)


# What a marker is given, and what the line of the error names.
WRONG = {
    "swiches={}": "ConfigError: the marker dataaccess: *swiches; * 'switches'?",
    "scenario='gone.json'": "ConfigError: */gone.json *",
    "seed={'object': 'customer', 'row': []}": "ConfigError: the marker dataaccess: *seeds[[]0].row; * 'rows'?",
}


@pytest.mark.slow
def test_a_wrong_marker_is_an_error_of_its_test(pytester: pytest.Pytester) -> None:
    tests = (
        f"@pytest.mark.dataaccess({given})\ndef test_{number}(dataaccess_sandbox): ...\n"
        for number, given in enumerate(WRONG)
    )
    pytester.makepyfile("import pytest\n" + "\n".join(tests))
    done = pytester.runpytest_subprocess(*ALONE, timeout=50)
    done.assert_outcomes(errors=len(WRONG))
    done.stdout.fnmatch_lines_random([f"E *{data}" for data in WRONG.values()])


@pytest.mark.slow
def test_the_file_of_a_platform_is_beside_the_test(pytester: pytest.Pytester) -> None:
    switches = '{"switches": {"maximum_rows": 2}}'
    pytester.mkdir("jobs").joinpath("platform.json").write_text(switches, encoding="utf-8")
    pytester.makeconftest(
        f"""
        import pytest

        @pytest.fixture(scope="session")
        def dataaccess_options():
            return {{"seed": {SHOP}}}
        """
    )
    pytester.path.joinpath("jobs", "test_jobs.py").write_text(
        """
import dataaccess as da
import pytest

def stores(client):
    return client.search_items("store", ["store_id"], da.col("store_id").equals("s-1"), item_type_id=7)

@pytest.mark.dataaccess(platform="platform.json")
def test_a_platform(dataaccess_client):
    assert len(dataaccess_client.search_codes(["id"], allocated_time=da.on("2024-01-15"))) == 2
    assert stores(dataaccess_client)

def test_shared(dataaccess_session_sandbox):
    assert stores(dataaccess_session_sandbox.client())
""",
        encoding="utf-8",
    )
    pytester.runpytest_subprocess(*ALONE, "jobs", timeout=50).assert_outcomes(passed=2)


@pytest.mark.slow
def test_one_sandbox_can_be_shared_and_all_have_the_options_of_the_run(pytester: pytest.Pytester) -> None:
    pytester.makeconftest(
        """
        import pytest

        @pytest.fixture(scope="session")
        def dataaccess_options():
            return {"until": "2024-02-29", "switches": {"maximum_rows": 7}}
        """
    )
    source = """
        import dataaccess as da
        import os
        import pytest

        seen = []

        @pytest.mark.parametrize("turn", [1, 2])
        def test_shared(turn, dataaccess_session_sandbox):
            seen.append(dataaccess_session_sandbox.base_url)
            assert len(set(seen)) == 1
            assert len(dataaccess_session_sandbox.requests) == turn - 1
            assert "DATAACCESS_TOKEN" not in os.environ
            client = dataaccess_session_sandbox.client()
            assert len(client.search_codes(["id"], allocated_time=da.on("2024-01-15"))) == 7

        def test_own(dataaccess_client, dataaccess_session_sandbox):
            assert dataaccess_client.base_url != dataaccess_session_sandbox.base_url
            assert len(dataaccess_client.search_codes(["id"], allocated_time=da.on("2024-01-15"))) == 7
        """
    pytester.makepyfile(source)
    pytester.runpytest_subprocess(*ALONE, timeout=50).assert_outcomes(passed=3)
