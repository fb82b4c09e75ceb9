"""Elimination by aspects with aspects that are learned or given."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from thali.errors import ArgumentError
from thali.likelihoods.elimination import Elimination
from thali.models.arguments import one_of
from thali.models.engine import as_prior
from thali.models.latent_feature_model import LatentFeatureModel
from thali.priors.finite import FiniteFeatures
from thali.priors.given import Given
from thali.priors.ibp import IndianBuffet
from thali.tree import Tree

if TYPE_CHECKING:
    import pandas


class EliminationByAspects(LatentFeatureModel):
    r"""Infer the aspects behind choices between pairs of options.

    Option i is chosen over option j with probability

    .. math::
        \tilde p_{ij} = (1 - \varepsilon) \frac{A_{ij}}{A_{ij} + A_{ji}} + \frac{\varepsilon}{2}, \qquad
        A_{ij} = u_i + \sum_k w_k f_{ik} (1 - f_{jk})

    where f says who owns which aspect, w are the aspects' weights and u those of the unique aspects. All weights are
    Gamma(1, 1) a priori; only their ratios matter for choice.

    Parameters
    ----------
    aspects : "ibp", "unique", int, Tree, matrix or mapping
        "ibp": any number of aspects, with the Indian buffet process as prior. "unique": none but the unique ones, the
        Bradley-Terry-Luce model. A number K: K aspects whose owners are learned. A `Tree`: any number, which options
        that it says are related share more readily (the phylogenetic Indian buffet process). A matrix of 0 and 1
        (options by aspects) or a mapping from each label to its list of aspects: known aspects whose weights are
        learned.
    unique : bool
        Whether every option also has one fixed aspect of its own.
    lapse : float in [0, 1)
        Probability epsilon of choosing at random.
    alpha : float above 0, optional
        Concentration of the prior over aspects; None learns it under a Gamma(1, 1) prior.
    method : {"mcmc"}
    sampler : {None, "recommended", "paper"}
        "paper" is the published Algorithm 1, or with a tree the sampler of Miller, Griffiths & Jordan (2008, section
        3), with a valid scan, for reproduction only: its truncation of new features
        biases their number downwards.

    Attributes
    ----------
    posterior_ : xarray.DataTree
        After `fit`: the draws in the ArviZ schema.
    interrupted_ : bool
        Whether Ctrl-C ended the fit early.

    References
    ----------
    Tversky (1972); Görür, Jäkel & Rasmussen (2006), eq. 1, 2, 4 and 5.

    Examples
    --------
    >>> import thali as th
    >>> model = th.EliminationByAspects(aspects="unique")
    >>> model = model.fit(th.datasets.celebrities(), draws=200, tune=200, random_seed=1, progressbar=False)
    >>> bool(0.6 < model.predict_proba([("LBJ", "HW")])[0] < 0.7)
    True
    """

    def __init__(self, aspects: Any = "ibp", unique=True, lapse=0.01, alpha=None, method="mcmc", sampler=None):
        self.aspects = aspects
        self.unique = unique
        self.lapse = lapse
        self.alpha = alpha
        self.method = method
        self.sampler = sampler

    def _parts(self, data) -> dict:
        one_of("method", self.method, ("mcmc",))
        one_of("unique", self.unique, (True, False))
        prior = _prior(self.aspects, data.labels)
        likelihood = Elimination(self.lapse, unique=bool(self.unique))
        return {
            "prior": prior,
            "likelihood": likelihood,
            "weight_prior": (1.0, 1.0),
            "alpha": self.alpha,
            "sampler": self.sampler,
        }

    def _tree(self) -> Tree | None:
        return self.aspects if isinstance(self.aspects, Tree) else None

    def features(self, min_probability: float = 0.05) -> "pandas.DataFrame":
        """The aspects with their members, posterior probability (of at least one copy) and weight.

        Parameters
        ----------
        min_probability : float in [0, 1]
            Aspects less probable than this are left out.

        Returns
        -------
        pandas.DataFrame
            As `LatentFeatureModel.features`; aspects that were given by name have a first column `aspect`.

        Raises
        ------
        NotFittedError
            Before `fit`.
        """
        table = super().features(min_probability)
        if names := _names(self.aspects, self._fitted()["posterior"].dataset["option"].values):
            table.insert(0, "aspect", [names[frozenset(members)] for members in table["members"]])
        return table


def _names(aspects, labels) -> dict[frozenset, str]:
    """The names of aspects that were given with names, by their owners."""
    owners: dict[str, set[str]] = {}
    if isinstance(aspects, Mapping):
        for label, owned in aspects.items():
            for aspect in _listed(owned):
                owners.setdefault(str(aspect), set()).add(str(label))
    elif hasattr(aspects, "reindex"):
        owners = {str(a): {str(label) for label in aspects.index[aspects[a].astype(bool)]} for a in aspects.columns}
    names: dict[frozenset, str] = {}
    for aspect, members in owners.items():
        together = frozenset(members & set(labels))
        names[together] = f"{names[together]}, {aspect}" if together in names else aspect
    return names


def _prior(aspects, labels: tuple[str, ...]):
    if isinstance(aspects, str):
        one_of("aspects", aspects, ("ibp", "unique"))
        return IndianBuffet() if aspects == "ibp" else Given(np.zeros((len(labels), 0)))
    if isinstance(aspects, bool):
        raise ArgumentError(
            f"aspects must be 'ibp', 'unique', a number, a Tree, a 0/1 matrix or a mapping; got {aspects!r}."
        )
    if isinstance(aspects, Tree):
        return as_prior(aspects)
    if isinstance(aspects, int | float | np.number):
        return FiniteFeatures(cast(int, aspects))  # which checks that it is whole
    if isinstance(aspects, Mapping):
        return Given(_matrix_of_mapping(aspects, labels))
    if hasattr(aspects, "reindex"):  # a data frame: rows are found by their label
        if not aspects.index.map(str).is_unique:
            double = aspects.index[aspects.index.map(str).duplicated()][0]
            raise ArgumentError(f"The aspect table has more than one row for {double!r}; give one row for each option.")
        missing = [label for label in labels if label not in set(map(str, aspects.index))]
        if missing:
            raise ArgumentError(
                f"The aspect table has no row for {missing[0]!r}; its rows are {list(aspects.index)[:10]}."
            )
        aspects = aspects.rename(index=str).reindex(list(labels)).to_numpy()
    return Given(aspects)


def _listed(owned) -> list:
    """The aspects of an option; those of a set in an order that does not change from process to process."""
    if isinstance(owned, str):
        return [owned]
    return sorted(owned, key=str) if isinstance(owned, set | frozenset) else list(owned)


def _matrix_of_mapping(aspects: Mapping, labels: tuple[str, ...]) -> np.ndarray:
    named = {str(label): _listed(owned) for label, owned in aspects.items()}
    for label in named:
        if label not in labels:
            raise ArgumentError(
                f"aspects names the option {label!r}, which is not in the data; options are {', '.join(labels[:10])}."
            )
    for label in labels:
        if label not in named:
            raise ArgumentError(
                f"aspects says nothing about the option {label!r}; give it an empty list if it has none."
            )
    columns = list(dict.fromkeys(aspect for label in labels for aspect in named[label]))
    return np.array([[column in named[label] for column in columns] for label in labels], bool).reshape(len(labels), -1)
