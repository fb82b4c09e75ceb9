"""`thali cite`: citations of thali and of the papers of a model, as BibTeX."""

from thali.errors import ArgumentError

from ...report import format_own_citation, read_references


def print_citations(model: str | None) -> None:
    """Print the entry of thali and the entries of a model's papers."""
    keys = () if model is None else _find_citation_keys(model)
    entry_by_key = read_references()
    print("\n\n".join([format_own_citation(), *(entry_by_key[key] for key in keys)]))


def _find_citation_keys(model: str) -> tuple[str, ...]:
    """Return the citation keys of a model's papers."""
    from thali._model.registry import SPECS, find_spec_by_name

    spec = find_spec_by_name(model)
    if spec is None:
        raise ArgumentError(
            f"Unknown model {model!r}; available models: {', '.join(spec.name for spec in SPECS)}."
        )
    return spec.papers
