"""Roles of table columns (respondent, count, ...) and their usual names in four languages.

Names are compared after `simplify_name`: without capitals, accents, blanks and punctuation.
"""

import re
import unicodedata
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cache, cached_property, lru_cache
from typing import TYPE_CHECKING, Any

from thali.errors import Argument, DataError

if TYPE_CHECKING:
    import pandas as pd

LANGUAGES = ("English", "German", "French", "Spanish")
_ACCENTED = re.compile(r"([a-z])[\u0300-\u036f]+")
_COMPONENT = re.compile(r"(.+)\.(?:keys|clicked_name|response)")


_WORD = re.compile("[A-Z]?[a-z]+|[A-Z]+")


def list_name_words(name: str) -> list[str]:
    """Return the words of a column name in lower case: chosen, immigrant of Chosen_Immigrant."""
    return [word.casefold() for word in _WORD.findall(name)]


@lru_cache(4096)
def hide_numbers(name: str) -> str:
    """Return a column name with # for each number: C#_choice for C1_choice."""
    return re.sub(r"\d+", "#", name)


def simplify_name(name: str) -> str:
    """Return a column name in lower case, without accents, blanks and punctuation.

    The sign of a negative number stays; seconds are no plural.

    Examples
    --------
    >>> simplify_name("Choice ID"), simplify_name("model_a"), simplify_name("Élève")
    ('choiceid', 'modela', 'eleve')
    """
    name = name.casefold()
    if not name.isascii():
        name = unicodedata.normalize(
            "NFC", _ACCENTED.sub(r"\1", unicodedata.normalize("NFD", name))
        )
    name = re.sub(r"(?<=time)[\s._(\[-]+s[)\]]?$", "", name)
    return re.sub(r"(?!^-\d)[\s._()\[\]/%#-]+", "", name)


def column_names(frame: "pd.DataFrame") -> list[str]:
    """Return the table's column names as texts."""
    return list(map(str, frame.columns))


def has_numbers(column: Any) -> bool:
    """Return whether a column has numbers, which includes booleans."""
    import pandas as pd

    return pd.api.types.is_numeric_dtype(column.dtype)


def is_data_frame(table: Any) -> bool:
    """Return whether an argument is a data frame of pandas."""
    if not hasattr(table, "columns"):  # pandas is slow to import
        return False
    import pandas as pd

    return isinstance(table, pd.DataFrame)


def map_plain_names(names: Iterable[str]) -> dict[str, str]:
    """Return the first column name with each simplified name.

    A PsychoPy table has columns NAME.thisN; there the column odd.keys, odd.clicked_name or
    odd.response of the component odd is also the column odd. Of E-Prime's columns, the only one of
    the kind Slide1.RESP is also the column response. A column such as No. of ballots is also the
    column votes.
    """
    names = list(names)
    name_by_simplified: dict[str, str] = {}
    for name in names:
        name_by_simplified.setdefault(simplify_name(name), name)
    if any(name.endswith(".thisN") for name in names):
        for name in names:
            if (component := _COMPONENT.fullmatch(name)) is not None:
                name_by_simplified.setdefault(simplify_name(component[1]), name)
    answers = [name for name in names if name.endswith(".RESP")]
    if len(answers) == 1:
        name_by_simplified.setdefault("response", answers[0])
    for name in filter(_NUMBER_OF_VOTES.fullmatch, [*name_by_simplified]):
        name_by_simplified.setdefault("votes", name_by_simplified[name])
    return name_by_simplified


_VOTES = (
    "votes|ballots|voters|stimm(?:en|zettel)|wahler|voix|votants|bulletins|suffrages|votos"
    "|votantes|papeletas"
)
_NUMBER_OF_VOTES = re.compile(
    "(?:number|num|no|nr|nb|n|total|sum|count|frequency|anzahl|zahl|summe|nombre|numero|cantidad)"
    f"?(?:of|der|de|des|del?os)?(?:{_VOTES})(?:cast)?"
    "|(?:vote|ballot|voter)s?(?:count|counts|total|frequency)|(?:freq|frequency|count)n"
)

