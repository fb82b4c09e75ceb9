"""Messages of the command line: errors and warnings as lines on stderr, names of options."""

import os
import shlex
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import Any

import typer

from thali._argument_checks import check_allowed
from thali._labels import escape_unprintable
from thali._model.finding import SCREEN, TEXT, Findings
from thali._model.model_spec import Option
from thali._model.registry import SPECS
from thali._people.people_argument import Individuals
from thali._posterior.respondent_dependence import INDIVIDUALS
from thali.errors import ConvergenceWarning, InterruptedWarning, ThaliError, ThaliWarning, Words


class OptionWords(Words):
    """Words of messages for a command: arguments are named by its options.

    Parameters
    ----------
    options : iterable of Option
        If two options set the same argument, the first is used.

    Examples
    --------
    >>> from thali.errors import ArgumentError, Setting
    >>> from thali._model.command_line_options import SEED, TEMPERING
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

    def has(self, name: str) -> bool:
        """Return whether the command has an option for the argument `name`."""
        return name in self._options

    def argument(self, name: str) -> str:
        """Return the option of an argument, such as "--random-seed"."""
        if name in self._options:
            return f"--{self._options[name].word}"
        return name.replace("_", " ")

    def setting(self, name: str, value: object) -> str:
        """Return an option with value, such as "--draws 11000" or "--no-unique"."""
        option = self._options.get(name)
        if option is None:
            return f"{self.argument(name)} {value} (in Python)"
        if option.type is bool:
            if value:
                return f"--{option.word}"
            return f"--no-{option.word}"
        if value == [] or (value is None and None not in option.words.values()):
            return f"no --{option.word}"
        return f"--{option.word} {_quote_for_shell(self.value(name, value))}"

    def value(self, name: str, value: object) -> str:
        """Return an argument's value as it is typed after its option."""
        option = self._options.get(name)
        if option is not None:
            if option.type is bool:
                return self.setting(name, value)
            for word, word_value in option.words.items():
                if word_value is value or word_value == value:
                    return word
        if isinstance(value, Individuals):
            return INDIVIDUALS
        if isinstance(value, dict):
            return ",".join(f"{key}={self.value('', number)}" for key, number in value.items())
        if isinstance(value, tuple | list):
            return ",".join(map(_format_value, value))
        return _format_value(value)

    def model(self, name: str) -> str:
        """Return the --model name of the model class `name`."""
        return next((spec.name for spec in SPECS if spec.cls.endswith(f":{name}")), name)

    def is_python(self) -> bool:
        """Return False: messages name options, not Python arguments."""
        return False


NO_OPTIONS = OptionWords([])  # of a command whose options occur in no message


def _quote_for_shell(text: str) -> str:
    """Return the text in shell quotes if it needs them."""
    if not any(letter.isspace() or letter in "'<>()" for letter in text):
        return text
    if set(text) & set('"$`\\'):
        return shlex.quote(text)
    return f'"{text}"'


_LONGEST_FOLDER = 40  # characters


def format_folder_hint(out_folder: Path | None) -> str:
    """Return the option or command with which to see all results."""
    if out_folder is None:
        return "--out DIR (tables, pictures)"
    quoted_folder = _quote_for_shell(str(out_folder))
    if len(quoted_folder) > _LONGEST_FOLDER:  # it would take the lines of results
        return "thali show DIR"
    return f"thali show {quoted_folder}"


def list_report_hints(out_folder: Path | None, report_file: Path | None) -> list[str]:
    """Return options and commands with which to see more results."""
    folder_hint = format_folder_hint(out_folder)
    if report_file is None:
        return ["--report FILE (a page)", folder_hint]
    return [folder_hint]


def _format_value(setting: Any) -> str:
    """Return a value as text; floats in short form."""
    if isinstance(setting, float):
        return f"{setting:g}"
    return str(setting)


# Errors and warnings as plain lines on stderr -----------------------------------------------------


BAD_INPUT = 2
INTERRUPTED = 130  # what a shell reports for a program stopped by Ctrl-C


