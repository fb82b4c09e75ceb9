"""Computation shared by all models: chains, jobs, seeds, progress, files, numerics.

markov_chains.py          chains in time slices, recorded and stored
threads_and_processes.py  chains on threads, tasks on processes
random_seeds.py           a random stream for each chain
job_folders.py            a fit or comparison that continues after an interruption
resumable_tasks.py        jobs of many tasks
array_dict_encoding.py    states of chains as flat dicts of arrays
checksummed_files.py      files that are written whole, or not at all
replaced_files.py         output that would replace an input is refused
progress_display.py       progress on a terminal, or in a log
delayed_interrupt.py      Ctrl-C after a block that must finish
user_warnings.py          warnings that point at the user's line
maximisation.py           Newton, BFGS and SQUAREM
mbar.py                   normalising constants of tempered densities
index_arithmetic.py       bounds of parts, slices
numerics/                 random draws, special functions, linear algebra, ranks
"""
