"""Interviews in the browser: each is a study whose data are the answers to come."""

import threading
from typing import Any

from thali.errors import DataError
from thali.inference.files import atomic_write
from thali.paired.interview import BEST, EVERYTHING, RANKS, SHOWN, TIE, Interview

from .studies import Studies, Study
from .words import Speech

INTERVIEW, LOG = "interview", "answers.csv"  # what was asked for, and the answers
GOALS = (BEST, RANKS, EVERYTHING)
WORDS = ("first", "second", "third")  # for what is shown
SIZES = tuple(map(str, SHOWN))  # how many options are shown
_MAX_OPTIONS = 200  # options


class Interviews:
    """The interviews that are being held; after a restart each goes on from its answers."""

    def __init__(self) -> None:
        self._held: dict[str, Interview] = {}
        self._lock = threading.Lock()

    def begin(self, studies: Studies, text: str, goal: str, shown: int, speech: Speech) -> Study:
        """Hold an interview about the options in the lines of a text; raises a ThaliError if that cannot be."""
        options = [line.strip() for line in text.splitlines() if line.strip()]
        if len(options) > _MAX_OPTIONS:
            raise DataError(f"There are {len(options):,} options, and an interview is about {_MAX_OPTIONS} at most.")
        Interview(options, goal=goal, shown=shown)  # refuses what cannot be asked
        title = speech.texts.interview.name.format(number=len(options))
        study = studies.new(title, language=speech.language)
        study.write(INTERVIEW, {"options": options, "goal": goal, "shown": shown})
        return study

    def shown(self, study: Study) -> dict[str, Any]:
        """What its page shows: the question, and what is known so far."""
        with self._lock:
            interview = self._of(study)
            return {
                "options": list(zip(WORDS, interview.question, strict=False)),
                "has_tie": interview.shown == 2,
                "number": len(interview.answers) + 1,
                "known": interview.standing().sentence,
                "goal": interview.goal,
            }

    def answer(self, study: Study, number: int, answer: str) -> None:
        """Take an answer to question `number`: one of WORDS, "tie" or "undo"; one that was answered stays so."""
        with self._lock:
            interview = self._of(study)
            if number != len(interview.answers) + 1:
                return
            if answer == "undo":
                interview.undo()
            else:
                options: dict[str, str] = dict(zip(WORDS, interview.question, strict=False))
                interview.answer(options.get(answer, TIE))

    def end(self, study: Study) -> bool:
        """Make the answers the data of the study; False if there are none."""
        with self._lock:
            if not self._of(study).answers:
                return False
            atomic_write(study.path / "data.csv", (study.path / LOG).read_bytes())
            study.write("study", study.about | {"file": "data.csv"})
            study.remove(f"{INTERVIEW}.json")
            del self._held[study.name]
            return True

    def _of(self, study: Study) -> Interview:
        if study.name not in self._held:
            asked = study.read(INTERVIEW)
            self._held[study.name] = Interview(
                asked["options"], goal=asked["goal"], log=study.path / LOG, shown=asked.get("shown", 2)
            )
        return self._held[study.name]