class Terminal:
    """Output of a command: its words for messages, and how much it prints."""

    def __init__(
        self, words: Words, words_of: Callable[[Iterable[Option]], Words] = OptionWords
    ) -> None:
        self.words: Words = words
        self._build_words = words_of
        self.prints_all = False
        self.is_quiet = False

    def set_print_form(self, form: str | None, quiet: bool) -> None:
        """Choose what is printed: one screen, everything, or one sentence."""
        self.prints_all = check_allowed("--print", form or SCREEN, (SCREEN, "all")) == "all"
        self.is_quiet = quiet
        _is_quiet.set(quiet)

    def use_options(self, options: Iterable[Option]) -> None:
        """Let messages name these options from now on."""
        self.words = self._build_words(options)

    @property
    def surface(self) -> str:
        """Surface (SCREEN or TEXT) whose findings are printed."""
        if self.prints_all:
            return TEXT
        return SCREEN

    def format_findings(self, findings: Findings, data_sentence: str = "", *hints: str) -> str:
        """Return the findings as the text to print.

        `data_sentence`: a sentence about the data. `hints`: options and commands that show more.
        """
        from ..findings_screen import format_screen, format_summary
        from ..findings_text import format_all_findings

        if self.prints_all:
            return format_all_findings(findings, self.words)
        if self.is_quiet:
            return format_summary(findings, self.words)
        is_read = data_sentence in _printed_messages.get() and _is_one_stream()
        return format_screen(findings, self.words, data_sentence, [*hints, "--print all"], is_read)


def _is_one_stream() -> bool:
    """Return whether `notify` writes to the terminal or file that shows the results."""
    try:
        return os.path.sameopenfile(sys.stdout.fileno(), sys.stderr.fileno())
    except (OSError, ValueError):  # a stream of a notebook or a test
        return False


_is_quiet = ContextVar("is_quiet", default=False)
_printed_messages: ContextVar[tuple[str, ...]] = ContextVar("printed_messages", default=())


def notify(message: str, is_news: bool = True) -> None:
    """Print one line to stderr; --quiet suppresses news but not warnings."""
    if is_news and _is_quiet.get():
        return
    _printed_messages.set((*_printed_messages.get(), message))
    line = " ".join(escape_unprintable(message).split())
    if sys.stderr.isatty():
        from ..findings_screen import find_terminal_width, wrap

        line = "\n       ".join(wrap(line, find_terminal_width() - 7))
    print("thali:", line, file=sys.stderr, flush=True)


@contextmanager
def plain_messages(words: Words = NO_OPTIONS) -> Iterator[Terminal]:
    """Print errors and warnings raised within this block as lines on stderr.

    A `ThaliError` or an error of the file system ends the command with exit code 2, Ctrl-C with
    130. A `ThaliWarning` is shown once, and the command continues. Warnings about convergence and
    interrupted runs are not shown, because the printed results report both.
    """
    terminal = Terminal(words)
    _is_quiet.set(False)
    with warnings.catch_warnings():
        show_python_warning = warnings.showwarning
        shown_sentences = set()

        def show_warning(message, category, filename, lineno, file=None, line=None):
            if isinstance(message, ThaliWarning):
                if (sentence := message.render(terminal.words)) not in shown_sentences:
                    shown_sentences.add(sentence)
                    notify(f"warning: {sentence}", False)
            else:
                show_python_warning(message, category, filename, lineno, file, line)

        warnings.showwarning = show_warning
        warnings.simplefilter("always", ThaliWarning)
        warnings.simplefilter("ignore", ConvergenceWarning)
        warnings.simplefilter("ignore", InterruptedWarning)
        try:
            yield terminal
        except ThaliError as error:
            notify(f"error: {error.render(terminal.words)}", False)
            raise typer.Exit(BAD_INPUT) from None
        # the program that reads the output (head, less) has ended; the input is not at fault
        except BrokenPipeError:
            raise
        except OSError as error:
            notify(f"error: {error.filename or 'the file'}: {error.strerror or error}.", False)
            raise typer.Exit(BAD_INPUT) from None
        except MemoryError:
            settings = [name for name in ("draws", "chains", "aspects") if terminal.words.has(name)]
            reduced_text = ", ".join([*settings, "rows"])
            message = f"error: not enough memory; use fewer {reduced_text} or different labels."
            notify(message, False)
            raise typer.Exit(BAD_INPUT) from None
        except KeyboardInterrupt as stop:
            if str(stop):  # a note on the saved job
                notify(f"stopped by Ctrl-C; {stop}; run the same command to resume.")
            else:
                notify("stopped before the first draws were saved; nothing was written.")
            raise typer.Exit(INTERRUPTED) from None
