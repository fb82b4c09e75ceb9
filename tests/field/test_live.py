"""Questionnaires of many people at a time: nothing is lost or counted twice, and answers decide what is asked."""

import csv
import errno
import io
import os

import numpy as np
import pandas as pd
import pytest

import thali as th
from thali.errors import ArgumentError, DataError
from thali.field import live as module
from thali.field.live import AHEAD, ASKED_FILE, FILE, KINDS, Live, planned_to_serve, sent_of
from thali.reading.recognise import read

DRINKS = ["tea", "coffee", "milk", "juice", "water", "cocoa"]
SIZES = {"pairs": 2, "best": 4, "odd-one-out": 3}


def opened(folder, kind="pairs", options=DRINKS, seed=1, **study):
    return Live(planned_to_serve(options, kind, "Drinks", study), folder, seed)


def message(person="ann", seed=7, answers=(), waiting=(), wants=0, **more):
    """What a page sends; `answers`: (number, shown, pick)."""
    held = [{"number": n, "shown": list(shown), "pick": pick, "time": 800} for n, shown, pick in answers]
    sent = {"person": person, "seed": seed, "started": "2026-11-25T10:00:00.000Z", "facts": {}}
    return sent | {"answers": held, "waiting": [list(each) for each in waiting], "wants": wants} | more


def told(live, **sent):
    return live.take(sent_of(message(**sent), live))


def asked(live, person="ann", n=AHEAD + 1, **more):
    """Questions that somebody is given."""
    return told(live, person=person, wants=n, **more)["questions"]


def rows_in(folder):
    return list(csv.DictReader(io.StringIO((folder / FILE).read_text(), newline="")))


def answer_all(live, people, pick=lambda shown: 0):
    """Everybody answers one question after the other, in turns."""
    for k in range(live.each):
        for person in people:
            (shown,) = told(live, person=person, wants=1)["questions"]
            told(live, person=person, answers=[(live.first + k, shown, pick(shown))])


@pytest.mark.unit
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("n", [4, 5, 11])
def test_the_first_questions_connect_all_options(kind, n, tmp_path):
    live = opened(tmp_path, kind, [f"o{k}" for k in range(n)])
    joined = {0}
    for _ in range(n):
        joined |= {k for question in live._ready if question & joined for k in question}
    assert joined == set(range(n)) and {len(each) for each in live._ready} == {SIZES[kind]}
    asked = [frozenset(q) for person in "abcdefgh" for q in told(live, person=person, wants=AHEAD + 1)["questions"]]
    assert set(asked[: len(live._ready)]) == set(live._ready)


@pytest.mark.unit
@pytest.mark.parametrize("kind", KINDS)
def test_nobody_is_asked_the_same_twice_and_all_are_asked_as_often_as_planned(kind, tmp_path):
    live = opened(tmp_path, kind, DRINKS)
    assert live.each == {"pairs": 15, "best": 15, "odd-one-out": 20}[kind]  # all that there are, 20 at most
    answer_all(live, ["ann", "bob"])
    for person in ("ann", "bob"):
        shown = [each for each in live._answers if each.person == person]
        own = [frozenset(each.shown) for each in shown]
        assert len(set(own)) == len(own) == live.each
        assert told(live, person=person, wants=4)["questions"] == []
    assert live.counts() == {"people": 2, "answers": 2 * live.each, "whole": 2}


@pytest.mark.unit
def test_questions_in_hand_are_not_given_again_and_options_stand_in_any_order(tmp_path):
    live = opened(tmp_path, seed=3)
    waiting = asked(live)
    assert asked(live, waiting=waiting) == []  # as many as a page has in hand
    more = asked(live, waiting=waiting[1:], answers=[(1, waiting[0], 0)])
    assert len({frozenset(each) for each in (*waiting, *more)}) == len(waiting) + len(more) == AHEAD + 2
    firsts = [told(live, person=f"p{k}", wants=1)["questions"][0] for k in range(60)]
    assert 10 < sum(a < b for a, b in firsts) < 50


