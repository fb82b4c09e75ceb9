"""Progress of a long run: a bar on a terminal, a few plain lines elsewhere, nothing for a short
run."""

import sys
import threading
import time
from collections.abc import Callable
from typing import Any

from thali.errors import LongRunWarning

from .warn import warn

_PATIENCE = 1.0  # seconds that a run must last before anything is shown
_SILENCE = 60.0  # seconds after which a place that cannot be redrawn gets another line


def about(seconds: float) -> str:
    """A time in words."""
    minutes = seconds / 60.0
    if minutes < 1.5:
        return "a minute"
    return f"{minutes:.0f} minutes" if minutes < 90.0 else f"{minutes / 60.0:.1f} hours"


# seconds after which the length of a run is judged, and from which on it is long
EARLY, LONG = 5.0, 60.0


class Outlook:
    """Calls `say(seconds)` once, soon after the beginning of a run, if the run will take long."""

    def __init__(self, say: Callable[[float], None] | None) -> None:
        self._say = say
        self._begun: tuple[float, int] | None = None

    def look(self, done: int, total: int) -> None:
        """So many of so many steps are done; called several times a second, from when everything is
        compiled."""
        if self._say is None:
            return
        now = time.monotonic()
        begun, first = self._begun = self._begun or (now, done)
        if now - begun < EARLY or done <= first:
            return
        seconds = (now - begun) * (1.0 + (total - done) / (done - first))
        if seconds > LONG:
            self._say(seconds)
            self._say = None


def says(what: str, *quicker: Any) -> Callable[[float], None]:
    """What warns of the seconds that `what` takes, and of what is quicker."""
    return lambda seconds: warn(
        LongRunWarning(f"{what} takes about {about(seconds)}. Faster options: ", *quicker, ".")
    )


class Progress:
    """Show the progress of a run on stderr, after its first second.

    On a terminal, and in a notebook with ipywidgets, this is a bar with the elapsed and the
    remaining time. Elsewhere (a log file, a pipe) it is one line when the run turns out to be long,
    one a minute and one at its end. `say` is told once how many seconds a run takes that is long
    (`Outlook`).
    """

    def __init__(
        self,
        enabled: bool,
        description: str,
        total: int,
        unit: str = "steps",
        say: Callable[[float], None] | None = None,
    ) -> None:
        self._outlook = Outlook(say if enabled else None)
        self._unit = unit
        self._enabled = enabled
        self._description = description
        self._total = total
        self._done = 0
        self._note = ""
        self._display = None
        # The display is opened by a timer, because the first thing a run does may be a compilation
        # that keeps the main thread busy for seconds. The lock orders it against the main thread's
        # calls.
        self._lock = threading.Lock()
        self._closed = False

    def __enter__(self) -> "Progress":
        self._began = time.monotonic()
        if self._enabled:
            self._timer = threading.Timer(_PATIENCE, self._open)
            self._timer.daemon = True
            self._timer.start()
        return self

    def __exit__(self, *exception: Any) -> None:
        if not self._enabled:
            return
        self._timer.cancel()
        with self._lock:
            self._closed = True
            if self._display is not None:
                self._display.close()

    def note(self, text: str) -> None:
        """Say what is happening now; it is shown until the next `update`."""
        with self._lock:
            self._note = text
            if self._display is not None:
                self._display.show(self._done, text)

    def aim(self, total: int) -> None:
        """Say that the run is to have so many steps after all."""
        with self._lock:
            self._total = total
            if self._display is not None:
                self._display.aim(total)

    def update(self, done: int, status: str = "") -> None:
        """Say how many steps are done; call it from the main thread only."""
        with self._lock:
            self._done = done
            self._note = ""
            if self._display is not None:
                self._display.show(done, "", status)
        self._outlook.look(done, self._total)

    def _open(self) -> None:
        with self._lock:
            if self._closed:
                return
            display = _Bar if _can_draw() else _Lines
            self._display = display(self._description, self._total, self._unit, self._began)
            self._display.show(self._done, self._note)


def _can_draw() -> bool:
    """True where a bar can be redrawn in place."""
    from importlib.util import find_spec

    from rich.console import Console

    console = Console(stderr=True)
    if console.is_jupyter:
        return find_spec("ipywidgets") is not None
    return console.is_terminal and not console.is_dumb_terminal


class _Bar:
    """A bar that rich draws and updates from a separate thread."""

    def __init__(self, description: str, total: int, unit: str, began: float) -> None:
        from rich import progress as rich_progress
        from rich.console import Console

        self._description = description
        self._bar = rich_progress.Progress(
            rich_progress.TextColumn("{task.description}"),
            rich_progress.BarColumn(bar_width=None),
            rich_progress.TaskProgressColumn(),
            rich_progress.TimeElapsedColumn(),
            rich_progress.TextColumn("elapsed,"),
            rich_progress.TimeRemainingColumn(),
            rich_progress.TextColumn("left"),
            console=Console(stderr=True),
            get_time=time.monotonic,
            expand=True,
        )
        self._task = self._bar.add_task(description, total=total)
        self._bar.tasks[0].start_time = began
        self._bar.start()

    def show(self, done: int, note: str, status: str = "") -> None:
        more = note or status
        description = f"{self._description}: {more}" if more else self._description
        # A note is drawn at once: what it announces may keep the bar's own thread from running.
        self._bar.update(self._task, completed=done, description=description, refresh=bool(note))

    def aim(self, total: int) -> None:
        self._bar.update(self._task, total=total)

    def close(self) -> None:
        self._bar.stop()


class _Lines:
    """A line for each thing worth knowing, for places where nothing can be redrawn."""

    def __init__(self, description: str, total: int, unit: str, began: float) -> None:
        self._description = description
        self._total = total
        self._unit = unit
        self._began = began
        self._done = 0
        self._status = ""
        self._noted = ""
        self._say(f"{description} ...")

    def show(self, done: int, note: str, status: str = "") -> None:
        self._done, self._status = done, status
        if note and note != self._noted:
            self._say(f"{self._description}: {note}")
            self._noted = note
        elif time.monotonic() - self._last >= _SILENCE:
            more = f"; {self._status}" if self._status else ""
            self._say(f"{self._description}: {self._how_far()}{more}")

    def aim(self, total: int) -> None:
        self._total = total

    def close(self) -> None:
        seconds = time.monotonic() - self._began
        self._say(f"{self._description}: {self._how_far()} in {seconds:,.0f} s")

    def _how_far(self) -> str:
        return f"{self._done:,} of {self._total:,} {self._unit}"

    def _say(self, line: str) -> None:
        print(line, file=sys.stderr, flush=True)
        self._last = time.monotonic()