# Simplified names of an option that means choosing none of the others.
NO_CHOICE = tuple(
    (
        "none nochoice optout neither noneofthese noneoftheabove keine aucun aucune ninguno ninguna"
    ).split()
)


@dataclass(frozen=True)
class Role:
    """A role that a table column can have, such as respondent, and its usual names.

    Parameters
    ----------
    name : str
        Of the argument that names the column.
    meaning : str
        Content of the column, as it follows "the column of".
    cell : str
        Content of a cell, one of the constants below.
    english, german, french, spanish : str
        Its usual names, between blanks, the more probable first.
    vague : str
        Names with other meanings in other tables: they count where the table has no other.
    endings : str
        What may follow each usual name, as id follows voter in voter_id.
    wider : Role, optional
        A role whose usual names count last.
    """

    name: str
    meaning: str
    cell: str
    english: str = field(repr=False)
    german: str = field(default="", repr=False)
    french: str = field(default="", repr=False)
    spanish: str = field(default="", repr=False)
    vague: str = field(default="", repr=False)
    endings: str = field(default="", repr=False)
    wider: "Role | None" = field(default=None, repr=False)

    @cached_property
    def languages(self) -> dict[str, tuple[str, ...]]:
        """Simplified unambiguous names of the role, by language."""
        names_by_language = (self.english, self.german, self.french, self.spanish)
        endings = ("", *self.endings.split())
        return {
            language: tuple(
                dict.fromkeys(
                    simplify_name(name) + ending for name in text.split() for ending in endings
                )
            )
            for language, text in zip(LANGUAGES, names_by_language, strict=True)
        }

    @cached_property
    def sure(self) -> tuple[str, ...]:
        """Simplified unambiguous names in all languages, English first."""
        return tuple(dict.fromkeys(word for words in self.languages.values() for word in words))

    @cached_property
    def synonyms(self) -> tuple[str, ...]:
        """All simplified names; names with other meanings come last."""
        names = [*self.sure, *map(simplify_name, self.vague.split())]
        if self.wider is not None:
            names += self.wider.sure
        return tuple(dict.fromkeys(names))

    def but(self, **changes: str) -> "Role":
        """Return a copy of the role with the given fields changed."""
        return replace(self, **changes)

    def find_column(
        self, name_by_simplified: Mapping[str, str], used_columns: Collection[str | None] = ()
    ) -> str | None:
        """Return the column whose name most probably has this role, or None.

        `name_by_simplified` maps simplified names to columns. A name with two roles in two
        languages counts only if other names identify the language.
        """
        return next(self.find_possible_columns(name_by_simplified, used_columns), None)

    def find_possible_columns(
        self, name_by_simplified: Mapping[str, str], used_columns: Collection[str | None] = ()
    ) -> Iterator[str]:
        """Yield the columns whose names can mean this role, the most probable first."""
        return self._iterate_columns(self.synonyms, name_by_simplified, used_columns)

    def find_certain_columns(
        self, name_by_simplified: Mapping[str, str], used_columns: Collection[str | None] = ()
    ) -> Iterator[str]:
        """Yield the columns whose names can only mean this role."""
        return self._iterate_columns(self.sure, name_by_simplified, used_columns)

    def _iterate_columns(
        self,
        simplified_names: Iterable[str],
        name_by_simplified: Mapping[str, str],
        used_columns: Collection[str | None],
    ) -> Iterator[str]:
        """Yield the unused columns with one of these simplified names."""
        for simplified_name in simplified_names:
            if (
                simplified_name in name_by_simplified
                and name_by_simplified[simplified_name] not in used_columns
                and self._is_meant(simplified_name, name_by_simplified)
            ):
                yield name_by_simplified[simplified_name]

    def _is_meant(self, word: str, name_by_simplified: Mapping[str, str]) -> bool:
        """Return whether a name has this role, not another role in another language."""
        meanings = _map_homographs().get(word)
        if meanings is None or self.name not in meanings:
            return True
        languages = {_map_languages().get(name) for name in name_by_simplified if name != word}
        matching_roles = {role for role, language in meanings.items() if language in languages}
        return matching_roles == {self.name}


