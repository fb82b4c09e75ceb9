"""`thali ask`: an interview at the terminal."""

import builtins
import os
import select
import sys
import time

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


def test_an_interview_is_taken_up_again(run, done, typed):
    folder = typed("1", "?", "t", "U", "2", "q")
    result = done("ask", "drinks.txt", "--seed", 1)
    log = folder / "drinks-answers.csv"
    rows = log.read_text().splitlines()
    assert rows[0] == "first,second,chosen" and len(rows) == 3
    assert rows[2].split(",")[1] == rows[2].split(",")[2]
    assert "'?' is none of the keys: 1, 2, t (neither), u (take the last answer back), q (leave)." in result.out
    assert result.out.count("is the best with probability") == 4 and "89% interval" in result.out
    assert "the answers are in drinks-answers.csv; the same command goes on" in result.err
    typed("1")  # and the terminal is closed
    again = run("ask", "drinks.txt", "--seed", 1)
    assert again.code == 0 and "2 answers found in drinks-answers.csv" in again.err
    assert len(log.read_text().splitlines()) == 4
    assert run("fit", log, "--method", "maximum-likelihood").code == 0


def test_three_at_a_time(run, done, refused, typed):
    folder = typed("1", "t", "3", "u", "2")
    result = done("ask", "drinks.txt", "--shown", 3, "--seed", 1)
    assert "1, 2 or 3: the one you choose; u: take the last answer back; q: leave." in result.err
    assert "'t' is none of the keys: 1, 2, 3, u (take the last answer back), q (leave)." in result.out
    log = folder / "drinks-answers.csv"
    rows = log.read_text().splitlines()
    assert rows[0] == "choice_id,alternative,chosen" and [row[-1] for row in rows[1:]] == list("100010")
    assert "2 answers found" in run("ask", "drinks.txt", "--shown", 3, "--seed", 1).err
    assert (
        refused("ask", "drinks.txt", "--seed", 1)
        .strip()
        .endswith("shows three options at a time, and this one shows two; give --shown 3, or name another file.")
    )
    assert log.read_text().splitlines() == rows


def _read_to(terminal, end):
    """Read what the terminal shows, to this end of it."""
    said, patience = b"", time.monotonic() + 300
    while not said.endswith(end):
        assert time.monotonic() < patience, said
        if select.select([terminal], [], [], 1)[0]:
            said += os.read(terminal, 4096)


@pytest.mark.skipif(sys.platform == "win32", reason="there are no pseudoterminals")
def test_a_terminal_that_is_closed_costs_no_answer(typed):
    """The process is killed by the hangup while it waits for the second answer."""
    import pty

    folder = typed()
    child, terminal = pty.fork()
    if child == 0:
        os.execv(sys.executable, [sys.executable, "-m", "thali", "ask", "drinks.txt", "--shown", "3", "--seed", "1"])
    _read_to(terminal, b"   > ")
    os.write(terminal, b"2\n")
    _read_to(terminal, b"   > ")
    os.close(terminal)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) != 0
    rows = (folder / "drinks-answers.csv").read_text().splitlines()
    assert [row[-1] for row in rows[1:]] == list("010") and len(os.listdir(folder)) == 2


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
        (["drinks.txt", "--shown", 4], "--shown must be one of 2, 3; got 4."),
        (["one.txt"], "An interview compares two options or more; got 1."),
        (["one.txt", "--shown", 3], "An interview compares three options or more; got 1."),
        (["twice.txt"], "Options must all differ"),
        (["image.txt"], "image.txt is no text in UTF-8; save the options as plain text, one a line."),
        (["none.txt"], "none.txt: No such file"),
    ],
)
def test_what_cannot_be_used_is_refused(words, sentence, refused, typed):
    folder = typed("1")
    (folder / "one.txt").write_text("tea\n")
    (folder / "twice.txt").write_text("tea\nmilk\ntea\n")
    (folder / "image.txt").write_bytes(b"\xff\xd8\xff\xe0")
    assert sentence in refused("ask", *words)
    assert (folder / "drinks.txt").read_text() == "tea\n\nmilk\nbeer \n"
