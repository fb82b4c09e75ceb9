"""`thali ask`: an interview at the terminal."""

import sys
from pathlib import Path

from thali._labels import plural
from thali.errors import DataError
from thali.paired.interview import QUIT, TIE, UNDO, Interview, has_ended

from ...readable import align
from ..boundary import notify

_KEYS = {"t": (TIE, "neither"), "u": (UNDO, "take the last answer back"), "q": (QUIT, "leave")}
_RANKED = 10  # options in the last table


def run_ask(
    file: Path,
    log: Path | None,
    goal: str,
    questions: int | None,
    sure: float,
    aspects: str,
    seed: int | None,
    shown: int,
) -> None:
    """Ask until the goal is reached or the person leaves, and print what is known."""
    from thali._arguments import between, whole
    from thali.aspects.models.elimination import EliminationByAspects

    sure = between("sure", sure, "the probability at which the interview ends")
    questions = None if questions is None else whole("questions", questions, 1)
    path = file.with_name(f"{file.stem}-answers.csv") if log is None else log
    model = EliminationByAspects(int(aspects) if aspects.isdecimal() else aspects)
    interview = Interview(_options(file), model, goal, path, seed, shown)
    if interview.answers:
        notify(f"{plural(len(interview.answers), 'answer')} found in {path}; the interview goes on.")
    numbers = " or ".join([", ".join(map(str, range(1, shown))), str(shown)])
    others = "; ".join(f"{key}: {does}" for key, (_, does) in _other_keys(shown).items())
    notify(f"{numbers}: the one you choose; {others}. Press Enter after it.")
    try:
        _ask_on(interview, questions, sure)
    except (EOFError, KeyboardInterrupt):  # the terminal was closed, or Ctrl-C: nothing is lost
        print()
    _tell(interview, path)


def _ask_on(interview: Interview, questions: int | None, sure: float) -> None:
    """Ask until the end; an answer is in the log before the next question."""
    while not has_ended(interview, questions, sure):
        answer = _answer(interview)
        if answer == QUIT:
            return
        if answer == UNDO:
            if not interview.undo():
                print("There is no answer to take back.")
            continue
        if not interview.answers:
            notify("thinking; the first time that takes some seconds.")
        interview.answer(answer)
        print(f"   {interview.standing().sentence}")


def _other_keys(shown: int) -> dict[str, tuple[str, str]]:
    """The keys besides the numbers: what each answers, and what it does. Of three options one is always chosen."""
    return {key: each for key, each in _KEYS.items() if shown == 2 or key != "t"}


def _answer(interview: Interview) -> str:
    """What was answered, in the words of `Interview`."""
    by_number = {str(number): option for number, option in enumerate(interview.question, start=1)}
    others = _other_keys(interview.shown)
    answers = by_number | {key: answer for key, (answer, _) in others.items()}
    options = "   ".join(f"{key}  {option}" for key, option in by_number.items())
    while True:
        typed = input(f"\n{len(interview.answers) + 1}.  Which do you choose?   {options}   > ").strip()
        if (answer := answers.get(typed.casefold())) is not None:
            return answer
        keys = ", ".join([*by_number, *(f"{key} ({does})" for key, (_, does) in others.items())])
        print(f"{typed!r} is none of the keys: {keys}.")


def _options(file: Path) -> list[str]:
    """The lines of a text file that are not empty."""
    try:
        lines = file.read_text(encoding="utf-8-sig").splitlines()
    except UnicodeDecodeError:
        raise DataError(f"{file} is no text in UTF-8; save the options as plain text, one a line.") from None
    return [line.strip() for line in lines if line.strip()]


def _tell(interview: Interview, path: Path) -> None:
    """What is known now, and where the answers are."""
    if not interview.answers:
        print("Nothing was answered.")
        return
    print(f"\n{interview.standing().sentence}")
    table = interview.model.ranks().head(_RANKED)
    rows = [("rank", "89% interval", "option")]
    rows += [
        (f"{row['rank']:.1f}", f"{row.rank_low:.0f} to {row.rank_high:.0f}", str(name))
        for name, row in table.iterrows()
    ]
    print(align(rows, left={2}))
    sys.stdout.flush()
    notify(f"the answers are in {path}; the same command goes on, and thali fit {path} reads them.")
