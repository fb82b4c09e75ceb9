"""Product classes with monotone attributes: sets of products that respondents of a choice experiment care about."""
