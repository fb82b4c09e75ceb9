"""Make the reference posteriors: data, models, and summaries of ten long chains, in the layout of
posteriordb.

    python posteriors/make.py [--only TEXT] [--again]

Every pair of `pairs.py` whose data, model and run have not changed since its files were written is
left as it is, so that a run that was broken off goes on. `--only` makes the pairs whose names hold
a text, `--again` all of them.
"""

import argparse
import hashlib
import json
import os
import platform
import runpy
import sys
import time
import zipfile
from datetime import UTC, datetime
from pathlib import Path

import numba
import numpy as np
from arviz_stats.base.array import array_stats
from functionals import MEANINGS, functionals
from pairs import PAIRS, Pair
from sets import SETS

import thali as th

HERE = Path(__file__).parent
SUMMARIES = HERE / "reference_posteriors" / "summary_statistics" / "functionals"
QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)
LARGEST_R_HAT, LEAST_ESS = 1.01, 1000


def read(*parts: str) -> dict:
    """A JSON file of this folder."""
    return json.loads(HERE.joinpath(*parts).read_text("utf-8"))


def summary_file(name: str) -> Path:
    """Where the reference values of a pair stand."""
    return SUMMARIES / "functionals" / f"{name}.json"


def reference(name: str) -> dict:
    """The reference values of a pair."""
    return json.loads(summary_file(name).read_text("utf-8"))


def info_file(name: str) -> Path:
    """How these were computed."""
    return SUMMARIES / "info" / f"{name}.info.json"


def fit(pair: Pair, run: dict):
    """The fitted model of a pair, from its data file and the program of its model."""
    program = runpy.run_path(str(HERE / "models" / "thali" / f"{pair.model}.py"))
    return program["fit"](
        read("data", "data", f"{pair.data}.json"), cores=1, progressbar=False, **run
    )


def digest(pair: Pair) -> str:
    """Of what determines a reference posterior besides the version of thali: data, program and
    run."""
    program = (HERE / "models" / "thali" / f"{pair.model}.py").read_text("utf-8")
    parts = (json.dumps(read("data", "data", f"{pair.data}.json"), sort_keys=True), program)
    return hashlib.sha256(
        "\0".join([*parts, json.dumps(pair.run, sort_keys=True)]).encode()
    ).hexdigest()


def summarise(draws: dict[str, np.ndarray]) -> tuple[dict, dict]:
    """The summary of functionals, arrays (chain, draw), and its diagnostics."""
    stacked = np.stack(list(draws.values()))
    quantiles = np.quantile(stacked, QUANTILES, axis=(1, 2))
    values = {
        "mean": stacked.mean(axis=(1, 2)),
        "mcse_mean": array_stats.mcse(stacked, method="mean"),
        "sd": stacked.std(axis=(1, 2), ddof=1),
        "mcse_sd": array_stats.mcse(stacked, method="sd"),
    }
    values |= {f"quantile_{level:g}": row for level, row in zip(QUANTILES, quantiles, strict=True)}
    diagnostics = {
        "effective_sample_size_bulk": array_stats.ess(stacked, method="bulk"),
        "effective_sample_size_tail": array_stats.ess(stacked, method="tail", prob=(0.05, 0.95)),
        "r_hat": array_stats.rhat(stacked),
    }
    return _plain(values), _plain(diagnostics)


def write_data() -> None:
    """The data sets and what is said of them."""
    for name, made in SETS.items():
        title, _, text = (made.__doc__ or "").partition("\n\n")
        info = {
            "name": name,
            "keywords": ["simulated"] if "imulated" in title else [],
            "title": _one_line(title),
        }
        info |= {
            "description": _one_line(text),
            "urls": [],
            "references": [],
            "data_file": f"data/data/{name}.json",
        }
        _write(HERE / "data" / "data" / f"{name}.json", made())
        _zip(HERE / "data" / "data" / f"{name}.json")
        _write(HERE / "data" / "info" / f"{name}.info.json", info | _added())


def write_models() -> None:
    """What is said of the models, from the heads of their programs."""
    for path in sorted((HERE / "models" / "thali").glob("*.py")):
        title, _, text = (runpy.run_path(str(path))["__doc__"] or "").partition("\n\n")
        info = {
            "name": path.stem,
            "keywords": [],
            "title": _one_line(title),
            "description": _one_line(text),
            "urls": [],
        }
        info |= {
            "references": [],
            "model_implementations": {"thali": {"model_code": f"models/thali/{path.name}"}},
        }
        _write(HERE / "models" / "info" / f"{path.stem}.info.json", info | _added())


