"""Jobs of many tasks, such as fits of a comparison; finished tasks are not run again.

::

    FOLDER/
      job.json            as in `job_folders`
      parts-00001.json    records of parts that finished since the file before; never changed
      source.npz          arrays that turn the records into results
      lock
"""

import json
import os
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, NamedTuple, TypeVar

from thali.errors import DataError

from .array_dict_encoding import Arrays, decode_npz, encode_npz
from .job_folders import INDEX, JobFolder, lock_folder, read_entry, read_index, refuse_altered_job
from .progress_display import Progress
from .random_seeds import RandomSeed

Record = dict[Any, Any]
Task = TypeVar("Task")


class PartsFolder(JobFolder):
    """Job folder with one JSON record per finished task.

    Parameters
    ----------
    path, stamp, random_seed
        As in `JobFolder`.
    source : mapping of arrays, optional
        Stored with the records.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        stamp: Mapping[str, Any],
        random_seed: RandomSeed,
        source: Arrays | None = None,
    ) -> None:
        # of finished parts and of failed ones, which have an "error"
        self.records: dict[str, Record] = {}
        self._source = source
        self._source_entry: dict[str, str] | None = None
        self._new: dict[str, Record] = {}  # not in the folder yet
        self._unsaved = 0.0  # seconds of work
        self._part_groups: Mapping[str, str] = {}
        self._unit = ""
        super().__init__(path, stamp, random_seed)

    def plan(self, part_groups: Mapping[str, str], unit: str) -> None:
        """Set the group of each task, and the noun for tasks in messages."""
        self._part_groups = part_groups
        self._unit = unit

    def add(self, key: str, record: Record, seconds: float) -> None:
        """Add a task's record; write it once enough seconds of work are unsaved."""
        self.records[key] = self._new[key] = record
        self._unsaved += seconds
        if self._unsaved >= self._pause:
            self._write()

    def __exit__(self, error_class: type[BaseException] | None, *exception: Any) -> None:
        try:
            lacks_source = self._source is not None and self._source_entry is None
            if self._new or (
                error_class is None and (lacks_source or not (self.path / INDEX).exists())
            ):
                self._write()
        finally:
            self.close()
        if error_class is KeyboardInterrupt and self.records:
            raise KeyboardInterrupt(
                f"{self._count_finished().total():,} of {len(self._part_groups):,} {self._unit} are"
                f" saved in '{self.path}'"
            )

    def _count_finished(self) -> Counter[str]:
        """Count the finished tasks of each group."""
        return Counter(
            group for key, group in self._part_groups.items() if is_finished(self.records.get(key))
        )

    def _write(self) -> None:
        """Write new records, source arrays and index."""
        if self._is_full:
            return
        with self._warn_if_disk_is_full():
            segments = list(self._segments)
            if self._new:
                segments.append(
                    self._write_file(
                        f"parts-{self._file_number:05d}.json", json.dumps(self._new).encode()
                    )
                )
            if self._source is not None and self._source_entry is None:
                self._source_entry = self._write_file("source.npz", encode_npz(self._source))
            n_finished = self._count_finished()
            n_planned = Counter(self._part_groups.values())
            progress = {"done": n_finished.total(), "total": n_planned.total(), "unit": self._unit}
            progress["each"] = {
                group: [n_finished[group], n_parts] for group, n_parts in n_planned.items()
            }
            self._write_index(
                segments, progress, n_finished == n_planned, source=self._source_entry
            )
            self._new = {}
            self._unsaved = 0.0

    def _load_index(self, index: Mapping[str, Any]) -> None:
        """Load the records that an earlier process stored."""
        self.records = _read_records(self.path, index)
        if index["source"] is not None:
            with suppress(DataError):  # a damaged source is written again
                read_entry(self.path, index["source"])
                self._source_entry = index["source"]
        if self._segments:
            self._file_number = int(Path(self._segments[-1]["file"]).stem.rpartition("-")[2])


