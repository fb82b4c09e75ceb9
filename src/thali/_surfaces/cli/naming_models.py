"""What --models, --aspects and --tree name: models, and the tables and trees of options that they
read."""

from collections.abc import Iterator
from itertools import compress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from thali._data.kinds import DataForm, find_data_spec
from thali._model.aliases import normalise_aspects, normalise_method, normalise_name
from thali._model.default_models import WORTHS
from thali._model.options import ATTENTION
from thali._model.registry import find_spec_by_name, get_features_argument
from thali._people.populations import COMMON, FREE, SIMILAR, Groups, LatentClasses, parse_people
from thali._posterior.dependence import ADJUSTED, INDEPENDENT, INDIVIDUALS
from thali.errors import ArgumentError, DataError

if TYPE_CHECKING:
    import pandas

    from thali._model.spec import ModelSpec
    from thali._trees.tree import Tree


def parse_aspects(
    value: str,
    labels: tuple[str, ...],
    option: str = "--aspects",
    words: tuple[str, ...] = ("ibp", "unique"),
) -> "str | int | dict[str, list[str]]":
    """What a model's argument for aspects or features takes, from what was typed.

    Examples
    --------
    >>> parse_aspects("3", ("a", "b"))
    3
    """
    if normalise_aspects(value) in words and not Path(value).exists():
        return normalise_aspects(value)
    try:
        return int(value)
    except ValueError:
        pass
    if not Path(value).exists():
        raise ArgumentError(
            f"{option} must be {', '.join(words)}, an integer or the path of a table; there is no"
            f" file {value!r}."
        )

    from thali._reading.table import read_table

    table = read_table(value)
    if table.shape[1] < 2:
        raise DataError(
            f"{value}: a table of aspects needs a column of option labels and at least one other"
            f" column; found {table.shape[1]} in all."
        )
    entries = table.iloc[:, 1:].astype(object)
    is_binary = entries.isin([0, 1, "0", "1"]).to_numpy()
    if is_binary.all():
        return _from_columns(value, table.iloc[:, 0], entries.astype(float), labels)
    if table.shape[1] == 2:
        return _from_list(value, table, labels)
    row, column = (int(axis[0]) for axis in (~is_binary).nonzero())
    raise DataError(
        f"{value}: columns of aspects must contain only 0 and 1; row {row + 1} below the header"
        f" ({table.iloc[row, 0]}), column {entries.columns[column]!r}, contains"
        f" {entries.iloc[row, column]!r}."
    )


def _from_columns(
    path: str, options: "pandas.Series", entries: "pandas.DataFrame", labels: tuple[str, ...]
) -> dict[str, list[str]]:
    from thali._labels import checked_labels

    names = checked_labels(entries.columns, f"{path}: the names of the aspects")
    rows = checked_labels(options, f"{path}: the options in the first column")
    for label in labels:
        if label not in rows:
            raise DataError(
                f"{path}: there is no row for the option {label!r}; add one (zeros mean no aspect)."
            )
    return {
        label: list(compress(names, row))
        for label, row in zip(rows, entries.to_numpy(), strict=True)
    }


def _named_rows(path: object, table: "pandas.DataFrame", what: str) -> Iterator[tuple[str, str]]:
    """The options of a table and what the second column says of each; a row without either is
    refused."""
    from thali._labels import as_label

    for row, (option, of_it) in enumerate(table.itertuples(index=False), start=1):
        if not as_label(option) or not as_label(of_it):
            raise DataError(
                f"{path}: row {row} below the header must contain an option and {what}; got"
                f" {option!r} and {of_it!r}."
            )
        yield as_label(option), as_label(of_it)


def _from_list(
    path: str, table: "pandas.DataFrame", labels: tuple[str, ...]
) -> dict[str, list[str]]:
    owned: dict[str, list[str]] = {label: [] for label in labels}
    for option, aspect in _named_rows(path, table, "an aspect"):
        owned.setdefault(option, []).append(aspect)  # the model refuses unknown options
    return owned


# The value of `--tree`: a table of options and their groups, or a tree in Newick format -----------


LEAF_LENGTH = 0.1


def read_tree(path: Path, leaf_length: float | None) -> "Tree":
    """The tree that a file holds."""
    import thali
    from thali._source import read_source
    from thali._trees.sources import read_tree_text

    source = read_source(path)
    if source.content[:4096].lstrip(b"\xef\xbb\xbf \t\r\n").startswith((b"(", b"[")):
        if leaf_length is not None:
            raise ArgumentError(
                f"{path}: a Newick tree has its own edge lengths; remove the leaf length."
            )
        try:
            return thali.Tree.from_newick(read_tree_text(source))
        except DataError as error:
            raise DataError(f"{path}: {error}") from None

    from thali._reading.table import read_table

    table = read_table(source)
    if table.shape[1] != 2:
        raise DataError(
            f"{path}: a tree of groups needs two columns, option and group; found {table.shape[1]}."
        )
    groups: dict[str, list[str]] = {}
    for option, group in _named_rows(path, table, "a group"):
        groups.setdefault(group, []).append(option)
    return thali.Tree.from_groups(groups, LEAF_LENGTH if leaf_length is None else leaf_length)


# The value of --models of `thali compare`: models by name, or by what they learn of options -------


