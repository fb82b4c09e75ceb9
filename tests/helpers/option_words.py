"""Facts as a terminal spells them."""

import re

from thali.errors import Words


class OptionWords(Words):
    """Arguments as options of a command line, models by their names there."""

    def argument(self, name):
        return "--" + name.replace("_", "-")

    def setting(self, name, value):
        return f"{self.argument(name)} {value}"

    def value(self, name, value):
        return str(value)

    def model(self, name):
        return re.sub(r"(?<=[a-z])(?=[A-Z])", "-", name).lower()

    def is_python(self):
        return False


TYPED = OptionWords()
