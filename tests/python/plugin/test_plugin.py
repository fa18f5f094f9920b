"""The fixtures and the marker that the package gives to pytest, in runs of pytest of their own."""

from __future__ import annotations

import json
import os

import pytest

pytest_plugins = ["pytester"]


@pytest.fixture(autouse=True)
def _strict(pytester: pytest.Pytester) -> None:
    """What a careful team sets: warnings are errors, and every marker is registered."""
    pytester.makeini("[pytest]\nfilterwarnings = error\naddopts = -p no:cacheprovider --strict-markers\n")


# The plugins of other packages take longer than the tests.
ALONE = ["-p", "no:schemathesis", "-p", "no:xdist", "-p", "no:hypothesispytest", "-p", "no:anyio"]


@pytest.mark.slow
def test_fixtures_are_available_and_documented(pytester: pytest.Pytester) -> None:
    reported = pytester.runpytest_subprocess("--fixtures", timeout=50).stdout
    reported.fnmatch_lines(
        ["dataaccess_sandbox *", "*for this test alone*", "dataaccess_client *", "*token has every scope*"]
    )


# Each with the number of its tests. They run in one process, in this order.
FILES = {
    "test_0_nothing_starts_unless_a_test_asks_for_it": (
        2,
        """
        from dataaccess._core import embedded

        def test_without():
            assert embedded._running == {}

        def test_with(dataaccess_sandbox):
            assert set(embedded._running) == {dataaccess_sandbox.base_url}
        """,
    ),
    "test_1_a_test_has_a_client_of_the_demo_data": (
        2,
        """
        import dataaccess as da

        def test_job(dataaccess_client, dataaccess_sandbox):
            assert dataaccess_client.base_url == dataaccess_sandbox.base_url
            assert dataaccess_client.is_sandbox
            assert dataaccess_client.search_codes(["id"], allocated_time=da.on("2024-01-15"))
            assert dataaccess_client.download_segment(5637051)["code"] == 200

        def test_job_that_reads_the_environment(dataaccess_sandbox):
            assert da.Client().base_url == dataaccess_sandbox.base_url
            assert da.search_codes(["id"], allocated_time=da.on("2024-01-15"))
        """,
    ),
    "test_2_no_setting_from_outside_breaks_them": (
        1,
        """
        import os
        import dataaccess as da

        def test_job(dataaccess_client):
            assert "DATAACCESS_CA_BUNDLE" not in os.environ
            assert dataaccess_client.download_segment(5637051)["code"] == 200
            assert da.download_segment(5637051)["code"] == 200
        """,
    ),
    "test_3_nothing_of_one_test_reaches_another": (
        3,
        """
        import os
        import pytest
        import dataaccess as da

        seen = []

        @pytest.mark.parametrize("turn", [1, 2])
        def test_each_has_its_own(turn, dataaccess_sandbox, dataaccess_client):
            for earlier, token in seen:
                assert earlier != dataaccess_sandbox.base_url
                with pytest.raises(da.PermissionDeniedError):
                    da.Client(token=token).download_segment(5637051)
                with pytest.raises(da.ConnectError):
                    da.Client(earlier, token=token, retry_for=0).download_segment(5637051)
            seen.append((dataaccess_sandbox.base_url, os.environ["DATAACCESS_TOKEN"]))
            dataaccess_sandbox.stop()

        def test_the_client_is_closed_and_the_environment_as_before():
            assert os.environ["DATAACCESS_BASE_URL"] == "https://cdp.example.com"
            assert os.environ["DATAACCESS_CA_BUNDLE"] == "/nowhere"
            assert "DATAACCESS_TOKEN" not in os.environ
        """,
    ),
    "test_4_no_fault_and_no_request_of_one_test_reaches_another": (
        2,
        """
        import pytest

        @pytest.mark.parametrize("turn", [1, 2])
        def test_each_begins_calm(turn, dataaccess_sandbox, dataaccess_client):
            assert list(dataaccess_sandbox.requests) == []
            dataaccess_client.download_segment(5637051)
            assert len(dataaccess_sandbox.requests) == 1
            dataaccess_sandbox.fault("status", status=503).__enter__()
        """,
    ),
    "test_5_a_guard_ends_with_its_test": (
        2,
        """
        import dataaccess as da
        import pytest

        def test_guarded(dataaccess_guard):
            with pytest.raises(pytest.fail.Exception):
                da.Client("https://cdp.example.com", token="t", ca_bundle=None)

        def test_after():
            da.Client("https://cdp.example.com", token="t", ca_bundle=None)
        """,
    ),
}