def make(pair: Pair) -> tuple[float, float]:
    """Compute and write a pair; its largest R-hat and smallest effective sample size."""
    began = time.process_time()
    fitted = fit(pair, pair.run)
    seconds = time.process_time() - began
    draws = functionals(fitted)
    summary, diagnostics = summarise(draws)
    names = list(draws)
    largest, least = max(diagnostics["r_hat"]), min(diagnostics["effective_sample_size_bulk"])
    chains, kept = next(iter(draws.values())).shape
    thin = fitted.posterior_.attrs.get("thin")
    info = {
        "name": pair.name,
        "inference": {
            "method": "thali",
            "method_arguments": pair.run | ({} if thin is None else {"thin": int(thin)}),
        },
        "diagnostics": {
            "diagnostic_information": {"names": names},
            "ndraws": chains * kept,
            "nchains": chains,
        }
        | diagnostics,
        "checks_made": {
            "nchains_is_gte_10": chains >= 10,
            "r_hat_below_1_01": largest <= LARGEST_R_HAT,
            "ess_bulk_is_gte_1000": least >= LEAST_ESS,
        },
        "comments": None,
        "inputs": digest(pair),
        "cpu_seconds": round(seconds),
        **_added(),
        "versions": {
            "thali": th.__version__,
            "numpy": np.__version__,
            "numba": numba.__version__,
            "python": platform.python_version(),
        },
    }
    families = {name.partition("[")[0]: 0 for name in names}
    for name in names:
        families[name.partition("[")[0]] += 1
    posterior = {
        "name": pair.name,
        "keywords": [],
        "model_name": pair.model,
        "data_name": pair.data,
        "reference_posterior_name": pair.name,
        "dimensions": families,
        "functionals": {name: MEANINGS[name] for name in families},
        **_added(),
    }
    _write(HERE / "posteriors" / f"{pair.name}.json", posterior)
    _write(summary_file(pair.name), {"names": names} | summary)
    _write(info_file(pair.name), info)  # last: it says that the pair is finished
    return largest, least


def is_finished(pair: Pair) -> bool:
    """Whether the files of a pair belong to its present data, program and run."""
    return info_file(pair.name).exists() and json.loads(info_file(pair.name).read_text("utf-8"))[
        "inputs"
    ] == digest(pair)


def main(only: str = "", again: bool = False) -> int:
    """Make what is missing; the number of pairs whose chains do not agree."""
    write_data()
    write_models()
    bad = 0
    for pair in PAIRS.values():
        if only in pair.name and (again or not is_finished(pair)):
            began = time.process_time()
            largest, least = make(pair)
            good = largest <= LARGEST_R_HAT and least >= LEAST_ESS
            bad += not good
            facts = (
                f"R-hat {largest:.4f}  effective draws {least:7.0f} "
                f" {time.process_time() - began:5.0f} CPU s"
            )
            print(f"{pair.name:45}{facts}{'' if good else '  TOO SHORT'}", flush=True)
    return bad


def _write(path: Path, content: dict) -> None:
    """JSON to a temporary name, then renamed; a file that was there keeps the date at which it was
    added."""
    if path.exists() and "added_date" in content:
        content = content | {"added_date": json.loads(path.read_text("utf-8"))["added_date"]}
    path.parent.mkdir(parents=True, exist_ok=True)
    lines = (
        f" {json.dumps(name)}: {json.dumps(value, ensure_ascii=False)}"
        for name, value in content.items()
    )
    unfinished = path.with_suffix(".part")
    unfinished.write_text("{\n" + ",\n".join(lines) + "\n}\n", "utf-8")
    os.replace(unfinished, path)


def _zip(path: Path) -> None:
    """The file once more as a client of posteriordb opens it; the same bytes on every machine."""
    with zipfile.ZipFile(path.with_suffix(".json.zip"), "w", zipfile.ZIP_STORED) as archive:
        archive.writestr(zipfile.ZipInfo(path.name), path.read_bytes())


def _plain(values: dict[str, np.ndarray]) -> dict[str, list[float]]:
    """Six significant digits."""
    return {name: [float(f"{value:.6g}") for value in row] for name, row in values.items()}


def _one_line(text: str) -> str:
    """Text without line breaks."""
    return " ".join(text.split())


def _added() -> dict[str, str]:
    """Who added a file, and when."""
    return {"added_by": "The thali developers", "added_date": datetime.now(UTC).date().isoformat()}


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Make the reference posteriors.")
    parser.add_argument("--only", default="", help="the pairs whose names hold this text")
    parser.add_argument("--again", action="store_true", help="also those that are finished")
    sys.exit(main(**vars(parser.parse_args())) > 0)
