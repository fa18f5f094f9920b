"""The options of the Spark data source, without Spark: their texts, and what is wrong with them."""

from __future__ import annotations

import json
import pickle
import sys
from pathlib import Path
from typing import Any

import pytest

import dataaccess as da
from dataaccess.spark._options import _words, checked, client_of, scan_of

pytestmark = pytest.mark.filterwarnings("ignore::dataaccess.SandboxWarning")

DEMO = {"base_url": "sandbox:demo?until=2024-02-29"}
DAY = {"allocated_time": "on('2024-01-15')"}
WHERE = (da.col("a").matches(["x", "y"]) | da.col("b").op("gt", 17, data_type="number")) & da.col("c").on("2024-01-15")


def test_a_list_is_words_or_a_list_of_python() -> None:
    assert _words("id, pool_id") == _words("['id', 'pool_id']") == _words(json.dumps(["id", "pool_id"]))
    assert checked({**DAY, "code_status": "sent,4"})["code_status"] == ["sent", 4]
    # An id is a string, even of digits.
    assert checked({**DAY, "allocated_audience": "17,042"})["allocated_audience"] == ["17", "042"]


def requests(**options: str) -> Any:
    return [request["body"] for request in scan_of(checked({**DEMO, **options}), None, None).requests()]


def test_options_make_the_scan_of_the_same_arguments() -> None:
    client = da.Client("sandbox:demo?until=2024-02-29", timezone="Asia/Ho_Chi_Minh")
    scan = client.scan_codes(
        ["id", "code_status"], allocated_time=da.days("2024-01-01", "2024-01-04"), code_status=["sent", 4]
    )
    made = requests(
        timezone="Asia/Ho_Chi_Minh",
        attrs="id,code_status",
        allocated_time="days('2024-01-01', '2024-01-04')",
        code_status="['sent', 4]",
    )
    assert made == [request["body"] for request in scan.requests()]
    assert len(made) == 3


