"""Means, intervals and diagnostics of the quantities that do not depend on the labels of features."""

import math
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from thali.errors import ArgumentError
from thali.posterior.features import features_table
from thali.posterior.interval import INTERVAL, INTERVAL_COLUMNS
from thali.posterior.kind import is_own
from thali.posterior.pairs import pair_index
from thali.posterior.presence import presence_of

if TYPE_CHECKING:
    import pandas
    import xarray

# What ArviZ's authors ask of a run before it is believed.
HIGHEST_R_HAT = 1.01
ESS_PER_CHAIN = 100
_MOST_LONGER = 1000.0  # times as many draws that are ever asked for
_FEW = 100  # draws of a chain, too few to call chains that differ apart for good
# With more options than this the choice probabilities are not rows of the summary.
MOST_OPTIONS = 60
# The presence of less probable features is not a row of the summary.
LEAST_PRESENT = 0.2


def label_free(tree: "xarray.DataTree") -> dict[str, np.ndarray]:
    """The quantities of a posterior whose agreement between chains means something, by name.

    Parameters
    ----------
    tree : xarray.DataTree
        As `thali.posterior.store.to_datatree` makes it.

    Returns
    -------
    dict of arrays (chain, draw)
        `n_features`, `alpha` if it was learned, and `log_likelihood`; of choices `choice_probability[a, b]` of every
        compared pair, up to 60 options, or `set_probability[a | a, b, ...]` of every member of every set that was
        offered; of a likelihood of one's own `presence[a, b, ...]` of every feature with probability above .2; of
        similarities `sigma` if it was learned, `constant` if there is one, and
        `presence[a, b, ...]` of every feature of two objects or more with probability above .2.

    Example
    -------
    >>> import thali as th
    >>> model = th.EliminationByAspects("unique").fit(
    ...     th.datasets.celebrities(), draws=500, tune=500, random_seed=1, progressbar=False
    ... )
    >>> label_free(model.posterior_)["log_likelihood"].shape
    (4, 500)
    """
    posterior, constant = tree["posterior"].to_dataset(), tree["constant_data"].to_dataset()
    names = ["n_features", "alpha", "log_likelihood"]
    if not constant["learned_alpha"]:
        names.remove("alpha")
    of_similarities = "learned_sigma" in constant
    if of_similarities:
        names += ["sigma"] * bool(constant["learned_sigma"]) + ["constant"] * bool(constant["has_constant"])
    quantities = {name: posterior[name].values for name in names}
    n_options = posterior.sizes["option"]
    if of_similarities or is_own(tree):
        probable = features_table(tree, LEAST_PRESENT)["members"]
        if not constant.get("sees_single", False):
            probable = probable[probable.map(len) > 1]  # those of a single object are drawn from the prior
        members = probable.tolist()
        for owners, present in zip(members, presence_of(tree, members), strict=True):
            quantities[f"presence[{', '.join(owners)}]"] = present
    elif "wins" not in tree["observed_data"].dataset:
        if "set_probability" in posterior:
            observed, chosen = tree["observed_data"].dataset, posterior["set_probability"].values
            named = zip(observed["alternative"].values, observed["offered"].values, strict=True)
            for place, (a, offered) in enumerate(named):
                quantities[f"set_probability[{a} | {offered}]"] = chosen[..., place]
    elif n_options <= MOST_OPTIONS:
        pairs = pair_index(constant["first"].values, constant["second"].values, n_options)
        compared = posterior["choice_probability"].values[..., pairs]
        named = zip(constant["option_a"].values, constant["option_b"].values, strict=True)
        for pair, (a, b) in enumerate(named):
            quantities[f"choice_probability[{a}, {b}]"] = compared[..., pair]
    return quantities


