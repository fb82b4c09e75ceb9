"""The layers of the library as a picture, from the contracts in pyproject.toml."""

import tomllib
from pathlib import Path

import matplotlib.pyplot as plt

project_folder = Path(__file__).parent.parent
project = tomllib.loads((project_folder / "pyproject.toml").read_text("utf-8"))
layers = [
    [part.removeprefix("thali.") for part in layer.split(" | ")]
    for layer in project["tool"]["importlinter"]["contracts"][0]["layers"]
]
CONTENTS = {
    "surfaces": "show findings: command line, app, report, text",
    "testing": "checks of likelihoods and samplers",
    "comparison": "models by held-out data",
    "paired": "classical tests, leaderboards; bundled data",
    "designs": "designs of studies, and their power",
    "aspects": "features; worths; choices of products; classifiers",
    "plots": "one picture a file",
    "model": "what a model is; its spec, findings, files",
    "people": "respondents, whatever the model",
    "posterior": "ArviZ's schema, summary, convergence check",
    "reading": "a file becomes data: cells, table, shapes",
    "data": "the kinds of data; trees",
    "inference": "knows no model: seeds, chains, jobs, numerics",
    "compile": "the only imports of Numba",
}
source = project_folder / "src" / "thali"
shown = [
    [name.lstrip("_") for name in layer if (source / name).is_dir()]
    for layer in layers
    if layer[0].startswith("_") and (source / layer[0]).is_dir()
]
fig, ax = plt.subplots(figsize=(7.6, 5.4), layout="constrained")
for row, layer in enumerate(shown):
    width = 0.5 / len(layer)
    for k, name in enumerate(layer):
        corner, size = (k * width + 0.004, row + 0.1), (width - 0.008, 0.8)
        ax.add_patch(plt.Rectangle(corner, *size, facecolor="#dbe9f6", edgecolor="#4c78a8"))
        centred = {"ha": "center", "va": "center", "family": "monospace"}
        ax.text((k + 0.5) * width, row + 0.5, name, fontsize=9, **centred)
    ax.text(0.52, row + 0.5, CONTENTS[layer[0]], va="center", fontsize=9)
ax.set(xlim=(0, 1.15), ylim=(len(shown), 0))
ax.axis("off")
plt.show()