def find_column_pairs(
    name_by_simplified: Mapping[str, str], pairs: Iterable[tuple[str, str]]
) -> list[tuple[str, str]]:
    """Return the columns of each pair of simplified names, where both exist."""
    return [
        (name_by_simplified[first_name], name_by_simplified[second_name])
        for first_name, second_name in pairs
        if first_name in name_by_simplified and second_name in name_by_simplified
    ]


def find_named_columns(
    name_by_simplified: Mapping[str, str],
    named_columns: Mapping[str, Any],
    roles: Iterable[Role],
) -> list[Any]:
    """Return the column of each role: named by the user, recognised, or None."""
    return [named_columns.get(role.name) or role.find_column(name_by_simplified) for role in roles]


# Contents of a cell.
LABEL = "a label"
COUNT_OF_ROWS = "a number >= 0"
MARK = "1 or 0"
PLACE = "1, 2, 3, ..."
NUMBER = "a number"
ANSWER = "a label, a side or a word"

# Respondents: people, and programs that judge.
_SUBJECTS = "sub subid subidx subno subnr subnum ppid"
RESPONDENT = Role(
    "respondent",
    "the respondent",
    LABEL,
    "respondent subject subj participant ppt pid puid resp person judge rater assessor annotator"
    " evaluator voter user tester farmer worker prolificpid responseid runid student panelist"
    " panellist consumer pupil child marker examiner teacher coder grader reviewer scorer labeler"
    " labeller juror listener viewer observer interviewee informant customer household sysrespnum"
    " participantprivateid participantpublicid sbj prolificid mturkid",
    "vp vpn vpnr proband probandin versuchsperson versuchspersonnr befragter befragte"
    " befragtennummer schüler schülerin schueler schuelerin teilnehmer teilnehmerin person"
    " richter gutachter bewerter",
    "sujet répondant répondante enquêté élève juge personne individu participante",
    "participante sujeto encuestado encuestada alumno alumna juez persona individuo nombre",
    vague=f"id {_SUBJECTS} uniqueid cj deelnemer proefpersoon partecipante respondente 被试 受访者",
    endings="id hash name model no nr num number code uuid idx",
)
# Respondents where each row describes an alternative; other names of respondents count last.
RESPONDENT_OF_TASKS = Role(
    "respondent",
    "the respondent of a task",
    LABEL,
    "respondent respondents respondentid resp respid person personid subject subjectid participant"
    " panel panels sysrespnum respnum respondentserial responseid hid hhid householdid id",
    RESPONDENT.german,
    RESPONDENT.french,
    RESPONDENT.spanish.removesuffix(" nombre"),
    vague=f"rid {_SUBJECTS} deelnemer partecipante respondente 被试 受访者"
    " panelid individual individualid indiv household hh hhkey user userid userindex"
    " consumer consumerid customer customerid customid custid"
    " decider deciderid decisionmaker caseid unitid",
    wider=RESPONDENT,
)
# The choice task, of several tasks per respondent.
TASK = Role(
    "choice_id",
    "the task or occasion",
    LABEL,
    "choiceid choicesid chid obsid occasion occasionid choiceoccasion situation choicesituation"
    " situationid task taskid taskno tasknumber choicetask choiceset choicesetid setid question"
    " ques qes cs scenario contest contestid contestno contestnumber obsnum obsno",
    "aufgabe aufgabennummer frage fragennummer wahlaufgabe durchgang",
    "tâche question situation scénario essai",
    "tarea pregunta situación escenario ensayo",
    vague="ids set setno setnumber trial trialid session sessionid sessionindex trip tripid"
    " purchaseid"
    " searchid srchid queryid impressionid requestid slateid recordid caseid case obs observation",
)
TASK_OF_RESPONDENT = TASK.but(name="task")
VERSION = Role(
    "version",
    "the version of the design",
    LABEL,
    "version versions versionno versionnumber versionid block blockid blocknumber designversion",
    "fragebogenversion fassung",
    "bloc",
    "versión bloque",
)
ALTERNATIVE = Role(
    "alternative",
    "the alternative",
    LABEL,
    "alternative alternatives alternativeid alternativenumber alternativeno alt alts altid altno"
    " concept conceptno conceptnumber",
    "alternative konzept",
    "alternative concept",
    "alternativa concepto",
    vague="item items itemid itemindex option options optionid mode brand product produkt produit"
    " producto objekt objet objeto opción",
)
CHOSEN = Role(
    "chosen",
    "1 for the chosen alternative and 0 for the others",
    MARK,
    "chosen choice selected y response",
    "gewählt gewaehlt wahl auswahl antwort",
    "choisi choix réponse",
    "elegido elegida elección respuesta",
    vague="choices ischosen picked outcome chose",
)
AVAILABLE = Role(
    "available",
    "1 for offered alternatives and 0 for the others",
    MARK,
    "available avail availability isavailable av offered",
    "verfügbar verfuegbar angeboten",
    "disponible offert",
    "disponible ofrecido",
)
COUNT = Role(
    "count",
    "the number of comparisons or choices per row",
    COUNT_OF_ROWS,
    "count counts n freq frequency times weight weights",
    "anzahl häufigkeit haeufigkeit",
    "nombre fréquence effectif",
    "frecuencia veces",
)
WEIGHTS = ("weight", "weights")  # counts that may be fractional
# In a choice experiment: how much the answers of a respondent count.
SURVEY_WEIGHTS = (
    *WEIGHTS,
    *"wt wgt sampleweight samplingweight surveyweight caseweight freq frequency".split(),
    *("count", "counts"),
)


