"""The printed answer of a latent-class logit: its classes beside each other, and how many there are."""

from typing import TYPE_CHECKING

from thali._digits import in_a_column
from thali.surfaces.aligned import align

from ..files import Answer
from ..judgement import judgement
from . import Fitted
from .choices import prepare as prepare
from .choices import study_of

if TYPE_CHECKING:
    import pandas


def answer(fitted: Fitted) -> Answer:
    """What is printed and written of a fitted model."""
    model, study = fitted.model, study_of(fitted)
    classes, tried = model.class_table().rename_axis("coefficient"), model.choice_
    parts = [fitted.data.describe(), *study.parts({}), "Classes of people, the largest first\n" + _aligned(classes)]
    if len(tried) > 1:
        parts.append("Numbers of classes that were tried\n" + _aligned(tried.dropna(axis=1, how="all")))
    row = tried.loc[model.n_classes_]
    parts.append(
        f"Log-likelihood of all choices (natural logarithm): {model.log_likelihood_:.2f}, found by"
        f" {int(row['times_found'])} of {int(row['starts'])} starts; BIC {model.bic_:.2f} (people count)"
    )
    parts.append(judgement(model, fitted.words))
    tables = {
        "summary": model.summary(),
        "classes": classes,
        "numbers_of_classes": tried,
        "membership": model.membership_,
    }
    return Answer("\n\n".join(parts), tables | study.tables(), study.pictures(), individuals=study.individuals)


def _aligned(table: "pandas.DataFrame") -> str:
    rows = [(str(table.index.name), *map(str, table.columns))]
    for name, row in table.astype(object).iterrows():
        cells = row.to_dict().items()
        rows.append(
            (str(name), *(f"{v:,}" if isinstance(v, int) else in_a_column(str(column), v) for column, v in cells))
        )
    return align(rows, left={0})
