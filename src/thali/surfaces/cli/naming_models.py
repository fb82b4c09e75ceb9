"""The value of --models of `thali compare`: models by name, or by what they learn of options."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

from thali.data.kinds import OF_GROUPS
from thali.errors import ArgumentError, DataError
from thali.model.names import aspects_meant, method_meant, plain
from thali.model.registry import features_of

if TYPE_CHECKING:
    from thali.model.spec import ModelSpec


def parse_models(text: str, settings: dict[Any, Any], kind: str, labels: tuple[str, ...]) -> list[tuple[str, Any]]:
    """The models that --models names, by name.

    Examples
    --------
    >>> from thali.data.kinds import PAIRS
    >>> settings = {"lapse": 0.0, "alpha": 1.0}
    >>> parse_models("BTL=unique, 3", settings, PAIRS, ("a", "b"))  # doctest: +NORMALIZE_WHITESPACE
    [('BTL', EliminationByAspects(aspects='unique', lapse=0.0)),
     ('3', EliminationByAspects(aspects=3, lapse=0.0, alpha=1.0))]
    """
    named = []
    for name, item in _items(text):
        if not name or not item:
            raise ArgumentError(f"--models needs models between commas, such as unique,3,ibp; got {text!r}.")
        of_people, item = _of_people(item, kind)
        named.append((name, _model(item, settings, OF_GROUPS.get(kind, kind), labels).set_params(**of_people)))
    if settings.get("tree") is not None and not any(_is_tree(_of_people(item, kind)[1]) for _, item in _items(text)):
        raise ArgumentError("--tree gives a tree, but no model of --models is tree; add tree, or leave out --tree.")
    return named


def _of_people(item: str, kind: str) -> tuple[dict[str, Any], str]:
    """What an item says of groups or kinds of people, as parameters of a model, and the rest of it."""
    from thali.aspects.populations.groups_chain import WEIGHTS

    word, _, rest = item.partition(":")
    if kind in OF_GROUPS and word in WEIGHTS:
        return {"weights": word}, rest or "ibp"
    if features_of(kind) == "aspects" and word == "kinds":
        number, _, rest = rest.partition(":")
        if not number.isdecimal():
            raise ArgumentError(f"{item!r} in --models must be kinds: and a whole number, such as kinds:2.")
        return {"kinds": int(number)}, rest or "ibp"
    return {}, item


def specs_in(text: str) -> list["ModelSpec"]:
    """The models of thali that are named."""
    return [spec for _, item in _items(text) if (spec := spec_of_word(item)) is not None]


def _items(text: str) -> list[tuple[str, str]]:
    """(name, what it is) of each item."""
    items = []
    for item in (part.strip() for part in text.split(",")):
        name, equals, rest = (part.strip() for part in item.partition("="))
        is_file = Path(item).is_file()  # whose name may hold an equals sign
        items.append((Path(item).stem if is_file else item, item) if not equals or is_file else (name, rest))
    return items


def spec_of_word(item: str) -> "ModelSpec | None":
    """The model of thali of that name."""
    from thali.model.registry import SPECS

    names = {plain(name): spec for spec in SPECS for name in (spec.name, *spec.aliases)}
    return names.get(plain(item))


def _model(item: str, settings: dict[Any, Any], kind: str, labels: tuple[str, ...]) -> Any:
    import thali

    spec = spec_of_word(item)
    if spec is not None and kind not in spec.data:
        raise ArgumentError(f"--models: {item} is fitted to {' or '.join(spec.data)}; these data are {kind}.")
    if features_of(kind) == "aspects":
        aspects = _features(_meant(item, spec), settings, labels, kind)
        learns_alpha = aspects == "ibp" or isinstance(aspects, int | thali.Tree)
        alpha = settings.get("alpha") if learns_alpha else None
        method: Any = method_meant(settings.get("method", "mcmc"))
        unique, lapse, rule = settings.get("unique", True), settings.get("lapse"), settings.get("best-worst", "ranking")
        return thali.EliminationByAspects(aspects, unique, lapse, alpha, method, best_worst=rule)
    if features_of(kind):
        features = _features(item if spec is None else "ibp", settings, labels, kind)
        lapse = {"lapse": settings["lapse"]} if "lapse" in settings else {}
        alpha = None if isinstance(features, dict) else settings.get("alpha")
        return thali.AdditiveClustering(features, alpha=alpha, **lapse)
    if spec is None:
        from thali.model.registry import SPECS

        wanted = " or ".join(each.name for each in SPECS if kind in each.data)
        raise ArgumentError(f"--models must be {wanted} for {kind}; got {item!r}.")
    if spec.name == "product-classes":
        return spec.load()(monotone=settings.get("monotone"))
    return spec.load()()


def _meant(item: str, spec: "ModelSpec | None") -> str:
    """The aspects that an item means, which may name them or a model that has them."""
    if plain(item) == "pibp":
        return "tree"
    meant = aspects_meant(item)
    return meant if spec is None or meant != item else "ibp"


def _features(item: str, settings: dict[Any, Any], labels: tuple[str, ...], kind: str) -> Any:
    """What an argument for aspects or features takes."""
    from .aspects import parse_aspects

    if not _is_tree(item):
        return parse_aspects(item, labels, "--models", ("ibp", *["unique"] * (features_of(kind) == "aspects")))
    from .relations import read_tree

    if settings.get("tree") is None:
        raise ArgumentError(f"--models names {item!r}; say with --tree FILE which tree that is.")
    _, colon, length = item.partition(":")
    try:
        return read_tree(settings["tree"], float(length) if colon else None)
    except ValueError as error:
        if isinstance(error, ArgumentError | DataError):
            raise
        raise ArgumentError(f"--models: a leaf length must follow 'tree:', not {length!r}.") from None


def _is_tree(item: str) -> bool:
    return item == "tree" or item.startswith("tree:") or plain(item) == "pibp"
