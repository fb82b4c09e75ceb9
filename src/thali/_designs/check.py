"""`check`: what a design tells, before anybody answers it."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from thali._arguments import positive, whole
from thali._described import Description
from thali._labels import plural
from thali._printed import Printed
from thali.errors import Argument, ArgumentError

from .products import (
    ALTERNATIVE,
    DRAWS,
    HELD_OUT,
    NONE,
    TASK,
    VERSION,
    crossed_of,
    information,
    is_dominated,
    log_bound,
    prior_draws,
    signs_of,
    variances,
)

if TYPE_CHECKING:
    import pandas

    from thali._choice.coding import Coding
    from thali._data.experiments import ChoiceExperiment

_PRECISE = 0.1  # standard error, of a utility, for which people are counted


@dataclass(frozen=True, repr=False, eq=False)
class DesignCheck(Printed):
    """What a design tells of a multinomial logit.

    Attributes
    ----------
    table : pandas.DataFrame
        One row a coefficient, as `MultinomialLogit` has them: `utility` (expected), `std_error`
        (expected standard error with so many respondents; infinite where the design cannot tell the
        coefficient from others) and `respondents`, how many are needed for the standard error that
        was asked for.
    balance : pandas.DataFrame
        One row a level: `times` shown, its `share` of the products, and the `least` and `most`
        times in a version.
    overlap : pandas.DataFrame
        One row an attribute: `overlap`, the share of the pairs of products of a task that have the
        same level, and `least`, the smallest share that is possible.
    d_error : float
        The p-th root of the determinant of the covariance of the p coefficients by one person's
        choices, at the expected utilities.
    d_efficiency : float
        Where all utilities are 0, the p-th root of the determinant of the information, divided by
        that of a design in which all attributes are orthogonal and all levels as balanced within
        tasks as can be; 1 is the most. NaN where products lack attributes.
    respondents : int
        For whom the standard errors are.
    dominated : int, optional
        How many tasks hold a product that is worse than another of them; None: no directions were
        given.
    bayesian_d_error : float, optional
        The mean of the D-error over draws of utilities that are uncertain; None: they are given for
        certain.
    """

    balance: "pandas.DataFrame"
    overlap: "pandas.DataFrame"
    d_error: float
    d_efficiency: float
    respondents: int
    dominated: int | None = None
    bayesian_d_error: float | None = None

    def _description(self) -> Description:
        facts = (
            ("D-error", f"{self.d_error:.4g} (one respondent)"),
            ("D-efficiency", f"{self.d_efficiency:.3f}"),
        )
        if self.bayesian_d_error is not None:
            facts = (
                *facts,
                (
                    "Bayesian D-error",
                    f"{self.bayesian_d_error:.4g} (mean over uncertain utilities)",
                ),
            )
        if self.dominated is not None:
            facts = (*facts, ("Tasks with a dominated product", f"{self.dominated:,}"))
        return Description(self.title, facts, table=self.table.round(3), note=self.note)


def check(
    design: "pandas.DataFrame | ChoiceExperiment",
    prior: Any = None,
    respondents: int = 100,
    standard_error: float = _PRECISE,
    interactions: Any = (),
    directions: Any = None,
    prior_sd: Any = None,
) -> DesignCheck:
    r"""Balance, overlap, errors to be expected, and how many people a design needs.

    .. math:: \operatorname{se}(\hat\beta_k) = \sqrt{(I^{-1})_{kk} / N}, \qquad
        I = \frac1V \sum_t \Big( \sum_j p_{tj} x_{tj} x_{tj}^T - \bar x_t \bar x_t^T \Big)

    for N people, each of whom answers one of V versions.

    Parameters
    ----------
    design : DataFrame or ChoiceExperiment
        As `choice` gives it; or tasks that people have answered, where each person is a version.
    prior : dict or fitted logit, optional
        Expected utilities, as for `choice`. None: all are 0.
    respondents : int
        For whom standard errors are given.
    standard_error : float above 0
        For which the people are counted.
    interactions : list of pairs, optional
        Attributes whose levels the model has together, as for `choice`; the D-efficiency is that of
        the others alone.
    directions : dict, optional
        Which levels everybody prefers, as for `choice`: for `dominated`.
    prior_sd : float or dict, optional
        How uncertain the utilities are, as for `choice`: for `bayesian_d_error`.

    Returns
    -------
    DesignCheck
        `.table`, `.balance`, `.overlap`, `.d_error`, `.d_efficiency`, `.dominated`; `print` shows
        it. Tasks that are held out (`held_out`) tell nothing and are left out.

    Raises
    ------
    DataError
        If the design cannot be read as tasks.
    ArgumentError
        If an argument is outside its range, or `prior` names what is not there.

    References
    ----------
    Huber & Zwerina (1996), The importance of utility balance in efficient choice designs; Rose &
    Bliemer (2013), Sample size requirements for stated choice experiments.

    Examples
    --------
    >>> import thali as th
    >>> design = th.designs.choice({"brand": ["A", "B"], "price": [9, 12]}, 8, 2, random_seed=1)
    >>> checked = check(design, prior={"price": -0.2}, respondents=50)
    >>> checked.table.round(3).to_dict("index")["price[12]"]
    {'utility': -0.6, 'std_error': 0.105, 'respondents': 55}
    >>> round(checked.d_efficiency, 3)
    1.0
    """
    from thali._choice.coding import coding_of

    number, target = (
        whole("respondents", respondents, 1),
        positive("standard_error", standard_error, "the target for each utility"),
    )
    data, names, levels, has_none, drawn, _, coding = asked_of(
        design, prior, prior_sd, interactions
    )
    utilities = [np.mean(each, axis=0) for each in zip(*drawn, strict=True)]
    alone = coding_of(data)
    matrix = coding.matrix(data.products)[data.row_product]
    utility = _utilities(data, utilities)[data.row_product]
    a_person = _of_a_person(data, matrix, utility)
    errors = variances(a_person)
    complete = all(own[:-1].all() for own in coding.seen)
    single = alone.matrix(data.products)[data.row_product]
    efficiency = _efficiency(data, single, utility, names, levels, complete)
    table = _coefficients(coding, utilities, has_none, errors, number, target)
    identified = complete and np.isfinite(errors).all()
    d_error = _d_error(a_person) if identified else float("inf")
    bayesian = None
    if len(drawn) > 1:
        each = (
            _of_a_person(data, matrix, _utilities(data, own)[data.row_product]) for own in drawn
        )
        bayesian = float(np.mean([_d_error(own) for own in each])) if identified else float("inf")
    return DesignCheck(
        f"Design of {plural(data.n_respondents, 'version')}, {plural(data.n_tasks, 'task')}, "
        f"{plural(data.n_alternatives, 'alternative')}",
        table,
        _note(table, number, target),
        _balance(data, names, levels),
        _overlap(data, names, levels),
        d_error,
        efficiency,
        number,
        None if directions is None else _dominated(data, signs_of(directions, names)),
        bayesian,
    )


def _of_a_person(data: "ChoiceExperiment", matrix: np.ndarray, utility: np.ndarray) -> np.ndarray:
    """The information of the choices of one person, who answers one version."""
    sizes = np.unique(np.diff(data.first_row)).tolist()
    parts = [_by_size(data, matrix, utility, size).sum(axis=0) for size in sizes]
    return np.sum(parts, axis=0) / data.n_respondents


def _d_error(a_person: np.ndarray) -> float:
    """The p-th root of the determinant of the covariance."""
    sign, log_det = np.linalg.slogdet(a_person)
    return float(np.exp(-log_det / len(a_person))) if sign > 0 else float("inf")


class DesignRequest(NamedTuple):
    """A design, what is expected of it, and the model that will be fitted."""

    tasks: "ChoiceExperiment"
    names: Sequence[str]  # of attributes
    levels: Sequence[Sequence[str]]
    has_none: bool
    drawn: list[list[np.ndarray]]  # the utilities of levels, several times where they are uncertain
    crossed: list[tuple[str, str]]
    coding: "Coding"


def asked_of(design: Any, prior: Any, prior_sd: Any, interactions: Any) -> DesignRequest:
    """What is asked of a design of products."""
    tasks = tasks_of(design)
    scheme, has_none = tasks.scheme, bool(tasks.scheme.none)
    names, levels = (
        scheme.names[scheme.has_inside :],
        list(scheme.levels.values())[scheme.has_inside :],
    )
    drawn = prior_draws(prior, prior_sd, names, levels, has_none, DRAWS)
    return DesignRequest(
        tasks, names, levels, has_none, drawn, *coding_with(tasks, interactions, names)
    )


def coding_with(
    data: "ChoiceExperiment", interactions: Any, names: Any
) -> "tuple[list[tuple[str, str]], Coding]":
    """The interactions by the names of their attributes, and the coding of products with them."""
    from thali._choice.coding import coding_of

    crossed = [(names[i], names[j]) for i, j in crossed_of(interactions, names)]
    return crossed, coding_of(data, interactions=crossed)


def _shown(data: "ChoiceExperiment") -> np.ndarray:
    """The levels of each row."""
    return data.products[data.row_product, data.scheme.has_inside :]


def _dominated(data: "ChoiceExperiment", signs: np.ndarray) -> int:
    """How many tasks hold a product that is worse than another."""
    codes = _shown(data)
    tasks = np.split(codes, data.first_row[1:-1])
    return sum(bool(is_dominated(task[(task >= 0).all(axis=1)], signs).any()) for task in tasks)


def tasks_of(design: Any, levels: Any = None) -> "ChoiceExperiment":
    """The tasks, as if the first alternative of each was chosen; `levels`: of attributes whose
    levels are known."""
    import pandas as pd

    from thali._data.experiments import ChoiceExperiment

    if isinstance(design, ChoiceExperiment):
        return design
    if not isinstance(design, pd.DataFrame) or TASK not in design or ALTERNATIVE not in design:
        raise ArgumentError(
            Argument("design"),
            f" must be a table with the columns {TASK!r} and {ALTERNATIVE!r}, as returned by"
            f" designs.choice, or a ChoiceExperiment; got {type(design).__name__}.",
        )
    frame = design if VERSION in design else design.assign(**{VERSION: 1})
    attributes = [name for name in frame if name not in (VERSION, TASK, ALTERNATIVE, HELD_OUT)]
    if HELD_OUT in frame:
        frame = _without_held_out(frame, attributes)
    first = ~frame.duplicated([VERSION, TASK])
    none = NONE if NONE in set(map(str, frame[ALTERNATIVE])) else None
    chosen = frame.assign(first=first.astype(int))
    return ChoiceExperiment.from_frame(
        chosen, VERSION, TASK, ALTERNATIVE, "first", attributes, levels, none
    )


def _without_held_out(frame: "pandas.DataFrame", attributes: list[Any]) -> "pandas.DataFrame":
    """The other tasks, without the levels that were shown in those alone."""
    import pandas as pd

    is_held = frame[HELD_OUT].astype(bool)
    found: Any = frame[~is_held].copy()
    for name in attributes:
        if isinstance(found[name].dtype, pd.CategoricalDtype):
            alone = set(frame.loc[is_held, name].dropna()) - set(found[name].dropna())
            found[name] = found[name].cat.remove_categories(list(alone))
    return found


def _utilities(data: "ChoiceExperiment", utilities: list[np.ndarray]) -> np.ndarray:
    """The expected utility of every product."""
    scheme = data.scheme
    codes = data.products[:, scheme.has_inside :]
    found = np.zeros(len(codes))
    for i in range(codes.shape[1]):
        found += np.where(codes[:, i] >= 0, utilities[i][codes[:, i]], 0.0)
    if scheme.none:
        found[(codes < 0).all(axis=1)] = utilities[-1][0]
    return found


def _by_size(
    data: "ChoiceExperiment", matrix: np.ndarray, utility: np.ndarray, size: int
) -> np.ndarray:
    """The information of every task with so many alternatives."""
    first = data.first_row[:-1][np.diff(data.first_row) == size]
    rows = first[:, None] + np.arange(size)
    # one more column, whose coefficient is 1, holds the utilities
    extended = np.concatenate([matrix[rows], utility[rows][..., None]], axis=-1)
    one = np.append(np.zeros(matrix.shape[1]), 1.0)
    return information(extended, one)[:, :-1, :-1]


def _efficiency(
    data: "ChoiceExperiment",
    matrix: np.ndarray,
    utility: np.ndarray,
    names: Any,
    levels: Any,
    complete: bool,
) -> float:
    """The D-efficiency where all utilities are 0."""
    sizes = [len(own) for own in levels]
    has_none = bool(data.scheme.none)
    wanted = sum(sizes) - len(sizes) + data.scheme.has_inside
    if not complete:
        return 0.0
    if matrix.shape[1] != wanted:  # products lack attributes
        return float("nan")
    shown = np.diff(data.first_row)
    by_size = [
        _by_size(data, matrix, 0.0 * utility, size).sum(axis=0)
        for size in np.unique(shown).tolist()
    ]
    total = np.sum(by_size, axis=0)
    if not np.isfinite(variances(total)).all():
        return 0.0
    log_det = np.linalg.slogdet(total / data.n_tasks)[1]
    return float(np.exp((log_det - log_bound(sizes, shown - has_none, has_none)) / matrix.shape[1]))


def _coefficients(
    coding: Any,
    utilities: list[np.ndarray],
    has_none: bool,
    variances: np.ndarray,
    number: int,
    target: float,
) -> "pandas.DataFrame":
    """Expected utilities, standard errors, and people needed."""
    import pandas as pd

    from .choice import coefficients

    expected = coefficients(utilities, has_none)
    expected = np.append(
        expected, np.zeros(max(0, len(coding.names) - len(expected)) if coding.crossed else 0)
    )
    with np.errstate(invalid="ignore"):
        needed = np.ceil(variances / target**2 * (1.0 - 1e-12))
    index = pd.Index(coding.names, name="coefficient")
    same = len(expected) == len(index)
    frame = {
        "utility": expected if same else np.nan,
        "std_error": np.sqrt(variances / number),
        "respondents": pd.Series(needed, index).astype("Int64")
        if np.isfinite(needed).all()
        else needed,
    }
    return pd.DataFrame(frame, index)


def _note(table: "pandas.DataFrame", number: int, target: float) -> str:
    lost = [str(name) for name in table.index[~np.isfinite(table["std_error"].to_numpy(float))]]
    if lost:
        return f"The design does not identify {', '.join(lost)}; add tasks or versions."
    most = max(table["respondents"].tolist())
    return (
        f"Standard errors are for a multinomial logit with {plural(number, 'respondent')};"
        f" {most:,} are needed for standard errors <= {target:g}."
    )


def _balance(data: "ChoiceExperiment", names: Any, levels: Any) -> "pandas.DataFrame":
    import pandas as pd

    rows = []
    codes = _shown(data)
    version = np.repeat(data.respondent_of_task, np.diff(data.first_row))
    for i, (name, own) in enumerate(zip(names, levels, strict=True)):
        times = np.zeros((data.n_respondents, len(own)), np.int64)
        shown = codes[:, i] >= 0
        np.add.at(times, (version[shown], codes[shown, i]), 1)
        for level, each in zip(own, times.T, strict=True):
            rows.append(
                (
                    name,
                    level,
                    int(each.sum()),
                    each.sum() / shown.sum(),
                    int(each.min()),
                    int(each.max()),
                )
            )
    return pd.DataFrame(rows, columns=["attribute", "level", "times", "share", "least", "most"])


def _overlap(data: "ChoiceExperiment", names: Any, levels: Any) -> "pandas.DataFrame":
    import pandas as pd

    codes = _shown(data)
    task = np.repeat(np.arange(data.n_tasks), np.diff(data.first_row))
    rows = []
    for i, (name, own) in enumerate(zip(names, levels, strict=True)):
        shown = codes[:, i] >= 0
        counts = np.zeros((data.n_tasks, len(own)))
        np.add.at(counts, (task[shown], codes[shown, i]), 1.0)
        sizes = counts.sum(axis=1)
        even, more = np.divmod(sizes, len(own))
        pairs = (sizes * (sizes - 1) / 2).sum()
        same = (counts * (counts - 1) / 2).sum()
        least = ((len(own) - more) * even * (even - 1) / 2 + more * (even + 1) * even / 2).sum()
        rows.append((name, same / pairs if pairs else np.nan, least / pairs if pairs else np.nan))
    return pd.DataFrame(rows, columns=["attribute", "overlap", "least"])
