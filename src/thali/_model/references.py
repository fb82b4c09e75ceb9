"""References cited in reports and methods texts, by the keys of `references.bib`."""

from collections.abc import Iterable
from typing import NamedTuple

from thali.errors import Fact, Message, Words


class Reference(NamedTuple):
    """A cited work: in-text names, year and bibliography entry."""

    names: str
    year: int
    text: str


REFERENCES = {
    "archambeau2012": Reference(
        "Archambeau & Caron",
        2012,
        "Archambeau, C., & Caron, F. (2012). Plackett-Luce regression: a new Bayesian model for"
        " polychotomous data. Proceedings of the 28th Conference on Uncertainty in Artificial"
        " Intelligence, 84–92.",
    ),
    "bell2002": Reference(
        "Bell & McCaffrey",
        2002,
        "Bell, R. M., & McCaffrey, D. F. (2002). Bias reduction in standard errors for linear"
        " regression with multi-stage samples. Survey Methodology, 28, 169–181.",
    ),
    "bradley1952": Reference(
        "Bradley & Terry",
        1952,
        "Bradley, R. A., & Terry, M. E. (1952). Rank analysis of incomplete block designs: I. The"
        " method of paired comparisons. Biometrika, 39, 324–345.",
    ),
    "clayton2023": Reference(
        "Clayton, Horiuchi, Kaufman, King & Komisarchik",
        2023,
        "Clayton, K., Horiuchi, Y., Kaufman, A. R., King, G., & Komisarchik, M. (2023). Correcting"
        " measurement error bias in conjoint survey experiments. Working paper.",
    ),
    "davidson1970": Reference(
        "Davidson",
        1970,
        "Davidson, R. R. (1970). On extending the Bradley-Terry model to accommodate ties in"
        " paired comparison experiments. Journal of the American Statistical Association, 65,"
        " 317–328.",
    ),
    "daviet2017": Reference(
        "Daviet & McCausland",
        2017,
        "Daviet, R., & McCausland, W. (2017). Bayesian non-parametric inference with monotonicity"
        " restrictions for discrete choice experiments. Unpublished draft.",
    ),
    "dayton1988": Reference(
        "Dayton & Macready",
        1988,
        "Dayton, C. M., & Macready, G. B. (1988). Concomitant-variable latent-class models."
        " Journal of the American Statistical Association, 83, 173–178.",
    ),
    "gorur2006": Reference(
        "Görür, Jäkel & Rasmussen",
        2006,
        "Görür, D., Jäkel, F., & Rasmussen, C. E. (2006). A choice model with infinitely many"
        " latent features. Proceedings of the 23rd International Conference on Machine Learning,"
        " 361–368.",
    ),
    "hainmueller2014": Reference(
        "Hainmueller, Hopkins & Yamamoto",
        2014,
        "Hainmueller, J., Hopkins, D. J., & Yamamoto, T. (2014). Causal inference in conjoint"
        " analysis: understanding multidimensional choices via stated preference experiments."
        " Political Analysis, 22, 1–30.",
    ),
    "hubert1985": Reference(
        "Hubert & Arabie",
        1985,
        "Hubert, L., & Arabie, P. (1985). Comparing partitions. Journal of Classification, 2,"
        " 193–218.",
    ),
    "hebart2020": Reference(
        "Hebart, Zheng, Pereira & Baker",
        2020,
        "Hebart, M. N., Zheng, C. Y., Pereira, F., & Baker, C. I. (2020). Revealing the"
        " multidimensional mental representations of natural objects underlying human similarity"
        " judgements. Nature Human Behaviour, 4, 1173–1185.",
    ),
    "kamakura1989": Reference(
        "Kamakura & Russell",
        1989,
        "Kamakura, W. A., & Russell, G. J. (1989). A probabilistic choice model for market"
        " segmentation and elasticity structure. Journal of Marketing Research, 26, 379–390.",
    ),
    "leeper2020": Reference(
        "Leeper, Hobolt & Tilley",
        2020,
        "Leeper, T. J., Hobolt, S. B., & Tilley, J. (2020). Measuring subgroup preferences in"
        " conjoint experiments. Political Analysis, 28, 207–221.",
    ),
    "luce1959": Reference(
        "Luce",
        1959,
        "Luce, R. D. (1959). Individual choice behavior: A theoretical analysis. Wiley.",
    ),
    "marley2005": Reference(
        "Marley & Louviere",
        2005,
        "Marley, A. A. J., & Louviere, J. J. (2005). Some probabilistic models of best, worst, and"
        " best-worst choices. Journal of Mathematical Psychology, 49, 464–480.",
    ),
    "mcfadden1974": Reference(
        "McFadden",
        1974,
        "McFadden, D. (1974). Conditional logit analysis of qualitative choice behavior. In P."
        " Zarembka (Ed.), Frontiers in econometrics (pp. 105–142). Academic Press.",
    ),
    "miaoulis1990": Reference(
        "Miaoulis, Free & Parsons",
        1990,
        "Miaoulis, G., Free, V., & Parsons, H. (1990). TURF: A new planning approach for product"
        " line extensions. Marketing Research, 2(1), 28–40.",
    ),
    "miller2008": Reference(
        "Miller, Griffiths & Jordan",
        2008,
        "Miller, K. T., Griffiths, T. L., & Jordan, M. I. (2008). The phylogenetic Indian buffet"
        " process: A non-exchangeable nonparametric prior for latent features. Proceedings of the"
        " 24th Conference on Uncertainty in Artificial Intelligence, 403–410.",
    ),
    "muller2013": Reference(
        "Müller",
        2013,
        "Müller, U. K. (2013). Risk of Bayesian inference in misspecified models, and the sandwich"
        " covariance matrix. Econometrica, 81, 1805–1849.",
    ),
    "navarro2007": Reference(
        "Navarro & Griffiths",
        2007,
        "Navarro, D. J., & Griffiths, T. L. (2007). A nonparametric Bayesian method for inferring"
        " features from similarity judgments. Advances in Neural Information Processing Systems,"
        " 19, 1033–1040.",
    ),
    "nemhauser1978": Reference(
        "Nemhauser, Wolsey & Fisher",
        1978,
        "Nemhauser, G. L., Wolsey, L. A., & Fisher, M. L. (1978). An analysis of approximations"
        " for maximizing submodular set functions—I. Mathematical Programming, 14, 265–294.",
    ),
    "pauli2011": Reference(
        "Pauli, Racugno & Ventura",
        2011,
        "Pauli, F., Racugno, W., & Ventura, L. (2011). Bayesian composite marginal likelihoods."
        " Statistica Sinica, 21, 149–164.",
    ),
    "plackett1975": Reference(
        "Plackett",
        1975,
        "Plackett, R. L. (1975). The analysis of permutations. Journal of the Royal Statistical"
        " Society C, 24, 193–202.",
    ),
    "polson2013": Reference(
        "Polson, Scott & Windle",
        2013,
        "Polson, N. G., Scott, J. G., & Windle, J. (2013). Bayesian inference for logistic models"
        " using Pólya–Gamma latent variables. Journal of the American Statistical Association,"
        " 108, 1339–1349.",
    ),
    "pustejovsky2018": Reference(
        "Pustejovsky & Tipton",
        2018,
        "Pustejovsky, J. E., & Tipton, E. (2018). Small-sample methods for cluster-robust variance"
        " estimation and hypothesis testing in fixed effects models. Journal of Business & Economic"
        " Statistics, 36, 672–683.",
    ),
    "rao1984": Reference(
        "Rao & Scott",
        1984,
        "Rao, J. N. K., & Scott, A. J. (1984). On chi-squared tests for multiway contingency"
        " tables with cell proportions estimated from survey data. The Annals of Statistics, 12,"
        " 46–60.",
    ),
    "ribatet2012": Reference(
        "Ribatet, Cooley & Davison",
        2012,
        "Ribatet, M., Cooley, D., & Davison, A. C. (2012). Bayesian inference from composite"
        " likelihoods, with an application to spatial extremes. Statistica Sinica, 22, 813–845.",
    ),
    "rossi2005": Reference(
        "Rossi, Allenby & McCulloch",
        2005,
        "Rossi, P. E., Allenby, G. M., & McCulloch, R. (2005). Bayesian statistics and marketing."
        " Wiley.",
    ),
    "rubin1981": Reference(
        "Rubin",
        1981,
        "Rubin, D. B. (1981). The Bayesian bootstrap. The Annals of Statistics, 9, 130–134.",
    ),
    "rue2009": Reference(
        "Rue, Martino & Chopin",
        2009,
        "Rue, H., Martino, S., & Chopin, N. (2009). Approximate Bayesian inference for latent"
        " Gaussian models by using integrated nested Laplace approximations. Journal of the Royal"
        " Statistical Society: Series B, 71, 319–392.",
    ),
    "shepard1979": Reference(
        "Shepard & Arabie",
        1979,
        "Shepard, R. N., & Arabie, P. (1979). Additive clustering: Representation of similarities"
        " as combinations of discrete overlapping properties. Psychological Review, 86, 87–123.",
    ),
    "train2005": Reference(
        "Train & Weeks",
        2005,
        "Train, K., & Weeks, M. (2005). Discrete choice models in preference space and"
        " willingness-to-pay space. In R. Scarpa & A. Alberini (Eds.), Applications of simulation"
        " methods in environmental and resource economics (pp. 1–16). Springer.",
    ),
    "tversky1972": Reference(
        "Tversky",
        1972,
        "Tversky, A. (1972). Elimination by aspects: A theory of choice. Psychological Review, 79,"
        " 281–299.",
    ),
    "vehtari2021": Reference(
        "Vehtari et al.",
        2021,
        "Vehtari, A., Gelman, A., Simpson, D., Carpenter, B., & Bürkner, P.-C. (2021)."
        " Rank-normalization, folding, and localization: An improved R-hat for assessing"
        " convergence of MCMC. Bayesian Analysis, 16, 667–718.",
    ),
    "wickelmaier2004": Reference(
        "Wickelmaier & Schmid",
        2004,
        "Wickelmaier, F., & Schmid, C. (2004). A Matlab function to estimate choice model"
        " parameters from paired-comparison data. Behavior Research Methods, Instruments, &"
        " Computers, 36, 29–40.",
    ),
    "yu2011": Reference(
        "Yu & Meng",
        2011,
        "Yu, Y., & Meng, X.-L. (2011). To center or not to center: That is not the question. An"
        " ancillarity–sufficiency interweaving strategy (ASIS) for boosting MCMC efficiency."
        " Journal of Computational and Graphical Statistics, 20, 531–570.",
    ),
    "zheng2019": Reference(
        "Zheng, Pereira, Baker & Hebart",
        2019,
        "Zheng, C. Y., Pereira, F., Baker, C. I., & Hebart, M. N. (2019). Revealing interpretable"
        " object representations from human behavior. International Conference on Learning"
        " Representations.",
    ),
}