def list_weight_columns(names: Iterable[Any]) -> list[str]:
    """Return the names that mean counts or weights."""
    return [name for name in map(str, names) if simplify_name(name) in SURVEY_WEIGHTS]


# Columns that programs write to number the rows: pandas, R, Rdatasets.
ROW_NUMBERS = ("rownames", "rowname", "rownumber", "index", "x")

# Two options and their outcome.
FIRST = Role("first", "the first of two options", LABEL, "first")
SECOND = Role("second", "the second of two options", LABEL, "second")
CHOSEN_OF_TWO = Role(
    "chosen",
    "the chosen option",
    ANSWER,
    "chosen choice winner preferred preference prefers selected picked choose chose pref response"
    " answer resp vote verdict decision judgment judgement better key keyresp keyrespkeys"
    " mouseclickedname buttonpressed",
    "gewählt gewaehlt wahl antwort gewinner gewinnerin sieger siegerin bevorzugt",
    "choix choisi réponse gagnant gagnante vainqueur préféré préférée",
    "elegido elegida elección respuesta ganador ganadora preferido preferida",
)
# by its partner, see CHOSEN_REJECTED
REJECTED = Role("rejected", "the rejected option", LABEL, "rejected")
LOSSES = Role(
    "losses",
    "the number of times the other option was chosen",
    COUNT_OF_ROWS,
    "loss losses lose loses lost defeats",
    "niederlage niederlagen",
    "défaite défaites",
    "derrota derrotas",
)
PROBABILITY = Role("probability", "the probability that the first option is chosen", NUMBER, "")
TIES = Role(
    "ties",
    "the number of ties",
    COUNT_OF_ROWS,
    "tie ties tied draw draws drawn undecided nopreference indifferent equal both neither",
    "unentschieden gleich remis",
    "nul nuls égalité égalités",
    "empate empates",
)
HOME = Role("home", "the home side", LABEL, "home")
AWAY = Role("away", "the away side", LABEL, "away")
RESULT = Role(
    "result",
    "the result",
    ANSWER,
    "result ftr fulltimeresult ft outcome res score finalscore wl winloss wlt win won",
    "ergebnis resultat",
    "résultat",
    "resultado",
)

