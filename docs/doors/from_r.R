# In a copy of the repository: RETICULATE_PYTHON=.venv/bin/python Rscript docs/doors/from_r.R
library(reticulate)
th <- import("thali", convert = FALSE) # objects stay Python's, so that every version of reticulate will do

as_rows <- function(M) unname(lapply(seq_len(nrow(M)), function(i) as.list(unname(M[i, ]))))
show <- function(table) cat(py_to_r(table$round(3L)$to_string()), "\n\n")

M <- matrix(c(0, 28, 31, 12, 0, 25, 9, 15, 0), 3, byrow = TRUE) # row chosen over column
rownames(M) <- colnames(M) <- c("tea", "coffee", "milk")
data <- th$PairedComparisons(as_rows(M), rownames(M))
btl <- th$EliminationByAspects("unique", method = "maximum-likelihood", lapse = 0)$fit(data)
show(btl$summary()$drop(columns = list("z", "p_value")))
print(th$paired$circular_triads(data))

data <- th$datasets$celebrities()
professions <- list(
  LBJ = list("politician"), HW = list("politician"), CDG = list("politician"),
  JU = list("athlete"), CY = list("athlete"), AJF = list("athlete"),
  BB = list("star"), ET = list("star"), SL = list("star")
)
btl <- th$EliminationByAspects("unique", method = "maximum-likelihood", lapse = 0)$fit(data)
tree <- th$EliminationByAspects(professions, method = "maximum-likelihood", lapse = 0)$fit(data)
show(tree$maximum_likelihood$utility_scale())
print(th$likelihood_ratio(btl, tree))
print(th$paired$transitivity(data))
print(th$paired$thurstone(data))
print(th$paired$agreement(data))

ieba <- th$EliminationByAspects()$fit(data, random_seed = 1L, progressbar = FALSE)
print(ieba$convergence()$agrees)
p <- ieba$predict_proba(list(list("LBJ", "SL"), list("HW", "BB")))
cat(round(unlist(py_to_r(p$tolist())), 1), "\n")
