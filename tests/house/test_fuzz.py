"""Broken files and odd command lines with fixed seeds: no traceback, nothing that hangs, no file
left behind."""

import io
import signal
import traceback
import zipfile
from collections import Counter

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

import thali
from thali._data import kinds
from thali._input_files import Source
from thali._reading.layout_recognition import read_data
from thali._reading.table_files import read_table
from thali.errors import LONGEST, ThaliError

LIMIT = 20  # seconds of one input

TEXTS = {
    "square": ",A,B,C\nA,0,3,4\nB,5,0,6\nC,7,8,0\n",
    "similarities": ",A,B,C\nA,1,0.8,0.3\nB,0.8,1,0.45\nC,0.3,0.45,1\n",
    "triangle": "x A B C\nA\nB 0.8\nC 0.3 0.45\n",
    "list": "winner;loser;n\nA;B;3\nB;A;1\nC;A;2\n",
    "pairs": "a,b,a_over_b,b_over_a\nA,B,3,5\nA,C,4,7\nB,C,6,8\n",
    "sets": "obsID,alt,choice\n1,A,1\n1,B,0\n1,C,0\n2,A,0\n2,B,1\n",
    "experiment": "id,task,alt,choice,price,size\n1,1,a,1,2,S\n1,1,b,0,3,L\n1,2,a,0,2,L\n1,2,b,1,3,S\n",
    "classes": "height,width,kind\n1.5,2,moss\n30,1,fern\n2,7,moss\n25,3,fern\n",
    "trials": "subject,left,right,choice\n1,A,B,left\n1,B,C,tie\n2,A,C,right\n2,B,A,left\n",
    "games": "home,away,result\nA,B,H\nB,C,D\nC,A,3:1\nB,A,A\n",
    "ties": "a,b,wins_a,wins_b,ties\nA,B,3,5,1\nA,C,4,7,0\nB,C,6,8,2\n",
    "groups": "group,winner,loser,n\nx,A,B,3\nx,B,C,1\ny,A,C,2\ny,B,A,4\n",
    "wide": "subject,A>B,A>C,B>C\n1,1,2,1\n2,2,2,0\n3,1,1,2\n",
    "ranks": "rank1,rank2,rank3\nA,B,C\nB,A,C\nC,A,\n",
    "ranks of options": "A,B,C\n2,1,3\n1,2,3\n3,1,2\n1,3,2\n",
    "ranked": "subject,item,rank\n1,A,1\n1,B,2\n2,B,1\n2,A,2\n2,C,3\n",
    "best and worst": "item1,item2,item3,best,worst\nA,B,C,A,C\nB,C,D,C,B\nA,C,D,D,A\n",
    "best-worst rows": "task,item,best,worst\n1,A,0,1\n1,B,1,0\n1,C,0,0\n2,A,1,0\n2,C,0,1\n",
    "wide"
    " experiment": "id,price_1,price_2,size_1,size_2,choice\n1,2,3,S,L,1\n1,3,2,S,S,2\n2,2,2,L,S,1\n",
    "ratings": "first,second,rater,similarity\nA,B,1,0.8\nA,C,1,0.3\nB,C,2,0.45\nA,B,2,0.7\n",
    "odd one out": "object1,object2,object3,odd\nA,B,C,C\nB,C,D,B\nA,B,D,3\n",
    "anchors": "anchor,near,far,subject\nA,B,C,1\nB,C,A,1\nC,A,D,2\n",
    "most alike": "object1,object2,object3,object4,chosen1,chosen2\nA,B,C,D,A,B\nB,C,D,A,C,D\n",
    "distances": "i,j,distance\nA,B,1.5\nA,C,2\nB,C,.7\n",
    "confusions": ",A,B,C\nA,38,4,8\nB,7,30,13\nC,5,12,33\n",
    "offered": ",id,task,alt,fee,av,choice,weight\n0,1,1,a,1,1,1,1\n1,1,1,b,2,1,0,1\n2,1,1,c,1,0,0,1\n"
    "3,2,1,a,3,1,0,2\n4,2,1,b,1,1,1,2\n",
    "scores": "item,A,B\nq1,.1,.25\nq2,.3,.4\nq3,.5,.75\n",
    "covariates": "home,away,home_goals,away_goals,home_rest,away_rest\nA,B,2,1,3,7\nB,C,0,0,4,4\n"
    "C,A,1,3,7,3\n",
}
ODD = (
    "NA - 1e400 -1 0.5 1,700 60% =A1 \x00 \u202e é ' \" \ufeff tie Total a A ∞ nan inf True".split(
        " "
    )
)
ODD += ["", " ", "\r", "\x85", "x" * 5000, "1" * 5000, "2020-01-01", "0x1F", "١٢", "(", "[["]
TREE = "((A:0.1,B:0.1)ab:0.9,C:1);"
PIECES = ["", *"(),:;['A\x00", "1e400", "-1", "x" * 3000, "(" * 2000]
WANTED = (
    (),
    (kinds.PAIRS,),
    (kinds.PAIRS, kinds.CHOICES),
    (kinds.SIMILARITIES,),
    (kinds.PAIRS, kinds.SIMILARITIES),
)
READERS = [
    read_table,
    *(lambda source, wanted=wanted: read_data(source, *wanted) for wanted in WANTED),
]
FURTHER = (kinds.EXPERIMENTS, kinds.TRIPLETS, kinds.BEST_WORST)
READERS += [lambda source, kind=kind: read_data(source, kind) for kind in FURTHER]
READERS += [lambda source: read_data(source, kinds.CLASSES, target="kind")]
READERS += [
    lambda source, how=how: read_data(source, dissimilarities=how)
    for how in ("linear", "exponential")
]
READERS += [
    thali.read,
    lambda source: thali.read(source, without="A"),
    lambda source: thali.read(source, respondent="n"),
]
READERS += [
    lambda source: thali.read(read_table(source)),
    lambda source: thali.read(source, attributes=["fee"]),
]


