"""`NonnegativeDimensions`, the model that users fit, and its results."""

import math
import os
from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from thali._argument_checks import check_integer, check_positive, check_share
from thali._data.kinds import SIMILARITIES, TRIPLETS
from thali._data.questions import draw_answers, slice_sets
from thali._inference.markov_chains import Run
from thali._inference.random_seeds import RandomSeed, spawn_generators
from thali._inference.user_warnings import warn
from thali._labels import check_labels, format_plural
from thali._model.chain_runs import ChainFit
from thali._model.data_argument_check import check_data
from thali._model.default_models import MIN_ANSWERS_PER_OBJECT, has_few_answers
from thali._model.fitting_methods import ChainEngine, Engine, Forecast, PreparedFit
from thali._model.labelled_pair_sets import predict_pair_sets
from thali._model.markov_chain_model import MarkovChainModel
from thali._model.method_requirements import mark_as_setup, requires
from thali._model.pair_quantities import pair_quantities_by_name
from thali._model.predicted_answers import EqualRespondents, check_answers, check_unweighted
from thali._model.predictive_check import select_draws
from thali._model.similarity_check import check_similarities
from thali._model.simulated_data import select_observed
from thali._number_format import format_percent
from thali._posterior.convergence_check import ConvergenceCheck
from thali._posterior.posterior_interval import INTERVAL
from thali.errors import (
    Argument,
    ArgumentError,
    DataError,
    EstimateWarning,
    Message,
    Setting,
)

from .chain import CLIMB_SHARE, DimensionChain, DimensionProblem, build_problem
from .posterior import (
    DimensionPosterior,
    build_embedding_tree,
    build_posterior_tree,
    compute_similarity_matrices,
    store_data,
    tabulate_dimensions,
    tabulate_top_objects,
)

if TYPE_CHECKING:
    import pandas
    import xarray

    from thali._data.pairs.data_subsets import HeldOutPair
    from thali._data.similarities import Similarities
    from thali._data.triplets import Triplets

LAPSE = 0.01
MAX_SHARE_BETWEEN = 0.1  # of the variance of similarities, at which restarts agree
MORE_CHAINS = Setting("chains", 4)
MAX_DIMENSIONS, MIN_DIMENSIONS = 70, 5  # at the start, if `dimensions` is not given
OBJECTS_PER_DIMENSION = 3
MAX_DRAWS, MIN_DRAWS, MAX_THIN = 250, 20, 2  # of a restart
MAX_CLIMBS, MIN_CLIMBS = 60, 24  # sweeps of a climb
CLIMB_BATCHES = 12_000  # batches of a climb that suffice
BUDGET = 60.0  # CPU seconds of the draws of a restart, on the machine of `benchmarks/`
PAIR_SECONDS, UPDATE_SECONDS = 0.8e-9, 7e-9  # per dimension: of a pair, of an object and batch


class RestartFit(ChainFit[DimensionChain]):
    """Fit by restarts, each of which climbs and then draws."""

    model: "NonnegativeDimensions"

    def prepare(self, run: Run) -> None:
        """Read the data as kernels do, and forecast the CPU time."""
        assert run.thin is not None  # `fit` chooses it by the size of the data
        self.problem: DimensionProblem = self.inputs
        self.thin = run.thin
        n_passes = run.chains * self.thin * (run.tune + run.requested_or_first_draws)
        seconds = n_passes * estimate_pass_seconds(self.problem)
        self.run = run
        self.forecast = Forecast(seconds, seconds)

    def build_chains(self, draws: int, seed: np.random.SeedSequence) -> list[DimensionChain]:
        """Return the restarts, each with its random stream."""
        return [
            DimensionChain(self.problem, rng, draws, self.run.tune, self.thin)
            for rng in spawn_generators(seed, self.run.chains)
        ]

    def build_tree(self, chains: Sequence[DimensionChain]) -> "xarray.DataTree":
        """Return the posterior tree of the restarts."""
        return build_posterior_tree(chains, self.source, self.problem)


