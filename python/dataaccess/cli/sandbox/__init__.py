"""`dataaccess sandbox`: serves the sandbox until it is stopped."""

from __future__ import annotations

from typing import Any

import click

from dataaccess.cli.parts import Command, option
from dataaccess.cli.values import List, Pair, TokenPath, Whole

TOKEN = "DATAACCESS_SANDBOX_TOKEN"  # noqa: S105 - the name of a variable
ADMIN_TOKEN = "DATAACCESS_SANDBOX_ADMIN_TOKEN"  # noqa: S105 - likewise

_DATA = "Data, one of"
_BEHAVIOR = "Behavior where the API specification is silent"
_REACH = "Other machines and containers"

_EPILOG = """\b
Examples:
  dataaccess sandbox --port 8080
  dataaccess sandbox --scenario night.toml
"""


@click.command("sandbox", cls=Command, epilog=_EPILOG)
@option("--port", type=Whole(0, 65535), default=0, metavar="PORT", help="Port to listen on. [a free one]")
@option("--scopes", type=List(), multiple=True, metavar="A,B", help="Scopes of the token. [all]")
@option(
    "--token-file",
    type=TokenPath(),
    metavar="FILE",
    help=f"File with a token of your own, which has every scope; or set {TOKEN}.",
)
@option(
    "--admin-token-file",
    type=TokenPath(),
    metavar="FILE",
    help=f"File with the token of the control routes; or set {ADMIN_TOKEN}. [a random one]",
)
@option("--json", "as_json", is_flag=True, help="Print address, tokens and scopes as JSON in place of shell lines.")
@option("--quiet", is_flag=True, help="Write no line for each request.")
@option("--demo", is_flag=True, section=_DATA, help="Synthetic data of the last 60 days; the default.")
@option("--until", metavar="DAY", section=_DATA, help="Synthetic data up to this day, the same each time.")
@option("--empty", is_flag=True, section=_DATA, help="No data.")
@option("--scenario", metavar="FILE", section=_DATA, help="Rows, switches, faults and exports of a TOML or JSON file.")
@option("--replay", metavar="FILE", section=_DATA, help="The responses that Client(record=FILE) recorded.")
@option(
    "--platform",
    metavar="NAME|FILE",
    section=_BEHAVIOR,
    help="all-utc, local-times, other-zone-inclusive, or the file that dataaccess probe wrote.",
)
@option(
    "--switch",
    "switches",
    type=Pair("NAME=VALUE", "latency=0.5"),
    multiple=True,
    metavar="NAME=VALUE",
    section=_BEHAVIOR,
    help="One open point, in place of the platform's; may be repeated.",
)
@option("--host", metavar="ADDRESS", section=_REACH, help="Address to listen on. [127.0.0.1]")
@option(
    "--allow-remote",
    is_flag=True,
    section=_REACH,
    help="Allow an address that other machines can reach. Needs both tokens, of 32 characters or more.",
)
@option(
    "--host-names",
    type=List(),
    multiple=True,
    metavar="A,B",
    section=_REACH,
    help="Host names that requests may use besides localhost, such as host.docker.internal.",
)
def command(**given: Any) -> None:
    """Serve the sandbox on this machine.

    The sandbox is the whole Data Access API with synthetic data or your own. The address and the tokens are printed as
    lines for the shell. The service ends with Ctrl-C. Routes below /__sandbox control it, with the admin token.
    """
    from dataaccess.cli.sandbox.serving import serve  # `--help` needs no server

    serve(**given)
