"""What somebody is asked where a table is not understood, and what of a stopped fit is kept."""

import html
import re

import pytest
from helpers import app_runs
from helpers.pages import Page
from helpers.sentences import says

import thali._surfaces.app.child_process as child
from thali._surfaces.app.comparison_candidates import build_comparison_request
from thali._surfaces.app.study_folders import COMPARE, FIT

FOODS = "VP;links;rechts;Urteil\n" + "".join(
    f"{person};{a};{b};{side}\n"
    for person in (1, 2)
    for a, b, side in (
        ("Eis", "Brot", "links"),
        ("Brot", "Bier", "rechts"),
        ("Bier", "Eis", "rechts"),
    )
)
KEYS = FOODS.replace("Urteil", "Antwort").replace("links\n", "f\n").replace("rechts\n", "j\n")
PHONES = "resp,task,alt,brand,price,choice\n" + "".join(
    f"{person},{task},1,A,{task + 1},{task % 2}\n{person},{task},2,B,{4 - task},0\n"
    f"{person},{task},none,,,{1 - task % 2}\n"
    for person in (1, 2)
    for task in range(4)
)
FITS = {"model": "elimination-by-aspects", "method": "maximum-likelihood"}


def asked_of(page: str) -> str:
    """The fields beside the problem, as HTML."""
    return page.partition('<div class="named">')[2].partition("<details")[0]


@pytest.mark.parametrize(
    "table, kind, word, field, answer, menus",
    [
        (KEYS, "", "coding", "Meaning of outcome values", "f=first\nj=second", 2),
        (PHONES.replace("none", "3"), "choice experiments", "none", "No-choice option", "3", 1),
    ],
)
def test_a_message_has_the_field_that_it_names_beside_it(
    client, children_here, table, kind, word, field, answer, menus
):
    address = client.drop("table.csv", table.encode())
    if kind:
        client.go(f"{address}/read", kind=kind)
    page = client.page(address)
    assert f"“{field}”" in Page(page).text and 'class="problem"' in page
    asked = asked_of(page)
    assert (
        asked.count(f'name="{word}"')
        == asked.count(" name=")
        == page.count(f'name="{word}"')
        == menus
    )
    assert "recognised" not in asked
    client.go(f"{address}/read", kind=kind, **{word: answer})
    page = client.page(address)
    assert 'class="problem"' not in page and f'{address}/ask"' in page and not asked_of(page)


def test_a_file_that_is_no_table_is_not_asked_about(client, children_here):
    page = client.page(client.drop("study.csv", b"%PDF-1.4\n\x00\xff\x00"))
    assert "Choose another file" in page and "The table contains" not in page
    assert "not read yet" in client.page("/home")


def test_an_argument_is_asked_for_once(client, children_here):
    page = client.page(
        f"{client.drop('table.csv', FOODS.replace('Urteil', 'chosen').encode())}/data"
    )
    kinds = re.findall(r'data-kind="([^"]*)" hidden(.*?)(?=data-kind=|</form>)', page, re.DOTALL)
    assert len(kinds) == 6
    for kind, fields in kinds:
        labels = re.findall(r"<label for[^>]*>([^<]*)</label>", fields)
        assert labels and len(labels) == len(set(labels)), kind


def test_what_was_said_of_a_table_holds_for_its_tests(client, children_here, nothing_begins):
    """As far as they have a word for it."""
    address = client.drop("table.csv", FOODS.encode())
    client.go(f"{address}/read", kind="paired comparisons", chosen="Urteil", respondent="VP")
    nothing_begins()
    client.go(f"{address}/test", test="agreement")
    assert client.study(address).read("test")["typed"] == {"chosen": "Urteil", "respondent": "VP"}


@pytest.mark.fit
def test_the_no_choice_option_is_no_attribute_of_a_page(client, children_here):
    address = client.drop("phones.csv", PHONES.encode())
    client.go(f"{address}/read", kind="choice experiments", none="none")
    page = client.page(address)
    says(Page(page).text, "resp (respondent), task")
    assert "inside" not in page


