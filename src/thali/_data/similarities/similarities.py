"""The data class `Similarities`: numbers for how similar two objects are."""

import math
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from thali._argument_checks import check_allowed, check_positive
from thali._inference.index_arithmetic import count_pairs
from thali._inference.user_warnings import warn
from thali._labels import format_plural, list_names, shorten
from thali._number_format import format_number, format_percent
from thali._object_descriptions import Facts
from thali.errors import DataError, DataWarning

from ..base_classes import JudgedByPeople, build_from_fields, copy_with_fields
from ..column_readers import convert_frame, rename_as_text
from ..connectivity import describe_groups, list_components
from ..kinds import SIMILARITIES
from ..noise_ceiling import estimate_reliability
from ..number_checks import refuse_extremes
from ..report_facts import MAX_LISTED, format_pair_share, format_value_range
from ..respondent_answers import JudgedValues
from ..respondent_table import list_people_facts
from ..suspicious_data import list_unusual_similarities
from .similarity_tables import (
    MeasuredPairs,
    average_respondents,
    convert_dissimilarities,
    find_pair_columns,
    read_measured_pairs,
    read_pair_list,
)

if TYPE_CHECKING:
    import pandas as pd


class Similarities(JudgedByPeople):
    r"""One number per pair of objects for how similar they are.

    .. math:: s_{ij} = s_{ji}, \qquad i \neq j

    The diagonal is not read. Nothing can be changed after construction.
    Dissimilarities (distances) cannot be recognised as such: convert them with
    `from_dissimilarities`.

    Parameters
    ----------
    matrix : array or DataFrame, shape (objects, objects)
        Similarities, on a scale of about 0 to 1 if the default priors are to fit; NaN or empty: not
        measured. Where only one of s_ij and s_ji is there, it is the pair's, so one triangle is
        enough. A triangle of zeros next to one with other numbers is treated as
        empty, with a warning. Rows and columns of a DataFrame bear the same labels, in any order.
    labels : sequence of str, optional
        Names of the objects, all different; "0", "1", ... if neither they nor a DataFrame name
        them.
    symmetrize : "mean", optional
        Take the mean of s_ij and s_ji where they differ, by more than 1e-8 of the range; None: an
        error.
    sigma : float above 0, optional
        Standard deviation of the error of a similarity, if it is known; with `judgements`, that of
        one judgement. None: the model learns it.
    judgements : array or DataFrame, shape (objects, objects), optional
        How many judgements n_ij each cell of `matrix` is the mean of, where they differ: the
        similarity then has the variance sigma^2 / n_ij. Symmetric as `matrix` is, above 0 where
        something was measured, not read elsewhere. With `symmetrize`, s_ij and s_ji count by their
        judgements, and the pair has those of both. None: all similarities are equally precise, n_ij
        = 1.

    Attributes
    ----------
    labels : tuple of str
    first, second : int64 arrays, shape (pairs,)
        The measured pairs: first < second, row by row.
    values : float64 array, shape (pairs,)
        Their similarities.
    judgements : float64 array, shape (pairs,)
        How many judgements each is the mean of; 1 everywhere if these numbers are unknown.
    sigma : float or None
    answers : JudgedValues or None
        The similarities by respondent, if available (`from_respondents`, or a list with a column
        of respondents).
    people : DataFrame or None
        Columns of a list that describe the respondents: one row each.

    Raises
    ------
    DataError
        If `matrix` is not square, not symmetric, contains an infinite number or text off its
        diagonal, names fewer than two objects or measures no pair; if labels do not match or are
        not distinct; if `judgements` has another shape or labels, is not symmetric, or contains no
        number above 0 for a measured pair.
    ArgumentError
        If `symmetrize` or `sigma` is outside its range.

    Warns
    -----
    DataWarning
        If a triangle of zeros was treated as empty.

    References
    ----------
    Navarro & Griffiths (2007), equations 1 and 2; Shepard & Arabie (1979).

    Examples
    --------
    >>> data = Similarities(
    ...     [[1, 0.8, 0.3], [0.8, 1, 0.45], [0.3, 0.45, 1]], labels=["tea", "coffee", "milk"]
    ... )
    >>> data
    Similarities(3 objects, 3 similarities)
    >>> data.values
    array([0.8 , 0.3 , 0.45])
    """

    kind = SIMILARITIES
    option_word = "object"
    _ANSWER = ("similarity", "similarities")
    _FIELDS = (
        "labels",
        "first",
        "second",
        "values",
        "judgements",
        "sigma",
        "_lowest_diagonal",
        "answers",
    )
    _IF_KNOWN = ("answers",)

    labels: tuple[str, ...]
    first: np.ndarray
    second: np.ndarray
    values: np.ndarray
    judgements: np.ndarray
    sigma: float | None
    _lowest_diagonal: bool
    answers: JudgedValues | None = None

    def __init__(
        self,
        matrix: Any,
        labels: Iterable[Any] | None = None,
        *,
        symmetrize: str | None = None,
        sigma: float | None = None,
        judgements: Any = None,
    ) -> None:
        measured_pairs = read_measured_pairs(
            matrix, labels, check_allowed("symmetrize", symmetrize, (None, "mean")), judgements
        )
        self._freeze(*build_similarity_fields(measured_pairs, sigma))
        _warn_cleared_zeros(measured_pairs)

    @classmethod
    def from_frame(
        cls,
        frame: "pd.DataFrame",
        first: str | None = None,
        second: str | None = None,
        similarity: str | None = None,
        count: str | None = None,
        respondent: str | None = None,
        *,
        labels: Iterable[Any] | None = None,
        sigma: str | float | None = "standard error",
    ) -> "Similarities":
        r"""Read similarities from a list of pairs; rows of one pair are averaged.

        .. math:: n_{ij} = \sum_r c_r, \qquad s_{ij} = \sum_r c_r s_r \Big/ n_{ij}
            \qquad \text{over the rows } r \text{ of } i \text{ and } j

        Parameters
        ----------
        frame : DataFrame
            Other columns are ignored, unless they describe respondents, and so are rows without a
            similarity, with a count of 0, or of an object with itself.
        first, second : str, optional
            Columns with the two objects. None: recognised by their names (first and second, a and
            b, i and j, item1 and item2, object1 and object2, row and column, ...).
        similarity : str, optional
            None: the column similarity, sim, proximity or affinity; failing these rating, score,
            value or s.
        count : str, optional
            Column with the number of judgements that a row is the mean of. None: count, n, freq,
            times or weight if there is one, else every row is one judgement. Their sum n_ij is kept
            as `judgements`, and the similarity has the variance sigma^2 / n_ij. A list of every
            pair in both orders with the same numbers is a symmetric table: it has each judgement
            once.
        respondent : str, optional
            Column of respondents. None: respondent, judge, rater, person, ... if there is
            one. Where a row is one judgement it is kept who gave it, as `from_respondents` does,
            and the further columns that are the same in all rows of each judge are kept as
            `people`.
        labels : sequence of str, optional
            All objects in the required order. None: the categories of a categorical column; else
            numbers in their order, names as they first appear.
        sigma : "standard error", float above 0, or None
            Of one judgement. "standard error": where each row is one judgement, and most pairs, and
            pairs on average, have two, that of judgements about the mean of their pair, as of
            `from_respondents`. None: the model learns it, as it does where there are fewer, where
            all agree, where a respondent judged a pair several times, and where most pairs have the
            same numbers in both orders.

        Returns
        -------
        Similarities

        Raises
        ------
        DataError
            If a column is unknown, cannot be recognised or could be one of several, a label is
            missing, a similarity is infinite or no number, a count is negative, or no pair is
            measured.
        ArgumentError
            If `sigma` is none of these.

        Warns
        -----
        DataWarning
            If a respondent judged a pair several times, so that respondents are not stored.

        Examples
        --------
        >>> import pandas as pd
        >>> rows = [("tea", "milk", 0.2), ("milk", "tea", 0.4), ("tea", "coffee", 0.8)]
        >>> Similarities.from_frame(
        ...     pd.DataFrame(rows, columns=["a", "b", "similarity"])
        ... ).values.round(3)
        array([0.3, 0.8])
        """
        if isinstance(sigma, str):
            check_allowed("sigma", sigma, ("standard error",))
        frame = rename_as_text(convert_frame(frame))
        named_columns = {
            "first": first,
            "second": second,
            "similarity": similarity,
            "count": count,
            "respondent_column": respondent,
        }
        columns = find_pair_columns(
            list(frame.columns),
            **{role: str(name) for role, name in named_columns.items() if name is not None},
        )
        measured_pairs, empirical_sigma, answers = read_pair_list(frame, columns, labels)
        if isinstance(sigma, str):
            sigma = empirical_sigma
        return build_from_fields(cls, *build_similarity_fields(measured_pairs, sigma, answers))

    @classmethod
    def from_dissimilarities(
        cls,
        matrix: Any,
        how: str | Callable[[np.ndarray], Any] = "linear",
        labels: Iterable[Any] | None = None,
        *,
        symmetrize: str | None = None,
        sigma: float | None = None,
        judgements: Any = None,
    ) -> "Similarities":
        r"""Convert a square table of dissimilarities, such as distances, to similarities.

        .. math::
            \text{linear: } s = \begin{cases} 1 - d & \text{all } d \le 1 \\ \max d - d &
            \text{otherwise} \end{cases}
            \qquad \text{exponential: } s = e^{-d / \bar d}

        Parameters
        ----------
        matrix : array or DataFrame, shape (objects, objects)
            As for `Similarities`: one triangle is enough, NaN is a pair not measured, the diagonal
            is not read; or the vector of all pairs that scipy.spatial.distance.pdist returns.
        how : "linear", "exponential" or callable
            The largest and the mean dissimilarity are taken over the measured pairs. A callable
            gets the vector of their dissimilarities and returns one finite similarity for each.
        labels, symmetrize
            As for `Similarities`; the mean is taken of the dissimilarities.
        sigma : float above 0, optional
            Of the similarities.
        judgements : array or DataFrame, shape (objects, objects), optional
            As for `Similarities`: how many judgements a dissimilarity is the mean of.

        Returns
        -------
        Similarities

        Raises
        ------
        DataError
            Like `Similarities`; if a dissimilarity is negative; if all are 0 and `how` is
            "exponential"; if the callable does not return one finite number for each.
        ArgumentError
            If `how` is none of these.

        References
        ----------
        Shepard (1987), Toward a universal law of generalization for psychological science
        (exponential).

        Examples
        --------
        >>> Similarities.from_dissimilarities([[0, 2, 4], [2, 0, 3], [4, 3, 0]]).values
        array([2., 0., 1.])
        >>> Similarities.from_dissimilarities([[0, 0.25], [0.25, 0]]).values
        array([0.75])
        """
        if not callable(how):
            check_allowed("how", how, ("linear", "exponential"))
        measured_pairs = read_measured_pairs(
            matrix, labels, check_allowed("symmetrize", symmetrize, (None, "mean")), judgements
        )
        # run the checks of the class before the checks of the numbers
        build_similarity_fields(measured_pairs)
        converted_pairs = measured_pairs._replace(
            values=convert_dissimilarities(measured_pairs, how), lowest_diagonal=False
        )
        data = build_from_fields(cls, *build_similarity_fields(converted_pairs, sigma))
        _warn_cleared_zeros(measured_pairs)
        return data

    @classmethod
    def from_respondents(
        cls,
        matrices: Iterable[Any] | Mapping[Any, Any],
        labels: Iterable[Any] | None = None,
        *,
        symmetrize: str | None = None,
        sigma: str | float | None = "standard error",
    ) -> "Similarities":
        r"""Average the similarities of several respondents, with the error of the means.

        With n_ij people who judged a pair and s_ij their mean, the variance of one judgement about
        it is

        .. math:: \sigma^2 = \sum_{ijp} (s_{ijp} - s_{ij})^2 \Big/ \sum_{ij} (n_{ij} - 1)

        Parameters
        ----------
        matrices : list of arrays or DataFrames, array, shape (people, objects, objects), or mapping
            One table for each person, as for `Similarities`; a mapping has it by the name of the
            person, who otherwise has a number, from 1. DataFrames bear the same labels, in any
            order.
        labels, symmetrize
            As for `Similarities`.
        sigma : "standard error", "deviation", float above 0, or None
            "standard error": every mean has its own, sigma / sqrt(n_ij) with the sigma above; n_ij
            is kept as `judgements`. "deviation": the mean over pairs of the standard deviation
            among people, as Lee (2001) takes it, for every mean however many it is of (n_ij = 1);
            larger by about the root of their number, it asks the model only for what a single
            person's table would bear. A number: that of one judgement, known otherwise. None: the
            model learns it, as it does where no two respondents judged the same pair, or all agree.

        Returns
        -------
        Similarities

        Raises
        ------
        DataError
            Like `Similarities`, naming the person; if there is no respondent, or labels differ
            between people.
        ArgumentError
            If `symmetrize` or `sigma` is none of these.

        References
        ----------
        Lee (2001), Determining the dimensionality of multidimensional scaling representations for
        cognitive modeling. Journal of Mathematical Psychology 45.

        Examples
        --------
        >>> people = [[[1, 0.8], [0.8, 1]], [[1, 0.6], [0.6, 1]]]
        >>> Similarities.from_respondents(people)
        Similarities(2 objects, 1 similarity based on 2 judgements, sigma 0.141)
        """
        if isinstance(sigma, str):
            check_allowed("sigma", sigma, ("standard error", "deviation"))
        check_allowed("symmetrize", symmetrize, (None, "mean"))
        measured_pairs, empirical_sigma, answers = average_respondents(
            matrices, labels, symmetrize, sigma
        )
        if isinstance(sigma, str):
            sigma = empirical_sigma
        data = build_from_fields(cls, *build_similarity_fields(measured_pairs, sigma, answers))
        _warn_cleared_zeros(measured_pairs)
        return data

    def with_values(self, values: np.ndarray) -> "Similarities":
        """Return the same pairs with other similarities, in the order of `first`, `second`."""
        return copy_with_fields(self, values=values, answers=None)

    def take(self, pairs: np.ndarray) -> "Similarities":
        """Return the similarities of some measured pairs, given by mask or index.

        Parameters
        ----------
        pairs : bool array (n_pairs,)
            Which of them, in the order of `first` and `second`.

        Raises
        ------
        DataError
            If none is left.

        Examples
        --------
        >>> Similarities([[1, 0.8, 0.3], [0.8, 1, 0.45], [0.3, 0.45, 1]]).take(
        ...     np.array([True, False, True])
        ... )
        Similarities(3 objects, 2 of 3 similarities)
        """
        if not np.any(pairs):
            raise DataError("No measured pair would be left; keep at least one.")
        answers = self.answers
        if answers is not None:
            answers = answers.select_positions(pairs, np.cumsum(pairs) - 1)
        return copy_with_fields(
            self,
            first=self.first[pairs],
            second=self.second[pairs],
            values=self.values[pairs],
            judgements=self.judgements[pairs],
            answers=answers,
        )

    def by_respondent(self) -> "Mapping[str, Similarities]":
        """Split the similarities by respondent; return a dict by name.

        Returns
        -------
        mapping
            From the name of each person to their `Similarities`.

        Raises
        ------
        DataError
            If respondents are unknown.
        """
        if (answers := self.answers) is None:
            return super().by_respondent()
        data_by_name = {}
        for respondent_index, respondent_name in enumerate(answers.respondents):
            is_by_respondent = answers.respondent == respondent_index
            pair_indices = answers.pair[is_by_respondent]
            values = answers.values[is_by_respondent]
            if len(pair_indices):
                data_by_name[respondent_name] = build_from_fields(
                    type(self),
                    self.labels,
                    self.first[pair_indices],
                    self.second[pair_indices],
                    values,
                    np.ones(len(pair_indices)),
                    None,
                    self._lowest_diagonal,
                    None,
                )
        return data_by_name

    def __str__(self) -> str:
        if self.sigma is None:
            return self.size_in_words
        return f"{self.size_in_words}, sigma {self.sigma:.3g}"

    @property
    def size_in_words(self) -> str:
        """Text with the numbers of objects, similarities and judgements."""
        n_possible = count_pairs(self.n_options)
        similarities_text = f"{n_possible:,} similarities"
        if n_possible == 1:
            similarities_text = "1 similarity"
        if self.n_pairs < n_possible:
            similarities_text = f"{self.n_pairs:,} of {similarities_text}"
        return (
            f"{format_plural(self.n_options, 'object')},"
            f" {similarities_text}{self._describe_judgements()}"
        )

    def _details(self) -> Facts:
        """Return (name, labels) facts that a notebook shows below the size."""
        return (("objects", self.labels), *list_people_facts(self.people))

    def _facts(self) -> Facts:
        """Return (name, text) facts about the similarities for a report."""
        sigma_fact = ()
        reliability = estimate_reliability(self)
        if math.isfinite(reliability):
            share_text = f"{format_percent(reliability)} of the variance of the similarities"
            sigma_fact = (("Not noise", share_text),)
        if self.sigma is not None:
            sigma_fact += (
                ("Standard deviation supplied with the data", format_number(self.sigma)),
            )
        return (
            ("Objects", f"{self.n_options:,}: {list_names(self.labels, MAX_LISTED)}"),
            ("Measured pairs", format_pair_share(self.n_pairs, self.n_options)),
            (
                "Similarities",
                f"{format_value_range(self.values)}; mean"
                f" {format_number(float(self.values.mean()))}",
            ),
            ("Judgements per measured pair", format_value_range(self.judgements)),
            *sigma_fact,
        )

    def _describe_judgements(self) -> str:
        """Return a text on the judgements per pair; "" if all are 1."""
        minimum = float(self.judgements.min())
        maximum = float(self.judgements.max())
        if minimum == maximum == 1:
            return ""
        if minimum < maximum:
            return f", each based on {minimum:,.6g} to {maximum:,.6g} judgements"
        if self.n_pairs == 1:
            return f" based on {maximum:,.6g} judgements"
        return f", each based on {maximum:,.6g} judgements"

    @property
    def n_pairs(self) -> int:
        """Number of measured pairs."""
        return len(self.values)

    @property
    def n_answers(self) -> int:
        """Number of measured similarities."""
        return self.n_pairs

    @property
    def matrix(self) -> np.ndarray:
        """Similarities as a symmetric array (objects, objects), NaN where not measured.

        The diagonal and unmeasured pairs are NaN.
        """
        matrix = np.full((self.n_options, self.n_options), np.nan)
        matrix[self.first, self.second] = matrix[self.second, self.first] = self.values
        matrix.flags.writeable = False
        return matrix

    @property
    def never_judged(self) -> list[str]:
        """Labels of the objects in no measured pair."""
        return self._list_absent_labels(self.first, self.second)

    def to_square(self) -> "pd.DataFrame":
        """Return the similarities as a labelled square table; NaN where not measured."""
        return self.to_frame()

    def warn_if_unusual(self) -> None:
        """Warn, with a `DataWarning` each, of data that the default priors do not suit.

        Models call this at fit.
        """
        if sentence := describe_groups(
            "objects", list_components(self.labels, self.first, self.second), "judged together"
        ):
            warn(DataWarning(f"{sentence} Similarities between groups depend only on the prior."))
        for message in list_unusual_similarities(self, self._lowest_diagonal):
            warn(DataWarning(message))

    def to_frame(self, long: bool = False) -> "pd.DataFrame":
        """Return the similarities as a square table, or one row per pair if `long`.

        Parameters
        ----------
        long : bool
            False: a square table, NaN on its diagonal and where not measured. True: one row for
            each measured pair, columns first, second, similarity and, unless each is a single
            judgement, count, which `from_frame` reads back; its labels are categorical, and so keep
            their order and the objects in no pair.

        Returns
        -------
        DataFrame

        Examples
        --------
        >>> data = Similarities([[1, 0.8], [0.8, 1]], labels=["tea", "milk"])
        >>> data.to_frame()
              tea  milk
        tea   NaN   0.8
        milk  0.8   NaN
        >>> data.to_frame(long=True)
          first second  similarity
        0   tea   milk         0.8
        """
        import pandas as pd

        labels = pd.Index(self.labels)
        if not long:
            return pd.DataFrame(self.matrix.copy(), index=labels, columns=labels)
        table = {
            "first": pd.Categorical.from_codes(self.first, labels),
            "second": pd.Categorical.from_codes(self.second, labels),
            "similarity": self.values.copy(),
        }
        if not (self.judgements == 1).all():
            table["count"] = self.judgements.copy()
        return pd.DataFrame(table)