class DimensionEngine(ChainEngine):
    """Restarts, each of which climbs and then draws."""

    has_prior = False


class NonnegativeDimensions(MarkovChainModel):
    r"""Infer sparse non-negative dimensions of hundreds to thousands of objects.

    The similarity of objects i and j is the sum of the products of their values,

    .. math:: s_{ij} = \sum_q x_{iq} x_{jq}, \qquad x_{iq} \sim \text{Exponential}(\lambda_q)

    For `Triplets` the pair ij of a set S is called the most similar with probability

    .. math:: P(ij \mid S) = (1 - \varepsilon) \frac{e^{s_{ij}}}{\sum_{ab \in S} e^{s_{ab}}}
        + \frac{\varepsilon}{|S|}

    `Similarities` are :math:`\text{Normal}(w_0 + s_{ij}, \sigma^2 / n_{ij})`, where n_ij is the
    number of judgements. Each of several restarts climbs from random dimensions to a maximum, by
    stochastic gradients, removes dimensions that no object has, and then draws from the posterior
    around it by Langevin dynamics with momentum. Predictions are averages over all draws.

    Parameters
    ----------
    dimensions : int, optional
        Number of dimensions at the start; surplus dimensions are removed. None: a third of the
        number of objects, at least 5 and at most 70.
    penalty : float above 0, optional
        Rate lambda of the exponential prior of all values. None: the rate of each dimension is
        learned with it, under a vague Gamma prior.
    lapse : float in [0, 1)
        For triplets, the probability epsilon of naming a pair at random.

    Attributes
    ----------
    posterior_ : xarray.DataTree
        After `fit`: the draws in the ArviZ schema. Each restart is a chain; the group
        "latent_features" contains `coordinates`, the values of objects on dimensions.

    References
    ----------
    Zheng, Pereira, Baker & Hebart (2019); Hebart et al. (2020), for triplets and for
    reproducibility; Muttenthaler et al. (2022), for uncertainty; Chen, Fox & Guestrin (2014), for
    the dynamics.

    Examples
    --------
    >>> import thali as th
    >>> triplets = [("tea", "coffee", "brick"), ("tea", "coffee", "stone")] * 20
    >>> triplets += [("brick", "stone", "tea"), ("brick", "stone", "coffee")] * 20
    >>> model = th.NonnegativeDimensions(dimensions=2)
    >>> model = model.fit(th.Triplets(triplets), random_seed=1, progressbar=False)
    >>> bool(model.predict_proba([("tea", "coffee", "brick")])[0][0] > 0.7)
    True
    """

    _ENGINES: ClassVar[Mapping[str, Engine]] = {"": DimensionEngine()}
    _VIEW = DimensionPosterior
    _FINDINGS: ClassVar[str] = "thali._dimensions.findings"

    def __init__(
        self, dimensions: int | None = None, penalty: float | None = None, lapse: float = LAPSE
    ) -> None:
        # the method `dimensions` has the name of this argument
        self._dimensions = dimensions
        self.penalty = penalty
        self.lapse = lapse

    _ATTRIBUTE_OF_ARGUMENT = {"dimensions": "_dimensions"}

    def fit(
        self,
        data: Any,
        draws: int | None = None,
        tune: int | None = None,
        chains: int = 4,
        thin: int | None = None,
        cores: int | None = None,
        random_seed: RandomSeed = None,
        progressbar: bool = True,
        job: str | os.PathLike[str] | None = None,
        max_time: float | None = None,
    ) -> Self:
        """Fit to triplets or similarities.

        Parameters
        ----------
        data : Triplets or Similarities
            A plain matrix is read as `Similarities`.
        draws : int, optional
            States kept of each restart. None: 250, or as many as take 60 CPU seconds, at least 20.
        tune : int, optional
            States of each restart before that: three fifths for the climb, the rest for the
            dynamics to settle. None: enough for a climb of 24 to 60 passes over the answers.
        chains : int
            Restarts, each a chain from different random dimensions.
        thin : int, optional
            Passes over the answers for each state. None: 2, or 1 if a pass is slow.
        cores : int, optional
            Threads; None means one a chain, as far as there are processors. Has no influence on the
            draws.
        random_seed : int, numpy.random.SeedSequence or numpy.random.Generator, optional
            The same seed gives the same draws; None takes a fresh one.
        progressbar : bool
            Whether to show how far the run is.
        job : str or path, optional
            A folder that holds the draws and the state of the chains while they run. The same fit
            goes on from it after the process was killed, and gives the draws of an unbroken run;
            with more `draws` it goes on further.
        max_time : float, optional
            Seconds after which the run stops and keeps what was drawn. If half of them pass in
            tuning, the chains start again with less of it, and a warning says so.

        Returns
        -------
        NonnegativeDimensions

        Raises
        ------
        DataError
            If the data are neither triplets nor similarities.
        ArgumentError
            If an argument is outside its range.

        Warns
        -----
        ConvergenceWarning
            If the restarts do not agree about similarities.
        InterruptedWarning
            If Ctrl-C or `max_time` ended the run; the draws so far are kept.
        """
        data = self._check_fit(data)
        problem = self._build_problem(data)
        draws, tune, thin = choose_lengths(problem, draws, tune, thin)
        run = Run(
            draws=draws,
            tune=tune,
            chains=chains,
            thin=thin,
            cores=cores,
            random_seed=random_seed,
            progressbar=progressbar,
            job=job,
            max_time=max_time,
        ).check()
        data.warn_if_unusual()
        if data.kind == TRIPLETS and has_few_answers(data):
            warn(
                EstimateWarning(
                    f"{format_plural(data.n_answers, 'answer')} about {data.n_options:,} objects"
                    " are too few for reliable dimensions, which require about"
                    f" {MIN_ANSWERS_PER_OBJECT} answers per object. With few answers,"
                    " AdditiveClustering predicts better."
                )
            )
        return self._run_job(self._build_fit(data, run).build_job(str(data)))

    def _check_fit(self, data: Any) -> Any:
        """Check data and arguments; return the data."""
        data = check_data(data, matrix_kind=SIMILARITIES)
        if data.kind not in (SIMILARITIES, TRIPLETS):
            raise DataError(
                f"NonnegativeDimensions requires {TRIPLETS} or {SIMILARITIES}; got"
                f" {type(data).__name__}. For choices, use a choice model."
            )
        check_share("lapse", self.lapse, "the probability of a random answer")
        if self.penalty is not None:
            check_positive("penalty", self.penalty, "the rate of the prior")
        if self._dimensions is not None:
            check_integer("dimensions", self._dimensions, 1)
        return data

    def _build_problem(self, data: Any) -> DimensionProblem:
        """Return checked data and the dimensions at the start as the kernels read them."""
        n_dimensions = self._dimensions
        if n_dimensions is None:
            n_dimensions = data.n_options // OBJECTS_PER_DIMENSION
            n_dimensions = int(np.clip(n_dimensions, MIN_DIMENSIONS, MAX_DIMENSIONS))
        return build_problem(data, int(n_dimensions), self.lapse, self.penalty)

    def _build_fit(self, source: Any, run: Run) -> RestartFit:
        """Return the fit of checked data, ready to run."""
        return RestartFit(self, source, run, self._build_problem(source))

    @mark_as_setup
    def prepare(self, data: Any, **settings: Any) -> PreparedFit:
        """Check the arguments of a fit without running it; return the prepared fit."""
        self._check_fit(data)
        return PreparedFit(self.lapse)

    def _check_convergence(self) -> ConvergenceCheck:
        """Return whether restarts differ little about similarities, compared with the draws."""
        posterior = self._view
        n_chains, n_draws = posterior.shape
        facts: dict[str, Any] = {"chains": n_chains, "draws": n_draws}
        if n_chains == 1:
            message = Message("One restart cannot be compared with others; use ", MORE_CHAINS, ".")
            return ConvergenceCheck(False, facts, message)
        share = posterior.compute_share_between()
        agrees = share <= MAX_SHARE_BETWEEN
        facts |= {"share_between": share}
        size = (
            f"{format_percent(share, 1)} of the posterior variance of similarities is between"
            f" restarts (target: at most {format_percent(MAX_SHARE_BETWEEN)})"
        )
        if agrees:
            return ConvergenceCheck(True, facts, Message(f"The {n_chains} restarts agree: {size}."))
        return ConvergenceCheck(
            False,
            facts,
            Message(
                f"The {n_chains} restarts differ: {size}. Intervals include these differences. To"
                " reduce the differences, refit with ",
                Setting("draws", 4 * n_draws),
                f" (now {n_draws}) and ",
                Argument("tune"),
                " increased in proportion.",
            ),
        )

    def _get_fitted_labels(self) -> list[str]:
        """Return the object labels that data of a comparison must share."""
        return self._view.labels

    def _get_quantities(self) -> dict[str, np.ndarray]:
        """Return draws of the summary rows by name."""
        return {str(name): array.values for name, array in self._view.draws.data_vars.items()}

    def _get_further_checked_quantities(self) -> dict[str, np.ndarray]:
        """Return draws of the similarity of evenly spaced pairs, by row name."""
        return pair_quantities_by_name(
            self._view, "similarity", partial(self._view.fit_similarities, slice(None))
        )

    def _predict_left_out(self, part: "HeldOutPair") -> tuple[np.ndarray, np.ndarray]:
        """Return mean and standard deviation of held-out similarities at every draw."""
        shape = *self._view.shape, -1
        fitted, sd = self._view.predict_similarities(part)
        return fitted.reshape(shape), sd.reshape(shape)

    def _build_observed(self, data: "Similarities | Triplets") -> dict[str, np.ndarray]:
        """Return these data as arrays named as in `observed_data`; {} if they differ."""
        posterior = self._view
        data = check_data(data, matrix_kind=SIMILARITIES)
        if data.kind != posterior.data_kind or [*map(str, data.labels)] != posterior.labels:
            return {}
        return select_observed(posterior, store_data(data))

    def _simulate_replicates(self, rng: np.random.Generator, data: Any) -> dict[str, np.ndarray]:
        """Simulate the similarities, or the answers to the sets, at every draw."""
        posterior = self._view
        data = check_data(data, matrix_kind=SIMILARITIES)
        if data.kind == SIMILARITIES:
            fitted, sd = posterior.predict_similarities(data)
            similarities = fitted + sd * rng.standard_normal(fitted.shape)
            return {"similarity": similarities.reshape(*posterior.shape, -1)}
        times = data.questions().check_integer_totals()[:, None]
        probabilities = posterior.compute_answers(slice(None), data.start, data.first, data.second)
        counts = draw_answers(rng, times, probabilities, data.start).T
        return {"chosen": counts.reshape(*posterior.shape, -1)}

    @classmethod
    @mark_as_setup
    def from_embedding(
        cls, embedding: Any, labels: Sequence[str] | None = None, lapse: float = LAPSE
    ) -> Self:
        """Return a model of triplets with ready-made dimensions, such as a published embedding.

        Parameters
        ----------
        embedding : array or DataFrame, shape (objects, dimensions)
            Values of 0 or more. The index of a data frame contains the labels.
        labels : sequence of str, optional
            Names of the objects; None: the index, or "0", "1", ...
        lapse : float in [0, 1)
            As for the model.

        Returns
        -------
        NonnegativeDimensions
            With `predict_proba`, `dimensions`, `top` and `similarity`.

        Raises
        ------
        ArgumentError
            If the embedding is not a matrix of finite numbers of 0 or more.

        Examples
        --------
        >>> import thali as th
        >>> model = th.NonnegativeDimensions.from_embedding([[2, 0], [2, 0], [0, 2]])
        >>> model.predict_proba([("0", "1", "2")])[0].round(2).tolist()
        [0.96, 0.02, 0.02]
        """
        if labels is None and hasattr(embedding, "columns"):
            labels = list(map(str, embedding.index))
        matrix = np.asarray(embedding, dtype=float)
        if matrix.ndim != 2 or not np.isfinite(matrix).all() or (matrix < 0.0).any():
            raise ArgumentError(
                Argument("embedding"),
                " must be a matrix (objects, dimensions) of finite numbers >= 0; got shape"
                f" {matrix.shape}.",
            )
        if labels is None:
            labels = list(map(str, range(len(matrix))))
        object_labels = check_labels(labels)
        if len(object_labels) != len(matrix):
            raise ArgumentError(
                Argument("labels"),
                f" must have one name per row of the embedding, {len(matrix):,}; got"
                f" {len(object_labels):,}.",
            )
        model = cls(matrix.shape[1], lapse=lapse)
        check_share("lapse", lapse, "the probability of a random answer")
        model.posterior_ = build_embedding_tree(matrix, object_labels, lapse)
        model._fitted_to_ = f"an embedding of {len(matrix):,} objects"
        return model

    def dimensions(self, ci: float | None = None) -> "pandas.DataFrame":
        """Return the values of the objects on the dimensions, the heaviest dimension first.

        They are posterior means of the restart of the largest mean log-likelihood. The matrix is
        exported to CSV by ``.to_csv(path)``, to NumPy by ``.to_numpy()``; its
        ``attrs["reproducibility"]`` contains the reproducibility of each dimension, as in `top`.

        Parameters
        ----------
        ci : float in (0, 1), optional
            Probability of intervals; None: none.

        Returns
        -------
        pandas.DataFrame
            Objects by dimensions, numbered from 1. With `ci` one row per object and dimension:
            object, dimension, value, low, high.

        Raises
        ------
        NotFittedError
            Before `fit`.
        ArgumentError
            If `ci` is not between 0 and 1.
        """
        return tabulate_dimensions(self._view, ci)

    def top(self, k: int = 6) -> "pandas.DataFrame":
        """Return the objects with the highest values on each dimension.

        Parameters
        ----------
        k : int
            Number of objects per dimension.

        Returns
        -------
        pandas.DataFrame
            One row per dimension: weight (the sum of its values), reproducibility (its correlation
            with the most similar dimension of each other restart, averaged by Fisher's z), recurs
            (whether that is at least 0.8) and objects.

        Raises
        ------
        NotFittedError
            Before `fit`.
        ArgumentError
            If `k` is not a positive integer.
        """
        return tabulate_top_objects(self._view, check_integer("k", k, 1))

    def similarity(self, ci: float | None = None) -> Any:
        """Return the posterior mean of the similarity of all pairs of objects.

        For triplets it is relative to the mean of all pairs, because the answers do not depend on
        that.

        Parameters
        ----------
        ci : float in (0, 1), optional
            Probability of intervals; None: none.

        Returns
        -------
        pandas.DataFrame
            Objects by objects, NaN on the diagonal. With `ci` three of them: means, and the lower
            and upper ends of the intervals.

        Raises
        ------
        NotFittedError
            Before `fit`.
        ArgumentError
            If `ci` is not between 0 and 1.
        """
        import pandas as pd

        from thali._exportable_table import Table

        posterior = self._view
        matrices = compute_similarity_matrices(posterior, ci or INTERVAL)
        objects = pd.Index(posterior.labels, name="object")
        tables = tuple(Table(pd.DataFrame(matrix, objects, objects)) for matrix in matrices)
        if ci is None:
            return tables[0]
        return tables

    def _require_triplets(self, name: str) -> None:
        """Raise ArgumentError unless the model was fitted to triplets."""
        data_kind = self._view.data_kind
        if data_kind != TRIPLETS:
            raise ArgumentError(
                f"{name} requires a model fitted to {TRIPLETS}; this model was fitted to"
                f" {data_kind}."
            )

    @requires(_require_triplets)
    def predict_proba(self, sets: Any, return_se: bool = False) -> Any:
        """Return posterior mean probabilities that each pair of a set is the most similar.

        They include lapses.

        Parameters
        ----------
        sets : list, or Triplets
            Each is a list of at least three objects, or a list of at least two pairs (a, b).
        return_se : bool
            Whether to give the Monte Carlo standard error of each probability, too.

        Returns
        -------
        list of ndarray
            For each set the probabilities of its pairs: for objects a, b, c of (a, b), (a, c) and
            (b, c); for `Triplets` in the order of their places. With `return_se` two such lists.

        Raises
        ------
        NotFittedError
            Before `fit`.
        ArgumentError
            If the model was fitted to other data, a label is unknown, or an entry is not a set.
        """
        posterior = self._view
        return predict_pair_sets(
            sets, posterior.labels, posterior.shape[0], posterior.iterate_answers, return_se
        )

    def _require_fit_data(self, name: str) -> None:
        """Raise ArgumentError if the model has no data, as one from an embedding."""
        self._require_fitted()
        if self._get_fit_data() is None:
            raise ArgumentError(
                f"{name} requires the data of the fit, which this model does not have."
            )

    @requires(_require_fit_data)
    def check(self, random_seed: RandomSeed = None, ci: float = INTERVAL) -> "pandas.DataFrame":
        """Return a posterior predictive check of measured similarities, or pairs of triplets.

        Parameters
        ----------
        random_seed : int, numpy.random.SeedSequence or numpy.random.Generator, optional
            Of the replicates.
        ci : float in (0, 1)
            Probability of the intervals.

        Returns
        -------
        pandas.DataFrame
            As `AdditiveClustering.check`: one row per measured pair, or per pair that occurs in
            triplets, the worst first.

        Raises
        ------
        NotFittedError
            Before `fit`.
        ArgumentError
            If `ci` is not between 0 and 1, or the model has no data.
        """
        data = self._get_fit_data()
        posterior = self._view
        if posterior.data_kind == SIMILARITIES:
            return check_similarities(
                data, posterior.fit_similarities, posterior.sigma, random_seed, ci
            )
        questions = data.questions()
        check_unweighted(questions)
        draws = select_draws(posterior.n_draws, len(questions.counts))

        def compute_slice(question_slice: slice) -> np.ndarray:
            """Return answer probabilities of these questions, (draws, answers)."""
            start, first, second = slice_sets(data.start, question_slice, data.first, data.second)
            return posterior.compute_answers(draws, start, first, second)

        respondents = [EqualRespondents.from_times(compute_slice, questions.times)]
        return check_answers(questions, respondents, len(draws), random_seed, ci)


def estimate_pass_seconds(problem: DimensionProblem) -> float:
    """Return the expected CPU seconds of a pass of the dynamics over all answers."""
    n_updates = problem.n_objects * problem.n_move_batches
    n_pairs = len(problem.answers.first)
    return problem.n_dimensions * (PAIR_SECONDS * n_pairs + UPDATE_SECONDS * n_updates)


def choose_lengths(
    problem: DimensionProblem, draws: int | None, tune: int | None, thin: int | None
) -> tuple[int, int, int]:
    """Return draws, tune and thin; those not given are chosen by the size of the data."""
    n_affordable = BUDGET / estimate_pass_seconds(problem)
    if draws is None:
        draws = int(np.clip(n_affordable // 2, MIN_DRAWS, MAX_DRAWS))
    if thin is None:
        thin = int(np.clip(n_affordable // max(draws, 1), 1, MAX_THIN))
    if tune is None:
        n_climbs = np.clip(CLIMB_BATCHES / problem.n_climb_batches, MIN_CLIMBS, MAX_CLIMBS)
        tune = math.ceil(n_climbs / CLIMB_SHARE / max(thin, 1))
    return draws, tune, thin