@pytest.mark.unit
def test_an_answer_counts_once_however_often_it_is_sent(tmp_path):
    live = opened(tmp_path)
    shown, other = asked(live, n=2)
    for _ in range(3):
        assert told(live, answers=[(1, shown, 1)])["kept"] == 1
    assert told(live, answers=[(1, shown, 0), (2, other[::-1], 0), (2, other, 0)])["kept"] == 2
    found = rows_in(tmp_path)
    assert found[0]["chosen"] == DRINKS[shown[1]]
    assert [row["trial"] for row in found] == ["1", "2"]
    assert told(live, seed=8, answers=[(1, *asked(live, n=1, seed=8), 1)])["kept"] == 1  # somebody else of that name
    assert live.counts()["people"] == 2


@pytest.mark.unit
def test_a_server_that_comes_back_goes_on_from_the_file(tmp_path):
    live = opened(tmp_path, no_preference=True)
    questions = told(live, wants=4)["questions"]
    told(live, answers=[(1, questions[0], 1), (2, questions[1], -1)])
    again = opened(tmp_path, no_preference=True)
    assert again.counts() == live.counts() and again._answers == live._answers and again._shown == live._shown
    assert told(again, answers=[(2, questions[1], 0), (3, questions[2], 0)])["kept"] == 3
    assert [row["chosen"] for row in rows_in(tmp_path)][1] == "no preference"


@pytest.mark.unit
@pytest.mark.parametrize("cut", [1, 2, 5, 30])
def test_an_answer_that_was_being_written_when_the_power_failed_goes_and_comes_again(cut, tmp_path):
    live = opened(tmp_path)
    questions = told(live, wants=4)["questions"]
    told(live, answers=[(1, questions[0], 1)])
    told(live, answers=[(2, questions[1], 1)])
    whole = (tmp_path / FILE).read_bytes()
    (tmp_path / FILE).write_bytes(whole[:-cut])
    again = opened(tmp_path)
    assert again.counts()["answers"] == 1
    assert told(again, answers=[(2, questions[1], 1)])["kept"] == 2
    assert (tmp_path / FILE).read_bytes() == whole
    (tmp_path / FILE).write_bytes(whole[:20])  # within the header
    assert opened(tmp_path).counts()["answers"] == 0


@pytest.mark.unit
def test_a_file_with_other_line_ends_counts_and_a_file_of_others_stays(tmp_path):
    live, path = opened(tmp_path), tmp_path / FILE
    told(live, answers=[(k, shown, 1) for k, shown in enumerate(asked(live, n=2), start=1)])
    path.write_bytes(held := path.read_bytes().replace(b"\r\n", b"\n"))  # as an editor saves it
    assert opened(tmp_path).counts()["answers"] == 2 and path.read_bytes() == held
    path.write_bytes(held[:-1])
    assert opened(tmp_path).counts()["answers"] == 1
    assert path.with_suffix(".cut").read_bytes() == held.splitlines(keepends=True)[-1]  # nothing is lost
    for other in (
        b"a,b\n1,2\n",
        b"a,b\r\n1,2",
        b"my only copy",
        b"\n",
        held[:20] + b"\n",
        held.replace(b"trial", b"task"),
    ):
        path.write_bytes(other)
        with pytest.raises(DataError, match="holds answers to another study, or was changed; name another folder"):
            opened(tmp_path)
        assert path.read_bytes() == other


@pytest.mark.unit
def test_an_answer_to_another_question_of_that_number_is_not_taken_for_kept(tmp_path):
    live = opened(tmp_path)
    first, second, third, _ = asked(live)
    told(live, answers=[(1, first, 1)])
    with pytest.raises(DataError, match="Question 1 of ann showed something else before"):
        told(live, answers=[(1, second, 1), (2, third, 1)])
    with pytest.raises(DataError, match="Question 2 of ann showed something else before"):
        told(live, answers=[(2, first, 1)])  # one question, twice
    with pytest.raises(DataError, match="Question 3 of ann showed something else before"):
        told(live, answers=[(2, second, 1), (3, second, 1)])
    assert live.counts()["answers"] == 1 and told(live, answers=[(1, first[::-1], 0)])["kept"] == 1


