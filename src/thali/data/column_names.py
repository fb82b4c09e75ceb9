"""The names that columns of pair lists go by, compared in lower case without blanks and punctuation."""

import re

SIDES = (("a", "b"), ("i", "j"), ("1", "2"), ("first", "second"), ("left", "right"), ("home", "away"))
# Further ones, whose columns hold options but no counts of wins; the third of a series, if it is there, is none of two.
MORE_SIDES = (("l", "r"), ("one", "two"), ("home", "visitor"), ("visitor", "opponent"), ("white", "black"))
MORE_SIDES += (("links", "rechts"), ("erste", "zweite"), ("erster", "zweiter"), ("heim", "gast"), ("heim", "auswärts"))
MORE_SIDES += (("gauche", "droite"), ("premier", "second"), ("première", "deuxième"), ("domicile", "extérieur"))
MORE_SIDES += (("izquierda", "derecha"), ("izq", "der"), ("primera", "segunda"), ("primero", "segundo"))
MORE_SIDES += (("local", "visitante"), ("player", "opponent"), ("team", "opponent"))
GAMES = ("home", "visitor", "heim", "domicile", "local", "white", "player", "team")  # first sides of those who play
# First sides by which a table of counts says which option was first, or at home.
PLACES = ("home", "heim", "domicile", "local", "white", "left", "l", "links", "gauche", "izquierda", "izq")
THIRD = {"b": "c", "j": "k", "2": "3", "second": "third", "two": "three", "zweite": "dritte"}
OPTION = ("{0}", "option{0}", "item{0}", "alternative{0}", "stimulus{0}", "object{0}", "player{0}", "team{0}")
OPTION += ("{0}option", "{0}item", "{0}team")
WEIGHTS = ("weight", "weights")  # counts that may be fractional
COUNTS = ("count", "counts", "n", "freq", "frequency", "times", *WEIGHTS)

LOSSES = ("loss", "losses", "lose", "loses", "lost", "defeats")
TIES = ("tie", "ties", "tied", "draw", "draws", "drawn", "undecided", "nopreference", "indifferent", "equal", "both")
TIES += ("neither", "unentschieden", "gleich", "remis")
TIE_WORDS = (*TIES, "same", "bothgood", "bothbad", "tiebothbad", "equally", "nodifference", "dontknow", "cannotdecide")
TIE_WORDS += ("egal", "keine", "keiner", "beide", "weissnicht", "égal", "égalité", "nul", "aucun", "aucune", "empate")
TIE_WORDS += ("igual", "ninguno", "ninguna", "ambos", "=", "05", "0,5")

# The object that does not belong to the others.
ODD = ("odd", "oddone", "oddoneout", "oddobject", "odditem", "oddimage", "oddball", "outlier", "different")
ODD += ("anders", "unähnlichste", "außenseiter", "intrus", "différent", "intruso", "diferente")

# Who answered, the likelier first.
SUBJECT = ("subject", "subjectid", "subj", "subjid", "participant", "participantid", "ppt", "pid", "respondent")
SUBJECT += ("respondentid", "resp", "respid", "person", "personid", "judge", "judgeid", "rater", "raterid", "assessor")
SUBJECT += ("annotator", "annotatorid", "evaluator", "voter", "user", "userid", "worker", "workerid", "prolificpid")
SUBJECT += ("responseid", "runid", "student", "panelist", "consumer", "vp", "vpn", "vpnr", "proband", "versuchsperson")
SUBJECT += ("schueler", "schuelerin", "schüler", "schülerin", "pupil", "child", "eleve", "élève", "alumno")
SUBJECT += ("teilnehmer", "teilnehmerin", "sujet", "participante", "sujeto", "juge", "juez", "id")

# Which of two, or who won.
CHOSEN_OF_TWO = ("chosen", "choice", "winner", "preferred", "preference", "prefers", "selected", "picked", "choose")
CHOSEN_OF_TWO += ("chose", "pref", "response", "answer", "resp", "vote", "verdict", "decision", "judgment", "judgement")
CHOSEN_OF_TWO += ("better", "key", "keyresp", "keyrespkeys", "mouseclickedname", "buttonpressed", "gewählt", "gewaehlt")
CHOSEN_OF_TWO += (
    "wahl",
    "antwort",
    "gewinner",
    "sieger",
    "choix",
    "choisi",
    "réponse",
    "reponse",
    "gagnant",
    "elegido",
)
CHOSEN_OF_TWO += ("elección", "eleccion", "respuesta", "ganador", "preferido")
RESULT = ("result", "ftr", "fulltimeresult", "outcome", "res", "ergebnis", "résultat", "resultat", "resultado", "score")
GOALS = ("goals", "goal", "score", "points", "pts", "ftg", "g", "tore", "punkte", "buts", "goles", "sets", "runs")
SHORT_GOALS = (("fthg", "ftag"), ("hg", "ag"))  # of the home side and of the other

# What a row says of the trial beside the choice: which it was, and how long it took.
TRIALS = ("trial", "trials", "trialno", "trialnr", "trialnumber", "trialindex", "trialid", "trialn", "trialorder")
TRIALS += ("nr", "no", "number", "index", "row", "rowid", "rowindex", "durchgang", "durchgangsnummer", "versuch")
TRIALS += ("versuchsnummer", "nummer", "laufnummer", "essai", "ensayo", "timeelapsed", "timestamp")
RESPONSE_TIMES = ("rt", "rts", "reactiontime", "responsetime", "decisiontime", "latency", "keyresprt", "duration")
RESPONSE_TIMES += ("reaktionszeit", "antwortzeit", "entscheidungszeit", "tempsderéaction", "tempsdereaction")
RESPONSE_TIMES += ("tempsderéponse", "tiempodereacción", "tiempodereaccion", "tiempoderespuesta")

ROW_COLUMN = (("row", "column"), ("row", "col"), ("rows", "columns"))
SIMILARITY = ("similarity", "similarities", "sim", "sij", "meansimilarity", "similarityrating", "proximity", "affinity")
VAGUE_SIMILARITY = ("s", "rating", "meanrating", "score", "value")  # that may be something else beside choices
DISSIMILARITY = ("dissimilarity", "dissimilarities", "distance", "dist", "d", "dij")


def plain(name: str) -> str:
    """The name as it is compared."""
    return re.sub(r"[\s._()\[\]/-]+", "", name.casefold())


def by_plain_name(names: list[str]) -> dict[str, str]:
    """Plain name -> the first of the names that has it."""
    own: dict[str, str] = {}
    for name in names:
        own.setdefault(plain(name), name)
    return own