def test_a_fit_that_is_stopped_after_its_draws_is_reported(
    client, children_here, monkeypatch, nothing_begins
):
    address = client.go("/dataset", name="celebrities")
    nothing_begins()
    client.go(f"{address}/fit", model="elimination-by-aspects")
    study = client.study(address)
    monkeypatch.chdir(study.path)
    asked: list[dict] = []

    def fit(model, data, **run):
        asked.append(run)
        raise KeyboardInterrupt

    app_runs.fit_by(monkeypatch, fit)
    assert child.carry_out(FIT, child.fit_model, study, 1)["code"] == 130
    assert len(asked) == 1, "without a job there is nothing to report"
    asked.clear()
    app_runs.claim_index(monkeypatch, {"recorded": [3]})
    assert child.carry_out(FIT, child.fit_model, study, 1)["code"] == 130
    assert [run.get("max_time") for run in asked] == [None, 1e-3]


@pytest.mark.long
@pytest.mark.parametrize(
    "settings, said",
    [
        ({}, True),
        ({"draws": "100"}, False),
        ({"method": "laplace"}, False),
        ({"method": "maximum-likelihood"}, False),
    ],
)
def test_a_page_says_that_the_aim_may_move(client, children_here, nothing_begins, settings, said):
    address = client.go("/dataset", name="celebrities")
    nothing_begins()
    client.go(f"{address}/fit", model="elimination-by-aspects", **settings)
    assert ("until the chains agree" in Page(client.page(address)).text) == said


def test_a_fit_that_ended_without_a_report_is_called_stopped(client, children_here, nothing_begins):
    address = client.go("/dataset", name="celebrities")
    nothing_begins()
    client.go(f"{address}/fit", model="elimination-by-aspects")
    study = client.study(address)
    study.remove("fit.queued")
    study.write("fit.end", {"code": 130})
    assert "stopped" in Page(client.page("/home")).text and "The fit was stopped" in client.page(
        address
    )


@pytest.mark.fit  # for its time
def test_downloads_are_called_after_the_data(client, children_here):
    address = client.drop('Früh/stück "1".csv', FOODS.replace("Urteil", "chosen").encode())
    client.go(f"{address}/fit", **FITS)
    for what, name in (("fit/report", "fit.html"), ("fit/csv", "fit-csv.zip")):
        assert (
            f'filename="Fr-h-st-ck-1-{name}"'
            in client.file(address, what).headers["content-disposition"]
        )
    assert study_files(client, address)


def study_files(client, address) -> bool:
    """Whether the fit left its report."""
    return (client.study(address).path / FIT / "report.html").exists()


TRIALS = "VP;Block;links;rechts;Wahl\n" + "".join(
    f"{person};{block};{a};{b};{side}\n"
    for person in (1, 2)
    for block in ("Übung", "Haupt")
    for a, b, side in (
        ("Eis", "Brot", "links"),
        ("Brot", "Bier", "rechts"),
        ("Bier", "Eis", "rechts"),
    )
)
NOTICED = (
    "The data include 6 rows in which 'Block' is 'Übung'; exclude such rows with “Rows to"
    " keep” = Block != 'Übung'."
)


def shown_rows(page: str) -> list[list[str]]:
    """The cells of the preview."""
    table = page.partition('aria-labelledby="rows"')[2].partition("</table>")[0]
    return [re.findall("<td[^>]*>(.*?)</td>", row) for row in table.split("<tr>")[2:]]


