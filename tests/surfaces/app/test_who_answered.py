"""Whom a column describes: people, their comparisons, or who answered, which is asked where it is
not clear."""

import re
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest
from helpers import app_runs
from helpers.pages import Page
from helpers.sentences import says

import thali._surfaces.app.child_process as child
from thali._surfaces.app.study_folders import FIT, READ

pytestmark = pytest.mark.fit  # for their time
PAIRS = [("Deutsch", "Mathe"), ("Mathe", "Sport"), ("Sport", "Deutsch"), ("Deutsch", "Kunst")]


def trials(who="Schüler"):
    """Six pupils with four trials each."""
    rows = [
        f"{who};Geschlecht;Schule;Datum;Nr;Fach links;Fach rechts;Gewählt;lauter;Reaktionszeit (s)"
    ]
    for person in range(6):
        for trial, (a, b) in enumerate(PAIRS):
            chosen = (a, b)[(person + trial * (trial > 1)) % 2]
            louder = (7 * person + trial * trial) % 5 - 2
            row = (
                f"S0{person}",
                "mw"[person % 2],
                "Nord",
                f"{person + 1}.1.2026",
                trial + 1,
                a,
                b,
                chosen,
                louder,
            )
            rows.append(";".join(map(str, (*row, f"0,{1 + (person + trial) % 5}"))))
    return "\n".join(rows).encode()


def offered(page, word):
    """What the fields of this name offer."""
    found = re.findall(rf'<select id="[^"]*-{word}"[^>]*>(.*?)</select>', page, re.DOTALL)
    listed = [re.findall('value="([^"]*)"', each) for each in found]
    ticked = re.findall(rf'<input type="checkbox" name="{word}" value="([^"]*)"', page)
    return [value for each in listed for value in each if value] + ticked


@pytest.mark.long
def test_columns_of_people_are_no_covariates(client, children_here):
    address = client.drop("klasse.csv", trials())
    page = client.page(f"{address}/ask")
    assert offered(page, "covariate") == ["order", "lauter"]
    assert set(offered(page, "by")) == {"Geschlecht"}
    assert "say who answered" not in Page(page).text
    client.go(f"{address}/read", covariate="order\nlauter")
    page = client.page(f"{address}/ask")
    assert (
        offered(page, "covariate") == ["order", "lauter"] and page.count("data-line checked") == 2
    )
    assert page.count('name="covariate"') == 2, "a question is no correction"


def test_a_covariate_that_cannot_be_used_is_asked_for_again(client, children_here):
    address = client.drop("klasse.csv", trials())
    client.go(f"{address}/read", covariate="Gewählt")
    page = client.page(address)
    says(page, "Gewählt", "cannot be a covariate")
    assert (
        offered(page, "covariate") == ["order", "lauter", "Gewählt"]
        and page.count("data-line checked") == 1
    )


def test_who_answered_is_asked_where_a_column_repeats_so(client, children_here):
    address = client.drop("klasse.csv", trials("Kürzel"))
    page = client.page(address)
    cells = "The column contains S00, S01, S02 and so on, each in several rows."
    asked = f"Does the column “Kürzel” identify respondents? {cells}"
    assert asked in Page(page).text and "people" not in Page(page).text.partition("Does column")[0]
    questions = client.page(f"{address}/ask")
    assert offered(questions, "by") == [] and offered(questions, "covariate") == [
        "order",
        "lauter",
    ]
    for form in (
        {"column": "Kürzel"},
        {"column": "Nr", "answer": "yes"},
        {"column": "Kürzel", "answer": "x"},
    ):
        assert client.post(f"/api{address}/who", json=form).status_code == 400
    client.go(f"{address}/who", column="Kürzel", answer="yes")
    page = client.page(address)
    assert (
        "24 comparisons from 6 respondents" in Page(page).text
        and "identify respondents?" not in Page(page).text
    )
    assert set(offered(client.page(f"{address}/ask"), "by")) == {"Geschlecht"}
    assert client.study(address).read(READ)["typed"] == {"respondent": "Kürzel"}


