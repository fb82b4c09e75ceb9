"""Parts of the posterior tree about a user-defined likelihood, and its predictions."""

from typing import TYPE_CHECKING

import numpy as np

from thali._data.kinds import OWN
from thali._posterior.datatree_files import can_store_pointwise
from thali._posterior.draws_writer import Variable
from thali.errors import ArgumentError

from ..draws.posterior_tree import DataPart
from .custom_term_checks import arrange_like_samplers
from .user_function_checks import call_checked

if TYPE_CHECKING:
    from thali._data.custom_data import Observed

    from ..draws.feature_columns import FeatureColumns
    from .custom import Custom


# feature matrices, and features in each, for a test of whether a likelihood depends on weights
N_TRIED = 8
N_SHOWN = 4


def build_custom_part(
    observed: "Observed",
    sees_single: bool,
    parameters: tuple[str, ...] = (),
    sees_weights: bool = True,
) -> DataPart:
    """Build the posterior tree's part about a user's data, of which only n is known.

    `parameters` are the learned fields of the data.
    """
    stored_fields = {}
    for name, field_value in zip(observed.fields._fields, observed.fields, strict=True):
        if name in parameters:
            continue
        field_array = np.asarray(field_value)
        stored_fields[f"data.{name}"] = (
            tuple(f"{name}_{axis}" for axis in range(field_array.ndim)),
            field_array,
        )
    constants = {"unique": False, "sees_single": sees_single, "parameters": ",".join(parameters)}
    if not sees_weights:
        constants["sees_weights"] = False
    parameter = Variable("a parameter of the likelihood, a field of the data")
    return DataPart(
        kind=OWN,
        log_constant=0.0,
        variables=dict.fromkeys(parameters, parameter),
        observed=stored_fields,
        constants=constants,
    )


def depends_on_weights(
    custom: "Custom",
    observed: "Observed",
    feature_columns: "FeatureColumns",
    parameter_draws: dict[str, np.ndarray],
) -> bool:
    """Return whether the user's log-likelihood changes if weights are rescaled.

    Drawn weights are compared with rescaled ones.
    """
    if not feature_columns.weights.size:
        return True
    rng = np.random.default_rng(1)
    n = observed.n_options
    for draw in np.linspace(0, feature_columns.n_draws - 1, N_TRIED).astype(int).tolist():
        data = custom.set_parameters(
            observed.fields, {name: float(values[draw]) for name, values in parameter_draws.items()}
        )
        features = arrange_like_samplers(rng.random((n, N_SHOWN)) < 0.5)
        weights = rng.choice(feature_columns.weights, N_SHOWN)
        weight_pair = weights, weights * rng.exponential(size=N_SHOWN)
        try:
            log_likelihood, rescaled_log_likelihood = (
                call_checked("log_likelihood", custom.log_likelihood, data, features, trial_weights)
                for trial_weights in weight_pair
            )
        except ArgumentError:  # an impossible value
            return True
        if log_likelihood != rescaled_log_likelihood:
            return True
    return False


def predict_by_draw(
    custom: "Custom",
    observed: "Observed",
    feature_columns: "FeatureColumns",
    parameter_draws: dict[str, np.ndarray],
    function_name: str = "predict",
) -> list[np.ndarray]:
    """Call a user's function of data, features and weights at every draw.

    It returns arrays of one shape.
    """
    predictions: list[np.ndarray] = []
    for draw in range(feature_columns.n_draws):
        owners, weights = feature_columns.select_draw(draw).to_dense(0, 1)
        data = custom.set_parameters(
            observed.original,
            {key: prediction[draw] for key, prediction in parameter_draws.items()},
        )
        prediction = np.asarray(
            getattr(custom, function_name)(data, owners[0].T.astype(float), weights[0].copy()),
            float,
        )
        if predictions and prediction.shape != predictions[0].shape:
            raise ArgumentError(
                f"{function_name} must return an array of the same shape for all features; it"
                f" returned shape {prediction.shape} after {predictions[0].shape}."
            )
        predictions.append(prediction)
    return predictions


def compute_pointwise(
    custom: "Custom",
    observed: "Observed",
    feature_columns: "FeatureColumns",
    shape: tuple[int, int],
    parameter_draws: dict[str, np.ndarray],
) -> tuple[str, tuple[str, ...], np.ndarray] | None:
    """Return the user's log-likelihood of each observation at every draw, as `DataPart` has it.

    The user's function computes it. The result is None for too many observations.
    """
    predictions = predict_by_draw(
        custom,
        observed,
        feature_columns.select_draw(0),
        {k: v[:1] for k, v in parameter_draws.items()},
        "pointwise",
    )
    if not can_store_pointwise(predictions[0].size, feature_columns.n_draws):
        return None
    predictions = predict_by_draw(custom, observed, feature_columns, parameter_draws, "pointwise")
    pointwise_log_likelihood = np.asarray(predictions)
    axis_names = tuple(f"observation_{axis}" for axis in range(pointwise_log_likelihood.ndim - 1))
    log_likelihoods = pointwise_log_likelihood.reshape(*shape, *pointwise_log_likelihood.shape[1:])
    return "observations", axis_names, log_likelihoods
