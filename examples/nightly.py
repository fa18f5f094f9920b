"""Yesterday's promotion codes into a folder that grows, for cron: prints nothing, or one line on failure."""

import argparse
import sys
from datetime import date, datetime, timedelta
from zoneinfo import ZoneInfo

import dataaccess as da

TIMEZONE = "UTC"  # in which your platform cuts its days


def update(
    folder: str, today: date | None = None, token_file: str | None = None, retry_for: float = 600
) -> da.FolderReport:
    """Add yesterday, and what is missing of the 30 days before today; request the last three days again."""
    token = da.token_file(token_file) if token_file else None  # None: DATAACCESS_TOKEN
    client = da.Client(token=token, timezone=TIMEZONE, retry_for=retry_for)  # at DATAACCESS_BASE_URL
    today = today or datetime.now(ZoneInfo(TIMEZONE)).date()
    month = da.days(today - timedelta(days=30), today)
    return client.scan_codes(allocated_time=month).to_folder(folder, settle=3)


def main() -> int:
    """Return the exit code for cron, which sends by mail what is printed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", help="a path, or a URL such as s3://warehouse/codes")
    parser.add_argument("--today", type=date.fromisoformat, help="another day than today, as 2024-01-31")
    parser.add_argument("--token-file", help="read again when the service refuses the token")
    parser.add_argument("--retry-for", type=float, default=600, help="seconds to wait for a service that fails")
    try:
        update(**vars(parser.parse_args()))
    except da.DataAccessError as error:
        print(f"nightly: {error}", file=sys.stderr)
        return error.exit_code
    return 0


if __name__ == "__main__":
    sys.exit(main())
