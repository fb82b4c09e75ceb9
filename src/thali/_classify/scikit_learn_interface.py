"""Methods and attributes by which scikit-learn's tools recognise a classifier.

scikit-learn itself is not required.
"""

from typing import TYPE_CHECKING, Any

import numpy as np

from thali._argument_checks import check_seed
from thali._model.method_requirements import mark_as_setup


class ScikitLearn:
    """Estimator tags and metadata requests that scikit-learn's tools read."""

    _estimator_type = "classifier"  # asked for by scikit-learn before 1.6
    if TYPE_CHECKING:

        @property
        def _engine(self) -> Any: ...

    def __sklearn_tags__(self) -> Any:
        from sklearn.utils import ClassifierTags, InputTags, Tags, TargetTags  # pyright: ignore[reportMissingImports]

        return Tags(
            estimator_type="classifier",
            target_tags=TargetTags(required=True),
            classifier_tags=ClassifierTags(),
            input_tags=InputTags(sparse=self._engine.takes_sparse),
        )

    @mark_as_setup
    def get_metadata_routing(self) -> Any:
        """Return the metadata that scikit-learn may pass to `fit` and `score`.

        Returns
        -------
        sklearn.utils.metadata_routing.MetadataRequest
        """
        from sklearn.utils.metadata_routing import MetadataRequest  # pyright: ignore[reportMissingImports]

        request = MetadataRequest(owner=self)
        for method, alias in {
            "fit": None,
            "score": None,
            **vars(self).get("_metadata_request", {}),
        }.items():
            getattr(request, method).add_request(param="sample_weight", alias=alias)
        return request

    @mark_as_setup
    def set_fit_request(self, *, sample_weight: bool | str | None) -> Any:
        """Set whether scikit-learn's metadata routing passes `sample_weight` to `fit`.

        Parameters
        ----------
        sample_weight : bool, str or None
            True passes it, False ignores it, None raises an error, and a string passes the metadata
            with that name.

        Returns
        -------
        self

        Examples
        --------
        >>> import thali as th
        >>> th.SparseMultinomialLogit().set_fit_request(sample_weight=True)
        SparseMultinomialLogit()
        """
        return self._store_metadata_request("fit", sample_weight)

    @mark_as_setup
    def set_score_request(self, *, sample_weight: bool | str | None) -> Any:
        """Set whether scikit-learn's metadata routing passes `sample_weight` to `score`.

        Parameters
        ----------
        sample_weight : bool, str or None
            As for `set_fit_request`.

        Returns
        -------
        self
        """
        return self._store_metadata_request("score", sample_weight)

    def _store_metadata_request(self, method: str, request: bool | str | None) -> Any:
        """Store whether `sample_weight` is passed to a method."""
        # scikit-learn's `clone` copies an attribute of this name
        self._metadata_request = _MetadataRequests(
            {**vars(self).get("_metadata_request", {}), method: request}
        )
        return self


class _MetadataRequests(dict[str, Any]):
    """Requested metadata by method, as scikit-learn clones them."""

    def __sklearn_clone__(self) -> "_MetadataRequests":
        return _MetadataRequests(self)


def convert_random_state(random_state: Any) -> Any:
    """Return a seed for a run, given scikit-learn's `random_state`."""
    if isinstance(random_state, np.random.RandomState):
        return int(random_state.randint(2**31))
    if isinstance(random_state, np.random.Generator | np.random.SeedSequence | None):
        return random_state
    return check_seed("random_state", random_state)
