"""Leaderboards and classical tests of paired comparisons, exported as `thali.paired`.

A leaderboard:

leaderboard.py                   `leaderboard`: votes become a board, and more votes update it
vote_counts.py                   votes of any source as counted comparisons or choices
leaderboard_posterior.py         settings of the estimation, and the density of the votes
worth_estimates.py               worths: draws, or maximum likelihood
pooled_worths.py                 boards of parts (`by`) that borrow strength
leaderboard_target.py            worths for one judge (`target`)
leaderboard_result.py            `Leaderboard`
leaderboard_table.py             its table: ranks, ratings, tiers
elo_scale.py                     the scale of ratings
judge_table.py                   judges
side_advantage.py                the advantage of the first place
vote_forecast.py                 what more votes would separate
leaderboard_audit.py             what the first place rests on
leaderboard_reliability.py       reliability
leaderboard_predictive_check.py  the posterior predictive check
leaderboard_findings.py          findings
leaderboard_report.py            the page

Tests and descriptions:

bootstrap.py, simulation.py      aspect weights of resampled and of simulated choices
circular_triads.py               consistency of judges
kendall_agreement.py             agreement of judges
group_difference_tests.py        groups with different weights
likelihood_ratio_tests.py        nested models
wald_tests.py                    contrasts of weights
order_effects.py                 the order in which a pair is shown
stochastic_transitivity.py       transitivity of proportions
trinary_inequality.py            what preference trees imply
thurstonian.py                   Thurstone's Case V
ties.py                          ties
pair_design.py                   a balanced list of pairs
"""
