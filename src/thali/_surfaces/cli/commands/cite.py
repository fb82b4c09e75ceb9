"""`thali cite`: BibTeX of thali and of a model's paper."""

from thali.errors import ArgumentError

from ...report import entries, of_thali


def cite(model: str | None) -> None:
    """Print the entry of thali and, of a model, those of its papers."""
    keys = () if model is None else _keys(model)
    known = entries()
    print("\n\n".join([of_thali(), *(known[key] for key in keys)]))


def _keys(model: str) -> tuple[str, ...]:
    from thali._model.registry import SPECS, find_spec_by_name

    spec = find_spec_by_name(model)
    if spec is None:
        raise ArgumentError(
            f"Unknown model {model!r}; available models: {', '.join(spec.name for spec in SPECS)}."
        )
    return spec.papers
