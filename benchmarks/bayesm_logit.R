# Fits bayesm's hierarchical multinomial logit, as benchmarks/choice_studies.py calls it: Rscript bayesm_logit.R FOLDER R
suppressMessages(library(bayesm))
arguments <- commandArgs(trailingOnly = TRUE)
folder <- arguments[1]
size <- scan(file.path(folder, "size.txt"), quiet = TRUE)  # alternatives, columns
people <- scan(file.path(folder, "tasks.txt"), quiet = TRUE)  # tasks of each person
x <- matrix(readBin(file.path(folder, "x.bin"), "double", n = sum(people) * size[1] * size[2]), ncol = size[2], byrow = TRUE)
y <- scan(file.path(folder, "y.txt"), quiet = TRUE)
ends <- cumsum(people)
lgtdata <- lapply(seq_along(people), function(n) {
  tasks <- (ends[n] - people[n] + 1):ends[n]
  list(y = y[tasks], X = x[((tasks[1] - 1) * size[1] + 1):(tasks[length(tasks)] * size[1]), , drop = FALSE])
})
set.seed(as.integer(arguments[3]))
begin <- sum(proc.time()[1:2])
sink(file.path(folder, "log.txt"))
fit <- rhierMnlRwMixture(Data = list(p = size[1], lgtdata = lgtdata), Prior = list(ncomp = 1),
                         Mcmc = list(R = as.integer(arguments[2]), keep = 10, nprint = 0))
sink()
seconds <- sum(proc.time()[1:2]) - begin
population <- t(sapply(fit$nmix$compdraw, function(draw) c(draw[[1]]$mu, solve(draw[[1]]$rooti))))
writeBin(as.vector(fit$betadraw), file.path(folder, "beta.bin"))  # people fastest, then columns, then draws
writeBin(as.vector(t(population)), file.path(folder, "population.bin"))
cat(seconds, length(fit$nmix$compdraw), "\n")
