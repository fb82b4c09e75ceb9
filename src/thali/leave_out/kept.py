"""Finished fits in a file, one line of JSON each, so that a comparison can go on from where it stopped."""

import hashlib
import json
import os
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import BinaryIO

import numpy as np

from thali._files import cannot_write
from thali._locks import lock
from thali._random import root
from thali.data.check import plural
from thali.data.experiment import ChoiceExperiment
from thali.data.pairs import PairedComparisons
from thali.errors import DataError, IncompleteWarning

SCHEMA = 1  # raised when a fit of an older thali can no longer stand for one of this
_DIGITS = 32  # of the hash of a line


class Kept:
    """The finished fits of one comparison.

    A fit is found again by everything that determines it: the data, the model, the budget, the seed, the pair left out.
    Whatever else the file holds stays there, so several comparisons may share one file, one after the other. Use it as
    a context manager: it locks the file.

    Parameters
    ----------
    path : str, path or None
        None keeps nothing on disk.
    random_seed
        As `compare` takes it; None takes up the seed of the file, if it has one.
    fields : mapping from name to type
        What every record holds; others are not taken for one.

    Raises
    ------
    DataError
        If the path is a folder, lies in none, cannot be written, is a file of another kind, or is in use.

    Warns
    -----
    IncompleteWarning
        If lines of the file are damaged; they are left out.
    """

    def __init__(self, path, random_seed, fields: Mapping[str, type]):
        self.path = None if path is None else Path(path)
        self._fields = fields
        self._records: dict[str, dict] = {}
        self._wanted: Sequence[str] = ()
        self._is_torn = False  # whether the file ends in the middle of a line
        self._lock: BinaryIO | None = None
        is_new = self.path is not None and not self.path.exists()
        try:
            found = None if self.path is None else self._read(self.path)
            if random_seed is None and found is None and self._records:
                raise DataError(
                    f"The line of the checkpoint '{self.path}' that holds its seed is damaged; give the random_seed of "
                    "that comparison, or choose another name."
                )
            self.seed = root(random_seed) if random_seed is not None or found is None else found
            if self.path is not None and found is None:
                spawn_key = [int(key) for key in self.seed.spawn_key]
                self._append({"thali_kept_fits": SCHEMA, "entropy": self.seed.entropy, "spawn_key": spawn_key})
        except BaseException:
            self.close()
            if is_new and self.path is not None:
                self.path.unlink(missing_ok=True)
            raise

    def __enter__(self) -> "Kept":
        return self

    def __exit__(self, kind, *exception) -> None:
        self.close()
        if kind is KeyboardInterrupt and self.path is not None:
            finished = sum(key in self._records for key in self._wanted)
            raise KeyboardInterrupt(f"{finished:,} of {len(self._wanted):,} fits are in '{self.path}'") from None

    def close(self) -> None:
        """Let others use the file; nothing can be added any more."""
        if self._lock is not None:
            self._lock.close()

    def find_all(self, keys: Sequence[str]) -> list[dict | None]:
        """The records of all fits of a comparison, None where one is not finished; Ctrl-C then says how many are."""
        self._wanted = keys
        return [self.find(key) for key in keys]

    def find(self, key: str) -> dict | None:
        """The record of a finished fit, or None."""
        return self._records.get(key)

    def add(self, key: str, record: dict) -> None:
        """Keep the record of a finished fit."""
        self._records[key] = record
        if self.path is None:
            return
        try:
            self._append({"key": key} | record)
        except DataError as error:  # a full disk must not cost what is in memory
            self.path = None
            warnings.warn(f"{error} The comparison goes on without it.", IncompleteWarning, stacklevel=4)

    def _read(self, path: Path) -> np.random.SeedSequence | None:
        """Lock the file and take in its records; its seed, if it has one."""
        if path.is_dir():
            raise DataError(f"The checkpoint '{path}' is a folder; give the name of a file.")
        if not path.parent.is_dir():
            raise DataError(f"There is no folder '{path.parent}' for the checkpoint; make it first.")
        if path.exists() and not path.is_file():
            raise DataError(f"The checkpoint '{path}' is not a regular file; choose another name.")
        try:
            self._lock = open(path, "ab")
            if not lock(self._lock.fileno()):
                raise DataError(
                    f"The checkpoint '{path}' is in use by another comparison; wait for its end, or choose another"
                    " name."
                )
            *lines, rest = path.read_bytes().split(b"\n")
        except OSError as error:
            raise DataError(cannot_write(path, error)) from None
        self._is_torn = bool(rest)  # by a process that was killed while it wrote
        lines = [line for line in (*lines, rest) if line]
        records = [record for line in lines if (record := _opened(line)) is not None]
        heads = [record for record in records if "thali_kept_fits" in record]
        if lines and (not records or any(head["thali_kept_fits"] != SCHEMA for head in heads)):
            raise DataError(
                f"'{path}' is not a checkpoint of this version of thali, or is damaged; choose another name."
            )
        self._records = {key: record for record in records if (key := record.pop("key", None)) and self._fits(record)}
        if damaged := len(lines) - len(records):
            warnings.warn(
                f"{plural(damaged, 'line')} of the checkpoint '{path}' {'is' if damaged == 1 else 'are'} damaged and "
                f"left out; what only {'it' if damaged == 1 else 'they'} held is computed again.",
                IncompleteWarning,
                stacklevel=4,
            )
        return _seed(heads[0], path) if heads else None

    def _fits(self, record: dict) -> bool:
        """Whether a record may be one of this comparison: several may share a file."""
        return all(name in record and isinstance(record[name], kind) for name, kind in self._fields.items())

    def _append(self, record: dict) -> None:
        try:
            with open(self.path, "ab") as file:  # type: ignore[arg-type]
                file.write(b"\n" * self._is_torn + _closed(json.dumps(record).encode()) + b"\n")
                file.flush()
                os.fsync(file.fileno())
            self._is_torn = False
        except OSError as error:
            self._is_torn = True
            raise DataError(f"The checkpoint '{self.path}' cannot be written: {error.strerror}.") from None


