"""The literature as BibTeX: an entry for each work, and one for thali."""

from importlib.resources import files


def entries() -> dict[str, str]:
    """The entries of `references.bib` by their keys."""
    text = (files("thali.surfaces.report") / "references.bib").read_text("utf-8")
    found = [entry.strip() for entry in text.split("\n\n") if entry.strip()]
    return {entry[entry.index("{") + 1 : entry.index(",")]: entry for entry in found}


def of_thali() -> str:
    """The entry of this version of thali."""
    from thali import __version__

    return (
        "@software{thali,\n  author = {{The thali developers}},\n"
        "  title = {thali: latent-feature models of choice and similarity},\n"
        f"  version = {{{__version__}}},\n  year = {{2026}},\n}}"
    )
