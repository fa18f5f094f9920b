"""Messages that name arguments: as Python spells them, and in the words of another front end."""

from __future__ import annotations

import pickle

import pytest

import dataaccess as da
from dataaccess.errors import Problem
from dataaccess.errors._text import Text, argument, marked, text_of

ADVICE = f"raise {argument('timeout')} or pass {argument('missing', 'ignore')}"


def as_option(named: da.errors.Argument) -> str | None:
    known = {"timeout": "--timeout", "retry_for": "--retry-for", "base_url": "--base-url"}
    option = known.get(named.name)
    return option if option is None or named.value is None else f"{option} {named.value}"


def test_a_text_is_a_string_of_python_that_keeps_its_parts() -> None:
    text = text_of(ADVICE)
    assert text == "raise timeout= or pass missing='ignore'"
    assert isinstance(pickle.loads(pickle.dumps(text)), Text)
    assert marked(pickle.loads(pickle.dumps(text))) == ADVICE
    assert type(text_of("raise it")) is str


def test_an_error_is_spelled_for_a_front_end() -> None:
    with pytest.raises(da.ConfigError) as caught:
        da.Client("https://cdp.example.com", token="t", timeout=0)
    error = pickle.loads(pickle.dumps(caught.value))
    assert str(error) == "timeout= must be more than 0 and at most 31622400 seconds (a year), not 0"
    assert error.spelled(as_option).startswith("--timeout must be more than 0")
    assert [(each.name, each.value, str(each)) for each in error.arguments] == [("timeout", None, "timeout=")]


def test_what_the_core_advises_names_its_arguments() -> None:
    with da.Sandbox.demo(until="2024-02-29") as sandbox, sandbox.fault("status", status=502):
        client = da.Client(sandbox.base_url, token=sandbox.issue_token(), retry_for=0.01)
        with pytest.raises(da.ServerError) as caught:
            client.search_codes(allocated_time=da.on("2024-01-15"))
    assert str(caught.value).startswith("search_codes: ")
    assert str(caught.value).endswith("; retry_for=0.01 s ended the retries: raise retry_for= to retry for longer")
    spelled = caught.value.spelled(as_option)
    assert not spelled.startswith("search_codes")
    assert spelled.endswith("; --retry-for 0.01 s ended the retries: raise --retry-for to retry for longer")


def test_a_hint_for_another_front_end_is_left_out() -> None:
    hint = f"pass {argument('missing', 'ignore')}"
    error = da.DataAccessError(f"it failed within {argument('timeout', 5)} s; {hint}", hint=hint)
    assert str(error) == "it failed within timeout=5 s; pass missing='ignore'"
    assert (error.hint, error.spelled(as_option)) == ("pass missing='ignore'", "it failed within --timeout 5 s")


def test_several_settings_are_one_error() -> None:
    with pytest.raises(da.ConfigError) as caught:
        da.Client("cdp", token="t", timeout=0, retry_for="soon")  # type: ignore[arg-type]
    error = caught.value
    assert len(error.problems) == 3
    assert str(error).startswith("3 settings are invalid: (1) ")
    spelled = error.spelled(as_option)
    assert "(--base-url) is not a URL" in spelled
    assert "=" not in spelled
    assert {each.name for each in error.arguments} == {"base_url", "timeout", "retry_for"}


def test_a_problem_has_its_argument_apart() -> None:
    with pytest.raises(da.ValidationError) as caught:
        da.validate_codes(allocated_time=da.on("2024-01-15"), code_status=7)
    (problem,) = caught.value.problems
    assert problem.message.startswith("7 is not a value of code_status: ")
    assert caught.value.spelled(lambda _: "status").startswith("code_status: 7 is not a value of status: ")
    assert pickle.loads(pickle.dumps(problem)) == problem
    copied = Problem("where", "", f"leave {argument('where')} out", None)
    assert copied.message == "leave where= out"
