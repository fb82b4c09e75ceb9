"""Every kind of data × model and method in the app: the tables of `thali fit`, or one sentence in
words of the app."""

import pytest
from helpers.combinations import FITTED, MODELS, TABLES, Combination, is_quick_as_python
from helpers.compiled_code import run_as_python
from helpers.pages import Page
from helpers.stories import short_options

from thali._surfaces.app.study_folders import FIT

pytestmark = [pytest.mark.fit, pytest.mark.filterwarnings("ignore::thali.errors.ThaliWarning")]
SPECS = {spec.name: spec for spec in FITTED}
OFFERED = [
    Combination("fit", table, "one", model)
    for table, what in TABLES.items()
    for model in MODELS
    if what.kind in SPECS[model.partition(" ")[0]].data
]


@pytest.mark.first(
    0,
    "fit-best-and-worst-one-bradley-terry-luce-maximum-likelihood",
    "fit-experiment-with-none-one-multinomial-logit",
    "fit-rows-one-sparse-logit-map",
)
@pytest.mark.parametrize("combination", OFFERED, ids=str)
def test_the_app_finds_what_the_command_line_finds(
    combination, client, children_here, run, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    if is_quick_as_python(combination):
        run_as_python(monkeypatch)
    table, (name, _, method) = TABLES[combination.table], combination.model.partition(" ")
    table.make().to_csv("table.csv", index=False)
    typed = short_options(option.word for option in SPECS[name].select_options(method))
    words = [*table.words, "--model", name, *(("--method", method) if method else ())]
    words += [word for key, value in typed.items() for word in (f"--{key}", value)]
    address = client.drop("table.csv", (tmp_path / "table.csv").read_bytes())
    said = {
        word.removeprefix("--"): value
        for word, value in zip(table.words[::2], table.words[1::2], strict=True)
    }
    client.go(f"{address}/read", kind=table.kind, **said)
    (study,) = client.studies.list_all()
    offered = {name, *SPECS[name].aliases}.intersection(study.read("reading")["models"])
    if not offered:  # with these data the command line alone fits it
        return
    model, settings = offered.pop(), study.read("reading")["settings"]
    is_default = model == study.read("reading")["models"][0]
    if is_default and "people" in settings and method == "mcmc":
        words += ["--people", settings["people"]]
    typed_there = run("fit", "table.csv", *words, "--out", "out")
    form = {"model": model, "method": method}
    form |= {word: str(value) for word, value in typed.items()}
    assert client.go(f"{address}/fit", **form) == address
    ended = study.read(f"{FIT}.end")
    assert ended["code"] == typed_there.code, ended["message"] + typed_there.err
    if ended["code"]:
        assert (
            ended["message"]
            and "--" not in ended["message"]
            and ended["message"] in Page(client.page(address)).text
        )
        return
    written, here = (
        {path.name: path.read_bytes() for path in folder.glob("*.csv")}
        for folder in (study.path / FIT, tmp_path / "out")
    )
    assert written == here
    assert (study.path / FIT / "report.html").read_text("utf-8").rstrip().endswith("</html>")
    assert 'data-what="fit/view"' in client.page(address)
