"""Draw the picture of the README and of the paper: python docs/readme_picture.py

The file keeps a digest of the code that drew it, by which a test notices a picture that is out of
date.
"""

import hashlib
from pathlib import Path

PICTURE = Path(__file__).with_name("celebrities-aspects.png")
DRAWN_BY = ("feature_matrix.py", "_style.py")


def digest() -> str:
    """Of the code that draws the picture."""
    folder = Path(__file__).parents[1] / "src" / "thali" / "_plots"
    return hashlib.sha256(b"".join((folder / name).read_bytes() for name in DRAWN_BY)).hexdigest()


def main() -> None:
    """Fit the celebrities as the README does, and draw their aspects."""
    import thali as th

    model = th.EliminationByAspects().fit(
        th.datasets.celebrities(), random_seed=1, progressbar=False
    )
    figure = model.plot("features").figure
    figure.savefig(
        PICTURE, dpi=150, bbox_inches="tight", metadata={"Description": digest(), "Software": None}
    )


if __name__ == "__main__":
    main()
