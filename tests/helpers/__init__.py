"""What tests share, by subject: `from helpers.NAME import ...`.

Data and problems with known answers:
- `additive_cases`, `elimination_cases`, `paired_cases`, `plackett_luce_cases`,
  `product_class_cases`: posteriors known
- `additive_quadrature`, `product_class_brute_force`: where two of these posteriors come from
- `best_worst_data`, `experiment_data`, `plackett_luce_data`: data that several tests fit
- `problems`, `set_problems`, `triplet_problems`: data, model and state of samplers
- `likelihood_rows`: every likelihood once, with data, a state and a naive log-likelihood
- `tree_cases`, `phylogenetic_trees`: trees of options
- `market_studies`: choices of eight respondents, two logits of them, and a market
- `conjoint_studies`: simulated experiments of political science
- `field_tables`, `field_shapes`, `field_studies`, `field_answers`: small tables as the trades write
  them
- `real_data`: the one door to the folder of real data

Models without a fit, or with a short one:
- `all_drawn`: all variables of a fit of latent features
- `tiny_models`: every model on a few rows, fitted for a few draws; a new model adds its row here
- `additive_fits`, `elimination_fits`, `posterior_cases`, `product_class_fits`: models with made-up
  draws
- `layout_tables`: a small table in every layout that is read
- `drawn_similarities`, `similarity_columns`: made-up draws as pictures and estimates read them
- `classifier_runs`: fits of classifiers, whose constructor and `fit` share the settings of a run
- `additive_runs`, `plackett_luce_runs`, `sparse_logit_runs`: chains without a model around them
- `short_comparisons`: comparisons of two models
- `dependence_attributes`: what a fit made of the answers of the same people

Checks of samplers:
- `naive`: every log-likelihood once more, slow and obvious
- `calibration`: simulation-based calibration of complete fits (Talts et al. 2018)
- `joint_distribution`, `joint_means`, `product_class_joint`: joint-distribution tests (Geweke 2004)
- `elimination_moves`: moves of a state and the log posterior that they leave invariant
- `product_class_answers`: draws held against known answers
- `cache_drift`: the error of a chain's cache
- `digests`, `digests_long`, `same_draws`: the same seed gives the same draws
- `log_evidences`: the log evidence of a model that has no fit
- `plain_python`: kernels run as Python

Surfaces:
- `combinations`, `stories`: every model with every kind of data and every command
- `remembering`: models that remember what the command line asks of them
- `app_runs`: children and limits of the app, which a test replaces
- `markets`: the market of a model, as the simulator of a report has it
- `pages`, `chromium`: pages, and a browser
- `sentences`: the facts that a sentence holds, and the golden file that keeps its words
- `option_words`: messages as a terminal spells them
- `terminals`, `typed_tables`, `hostile`: tables as shown and as typed; words that attack
- `drawn_pictures`, `sketches`: what is written in a picture; pictures that are not rendered
- `read_once`: saved results that one test reads again and again
- `arviz_functions`: ArviZ's own functions on every model

The run and the machine:
- `interrupted_fits`, `stopped_jobs`, `ctrl_c`: fits that are stopped, killed and resumed
- `compiled_code`: how and where code is compiled, which a test replaces
- `worth_chains`: chains of worths that differ
- `watched_runs`: what a test replaces in a run to watch it, stop it, cut it short, or ask what a
  fit would run
- `clusters`: workers of Dask
- `short_slices`: runs that look up often, jobs that stop after so many writes, a clock of looks
- `budgets`, `leftovers`: plugins of pytest: kernels and seconds of the suite; what a test leaves
  behind
- `limits`: sizes that small files reach
- `cpu_time`, `patience`, `places`, `rights`, `rolling`: clocks, waiting, folders, rights, a kernel
  to compile
- `common_arguments`: the arguments of `fit`, described once for all docstrings
"""