def test_filters_are_an_expression_or_json() -> None:
    body = da.validate_items("store", ["id"], WHERE, item_type_id=7)
    store = {"item_type_name": "store", "item_type_id": "7", "attrs": "id"}
    assert requests(**store, where=str(WHERE)) == requests(**store, where=json.dumps(body["filters"])) == [body]
    assert len(requests(**store, where="col('opened').on(days('2024-01-01', '2024-01-11'))")) == 10


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({**DAY, "code_stat": "sent"}, "code_stat: is no option; did you mean 'code_status'?"),
        ({"AllocatedTime": "x"}, "allocatedtime: is no option; did you mean 'allocated_time'?"),
        ({**DAY, "object": "customer"}, "object: is called item_type_name"),
        ({**DAY, "limit": "3"}, r"limit: is no option: write DataFrame.limit\(n\)"),
        ({"since": "2024-01-01"}, r"""since: .* write .option\("allocated_time", "since\('2024-01-01'\)"\)"""),
        ({**DAY, "where": "{}"}, "where: is an option of other objects"),
        ({"item_type_name": "customer", "code_status": "sent"}, "code_status: is an option of promotion codes"),
        ({"allocated_time": "on(2024-01-15)"}, r"allocated_time: 'on\(2024-01-15\)': is not Python"),
        ({"item_type_name": "customer", "where": "{"}, "where: .*'{' is not JSON"),
        ({"item_type_name": "customer", "where": '{"a":' * 5_000}, "where: .*: is nested too deeply"),
        ({"item_type_name": "customer", "where": '{"a":' * 500 + "1" + "}" * 500}, "where: .*: is nested too deeply"),
        (
            {"item_type_name": "customer", "where": f"col('a').matches([{'1,' * 40_000}1])"},
            "where: .*80,021 characters",
        ),
        ({**DAY, "token_file": "a", "token_callable": "b:c"}, "give either token_file or token_callable"),
        ({**DAY, "token_callable": "tokens"}, "token_callable: 'tokens' names no function"),
        ({**DAY, "token_callable": "nowhere:fetch"}, "token_callable: 'nowhere:fetch' cannot be imported"),
        ({**DAY, "token_callable": "os:getcwdx"}, "token_callable: 'os:getcwdx' cannot be imported"),
        (
            {**DAY, "settle": "3600"},
            "settle: is no option: Spark keeps no folder, so each query requests its days anew",
        ),
        ({}, "allocated_time: is required"),
        ({**DAY, "code_status": "sennt"}, r'code_status\[0\]: "sennt" is not a value .* did you mean "sent"'),
        ({**DAY, "attrs": "id,pool"}, r'attrs\[1\]: "pool" is not an attribute .* did you mean "pool_id"'),
        ({"item_type_name": "store", "attrs": "id"}, "item_type_id: is required"),
        ({"cod_status": "sent", "alocated_time": "x"}, r"; and 1 more \(alocated_time\)"),
    ],
)
def test_a_wrong_option_is_an_error_that_says_what_to_write(
    options: dict[str, str], message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DATAACCESS_SPARK_ALLOW_TOKEN_CALLABLES", "tokens, nowhere:fetch, os:getcwdx")
    with pytest.raises(da.ValidationError, match=message):
        scan_of(checked({**DEMO, **options}), None, None)


@pytest.mark.parametrize(
    ("name", "text"), [("retry_for", "soon"), ("base_url", "cdp"), ("timezone", "Mars"), ("allow_http", "maybe")]
)
def test_a_wrong_setting_is_a_config_error(name: str, text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DATAACCESS_TOKEN", "from-the-environment")
    monkeypatch.setenv("DATAACCESS_BASE_URL", "https://cdp.example.com")
    with pytest.raises(da.ConfigError, match=name.replace("_", ".")):
        client_of(checked({"base_url": "https://cdp.example.com", **DAY, name: text}))


@pytest.mark.parametrize("name", ["token", "headers", "proxy", "Token", "tokens"])
def test_a_secret_is_refused_and_not_shown(name: str) -> None:
    with pytest.raises(da.ValidationError) as caught:
        checked({**DAY, name: "tok-secret"})
    shown = "".join([repr(caught.value), *caught.value.__notes__] if hasattr(caught.value, "__notes__") else [])
    assert "tok-secret" not in f"{shown}{caught.value}{caught.value.problems}"


def test_the_address_of_the_driver_travels_and_the_token_does_not(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DATAACCESS_BASE_URL", "https://cdp.example.com")
    monkeypatch.setenv("DATAACCESS_TOKEN", "tok-secret-of-the-driver")
    pickled = pickle.dumps(scan_of(checked(DAY), None, None).tasks())
    assert b"tok-secret" not in pickled

    monkeypatch.delenv("DATAACCESS_BASE_URL")
    monkeypatch.delenv("DATAACCESS_TOKEN")
    with pytest.raises(da.ConfigError, match="token is not set"):
        pickle.loads(pickled)
    monkeypatch.setenv("DATAACCESS_TOKEN", "tok-of-the-executor")
    assert pickle.loads(pickled)[0].requests()[0]["url"].startswith("https://cdp.example.com/")


@pytest.mark.parametrize(
    ("option", "advice"),
    [
        ({"allocated_time": "2024-01-15"}, r"is a day without a condition: write on\('2024-01-15'\)"),
        ({"item_type_name": "customer", "where": "customer_id = '17'"}, r"write it as col\('customer_id'\).equals"),
        ({"item_type_name": "customer", "where": "Column<'=(id, 17)'>"}, r"is a column of Spark: use da\.col"),
    ],
)
def test_what_is_usual_in_spark_has_advice(option: dict[str, str], advice: str) -> None:
    with pytest.raises(da.ValidationError, match=advice):
        checked({**DEMO, **option})


def test_settings_that_are_missing_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(da.ConfigError) as caught:
        client_of({})
    assert [line.split()[0] for line in caught.value.problems] == ["base_url", "token"]
    monkeypatch.setenv("DATAACCESS_SPARK_ALLOW_HOSTS", "cdp.example.com")
    with pytest.raises(da.ConfigError, match=r"^token is not set"):
        client_of({"base_url": "https://cdp.example.com"})


ADDRESS = {"DATAACCESS_BASE_URL": "https://cdp.example.com"}
TOKENS = [{"DATAACCESS_TOKEN": "tok-of-the-platform"}, {"DATAACCESS_TOKEN_FILE": "/run/secrets/tok-of-the-platform"}]


@pytest.mark.parametrize("environment", [environment | own for environment in TOKENS for own in (ADDRESS, {})])
@pytest.mark.parametrize(
    "address",
    [
        "https://evil.example.com",
        "http://cdp.example.com",
        "https://cdp.example.com:8443",
        r"https://evil\@cdp.example.com",
    ],
)
def test_a_query_names_no_address(address: str, environment: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    with pytest.raises(da.ConfigError if "\\" in address else da.ValidationError) as caught:
        client_of(checked({**DAY, "base_url": address, "allow_http": "true"}))
    assert "tok-" not in str(caught.value)
    if "\\" not in address:
        assert str(caught.value) == (
            f"base_url: {address} is neither the address of DATAACCESS_BASE_URL nor in DATAACCESS_SPARK_ALLOW_HOSTS, "
            "the list in the environment of the driver: ask the administrator of Spark"
        )


@pytest.mark.parametrize("own", TOKENS)
def test_a_query_may_name_the_address_of_the_platform_and_those_of_its_list(
    own: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in {**ADDRESS, **own}.items():
        monkeypatch.setenv(name, value)
    assert client_of(checked({**DAY, "base_url": "https://CDP.example.com:443/v2"})).base_url.endswith("/v2")
    monkeypatch.setenv("DATAACCESS_SPARK_ALLOW_HOSTS", " staging.example.com:8443,https://test.example.com ,")
    # The token of the environment stays at its own address.
    for address in ("https://staging.example.com:8443", "https://test.example.com/v2"):
        with pytest.raises(da.ConfigError, match="is another; set token"):
            client_of(checked({**DAY, "base_url": address}))
    # Without an own address the list names the addresses of that token.
    monkeypatch.delenv("DATAACCESS_BASE_URL")
    assert client_of(checked({**DAY, "base_url": "https://test.example.com"})).base_url == "https://test.example.com"
    monkeypatch.setenv("DATAACCESS_SPARK_ALLOW_HOSTS", r"test.example.com,https://x\@y")
    with pytest.raises(da.ConfigError, match=r"DATAACCESS_SPARK_ALLOW_HOSTS: .* is no host; write"):
        client_of(checked({**DAY, "base_url": "https://test.example.com"}))


def test_a_query_chooses_token_files_and_functions_of_the_lists_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DATAACCESS_BASE_URL", "https://cdp.example.com")
    path, other = tmp_path / "token", tmp_path / "passwords"
    path.write_text("tok-of-a-file")
    refused = {
        "token_file": [str(other), f"{path}/../passwords", "~/passwords", "/etc/passwd"],
        "token_callable": ["getpass:getuser", "os:abort", "json.tool:main", "os:getcwd "],
    }
    for variable in ("TOKEN_FILES", "TOKEN_CALLABLES"):
        monkeypatch.setenv(f"DATAACCESS_SPARK_ALLOW_{variable}", f"{path}, ~/own, os:getcwd")
        for option, values in refused.items():
            for value in values:
                with pytest.raises(da.ValidationError, match=f"{option}: this .* is not in DATAACCESS_SPARK") as caught:
                    client_of(checked({**DAY, option: value}))
                assert value not in str(caught.value)
    assert "json.tool" not in sys.modules
    monkeypatch.setenv("HOME", str(tmp_path))
    for option, value in (("token_file", str(path)), ("token_file", "~/own"), ("token_callable", "os:getcwd")):
        client = client_of(checked({**DAY, option: value}))
        assert repr(client).endswith("token from callable)")
