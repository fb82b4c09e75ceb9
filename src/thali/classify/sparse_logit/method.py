"""Which method `method="auto"` means, by the size of the data."""

METHODS = ("polya-gamma", "holmes-held", "laplace", "variational", "map", "auto")
NORMAL = ("laplace", "variational")  # whose draws are independent, from a normal law
MOST = 5_000  # coefficients of all classes that a normal law is for: a matrix of 200 MB
ENOUGH = 20  # rows a coefficient that it needs
MANY = 20_000  # rows, above which a default fit by draws of the posterior itself takes minutes


def method_for(method: str, prior: str, rows: int, coefficients: int) -> str:
    """The method itself, or what "auto" chooses for so many rows and coefficients of all classes."""
    if method != "auto":
        return method
    is_normal = rows > MANY and ENOUGH * coefficients <= rows and coefficients <= MOST
    return "variational" if is_normal and prior == "laplace" else "polya-gamma"
