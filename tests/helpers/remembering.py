"""Stand-ins of a model at the command line that remember what they were asked for."""


def remembering(model, name):
    """A new class of that name, for one test: its parameters, data and budget stand in it once it
    was fitted.

    It has no attributes `asked`, `data` and `budget` before.
    """

    def fit(self, data, **budget):
        told.asked, told.data, told.budget = self.get_params(), data, budget
        return model.fit(self, data, **budget)

    told = type(name, (model,), {"fit": fit})
    return told
