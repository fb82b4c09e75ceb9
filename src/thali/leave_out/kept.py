"""Finished fits in a file, one line of JSON each, so that a comparison can go on from where it stopped."""

import hashlib
import json
import warnings
from pathlib import Path

import numpy as np

from thali._random import root
from thali.data.experiment import ChoiceExperiment
from thali.data.pairs import PairedComparisons
from thali.errors import DataError, IncompleteWarning

SCHEMA = 1  # raised when a fit of an older thali can no longer stand for one of this


class Kept:
    """The finished fits of one comparison.

    A fit is found again by everything that determines it: the data, the model, the budget, the seed, the pair left out.
    Whatever else the file holds stays there, so several comparisons may share one file.

    Parameters
    ----------
    path : str, path or None
        None keeps nothing on disk.
    random_seed
        As `compare` takes it; None takes up the seed of the file, if it has one.

    Raises
    ------
    DataError
        If the path is a folder, lies in none, cannot be written, or is a file of another kind.
    """

    def __init__(self, path, random_seed):
        self.path = None if path is None else Path(path)
        self._records: dict[str, dict] = {}
        self._is_torn = False  # whether the file ends in the middle of a line
        seed = self._read()
        if random_seed is not None or seed is None:
            self.seed = root(random_seed)
        else:
            self.seed = np.random.SeedSequence(seed["entropy"], spawn_key=seed["spawn_key"])
        if self.path is not None and seed is None:
            seed = {"entropy": self.seed.entropy, "spawn_key": [int(key) for key in self.seed.spawn_key]}
            self._append({"thali_kept_fits": SCHEMA} | seed)

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

    def _read(self) -> dict | None:
        if self.path is None:
            return None
        if self.path.is_dir():
            raise DataError(f"The checkpoint '{self.path}' is a folder; give the name of a file.")
        if not self.path.parent.is_dir():
            raise DataError(f"There is no folder '{self.path.parent}' for the checkpoint; make it first.")
        if not self.path.exists():
            return None
        lines, text = [], self.path.read_text(encoding="utf-8", errors="replace")
        self._is_torn = bool(text) and not text.endswith("\n")
        for line in text.splitlines():
            try:
                lines.append(json.loads(line))
            except json.JSONDecodeError:  # the last line of a run that was killed while it wrote
                continue
        if not lines:
            if self.path.stat().st_size:
                raise DataError(f"'{self.path}' is not a checkpoint of thali; choose another name.")
            return None
        if not isinstance(lines[0], dict) or lines[0].get("thali_kept_fits") != SCHEMA:
            raise DataError(f"'{self.path}' is not a checkpoint of this version of thali; choose another name.")
        self._records = {line.pop("key"): line for line in lines[1:] if "key" in line}
        return lines[0]

    def _append(self, line: dict) -> None:
        try:
            with open(self.path, "a", encoding="utf-8") as file:  # type: ignore[arg-type]
                file.write("\n" * self._is_torn + json.dumps(line) + "\n")
            self._is_torn = False
        except OSError as error:
            raise DataError(f"The checkpoint '{self.path}' cannot be written: {error.strerror}.") from None


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
