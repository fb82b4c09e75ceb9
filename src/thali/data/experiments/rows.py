"""The constructor of choice experiments that takes one row a task."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from thali._labels import shorten
from thali.errors import DataError

from ..columns import column
from ..frames import as_frame
from ..frozen import Frozen

if TYPE_CHECKING:
    import pandas as pd


class ExperimentRows(Frozen):
    """The constructors of `ChoiceExperiment` that take other tables than one row an alternative."""

    @classmethod
    def from_frame(cls, frame: "pd.DataFrame", *columns: Any, **more: Any) -> Self:
        """The experiment in a long table."""
        raise NotImplementedError

    @classmethod
    def from_wide(
        cls,
        frame: "pd.DataFrame",
        respondent: str | None = None,
        task: str | None = None,
        chosen: str | None = None,
        alternatives: Sequence[Any] | None = None,
        none: Any = None,
        **more: Any,
    ) -> Self:
        """A choice experiment from a wide table: one row for each task.

        Parameters
        ----------
        frame : DataFrame
            The columns are called by attribute and alternative, as in price_1, price_2 or time.car, or the other way
            round, as in car_time. Those of availability (av_car, car_available) hold 1 where it was offered.
        respondent, task, chosen : str, optional
            Columns. None: recognised. Without one of respondents every row is somebody of their own, without one of
            tasks they are numbered. `chosen` holds the name of the alternative, or its number in the order of the
            columns.
        alternatives : sequence, optional
            The names of the alternatives as they stand in those of the columns. None: recognised. An alternative may
            lack columns that others have: it lacks the attribute then.
        none : optional
            What `chosen` holds where none was chosen; None: 0 or "none", if they occur.
        **more
            Levels, bins and the like, as in `from_frame`.

        Returns
        -------
        ChoiceExperiment

        Raises
        ------
        DataError
            If no columns describe alternatives, or one was chosen that was not offered, or as `from_frame`.

        Examples
        --------
        >>> import pandas as pd, thali as th
        >>> rows = {"id": [1, 1], "price_1": [90, 150], "price_2": [150, 90], "choice": [1, 2]}
        >>> data = th.ChoiceExperiment.from_wide(pd.DataFrame(rows))
        >>> data.n_tasks, data.levels["price"]
        (2, ('90', '150'))
        """
        from .frame import people_of
        from .wide import lacking_words, long_frame, wide_tasks

        frame = as_frame(frame)
        given = {"respondent": respondent, "task": task, "chosen": chosen}
        for name in filter(None, given.values()):
            column(frame, name)
        found = wide_tasks(frame, given, alternatives)
        if found is None:
            raise DataError(
                f"The columns {shorten([str(name) for name in frame.columns], 12)} do not describe alternatives, as "
                "price_1 and price_2 or car_time and bus_time beside 'choice' do; name what stands for them by "
                "`alternatives`."
            )
        long, nothing = long_frame(frame, found, none)
        more["missing"] = lacking_words(found, more.get("missing"))
        data = cls.from_frame(long, none=nothing, **more)
        further = [str(name) for name in frame.columns if str(name) not in found.used]
        who = np.arange(1, len(frame) + 1) if found.respondent is None else frame[found.respondent]
        people = people_of(frame.set_axis(map(str, frame.columns), axis=1), further, who, "respondent")
        return cls._made_of(*(people if name == "people" else getattr(data, name) for name in cls._FIELDS))
