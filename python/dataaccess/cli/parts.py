"""Commands whose help has their options in sections, and the two options that every command has."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from dataaccess.cli.ending import command_error
from dataaccess.cli.output import QUIET
from dataaccess.errors import DataAccessError

if TYPE_CHECKING:
    from collections.abc import Callable

# Wider help is hard to read.
_WIDTH = 100
# The section of an option that names none.
_SECTION = "Options"


class Option(click.Option):
    """An option in a section of the help."""

    def __init__(self, *arguments: Any, section: str = _SECTION, is_beside: bool = False, **keywords: Any) -> None:
        """As `click.Option`. One that is beside another shares its line."""
        super().__init__(*arguments, **keywords)
        self.section, self.is_beside = section, is_beside

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
        of_json = "Print JSON (rows or a report);"
        of_quiet = "print only warnings and errors beside it."
        quiet = Option(["--quiet"], is_beside=True, is_flag=True, expose_value=False, callback=_be_quiet, help=of_quiet)
        self.params += [Option(["--json", "as_json"], is_flag=True, help=of_json), quiet]

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
        values, _, order = self.make_parser(ctx).parse_args(args=list(args))
        names = {name for one in self.params if isinstance(one, Option) for name in one.opts}
        for one in order:
            if not isinstance(one, Option) or one.is_flag:
                continue
            name, value = max(one.opts, key=len), values[one.name or ""]
            if taken := names.intersection([value] if isinstance(value, str) else value):
                raise click.UsageError(f"{name} takes {one.metavar} before {taken.pop()}", ctx)
            if not one.multiple and order.count(one) > 1:
                raise click.UsageError(f"{name} is given {order.count(one)} times, and takes one value", ctx)

    def invoke(self, ctx: click.Context) -> Any:
        """Runs the command. Errors of calls name its options; what was typed wrong is an error of usage."""
        try:
            return super().invoke(ctx)
        except DataAccessError as error:
            raise command_error(error) from None

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The options by section, without empty lines between them; those that every command has come last."""
        sections: dict[str, list[tuple[str, str]]] = {}
        for one in self.params:
            if not isinstance(one, Option):
                # The text above them describes arguments.
                continue
            names, text = one.get_help_record(ctx) or ("", "")
            records = sections.setdefault(one.section, [])
            if one.is_beside:
                before, text_before = records.pop()
                names, text = f"{before.removesuffix(f' {one.metavar}')}, {names}", f"{text_before} {text}"
            records.append((names, text))
        sections[_SECTION] = sections.pop(_SECTION)
        formatter.write_paragraph()
        for title, records in sections.items():
            formatter.write_heading(title)
            with formatter.indentation():
                formatter.write_dl(records)

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The examples, a line each."""
        formatter.write_heading("Examples")
        formatter.write("".join(f"  dataaccess {line}\n" for line in (self.epilog or "").splitlines()))
