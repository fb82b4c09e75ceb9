"""The literature that a report cites."""

REFERENCES = {
    "Archambeau & Caron (2012)": "Archambeau, C., & Caron, F. (2012). Plackett-Luce regression: a new Bayesian model"
    " for polychotomous data. Proceedings of the 28th Conference on Uncertainty in Artificial Intelligence, 84–92.",
    "Bradley & Terry (1952)": "Bradley, R. A., & Terry, M. E. (1952). Rank analysis of incomplete block designs: I. The"
    " method of paired comparisons. Biometrika, 39, 324–345.",
    "Daviet & McCausland (2017)": "Daviet, R., & McCausland, W. (2017). Bayesian non-parametric inference with"
    " monotonicity restrictions for discrete choice experiments. Unpublished draft.",
    "Davidson (1970)": "Davidson, R. R. (1970). On extending the Bradley-Terry model to accommodate ties in paired"
    " comparison experiments. Journal of the American Statistical Association, 65, 317–328.",
    "Görür, Jäkel & Rasmussen (2006)": "Görür, D., Jäkel, F., & Rasmussen, C. E. (2006). A choice model with infinitely"
    " many latent features. Proceedings of the 23rd International Conference on Machine Learning, 361–368.",
    "Holmes & Held (2006)": "Holmes, C. C., & Held, L. (2006). Bayesian auxiliary variable models for binary and"
    " multinomial regression. Bayesian Analysis, 1, 145–168.",
    "Hubert & Arabie (1985)": "Hubert, L., & Arabie, P. (1985). Comparing partitions. Journal of Classification, 2,"
    " 193–218.",
    "Kamakura & Russell (1989)": "Kamakura, W. A., & Russell, G. J. (1989). A probabilistic choice model for market"
    " segmentation and elasticity structure. Journal of Marketing Research, 26, 379–390.",
    "Liang & Zeger (1986)": "Liang, K.-Y., & Zeger, S. L. (1986). Longitudinal data analysis using generalized linear"
    " models. Biometrika, 73, 13–22.",
    "Luce (1959)": "Luce, R. D. (1959). Individual choice behavior: A theoretical analysis. Wiley.",
    "McFadden (1974)": "McFadden, D. (1974). Conditional logit analysis of qualitative choice behavior. In P. Zarembka"
    " (Ed.), Frontiers in econometrics (pp. 105–142). Academic Press.",
    "Marley & Louviere (2005)": "Marley, A. A. J., & Louviere, J. J. (2005). Some probabilistic models of best, worst,"
    " and best-worst choices. Journal of Mathematical Psychology, 49, 464–480.",
    "Miller, Griffiths & Jordan (2008)": "Miller, K. T., Griffiths, T. L., & Jordan, M. I. (2008). The phylogenetic"
    " Indian buffet process: A non-exchangeable nonparametric prior for latent features. Proceedings of the 24th"
    " Conference on Uncertainty in Artificial Intelligence, 403–410.",
    "Navarro & Griffiths (2007)": "Navarro, D. J., & Griffiths, T. L. (2007). A nonparametric Bayesian method for"
    " inferring features from similarity judgments. Advances in Neural Information Processing Systems, 19, 1033–1040.",
    "Piironen & Vehtari (2017)": "Piironen, J., & Vehtari, A. (2017). Sparsity information and regularization in the"
    " horseshoe and other shrinkage priors. Electronic Journal of Statistics, 11, 5018–5051.",
    "Polson, Scott & Windle (2013)": "Polson, N. G., Scott, J. G., & Windle, J. (2013). Bayesian inference for logistic"
    " models using Pólya–Gamma latent variables. Journal of the American Statistical Association, 108, 1339–1349.",
    "Rao & Scott (1984)": "Rao, J. N. K., & Scott, A. J. (1984). On chi-squared tests for multiway contingency tables"
    " with cell proportions estimated from survey data. The Annals of Statistics, 12, 46–60.",
    "Rossi, Allenby & McCulloch (2005)": "Rossi, P. E., Allenby, G. M., & McCulloch, R. (2005). Bayesian statistics and"
    " marketing. Wiley.",
    "Shepard & Arabie (1979)": "Shepard, R. N., & Arabie, P. (1979). Additive clustering: Representation of"
    " similarities as combinations of discrete overlapping properties. Psychological Review, 86, 87–123.",
    "Tversky (1972)": "Tversky, A. (1972). Elimination by aspects: A theory of choice. Psychological Review, 79,"
    " 281–299.",
    "Vehtari et al. (2021)": "Vehtari, A., Gelman, A., Simpson, D., Carpenter, B., & Bürkner, P.-C. (2021)."
    " Rank-normalization, folding, and localization: An improved R-hat for assessing convergence of MCMC. Bayesian"
    " Analysis, 16, 667–718.",
    "Wickelmaier & Schmid (2004)": "Wickelmaier, F., & Schmid, C. (2004). A Matlab function to estimate choice model"
    " parameters from paired-comparison data. Behavior Research Methods, Instruments, & Computers, 36, 29–40.",
    "Zheng, Pereira, Baker & Hebart (2019)": "Zheng, C. Y., Pereira, F., Baker, C. I., & Hebart, M. N. (2019)."
    " Revealing interpretable object representations from human behavior. International Conference on Learning"
    " Representations.",
}


def cited_in(sentences: "list[str]") -> tuple[str, ...]:
    """The references of the works that the sentences cite, in the order of their authors."""
    text = " ".join(sentences)
    return tuple(REFERENCES[work] for work in REFERENCES if work.rpartition(" (")[0] in text and work[-5:-1] in text)
