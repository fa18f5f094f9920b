"""`dataaccess completion`: the script that makes a shell complete commands and options."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click
from click.shell_completion import get_completion_class

from dataaccess.cli.parts import Command

_EPILOG = """\b
To use it, add a line to the start file of the shell:
  bash  ~/.bashrc                   eval "$(dataaccess completion bash)"
  zsh   ~/.zshrc                    eval "$(dataaccess completion zsh)"
  fish  ~/.config/fish/config.fish  dataaccess completion fish | source
"""


# `@` begins the name of a file, as in `--audience @ids.txt`, and would end a word.
_AFTER = {"bash": "COMP_WORDBREAKS=${COMP_WORDBREAKS//@/}"}


# Generic in some versions of click.
if TYPE_CHECKING:
    _Choice = click.Choice[str]
else:
    _Choice = click.Choice


class _Shell(_Choice):
    """A shell, with one line for its absence."""

    def get_missing_message(self, *_: object, **_more: object) -> str:
        """What to write."""
        return f"Write one of {', '.join(map(str, self.choices))}"


@click.command("completion", cls=Command, epilog=_EPILOG)
@click.argument("shell", type=_Shell(["bash", "zsh", "fish"]))
@click.pass_context
def command(context: click.Context, shell: str) -> None:
    """Print the completion script of a shell."""
    kind = get_completion_class(shell)
    if kind is None:
        raise click.UsageError(f"click knows no completion for {shell}")
    completion = kind(context.find_root().command, {}, "dataaccess", "_DATAACCESS_COMPLETE")
    click.echo(completion.source_template % completion.source_vars())
    if shell in _AFTER:
        click.echo(_AFTER[shell])