@pytest.mark.fit
def test_rows_that_count_are_asked_for_where_there_is_more_to_say(client, children_here):
    address = client.drop("trials.csv", TRIALS.encode())
    page = client.page(address)
    assert (
        NOTICED in Page(page).text and page.count('name="where"') == 2 and "(12 in total)" in page
    )
    assert (
        page.index("First rows")
        < page.index("<details><summary>Was the table read")
        < page.rindex('name="where"')
    )
    client.go(f"{address}/read", kind="paired comparisons", where="Block == Haupt", respondent="VP")
    page = client.page(address)
    assert "6 comparisons" in Page(page).text
    says(Page(page).text, "6", "12 rows", "'Haupt'")
    assert "Übung" not in page
    says(page, "6", "12", "First rows")
    assert 'value="Block == Haupt"' in page
    assert {row[1] for row in shown_rows(page)} == {"Haupt"}


def test_practice_rows_are_left_out_by_a_button(client, children_here):
    """What was said of the table before is said again."""
    address = client.drop("trials.csv", TRIALS.encode())
    client.go(f"{address}/read", respondent="VP", where="VP > 0")
    form = client.page(address).partition("<form")[2].partition("</form>")[0]
    assert "Exclude these rows" in form
    sent = {
        name: html.unescape(value)
        for name, value in re.findall(r'name="(.*?)" value="(.*?)"', form, re.DOTALL)
    }
    assert sent["respondent"] == "VP" and sent["where"] == "VP > 0\nBlock != 'Übung'"
    client.go(f"{address}/read", **sent)
    page = client.page(address)
    assert "6 comparisons" in Page(page).text and "Exclude these rows" not in page
    assert client.study(address).read("read")["typed"]["respondent"] == "VP"


@pytest.mark.first(1)
@pytest.mark.fit
@pytest.mark.parametrize(
    ("where", "facts"),
    [
        ("Blok == Haupt", ("trials.csv", "“Rows to keep”", "'Blok'", "'Block'")),
        ("Block = Haupt", ("“Rows to keep”", "'Block = Haupt'", "'='", "character 7")),
        ("Block == Huapt", ("“Rows to keep”", "'Huapt'", "12", "'Block'")),
    ],
)
def test_a_condition_that_does_not_fit_is_mended_where_it_was_entered(
    client, children_here, where, facts
):
    address = client.drop("trials.csv", TRIALS.encode())
    client.go(f"{address}/read", where=where)
    page = client.page(address)
    says(Page(page).text, *facts)
    assert "--where" not in page
    assert page.count('name="where"') == 1 and f'value="{where}"' in page and not asked_of(page)
    assert "(12 in total)" in page and len(shown_rows(page)) == 10
    assert "<details open><summary>Was the table read" not in page, "nothing else needs to be said"
    client.go(f"{address}/read", where="Block == Haupt")
    assert 'class="problem"' not in client.page(address)


@pytest.mark.fit
def test_the_kind_of_a_table_is_said_without_losing_its_rows(client, children_here):
    trials = "block,left,right,shown,winner\nmain,a,b,c,a\nmain,b,c,a,c\nmain,c,a,b,a\nx,z,a,b,z\n"
    address = client.drop("shown.csv", trials.encode())
    client.go(f"{address}/read", where="block == main")
    page = client.page(address)
    assert "triplets" in page
    form = page.partition('<input type="hidden" name="kind"')[2].partition("</form>")[0]
    assert 'value="block == main"' in form


@pytest.mark.fit
def test_what_is_fitted_compared_and_tested_are_the_rows_that_count(
    client, children_here, nothing_begins
):
    address = client.drop("trials.csv", TRIALS.encode())
    client.go(f"{address}/read", where="Block == Haupt")
    nothing_begins()
    client.go(f"{address}/fit", **FITS)
    study = client.study(address)
    assert study.read(FIT)["typed"]["where"] == ["Block == Haupt"]
    assert build_comparison_request(study, COMPARE, ["Bradley-Terry-Luce"])["typed"]["where"] == [
        "Block == Haupt"
    ]
    client.go(f"{address}/test", test="transitivity")
    assert study.read("test")["typed"]["where"] == ["Block == Haupt"]