def run_serially(run: Callable[[Task], Any], tasks: list[Task]) -> Iterator[tuple[int, Any]]:
    """Run tasks one by one in this process; yield (task index, result)."""
    return ((task_index, run(task)) for task_index, task in enumerate(tasks))


@dataclass
class Batch(Generic[Task]):
    """Tasks of which only those without a stored record are run.

    `record` makes a record of a task and of the outcome of `run`; by default the outcome is the
    record. `run` raises KeyboardInterrupt after Ctrl-C. `folder` belongs to the job, if there is
    one.
    """

    tasks: list[Task]
    key: Callable[[Task], str]
    run: Callable[[Task], Any]
    record: Callable[[Task, Any], Record] | None = None
    folder: PartsFolder | None = None

    def __post_init__(self) -> None:
        self.records: dict[str, Record] = {}
        for task_key in map(self.key, self.tasks):
            if self.folder is not None and task_key in self.folder.records:
                self.records[task_key] = self.folder.records[task_key]

    def finish(
        self,
        progress: Progress,
        get_seconds: Callable[[Record], float],
        run_tasks: Callable[
            [Callable[[Task], Any], list[Task]], Iterator[tuple[int, Any]]
        ] = run_serially,
        before_run: Callable[[list[Task]], None] | None = None,
    ) -> bool:
        """Run the unfinished tasks and store their records; return whether Ctrl-C stopped it.

        `get_seconds` returns how much work would be lost with a record: little work is written
        later. `run_tasks` runs the tasks, such as `run_all` over processes. `before_run` is called
        first, with the tasks that wait.
        """
        waiting_tasks = [
            task for task in self.tasks if not is_finished(self.records.get(self.key(task)))
        ]
        with progress:
            try:
                if before_run is not None:
                    before_run(waiting_tasks)
                n_done = len(self.tasks) - len(waiting_tasks)
                progress.update(n_done)
                for task_index, outcome in run_tasks(self.run, waiting_tasks):
                    self._record_task(waiting_tasks[task_index], outcome, get_seconds)
                    n_done += 1
                    progress.update(n_done)
            except KeyboardInterrupt:
                return True
        return False

    def _record_task(
        self, task: Task, outcome: Any, get_seconds: Callable[[Record], float]
    ) -> None:
        """Store the record of a task's result, also in the job folder."""
        record = outcome
        if self.record is not None:
            record = self.record(task, outcome)
        key = self.key(task)
        self.records[key] = record
        if self.folder is not None:
            self.folder.add(key, record, get_seconds(record))


class JobParts(NamedTuple):
    """Content of a job folder of many tasks: stamp, records, source arrays."""

    stamp: dict[str, Any]
    records: dict[str, Record]
    source: Arrays  # empty where the job keeps none


def read_parts(path: Path) -> JobParts:
    """Read the content of a job folder of many tasks that is not running."""
    if read_index(path) is None:
        raise DataError(f"There is no job in '{path}'; give the folder of a job.")
    with lock_folder(path, to_write=False):
        index = read_index(path)
        assert index is not None
        if index["stamp"]["kind"] == "fit":
            raise DataError(
                f"The job '{path}' is a fit, not a comparison; give the folder of a comparison."
            )
        source_entry = index["source"]
        source_arrays = {}
        with refuse_altered_job(path):
            if source_entry is not None:
                source_arrays = decode_npz(read_entry(path, source_entry))
            return JobParts(index["stamp"], _read_records(path, index), source_arrays)


def is_finished(record: Record | None) -> bool:
    """Return whether a task's record exists and has no error."""
    return record is not None and not record.get("error")


def _read_records(path: Path, index: Mapping[str, Any]) -> dict[str, Record]:
    """Read all records of a job; later files override earlier ones."""
    segments = [json.loads(read_entry(path, entry)) for entry in index["segments"]]
    return {key: record for segment in segments for key, record in segment.items()}
