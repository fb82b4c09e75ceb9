"""Whether each number in the sentences of findings is a number of their tables.

    python packaging/sentence_numbers.py [--only TEXT]

Fits every small model of `thali._testing` and looks up each number of each sentence, note and
screen text: in the finding's own table, in another table of the fit, or among what the fit was
told (the probability of intervals, numbers of rows, settings of the run). Prints the sentences
with numbers that are found nowhere, and the counts.
"""

import argparse
import re
import warnings
from collections import Counter
from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd

import thali as th
from thali._testing.small_models import SMALL_MODELS

NUMBER = re.compile(r"(?<![\w.])[-−]?\d[\d,]*(?:\.\d+)?(?: ?%)?(?![\w])")
LABEL = re.compile(r"'[^']*'|\[[^\]]*\]")  # of options, files and quantities
RULES = {"methods"}  # its numbers are settings and priors, which tests compare with the code
THRESHOLDS = {0.5, 0.05, 0.95, 0.89, 0.9, 0.1, 1.01, 1.05, 400.0, 4.0, 0.25, 0.75, 1.0, 2.0, 0.0}


def list_values(table: Any) -> np.ndarray:
    """Return all numbers in a table's cells, index and attributes, and its numbers of rows and columns."""
    if table is None:
        return np.empty(0)
    frame = pd.DataFrame(table).reset_index()
    cells = pd.Series([*frame.to_numpy(object).ravel(), *frame.shape])
    numbers = pd.to_numeric(cells, errors="coerce")
    texts = " ".join(map(str, [*cells[numbers.isna()], getattr(table, "attrs", {})]))
    values = np.concatenate([numbers.to_numpy(float), parse_numbers(texts)])
    return values[np.isfinite(values)]


def parse_numbers(text: str) -> np.ndarray:
    """Return the numbers in a text."""
    return np.array([to_number(number.group()) for number in NUMBER.finditer(text)], float)


def to_number(text: str) -> float:
    """Return a printed number, without the sign of percents and of thousands."""
    return float(text.replace(",", "").replace("−", "-").removesuffix("%").strip())


def list_draw_values(model: Any) -> np.ndarray:
    """Return mean, standard deviation and 89 % interval of each scalar of the posterior."""
    if getattr(model, "posterior_", None) is None:
        return np.empty(0)
    values = [0.0]
    for variable in model.posterior_["posterior"].data_vars.values():
        if variable.ndim == 2 and variable.dtype.kind in "fiu":
            draws = variable.to_numpy().ravel()
            values += [draws.mean(), draws.std(ddof=1), *np.quantile(draws, [0.055, 0.945])]
    return np.array(values)


def list_attribute_values(model: Any) -> np.ndarray:
    """Return the numbers that are attributes of the fit, such as `log_likelihood_`."""
    values = [
        value
        for name, value in vars(model).items()
        if name.endswith("_") and isinstance(value, (int, float, np.number))
    ]
    return np.array(values, float)


def is_among(text: str, values: np.ndarray, is_percent: bool) -> bool:
    """Return whether a number as printed is one of the values, or 1 minus it, rounded alike."""
    decimals = len(text.removesuffix("%").strip().partition(".")[2])
    half = 0.5 * 10.0**-decimals + 1e-9
    candidates = [values, -values, 1 - values]
    if is_percent:
        candidates += [100 * values, 100 - 100 * values]
    return any((abs(each - to_number(text)) <= half).any() for each in candidates)


def list_texts(finding: Any) -> Iterator[str]:
    """Yield what surfaces print of a finding besides its table."""
    yield from finding.format_sentences()
    if finding.brief is not None:
        yield str(finding.brief.text or "")
        yield from (f"{name} {text}" for name, text in finding.brief.parts)


def check(name: str, case: Any) -> Counter[str]:
    """Print the numbers of one fit that are in no table; return how many were found where."""
    found: Counter[str] = Counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = case.build_fitted()
        findings = list(th.findings(model))
        tables = [finding.table for finding in findings]
    if hasattr(model, "summary"):
        tables.append(model.summary())
    checks = " ".join(f"{check} {vars(check)}" for check in [model.convergence()])
    anywhere = np.concatenate(
        [
            *map(list_values, tables),
            list_draw_values(model),
            list_attribute_values(model),
            parse_numbers(checks),
        ]
    )
    told = np.concatenate([parse_numbers(f"{model!r} {case.run}"), sorted(THRESHOLDS)])
    for finding in findings:
        if finding.key in RULES:
            continue
        own = list_values(finding.table)
        for text in dict.fromkeys(list_texts(finding)):
            is_percent = "%" in text
            for number in NUMBER.finditer(LABEL.sub(" ", text)):
                printed = number.group()
                if is_among(printed, own, is_percent):
                    found["own table"] += 1
                elif is_among(printed, anywhere, is_percent):
                    found["another table"] += 1
                elif is_among(printed, told, is_percent):
                    found["settings"] += 1
                else:
                    found["nowhere"] += 1
                    print(f"{name} | {finding.key} | {printed} | {text}")
    return found


def main() -> None:
    """Check the fits and print the counts."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default="")
    only = parser.parse_args().only
    total: Counter[str] = Counter()
    names = [name for name in SMALL_MODELS if only in name]
    for name in names:
        total += check(name, SMALL_MODELS[name])
    counts = ", ".join(f"{place}: {number}" for place, number in total.most_common())
    print(f"{len(names)} fits; numbers in {counts}")


if __name__ == "__main__":
    main()
