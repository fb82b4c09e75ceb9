"""`thali amce`: effects of a conjoint experiment and marginal means."""

from pathlib import Path
from typing import Any

from thali._model.model_files import AMCE_FILE, encode_result
from thali._model.model_spec import DATA

from ..data_loading import find_data, recognise_table
from ..model_options import AMCE
from ..option_parsers import parse_option
from ..terminal_messages import Terminal, notify
from .saved_results import run_saved_result


def run_amce(
    terminal: Terminal,
    name: str,
    typed: dict[str, Any],
    out_folder: Path | None,
    report_file: Path | None,
    cover: dict[str, str],
    overwrite: bool = False,
) -> None:
    """Estimate the effects of a conjoint experiment; print them, write tables and report."""
    options = [option for option in AMCE if option.word in typed]
    values = {option.name: parse_option(option, typed[option.word]) for option in options}
    data_names = {option.name for option in options if option.to == DATA}
    read_arguments = {key: value for key, value in values.items() if key in data_names}
    settings = {key: value for key, value in values.items() if key not in data_names}
    if "restrictions" in settings:
        settings["restrictions"] = [pair.split(",") for pair in settings["restrictions"]]

    def compute() -> tuple[Any, dict[str, Any]]:
        """Return the result, and the file that `thali show` reads."""
        from thali._conjoint.estimates import amce
        from thali._data.experiments.long_table import CHOICE
        from thali._data.kinds import EXPERIMENTS

        outcome = settings.get("outcome", CHOICE)
        reading = recognise_table(
            find_data(name).table, (EXPERIMENTS,), read_arguments | {"outcome": outcome}
        )
        data, sentence = reading.build(terminal.words)
        notify(f"{name}: {sentence}")
        result = amce(data, **settings)
        return result, {AMCE_FILE: bytes(encode_result(result))}

    run_saved_result(
        terminal, "amce", [name], typed, out_folder, report_file, cover, overwrite, compute
    )
