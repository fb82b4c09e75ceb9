"""`thali cite`: citations of thali and of the papers of a model, as BibTeX."""

from thali.errors import ArgumentError

from ...report import format_own_citation, read_references


def print_citations(model: str | None) -> None:
    """Print the BibTeX entries of thali and of a model's papers."""
    entries = [format_own_citation()]
    if model is not None:
        entry_by_key = read_references()
        entries += [entry_by_key[key] for key in _find_citation_keys(model)]
    print("\n\n".join(entries))


def _find_citation_keys(model: str) -> tuple[str, ...]:
    """Return the keys of a model's papers in references.bib."""
    from thali._conjoint.result import PAPERS
    from thali._model.registry import SPECS, find_spec_by_name

    if model == "amce":
        return PAPERS
    spec = find_spec_by_name(model)
    if spec is None:
        raise ArgumentError(
            f"Unknown model {model!r}; available models:"
            f" {', '.join(spec.name for spec in SPECS)}; for average"
            " marginal component effects, amce."
        )
    return spec.papers
