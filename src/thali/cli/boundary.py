"""Between the library and the person at the terminal: errors and warnings become plain lines on stderr."""

import sys
import warnings
from contextlib import contextmanager

import typer

from thali.errors import ConvergenceWarning, InterruptedWarning, ThaliError, ThaliWarning

BAD_INPUT = 2
INTERRUPTED = 130  # what a shell reports for a program stopped by Ctrl-C


def tell(message: str) -> None:
    """Write one line to stderr.

    Parameters
    ----------
    message : str
        What the person should know; line breaks in it become blanks.
    """
    print("thali:", " ".join(message.split()), file=sys.stderr, flush=True)


@contextmanager
def plain_messages():
    """Show errors and warnings of the enclosed command as single lines on stderr.

    A `ThaliError`, or an error of the file system, ends the command with exit code 2, Ctrl-C with 130. A
    `ThaliWarning` is shown and the command goes on; the two that the report itself words (chains that do not
    agree, a run that was stopped) are not shown twice.

    Raises
    ------
    typer.Exit
        With the exit code, in place of the error.
    """
    with warnings.catch_warnings():
        python_way = warnings.showwarning

        def show(message, category, filename, lineno, file=None, line=None):
            if issubclass(category, ThaliWarning):
                tell(f"warning: {message}")
            else:
                python_way(message, category, filename, lineno, file, line)

        warnings.showwarning = show
        warnings.simplefilter("always", ThaliWarning)
        warnings.simplefilter("ignore", ConvergenceWarning)
        warnings.simplefilter("ignore", InterruptedWarning)
        try:
            yield
        except ThaliError as error:
            tell(f"error: {error}")
            raise typer.Exit(BAD_INPUT) from None
        except BrokenPipeError:  # the reader of our output (head, less) has left: no fault of the input
            raise
        except OSError as error:
            tell(f"error: {error.filename or 'the file'}: {error.strerror or error}.")
            raise typer.Exit(BAD_INPUT) from None
        except MemoryError:
            tell("error: that needs more memory than there is; ask for fewer draws, chains or aspects.")
            raise typer.Exit(BAD_INPUT) from None
        except KeyboardInterrupt as stop:
            if str(stop):  # what a checkpoint holds
                tell(f"stopped by Ctrl-C; {stop}; the same command goes on.")
            else:
                tell("stopped before anything was drawn that could be kept; nothing was written.")
            raise typer.Exit(INTERRUPTED) from None
