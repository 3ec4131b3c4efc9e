"""`paddock completion SHELL`: what to source for tab completion."""

import click
from click.shell_completion import get_completion_class


@click.command("completion")
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
@click.pass_context
def completion_command(ctx: click.Context, shell: str) -> None:
    """Print the completion script for SHELL.

    \b
    bash:  eval "$(paddock completion bash)"   in ~/.bashrc
    zsh:   eval "$(paddock completion zsh)"    in ~/.zshrc
    fish:  paddock completion fish > ~/.config/fish/completions/paddock.fish
    """
    kind = get_completion_class(shell)
    assert kind is not None
    script = kind(ctx.find_root().command, {}, "paddock", "_PADDOCK_COMPLETE").source()
    # Only the first comma ends the kind of an answer: `t1,t2` is one word.
    click.echo(script.replace('string split ","', 'string split -m 1 ","'))