class Hanging(BaseException):
    """The watchdog's, which nothing catches by accident."""


def mutated_text(rng) -> tuple[str, bytes]:
    """A table of text in which cells, rows, separators, bytes or the encoding were changed."""
    name = str(rng.choice(list(TEXTS)))
    text = TEXTS[name]
    separator = next(each for each in ",; " if each in text)
    rows = [line.split(separator) for line in text.splitlines()]
    for _ in range(rng.integers(0, 4)):
        k = int(rng.integers(len(rows)))
        match rng.integers(7):
            case 0:
                rows[k][int(rng.integers(len(rows[k])))] = str(rng.choice(ODD))
            case 1:
                rows.insert(k, list(rows[int(rng.integers(len(rows)))]))
            case 2 if len(rows) > 1:
                del rows[k]
            case 3:
                rows[k].insert(int(rng.integers(len(rows[k]) + 1)), str(rng.choice(ODD)))
            case 4 if len(rows[k]) > 1:
                del rows[k][int(rng.integers(len(rows[k])))]
            case 5:
                rows = [list(row) for row in zip(*rows, strict=False)] or [[""]]
            case 6:
                rng.shuffle(rows)
    joint = str(rng.choice([separator, separator, separator, "\t", ";"]))
    ending = str(rng.choice(["\n", "\n", "\r\n", "\r"]))
    text = ending.join(joint.join(row) for row in rows)
    encoding = str(rng.choice(["utf-8", "utf-8", "utf-8-sig", "utf-16", "utf-32", "latin-1"]))
    return "text", damaged(text.encode(encoding, "replace"), rng, 0.3)


def damaged(content: bytes, rng, decisions: float) -> bytes:
    """The bytes, with some of them changed, cut off, zeroed or repeated."""
    if rng.random() > decisions or not content:
        return content
    raw, k = bytearray(content), int(rng.integers(len(content)))
    match rng.integers(4):
        case 0:
            raw[k] ^= 1 << int(rng.integers(8))
        case 1:
            del raw[k:]
        case 2:
            raw[k : k + 50] = bytes(len(raw[k : k + 50]))
        case 3:
            raw[k:k] = raw[: int(rng.integers(len(raw))) + 1]
    return bytes(raw)


def frame_of(rng) -> pd.DataFrame:
    name = str(rng.choice([each for each in TEXTS if each != "triangle"]))
    separator = ";" if name == "list" else ","
    frame = pd.read_csv(io.StringIO(TEXTS[name]), sep=separator).astype(object)
    for _ in range(rng.integers(0, 3)):
        values = [*ODD, None, ["a"], {"a": 1}, 2**60, 1.5, True, b"\xff", np.nan]
        values += [pd.Timestamp("2020-01-01")]
        column = int(rng.integers(frame.shape[1]))
        value = values[int(rng.integers(len(values)))]
        if rng.random() < 0.5:
            frame.isetitem(column, pd.Series([value] * len(frame), dtype=object))
        else:
            cells = frame.iloc[:, column].tolist()
            cells[int(rng.integers(len(cells)))] = value
            frame.isetitem(column, pd.Series(cells, dtype=object))
    return frame


def mutated_parquet(rng) -> tuple[str, bytes]:
    buffer = io.BytesIO()
    try:
        frame_of(rng).to_parquet(buffer)
    except Exception:  # a column of several kinds, which Parquet does not hold
        return mutated_text(rng)
    return "Parquet", damaged(buffer.getvalue(), rng, 0.6)


def mutated_excel(rng) -> tuple[str, bytes]:
    buffer = io.BytesIO()
    try:
        frame_of(rng).to_excel(buffer, index=bool(rng.integers(2)))
    except Exception:  # a character that Excel does not hold
        return mutated_text(rng)
    if rng.random() < 0.5:
        return "Excel", damaged(buffer.getvalue(), rng, 0.6)
    changed = io.BytesIO()
    with zipfile.ZipFile(buffer) as old, zipfile.ZipFile(changed, "w", zipfile.ZIP_DEFLATED) as new:
        for part in old.namelist():
            new.writestr(part, damaged(old.read(part), rng, 0.3))
    return "Excel", changed.getvalue()