# Sets of options.
OPTION = ALTERNATIVE.but(name="option", meaning="the option")
# Scores of options on the same items, for leaderboards.
ITEM = Role(
    "item",
    "the item",
    LABEL,
    "item items instance question prompt doc document sample example problem query case testcase"
    " exercise",
    "aufgabe frage",
    "question",
    "pregunta",
    endings="id index no nr num number key hash name uid",
)
SCORED_OPTION = OPTION.but(
    english="model llm system method agent algorithm option alternative submission",
    german="modell verfahren",
    french="modèle",
    spanish="modelo",
    vague="",
    endings="id name",
)
SCORE = Role(
    "score",
    "the score of an option on an item",
    NUMBER,
    "score scores accuracy acc correct iscorrect exactmatch em pass passed success solved reward"
    " grade points value metricvalue scorevalue",
    "punkte punktzahl richtig",
    "note",
    "puntuación correcto",
)
SCORE_PART = Role(
    "by",
    "the part of a benchmark",
    LABEL,
    "task dataset benchmark subset category subject language lang split domain topic suite",
    "sprache thema",
    "langue tâche",
    "idioma tarea",
    endings="id name",
)
RUN = Role(
    "run",
    "the run or random seed",
    LABEL,
    "seed run epoch trial repeat repetition replicate attempt iteration",
    endings="id index no nr number",
)
RANK = Role(
    "rank",
    "the rank (1 is best)",
    PLACE,
    "rank ranks ranking place position pos",
    "rang rangplatz platz",
    "rang place",
    "puesto rango posición",
)
BEST = Role(
    "best",
    "the best option",
    ANSWER,
    "best most mostimportant mostpreferred bestoption",
    "beste bester bestes ambesten wichtigste wichtigstes amwichtigsten",
    "meilleur meilleure leplusimportant plusimportant",
    "mejor másimportante",
)
WORST = Role(
    "worst",
    "the worst option",
    ANSWER,
    "worst least leastimportant leastpreferred worstoption",
    "schlechteste schlechtester schlechtestes amschlechtesten unwichtigste unwichtigstes"
    " amunwichtigsten amwenigstenwichtig",
    "pire lemoinsimportant moinsimportant",
    "peor menosimportante",
)

# Similar objects.
SIMILARITY = Role(
    "similarity",
    "the similarity of two objects",
    NUMBER,
    "similarity similarities sim sij meansimilarity similarityrating proximity affinity"
    " relatedness",
    "ähnlichkeit aehnlichkeit",
    "similarité similitude ressemblance",
    "similitud semejanza parecido",
    vague="s rating meanrating score value corr correlation cor r",
)
DISSIMILARITY = Role(
    "dissimilarity",
    "the dissimilarity of two objects",
    NUMBER,
    "dissimilarity dissimilarities distance dist d dij",
    "unähnlichkeit unaehnlichkeit distanz abstand",
    "dissimilarité distance",
    "disimilitud distancia",
)
CARD = Role(
    "card",
    "the card that a respondent sorted",
    LABEL,
    "card cards cardid cardlabel cardname",
    "karte",
    "carte",
    "tarjeta",
    vague="item items object objects concept term word stimulus label name product sample image",
)
CARD_GROUP = Role(
    "card_group",
    "the group of a sorted card",
    LABEL,
    "group pile category cluster",
    "gruppe stapel kategorie",
    "groupe pile catégorie",
    "grupo montón categoría",
    endings="id no label name nr number",
)
OBJECTS = Role("objects", "the objects of a triplet", LABEL, "objects")
ODD = Role(
    "odd",
    "the odd one out",
    ANSWER,
    "odd oddone oddoneout oddobject odditem oddimage oddball outlier different",
    "anders unähnlichste unaehnlichste außenseiter passtnicht",
    "intrus différent",
    "intruso diferente",
    endings="key resp response",
)
ANCHOR = Role(
    "anchor",
    "the object that two others were compared with",
    LABEL,
    "anchor reference ref target standard probe query head",
    "anker referenz",
    "référence",
    "referencia",
    vague="center centre sample cue",
)
NEARER = Role(
    "nearer",
    "the object more similar to the anchor",
    LABEL,
    "near nearer nearest close closer closest positive similar moresimilar",
    "näher naeher ähnlicher aehnlicher",
    "proche",
    "cercano",
)
FARTHER = Role(
    "farther",
    "the object less similar to the anchor",
    LABEL,
    "far farther farthest further distant negative dissimilar lesssimilar",
    "ferner entfernter unähnlicher unaehnlicher",
    "éloigné",
    "lejano",
)

