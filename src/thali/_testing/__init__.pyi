from .likelihood_check import check as check
