"""Progress display of a run: a bar on a terminal, a few lines elsewhere."""

import sys
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from thali.errors import LongRunWarning

from .user_warnings import warn

_PATIENCE = 1.0  # seconds that a run must last before anything is shown
_SILENCE = 60.0  # seconds between lines of a display that cannot be redrawn


def format_duration(seconds: float) -> str:
    """Return a duration as text, such as "5 minutes"."""
    minutes = seconds / 60.0
    if minutes < 1.5:
        return "a minute"
    if minutes < 90.0:
        return f"{minutes:.0f} minutes"
    return f"{minutes / 60.0:.1f} hours"


# seconds after which the duration of a run is predicted, and duration of a long run
EARLY = 10.0
LONG = 60.0
# Steps that a prediction requires: 1 % of all, and ten, or 10 % of fewer than a hundred.
_MIN_SHARE = 0.01
_MIN_STEPS = 10
_MIN_SHARE_OF_FEW = 0.1


def can_forecast(seconds: float, n_steps: int, n_total: int) -> bool:
    """Return whether so many steps in so many seconds tell how long the run takes."""
    min_steps = max(_MIN_SHARE * n_total, min(_MIN_STEPS, _MIN_SHARE_OF_FEW * n_total))
    return seconds >= EARLY and n_steps >= min_steps


@dataclass
class DurationForecast:
    """Calls `report_seconds(seconds)` once if a run is expected to take long."""

    report_seconds: Callable[[float], None] | None
    observations: list[tuple[float, int]] = field(default_factory=list)  # (time, steps)

    def observe(self, n_done: int, n_total: int) -> None:
        """Note the number of finished steps; report the expected duration once."""
        if self.report_seconds is None:
            return
        if self.observations and n_done < self.observations[-1][1]:  # the run starts again
            self.observations.clear()
        if not self.observations or n_done > self.observations[-1][1]:
            self.observations.append((time.monotonic(), n_done))
        seconds = self._estimate_duration(n_total)
        if seconds > LONG:
            self.report_seconds(seconds)
            self.report_seconds = None

    def _estimate_duration(self, n_total: int) -> float:
        """Return the expected seconds of the run; 0 before they can be predicted."""
        start_time, n_first = self.observations[0]
        now, n_done = self.observations[-1]
        n_new = n_done - n_first
        if n_new == 0 or not can_forecast(now - start_time, n_new, n_total):
            return 0.0
        # The first steps include compilation, and step sizes that are not adapted yet.
        half_time, n_half = max(
            observation
            for observation in self.observations
            if observation[1] <= n_first + n_new / 2
        )
        return now - start_time + (n_total - n_done) * (now - half_time) / (n_done - n_half)


def build_duration_warning(task: str, *faster_options: Any) -> Callable[[float], None]:
    """Return a function that warns of a long duration and names faster options."""
    return lambda seconds: warn(
        LongRunWarning(
            f"{task} takes about {format_duration(seconds)}. Faster options: ", *faster_options, "."
        )
    )


