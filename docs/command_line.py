"""The page of all commands and options as they are typed, from what the commands declare, so that
none is missing."""

import re
from collections.abc import Iterator

from typer.core import TyperCommand
from typer.main import get_command

from thali._surfaces.cli import app


def commands(command=None, words=("thali",)) -> Iterator[tuple[str, TyperCommand]]:
    """Every command with the words that it is typed with."""
    command = command or get_command(app)
    if not hasattr(command, "commands"):
        yield " ".join(words), command
    else:
        for name, inner in command.commands.items():
            yield from commands(inner, (*words, name))


def shown(text: str) -> str:
    """A text of help as Markdown: options as they are typed, no sign of it read as markup."""
    parts = text.split("`")
    for k in range(0, len(parts), 2):  # the others are code
        plain = re.sub(r"([$*_<\[\]])", r"\\\1", parts[k])
        parts[k] = re.sub(r"(?<![\w-])--[a-z][a-z-]*", r"`\g<0>`", plain)
    return "`".join(parts)


def entry(parameter) -> str:
    """What is said of an option, or of an argument."""
    names = [*parameter.opts, *parameter.secondary_opts]
    if parameter.param_type_name == "option":
        typed = " / ".join(f"`{name}`" for name in names) + (
            f" `{parameter.metavar}`" if parameter.metavar else ""
        )
    else:
        typed = f"`{parameter.metavar}`"
    default = parameter.default if parameter.show_default is True else parameter.show_default
    default = parameter.opts[0] if default is True else default
    said = parameter.help or ""
    text = (
        f"{said} Default: {default}.".strip()
        if default not in (None, "") and default is not False
        else said
    )
    return f"{typed}\n: {shown(text)}"


def listing() -> str:
    """The page, but for its beginning."""
    parts = []
    for typed, command in commands():
        entries = [entry(each) for each in command.params if each.name != "help"]
        parts += [f"## {typed}", shown(command.help.strip()), *entries]
    return "\n\n".join(parts)