@pytest.mark.unit
@pytest.mark.parametrize("kind", KINDS)
def test_an_answer_counts_where_its_question_was_given_to_that_person(kind, tmp_path):
    """And nobody chooses among questions: those that did not arrive come again until they are answered."""
    live = opened(tmp_path, kind)
    own = asked(live)
    assert asked(live) == own and asked(live, waiting=own[1:]) == own[:1]
    of_others = [each for person in ("bob", "cat", "dan") for each in asked(live, person)]
    others = [each for each in of_others if frozenset(each) not in set(map(frozenset, own))]
    with pytest.raises(DataError, match="Question 1 of ann was not asked"):
        told(live, answers=[(1, others[0], 0)])
    with pytest.raises(DataError, match="Question 1 of eve was not asked"):
        told(live, person="eve", answers=[(1, own[0], 0)])
    assert not (tmp_path / FILE).exists()
    again = opened(tmp_path, kind)  # a server that comes back knows what it asked
    assert asked(again) == own and told(again, answers=[(1, own[0], 0)])["kept"] == 1
    assert not {frozenset(own[0])} & set(map(frozenset, asked(again, waiting=own[1:])))
    for _ in range(30):
        given = asked(again)
    assert len(given) == AHEAD + 1 and len(again._asked["ann", 7]) == AHEAD + 2
    (tmp_path / ASKED_FILE).write_bytes((tmp_path / ASKED_FILE).read_bytes() + b"half a li")
    assert asked(opened(tmp_path, kind)) == given
    (tmp_path / FILE).unlink()
    before = (tmp_path / ASKED_FILE).read_bytes()
    assert opened(tmp_path, kind, [*DRINKS, "beer"])._asked == {}  # another study, which nobody had answered
    assert not (tmp_path / ASKED_FILE).exists() and (tmp_path / ASKED_FILE).with_suffix(".cut").read_bytes() == before


@pytest.mark.unit
@pytest.mark.parametrize(
    "damage",
    [
        b"\r\n",
        b"\0\0\0\0\r\n",
        b"other,x,1,0,1\r\n",
        b'"\r\n',
        b"ID,a\xff,7,0,1\r\n",
        b"ID,ann\r\n",
        b"ID,ann,one,0,1\r\n",
        b"ID,ann,7,0,9\r\n",
    ],
)
@pytest.mark.parametrize("place", [0, 1, 4])
def test_a_line_that_is_blank_or_damaged_keeps_the_others(damage, place, tmp_path):
    live, path = opened(tmp_path), tmp_path / ASKED_FILE
    own = asked(live)
    lines = path.read_bytes().splitlines(keepends=True)
    lines.insert(place, damage.replace(b"ID", live.planned.data["id"].encode()))
    path.write_bytes(b"".join(lines))
    again = opened(tmp_path)
    assert again._asked == live._asked and path.read_bytes() == b"".join(lines)
    assert again._has_lost == (damage != b"\r\n")
    assert told(again, answers=[(1, own[0], 0)], waiting=own[1:])["kept"] == 1


@pytest.mark.unit
@pytest.mark.parametrize("lost", [slice(None), slice(1, 2)], ids=["the file", "a line"])
def test_where_what_was_asked_is_lost_answers_in_hand_count(lost, tmp_path):
    """As in a folder that was copied without its hidden files."""
    live, path = opened(tmp_path), tmp_path / ASKED_FILE
    own = asked(live)
    told(live, answers=[(k, own[k - 1], 0) for k in (1, 2)], waiting=own[2:])
    lines = path.read_bytes().splitlines(keepends=True)
    del lines[lost]
    path.write_bytes(b"".join(lines)) if lines else path.unlink()
    for _ in range(2):  # also when the server comes back once more
        live = opened(tmp_path)
        with pytest.raises(DataError, match="Question 3 of ann showed something else before"):
            told(live, answers=[(3, own[2], 0), (3, own[3], 0)])
        with pytest.raises(DataError, match="Question 3 of ann showed something else before"):
            told(live, answers=[(3, own[1], 0)])
        for _ in range(live.each):  # what is in hand is not given again
            more = told(live, waiting=own[2:], wants=AHEAD + 1)["questions"]
            assert not set(map(frozenset, own)) & set(map(frozenset, more)) and len(more) <= 2
    assert told(live, answers=[(3, own[2], 0)], waiting=own[3:])["kept"] == 3
    assert told(live, person="bob", answers=[(1, own[0], 0)])["kept"] == 1  # of whom nothing is known
    pairs = [(a, b) for a in range(6) for b in range(a)]
    assert told(live, person="eve", answers=[(k + 1, pair, 0) for k, pair in enumerate(pairs)])["kept"] == live.each
    assert told(live, person="eve", wants=4)["questions"] == []


