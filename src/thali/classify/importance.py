"""Which weights or coefficients of a classifier matter."""

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    import pandas

_DRAWS = 1000  # of a variational posterior, for intervals


def importance(model: Any) -> "pandas.DataFrame":
    """Every weight above zero, or every coefficient, with its interval unless it is one number; the largest first.

    Parameters
    ----------
    model : classifier
        Fitted to a data frame.

    Returns
    -------
    pandas.DataFrame
        Columns class and column; then weight, or coef (posterior mean, of the standardised covariate); but for
        `method="map"` low and high, the ends of the interval; of coefficients also original, that of the covariate as
        it was given.
    """
    import pandas as pd

    from thali.posterior.interval import INTERVAL, TAILS

    draws, classes, columns = _draws(model)
    name = "weight" if model._learned == "weights" else "coef"
    if name == "weight":
        table = {name: np.asarray(model.weights_).ravel()}
    else:
        table = {name: draws.mean(axis=0) if len(draws) else model.scaled_coef_.ravel()}
    if len(draws):
        table["low"], table["high"] = np.quantile(draws, TAILS, axis=0)
    if name == "coef":
        table["original"] = model.coef_[:, model._standard_.varies].ravel()
    labels = pd.MultiIndex.from_product([classes, columns], names=["class", "column"]).to_frame(index=False)
    frame = pd.concat([labels, pd.DataFrame(table)], axis=1)
    frame.attrs |= {"interval": INTERVAL} if len(draws) else {}
    order = np.argsort(-np.abs(frame[name].to_numpy()), kind="stable")
    if not len(draws):
        order = order[: np.count_nonzero(frame[name])]
    return frame.iloc[order].reset_index(drop=True)


def _draws(model: Any) -> tuple[np.ndarray, list[Any], list[Any]]:
    """Draws (draw, weight) of weights or coefficients, none if there are none; their classes and their columns."""
    if model._posterior is not None:
        values = model._posterior["posterior"][model._learned]
        draws = values.to_numpy().reshape(-1, values.shape[2] * values.shape[3])
        return draws, values["class"].to_numpy().tolist(), values[values.dims[3]].to_numpy().tolist()
    if model._learned == "coef":
        from .sparse_logit.at_maximum import other_classes, varying_names

        return np.empty((0, model.scaled_coef_.size)), other_classes(model), varying_names(model)
    weights = model.weights_
    return model._engine.random_weights(model, _DRAWS), list(weights.index), list(weights.columns)
