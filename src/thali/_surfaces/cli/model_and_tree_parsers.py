"""Parsing of --models, --aspects and --tree into models, feature tables and trees."""

from collections.abc import Iterator
from itertools import compress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import thali
from thali._labels import check_labels, format_label
from thali._model.aliases import normalise_aspects, normalise_method, normalise_name
from thali._model.default_models import WORTHS
from thali._model.registry import SPECS, find_spec_by_name, get_features_argument
from thali._people.people_argument import Individuals
from thali._posterior.respondent_dependence import ADJUSTED, INDEPENDENT, INDIVIDUALS
from thali.errors import ArgumentError, DataError, prefix_errors

if TYPE_CHECKING:
    import pandas

    from thali._model.model_spec import ModelSpec
    from thali._trees.tree import Tree


def parse_aspects(
    text: str,
    labels: tuple[str, ...],
    option: str = "--aspects",
    words: tuple[str, ...] = ("ibp", "unique"),
) -> "str | int | dict[str, list[str]]":
    """Parse the value of --aspects: a word, a number, or a file of aspects.

    Examples
    --------
    >>> parse_aspects("3", ("a", "b"))
    3
    """
    if normalise_aspects(text) in words and not Path(text).exists():
        return normalise_aspects(text)
    try:
        return int(text)
    except ValueError:
        pass
    if not Path(text).exists():
        raise ArgumentError(
            f"{option} must be {', '.join(words)}, an integer or the path of a table; there is no"
            f" file {text!r}."
        )

    from thali._reading.table_files import read_table

    table = read_table(text)
    with prefix_errors(text):
        return _read_aspects(table, labels)


def _read_aspects(table: "pandas.DataFrame", labels: tuple[str, ...]) -> dict[str, list[str]]:
    """Read {option: aspects} from a table of columns of 0 and 1, or of option and aspect."""
    # in the latter, an option that is not listed, or has an empty cell, has no aspect
    if table.shape[1] < 2:
        raise DataError(
            "a table of aspects needs a column of option labels and at least one other column;"
            f" found {table.shape[1]} in all."
        )
    cells = table.iloc[:, 1:].astype(object)
    is_binary = cells.isin([0, 1, "0", "1"]).to_numpy()
    if is_binary.all():
        aspect_names = check_labels(cells.columns, "the names of the aspects")
        row_labels = check_labels(table.iloc[:, 0], "the options in the first column")
        for label in labels:
            if label not in row_labels:
                raise DataError(
                    f"there is no row for the option {label!r}; add one (zeros mean no aspect)."
                )
        return {
            label: list(compress(aspect_names, row))
            for label, row in zip(row_labels, cells.to_numpy(float), strict=True)
        }
    if table.shape[1] == 2:
        aspects_by_option: dict[str, list[str]] = {label: [] for label in labels}
        for option, aspect in _iterate_label_pairs(table, "an aspect", can_be_empty=True):
            # the model refuses unknown options
            aspects = aspects_by_option.setdefault(option, [])
            if aspect:
                aspects.append(aspect)
        return aspects_by_option
    row_index, column_index = (int(axis[0]) for axis in (~is_binary).nonzero())
    raise DataError(
        f"columns of aspects must contain only 0 and 1; row {row_index + 1} below the header"
        f" ({table.iloc[row_index, 0]}), column {cells.columns[column_index]!r}, contains"
        f" {cells.iloc[row_index, column_index]!r}."
    )


def _iterate_label_pairs(
    table: "pandas.DataFrame", second_noun: str, can_be_empty: bool = False
) -> Iterator[tuple[str, str]]:
    """Yield the (label, name) pairs in two columns; raise if a cell is empty that cannot be."""
    for row_number, (option, second_label) in enumerate(table.itertuples(index=False), start=1):
        if not format_label(option) or not (can_be_empty or format_label(second_label)):
            raise DataError(
                f"row {row_number} below the header must contain an option and"
                f" {second_noun}; got {option!r} and {second_label!r}."
            )
        yield format_label(option), format_label(second_label)