def parse_models(
    text: str, settings: dict[Any, Any], form: DataForm, labels: tuple[str, ...]
) -> list[tuple[str, Any]]:
    """The models that --models names, by name.

    Examples
    --------
    >>> from thali._data.kinds import PAIRS, DataForm
    >>> settings = {"lapse": 0.0, "alpha": 1.0}
    >>> parse_models(
    ...     "BTL, 3", settings, DataForm(PAIRS), ("a", "b")
    ... )  # doctest: +NORMALIZE_WHITESPACE
    [('BTL', BradleyTerryLuce()),
     ('3', EliminationByAspects(aspects=3, lapse=0.0, alpha=1.0))]
    """
    named = []
    for name, item in _items(text):
        if not name or not item:
            raise ArgumentError(
                "--models must list models separated by commas, such as unique,3,ibp; got"
                f" {text!r}."
            )
        of_people, item = _of_people(item, form)
        named.append((name, _model(item, settings, form.kind, labels).set_params(**of_people)))
    if settings.get("tree") is not None and not any(
        _is_tree(_of_people(item, form)[1]) for _, item in _items(text)
    ):
        raise ArgumentError(
            "--tree is given but --models does not contain tree; add tree, or remove --tree."
        )
    return named


def _of_people(item: str, form: DataForm) -> tuple[dict[str, Any], str]:
    """What an item says of people, or of groups or classes of them, as parameters of a model, and
    the rest of it."""
    word, _, rest = item.partition(":")
    usual, is_alone = {"people": Groups()} if form.has_groups else {}, not form.has_groups
    if form.has_groups and word in (FREE, SIMILAR, COMMON):
        return {"people": Groups(word)}, rest or "ibp"
    if (
        is_alone
        and get_features_argument(form.kind) == "aspects"
        and word in (INDEPENDENT, ADJUSTED, INDIVIDUALS)
    ):
        return {"people": parse_people(word)}, rest or "ibp"
    if _who_ignores(item) is not None:
        return {ATTENTION.name: True}, rest
    if word == "classes" and is_alone and find_data_spec(form.kind).has_classes:
        number, _, rest = rest.partition(":")
        if not number.isdecimal():
            raise ArgumentError(
                f"{item!r} in --models must have the form classes:N, such as classes:2."
            )
        return {"people": LatentClasses(int(number))}, rest or "ibp"
    return usual, item


def specs_in(text: str) -> list["ModelSpec"]:
    """The models of thali that are named."""
    return [
        spec
        for _, item in _items(text)
        if (spec := _who_ignores(item) or find_spec_by_name(item)) is not None
    ]


def _who_ignores(item: str) -> "ModelSpec | None":
    """The model of an item such as attention:hierarchical-logit, whose people may ignore
    attributes."""
    word, _, rest = item.partition(":")
    spec = find_spec_by_name(rest) if word == ATTENTION.name else None
    return spec if spec is not None and ATTENTION in spec.options else None


def _items(text: str) -> list[tuple[str, str]]:
    """(name, what it is) of each item."""
    items = []
    for item in (part.strip() for part in text.split(",")):
        name, equals, rest = (part.strip() for part in item.partition("="))
        is_file = Path(item).is_file()  # whose name may hold an equals sign
        items.append(
            (Path(item).stem if is_file else item, item) if not equals or is_file else (name, rest)
        )
    return items


def _model(item: str, settings: dict[Any, Any], kind: str, labels: tuple[str, ...]) -> Any:
    import thali

    spec = find_spec_by_name(item)
    if spec is not None and kind not in spec.data:
        raise ArgumentError(
            f"--models: {item} requires {' or '.join(spec.data)}; these data are {kind}."
        )
    if spec is not None and spec is find_spec_by_name(WORTHS):
        method: Any = normalise_method(settings.get("method"))
        own = {"lapse": settings["lapse"]} if "lapse" in settings else {}
        return spec.load()(method, best_worst=settings.get("best-worst"), **own)
    if get_features_argument(kind) == "aspects":
        aspects = _features(_meant(item, spec), settings, labels, kind)
        learns_alpha = aspects == "ibp" or isinstance(aspects, int | thali.Tree)
        alpha = settings.get("alpha") if learns_alpha else None
        method: Any = normalise_method(settings.get("method", "mcmc"))
        return thali.EliminationByAspects(
            aspects, settings.get("unique", True), settings.get("lapse"), alpha, method
        )
    if get_features_argument(kind):
        features = _features(item if spec is None else "ibp", settings, labels, kind)
        lapse = {"lapse": settings["lapse"]} if "lapse" in settings else {}
        alpha = None if isinstance(features, dict) else settings.get("alpha")
        return thali.AdditiveClustering(features, alpha=alpha, **lapse)
    if spec is None:
        from thali._model.registry import SPECS

        wanted = " or ".join(each.name for each in SPECS if kind in each.data)
        raise ArgumentError(f"--models must be {wanted} for {kind}; got {item!r}.")
    if spec.name == "product-classes":
        return spec.load()(monotone=settings.get("monotone"))
    return spec.load()()


def _meant(item: str, spec: "ModelSpec | None") -> str:
    """The aspects that an item means, which may name them or a model that has them."""
    if normalise_name(item) == "pibp":
        return "tree"
    meant = normalise_aspects(item)
    return meant if spec is None or meant != item else "ibp"


def _features(item: str, settings: dict[Any, Any], labels: tuple[str, ...], kind: str) -> Any:
    """What an argument for aspects or features takes."""
    if not _is_tree(item):
        return parse_aspects(
            item,
            labels,
            "--models",
            ("ibp", *["unique"] * (get_features_argument(kind) == "aspects")),
        )
    if settings.get("tree") is None:
        raise ArgumentError(f"--models contains {item!r}; give its file with --tree FILE.")
    _, colon, length = item.partition(":")
    try:
        return read_tree(settings["tree"], float(length) if colon else None)
    except ValueError as error:
        if isinstance(error, ArgumentError | DataError):
            raise
        raise ArgumentError(
            f"--models: 'tree:' must be followed by a leaf length; got {length!r}."
        ) from None


def _is_tree(item: str) -> bool:
    return item == "tree" or item.startswith("tree:") or normalise_name(item) == "pibp"
