"""What scikit-learn asks of an estimator besides fitting and predicting, without need of
scikit-learn."""

from typing import Any

import numpy as np

from thali._arguments import seed_number
from thali._model.requirements import mark_as_setup


class ScikitLearn:
    """Tags, and which metadata the methods of a classifier ask of a meta-estimator that calls
    them."""

    _estimator_type = "classifier"  # asked for by scikit-learn before 1.6

    def __sklearn_tags__(self) -> Any:
        from sklearn.utils import ClassifierTags, InputTags, Tags, TargetTags  # pyright: ignore[reportMissingImports]

        return Tags(
            estimator_type="classifier",
            target_tags=TargetTags(required=True),
            classifier_tags=ClassifierTags(),
            input_tags=InputTags(sparse=self._takes_sparse()),
        )

    def _takes_sparse(self) -> bool:
        """Whether X may be a sparse matrix."""
        return False

    @mark_as_setup
    def get_metadata_routing(self) -> Any:
        """What scikit-learn's metadata routing may pass to `fit` and `score`.

        Returns
        -------
        sklearn.utils.metadata_routing.MetadataRequest
        """
        from sklearn.utils.metadata_routing import MetadataRequest  # pyright: ignore[reportMissingImports]

        request = MetadataRequest(owner=self)
        for method, value in {
            "fit": None,
            "score": None,
            **vars(self).get("_metadata_request", {}),
        }.items():
            getattr(request, method).add_request(param="sample_weight", alias=value)
        return request

    @mark_as_setup
    def set_fit_request(self, *, sample_weight: bool | str | None) -> Any:
        """Say whether scikit-learn's metadata routing passes `sample_weight` to `fit`.

        Parameters
        ----------
        sample_weight : bool, str or None
            True passes it, False ignores it, None refuses it, and a string passes what has that
            name.

        Returns
        -------
        self

        Examples
        --------
        >>> import thali as th
        >>> th.SparseMultinomialLogit().set_fit_request(sample_weight=True)
        SparseMultinomialLogit()
        """
        return self._request("fit", sample_weight)

    @mark_as_setup
    def set_score_request(self, *, sample_weight: bool | str | None) -> Any:
        """Say whether scikit-learn's metadata routing passes `sample_weight` to `score`.

        Parameters
        ----------
        sample_weight : bool, str or None
            As for `set_fit_request`.

        Returns
        -------
        self
        """
        return self._request("score", sample_weight)

    def _request(self, method: str, value: Any) -> Any:
        # scikit-learn's `clone` copies an attribute of this name
        self._metadata_request = _Requests(
            {**vars(self).get("_metadata_request", {}), method: value}
        )
        return self


class _Requests(dict[str, Any]):
    """What each method asks for."""

    def __sklearn_clone__(self) -> "_Requests":
        return _Requests(self)


def seed_from(random_state: Any) -> Any:
    """The seed of a run, from scikit-learn's `random_state`."""
    if isinstance(random_state, np.random.RandomState):
        return int(random_state.randint(2**31))
    if isinstance(random_state, np.random.Generator | np.random.SeedSequence | None):
        return random_state
    return seed_number("random_state", random_state)