@pytest.mark.unit
def test_where_what_was_asked_is_lost_nobody_has_more_questions_than_everybody(tmp_path):
    live = opened(tmp_path, per_person=3)
    told(live, answers=[(1, asked(live)[0], 0)])
    (tmp_path / ASKED_FILE).unlink()
    again = opened(tmp_path, per_person=3)
    four = [(0, 1), (1, 2), (2, 3), (3, 4)]
    assert told(again, person="bob", waiting=four[:3], wants=4)["questions"] == []
    sent = sent_of(message(person="bob", answers=[(k + 1, four[k], 0) for k in range(3)]), again)
    assert again.take(sent, "10.0.0.7")["kept"] == 3 and again._from["10.0.0.7"] == 1
    with pytest.raises(DataError, match="Question 3 of bob was not asked"):
        told(again, person="bob", answers=[(3, four[3], 0)])


@pytest.mark.unit
def test_a_disk_that_is_full_keeps_the_file_and_says_so(tmp_path, monkeypatch):
    live = opened(tmp_path)
    questions = told(live, wants=4)["questions"]
    told(live, answers=[(1, questions[0], 1)])
    before = (tmp_path / FILE).read_bytes()

    def full(_):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as patch:
        patch.setattr(module.os, "fsync", full)
        with pytest.raises(OSError, match="No space"):
            told(live, answers=[(2, questions[1], 1)])
    assert (tmp_path / FILE).read_bytes() == before and live.counts()["answers"] == 1
    assert told(live, answers=[(2, questions[1], 1)])["kept"] == 2


@pytest.mark.unit
def test_a_folder_of_another_study_or_a_damaged_line_is_refused(tmp_path):
    live = opened(tmp_path)
    (shown,) = asked(live, n=1)
    told(live, answers=[(1, shown, 1)])
    with pytest.raises(DataError, match="holds answers to another study"):
        opened(tmp_path, options=[*DRINKS, "beer"])
    with pytest.raises(DataError, match="holds answers to another study"):
        opened(tmp_path, kind="best")
    text = (tmp_path / FILE).read_bytes()
    chosen = DRINKS[shown[1]].encode()
    for damage in (
        text.replace(b"%b,%b" % (chosen, chosen), b"%b,beer" % chosen),
        text.replace(b",7,", b",seven,"),
        text + b"x\r\n",
    ):
        (tmp_path / FILE).write_bytes(damage)
        with pytest.raises(DataError, match=r"Line \d of .* is damaged|another study"):
            opened(tmp_path)


@pytest.mark.unit
@pytest.mark.parametrize("kind", KINDS)
def test_the_file_is_that_of_a_page_and_is_read_without_an_option(kind, tmp_path):
    """As `thali field collect` reads it, and as `thali fit` does; the columns are those of the page by itself."""
    questions = [{"name": "age", "ask": "Age?", "kind": "number"}]
    live = opened(tmp_path, kind, per_person=6, practice=[{"options": DRINKS[: SIZES[kind]]}], questions=questions)
    assert live.first == 2  # practice is a trial, too
    rng = np.random.default_rng(1)
    for k in range(6):
        for seed, person in enumerate(("ann", "bob")):
            (shown,) = told(live, person=person, seed=seed, wants=1)["questions"]
            answers = [(2 + k, shown, int(rng.integers(len(shown))))]
            told(live, person=person, seed=seed, answers=answers, facts={"age": "33"})
    data, _ = read(tmp_path / FILE)
    collected = th.field.collect(tmp_path)
    assert collected.note == "2 people, 12 answers." and set(collected.answers["age"]) == {33}
    collected.answers.to_csv(tmp_path / "joined.csv", index=False)
    assert str(read(tmp_path / "joined.csv")[0]) == str(data)
    assert set(data.labels) == set(DRINKS)
    frame = pd.read_csv(tmp_path / FILE)
    assert frame.columns.tolist() == live.planned.data["columns"]
    assert frame["trials_planned"].unique().tolist() == [6] and frame["trial"].unique().tolist() == [2, 3, 4, 5, 6, 7]