# The number of the trial and its duration, which no reader uses.
TRIAL = Role(
    "trial",
    "the number of the trial",
    NUMBER,
    "trial trials trialno trialnr trialnumber trialindex trialid trialn trialorder no number index"
    " row rowid rowindex timeelapsed timestamp",
    "durchgang durchgangsnummer versuch versuchsnummer nummer nr laufnummer",
    "essai numéro",
    "ensayo número",
)
RESPONSE_TIME = Role(
    "response_time",
    "the response time",
    NUMBER,
    "rt rts reactiontime responsetime decisiontime latency keyresprt duration",
    "reaktionszeit antwortzeit entscheidungszeit",
    "tempsderéaction tempsderéponse",
    "tiempodereacción tiempoderespuesta",
)
GOALS = Role(
    "goals",
    "the goals of one side",
    NUMBER,
    "goals goal score points pts ftg g sets runs",
    "tore punkte",
    "buts",
    "goles",
)

TARGET = Role("target", "the classes", LABEL, "target")  # always named, never recognised

ROLES = (
    RESPONDENT,
    RESPONDENT_OF_TASKS,
    TASK,
    TASK_OF_RESPONDENT,
    VERSION,
    ALTERNATIVE,
    CHOSEN,
    AVAILABLE,
    COUNT,
    FIRST,
    SECOND,
    CHOSEN_OF_TWO,
    REJECTED,
    LOSSES,
    TIES,
    HOME,
    AWAY,
    RESULT,
    OPTION,
    RANK,
    BEST,
    WORST,
    SIMILARITY,
    DISSIMILARITY,
    CARD,
    CARD_GROUP,
    OBJECTS,
    ODD,
    ANCHOR,
    NEARER,
    FARTHER,
    TARGET,
    TRIAL,
    RESPONSE_TIME,
    GOALS,
)

# Names that come in pairs: two sides, or chosen and rejected options.


def _split_name_pairs(text: str) -> tuple[tuple[str, str], ...]:
    """Split "left right, home away" into pairs of simplified names."""
    pairs = (map(simplify_name, pair.split()) for pair in text.split(","))
    return tuple((first_name, second_name) for first_name, second_name in pairs)


