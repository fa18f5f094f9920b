"""A condition as text that is too deep is an error of the task, which Airflow does not retry.

Source: a security review.
"""

from __future__ import annotations

import pytest
from airflow.sdk.exceptions import AirflowFailException

import dataaccess as da
from dataaccess.airflow import DataAccessSearchOperator

TEXTS = {
    "deep": '{"a":' * 5_000,
    "deep and complete": '{"a":' * 500 + "1" + "}" * 500,
}


@pytest.mark.parametrize("where", TEXTS.values(), ids=TEXTS)
def test_a_text_that_is_too_deep_is_refused(where: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DATAACCESS_BASE_URL", "sandbox:demo")
    operator = DataAccessSearchOperator(
        task_id="customers", item_type_name="customer", attrs=["customer_id"], where=where, dataaccess_conn_id=None
    )
    with pytest.raises(AirflowFailException) as caught:
        operator.execute({})
    assert isinstance(caught.value.__cause__, da.ValidationError)
    assert caught.value.__cause__.problems[0].argument.startswith("where")
