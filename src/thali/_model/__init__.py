"""Code shared by all models: base classes, engines, findings, checks, files, registry.

A fit:

base.py                            `Model`: parameters, the template of a fit, summary, files
markov_chain_model.py              `SampledModel`: continue a fit, draw from prior and posterior
fitting_methods.py                 engines: what a fit by each method returns and can do later
chain_runs.py                      `ChainFit` owns the loop: checks, time limit, restarts
data_argument_check.py             the data of `fit`
evidence_arguments.py              arguments of `log_evidence`
method_requirements.py             what a result needs of a fit
maximum_likelihood_results.py      results of maximum likelihood only
cluster_robust_variance.py         variance of estimates, clustered by respondent
dependent_answers.py               posteriors and tests for answers that depend
simulated_data.py                  data simulated from prior or posterior
model_files.py, class_names.py     files of fits, and stable names of classes in them

What models are there:

registry.py, model_spec.py         the models, by data that load without their code
default_models.py                  the model if none is named
command_line_options.py            options that several models share
aliases.py                         other names of models and methods

Questions, answers and options:

labelled_option_sets.py            pairs and sets that users name by labels
labelled_pair_sets.py              sets of pairs of objects
stored_choices.py                  choices as variables of a posterior
tie_and_covariate_arguments.py     the arguments `ties` and `covariates`
covariate_effects.py               covariates of predictions, and coefficients
best_worst_probabilities.py        probabilities of answers, from weights of options
answer_probability_derivatives.py  their derivatives
predicted_answers.py               predictive check and predicted answers of choices
predictive_check.py                what all predictive checks share
similarity_check.py                that of similarities
pair_quantities.py                 pairs of objects on which chains should agree
answers_by_respondent.py           counts of answers, and tests of fit over respondents
respondent_log_predictive.py       log probability of all answers of a respondent
rank_table.py, option_scores.py    ranks, and scores from 0 to 100

Findings:

finding.py                         a result that every interface prints or draws
finding_settings.py                its settings
common_findings.py                 those of every model
choice_findings.py                 those about choices
segment_findings.py                those about segments of respondents
printed_table_findings.py          those of printed tables: tests, designs, searches
sentence_templates.py              sentences filled with numbers and names
column_headings.py                 headings and units of tables
references.py                      references cited
software_versions.py               versions for reports
"""
