"""The layers of the library as a picture, from the contracts in pyproject.toml."""

import tomllib
from pathlib import Path

import matplotlib.pyplot as plt

project = tomllib.loads((Path(__file__).parent.parent / "pyproject.toml").read_text("utf-8"))
layers = [
    [part.removeprefix("thali.") for part in layer.split(" | ")]
    for layer in project["tool"]["importlinter"]["contracts"][0]["layers"]
]
holds = {
    "surfaces": "show findings: command line, app, report, text",
    "testing": "checks of likelihoods and samplers; slow versions of the mathematics",
    "plots": "one picture a file",
    "comparison": "models by held-out data; questionnaires",
    "paired": "classical tests, leaderboards; bundled data",
    "designs": "designs of studies, and their power",
    "likelihoods": "public doors to what the wing of aspects holds",
    "aspects": "the three wings: latent features, choices of products, classifiers",
    "model": "the hall: what a model is, its spec, its findings, its files",
    "people": "what is known of people, whichever model knows it",
    "posterior": "posteriors in ArviZ's schema, summary, convergence check",
    "reading": "a file becomes data: cells, table, shapes",
    "data": "the kinds of data; trees",
    "inference": "knows no model: seeds, chains, jobs, numerics",
    "compile": "the only imports of Numba; small helpers",
    "errors": "errors and warnings that carry facts",
}
shown = [layer for layer in layers if layer[0].partition(" ")[0] in holds]
fig, ax = plt.subplots(figsize=(9.5, 7.4), layout="constrained")
for row, layer in enumerate(shown):
    names = [name for name in layer if not name.startswith("_")]
    width = 0.46 / len(names)
    for k, name in enumerate(names):
        corner, size = (k * width + 0.004, row + 0.1), (width - 0.008, 0.8)
        ax.add_patch(plt.Rectangle(corner, *size, facecolor="#dbe9f6", edgecolor="#4c78a8"))
        centred = {"ha": "center", "va": "center", "family": "monospace"}
        ax.text((k + 0.5) * width, row + 0.5, name, fontsize=8, **centred)
    ax.text(0.48, row + 0.5, holds[layer[0]], va="center", fontsize=9)
ax.set(xlim=(0, 1.05), ylim=(len(shown), 0))
ax.axis("off")
plt.show()
