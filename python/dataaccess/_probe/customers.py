"""Open points that generic searches settle, in searches of one customer."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dataaccess._probe.codes import accepted, refusal
from dataaccess._probe.session import NAMES, WORD, NotPermittedError, NotSettledError, member
from dataaccess.errors import ApiError

if TYPE_CHECKING:
    from dataaccess._probe.session import Session


def attrs_format(session: Session) -> tuple[str, str]:
    """Whether the attributes of a generic search are an array, a string, or either."""
    # What is accepted in neither form is not refused for its form.
    session.form()
    outcomes = {form: session.customers(form) for form in ("array", "string")}
    shown = {"array": "array", "string": f'string "{",".join(NAMES)}"'}
    taken = [form for form, outcome in outcomes.items() if isinstance(outcome, list)]
    seen = [f"accepted as {' and as '.join(shown[form] for form in taken)}"]
    seen += [
        f"refused as {shown[form]}: {refusal(outcome)}"
        for form, outcome in outcomes.items()
        if isinstance(outcome, ApiError)
    ]
    return taken[0] if len(taken) == 1 else "both", "; ".join(seen)


def attrs_separator(session: Session) -> tuple[str, str]:
    """Whether a comma separates the names when the attributes are a string."""
    found = session.customers("string")
    if isinstance(found, ApiError):
        raise NotSettledError(f"a string of names with a comma was refused: {refusal(found)}")
    if not found:
        raise NotSettledError("accepted, and no customer was found: name a day with a code of a customer")
    if not isinstance(found[0], dict) or not {*NAMES} <= {*found[0]}:
        raise NotSettledError("accepted, and the record lacks an attribute that was named")
    return "comma", "the record has both attributes"


def generic_scope(session: Session) -> tuple[None, str]:
    """Whether the token may search customers. No response names a scope."""
    try:
        session.form()
    except NotPermittedError as error:
        # Without the scope of codes nothing says that the token is valid.
        session.rows()
        return None, f"{error}, but codes: that takes another scope than `item`"
    return None, "the token may search customers: `item` allows it, or another scope of the token; ask who issued it"


def unknown_object(session: Session) -> tuple[str, str]:
    """The response to a business object that does not exist."""
    found = session.unknown_object()
    if isinstance(found, ApiError):
        return "refused", refusal(found)
    return "accepted", f"{len(found):,} records were found"


def unknown_attribute(session: Session) -> tuple[str, str]:
    """An attribute that does not exist."""
    found = session.customers_with(attrs=["customer_id", WORD])
    if isinstance(found, ApiError):
        return "refused", refusal(found)
    if any(isinstance(each, dict) and WORD in each for each in found):
        raise NotSettledError("accepted, and the record has it")
    return "ignored", f"accepted; {len(found):,} found, without it"


def generic_operators(session: Session) -> tuple[str, str]:
    """An operator that the specification shows for promotion codes alone."""
    found = session.customers_with(operator="equals")
    if isinstance(found, list) and not found and session.has_customer():
        return "unmatched", "equals is accepted, and does not find the customer that matches finds"
    return accepted(found)


def value_types(session: Session) -> tuple[str, str]:
    """A value type that does not exist."""
    return accepted(session.customers_with(value_type=WORD))


def condition_type(session: Session) -> tuple[str, str]:
    """A condition type that does not exist."""
    return accepted(session.customers_with(condition_type=WORD))


def data_types(session: Session) -> tuple[str, str]:
    """A data type that does not exist."""
    return accepted(session.customers_with(data_type=WORD))


def string_comparison(session: Session) -> tuple[str, str]:
    """Whether an id in the other case finds the customer."""
    customer = session.customer()
    if not session.has_customer():
        raise NotSettledError("no customer was found by its id: name a day with a code of a customer")
    other = customer.swapcase()
    if other == customer:
        raise NotSettledError("the id of the customer has no letters: name another day")
    found = session.customers_with(value=[other])
    if isinstance(found, ApiError):
        raise NotSettledError(f"an id in the other case was refused: {refusal(found)}")
    if any(member(each, "customer_id", "a record") == customer for each in found):
        return "ignores case", "matches finds a customer by its id in the other case"
    return "case counts", "matches does not find a customer by its id in the other case"


def equals_values(session: Session) -> tuple[str, str]:
    """Two values of equals."""
    return accepted(session.customers_with(operator="equals", value=[session.customer(), WORD]))


def declared_types(session: Session) -> tuple[str, str]:
    """A data type that is not that of the attribute."""
    return accepted(session.customers_with(data_type="number", value=[1]))


def repeated_names(session: Session) -> tuple[str, str]:
    """An attribute that is named twice."""
    return accepted(session.customers_with(attrs=["customer_id", "customer_id"]))
