"""The value of `--tempering`: a word, a number of temperatures, or the temperatures."""

from thali.errors import ArgumentError


def parse_tempering(value: str) -> "None | bool | int | tuple[float, ...]":
    """What the argument `tempering` of a model takes, from what was typed.

    Parameters
    ----------
    value : str
        "auto" (what suits the model), "off", a number of temperatures, or the temperatures between commas.

    Returns
    -------
    None, False, int or tuple of float

    Raises
    ------
    ArgumentError
        If it is none of these; the model checks the temperatures.

    Example
    -------
    >>> parse_tempering("auto"), parse_tempering("off"), parse_tempering("12"), parse_tempering("1,2.5")
    (None, False, 12, (1.0, 2.5))
    """
    if value in ("auto", "off"):
        return None if value == "auto" else False
    try:
        return int(value) if "," not in value else tuple(float(part) for part in value.split(","))
    except ValueError:
        raise ArgumentError(
            f"`--tempering` must be auto, off, a number of temperatures, or the temperatures between commas, such as"
            f" 1,2,4; got {value!r}."
        ) from None
