"""`hansei completion`."""

from __future__ import annotations

import click

from hansei.cli import output

SHELLS = ("bash", "zsh", "fish")


@click.command(short_help="Print the completion script for a shell.")
@click.argument("shell", type=click.Choice(SHELLS))
def command(shell: str) -> None:
    """Print the completion script for a shell.

    \b
      bash   hansei completion bash >> ~/.bashrc
      zsh    hansei completion zsh >> ~/.zshrc
      fish   hansei completion fish > ~/.config/fish/completions/hansei.fish
    """
    from click.shell_completion import get_completion_class

    from hansei.cli.root import root

    kind = get_completion_class(shell)
    assert kind is not None
    output.write(kind(root, {}, "hansei", "_HANSEI_COMPLETE").source())