def _seed(head: dict, path: Path) -> np.random.SeedSequence:
    """The seed that the first line of a checkpoint names."""
    try:
        return np.random.SeedSequence(head["entropy"], spawn_key=head["spawn_key"])
    except (KeyError, TypeError, ValueError):
        raise DataError(f"The seed of the checkpoint '{path}' is not one; choose another name.") from None


def _closed(body: bytes) -> bytes:
    """A JSON object with a hash of itself as its last member."""
    return body[:-1] + b', "sha256": "%s"}' % hashlib.sha256(body).hexdigest()[:_DIGITS].encode()


def _opened(line: bytes) -> dict | None:
    """The object that `_closed` was given, or None if the line is not as it was written."""
    body = line[: -len(_closed(b"}"))] + b"}"
    if line != _closed(body):
        return None
    try:
        return json.loads(body)
    except (ValueError, RecursionError):  # never written by thali, and yet with its hash
        return None


def data_digest(data: PairedComparisons) -> str:
    """A text that other data do not share."""
    digest = hashlib.sha256(json.dumps(data.labels).encode())
    for array in (data.first, data.second, data.wins, data.losses):
        digest.update(np.ascontiguousarray(array).tobytes())
    return digest.hexdigest()


def experiment_digest(data: ChoiceExperiment) -> str:
    """A text that other choice experiments do not share."""
    digest = hashlib.sha256(json.dumps([data.scheme.to_dict(), data.respondents]).encode())
    for array in (data.first_task, data.first_row, data.chosen, data.products[data.row_product]):
        digest.update(np.ascontiguousarray(array).tobytes())
    return digest.hexdigest()


def fit_key(*determined_by) -> str:
    """A short text for everything that determines a fit."""
    return hashlib.sha256(json.dumps(determined_by).encode()).hexdigest()[:32]
