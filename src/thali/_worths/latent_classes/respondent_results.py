"""Results about respondents in latent classes: members, sizes, models of one class."""

from typing import Any

import numpy as np
import pandas as pd

from thali._argument_checks import check_integer
from thali._exportable_table import Table
from thali._inference.numerics.weight_shares import compute_shares
from thali._people.respondent_results import RespondentResults
from thali._people.respondent_segments import share_by_class
from thali._posterior.posterior_interval import INTERVAL, compute_interval, interval_tails
from thali._posterior.posterior_tree import Posterior
from thali.errors import ArgumentError

from .class_alignment import compute_rand_index, compute_same_class_probabilities


class WorthClasses(RespondentResults):
    """Results about respondents in latent classes with separate worths.

    `BradleyTerryLuce.respondents`, after a fit with ``people=LatentClasses()``.
    """

    def same_class(self) -> pd.DataFrame:
        """Return P(two respondents are in the same class), as a square table.

        It does not depend on the numbering of the classes.

        Returns
        -------
        pandas.DataFrame
            Respondents by respondents, 1 on the diagonal.
        """
        posterior = self._model._view
        respondent_index = pd.Index(posterior.respondents, name="respondent")
        return Table(
            compute_same_class_probabilities(posterior.members, posterior.max_classes),
            index=respondent_index,
            columns=respondent_index.rename("other"),
        )

    def classes(self, ci: float = INTERVAL) -> pd.DataFrame:
        r"""Return a table of class sizes, in the sample and in the population.

        .. math:: \pi \mid z \sim \text{Dirichlet}(1 + n_1, \dots, 1 + n_G), \qquad
            n_g \text{ respondents of the sample being in class } g

        The numbering of classes within a draw is arbitrary. The classes of every draw are
        therefore assigned to common classes so that the memberships of all respondents agree best;
        common classes are ordered by size, also in `membership` and `of_class`.

        Parameters
        ----------
        ci : float in (0, 1)
            Probability of the intervals.

        Returns
        -------
        pandas.DataFrame
            One row per class, numbered from 1: sample_share, the posterior mean of the share of
            respondents in the class, with the interval sample_share_low to sample_share_high;
            population_share, population_share_low and population_share_high, the same for its
            share π of the population; occupied, the probability that the class has any respondent;
            and respondents, the names of the respondents most probably in it.
            ``attrs["n_classes"]`` has the probability of each number of occupied classes.

        References
        ----------
        Stephens (2000), Dealing with label switching in mixture models.
        """
        posterior = self._model._view
        members = align_members(posterior)
        n_classes = posterior.max_classes
        respondent_names = np.array(posterior.respondents)
        class_of_respondent = membership_probabilities(posterior).argmax(axis=1)
        rows = []
        for g in range(n_classes):
            n_members = (members == g).sum(axis=1)
            shares = n_members / len(respondent_names)
            low, high = compute_interval(shares, ci)
            mean_share = shares.mean()
            rows.append(
                (
                    mean_share,
                    # a share of few respondents has few values, and its mean may be beyond them
                    min(low, mean_share),
                    max(high, mean_share),
                    *_estimate_population_share(n_members, len(respondent_names), n_classes, ci),
                    np.mean(n_members > 0),
                    tuple(respondent_names[class_of_respondent == g].tolist()),
                )
            )
        statistic_names = "share", "share_low", "share_high"
        columns = [
            f"{scope}_{name}" for scope in ("sample", "population") for name in statistic_names
        ]
        table = Table(
            rows,
            pd.RangeIndex(1, n_classes + 1, name="latent_class"),
            [*columns, "occupied", "respondents"],
        )
        probabilities = {
            n: float(np.mean(posterior.n_classes == n)) for n in range(1, n_classes + 1)
        }
        table.attrs |= {"interval": ci, "n_classes": probabilities}
        return table

    def membership(self) -> pd.DataFrame:
        """Return a table of each respondent's most probable class.

        Returns
        -------
        pandas.DataFrame
            One row per respondent: latent_class, its probability, and the probability of each
            class, ``P(1)``, ``P(2)``, ..., numbered as in `classes`.
        """
        posterior = self._model._view
        probabilities = membership_probabilities(posterior)
        columns = {
            "latent_class": probabilities.argmax(axis=1) + 1,
            "probability": probabilities.max(axis=1),
        }
        columns |= {f"P({g + 1})": probabilities[:, g] for g in range(probabilities.shape[1])}
        return Table(columns, index=pd.Index(posterior.respondents, name="respondent"))

    def of_class(self, number: int) -> Any:
        """Return the fitted model of class `number`, as of one population.

        Parameters
        ----------
        number : int
            Number of the class, from 1, as in `classes`.

        Returns
        -------
        model
            Its draws belong to the common class, so chains agree after the alignment of classes.
            Its data are the comparisons of respondents
            most probably in the class. It cannot continue drawing, and `check` covers all
            respondents only.

        Raises
        ------
        ArgumentError
            If there is no such class, or no respondent is most probably in it.
        """
        posterior = self._model._view
        number = check_integer("number", number, 1)
        n_classes = posterior.max_classes
        if number > n_classes:
            raise ArgumentError(
                f"There is no class {number}; classes are numbered from 1 to {n_classes}."
            )
        return self._model._part_of_class(number)


