"""Worths alone: the posterior of Bradley-Terry-Luce models, with ties or not, near its mode.

density.py    log posterior density of log worths, its gradient and curvature
sums.py       the sum over pairs in it
mode.py       its maximum
laplace.py    draws from the normal distribution around it
"""