# between an attribute and an alternative in the name of a column
NAME_SEPARATORS = ("_", ".", ":", " ")
SIDES = _split_name_pairs("a b, i j, 1 2, first second, left right, home away")
# More sides, whose columns contain options but no counts of wins. A series with a third column is
# not a pair of sides.
MORE_SIDES = _split_name_pairs(
    "l r, one two, home visitor, white black, weiß schwarz, links rechts, erste zweite, erster"
    " zweiter, heim gast, heim auswärts, gauche droite, premier second, première deuxième,"
    " domicile extérieur, izquierda derecha, izq der, primera segunda, primero segundo, local"
    " visitante, player opponent, team opponent, team opp, tm opp, model opponent, red blue"
)
# Sides that cells name only if the columns do: 1, X, 2 is a tie, 1 may be the first of 1 and 2, and
# R is right of L.
LOCAL_SIDES = _split_name_pairs("x y, 0 1, r b, visitor opponent")
COLOURS = _split_name_pairs("red blue, r b")  # of which the table's first is the first
# first sides of games
GAMES = tuple("home visitor heim domicile local white weiss player team tm model".split())
# First sides of tables of counts that record which option was first, or at home.
PLACES = tuple("home heim domicile local white left l links gauche izquierda izq".split())
THIRD = dict(_split_name_pairs("b c, y z, 1 2, j k, 2 3, second third, two three, zweite dritte"))
STEMS_OF_SIDES = tuple(
    (
        "{0} option{0} item{0} alternative{0} stimulus{0} object{0} player{0} team{0} {0}option"
        " {0}item {0}team objekt{0} objet{0} objeto{0} opcion{0} bild{0}"
    ).split()
)
# of columns with two options, with or without a side
STEMS = {name.format("") for name in STEMS_OF_SIDES}.union(
    (
        "model image img picture stim choice answer club name product sample sound label word"
        " text field school brand url id teamid card concept statement face photo produit produkt"
        " producto echantillon muster muestra"
    ).split()
)
SHORT_GOALS = _split_name_pairs("fthg ftag, hg ag")  # of the home side and of the other
ROW_COLUMN = _split_name_pairs("row column, row col, rows columns")
# "i j" stays last: alone it is too common to name a column
CHOSEN_REJECTED = _split_name_pairs(
    "chosen rejected, chosen notchosen, winner loser, won lost, preferred other, preferred"
    " notpreferred, preferred rejected, selected rejected, better worse, topitem bottomitem,"
    " cited citing, chosen unchosen, selected unselected, dominant subordinate,"
    " gewählt abgelehnt, gewaehlt abgelehnt, gewählt nichtgewählt, bevorzugt abgelehnt, gewinner"
    " verlierer, sieger verlierer, choisi rejeté, préféré rejeté, gagnant perdant, vainqueur"
    " perdant, elegido rechazado, preferido rechazado, ganador perdedor, i j"
)
# Words in the name of a column that contains the option that was not chosen.
_REJECTING = {
    *(rejected for _, rejected in CHOSEN_REJECTED[:-1]),
    *LOSSES.sure,
    *WORST.sure,
    *"less not nicht weniger moins pas menos losing eliminated weaker uglier inferior".split(),
    *"dislike dislikes disliked hate hates hated avoid avoided drop dropped reject rejects".split(),
    *"discard discarded exclude excluded remove removed schlechter evite".split(),
} - {"other"}
_NEGATIVE = re.compile("(?:un|dis|not|nicht|non)(.+)")


def mentions_rejection(name: str) -> bool:
    """Return whether a word of a column's name means the option that was not chosen."""
    words = {simplify_name(name), *list_name_words(name)}
    negated_words = {match[1] for match in map(_NEGATIVE.fullmatch, words) if match}
    return not _REJECTING.isdisjoint(words) or not negated_words.isdisjoint(CHOSEN_OF_TWO.sure)


WINS_LOSSES = _split_name_pairs(
    "wins losses, win loss, win lose, won lost, siege niederlagen, victoires défaites, victorias"
    " derrotas"
)
SIMILAR_TWO = _split_name_pairs(
    "chosen1 chosen2, pair1 pair2, similar1 similar2, pick1 pick2, same1 same2"
)

# Words in cells that mean a tie.
TIE_WORDS = (
    *TIES.sure,
    *(
        "same bothgood bothbad tiebothbad tievote bothbadvote botharegood botharebad"
        " botharequal bothequal botharethesame equallygood equallybad equally nodifference"
        " cannotdecide egal keine keiner beide aucun aucune igual ninguno ninguna ambos = 05 0,5"
    ).split(),
)
# Words in cells that mean no answer, like an empty cell.
UNKNOWN_WORDS = tuple(
    (
        "dontknow don'tknow don’tknow idontknow idon'tknow idon’tknow dk unsure notsure noanswer"
        " notobserved weissnicht ichweissnicht keineangabe ka keineantwort nesaitpas jenesaispas"
        " nosabe nolose"
    ).split()
)
# Cells that programs treat as empty: in a column of numbers, and as an answer unless an option has
# this name.
MISSING_WORDS = tuple(r"NA N/A n/a na #N/A NaN nan - – — . null Null NULL #NULL! \N <NA>".split())
NO_ANSWERS = (*MISSING_WORDS, "None", "NaT")