@pytest.mark.unit
def test_names_and_remarks_are_text_of_one_line_and_no_formula(tmp_path):
    questions = [{"name": "remark", "ask": "?", "required": False}]
    live = opened(tmp_path, questions=questions)
    names = ["=1+1", "@x", 'a"b,c', "a\r\nb\x00c", "\u202eevil", "<script>", "ä" * 64, "'; DROP", "-1"]
    for k, name in enumerate(names):
        (shown,) = asked(live, name, 1, seed=k)
        told(live, person=name, seed=k, started=name, answers=[(1, shown, 0)], facts={"remark": name, "chosen": "none"})
    found = rows_in(tmp_path)
    expected = ["'=1+1", "'@x", 'a"b,c', "abc", "evil", "<script>", "ä" * 64, "'; DROP", "-1"]
    for column in ("person", "remark", "started"):
        assert [row[column] for row in found] == expected, column
    assert opened(tmp_path, questions=questions).counts()["people"] == len(names)


WRONG = {
    "no object": [],
    "no person": {"person": " \x00"},
    "a long name": {"person": "x" * 65},
    "a name that is none": {"person": {"a": 1}},
    "a seed beyond": {"seed": 2**32},
    "a seed of text": {"seed": "7"},
    "a seed that is true": {"seed": True},
    "a fraction": {"seed": 7.5},
    "answers without end": {"answers": [{"number": 1, "shown": [0, 1], "pick": 0, "time": 1}] * 100_000},
    "answers that are none": {"answers": [1]},
    "an answer to what is not asked": {"answers": [{"number": 16, "shown": [0, 1], "pick": 0, "time": 1}]},
    "number 0": {"answers": [{"number": 0, "shown": [0, 1], "pick": 0, "time": 1}]},
    "one option twice": {"answers": [{"number": 1, "shown": [1, 1], "pick": 0, "time": 1}]},
    "an option beyond": {"answers": [{"number": 1, "shown": [0, 6], "pick": 0, "time": 1}]},
    "an option before": {"answers": [{"number": 1, "shown": [-1, 1], "pick": 0, "time": 1}]},
    "three options": {"answers": [{"number": 1, "shown": [0, 1, 2], "pick": 0, "time": 1}]},
    "true options": {"answers": [{"number": 1, "shown": [True, False], "pick": 0, "time": 1}]},
    "a pick beyond": {"answers": [{"number": 1, "shown": [0, 1], "pick": 2, "time": 1}]},
    "neither, which is not asked": {"answers": [{"number": 1, "shown": [0, 1], "pick": -1, "time": 1}]},
    "a time that is none": {"answers": [{"number": 1, "shown": [0, 1], "pick": 0, "time": "<b>"}]},
    "all questions": {"wants": 10**9},
    "waiting for nothing": {"waiting": [[0]]},
    "no waiting": {"waiting": None},
    "facts that are none": {"facts": ["remark"]},
    "a remark without end": {"facts": {"remark": "x" * 501}},
}


@pytest.mark.unit
@pytest.mark.parametrize("what", WRONG)
def test_what_no_page_sends_is_refused_and_leaves_nothing(what, tmp_path):
    live = opened(tmp_path, questions=[{"name": "remark", "ask": "?"}])
    wrong = WRONG[what]
    with pytest.raises(DataError):
        live.take(sent_of(wrong if wrong == [] else message() | wrong, live))
    assert not (tmp_path / FILE).exists() and live.counts()["people"] == 0


@pytest.mark.unit
def test_there_is_room_for_so_many_people(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "MAX_PEOPLE", 5)
    monkeypatch.setattr(module, "MAX_OF_ADDRESS", 2)
    live = opened(tmp_path)

    def begin(person, address):
        return live.take(sent_of(message(person=person, wants=1), live), address)["questions"]

    begin("ann", "10.0.0.7"), begin("bob", "10.0.0.7")
    with pytest.raises(module.NoRoom, match=r"2 people take part from 10\.0\.0\.7, and there is no room for more"):
        begin("eve", "10.0.0.7")
    own = begin("ann", "10.0.0.7")  # who is here goes on
    begin("eve", "10.0.0.8")
    for person in ("dan", "fay"):
        begin(person, "")  # this computer
    with pytest.raises(module.NoRoom, match="5 people take part"):
        begin("gus", "10.0.0.9")
    assert told(live, answers=[(1, own[0], 0)])["kept"] == 1 and len(live._asked) == 5


