"""What the job of a comparison holds and the table of it; `thali.merge`: the shards of a comparison become one."""

import json
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from itertools import permutations
from pathlib import Path
from typing import TYPE_CHECKING, Any

from thali import __version__
from thali.errors import Argument, ArgumentError, DataError, Fact, InPython
from thali.inference.arrays import Arrays
from thali.inference.jobs import difference, shard_name
from thali.inference.parts import Parts, PartsFolder, Record, is_whole, read_parts
from thali.inference.seeds import seed_of_json
from thali.model.saved import unpacked

from .by_evidence import places_of, table_of_evidence, warn_of_evidence
from .engine import warn_of
from .job import BY_EVIDENCE, BY_PREDICTION, Fit, fit_of, fits_of, key_of
from .table import Scores, comparison_table
from .ways import WAYS, kind_of

if TYPE_CHECKING:
    import pandas


class OfJob(ABC):
    """What a job holds, from its stamp and what is stored beside the records."""

    unit: str
    fits: list[Fit]  # all that belong to it

    @abstractmethod
    def __init__(self, stamp: Mapping[str, Any], source: Mapping[str, Any]) -> None: ...

    @abstractmethod
    def table(self, records: Mapping[str, Record]) -> "pandas.DataFrame":
        """The table of what the records hold."""

    @abstractmethod
    def warn(self, table: "pandas.DataFrame", go_on: Fact) -> None:
        """What a reader of the table must know besides."""

    @abstractmethod
    def called(self, fit: Fit) -> str:
        """What was found of one of its fits, in messages."""


class Predictions(OfJob):
    """The scores of predictions."""

    unit = "fits"

    def __init__(self, stamp: Mapping[str, Any], source: Mapping[str, Any]) -> None:
        settings = stamp["settings"]
        way = WAYS[kind_of(source["data"])][settings["leave_out"]]
        self._splitter, self._scorer = way.splitter(source["data"]), way.scorer
        seed = seed_of_json(stamp["seed"])
        self._parts = self._splitter.parts(seed, settings["hold_out"], settings["folds"])
        self._names, self._lapses = list(stamp["models"]), source["lapses"]
        self.fits: list[Fit] = fits_of(self._names, len(self._parts))

    def table(self, records: Mapping[str, Record]) -> "pandas.DataFrame":
        """The table of what the records hold."""
        found = {fit: records.get(key_of(fit)) for fit in self.fits}
        table = comparison_table(Scores(self._splitter, self._scorer, self._parts, self._names, found))
        table.attrs.update(interrupted=False, lapses=self._lapses)
        return table

    def warn(self, table: "pandas.DataFrame", go_on: Fact) -> None:
        """What a reader of the table must know besides."""
        warn_of(table, self._splitter, go_on)

    def called(self, fit: Fit) -> str:
        """What was found of one of its fits, in messages."""
        return f"scores of {fit[0]!r} for part {fit[1] + 1}"


class Evidence(OfJob):
    """The evidence of models."""

    unit = "models"

    def __init__(self, stamp: Mapping[str, Any], source: Mapping[str, Any]) -> None:
        self._names, self._base = list(stamp["models"]), source["base"]
        self.fits: list[Fit] = places_of(self._names)

    def table(self, records: Mapping[str, Record]) -> "pandas.DataFrame":
        """The table of what the records hold; before the data all models are alike."""
        table = table_of_evidence(self._names, records, self._base)
        table.attrs["interrupted"] = False
        return table

    def warn(self, table: "pandas.DataFrame", go_on: Fact) -> None:
        """What a reader of the table must know besides."""
        warn_of_evidence(table, go_on)

    def called(self, fit: Fit) -> str:
        """What was found of one of its fits, in messages."""
        return f"evidence of {fit[0]!r}"


OF_KIND: dict[str, type[OfJob]] = {BY_PREDICTION: Predictions, BY_EVIDENCE: Evidence}


