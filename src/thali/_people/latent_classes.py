"""Latent classes that are comparable between draws: who is in which, and their sizes."""

from typing import TYPE_CHECKING, Any

import numpy as np

from thali._arguments import check_integer
from thali._posterior.interval import INTERVAL, tails_of
from thali._posterior.view import Posterior
from thali.errors import ArgumentError, Setting

from .class_order import agreement, together
from .populations import LatentClasses

if TYPE_CHECKING:
    import pandas


class HasLatentClasses:
    """Results about respondents in latent classes, of a fit with `people=LatentClasses(...)`."""

    _model: Any

    def _posterior_of_classes(self, what: str) -> Posterior:
        """Return the posterior; an ArgumentError names what was asked for if the model has no
        classes."""
        posterior = self._model._view
        if not posterior.has_classes:
            raise ArgumentError(
                f"{what} requires a model with latent classes; refit with ",
                Setting("people", LatentClasses(2)),
                ".",
            )
        return posterior

    def same_class(self) -> "pandas.DataFrame":
        """Return the posterior probability that two respondents are in the same class.

        It does not depend on how the classes are numbered.

        Returns
        -------
        pandas.DataFrame
            People by people, 1 on the diagonal.

        Raises
        ------
        ArgumentError
            If the model has no `LatentClasses`.
        """
        import pandas as pd

        from thali._tables import Table

        posterior = self._posterior_of_classes("same_class")
        people = pd.Index(posterior.respondents, name="respondent")
        return Table(
            together(posterior.members, posterior.most_classes),
            index=people,
            columns=people.rename("other"),
        )

    def classes(self, ci: float = INTERVAL) -> "pandas.DataFrame":
        r"""Return the size of each class, in the sample and in the population.

        .. math:: \pi \mid z \sim \text{Dirichlet}(1 + n_1, \dots, 1 + n_G), \qquad
            n_g \text{ respondents of the sample being in class } g

        The numbers of classes mean nothing within a draw, and are made comparable: the classes of
        every draw are assigned to common ones so that the memberships of all people agree best, and
        these are ordered by size. So are they in `membership` and `of_class`.

        Parameters
        ----------
        ci : float in (0, 1)
            Probability of the intervals.

        Returns
        -------
        pandas.DataFrame
            One row a class, numbered from 1: sample_share, the posterior mean of the share of those
            who answered who are of it, with sample_share_low and sample_share_high (their
            interval); population_share, population_share_low and population_share_high, those of
            its share π of the population that they are a sample of; occupied, the probability that
            anybody of the sample is of it, and respondents, the names of those who most probably
            are. ``attrs["n_classes"]`` has the probability of each number of occupied classes.

        Raises
        ------
        ArgumentError
            If the model has no `LatentClasses`.

        References
        ----------
        Stephens (2000), Dealing with label switching in mixture models.
        """
        import pandas as pd

        from thali._tables import Table

        posterior = self._posterior_of_classes("classes")
        of, number, people = (
            aligned_members(posterior),
            posterior.most_classes,
            np.array(posterior.respondents),
        )
        likely = memberships(posterior).argmax(axis=1)
        rows = []
        for g in range(number):
            count = (of == g).sum(axis=1)
            share = count / len(people)
            sample = share.mean(), *np.quantile(share, tails_of(ci))
            population = _population_share(count, len(people), number, ci)
            respondents = tuple(people[likely == g].tolist())
            rows.append((*sample, *population, np.mean(count > 0), respondents))
        ends = "share", "share_low", "share_high"
        columns = [f"{whose}_{name}" for whose in ("sample", "population") for name in ends]
        table = Table(
            rows,
            pd.RangeIndex(1, number + 1, name="latent_class"),
            [*columns, "occupied", "respondents"],
        )
        occupied = posterior.n_classes.ravel()
        table.attrs["interval"] = ci
        table.attrs["n_classes"] = {
            count: float(np.mean(occupied == count)) for count in range(1, number + 1)
        }
        return table

    def membership(self) -> "pandas.DataFrame":
        """Return the most probable class of each respondent.

        Returns
        -------
        pandas.DataFrame
            One row a respondent: class, its probability, and that of each class, ``P(1)``,
            ``P(2)``, ...; the classes are those of `classes`.

        Raises
        ------
        ArgumentError
            If the model has no `LatentClasses`.
        """
        import pandas as pd

        from thali._tables import Table

        posterior = self._posterior_of_classes("membership")
        p = memberships(posterior)
        likely = p.argmax(axis=1)
        columns = {"latent_class": likely + 1, "probability": p.max(axis=1)}
        columns |= {f"P({g + 1})": p[:, g] for g in range(p.shape[1])}
        return Table(columns, index=pd.Index(posterior.respondents, name="respondent"))

    def of_class(self, number: int) -> Any:
        """Return the fitted model of one class, with the results of a model of one population.

        Parameters
        ----------
        number : int
            Of the class, from 1, as in `classes`.

        Returns
        -------
        model
            Its draws are those of the common class, so their agreement between chains is that after
            numbers were made comparable. Weights are shares of the class's total. Observed are the
            comparisons of those who are most probably of it. It cannot go on drawing, and `check`
            is of all people alone.

        Raises
        ------
        ArgumentError
            If the model has no `LatentClasses`, or not so many; of worths also if no respondent is
            most probably in the class.
        """
        posterior = self._posterior_of_classes("of_class")
        number, most = check_integer("number", number, 1), posterior.most_classes
        if number > most:
            raise ArgumentError(
                f"There is no class {number}; classes are numbered from 1 to {most}."
            )
        return self._model._part_of_class(number)


