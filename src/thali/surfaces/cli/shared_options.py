"""Options that several commands have."""

from typing import Annotated

import typer

Title = Annotated[
    str,
    typer.Option(metavar="TEXT", help="What the report is called.", show_default="the question that it answers"),
]
Author = Annotated[str, typer.Option(metavar="TEXT", help="Who wrote the report.", show_default="nobody")]
Question = Annotated[
    str,
    typer.Option(metavar="TEXT", help="What was asked, in your words.", show_default="what the model is asked"),
]
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
