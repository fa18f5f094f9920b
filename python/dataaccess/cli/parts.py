"""Commands whose help has their options in sections, and the two options that every command has."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from dataaccess.cli.ending import CommandError, code_of, message_of
from dataaccess.cli.streams import QUIET
from dataaccess.errors import DataAccessError

if TYPE_CHECKING:
    from collections.abc import Callable

# Wider help is hard to read.
_WIDTH = 100
# The section of an option that names none.
_SECTION = "Options"


class Option(click.Option):
    """An option in a section of the help."""

    def __init__(self, *arguments: Any, section: str = _SECTION, **keywords: Any) -> None:
        """As `click.Option`."""
        super().__init__(*arguments, **keywords)
        self.section = section

    def get_help_extra(self, ctx: click.Context) -> Any:
        """No more than the help: it has the default, and the range says little."""
        del ctx
        return {}


def option(names: str, metavar: str | None, text: str, **keywords: Any) -> Callable[[Any], Any]:
    """An option with its help; without a metavar it is a flag."""
    keywords |= {"is_flag": True} if metavar is None else {"metavar": metavar}
    return click.option(*names.split(), cls=Option, help=text, **keywords)


def all_of(*options: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Several options, in this order in the help."""

    def add(function: Any) -> Any:
        for one in reversed(options):
            function = one(function)
        return function

    return add


def _be_quiet(context: click.Context, _parameter: click.Parameter, is_wanted: bool) -> None:
    context.meta[QUIET] = is_wanted


class Command(click.Command):
    """A command with its options in sections, and with `--json` (its argument `as_json`) and `--quiet`."""

    def __init__(self, *arguments: Any, **keywords: Any) -> None:
        """As `click.Command`."""
        keywords["context_settings"] = {"help_option_names": ["-h", "--help"], "max_content_width": _WIDTH}
        super().__init__(*arguments, **keywords)
        of_json = "Print JSON in a terminal too; of what is written a report."
        of_quiet = "Print no progress and no notes: warnings and errors alone."
        self.params += [
            Option(["--json", "as_json"], is_flag=True, help=of_json),
            Option(["--quiet"], is_flag=True, expose_value=False, callback=_be_quiet, help=of_quiet),
        ]

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Refuses an option that is given again: click would drop the first value."""
        try:
            if not ctx.resilient_parsing:
                self._refuse_repeated(ctx, args)
            return super().parse_args(ctx, args)
        except click.UsageError as error:
            # The parser does not say whose option it is.
            error.ctx = error.ctx or ctx
            raise

    def _refuse_repeated(self, ctx: click.Context, args: list[str]) -> None:
        _, _, order = self.make_parser(ctx).parse_args(args=list(args))
        for one in order:
            if isinstance(one, Option) and not one.multiple and not one.is_flag and order.count(one) > 1:
                name = max(one.opts, key=len)
                raise click.UsageError(f"{name} is given {order.count(one)} times, and takes one value", ctx)

    def invoke(self, ctx: click.Context) -> Any:
        """Runs the command. Errors of calls name its options; what was typed wrong is an error of usage."""
        try:
            return super().invoke(ctx)
        except DataAccessError as error:
            raise CommandError(message_of(error), code_of(error)) from None

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The options by section; those that every command has come last."""
        sections: dict[str, list[tuple[str, str]]] = {}
        for parameter in self.get_params(ctx):
            # The text above them describes arguments.
            if isinstance(parameter, click.Option) and (record := parameter.get_help_record(ctx)):
                sections.setdefault(getattr(parameter, "section", _SECTION), []).append(record)
        sections[_SECTION] = sections.pop(_SECTION)
        for title, records in sections.items():
            with formatter.section(title):
                formatter.write_dl(records)