def mutated_newick(rng) -> tuple[str, bytes]:
    text = list(TREE)
    for _ in range(rng.integers(1, 5)):
        k = int(rng.integers(len(text)))
        text[k] = str(rng.choice(PIECES))
    return "Newick", damaged("".join(text).encode(), rng, 0.3)


def attempt(what, counts: Counter, kind: str, messages: list[str]) -> None:
    """Run one input under the watchdog and count what became of it."""

    def bark(*_):
        raise Hanging

    before = signal.signal(signal.SIGALRM, bark)
    signal.alarm(LIMIT)
    try:
        what()
        counts[kind, "taken"] += 1
    except ThaliError as error:
        long = len(str(error)) > LONGEST or "\n" in str(error)
        counts[kind, "failed" if long else "refused"] += 1
        if long:
            messages.append(f"{kind}: a message of {len(str(error))} characters: {error}")
    except Hanging:
        counts[kind, "failed"] += 1
        messages.append(f"{kind}: more than {LIMIT} s")
    except BaseException:
        counts[kind, "failed"] += 1
        messages.append(f"{kind}: {traceback.format_exc()[-1500:]}")
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def report(counts: Counter, messages: list[str]) -> None:
    for kind in sorted({kind for kind, _ in counts}):
        numbers = {each: counts[kind, each] for each in ("taken", "refused", "failed")}
        print(f"{kind}: {sum(numbers.values()):,} tries, {numbers}")
    assert not messages, f"{len(messages)} failed; the first: {messages[0]}"


def read_broken_files(tries: int) -> None:
    """Each input by one reader, or as a tree."""
    makers = [mutated_text, mutated_text, mutated_excel, mutated_parquet, mutated_newick]
    counts, messages = Counter(), []
    for seed in range(tries):
        rng = np.random.default_rng([16, seed])
        kind, content = makers[seed % len(makers)](rng)
        if kind == "Newick":
            attempt(
                lambda text=content: thali.Tree.from_newick(text.decode("utf-8", "replace")),
                counts,
                kind,
                messages,
            )
        else:
            reader = READERS[int(rng.integers(len(READERS)))]
            name = str(rng.choice(["x.csv", "x.xlsx", "x.parquet"]))
            source = Source(name, content)
            attempt(lambda read=reader, source=source: read(source), counts, kind, messages)
    report(counts, messages)


OPTIONS = """
--method maximum-likelihood | --lapse 2 | --lapse 0 | --aspects unique | --aspects x | --tree tree | --seed -1
--draws 0 | --tune 999999999999999999999 | --model ? | --sigma -1 | --target kind | --folds 1 | --chosen n | --task ?
--alternative A | --out data | --alpha nan | --symmetrize max | --weight-prior a,b | --bins price=0 | --levels size
--without A | --without n | --dissimilarities max
"""
OPTIONS = [option.split() for line in OPTIONS.strip().splitlines() for option in line.split(" | ")]


def run_odd_commands(tries: int, folder, command_line) -> None:
    """Command lines that read a broken file and never draw: by maximum likelihood, or refused
    before."""
    counts, messages, runner = Counter(), [], CliRunner()
    for seed in range(tries):
        rng = np.random.default_rng([17, seed])
        _, content = (mutated_text, mutated_text, mutated_excel, mutated_parquet)[seed % 4](rng)
        (folder / "data").write_bytes(content)
        (folder / "tree").write_bytes(mutated_newick(rng)[1])
        chosen = [OPTIONS[int(k)] for k in rng.integers(len(OPTIONS), size=rng.integers(0, 3))]
        if rng.random() < 0.8:
            words = ["fit", "data", *OPTIONS[0], *sum(chosen, [])]
        else:
            words = [
                "test",
                str(rng.choice(["transitivity", "circular", "agreement", "?"])),
                "data",
            ]

        def command(words=words):
            result = runner.invoke(command_line, words)
            if result.exit_code not in (0, 2) or (
                result.exception and not isinstance(result.exception, SystemExit)
            ):
                raise AssertionError(
                    f"{words}: {result.exit_code} {result.output[-300:]}"
                ) from result.exception

        attempt(command, counts, f"thali {words[0]}", messages)
        left = {each.name for each in folder.iterdir()} - {"data", "tree"}
        if left:
            counts[f"thali {words[0]}", "failed"] += 1
            messages.append(f"{words} left {left}")
    report(counts, messages)


def test_broken_files_are_read_or_refused():
    read_broken_files(150)


def test_odd_commands_end_in_a_sentence(tmp_path, monkeypatch, command_line):
    monkeypatch.chdir(tmp_path)
    run_odd_commands(25, tmp_path, command_line)


@pytest.mark.long
def test_nine_thousand_broken_files():
    read_broken_files(9_000)


@pytest.mark.long
def test_a_thousand_odd_commands(tmp_path, monkeypatch, command_line):
    monkeypatch.chdir(tmp_path)
    run_odd_commands(1_000, tmp_path, command_line)
