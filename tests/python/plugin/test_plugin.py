"""The fixtures that the package gives to pytest, in runs of pytest of their own."""

from __future__ import annotations

import pytest

import dataaccess as da

pytest_plugins = ["pytester"]


@pytest.fixture(autouse=True)
def _strict(pytester: pytest.Pytester) -> None:
    """What a careful team sets: warnings are errors, and nothing of this repository is read."""
    pytester.makeini("[pytest]\nfilterwarnings = error\naddopts = -p no:cacheprovider\n")


def run(pytester: pytest.Pytester, source: str, *options: str) -> pytest.RunResult:
    pytester.makepyfile(source)
    return pytester.runpytest_subprocess(*options, timeout=50)


def test_they_are_there_without_being_asked_for_and_tell_what_they_are(pytester: pytest.Pytester) -> None:
    told = run(pytester, "", "--fixtures").stdout
    told.fnmatch_lines(
        ["dataaccess_sandbox *", "*for this test alone*", "dataaccess_client *", "*token has every scope*"]
    )


def test_a_test_has_a_client_of_the_demo_data(pytester: pytest.Pytester) -> None:
    source = """
        import dataaccess as da

        def test_job(dataaccess_client, dataaccess_sandbox):
            assert dataaccess_client.base_url == dataaccess_sandbox.base_url
            assert dataaccess_client.is_sandbox
            assert dataaccess_client.search_codes(["id"], allocated_time=da.on("2024-01-15"))
            assert dataaccess_client.download_segment(5637051)["code"] == 200

        def test_job_that_reads_the_environment(dataaccess_sandbox):
            assert da.Client().base_url == dataaccess_sandbox.base_url
            assert da.search_codes(["id"], allocated_time=da.on("2024-01-15"))
    """
    run(pytester, source).assert_outcomes(passed=2)


def test_no_setting_from_outside_breaks_them(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DATAACCESS_CA_BUNDLE", "/nowhere")
    source = """
        import dataaccess as da

        def test_job(dataaccess_client):
            assert dataaccess_client.download_segment(5637051)["code"] == 200
            assert da.download_segment(5637051)["code"] == 200
    """
    run(pytester, source).assert_outcomes(passed=1)


def test_nothing_of_one_test_reaches_another(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DATAACCESS_BASE_URL", "https://cdp.example.com")
    source = """
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
                    da.Client(earlier, token=token, retries=0).download_segment(5637051)
            seen.append((dataaccess_sandbox.base_url, os.environ["DATAACCESS_TOKEN"]))
            dataaccess_sandbox.stop()

        def test_the_client_is_closed_and_the_environment_as_before():
            assert os.environ["DATAACCESS_BASE_URL"] == "https://cdp.example.com"
            assert "DATAACCESS_TOKEN" not in os.environ
    """
    run(pytester, source).assert_outcomes(passed=3)


def test_no_fault_and_no_request_of_one_test_reaches_another(pytester: pytest.Pytester) -> None:
    source = """
        import pytest

        @pytest.mark.parametrize("turn", [1, 2])
        def test_each_begins_calm(turn, dataaccess_sandbox, dataaccess_client):
            assert list(dataaccess_sandbox.requests) == []
            dataaccess_client.download_segment(5637051)
            assert len(dataaccess_sandbox.requests) == 1
            dataaccess_sandbox.fault("status", status=503).__enter__()
    """
    run(pytester, source).assert_outcomes(passed=2)


def test_nothing_starts_unless_a_test_asks_for_it(pytester: pytest.Pytester) -> None:
    source = """
        import dataaccess as da

        def test_without():
            assert da.sandbox._addresses == set()

        def test_with(dataaccess_sandbox):
            assert da.sandbox._addresses == {dataaccess_sandbox.base_url}
    """
    run(pytester, source, "-k", "without").assert_outcomes(passed=1, deselected=1)
    run(pytester, source).assert_outcomes(passed=2)


def test_it_can_be_turned_off(pytester: pytest.Pytester) -> None:
    done = run(pytester, "def test_job(dataaccess_client): ...", "-p", "no:dataaccess")
    done.assert_outcomes(errors=1)
    done.stdout.fnmatch_lines(["*fixture 'dataaccess_client' not found*"])


def test_here_too(dataaccess_client: da.Client, dataaccess_sandbox: da.Sandbox) -> None:
    assert dataaccess_client.base_url == dataaccess_sandbox.base_url
    assert dataaccess_client.search_codes(["id"], allocated_time=da.on("2024-01-15"), limit=1)