def merge(jobs: Iterable[Any], job: Any) -> "pandas.DataFrame":
    """Join the shards of a comparison, by prediction or by evidence.

    Parameters
    ----------
    jobs : sequence of str or path
        The job of every shard, as ``compare(..., shard=(k, n), job=...)`` left it, in any order.
    job : str or path
        A folder for the whole. ``compare`` without `shard` goes on with it, if fits are missing.

    Returns
    -------
    pandas.DataFrame
        The table that `compare` returns without `shard`, to the last bit (but for the CPU seconds); by evidence with
        all models alike before the data (`compare` with the job of the whole takes other prior odds).

    Raises
    ------
    DataError
        If a folder is no shard of a comparison, is damaged or running; if the shards are of different comparisons, data
        or versions, or two of them found different scores for a fit; if a shard is missing.

    Warns
    -----
    IncompleteWarning
        If fits failed, or are finished in none of the shards.
    ConvergenceWarning
        If the chains of some fits do not agree on what was left out.

    Examples
    --------
    >>> import tempfile, pathlib, thali as th
    >>> folder, data = pathlib.Path(tempfile.mkdtemp()), th.datasets.celebrities().subset(["LBJ", "JU", "BB"])
    >>> models, jobs = {"BTL": th.EliminationByAspects("unique")}, [folder / "1", folder / "2"]
    >>> for k in (1, 2):  # on two machines
    ...     _ = th.compare(models, data, draws=50, random_seed=1, progressbar=False, job=jobs[k - 1], shard=(k, 2))
    >>> th.merge(jobs, folder / "whole")["pairs"].to_dict()
    {'BASE': 3, 'BTL': 3, 'EMP': 3}
    """
    if isinstance(jobs, str | Path):
        raise ArgumentError(Argument("jobs"), " must be a list of folders, one a shard; got a single one.")
    shards = {Path(each): read_parts(Path(each)) for each in jobs}
    stamp, source = _whole_of(shards)
    whole = OF_KIND[stamp["kind"]](stamp, unpacked(source))
    records = {path: shard.records for path, shard in shards.items()}
    go_on = InPython(f"compare(..., job='{job}') runs them", "thali resume runs them")
    with PartsFolder(job, stamp, seed_of_json(stamp["seed"]), source) as folder:
        folder.plan({key_of(fit): fit[0] for fit in whole.fits}, whole.unit)
        for key, record in _joined({folder.path: dict(folder.records), **records}, whole).items():
            if record is not folder.records.get(key):
                folder.add(key, record, 0.0)
        table = whole.table(folder.records)
    whole.warn(table, go_on)
    return table


def table_of_job(job: Any) -> "pandas.DataFrame":
    """The table of a comparison whose job is finished, or as far as it is."""
    stamp, records, source = read_parts(Path(job))
    return OF_KIND[stamp["kind"]](stamp, unpacked(source)).table(records)


def _whole_of(shards: Mapping[Path, Parts]) -> tuple[dict[str, Any], Arrays]:
    """The stamp of the comparison of which these are all shards, and what is stored with it."""
    if not shards:
        raise ArgumentError("There is no shard to merge; give the folder of each.")
    for path, shard in shards.items():
        if shard.stamp["shard"] is None:
            raise DataError(f"The job '{path}' is no shard of a comparison; give the folders of shards.")
    path, first = next(iter(shards.items()))
    whole = {**first.stamp, "shard": None}
    for other_path, shard in shards.items():
        other = {**shard.stamp, "shard": None}
        for (a, one), (b, two) in permutations([(path, whole), (other_path, other)]):
            if found := difference(one, two, f"'{b}'"):
                raise DataError(f"The shard '{a}' ", found, "; merge shards of one comparison.")
    if (version := first.stamp["versions"]["thali"]) != __version__:
        raise DataError(
            f"The shard '{path}' was begun with thali {version}, and this is {__version__}; merge with that."
        )
    count = first.stamp["shard"][1]
    for other_path, other in shards.items():
        if other.stamp["shard"][1] != count:
            names = [shard_name(each.stamp["shard"]) for each in (first, other)]
            raise DataError(f"'{path}' is {names[0]}, and '{other_path}' is {names[1]}; merge shards of one division.")
    present = {shard.stamp["shard"][0] for shard in shards.values()}
    if missing := [f"{k}/{count}" for k in range(1, count + 1) if k not in present]:
        be = "Shard {} is" if len(missing) == 1 else "Shards {} are"
        raise DataError(f"{be.format(', '.join(missing))} missing; give the folder of every shard.")
    return whole, first.source


def _joined(records: Mapping[Path, Mapping[str, Record]], whole: OfJob) -> dict[str, Record]:
    """All records, of each fit one; a fit that failed in one place may be finished in another."""
    found: dict[str, Record] = {}
    source: dict[str, Path] = {}
    for path, own in records.items():
        for key, record in own.items():
            if key in found and is_whole(found[key]):
                if is_whole(record) and _scores(record) != _scores(found[key]):
                    raise DataError(
                        f"'{source[key]}' and '{path}' found different {whole.called(fit_of(key))}; merge each shard "
                        "once, as one process left it."
                    )
                continue
            found[key], source[key] = record, path
    return found


def _scores(record: Record) -> str:
    """What a fit found, to the last bit, but for its CPU time."""
    return json.dumps({name: value for name, value in record.items() if name != "seconds"})
