"""The parts of a long run: finished ones are kept in a job, and not computed again."""

import math
from collections.abc import Callable, Mapping
from typing import Any

from thali.inference.parts import PartsFolder, Record
from thali.inference.progress import Progress
from thali.model.saved import digest_of, encoded

from .entry import Settings


def finished_parts(
    settings: Settings,
    name: str,
    determined_by: Mapping[str, Any],
    data: Any,
    parts: Mapping[str, Callable[[], Record | None]],
    words: tuple[str, str],
    start: Callable[[Progress], None] = lambda progress: progress.note("compiling, once"),
) -> tuple[list[Record], bool]:
    """The records of all parts in order, up to the one where Ctrl-C came; and whether it did.

    Parameters
    ----------
    settings : Settings
    name : str
        Of the job.
    determined_by : mapping
        What determines the results besides the seed and the data.
    data
        Of the user, if there are some.
    parts : mapping from name to function
        Each makes a record that JSON can hold; None if Ctrl-C came.
    words : (doing, unit)
        Of the progress.
    start : function of the progress, optional
        What comes before the first part.
    """
    job = settings.job(name)
    if job is None:
        return _all(parts, {}, lambda *found: None, settings.progressbar, words, start)
    stamp = {
        "kind": "reproduction",
        "models": {},
        "settings": {name: encoded(value, None) for name, value in determined_by.items()},
        "data": digest_of(data),
    }
    with PartsFolder(job, stamp, settings.random_seed) as folder:
        folder.plan(dict.fromkeys(parts, name), words[1])
        return _all(parts, folder.records, folder.add, settings.progressbar, words, start)


def _all(
    parts: Mapping[str, Callable[[], Record | None]],
    kept: Mapping[str, Record],
    keep: Callable[[str, Record, float], None],
    progressbar: bool,
    words: tuple[str, str],
    start: Callable[[Progress], None],
) -> tuple[list[Record], bool]:
    """The records of the parts, each of which is kept as soon as it is there."""
    records: list[Record] = []
    with Progress(progressbar, words[0], len(parts), words[1]) as progress:
        try:
            start(progress)
            for done, (name, make) in enumerate(parts.items(), start=1):
                record = kept.get(name)
                if record is None:
                    record = make()
                    if record is None:
                        return records, True
                    keep(name, record, math.inf)
                records.append(record)
                progress.update(done)
        except KeyboardInterrupt:
            return records, True
    return records, False