def aligned_members(posterior: Posterior) -> np.ndarray:
    """Return the common class of each respondent, from 0 (draw, respondent)."""
    return np.take_along_axis(
        np.argsort(posterior.class_order, axis=1), posterior.members.astype(int), axis=1
    )


def memberships(posterior: Posterior) -> np.ndarray:
    """Return the probability that each respondent is in each common class (respondent, class)."""
    of = aligned_members(posterior)
    return np.stack([(of == g).mean(axis=0) for g in range(posterior.most_classes)], axis=1)


def _population_share(
    count: np.ndarray, n_people: int, n_classes: int, ci: float
) -> tuple[float, float, float]:
    """Return mean and interval of the share of the population: a mixture over draws of Beta(1 +
    n_g, G - 1 + N - n_g)."""
    from scipy.optimize import brentq
    from scipy.special import betainc, betaincinv

    if n_classes == 1:
        return 1.0, 1.0, 1.0
    n, times = np.unique(count, return_counts=True)
    weight, a, b = times / times.sum(), 1.0 + n, n_classes - 1.0 + n_people - n
    ends_of_interval = []
    for p in tails_of(ci):
        ends = betaincinv(a, b, p)
        low, high = ends.min(), ends.max()
        if low < high:
            low = brentq(lambda x, p=p: weight @ betainc(a, b, x) - p, low, high)
        ends_of_interval.append(low)
    return weight @ (a / (a + b)), ends_of_interval[0], ends_of_interval[1]


def label_free_quantities(posterior: Posterior) -> dict[str, np.ndarray]:
    """Return `kappa`, and of several classes `n_classes`, `class_share[1]`, ...,
    `class_agreement`: quantities that do not depend on labels."""
    number, shape = posterior.most_classes, posterior.shape
    found = {} if posterior.kappa is None else {"kappa": posterior.kappa}
    if number == 1:
        return found
    of = posterior.members
    sizes = -np.sort(-np.stack([(of == g).mean(axis=1) for g in range(number)], axis=1), axis=1)
    found["n_classes"] = posterior.n_classes
    found |= {f"class_share[{rank + 1}]": sizes[:, rank].reshape(shape) for rank in range(number)}
    return found | (
        {"class_agreement": agreement(of, number).reshape(shape)} if of.shape[1] > 1 else {}
    )


def aligned_shares(posterior: Posterior) -> np.ndarray:
    """Return the probability that a new respondent is in each common class (draw, class)."""
    of, number = posterior.members, posterior.most_classes
    sizes = np.stack([(of == g).sum(axis=1) for g in range(number)], axis=1)
    return shares_of_new(np.take_along_axis(sizes, posterior.class_order, axis=1))


def shares_of_new(sizes: np.ndarray) -> np.ndarray:
    """Return the probability that a new respondent is in each class, from sizes (draw, class)."""
    return (sizes + 1.0) / (sizes + 1.0).sum(axis=1, keepdims=True)
