"""The building blocks of commands: groups that suggest names, and help with the options in sections."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from dataaccess._public import did_you_mean
from dataaccess.cli.ending import in_the_words_of_the_command

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from click.shell_completion import CompletionItem

# Wider help is hard to read.
_WIDTH = 100


class Option(click.Option):
    """An option in a section of the help."""

    def __init__(self, *arguments: Any, section: str = "Options", **keywords: Any) -> None:
        """As `click.Option`."""
        super().__init__(*arguments, **keywords)
        self.section = section

    def get_help_extra(self, ctx: click.Context) -> Any:
        """No more than the help: it has the default, and the range says little."""
        del ctx
        return {}

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """What a shell completes."""
        from dataaccess.cli.completing import completions  # for shells only

        return completions(ctx, self, incomplete) or super().shell_complete(ctx, incomplete)


class Command(click.Command):
    """A command whose help has its options in sections."""

    def __init__(self, *arguments: Any, **keywords: Any) -> None:
        """As `click.Command`."""
        settings = {"help_option_names": ["-h", "--help"], "max_content_width": _WIDTH}
        keywords["context_settings"] = {**settings, **keywords.get("context_settings", {})}
        super().__init__(*arguments, **keywords)

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
        """Runs the command."""
        with in_the_words_of_the_command():
            return super().invoke(ctx)

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The examples, and where the exit codes are."""
        super().format_epilog(ctx, formatter)
        formatter.write_paragraph()
        formatter.write_text("Exit codes: 0 is success, 2 a wrong command line; dataaccess --help lists all.")

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The options by section; those of click, as `--help`, come last."""
        sections: dict[str, list[tuple[str, str]]] = {}
        # The text above them describes arguments.
        for parameter in [one for one in self.get_params(ctx) if isinstance(one, click.Option)]:
            record = parameter.get_help_record(ctx)
            if record is not None:
                sections.setdefault(getattr(parameter, "section", "Other options"), []).append(record)
        for title, records in sections.items():
            with formatter.section(title):
                formatter.write_dl(records)


class Commands(click.Group):
    """A group of commands that suggests the name which may be meant."""

    command_class: type[click.Command] | None = Command

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Takes `help COMMAND` as `COMMAND --help`."""
        if args and args[0] == "help":
            args = [*args[1:], "--help"]
        return super().parse_args(ctx, args)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """The command that the first argument names."""
        if args and not args[0].startswith("-") and self.get_command(ctx, args[0]) is None:
            known = self.list_commands(ctx)
            advice = did_you_mean(args[0], known) or f"; there are {', '.join(known)}"
            ctx.fail(f"there is no command {args[0]!r}{advice}")
        return super().resolve_command(ctx, args)


def option(*names: str, section: str = "Options", **keywords: Any) -> Callable[[Any], Any]:
    """An option in a section of the help."""
    return click.option(*names, cls=Option, section=section, **keywords)


def all_of(options: Sequence[Callable[[Any], Any]]) -> Callable[[Any], Any]:
    """Several options, in this order in the help."""

    def add(function: Any) -> Any:
        for one in reversed(options):
            function = one(function)
        return function

    return add