def build_similarity_fields(
    measured: MeasuredPairs, sigma: float | None = None, answers: JudgedValues | None = None
) -> tuple[Any, ...]:
    """Return the fields of `Similarities`; raise DataError if nothing was measured."""
    if len(measured.labels) < 2:
        raise DataError(
            f"Similarities require at least two objects; got {shorten(measured.labels) or 'none'}."
        )
    if not len(measured.values):
        raise DataError(
            f"There are no similarities among the {len(measured.labels):,} objects; enter at"
            " least one."
        )
    refuse_extremes(measured.values, "similarity")
    if sigma is not None:
        sigma = check_positive("sigma", sigma, "the error standard deviation of the similarities")
    return (
        measured.labels,
        measured.first,
        measured.second,
        measured.values,
        measured.judgements,
        sigma,
        measured.lowest_diagonal,
        answers,
    )


def _warn_cleared_zeros(measured_pairs: MeasuredPairs) -> None:
    """Warn that zeros in one triangle of a table were treated as missing."""
    if measured_pairs.zeros_not_read:
        warn(
            DataWarning(
                f"Only the {measured_pairs.layout} was read, because the other triangle contains"
                " only"
                " zeros. If the zeros were measured, enter the similarities on both sides of the"
                " diagonal."
            )
        )
