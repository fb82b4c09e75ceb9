"""Options that several commands have."""

from typing import Annotated

import typer

Overwrite = Annotated[bool, typer.Option("--overwrite", help="Begin anew where --out holds another job.")]

Tables = Annotated[
    str | None,
    typer.Option(
        metavar="csv|tex|md|xlsx,...",
        help="The formats of the tables that --out writes.",
        show_default="csv",
    ),
]

Pictures = Annotated[
    str | None,
    typer.Option(
        metavar="png|svg|pdf,...",
        help="The formats of the pictures that --out writes.",
        show_default="png",
    ),
]