# The value of `--tree`: a table of options and their groups, or a tree in Newick format -----------


LEAF_LENGTH = 0.1


def read_tree(path: Path, leaf_length: float | None) -> "Tree":
    """Read a tree of options from a Newick file or a table of nested groups."""
    from thali._input_files import read_source
    from thali._trees.tree_parsing import read_tree_text

    tree_source = read_source(path)
    if tree_source.content[:4096].lstrip(b"\xef\xbb\xbf \t\r\n").startswith((b"(", b"[")):
        if leaf_length is not None:
            raise ArgumentError(
                f"{path}: a Newick tree has its own edge lengths; remove the leaf length."
            )
        with prefix_errors(path):
            return thali.Tree.from_newick(read_tree_text(tree_source))

    from thali._reading.table_files import read_table

    table = read_table(tree_source)
    options_by_group: dict[str, list[str]] = {}
    with prefix_errors(path):
        if table.shape[1] != 2:
            raise DataError(
                f"a tree of groups needs two columns, option and group; found {table.shape[1]}."
            )
        for option, group in _iterate_label_pairs(table, "a group"):
            options_by_group.setdefault(group, []).append(option)
    if leaf_length is None:
        leaf_length = LEAF_LENGTH
    return thali.Tree.from_groups(options_by_group, leaf_length)


# The value of --models of `thali compare`: models by name, or by their aspects or features --------


def parse_models(
    text: str, settings: dict[Any, Any], data_kind: str, labels: tuple[str, ...]
) -> list[tuple[str, Any]]:
    """Parse --models to (name, unfitted model) pairs.

    Examples
    --------
    >>> from thali._data.kinds import PAIRS
    >>> settings = {"lapse": 0.0, "alpha": 1.0}
    >>> parse_models("BTL, 3", settings, PAIRS, ("a", "b"))  # doctest: +NORMALIZE_WHITESPACE
    [('BTL', BradleyTerryLuce()),
     ('3', EliminationByAspects(aspects=3, lapse=0.0, alpha=1.0))]
    """
    named_models = []
    has_tree = False
    for name, model_text in _split_models(text):
        if not name or not model_text:
            raise ArgumentError(
                "--models must list models separated by commas, such as unique,3,ibp; got"
                f" {text!r}."
            )
        people_arguments, model_text = _parse_people_prefix(model_text, data_kind)
        has_tree = has_tree or _names_tree_model(model_text)
        model = _build_model(model_text, settings, data_kind, labels)
        named_models.append((name, model.set_params(**people_arguments)))
    if settings.get("tree") is not None and not has_tree:
        raise ArgumentError(
            "--tree is given but --models does not contain tree; add tree, or remove --tree."
        )
    return named_models


def _parse_people_prefix(model_text: str, data_kind: str) -> tuple[dict[str, Any], str]:
    """Split a prefix such as "individuals:" off a model text; return parameters, rest."""
    prefix, _, model_part = model_text.partition(":")
    if get_features_argument(data_kind) == "aspects":
        if prefix in (INDEPENDENT, ADJUSTED):
            return {"people": prefix}, model_part or "ibp"
        if prefix == INDIVIDUALS:
            return {"people": Individuals()}, _require_worths(model_text, model_part)
    return {}, model_text


def _require_worths(model_text: str, model_part: str) -> str:
    """Return the model after a prefix, worths if there is none; raise for other models."""
    if model_part and find_spec_by_name(model_part) is not find_spec_by_name(WORTHS):
        raise ArgumentError(
            f"{model_text!r} in --models requires a model of worths; type"
            f" {model_text.removesuffix(model_part)}{WORTHS}."
        )
    return WORTHS


def find_named_specs(text: str) -> list["ModelSpec"]:
    """Return the specs of all models named in --models."""
    return [
        spec
        for _, model_text in _split_models(text)
        if (spec := find_spec_by_name(model_text)) is not None
    ]


