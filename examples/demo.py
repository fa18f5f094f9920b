"""A tour of dataaccess with the sandbox: no account, no network.

`make demo` runs it. Each step prints what it does.
"""

import warnings
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

import pandas as pd

import dataaccess as da

STATUS = {1: "available", 3: "sent", 4: "used"}
FINISHED_EXPORT = 5637051


def say(step: str) -> None:
    """Announce a step."""
    print(f"\n• {step}\n")


def show(rows: Iterable[Mapping[str, Any]], columns: list[str]) -> None:
    """Print rows as a small text table."""
    cells = [columns, *([str(row[column]) for column in columns] for row in rows)]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    for line in cells:
        padded = (cell.ljust(width) for cell, width in zip(line, widths, strict=True))
        print("   ", "  ".join(padded).rstrip())


def search_codes(client: da.Client) -> None:
    """Search promotion codes, as a table and as a DataFrame."""
    say("Searching the promotion codes that were allocated after 1 February 2024 and are sent or used")
    codes = client.search_codes(allocated_time=da.after("2024-02-01"), code_status=["sent", "used"])
    show(codes[:5], ["id", "name", "code_status", "allocated_time", "last_used_time"])
    statuses = Counter(STATUS[code["code_status"]] for code in codes)
    print(f"\n    {len(codes)} codes:", ", ".join(f"{n} {name}" for name, n in statuses.items()))

    say("The same rows as a pandas DataFrame: the codes of each week")
    scan = client.scan_codes(allocated_time=da.after("2024-02-01"), code_status=["sent", "used"])
    frame = scan.to_pandas()
    week = pd.Grouper(key="allocated_time", freq="W")
    frame["status"] = frame["code_status"].map(STATUS)
    weeks = frame.pivot_table(index=week, columns="status", aggfunc="size", fill_value=0)
    print(weeks.to_string())


def search_customers(client: da.Client) -> None:
    """Search two customers by their ids."""
    say("Searching two customers by their ids")
    where = da.col("customer_id").matches(["demo-customer-0001", "demo-customer-0042"])
    show(
        client.search_items("customer", ["customer_id", "name"], where),
        ["customer_id", "name"],
    )


def download_export(client: da.Client) -> None:
    """Download the entries of an export, once and by waiting for its end."""
    say(f"Downloading the entries of export {FINISHED_EXPORT}")
    columns = ["exportStatus", "exportedRows", "startTime", "endTime"]
    show(client.download_segment(FINISHED_EXPORT)["entries"], columns)

    say("Waiting until every entry of it has ended: it has, so one request is enough")
    status = client.wait_for_segment(FINISHED_EXPORT, timeout=60)
    print(f"    {status['meta']['total']} entries, response in {status['duration']}")


def make_mistakes(client: da.Client) -> None:
    """Show how mistakes are reported: all together, before anything is sent."""
    say("Making mistakes in a request, to see how they are reported")
    try:
        client.search_codes(
            ["id", "nmae"],
            allocated_time=da.after("2024-01-01"),
            audience_type="customer",
            code_status=["used", 2],
        )
    except da.ValidationError as error:
        for problem in error.problems:
            print(f"    {problem.argument}: {problem.message}")


def main() -> None:
    """Start the sandbox and walk through it."""
    warnings.simplefilter("ignore", da.SandboxWarning)  # the next line says the same
    say("Starting the sandbox with synthetic data")
    with da.Sandbox.demo(until="2024-02-29") as sandbox:
        client = sandbox.client(scopes=["item", "download"])
        search_codes(client)
        search_customers(client)
        download_export(client)
        make_mistakes(client)
    say("Done. README.md shows how to connect to your own platform")


if __name__ == "__main__":
    main()