@dataclass
class Progress:
    """Context manager that shows a run's progress on stderr.

    On a terminal, and in a notebook with ipywidgets, this is a bar with the elapsed and the
    remaining time. Elsewhere (a log file, a pipe) it is one line after the first second, one per
    minute and one at the end. `report_seconds` is called once with the seconds that a long run will
    take (`DurationForecast`).
    """

    enabled: bool
    description: str
    total: int
    unit: str = "steps"
    report_seconds: Callable[[float], None] | None = None

    def __post_init__(self) -> None:
        if not self.enabled:
            self.report_seconds = None
        self._forecast = DurationForecast(self.report_seconds)
        self._done = 0
        self._note = ""
        self._display = None
        # A timer opens the display, because a run may begin with a compilation that keeps the main
        # thread busy for seconds. The lock orders the timer against calls of the main thread.
        self._lock = threading.Lock()
        self._closed = False

    def __enter__(self) -> "Progress":
        self._began = time.monotonic()
        if self.enabled:
            self._timer = threading.Timer(_PATIENCE, self._open_display)
            self._timer.daemon = True
            self._timer.start()
        return self

    def __exit__(self, *exception: Any) -> None:
        if not self.enabled:
            return
        self._timer.cancel()
        with self._lock:
            self._closed = True
            if self._display is not None:
                self._display.close()

    def note(self, text: str) -> None:
        """Show a text until the next `update`, such as "compiling"."""
        with self._lock:
            self._note = text
            if self._display is not None:
                self._display.show(self._done, text)

    def set_total(self, total: int) -> None:
        """Change the total number of steps."""
        with self._lock:
            self.total = total
            if self._display is not None:
                self._display.set_total(total)

    def update(self, n_done: int, status: str = "") -> None:
        """Show the number of finished steps."""
        with self._lock:
            self._done = n_done
            self._note = ""
            if self._display is not None:
                self._display.show(n_done, "", status)
        self._forecast.observe(n_done, self.total)

    def _open_display(self) -> None:
        """Open a bar display on a terminal, else a line display."""
        with self._lock:
            if self._closed:
                return
            display_class = _LineDisplay
            if _can_draw():
                display_class = _BarDisplay
            self._display = display_class(self.description, self.total, self.unit, self._began)
            self._display.show(self._done, self._note)


def _can_draw() -> bool:
    """Return whether stderr is a terminal or notebook that can redraw a bar."""
    from importlib.util import find_spec

    from rich.console import Console

    console = Console(stderr=True)
    if console.is_jupyter:
        return find_spec("ipywidgets") is not None
    return console.is_terminal and not console.is_dumb_terminal


class _BarDisplay:
    """Progress bar by the package rich."""

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

    def show(self, n_done: int, note: str, status: str = "") -> None:
        """Set the bar's position and text."""
        description = self._description
        if note or status:
            description += f": {note or status}"
        # A note is drawn immediately: the announced work may block the thread of the bar.
        self._bar.update(self._task, completed=n_done, description=description, refresh=bool(note))

    def set_total(self, total: int) -> None:
        """Change the bar's total number of steps."""
        self._bar.update(self._task, total=total)

    def close(self) -> None:
        """Stop the bar."""
        self._bar.stop()


@dataclass
class _LineDisplay:
    """Progress as occasional lines, for files and pipes."""

    description: str
    total: int
    unit: str
    began: float
    done: int = 0
    last_note: str = ""

    def __post_init__(self) -> None:
        self._print_line(f"{self.description} ...")

    def show(self, n_done: int, note: str, status: str = "") -> None:
        """Remember the number of finished steps; print a new note as a line."""
        self.done = n_done
        if note and note != self.last_note:
            self._print_line(f"{self.description}: {note}")
            self.last_note = note
        elif time.monotonic() - self._last >= _SILENCE:
            line = f"{self.description}: {self._format_counts()}"
            if self.done == 0:  # nothing moves but the time
                line = f"{self.description}: {time.monotonic() - self.began:,.0f} s"
            if status:
                line += f"; {status}"
            self._print_line(line)

    def set_total(self, total: int) -> None:
        """Change the total number of steps."""
        self.total = total

    def close(self) -> None:
        """Print the final count and the duration."""
        counts_text = ""
        if self.done:
            counts_text = f"{self._format_counts()} in "
        seconds = time.monotonic() - self.began
        self._print_line(f"{self.description}: {counts_text}{seconds:,.0f} s")

    def _format_counts(self) -> str:
        """Return "done of total" as text."""
        return f"{self.done:,} of {self.total:,} {self.unit}"

    def _print_line(self, line: str) -> None:
        """Print a line to stderr; remember the time."""
        print(line, file=sys.stderr, flush=True)
        self._last = time.monotonic()
