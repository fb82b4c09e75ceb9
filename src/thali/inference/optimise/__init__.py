"""Maximisers that all models share.

newton       Newton's method for a `Target`, damped or with halved steps; `Concave` and `maximum` for a function
first_order  limited-memory BFGS, for a target of many coordinates
squarem      fixed points of maps that raise an objective, such as those of EM
"""
