"""The options that several commands take, and those of `thali fit`."""

from pathlib import Path
from typing import Annotated

import typer

# What several commands take.
Unique = Annotated[bool, typer.Option("--unique/--no-unique", help="Give each option an aspect of its own besides.")]
Draws = Annotated[int, typer.Option(help="Draws kept from each chain.")]
Tune = Annotated[int, typer.Option(help="Draws thrown away first, from each chain.")]
Thin = Annotated[int | None, typer.Option(help="Sweeps for each draw.", show_default="the model's own")]
Lapse = Annotated[float, typer.Option(help="Probability of a blind choice, in [0, 1).")]
Alpha = Annotated[
    float | None,
    typer.Option(help="Concentration of the prior on aspects or features, above 0.", show_default="learned"),
]

Column = Annotated[
    str | None,
    typer.Option(metavar="COLUMN", help="Choices, experiments: the column of that name.", show_default="recognised"),
]

# Of `thali fit`.
Data = Annotated[
    str,
    typer.Argument(
        metavar="DATA",
        help="A table (CSV, TSV, Excel or Parquet) of paired comparisons (a square count matrix, row chosen over"
        " column, or one comparison a line), of choices out of sets (one alternative of an occasion a line), of"
        " similarities (a symmetric square, or one pair a line), of"
        " covariates and classes (one observation a line; see --target), or of a choice experiment (one alternative"
        " of a task a line; see --monotone); the name of a bundled data set; or - for what is piped in.",
        show_default=False,
    ),
]
Model = Annotated[
    str | None,
    typer.Option(
        help="elimination-by-aspects (or elimination) for comparisons and choices, additive-clustering (or"
        " additive) for similarities,"
        " plackett-luce or sparse-logit for covariates and classes, product-classes for choice experiments.",
        show_default="what the data look like; with --target plackett-luce, with --monotone product-classes",
    ),
]
Target = Annotated[
    str | None,
    typer.Option(
        metavar="COLUMN",
        help="Classes: the column that holds them. All other columns are covariates, which must be numbers.",
        show_default=False,
    ),
]
Method = Annotated[
    str | None,
    typer.Option(
        help="How the model is fitted. mcmc or maximum-likelihood (of pairs, with known --aspects, unique unless"
        " given) for elimination-by-aspects, gibbs, map or variational for plackett-luce, polya-gamma or"
        " holmes-held for sparse-logit, annealed or smc (for the evidence) for product-classes.",
        show_default="the first",
    ),
]
Shape = Annotated[
    float | None,
    typer.Option(
        help="plackett-luce: shape of the prior of the weights, above 0; a smaller one leaves fewer of them.",
        show_default="learned; --method map needs one",
    ),
]
Transform = Annotated[
    str,
    typer.Option(
        metavar="exponential|exponential-pairs|none",
        help="plackett-luce: what the weights weigh. e^x and e^-x of every covariate x (standardised) and 1; also"
        " those of sums of two; or covariates of 0 or more as they are.",
    ),
]
Folds = Annotated[
    int,
    typer.Option(
        min=0,
        help="Classes: parts of the cross-validation, the same for all models unless --seed differs; 0: none.",
    ),
]
Attributes = Annotated[
    str | None,
    typer.Option(
        metavar="COLUMN,...",
        help="Experiments: the columns that describe the products.",
        show_default="all others",
    ),
]
Levels = Annotated[
    list[str] | None,
    typer.Option(
        metavar="NAME=A,B,...",
        help="Experiments: the levels of an attribute from worst to best; may be given several times.",
        show_default="by size, by the alphabet",
    ),
]
NoChoice = Annotated[
    str | None,
    typer.Option(
        metavar="LABEL|COLUMN|COLUMN=VALUE",
        help="Experiments: the no-choice option. Its label among the alternatives, a column with 1 in its rows, or"
        " a column and what it holds in its rows.",
        show_default="there is none",
    ),
]
Bins = Annotated[
    list[str] | None,
    typer.Option(
        metavar="NAME=K|NAME=A,B,...",
        help="Experiments: put an attribute of many numbers into K bins, or cut it at A, B, ...",
        show_default=False,
    ),
]
Monotone = Annotated[
    list[str] | None,
    typer.Option(
        metavar="NAME=increasing|decreasing ...",
        help="Experiments: attributes of which more is better, or less is; several may follow each other.",
        show_default="all are free",
    ),
]
Groups = Annotated[int, typer.Option(help="product-classes: chains, or with --method smc groups of particles.")]
Particles = Annotated[
    int | None,
    typer.Option(help="product-classes with --method smc: particles in each group.", show_default="64"),
]
FinalSweeps = Annotated[
    int | None,
    typer.Option(help="product-classes: sweeps that draws are kept from.", show_default="600; smc 60"),
]
Checkpoint = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help="product-classes: keep the state there after every step; the same command goes on from it.",
    ),
]
Market = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help="product-classes: a table of products, one a line, whose market shares are predicted.",
    ),
]
Aspects = Annotated[
    str,
    typer.Option(
        metavar="ibp|unique|K|FILE",
        help="Comparisons: which aspects. ibp infers their number, unique gives each option its own and no other"
        " (Bradley-Terry-Luce), an integer K allows K of them, FILE is a table of options and aspects.",
    ),
]
FitLapse = Annotated[
    float | None,
    typer.Option(
        help="Probability of a blind choice, in [0, 1).",
        show_default="0.01; with --method maximum-likelihood 0; product-classes 0.02",
    ),
]
Features = Annotated[
    str,
    typer.Option(
        metavar="ibp|K|FILE",
        help="Similarities: which features. ibp infers their number, an integer K allows K of them, FILE is a table"
        " of objects and features.",
    ),
]
Sigma = Annotated[
    float | None,
    typer.Option(
        help="Similarities: their standard deviation about the fitted ones; that of one judgement where a column counts"
        " of how many each is the mean.",
        show_default="that of the data, or learned",
    ),
]
WeightPrior = Annotated[
    str,
    typer.Option(
        metavar="SHAPE,RATE",
        help="Similarities: Gamma prior of each weight and of the constant; the default is meant for similarities"
        " of about 0 to 1.",
    ),
]
Constant = Annotated[
    bool, typer.Option("--constant/--no-constant", help="Similarities: an additive constant for all pairs.")
]
Symmetrize = Annotated[
    str | None,
    typer.Option(
        metavar="mean",
        help="Similarities: take the mean of the two sides of a square where they differ.",
        show_default="an error",
    ),
]
Estimate = Annotated[
    str,
    typer.Option(
        metavar="expectation|map-features|conditional-map|joint-map",
        help="Similarities: which estimate is printed and written.",
    ),
]
FeatureTree = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help="A tree of related options, which share aspects more readily: a table of two columns, option and"
        " group, or a Newick file. It takes the place of --aspects or --features.",
    ),
]
LeafLength = Annotated[
    float | None,
    typer.Option(
        help="With groups: length of the edges above the options, above 0 and at most 1; near 0 groups share"
        " nearly everything, at 1 they mean nothing.",
        show_default="0.1",
    ),
]
Chains = Annotated[int, typer.Option(help="Independent chains.")]
Cores = Annotated[int | None, typer.Option(help="Chains run at once.", show_default="all there are")]
Sampler = Annotated[
    str,
    typer.Option(metavar="recommended|paper", help="paper: the published one, for comparison only."),
]
Tempering = Annotated[
    str,
    typer.Option(
        metavar="auto|off|N|1,T,...",
        help="Replicas at several temperatures, so that chains change between families of features. auto: on for"
        " similarities, and for aspects to be learned with --no-unique; off; N temperatures to start with, whose number"
        " grows while tuning; or the temperatures themselves.",
    ),
]
Seed = Annotated[int | None, typer.Option(min=0, help="Same seed, same draws.", show_default="a fresh one")]
Out = Annotated[
    Path | None,
    typer.Option(metavar="DIR", help="Write posterior.nc (of draws), the tables and the pictures there."),
]