def _split_models(text: str) -> list[tuple[str, str]]:
    """Split --models into (name, model text) pairs."""
    named_texts = []
    for model_text in (text_part.strip() for text_part in text.split(",")):
        name, equals, named_text = (text_part.strip() for text_part in model_text.partition("="))
        # the name of a file may contain an equals sign
        if (path := Path(model_text)).is_file():
            named_texts.append((path.stem, model_text))
        elif equals:
            named_texts.append((name, named_text))
        else:
            named_texts.append((model_text, model_text))
    return named_texts


def _build_model(
    model_text: str, settings: dict[Any, Any], data_kind: str, labels: tuple[str, ...]
) -> Any:
    """Construct the model that one entry of --models names."""
    spec = find_spec_by_name(model_text)
    if spec is not None and data_kind not in spec.data:
        raise ArgumentError(
            f"--models: {model_text} requires {' or '.join(spec.data)}; these data are {data_kind}."
        )
    lapse_setting = {}
    if "lapse" in settings:
        lapse_setting["lapse"] = settings["lapse"]
    if spec is not None and spec is find_spec_by_name(WORTHS):
        method: Any = normalise_method(settings.get("method"))
        return spec.load()(method, best_worst=settings.get("best-worst"), **lapse_setting)
    if get_features_argument(data_kind) == "aspects":
        aspects = _parse_features(
            _resolve_aspects_word(model_text, spec), settings, labels, data_kind
        )
        alpha = None
        if aspects == "ibp" or isinstance(aspects, int | thali.Tree):
            alpha = settings.get("alpha")
        method: Any = normalise_method(settings.get("method", "mcmc"))
        return thali.EliminationByAspects(
            aspects, settings.get("unique", True), settings.get("lapse"), alpha, method
        )
    if get_features_argument(data_kind):
        if spec is not None:  # its name says nothing about features
            model_text = "ibp"
        features = _parse_features(model_text, settings, labels, data_kind)
        alpha = None
        if not isinstance(features, dict):
            alpha = settings.get("alpha")
        return thali.AdditiveClustering(features, alpha=alpha, **lapse_setting)
    if spec is None:
        model_names = " or ".join(spec.name for spec in SPECS if data_kind in spec.data)
        raise ArgumentError(f"--models must be {model_names} for {data_kind}; got {model_text!r}.")
    if spec.name == "product-classes":
        return spec.load()(monotone=settings.get("monotone"))
    return spec.load()()


def _resolve_aspects_word(model_text: str, spec: "ModelSpec | None") -> str:
    """Return the value of `aspects` that a model text implies."""
    if normalise_name(model_text) == "pibp":
        return "tree"
    aspects_word = normalise_aspects(model_text)
    if spec is None or aspects_word != model_text:
        return aspects_word
    return "ibp"


def _parse_features(
    model_text: str, settings: dict[Any, Any], labels: tuple[str, ...], data_kind: str
) -> Any:
    """Parse the aspects or features in an entry of --models."""
    if not _names_tree_model(model_text):
        allowed_words = ("ibp",)
        if get_features_argument(data_kind) == "aspects":
            allowed_words = ("ibp", "unique")
        return parse_aspects(model_text, labels, "--models", allowed_words)
    if settings.get("tree") is None:
        raise ArgumentError(f"--models contains {model_text!r}; give its file with --tree FILE.")
    _, colon, length_text = model_text.partition(":")
    leaf_length = None
    if colon:
        try:
            leaf_length = float(length_text)
        except ValueError:
            raise ArgumentError(
                f"--models: 'tree:' must be followed by a leaf length; got {length_text!r}."
            ) from None
    return read_tree(settings["tree"], leaf_length)


def _names_tree_model(model_text: str) -> bool:
    """Return whether an entry of --models is "tree", "tree:..." or "pibp"."""
    return (
        model_text == "tree"
        or model_text.startswith("tree:")
        or normalise_name(model_text) == "pibp"
    )
