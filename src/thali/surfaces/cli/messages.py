"""How the command line spells what messages speak of: options in place of arguments."""

import shlex
from collections.abc import Iterable, Mapping
from typing import Any

from thali.errors import Words
from thali.model.registry import SPECS
from thali.model.spec import Option


class OptionWords(Words):
    """The words of a command with these options.

    Parameters
    ----------
    options : iterable of Option
        Where two are of one argument, the first counts.

    Examples
    --------
    >>> from thali.errors import ArgumentError, Setting
    >>> from thali.model.options import SEED, SAMPLER
    >>> words = OptionWords([SEED, SAMPLER])
    >>> ArgumentError("Set ", Setting("random_seed", 3), " and ", Setting("sampler", None), ".").render(words)
    'Set --seed 3 and --sampler recommended.'
    """

    def __init__(self, options: Iterable[Option]) -> None:
        self._options: dict[str, Option] = {}
        for option in options:
            self._options.setdefault(option.name, option)

    @classmethod
    def of_names(cls, names: Mapping[str, str]) -> "OptionWords":
        """The words of a command whose arguments have options of these names."""
        return cls(Option(name, "", typed=typed) for name, typed in names.items())

    def has(self, name: str) -> bool:
        """Whether there is an option for the argument."""
        return name in self._options

    def argument(self, name: str) -> str:
        """--random-seed, or the words of the name where there is no option."""
        return f"--{self._options[name].word}" if name in self._options else name.replace("_", " ")

    def setting(self, name: str, value: object) -> str:
        """--draws 11000, --no-unique, or what to do in Python where there is no option."""
        option = self._options.get(name)
        if option is None:
            return f"{self.argument(name)} {value} (in Python)"
        if option.type is bool:
            return f"--{'' if value else 'no-'}{option.word}"
        if value == [] or (value is None and None not in option.words.values()):
            return f"no --{option.word}"
        return f"--{option.word} {_one_word(self.value(name, value))}"

    def value(self, name: str, value: object) -> str:
        """What is typed for the value."""
        option = self._options.get(name)
        if option is not None:
            if option.type is bool:
                return self.setting(name, value)
            for word, meaning in option.words.items():
                if meaning is value or meaning == value:
                    return word
        if isinstance(value, dict):
            return ",".join(f"{key}={self.value('', each)}" for key, each in value.items())
        if isinstance(value, tuple | list):
            return ",".join(map(_plain, value))
        return _plain(value)

    def model(self, name: str) -> str:
        """The model as `--model` takes it."""
        return next((spec.name for spec in SPECS if spec.cls.endswith(f":{name}")), name)

    def is_python(self) -> bool:
        """No."""
        return False


def _one_word(text: str) -> str:
    """What a shell takes for one word."""
    if not any(letter.isspace() or letter in "'<>()" for letter in text):
        return text
    return shlex.quote(text) if set(text) & set('"$`\\') else f'"{text}"'


def _plain(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)
