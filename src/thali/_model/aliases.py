"""Other names that people use for what models learn: data only, so that `--help` stays fast."""

ALIASES_OF_WORTHS = ("BTL", "BT", "Bradley-Terry-Luce", "Bradley-Terry", "Luce")
_IEBA = ("iEBA", "Indian-buffet", "Indian-buffet-process")
ALIASES_OF_ASPECTS = dict.fromkeys(_IEBA, "ibp")


def plain(name: str) -> str:
    """A name as it is compared: capitals, blanks, hyphens, dashes and underscores do not matter.

    Examples
    --------
    >>> plain("Bradley–Terry_Luce") == plain("bradley-terry luce")
    True
    """
    return "".join(letter for letter in name.casefold() if letter not in " _-‐–")


def aspects_meant(word: str) -> str:
    """ "unique" or "ibp" for any of its names; another word stays as it is.

    Examples
    --------
    >>> aspects_meant("Bradley-Terry"), aspects_meant("tree")
    ('unique', 'tree')
    """
    return _MEANT.get(plain(word), word)


_WORDS = (
    ALIASES_OF_ASPECTS | dict.fromkeys((*ALIASES_OF_WORTHS, "unique"), "unique") | {"ibp": "ibp"}
)
_MEANT = {plain(name): word for name, word in _WORDS.items()}
METHODS = {plain(name): "maximum-likelihood" for name in ("maximum-likelihood", "ML", "MLE")}


def method_meant(word: object) -> object:
    """ "maximum-likelihood" for any of its names; another value stays as it is."""
    return METHODS.get(plain(word), word) if isinstance(word, str) else word