def summarise(tree: "xarray.DataTree") -> "pandas.DataFrame":
    """Mean, interval, Monte Carlo error and convergence diagnostics of every label-free quantity.

    Parameters
    ----------
    tree : xarray.DataTree
        As `thali.posterior.store.to_datatree` makes it.

    Returns
    -------
    pandas.DataFrame
        One row a quantity of `label_free`, in that order. The columns are those of ArviZ: `mean`, `sd`,
        `eti89_lb` and `eti89_ub` (equal-tailed interval with probability .89), `mcse_mean` (standard error of
        the mean), `ess_bulk` and `ess_tail` (effective sample sizes; the latter at the quantiles .11 and .89,
        ArviZ's default), `r_hat`. The last is NaN for a quantity that never changes, for a single chain, and
        for fewer than 4 draws. `attrs["chains"]` and `attrs["draws"]` say how many there were, and of similarities
        `attrs["temperatures"]` the number of temperatures of a chain.

    References
    ----------
    Vehtari, Gelman, Simpson, Carpenter & Bürkner (2021), Rank-normalization, folding, and localization.

    Example
    -------
    >>> import thali as th
    >>> model = th.EliminationByAspects("unique").fit(
    ...     th.datasets.celebrities(), draws=500, tune=500, random_seed=1, progressbar=False
    ... )
    >>> summarise(model.posterior_).index[:3].to_list()
    ['n_features', 'log_likelihood', 'choice_probability[LBJ, HW]']
    """
    frame = summary_table(label_free(tree))
    temperatures = int(tree["sample_stats"].to_dataset().sizes.get("rung", 1))
    if "learned_sigma" in tree["constant_data"]:
        frame.attrs |= {"temperatures": temperatures, "to_temper": "tempering (sampler=None and tempering=None)"}
    elif not is_own(tree):
        if frame.loc["n_features", "sd"] > 0.0:  # known aspects leave nothing to temper
            frame.attrs |= {"temperatures": temperatures, "to_temper": "tempering=8"}
    else:
        frame.attrs["if_apart"] = (
            "the chains stay in different families of features, which more draws will hardly mend: fit again with "
            "tempering=8 or more temperatures"
        )
    return frame


def summary_table(quantities: dict[str, np.ndarray]) -> "pandas.DataFrame":
    """The frame that `summarise` describes, of any quantities.

    Parameters
    ----------
    quantities : dict of arrays (chain, draw)
        At least one, all of one shape.

    Returns
    -------
    pandas.DataFrame

    Example
    -------
    >>> import numpy as np
    >>> frame = summary_table({"eta": np.array([[1.0, 2.0, 1.5, 1.5], [2.0, 1.0, 1.5, 1.5]])})
    >>> float(frame.loc["eta", "mean"])
    1.5
    """
    import pandas as pd

    draws = np.stack(list(quantities.values())).astype(float)
    frame = pd.DataFrame(_columns(draws), index=list(quantities))
    frame.attrs.update(chains=draws.shape[1], draws=draws.shape[2])
    return frame


def _columns(draws: np.ndarray) -> dict[str, np.ndarray]:
    """The columns of the summary for draws (quantity, chain, draw)."""
    # The array functions are the same in arviz-stats 0.8 and 1.x, and need no further package.
    from arviz_stats.base.array import array_stats

    constant = np.ptp(draws, axis=(1, 2)) == 0
    low, high = np.moveaxis(array_stats.eti(draws.reshape(len(draws), -1), INTERVAL), -1, 0)
    with np.errstate(invalid="ignore", divide="ignore"):  # constant quantities, chains that never moved
        columns = {
            "mean": draws.mean(axis=(1, 2)),
            "sd": draws.std(axis=(1, 2), ddof=1) if draws[0].size > 1 else np.full(len(draws), np.nan),
            INTERVAL_COLUMNS[0]: low,
            INTERVAL_COLUMNS[1]: high,
            "mcse_mean": array_stats.mcse(draws, method="mean"),
            "ess_bulk": array_stats.ess(draws, method="bulk"),
            "ess_tail": array_stats.ess(draws, method="tail", prob=INTERVAL),
            "r_hat": array_stats.rhat(draws),
        }
    # The mean of a thousand equal numbers may differ from them in the last digit.
    columns["mean"][constant] = draws[constant, 0, 0]
    columns["sd"][constant] = columns["mcse_mean"][constant] = 0.0
    columns["r_hat"][constant] = np.nan
    return columns


