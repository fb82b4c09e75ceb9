"""Options that several values may follow: `--monotone price=decreasing zoom=increasing`."""

from typer.core import TyperCommand

from thali.cli.models import SEVERAL
from thali.errors import ArgumentError


class SpreadCommand(TyperCommand):
    """A command that gives each of several values after such an option an option of its own."""

    def parse_args(self, ctx, args):
        return super().parse_args(ctx, spread(args))


def spread(words: list[str]) -> list[str]:
    """Repeat the option before each further value of the form name=value.

    Example
    -------
    >>> spread(["a.csv", "--monotone", "price=decreasing", "zoom=increasing", "--seed", "1"])
    ['a.csv', '--monotone', 'price=decreasing', '--monotone', 'zoom=increasing', '--seed', '1']
    """
    options = {f"--{name}" for name in SEVERAL}
    result, option, first = [], "", False
    for word in words:
        if word.startswith("-"):
            name, _, value = word.partition("=")
            option, first = (name, not value) if name in options else ("", False)
        elif option and "=" in word and not first:
            result.append(option)
        elif not first:
            option = ""
        else:
            first = False
        result.append(word)
    return result


def named_values(option: str, given: list[str] | None) -> list[tuple[str, str]]:
    """(name, value) of every "name=value" that was typed, in one option or several.

    A comma begins another pair where another "=" follows, and belongs to the value elsewhere.

    Raises
    ------
    ArgumentError
        If one has no "=".

    Example
    -------
    >>> named_values("monotone", ["price=decreasing,zoom=increasing", "wifi=increasing"])
    [('price', 'decreasing'), ('zoom', 'increasing'), ('wifi', 'increasing')]
    >>> named_values("levels", ["size=small,large"])
    [('size', 'small,large')]
    """
    pairs: list[tuple[str, str]] = []
    for text in given or ():
        start = len(pairs)
        for piece in text.split(","):
            name, equals, value = piece.partition("=")
            if equals:
                pairs.append((name.strip(), value.strip()))
            elif len(pairs) > start:
                pairs[-1] = (pairs[-1][0], f"{pairs[-1][1]},{piece.strip()}")
            else:
                raise ArgumentError(f"`--{option}` must be given as NAME=VALUE; got {text!r}.")
    return pairs