class Cite(Fact):
    """A citation in a sentence: "(Tversky, 1972)", or "Tversky (1972)" as part of it.

    Examples
    --------
    >>> print(
    ...     Message(
    ...         "Aspects ", Cite("tversky1972"), ", and the rule of ", Cite("luce1959", inside=True)
    ...     )
    ... )
    Aspects (Tversky, 1972), and the rule of Luce (1959)
    """

    keys: tuple[str, ...]
    works: tuple[Reference, ...]
    inside: bool

    def __init__(self, *keys: str, inside: bool = False) -> None:
        self.keys = keys
        self.inside = inside
        self.works = tuple(REFERENCES[key] for key in keys)

    def render(self, words: Words) -> str:
        """Return the citation as text, equal for all interfaces."""
        if self.inside:
            return " and ".join(f"{work.names} ({work.year})" for work in self.works)
        return f"({'; '.join(f'{work.names}, {work.year}' for work in self.works)})"


def list_references(sentences: Iterable[str | Message]) -> tuple[str, ...]:
    """Return bibliography entries of all works that the sentences cite, sorted by author."""
    cited_keys = {key for sentence in sentences for key in _iterate_keys(sentence)}
    return tuple(work.text for key, work in REFERENCES.items() if key in cited_keys)


def _iterate_keys(part: object) -> Iterable[str]:
    """Yield the `references.bib` keys cited in a sentence or a part of it."""
    if isinstance(part, Cite):
        yield from part.keys
    elif isinstance(part, Message):
        for subpart in part.parts:
            yield from _iterate_keys(subpart)