def align_members(posterior: Posterior) -> np.ndarray:
    """Return each respondent's aligned class, from 0, shape (draws, respondents)."""
    return np.take_along_axis(
        np.argsort(posterior.class_order, axis=1), posterior.members.astype(int), axis=1
    )


def membership_probabilities(posterior: Posterior) -> np.ndarray:
    """Return P(aligned class) of each respondent, shape (respondents, classes)."""
    return share_by_class(align_members(posterior), posterior.max_classes, axis=0)


def _estimate_population_share(
    n_members: np.ndarray, n_respondents: int, n_classes: int, ci: float
) -> tuple[float, float, float]:
    """Return mean and interval of a class's share of the population."""
    # The posterior is a mixture over draws of Beta(1 + n_g, G - 1 + N - n_g).
    from scipy.optimize import brentq
    from scipy.special import betainc, betaincinv

    if n_classes == 1:
        return 1.0, 1.0, 1.0
    distinct_counts, n_draws = np.unique(n_members, return_counts=True)
    weights = n_draws / n_draws.sum()
    a = 1.0 + distinct_counts
    b = n_classes - 1.0 + n_respondents - distinct_counts
    interval_ends = []
    for p in interval_tails(ci):
        component_quantiles = betaincinv(a, b, p)
        quantile = component_quantiles.min()
        largest_quantile = component_quantiles.max()
        if quantile < largest_quantile:
            quantile = brentq(
                lambda x, p=p: weights @ betainc(a, b, x) - p, quantile, largest_quantile
            )
        interval_ends.append(quantile)
    return weights @ (a / (a + b)), interval_ends[0], interval_ends[1]


def list_label_free_quantities(posterior: Posterior) -> dict[str, np.ndarray]:
    """Return draws of quantities that do not depend on class numbers, by name.

    For several classes these are `n_classes`, `class_share[1]`, ..., `class_agreement`.
    """
    n_classes = posterior.max_classes
    shape = posterior.shape
    quantities = {}
    if n_classes == 1:
        return quantities
    memberships = posterior.members
    sorted_shares = -np.sort(-share_by_class(memberships, n_classes, axis=1), axis=1)
    quantities["n_classes"] = posterior.n_classes
    for rank in range(n_classes):
        quantities[f"class_share[{rank + 1}]"] = sorted_shares[:, rank].reshape(shape)
    if memberships.shape[1] > 1:
        quantities["class_agreement"] = compute_rand_index(memberships, n_classes).reshape(shape)
    return quantities


def aligned_class_probabilities(posterior: Posterior) -> np.ndarray:
    """Return P(new respondent is in each aligned class), shape (draws, classes)."""
    memberships = posterior.members
    class_sizes = np.stack(
        [(memberships == g).sum(axis=1) for g in range(posterior.max_classes)], axis=1
    )
    return new_class_probabilities(np.take_along_axis(class_sizes, posterior.class_order, axis=1))


def new_class_probabilities(class_sizes: np.ndarray) -> np.ndarray:
    """Return P(new respondent is in each class) from class sizes (draws, classes)."""
    return compute_shares(class_sizes + 1.0)
