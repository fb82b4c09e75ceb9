"""Effects of a conjoint experiment by dense regressions, and clustered errors by their formulas."""

import numpy as np
import pandas as pd


def regress(
    design: np.ndarray, outcome: np.ndarray, weights: np.ndarray, clusters: np.ndarray
) -> dict[str, np.ndarray]:
    """Return coefficients and the covariances CR0, CR1 and CR2 of weighted least squares."""
    root = np.sqrt(weights)[:, None]
    x, y = design * root, outcome * root[:, 0]
    bread = np.linalg.pinv(x.T @ x)
    beta = bread @ x.T @ y
    residuals = y - x @ beta
    hat = x @ bread @ x.T
    meat = {"CR0": 0.0, "CR2": 0.0}
    labels = np.unique(clusters)
    for label in labels:
        rows = clusters == label
        score = x[rows].T @ residuals[rows]
        meat["CR0"] = meat["CR0"] + np.outer(score, score)
        score = x[rows].T @ _inverse_root(np.eye(rows.sum()) - hat[np.ix_(rows, rows)])
        score = score @ residuals[rows]
        meat["CR2"] = meat["CR2"] + np.outer(score, score)
    covariances = {name: bread @ each @ bread for name, each in meat.items()}
    n, p, m = len(y), np.linalg.matrix_rank(x), len(labels)
    covariances["CR1"] = covariances["CR0"] * m / (m - 1) * (n - 1) / (n - p)
    return {"beta": beta} | covariances


def degrees_of_freedom(
    design: np.ndarray, weights: np.ndarray, clusters: np.ndarray, contrast: np.ndarray
) -> float:
    """Return Bell and McCaffrey's degrees of freedom of a contrast, by the n x n matrices."""
    x = design * np.sqrt(weights)[:, None]
    bread = np.linalg.pinv(x.T @ x)
    rest = np.eye(len(x)) - x @ bread @ x.T
    columns = []
    for label in np.unique(clusters):
        rows = clusters == label
        correction = _inverse_root(rest[np.ix_(rows, rows)])
        columns.append(rest[:, rows] @ (correction @ x[rows] @ bread @ contrast))
    g = np.stack(columns, axis=1)
    products = g.T @ g
    return np.trace(products) ** 2 / np.square(products).sum()


def _inverse_root(matrix: np.ndarray) -> np.ndarray:
    """Return the symmetric inverse square root; 0 in directions without variance."""
    values, vectors = np.linalg.eigh(matrix)
    scale = np.where(values > 1e-8, np.maximum(values, 1e-8) ** -0.5, 0.0)
    return (vectors * scale) @ vectors.T


def build_cells(frame: pd.DataFrame, attributes: list[str], linked: list[str]) -> np.ndarray:
    """Return indicators of the levels of all attributes, and of all cells of linked ones."""
    columns = [np.ones((len(frame), 1))]
    columns += [pd.get_dummies(frame[name]).to_numpy(float) for name in attributes]
    if linked:
        first, second = linked
        cells = frame[first] + "|" + frame[second]
        columns.append(pd.get_dummies(cells).to_numpy(float))
    return np.concatenate(columns, axis=1)


def effect_contrast(
    frame: pd.DataFrame, attributes: list[str], linked: list[str], name: str, level: str, base: str
) -> np.ndarray:
    """Return the mean change of the design rows from `base` to `level`, where both can occur."""
    possible = frame
    if name in linked:
        (other,) = [each for each in linked if each != name]
        meeting = [set(frame.loc[frame[name] == each, other]) for each in (level, base)]
        possible = frame[frame[other].isin(meeting[0] & meeting[1])]
    rows = len(possible)
    both = [possible.assign(**{name: each}) for each in (level, base)]
    design = build_cells(pd.concat([*both, frame]), attributes, linked)
    assert design.shape[1] == build_cells(frame, attributes, linked).shape[1]
    return (design[:rows] - design[rows : 2 * rows]).mean(axis=0)
