"""Product classes with monotone attributes: what people in a choice experiment care about."""
