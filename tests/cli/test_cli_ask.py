"""`thali ask`: an interview at the terminal."""

import builtins

import pytest

pytestmark = pytest.mark.fit


@pytest.fixture
def typed(monkeypatch, tmp_path):
    """What somebody types, line by line; then the terminal is closed."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "drinks.txt").write_text("tea\n\nmilk\nbeer \n")

    def lines(*keys):
        given = iter(keys)

        def read(prompt):
            if (key := next(given, None)) is None:
                raise EOFError
            return key

        monkeypatch.setattr(builtins, "input", read)
        return tmp_path

    return lines


def test_an_interview_is_taken_up_again(run, typed):
    folder = typed("1", "?", "t", "U", "2", "q")
    result = run("ask", "drinks.txt", "--seed", 1)
    assert result.code == 0, result.err
    log = folder / "drinks-answers.csv"
    rows = log.read_text().splitlines()
    assert rows[0] == "first,second,chosen" and len(rows) == 3
    assert rows[2].split(",")[1] == rows[2].split(",")[2]
    assert "'?' is none of the keys: 1, 2, t (neither), u (take back), q (leave)." in result.out
    assert result.out.count("is the best with probability") == 4 and "89% interval" in result.out
    assert "the answers are in drinks-answers.csv; the same command goes on" in result.err
    typed("1")  # and the terminal is closed
    again = run("ask", "drinks.txt", "--seed", 1)
    assert again.code == 0 and "2 answers found in drinks-answers.csv" in again.err
    assert len(log.read_text().splitlines()) == 4
    assert run("fit", log, "--method", "maximum-likelihood").code == 0


def test_it_ends_by_itself(run, typed):
    typed(*"111111")
    result = run("ask", "drinks.txt", "--questions", 2, "--log", "other.csv", "--seed", 1)
    assert result.code == 0 and "After 2 answers" in result.out.splitlines()[-5]
    assert run("ask", "drinks.txt", "--sure", 0.1, "--log", "third.csv", "--seed", 1).out.count("After 1 answer ") == 2


def test_nothing_is_written_before_an_answer(run, typed):
    folder = typed("u", "q")
    result = run("ask", "drinks.txt")
    assert result.code == 0 and "There is no answer to take back." in result.out
    assert result.out.rstrip().endswith("Nothing was answered.") and not (folder / "drinks-answers.csv").exists()


@pytest.mark.parametrize(
    "words, sentence",
    [
        (["drinks.txt", "--goal", "worst"], "--goal must be one of everything, ranks, best; got 'worst'."),
        (["drinks.txt", "--sure", 1], "--sure is the probability at which the interview ends and must be between"),
        (["drinks.txt", "--questions", 0], "--questions must be a whole number"),
        (["drinks.txt", "--log", "drinks.txt"], "drinks.txt is no log of an interview"),
        (["one.txt"], "An interview compares two options or more; got 1."),
        (["twice.txt"], "Labels must all differ"),
        (["image.txt"], "image.txt is no text in UTF-8; save the options as plain text, one a line."),
        (["none.txt"], "none.txt: No such file"),
    ],
)
def test_what_cannot_be_used_is_refused(words, sentence, run, typed):
    folder = typed("1")
    (folder / "one.txt").write_text("tea\n")
    (folder / "twice.txt").write_text("tea\nmilk\ntea\n")
    (folder / "image.txt").write_bytes(b"\xff\xd8\xff\xe0")
    result = run("ask", *words)
    assert result.code == 2 and sentence in result.err
    assert (folder / "drinks.txt").read_text() == "tea\n\nmilk\nbeer \n"