@pytest.mark.unit
def test_a_message_that_is_refused_or_asks_nothing_takes_no_room(tmp_path, monkeypatch):
    live = opened(tmp_path)

    def send(address="10.0.0.7", **sent):
        return live.take(sent_of(message(**sent), live), address)

    for k in range(3):
        with pytest.raises(DataError, match="was not asked"):
            send(person=f"p{k}", answers=[(1, (0, 1), 0)], wants=4)
        assert send(person=f"q{k}", waiting=[(0, 1)]) == {"kept": 0, "questions": []}

    def full(_):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as patch:
        patch.setattr(module.os, "fsync", full)
        with pytest.raises(OSError, match="No space"):
            send(wants=4)
    assert live._asked == {} and live._from == {} and not (tmp_path / FILE).exists()
    for k in range(3):  # and who is here counts once
        send(wants=k)
    assert live._asked.keys() == {("ann", 7)} and live._from == {"10.0.0.7": 1}


@pytest.mark.unit
@pytest.mark.parametrize(
    ("addresses", "places"),
    [
        (["2001:db8::1", "2001:db8::ffff:2", "2001:db8:0:1::1"], {"2001:db8::/64": 2, "2001:db8:0:1::/64": 1}),
        (["fe80::1%eth0", "fe80::2"], {"fe80::/64": 2}),
        (["::ffff:10.0.0.7", "10.0.0.7", "::ffff:10.0.0.8"], {"10.0.0.7": 2, "10.0.0.8": 1}),
        (["127.0.0.1", "::1", "::ffff:127.0.0.1", "testclient", ""], {"": 5}),  # this computer
    ],
)
def test_an_address_is_counted_as_one_network(addresses, places, tmp_path):
    live = opened(tmp_path)
    for k, address in enumerate(addresses):
        live.take(sent_of(message(person=f"p{k}", wants=1), live), address)
    assert live._from == places


@pytest.mark.unit
def test_what_cannot_be_asked_of_a_class(tmp_path):
    for kind in ("ranking", "ratings", "choice", "best-worst"):
        with pytest.raises(ArgumentError, match="must be one of pairs, best, odd-one-out"):
            planned_to_serve(DRINKS, kind, None, None)
    with pytest.raises(ArgumentError, match="give it options, not a design"):
        planned_to_serve(th.designs.pairs(DRINKS, 10), None, None, None)
    for name in ("order", "sides"):
        with pytest.raises(DataError, match=f"remove {name} = 'given' from the study"):
            planned_to_serve(DRINKS, None, None, {name: "given"})
    with pytest.raises(DataError, match="of 2 options ask pairs"):
        planned_to_serve(DRINKS, "best", None, {"size": 2})
    for study in ({"post": "https://example.org"}, {"catch": [{"options": ["tea", "mud"], "answer": "tea"}]}):
        with pytest.raises(DataError, match=next(iter(study))):
            planned_to_serve(DRINKS, None, None, study)
    planned = planned_to_serve([f"o{k}" for k in range(30)], None, None, None)
    assert planned.sentence.startswith("pairs: 20 questions for each person about 'o0'")
    assert planned_to_serve(DRINKS, "best", None, {"per_person": 3}).data["live"] == 3


@pytest.mark.fit
@pytest.mark.parametrize("kind", KINDS)
def test_answers_decide_what_is_asked_and_what_is_known(kind, tmp_path):
    """Whoever chooses the option that stands first in the list; what is alike has numbers of one parity."""
    live = opened(tmp_path, kind, per_person=10)
    assert not live.fit()  # nothing is known

    def odd(shown):
        of = [k for k in shown if sum(j % 2 == k % 2 for j in shown) == 1]
        return shown.index(of[0]) if of else 0

    answer_all(live, ["ann", "bob", "eve"], odd if kind == "odd-one-out" else lambda shown: shown.index(min(shown)))
    before = set(live._ready)
    assert live.fit() and not live.fit()
    rows = live.standing.rows
    assert live.standing.answers == 30 and set(live._ready) != before
    assert all(row.low <= row.value <= row.high and row.best <= row.worst for row in rows)
    if kind == "odd-one-out":
        alike = [{DRINKS.index(name) % 2 for name in row.label.split(" + ")} for row in rows[:4]]
        assert [len(each) for each in alike] == [1] * 4
    else:
        assert rows[0].label == "tea" and rows[-1].label in DRINKS[3:]
        assert sum(row.value for row in rows) == pytest.approx(1.0)
