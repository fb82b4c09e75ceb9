"""Many parts of work, each of which leaves a record: finished ones, which a folder keeps, are not
done again.

::

    FOLDER/
      job.json            as of `jobs`
      parts-00001.json    records of the parts finished since the file before; never changed
      source.npz          what makes results of the records, without whoever began the job
      lock
"""

import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, Generic, NamedTuple, TypeVar

from thali.errors import DataError

from .arrays import Arrays, from_bytes, to_bytes
from .jobs import INDEX, JobFolder, as_written, content_of, locked, read_index
from .progress import Progress

Record = dict[Any, Any]
Task = TypeVar("Task")


class PartsFolder(JobFolder):
    """The folder of a job of many parts.

    Parameters
    ----------
    path, stamp, random_seed
        As of `JobFolder`.
    source : mapping of arrays, optional
        Stored beside the records.
    """

    def __init__(
        self, path: Any, stamp: Mapping[str, Any], random_seed: Any, source: Arrays | None = None
    ) -> None:
        # of finished parts, and of those that failed, which have an "error"
        self.records: dict[str, Record] = {}
        self._source = source
        self._source_entry: dict[str, str] | None = None
        self._new: dict[str, Record] = {}  # not in the folder yet
        self._unsaved = 0.0  # seconds of work
        self._wanted: Mapping[str, str] = {}
        self._unit = ""
        super().__init__(path, stamp, random_seed)

    def plan(self, wanted: Mapping[str, str], unit: str) -> None:
        """Say which parts there are, each with the group that it is counted in, and what they are
        called."""
        self._wanted, self._unit = wanted, unit

    def add(self, key: str, record: Record, seconds: float) -> None:
        """Keep the record of a part that took so long; it is written at once unless it took
        little."""
        self.records[key] = self._new[key] = record
        self._unsaved += seconds
        if self._unsaved >= self._pause:
            self._write()

    def __exit__(self, kind: Any, *exception: Any) -> None:
        try:
            lacks_source = self._source is not None and self._source_entry is None
            if self._new or (kind is None and (lacks_source or not (self.path / INDEX).exists())):
                self._write()
        finally:
            self.close()
        if kind is KeyboardInterrupt and self.records:
            raise KeyboardInterrupt(
                f"{self._done().total():,} of {len(self._wanted):,} {self._unit} are saved in"
                f" '{self.path}'"
            )

    def _done(self) -> Counter[str]:
        """How many parts of each group are finished."""
        return Counter(
            group for key, group in self._wanted.items() if is_whole(self.records.get(key))
        )

    def _write(self) -> None:
        if self._is_full:
            return
        with self._writing():
            segments = list(self._segments)
            if self._new:
                segments.append(
                    self._store(f"parts-{self._number:05d}.json", json.dumps(self._new).encode())
                )
            if self._source is not None and self._source_entry is None:
                self._source_entry = self._store("source.npz", to_bytes(self._source))
            done, total = self._done(), Counter(self._wanted.values())
            place = {"done": done.total(), "total": total.total(), "unit": self._unit}
            place["each"] = {group: [done[group], number] for group, number in total.items()}
            self._store_index(segments, place, done == total, source=self._source_entry)
            self._new, self._unsaved = {}, 0.0

    def _take_up(self, index: Mapping[str, Any]) -> None:
        self.records = _records(self.path, index)
        if index["source"] is not None:
            with suppress(DataError):  # one that is damaged is written again
                content_of(self.path, index["source"])
                self._source_entry = index["source"]
        if self._segments:
            self._number = int(Path(self._segments[-1]["file"]).stem.rpartition("-")[2])


def in_turn(run: Callable[[Task], Any], tasks: list[Task]) -> Iterator[tuple[int, Any]]:
    """Run the tasks here, one after the other: the number of each, and what it gave."""
    return ((number, run(task)) for number, task in enumerate(tasks))


class Batch(Generic[Task]):
    """Tasks, each of which leaves a record under its key: one that a job holds is not run again.

    `record` makes a record of a task and of what `run` gave, which is one itself by default; `run`
    raises KeyboardInterrupt if Ctrl-C came. `folder` is that of the job, if there is one.
    """

    def __init__(
        self,
        tasks: list[Task],
        key: Callable[[Task], str],
        run: Callable[[Task], Any],
        record: Callable[[Task, Any], Record] | None = None,
        folder: PartsFolder | None = None,
    ) -> None:
        self._tasks, self._key, self._run, self._record, self._folder = (
            tasks,
            key,
            run,
            record,
            folder,
        )
        before = {} if folder is None else folder.records
        self.records: dict[str, Record] = {of: before[of] for of in map(key, tasks) if of in before}

    def finish(
        self,
        progress: Progress,
        seconds: Callable[[Record], float],
        over: Callable[[Callable[[Task], Any], list[Task]], Iterator[tuple[int, Any]]] = in_turn,
        begin: Callable[[list[Task]], None] | None = None,
    ) -> bool:
        """Run the tasks that are not finished, and record them; whether Ctrl-C stopped this.

        `seconds` of a record say how much work would be lost with it: little is not written at
        once. `over` runs the tasks, such as `run_all` over processes. `begin` comes first, and
        takes the tasks that wait.
        """
        waiting = [task for task in self._tasks if not is_whole(self.records.get(self._key(task)))]
        with progress:
            try:
                if begin is not None:
                    begin(waiting)
                progress.update(len(self._tasks) - len(waiting))
                for done, (number, given) in enumerate(
                    over(self._run, waiting), 1 + len(self._tasks) - len(waiting)
                ):
                    task = waiting[number]
                    record = given if self._record is None else self._record(task, given)
                    self.records[self._key(task)] = record
                    if self._folder is not None:
                        self._folder.add(self._key(task), record, seconds(record))
                    progress.update(done)
            except KeyboardInterrupt:
                return True
        return False


class PartsOfJob(NamedTuple):
    """What the folder of such a job holds."""

    stamp: dict[str, Any]
    records: dict[str, Record]
    source: Arrays  # empty where the job keeps none


def read_parts(path: Path) -> PartsOfJob:
    """Read a job of many parts that does not run."""
    if read_index(path) is None:
        raise DataError(f"There is no job in '{path}'; give the folder of a job.")
    with locked(path, to_write=False):
        index = read_index(path)
        assert index is not None
        if index["stamp"]["kind"] == "fit":
            raise DataError(
                f"The job '{path}' is a fit, not a comparison; give the folder of a comparison."
            )
        entry = index["source"]
        with as_written(path):
            source = {} if entry is None else from_bytes(content_of(path, entry))
            return PartsOfJob(index["stamp"], _records(path, index), source)


def is_whole(record: Record | None) -> bool:
    """Whether a part has been finished."""
    return record is not None and not record.get("error")


def _records(path: Path, index: Mapping[str, Any]) -> dict[str, Record]:
    """The records of a job; later ones replace earlier ones."""
    segments = [json.loads(content_of(path, each)) for each in index["segments"]]
    return {key: record for segment in segments for key, record in segment.items()}
