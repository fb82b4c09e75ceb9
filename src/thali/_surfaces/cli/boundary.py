"""Between the library and the person at the terminal: its words, and errors and warnings as plain
lines on stderr."""

import shlex
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

import typer

from thali._arguments import one_of
from thali._labels import printable
from thali._model.finding import SCREEN, TEXT, Findings
from thali._model.registry import SPECS
from thali._model.spec import Option
from thali._people.populations import Groups, Individuals, LatentClasses
from thali.errors import ConvergenceWarning, InterruptedWarning, ThaliError, ThaliWarning, Words


class OptionWords(Words):
    """The words of a command with these options.

    Parameters
    ----------
    options : iterable of Option
        Where two are of one argument, the first counts.

    Examples
    --------
    >>> from thali.errors import ArgumentError, Setting
    >>> from thali._model.options import SEED, TEMPERING
    >>> words = OptionWords([SEED, TEMPERING])
    >>> ArgumentError(
    ...     "Set ", Setting("random_seed", 3), " and ", Setting("tempering", None), "."
    ... ).render(words)
    'Set --seed 3 and --tempering auto.'
    """

    def __init__(self, options: Iterable[Option]) -> None:
        self._options: dict[str, Option] = {}
        for option in options:
            self._options.setdefault(option.name, option)

    @classmethod
    def of_names(cls, names: Mapping[str, str]) -> "OptionWords":
        """The words of a command whose arguments have options of these names."""
        return cls(Option(name, "", typed=typed) for name, typed in names.items())

    def has(self, name: str) -> bool:
        """Whether there is an option for the argument."""
        return name in self._options

    def argument(self, name: str) -> str:
        """--random-seed, or the words of the name where there is no option."""
        return f"--{self._options[name].word}" if name in self._options else name.replace("_", " ")

    def setting(self, name: str, value: object) -> str:
        """--draws 11000, --no-unique, or what to do in Python where there is no option."""
        option = self._options.get(name)
        if option is None:
            return f"{self.argument(name)} {value} (in Python)"
        if option.type is bool:
            return f"--{'' if value else 'no-'}{option.word}"
        if value == [] or (value is None and None not in option.words.values()):
            return f"no --{option.word}"
        return f"--{option.word} {_one_word(self.value(name, value))}"

    def value(self, name: str, value: object) -> str:
        """What is typed for the value."""
        option = self._options.get(name)
        if option is not None:
            if option.type is bool:
                return self.setting(name, value)
            for word, meaning in option.words.items():
                if meaning is value or meaning == value:
                    return word
        if isinstance(value, Individuals | LatentClasses | Groups):
            return value.typed
        if isinstance(value, dict):
            return ",".join(f"{key}={self.value('', each)}" for key, each in value.items())
        if isinstance(value, tuple | list):
            return ",".join(map(_plain, value))
        return _plain(value)

    def model(self, name: str) -> str:
        """The model as `--model` takes it."""
        return next((spec.name for spec in SPECS if spec.cls.endswith(f":{name}")), name)

    def is_python(self) -> bool:
        """No."""
        return False


def _one_word(text: str) -> str:
    """What a shell takes for one word."""
    if not any(letter.isspace() or letter in "'<>()" for letter in text):
        return text
    return shlex.quote(text) if set(text) & set('"$`\\') else f'"{text}"'


def _plain(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)


# Between the library and the person at the terminal: errors and warnings become plain lines on
# stderr


BAD_INPUT = 2
INTERRUPTED = 130  # what a shell reports for a program stopped by Ctrl-C


class Terminal:
    """Where messages go, and the words in which they are spelled there."""

    def __init__(
        self, words: Words, words_of: Callable[[Iterable[Option]], Words] = OptionWords
    ) -> None:
        self.words: Words = words
        self._words_of = words_of
        self.is_whole, self.is_quiet = False, False

    def print_as(self, form: str | None, quiet: bool) -> None:
        """Print one screen of an answer, all of it, or its sentence."""
        self.is_whole = one_of("--print", form or SCREEN, (SCREEN, "all")) == "all"
        self.is_quiet = quiet
        _is_quiet.set(quiet)

    def know(self, options: Iterable[Option]) -> None:
        """From now on messages may name these options."""
        self.words = self._words_of(options)

    @property
    def surface(self) -> str:
        """The surface whose findings are printed."""
        return TEXT if self.is_whole else SCREEN

    def text(self, findings: Findings, read: str = "", *more: str) -> str:
        """What is printed of findings; `read`: what the data are; `more`: options and commands that
        show more."""
        from ..screen import result, screen
        from ..text import text_of

        if self.is_whole:
            return text_of(findings, self.words)
        if self.is_quiet:
            return result(findings, self.words)
        is_read = sys.stdout.isatty() and sys.stderr.isatty()  # where `notify` has written it
        return screen(findings, self.words, read, [*more, "--print all"], is_read)


_is_quiet = ContextVar("is_quiet", default=False)


def notify(message: str, is_news: bool = True) -> None:
    """Write one line to stderr; nothing but warnings and errors where the result alone was asked
    for."""
    if is_news and _is_quiet.get():
        return
    text = " ".join(printable(message).split())
    if sys.stderr.isatty():
        from ..screen import columns, wrap

        text = "\n       ".join(wrap(text, columns() - 7))
    print("thali:", text, file=sys.stderr, flush=True)


@contextmanager
def plain_messages(words: Words | None = None) -> Iterator[Terminal]:
    """Show errors and warnings of the enclosed command as single lines on stderr.

    A `ThaliError`, or an error of the file system, ends the command with exit code 2, Ctrl-C with
    130. A `ThaliWarning` is shown once and the command goes on; the two that the report itself
    words (chains that do not agree, a run that was stopped) are not shown twice.
    """
    terminal = Terminal(OptionWords([]) if words is None else words)
    _is_quiet.set(False)
    with warnings.catch_warnings():
        python_way, shown = warnings.showwarning, set()

        def show(message, category, filename, lineno, file=None, line=None):
            if isinstance(message, ThaliWarning):
                if (sentence := message.render(terminal.words)) not in shown:
                    shown.add(sentence)
                    notify(f"warning: {sentence}", False)
            else:
                python_way(message, category, filename, lineno, file, line)

        warnings.showwarning = show
        warnings.simplefilter("always", ThaliWarning)
        warnings.simplefilter("ignore", ConvergenceWarning)
        warnings.simplefilter("ignore", InterruptedWarning)
        try:
            yield terminal
        except ThaliError as error:
            notify(f"error: {error.render(terminal.words)}", False)
            raise typer.Exit(BAD_INPUT) from None
        # the reader of our output (head, less) has left: no fault of the input
        except BrokenPipeError:
            raise
        except OSError as error:
            notify(f"error: {error.filename or 'the file'}: {error.strerror or error}.", False)
            raise typer.Exit(BAD_INPUT) from None
        except MemoryError:
            notify("error: not enough memory; use fewer draws, chains or aspects.", False)
            raise typer.Exit(BAD_INPUT) from None
        except KeyboardInterrupt as stop:
            if str(stop):  # what a job holds
                notify(f"stopped by Ctrl-C; {stop}; run the same command to resume.")
            else:
                notify("stopped before the first draws were saved; nothing was written.")
            raise typer.Exit(INTERRUPTED) from None