def find_no_answers(texts: Iterable[str], known_labels: Collection[str]) -> set[str]:
    """Return the texts that mean "no answer" and are not known labels."""
    return {
        text
        for text in texts
        if (text in NO_ANSWERS or simplify_name(text) in UNKNOWN_WORDS) and text not in known_labels
    }


_READ = tuple(role for role in ROLES if role not in (TRIAL, RESPONSE_TIME, GOALS))
ROLE_NAMES = {role.name: role for role in reversed(ROLES)}


def _list_meanings(roles: Iterable[Role]) -> dict[str, list[tuple[str, str]]]:
    """Return the different (role, language) of each simplified name."""
    meanings_by_word: dict[str, dict[tuple[str, str], None]] = {}
    for role in roles:
        for language, simplified_names in role.languages.items():
            for word in simplified_names:
                meanings_by_word.setdefault(word, {})[role.name, language] = None
    return {word: list(meanings) for word, meanings in meanings_by_word.items()}


@cache
def _map_languages() -> dict[str, str]:
    """Return the language of each column name that only one language uses."""
    return {
        word: meanings[0][1]
        for word, meanings in _list_meanings(ROLES).items()
        if len({language for _, language in meanings}) == 1
    }


@cache
def _map_homographs() -> dict[str, dict[str, str]]:
    """Return {role: language} of column names with different roles in different languages."""
    return {
        word: dict(meanings)
        for word, meanings in _list_meanings(_READ).items()
        if len(meanings) > 1
        and all(len({*values}) == len(meanings) for values in zip(*meanings, strict=True))
    }


def refuse_ambiguous(frame: "pd.DataFrame", named_columns: Collection[object] = ()) -> None:
    """Raise DataError if a numeric column's name has different roles in two languages.

    Names in `given`, and names whose language is clear, are accepted.
    """

    name_by_simplified = map_plain_names(column_names(frame))
    for simplified_name, meanings in _map_homographs().items():
        if (
            simplified_name not in name_by_simplified
            or name_by_simplified[simplified_name] in named_columns
            or any(
                ROLE_NAMES[role]._is_meant(simplified_name, name_by_simplified) for role in meanings
            )
        ):
            continue
        if has_numbers(frame[name_by_simplified[simplified_name]]):
            meaning_texts = [
                f"{ROLE_NAMES[role].meaning} ({language})" for role, language in meanings.items()
            ]
            arguments = [part for role in meanings for part in (" or ", Argument(role))]
            raise DataError(
                f"Column {name_by_simplified[simplified_name]!r} may contain"
                f" {' or '.join(meaning_texts)}; give its name with ",
                *arguments[1:],
                ", or rename the column.",
            )


def list_role_names() -> "pd.DataFrame":
    """Return a table of recognised column names: one row per role, one column per language.

    The last column lists names that may have other meanings.

    Examples
    --------
    >>> list_role_names().loc["the respondent", "French"].split(", ")[:2]
    ['sujet', 'répondant']
    """
    import pandas as pd

    listed_roles = [
        role for role in _READ if len(role.sure) > 1 and role not in (OPTION, TASK_OF_RESPONDENT)
    ]
    table_rows = []
    for role in listed_roles:
        synonyms = (role.english, role.german, role.french, role.spanish, role.vague)
        table_rows.append([role.cell, *(", ".join(text.split()) for text in synonyms)])
    meaning_index = pd.Index([role.meaning for role in listed_roles], name="a column contains")
    return pd.DataFrame(
        table_rows, meaning_index, ["a cell is", *LANGUAGES, "if there is no other"]
    )
