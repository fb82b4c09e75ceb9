"""What files hold of a model besides its draws."""

import json

import h5py
import numpy as np
import pandas as pd
import pytest
from helpers.sentences import refused
from helpers.tiny_models import fitted

import thali as th
from thali._model.class_names import RETIRED
from thali._model.model_files import compute_digest, decode_object, encode_object
from thali.errors import DataError, ThaliError


@pytest.mark.parametrize("dtype", ["U400000000", "S1600000000"])
def test_a_text_is_as_wide_as_it_is(dtype):
    """Whatever a file says of it."""
    assert decode_object({"list": ["x"], "dtype": dtype}, {}).nbytes < 100
    with refused(DataError, "too long to"):
        decode_object({"list": ["x" * 30_000, *[""] * 1_000_000], "dtype": "U30000"}, {})
    numbers = {"array_0": np.arange(3)}
    assert decode_object({"array": "array_0", "dtype": dtype}, numbers).nbytes < 1000


@pytest.mark.fit
def test_a_folder_of_results_is_loaded_by_its_name(tmp_path):
    """As `thali fit --out` writes it: posterior.nc, or model.nc of a fit without draws."""
    model = th.EliminationByAspects("unique", method="maximum-likelihood").fit(
        th.datasets.celebrities()
    )
    model.save(tmp_path / "model.nc")
    assert th.load(tmp_path).maximum_likelihood.weights().equals(model.maximum_likelihood.weights())
    assert repr(th.load(str(tmp_path))) == repr(model)
    (tmp_path / "model.nc").rename(tmp_path / "other.nc")
    with refused(DataError, "is a folder"):
        th.load(tmp_path)


DATA = {
    "pairs": "58488d2a466c6fc3d2337e41e87108a648019caa418601c90046a77a74e8762f",
    "choices": "0d2a608c235824f152b55f38c7e08a300784ec7086d5acee8b3db8170264bcc5",
    "best-worst": "d195f0809a94c08584c7792a24e985063f4807d5ebc2c87861bc5c839452be00",
    "similarities": "179549fc153a687dffcf9bb25e53c05efd26d92f353a1cc6110cfc90bcf184c7",
    "triplets": "7d8dc81dbf1c96d16b12c91abdd349d43ec5d7646f81ed2d0e4dbca740b33b9c",
    "experiment": "8aaa79b1fed02ae6b896d987dcb7dd8698d5c8653019002f9f53459fa0b59b7e",
}


def data_of(kind):
    row = {
        "pairs": [
            (1, "tea", "milk", "left", 2.0),
            (1, "milk", "water", "tie", 1.0),
            (2, "tea", "water", "right", 0.5),
        ],
        "choices": [(1, 1, "tea", 1), (1, 1, "milk", 0), (2, 1, "tea", 0), (2, 1, "water", 1)],
        "best-worst": [
            (1, "tea", "milk", "water", "tea", "water"),
            (2, "tea", "milk", "water", "milk", "water"),
        ],
        "experiment": [
            (1, 1, "a", 90, 1),
            (1, 1, "b", 150, 0),
            (1, 2, "a", 120, 0),
            (1, 2, "b", 90, 1),
        ]
        + [(2, 1, "a", 90, 1), (2, 1, "b", 150, 0)],
    }
    columns = {
        "pairs": "respondent left right choice size",
        "choices": "respondent task item chosen",
        "best-worst": "respondent item1 item2 item3 best worst",
        "experiment": "respondent task alt price chosen",
    }
    made = {
        "pairs": lambda frame: th.PairedComparisons.from_trials(
            frame, covariates=["size", "order"]
        ),
        "choices": th.Choices,
        "best-worst": th.Choices.from_best_worst,
        "experiment": lambda frame: th.ChoiceExperiment.from_frame(frame, alternative="alt"),
        "similarities": lambda frame: th.datasets.numbers(),
        "triplets": lambda frame: th.Triplets([[0, 1, 2], [1, 2, 3]]),
    }
    return made[kind](
        pd.DataFrame(row[kind], columns=columns[kind].split()) if kind in row else None
    )


@pytest.mark.parametrize("kind", DATA)
def test_data_are_known_again_wherever_their_class_stands(kind):
    """By this hash jobs and saved fits know their data: it changes only if they may not go on with
    these."""
    assert compute_digest(data_of(kind)) == DATA[kind]


@pytest.mark.parametrize("kind", DATA)
def test_data_in_a_file_are_found_wherever_their_class_stands(kind):
    arrays = {}
    text = json.loads(json.dumps(encode_object(data_of(kind), arrays)))
    assert decode_object(text, arrays) == data_of(kind)
    assert text["object"] == type(data_of(kind)).__name__


LEFT = {  # a parameter in the file, and what to use instead
    "Groups": ("people", {"object": "Groups", "fields": {"weights": "free"}}, "data.by_group"),
    "LatentClasses": ("people", {"object": "LatentClasses", "fields": {"classes": 2}}, "segments"),
    "global_scale": ("global_scale", 1.0, "Laplace prior"),
}


def test_each_thing_that_left_is_tested():
    assert LEFT.keys() == RETIRED.keys()


@pytest.mark.parametrize("name", LEFT)
def test_a_file_with_something_that_left_says_what_to_use(name, tmp_path):
    parameter, encoded, instead = LEFT[name]
    model = th.BradleyTerryLuce("maximum-likelihood")
    model.fit(th.datasets.celebrities()).save(tmp_path / "model.nc")
    with h5py.File(tmp_path / "model.nc", "r+") as file:
        record = json.loads(file.attrs["thali_model"])
        record["parameters"][parameter] = encoded
        file.attrs["thali_model"] = json.dumps(record)
    with refused(DataError, repr(name), "left in thali 0.5.0", "fit the data again", instead):
        th.load(tmp_path, verify=False)


@pytest.mark.fit
@pytest.mark.parametrize(
    "name",
    [
        "multinomial-logit",
        pytest.param("latent-class-logit", marks=pytest.mark.long),
    ],
)
@pytest.mark.filterwarnings("ignore::thali.errors.ThaliWarning")
def test_attributes_of_another_type_are_refused_when_they_are_loaded(name, monkeypatch):
    """Trees as files with a right checksum hold them, in memory; what is loaded can be printed."""
    model, n_refused, trees = fitted(name), 0, {}
    files = "thali._posterior.datatree_files"
    monkeypatch.setattr(f"{files}.save", lambda tree, path: trees.update({path: tree}))
    monkeypatch.setattr(f"{files}.load", lambda path, verify: trees[path])
    stored = model._select_storable_attributes()
    attributes = dict(stored)
    monkeypatch.setattr(type(model), "_select_storable_attributes", lambda _: dict(attributes))
    for key in stored.keys() - {"posterior_"}:
        for value in (None, 5, np.zeros(3)):
            attributes[key] = value
            model.save("model.nc")
            try:
                loaded = th.load("model.nc")
            except ThaliError:
                n_refused += 1
            else:
                str(loaded)
        attributes[key] = stored[key]
    assert n_refused > len(stored)
