"""One day of used promotion codes as JSON lines on standard output; needs nothing but dataaccess.

Reads DATAACCESS_BASE_URL and DATAACCESS_TOKEN; without them it uses the sandbox.
"""

import json
import os
import sys

import dataaccess as da


def main(day: str) -> None:
    """Write the codes of the day."""
    client = da.Client(os.environ.get("DATAACCESS_BASE_URL", "sandbox:demo?until=2024-02-29"), timeout=120)
    for code in client.search_codes(allocated_time=da.on(day), code_status="used"):
        print(json.dumps(code, ensure_ascii=False))


if __name__ == "__main__":
    try:
        main(*sys.argv[1:] or ["2024-01-15"])
    except da.DataAccessError as error:
        print(f"etl_script: {error}", file=sys.stderr)
        sys.exit(error.exit_code)
