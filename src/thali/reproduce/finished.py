"""The parts of a long run: finished ones are kept in a job, and not computed again."""

import math
from collections.abc import Callable, Mapping
from itertools import takewhile
from typing import Any

from thali.inference.parts import Batch, PartsFolder, Record
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

    def made(part: str) -> Record:
        record = parts[part]()
        if record is None:
            raise KeyboardInterrupt
        return record

    def finish(folder: PartsFolder | None) -> tuple[list[Record], bool]:
        batch = Batch(list(parts), str, made, folder=folder)
        progress = Progress(settings.progressbar, words[0], len(parts), words[1])
        interrupted = batch.finish(progress, lambda record: math.inf, begin=lambda waiting: start(progress))
        return [batch.records[part] for part in takewhile(batch.records.__contains__, parts)], interrupted

    job = settings.job(name)
    if job is None:
        return finish(None)
    stamp = {
        "kind": "reproduction",
        "models": {},
        "settings": {name: encoded(value, None) for name, value in determined_by.items()},
        "data": digest_of(data),
    }
    with PartsFolder(job, stamp, settings.random_seed) as folder:
        folder.plan(dict.fromkeys(parts, name), words[1])
        return finish(folder)
