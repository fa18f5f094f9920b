"""The fixtures that the package gives to pytest, in runs of pytest of their own."""

from __future__ import annotations

import os

import pytest

pytest_plugins = ["pytester"]


@pytest.fixture(autouse=True)
def _strict(pytester: pytest.Pytester) -> None:
    """What a careful team sets: warnings are errors, and nothing of this repository is read."""
    pytester.makeini("[pytest]\nfilterwarnings = error\naddopts = -p no:cacheprovider\n")


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
