"""Between the library and the person at the terminal: errors and warnings become plain lines on stderr."""

import sys
import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager

import typer

from thali.errors import ConvergenceWarning, InterruptedWarning, ThaliError, ThaliWarning, Words
from thali.model.spec import Option

from .messages import OptionWords

BAD_INPUT = 2
INTERRUPTED = 130  # what a shell reports for a program stopped by Ctrl-C


class Terminal:
    """Where messages go, and the words in which they are spelled there."""

    def __init__(self, words: Words, words_of: Callable[[Iterable[Option]], Words] = OptionWords) -> None:
        self.words: Words = words
        self._words_of = words_of

    def know(self, options: Iterable[Option]) -> None:
        """From now on messages may name these options."""
        self.words = self._words_of(options)


def notify(message: str) -> None:
    """Write one line to stderr."""
    print("thali:", " ".join(message.split()), file=sys.stderr, flush=True)


@contextmanager
def plain_messages(words: Words | None = None) -> Iterator[Terminal]:
    """Show errors and warnings of the enclosed command as single lines on stderr.

    A `ThaliError`, or an error of the file system, ends the command with exit code 2, Ctrl-C with 130. A
    `ThaliWarning` is shown once and the command goes on; the two that the report itself words (chains that do not
    agree, a run that was stopped) are not shown twice.
    """
    terminal = Terminal(OptionWords([]) if words is None else words)
    with warnings.catch_warnings():
        python_way, shown = warnings.showwarning, set()

        def show(message, category, filename, lineno, file=None, line=None):
            if isinstance(message, ThaliWarning):
                if (sentence := message.render(terminal.words)) not in shown:
                    shown.add(sentence)
                    notify(f"warning: {sentence}")
            else:
                python_way(message, category, filename, lineno, file, line)

        warnings.showwarning = show
        warnings.simplefilter("always", ThaliWarning)
        warnings.simplefilter("ignore", ConvergenceWarning)
        warnings.simplefilter("ignore", InterruptedWarning)
        try:
            yield terminal
        except ThaliError as error:
            notify(f"error: {error.render(terminal.words)}")
            raise typer.Exit(BAD_INPUT) from None
        except BrokenPipeError:  # the reader of our output (head, less) has left: no fault of the input
            raise
        except OSError as error:
            notify(f"error: {error.filename or 'the file'}: {error.strerror or error}.")
            raise typer.Exit(BAD_INPUT) from None
        except MemoryError:
            notify("error: that needs more memory than there is; ask for fewer draws, chains or aspects.")
            raise typer.Exit(BAD_INPUT) from None
        except KeyboardInterrupt as stop:
            if str(stop):  # what a job holds
                notify(f"stopped by Ctrl-C; {stop}; the same command goes on.")
            else:
                notify("stopped before anything was drawn that could be kept; nothing was written.")
            raise typer.Exit(INTERRUPTED) from None