def convergence(draws: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Bulk effective sample size and R-hat of each quantity; NaN for those that never change.

    Parameters
    ----------
    draws : array (quantity, chain, draw)

    Returns
    -------
    ess, r_hat : arrays (quantity,)
    """
    ess, r_hat = np.full((2, len(draws)), np.nan)
    varying = np.ptp(draws, axis=(1, 2)) > 0 if draws.size else np.zeros(0, bool)
    if varying.any():
        columns = _columns(draws[varying])
        ess[varying], r_hat[varying] = columns["ess_bulk"], columns["r_hat"]
    return ess, r_hat


def verdict(summary: "pandas.DataFrame") -> tuple[bool, str]:
    """Whether the chains agree and are long enough, in one plain sentence with what to do if not.

    The standard is that of ArviZ's authors: R-hat at most 1.01, and both effective sample sizes at least 100
    a chain, for every quantity that changes at all.

    Parameters
    ----------
    summary : pandas.DataFrame
        As `summarise` returns it.

    Returns
    -------
    ok : bool
    sentence : str
        Names the worst row.

    Raises
    ------
    ArgumentError
        The frame does not say how many chains and draws there were.

    References
    ----------
    Vehtari, Gelman, Simpson, Carpenter & Bürkner (2021), section 4.

    Example
    -------
    >>> import pandas as pd
    >>> frame = pd.DataFrame({"sd": 1.0, "r_hat": 1.1, "ess_bulk": 90.0, "ess_tail": 300.0}, index=["alpha"])
    >>> frame.attrs.update(chains=4, draws=1000)
    >>> ok, sentence = verdict(frame)
    >>> ok, sentence.split(":")[0]
    (False, 'The 4 chains do not agree yet')
    >>> sentence.split("; ")[1]
    'fit again with draws=11000 (now 1000), and raise tune likewise.'
    """
    if not {"chains", "draws"} <= set(summary.attrs):
        raise ArgumentError(
            "`summary` lacks attrs 'chains' and 'draws'; pass the frame that summary() returned, unchanged"
        )
    chains, draws = summary.attrs["chains"], summary.attrs["draws"]
    of_chains = f"The {chains} chains" if chains > 1 else "The one chain"
    if draws < 4:
        return False, f"{of_chains} cannot be judged by {draws} draws; fit again with draws=1000."
    rows = {name: row for name, row in summary.to_dict("index").items() if row["sd"] != 0}
    if not rows:
        return True, f"{of_chains} cannot disagree: no quantity ever changes."
    wanted = ESS_PER_CHAIN * chains
    # NaN though the quantity changes means a chain that stands still: as bad as can be.
    smallest, kind, smallest_of = min(
        (0.0 if math.isnan(row[kind]) else row[kind], kind, name)
        for name, row in rows.items()
        for kind in ("ess_bulk", "ess_tail")
    )
    largest, largest_of = max(
        (math.inf if math.isnan(row["r_hat"]) else row["r_hat"], name) for name, row in rows.items()
    )
    short, disagree = smallest < wanted, chains > 1 and largest > HIGHEST_R_HAT
    longer = wanted / max(smallest, 1.0)
    faults = []
    if disagree:
        shown = f"{largest:.3f}" if largest < 100 else "above 100"
        faults.append(f"R-hat of {largest_of} is {shown} (wanted: at most {HIGHEST_R_HAT})")
        # Of chains that merely are short, R-hat squared minus 1 falls as one over their length.
        longer = max(longer, (largest**2 - 1) / (HIGHEST_R_HAT**2 - 1))
    if short:
        faults.append(f"{kind} of {smallest_of} is {smallest:,.0f} (wanted: at least {wanted:,})")
    fault, advice = " and ".join(faults), _advice(draws, longer, disagree, summary.attrs)
    if chains == 1:
        alone = "with one chain there is no R-hat, and nothing shows that another would agree; take chains=4"
        if short:
            return False, f"{of_chains} is too short: {fault}; {advice}. Also, {alone}."
        return False, f"{of_chains} is long enough ({kind} of {smallest_of} is {smallest:,.0f}), but {alone}."
    if disagree:
        return False, f"{of_chains} do not agree yet: {fault}; {advice}."
    if short:
        return False, f"{of_chains} agree but are too short: {fault}; {advice}."
    return True, (
        f"{of_chains} agree: R-hat is at most {largest:.3f} ({largest_of}; wanted: at most {HIGHEST_R_HAT}) "
        f"and the effective sample size at least {smallest:,.0f} ({kind} of {smallest_of}; wanted: at least "
        f"{wanted:,})."
    )


def _advice(draws: int, longer: float, disagree: bool, attrs: dict) -> str:
    """What to do if `longer` times as many draws would do; the attributes are those of the summary."""
    if draws >= _FEW and longer > (30 if draws >= 1000 else 100):
        return attrs.get("if_apart") or _advice_if_apart(draws, attrs.get("temperatures"), attrs.get("to_temper"))
    more = _two_digits(draws * min(max(2.0, longer), _MOST_LONGER))
    or_temper = f", or with {attrs['to_temper']}" if disagree and attrs.get("temperatures") == 1 else ""
    return f"fit again with draws={more} (now {draws}), and raise tune likewise{or_temper}"


def _advice_if_apart(draws: int, temperatures: int | None, to_temper: str | None) -> str:
    """What to do if chains stay in different places; `to_temper` switches tempering on."""
    if temperatures is None:
        return (
            "the chains stay in different places, which more draws will hardly mend: look at them with plots.trace, "
            "and try other seeds or a model with unique aspects"
        )
    if temperatures == 1:
        return (
            "the chains stay in different families of features, which more draws will hardly mend: fit again with "
            f"{to_temper}"
        )
    from thali.mcmc.tempering import MOST_RUNGS

    more = min(2 * temperatures, MOST_RUNGS)
    return (
        f"the chains change too rarely between families of features: fit again with tempering={more} (now "
        f"{temperatures} temperatures) and draws={_two_digits(10.0 * draws)} (now {draws}), and raise tune likewise"
    )


def _two_digits(number: float) -> int:
    """The next number with two digits and zeros."""
    unit = 10 ** max(0, math.floor(math.log10(number)) - 1)
    return math.ceil(number / unit) * unit


def text_histogram(values: npt.ArrayLike, width: int = 40) -> str:
    """A histogram in plain characters, one line a value, or a group of neighbouring values if there are many.

    Parameters
    ----------
    values : int array
        At least one.
    width : int
        Characters of the longest bar.

    Returns
    -------
    str
        At most 20 lines without a final line break: the value, its bar, its share of all draws.

    Example
    -------
    >>> print(text_histogram([1, 2, 2, 2, 3, 3], width=6))
    1 | ##      17 %
    2 | ######  50 %
    3 | ####    33 %
    """
    values = np.asarray(values).ravel()
    low, high = int(values.min()), int(values.max())
    step = math.ceil((high - low + 1) / 20)
    counts = np.bincount((values.astype(np.int64) - low) // step)
    starts = [low + step * group for group in range(len(counts))]
    names = [str(start) if step == 1 else f"{start}-{start + step - 1}" for start in starts]
    name_width = max(map(len, names))
    bars = ["#" * round(width * count / counts.max()) for count in counts]
    return "\n".join(
        f"{name:>{name_width}} | {bar:<{width}}  {_percent(count / counts.sum())}"
        for name, bar, count in zip(names, bars, counts, strict=True)
    )


def _percent(share: float) -> str:
    return f"{'<1' if 0 < share < 0.01 else format(100 * share, '.0f'):>2} %"
