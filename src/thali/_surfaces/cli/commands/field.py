"""`thali field`: questionnaires as web pages, and tables of their answers."""

from pathlib import Path
from typing import TYPE_CHECKING

from thali._inference.checksummed_files import atomic_write
from thali._inference.replaced_files import begins_like, check_replaced
from thali.errors import DataError

from ..result_files import check_output_file, format_csv
from ..terminal_messages import notify

if TYPE_CHECKING:
    from thali._field.questionnaire_page import QuestionnairePage


def make_questionnaire(
    design: Path,
    out_file: Path,
    question_kind: str | None,
    title: str | None,
    study: Path | None,
    seed: int,
    overwrite: bool = False,
) -> None:
    """Write the questionnaire of a design as an HTML page; print what it asks."""
    from thali._field.questionnaire_page import build_page

    check_output_file(out_file, _list_files(design, study), overwrite)
    _write_page(out_file, build_page(design, question_kind, title, None, study, seed))
    notify(
        f"wrote {out_file}; send it to respondents or put it on a server. Merge the returned files"
        " with thali field collect FOLDER."
    )


def export_study(
    design: Path,
    out_file: Path,
    question_kind: str | None,
    title: str | None,
    study: Path | None,
    seed: int,
    overwrite: bool = False,
) -> None:
    """Write the study of a design as a page for jsPsych; print what it asks."""
    from thali._field.experiment_export import build_jspsych_page

    check_output_file(out_file, _list_files(design, study), overwrite)
    _write_page(out_file, build_jspsych_page(design, question_kind, title, None, study, seed))
    notify(
        f"wrote {out_file}, which loads jsPsych 8 from unpkg.com. Merge the returned files with"
        " thali field collect FOLDER."
    )


def collect_answers(folder: Path, out_file: Path | None, overwrite: bool = False) -> None:
    """Merge the answer files in a folder into a table; print a summary."""
    from thali._field.answer_collection import collect

    if out_file is not None:
        if out_file.resolve().is_relative_to(folder.resolve()):
            raise DataError(
                f"Cannot write '{out_file}': everything in '{folder}' is read as answers; choose"
                " another folder."
            )
        check_output_file(out_file, _list_files(folder), True)
    collected = collect(folder)
    if out_file is not None:
        content = format_csv(collected.answers, index=False)
        check_replaced(out_file, (), begins_like(content), overwrite)
        out_file.parent.mkdir(parents=True, exist_ok=True)
        atomic_write(out_file, content)
    print(collected)
    if out_file is not None:
        notify(f"wrote {out_file}; analyse it with thali fit {out_file}.")


def _write_page(out_file: Path, page: "QuestionnairePage") -> None:
    """Write a page to a file, whose folder is created if needed; print what it asks."""
    out_file.parent.mkdir(parents=True, exist_ok=True)
    atomic_write(out_file, page.text.encode())
    print(page.sentence)


def _list_files(*inputs: Path | None) -> list[Path]:
    """Return files, and those in folders."""
    paths = [path for path in inputs if path is not None]
    return paths + [file for folder in paths if folder.is_dir() for file in folder.iterdir()]