@pytest.mark.slow
def test_each_test_has_a_service_of_its_own(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DATAACCESS_BASE_URL", "https://cdp.example.com")
    monkeypatch.setenv("DATAACCESS_CA_BUNDLE", "/nowhere")
    pytester.makepyfile(**{name: source for name, (_, source) in FILES.items()})
    done = pytester.runpytest_subprocess(*ALONE, timeout=50)
    done.assert_outcomes(passed=sum(tests for tests, _ in FILES.values()))


def test_a_run_that_does_not_use_it_does_not_import_the_package(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        """
        import sys

        def test_without(pytestconfig):
            assert pytestconfig.pluginmanager.has_plugin("dataaccess")
            assert [name for name in sys.modules if name.partition(".")[0] == "dataaccess"] == []

        def test_with(dataaccess_client):
            assert "dataaccess._native" in sys.modules
        """
    )
    pytester.runpytest_subprocess(*ALONE, timeout=50).assert_outcomes(passed=2)


def test_a_package_that_cannot_be_imported_breaks_the_tests_that_use_it_alone(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytester.mkpydir("dataaccess").joinpath("__init__.py").write_text("raise ImportError('library')")
    monkeypatch.setenv("PYTHONPATH", str(pytester.path), prepend=os.pathsep)
    pytester.makepyfile("def test_without(): ...", test_other="def test_with(dataaccess_client): ...")
    done = pytester.runpytest_subprocess(*ALONE, timeout=50)
    done.assert_outcomes(passed=1, errors=1)
    done.stdout.fnmatch_lines(["*ImportError: library*"])


# The marker `dataaccess`.


SHOP = {"object": "store", "item_type_id": 7, "attributes": {"store_id": "string"}, "rows": [{"store_id": "s-1"}]}
NIGHT = {"switches": {"maximum_rows": 3}, "demo": {"until": "2024-02-29"}, "seeds": [SHOP]}


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
def test_all_have_the_options_of_the_run_and_one_sandbox_can_be_shared(pytester: pytest.Pytester) -> None:
    options = {"until": "2024-02-29", "switches": {"maximum_rows": 7}, "seed": SHOP}
    pytester.makeconftest(
        f"""
        import pytest

        @pytest.fixture(scope="session")
        def dataaccess_options():
            return {options}
        """
    )
    # The file of a platform is beside the test.
    pytester.mkdir("jobs").joinpath("platform.json").write_text(
        '{"switches": {"row_order": "reverse"}}', encoding="utf-8"
    )
    pytester.path.joinpath("jobs", "test_jobs.py").write_text(
        """
import dataaccess as da
import os
import pytest

DAY = da.on("2024-01-15")
seen = []

@pytest.mark.parametrize("turn", [1, 2])
def test_shared(turn, dataaccess_session_sandbox):
    seen.append(dataaccess_session_sandbox.base_url)
    assert len(set(seen)) == 1
    assert len(dataaccess_session_sandbox.requests) == turn - 1
    assert "DATAACCESS_TOKEN" not in os.environ
    assert len(dataaccess_session_sandbox.client().search_codes(["id"], allocated_time=DAY)) == 7

def test_own(dataaccess_client, dataaccess_session_sandbox):
    assert dataaccess_client.base_url != dataaccess_session_sandbox.base_url
    assert len(dataaccess_client.search_codes(["id"], allocated_time=DAY)) == 7

@pytest.mark.dataaccess(platform="platform.json")
def test_a_platform(dataaccess_client):
    stores = dataaccess_client.search_items("store", ["store_id"], da.col("store_id").equals("s-1"), item_type_id=7)
    assert stores == [{"store_id": "s-1"}]
    ids = [row["id"] for row in dataaccess_client.search_codes(["id"], allocated_time=DAY)]
    assert (len(ids), ids) == (7, sorted(ids, reverse=True))
""",
        encoding="utf-8",
    )
    pytester.runpytest_subprocess(*ALONE, "jobs", timeout=50).assert_outcomes(passed=4)