def test_a_column_that_says_something_else_is_asked_about_once(client, children_here, monkeypatch):
    address = client.drop("klasse.csv", trials("Sorte"))
    client.go(f"{address}/read", where="Nr < 4")
    client.go(f"{address}/who", column="Sorte", answer="no")
    page = client.page(address)
    assert "identify respondents?" not in Page(page).text and "18 comparisons" in Page(page).text
    assert "Sorte" in offered(client.page(f"{address}/ask"), "covariate")
    client.go(f"{address}/read", where="Nr < 3")
    assert "identify respondents?" not in Page(client.page(address)).text
    app_runs.queue_nothing(monkeypatch)
    client.go(f"{address}/fit", model="elimination-by-aspects")
    assert client.study(address).read(FIT)["typed"] == {"where": ["Nr < 3"]}
    assert (
        client.post(f"/api{address}/who", json={"column": "Sorte", "answer": "no"}).status_code
        == 409
    )


EXPERIMENT = "respondent,task,alternative,chosen,price,size,age,region\n" + "".join(
    f"r{r},{t},{a},{int(a == t % 2)},{1 + (t + a) % 3},{'SL'[(t + r + a) % 2]},{20 + r},{'NS'[r % 2]}\n"
    for r in range(4)
    for t in range(4)
    for a in range(2)
)


def test_mean_tastes_depend_on_columns_of_people(client, children_here):
    address = client.drop("phones.csv", EXPERIMENT.encode())
    client.go(f"{address}/read", kind="choice experiments")
    page = client.page(f"{address}/ask")
    assert set(offered(page, "by")) == {"age", "region"}
    assert {"price", "size"} <= set(offered(page, "linear"))
    of_nobody = client.drop(
        "phones.csv", "\n".join(row.rsplit(",", 2)[0] for row in EXPERIMENT.split()).encode()
    )
    client.go(f"{of_nobody}/read", kind="choice experiments")
    page = client.page(f"{of_nobody}/ask")
    says(page, "What do you")
    assert 'name="by"' not in page


def test_what_is_said_of_any_model_is_said_once(client, children_here, monkeypatch):
    """Another question of the same data keeps the products that are planned, and which way prices
    go."""
    address = client.drop("phones.csv", EXPERIMENT.encode())
    client.go(f"{address}/read", kind="choice experiments")
    market = {"x-name": "market.csv"}
    client.post(
        f"/api{address}/file/market", content=b"product,price,size\nA,1,S\nB,2,L\n", headers=market
    )
    app_runs.queue_nothing(monkeypatch)
    asked = {"market": "file", "monotone": "price=decreasing", "alpha": "2.5"}
    client.go(f"{address}/fit", model="product-classes", **asked)
    client.study(address).remove("fit.queued")
    page = client.page(client.go(f"{address}/again"))
    fields = {
        name: page.partition(f'data-model="{name}">')[2].partition("data-model=")[0]
        for name in ("product-classes", "hierarchical-logit")
    }
    for of_model in fields.values():
        assert 'value="file" checked' in of_model
    assert (
        'value="2.5"' in fields["product-classes"]
        and 'value="2.5"' not in fields["hierarchical-logit"]
    )
    assert '<option value="decreasing" selected>' in fields["product-classes"]


def test_a_study_is_fitted_once_however_often_it_is_asked_for(client, children_here, monkeypatch):
    """Requests that read the table again wait for each other, and for the fit of the first."""
    fits = []
    app_runs.run_by(monkeypatch, FIT, lambda study, terminal, cores: fits.append(study.name))
    read_table = child.RUN_FUNCTIONS[READ]
    is_reading = threading.Event()

    def read_slowly(*given):
        is_reading.set()
        time.sleep(0.3)
        return read_table(*given)

    app_runs.run_by(monkeypatch, READ, read_slowly)
    rows = "".join(f"{a},{b},{won}\n" for a, b in ("ab", "bc", "ca") for won in (a, b))
    with client:
        address = client.drop("table.csv", f"left,right,winner\n{rows}".encode())
        form = {"model": "BTL", "asked": "yes", "covariate": "order"}
        is_reading.clear()
        with ThreadPoolExecutor(4) as pool:
            asked = []
            for k in range(4):
                if k == 2:  # two together, two while the first reads
                    assert is_reading.wait(10.0)
                asked.append(pool.submit(client.post, f"/api{address}/fit", json=form))
        statuses = sorted(each.result().status_code for each in asked)
    assert len(fits) == 1 and statuses == [200, 409, 409, 409]
