"""Alternative names of models and methods; data only, so that `--help` stays fast."""

ALIASES_OF_WORTHS = ("BTL", "BT", "Bradley-Terry-Luce", "Bradley-Terry", "Luce")
_IEBA = ("iEBA", "Indian-buffet", "Indian-buffet-process")
ALIASES_OF_ASPECTS = dict.fromkeys(_IEBA, "ibp")


def normalise_name(name: str) -> str:
    """Return a model's or method's name in lower case without blanks, hyphens, underscores.

    Examples
    --------
    >>> normalise_name("Bradley–Terry_Luce") == normalise_name("bradley-terry luce")
    True
    """
    return "".join(letter for letter in name.casefold() if letter not in " _-‐–")


def normalise_aspects(word: str) -> str:
    """Return "unique" or "ibp" for any of their aliases; other words unchanged.

    Examples
    --------
    >>> normalise_aspects("Bradley-Terry"), normalise_aspects("tree")
    ('unique', 'tree')
    """
    return _MEANT.get(normalise_name(word), word)


_WORDS = (
    ALIASES_OF_ASPECTS | dict.fromkeys((*ALIASES_OF_WORTHS, "unique"), "unique") | {"ibp": "ibp"}
)
_MEANT = {normalise_name(name): word for name, word in _WORDS.items()}
METHODS = {
    normalise_name(name): "maximum-likelihood" for name in ("maximum-likelihood", "ML", "MLE")
}


def normalise_method(word: object) -> object:
    """Return "maximum-likelihood" for any of its aliases; other values unchanged."""
    if isinstance(word, str):
        return METHODS.get(normalise_name(word), word)
    return word
