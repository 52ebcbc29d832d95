"""What a search may vary: parameters by their names in the settings, each with the values that it may take.

A sampler draws in a parameter's own scale; `setting` turns what was drawn into the value that the settings get. Both
are kept apart because some parameters are drawn as a share of another: how many segments fill the reader's budget
depends on how long a segment is.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Self, TypeGuard

from programs.errors import InputError

if TYPE_CHECKING:
    from programs.settings import Settings

Drawn = bool | int | float | str | None
YES_NO = (False, True)
FULL = 2.5
"""How often the reader's budget may be filled by records that are as long as they may be: where a segment ends with its
section it is about half as long."""


def always(settings: Settings) -> bool:
    """Say that a parameter matters whatever else is set."""
    return True


@dataclass(frozen=True)
class Parameter:
    """One setting that may vary."""

    key: str
    """Its dotted name in the settings."""
    online: bool = field(default=False, kw_only=True)
    """No index depends on it, so that trials which differ in it alone share their indexes."""
    index_calls: bool | Callable[[Settings], bool] = field(default=False, kw_only=True)
    """Changing it makes the index's model calls again, which is where an hour goes. It may depend on the settings."""
    when: Callable[[Settings], bool] = field(default=always, kw_only=True)
    """Whether it matters under the settings that a search starts from."""

    def fitted(self, settings: Settings) -> Parameter:
        """Give the parameter with room for the value that it has in these settings."""
        return self._with_room(value_at(settings, self.key))

    def setting(self, drawn: Drawn, value: Callable[[str], Any]) -> Any:
        """Turn what was drawn into the setting; `value` gives the value of another one."""
        return drawn

    def drawn(self, settings: Settings) -> Drawn:
        """Say what would have to be drawn to get the settings' own value."""
        found: Drawn = value_at(settings, self.key)
        return found

    def asks_again(self, settings: Settings) -> bool:
        """Tell whether changing it makes an index ask a model again."""
        return self.index_calls(settings) if callable(self.index_calls) else self.index_calls

    def described(self) -> Any:
        """Say what values it may take, for a file that a person reads."""
        raise NotImplementedError

    def ends(self) -> tuple[Drawn, Drawn]:
        """Give the first and the last value that may be drawn."""
        raise NotImplementedError

    def admits(self, value: Any) -> bool:
        """Tell whether a setting has a value from here. Between two numbers to draw from, any other may be meant."""
        raise NotImplementedError

    def _with_room(self, value: Any) -> Self:
        return self


@dataclass(frozen=True)
class OneOf(Parameter):
    """One of a few values."""

    values: tuple[Drawn, ...]

    def described(self) -> list[Drawn]:
        """List them."""
        return list(self.values)

    def ends(self) -> tuple[Drawn, Drawn]:
        """Give the first and the last."""
        return self.values[0], self.values[-1]

    def admits(self, value: Any) -> bool:
        """Take what is listed, and numbers between the listed ones."""
        numbers = [each for each in self.values if is_number(each)]
        if not is_number(value) or not numbers:
            return any(value is each or (value == each and type(value) is type(each)) for each in self.values)
        return min(numbers) <= value <= max(numbers)

    def _with_room(self, value: Any) -> Self:
        return self if value in self.values else replace(self, values=(*self.values, value))


@dataclass(frozen=True)
class Range(Parameter):
    """A number between two others, both included."""

    low: float
    high: float
    log: bool = field(default=False, kw_only=True)

    def described(self) -> dict[str, Any]:
        """Give the bounds."""
        return {"low": self.low, "high": self.high} | ({"log": True} if self.log else {})

    def ends(self) -> tuple[Drawn, Drawn]:
        """Give the bounds."""
        return self.low, self.high

    def admits(self, value: Any) -> bool:
        """Take the numbers between the bounds."""
        return is_number(value) and self.low <= value <= self.high

    def _with_room(self, value: Any) -> Self:
        return replace(self, low=min(self.low, value), high=max(self.high, value))


@dataclass(frozen=True)
class Whole(Range):
    """A whole number."""

    low: int
    high: int

    def described(self) -> dict[str, Any]:
        """Give the bounds and the step."""
        return {"low": self.low, "high": self.high, "step": 1}


@dataclass(frozen=True)
class Real(Range):
    """A number that is rounded, so that trials meet and their indexes are shared."""

    digits: int = field(default=2, kw_only=True)

    def setting(self, drawn: Drawn, value: Callable[[str], Any]) -> float:
        """Round it."""
        return round(float(drawn or 0), self.digits)


@dataclass(frozen=True)
class Near(Parameter):
    """A number near the one that the settings have, as a threshold belongs to an encoder."""

    spread: float
    digits: int = field(default=2, kw_only=True)

    def fitted(self, settings: Settings) -> Real:
        """Take the settings' value for the middle."""
        middle = value_at(settings, self.key)
        low, high = round(middle - self.spread, self.digits), round(min(1.0, middle + self.spread), self.digits)
        return Real(
            self.key, low, high, online=self.online, index_calls=self.index_calls, when=self.when, digits=self.digits
        )


@dataclass(frozen=True)
class Filling(Range):
    """How many records are handed over, drawn as the part of the reader's budget that they fill if all are whole."""

    of: str = field(default="tam.region_tokens", kw_only=True)
    """The setting that says how long a record is."""
    budget: int = field(default=0, kw_only=True)
    lengths: tuple[int, int] = field(default=(1, 1), kw_only=True)
    """The shortest and the longest record of the search; both are known once it is fitted."""

    def setting(self, drawn: Drawn, value: Callable[[str], Any]) -> int:
        """Count the records."""
        return self._count(float(drawn or 0), value(self.of))

    def drawn(self, settings: Settings) -> float:
        """Give the part that the settings' own number fills."""
        return float(value_at(settings, self.key) * value_at(settings, self.of) / settings.lifecycle.reader_budget)

    def fitted(self, settings: Settings) -> Filling:
        """Make room for the part that the settings' own number fills."""
        return replace(self._with_room(self.drawn(settings)), budget=settings.lifecycle.reader_budget)

    def described(self) -> dict[str, Any]:
        """Give the fewest and the most records."""
        shortest, longest = self.lengths
        return {"low": self._count(self.low, longest), "high": self._count(self.high, shortest), "step": 1}

    def admits(self, value: Any) -> bool:
        """Take the numbers of records that some length of theirs gives."""
        counts = self.described()
        return is_number(value) and counts["low"] <= value <= counts["high"]

    def _count(self, part: float, tokens: int) -> int:
        return max(1, round(part * self.budget / tokens))


@dataclass(frozen=True)
class Space:
    """The parameters of a search, fitted to the settings that it starts from."""

    settings: Settings
    parameters: tuple[Parameter, ...]

    @classmethod
    def fit(cls, parameters: Sequence[Parameter], settings: Settings) -> Space:
        """Keep what matters under these settings, with room for what they say."""
        return cls.around([parameter for parameter in parameters if parameter.when(settings)], settings)

    @classmethod
    def around(cls, parameters: Sequence[Parameter], settings: Settings) -> Space:
        """Give all of them room for what these settings say."""
        fitted = [parameter.fitted(settings) for parameter in parameters]
        lengths = {p.key: [v for v in p.values if isinstance(v, int)] for p in fitted if isinstance(p, OneOf)}

        def told(parameter: Parameter) -> Parameter:
            if not isinstance(parameter, Filling):
                return parameter
            known = lengths.get(parameter.of) or [value_at(settings, parameter.of)]
            return replace(parameter, lengths=(min(known), max(known)))

        return cls(settings, tuple(map(told, fitted)))

    @property
    def online(self) -> tuple[str, ...]:
        """The keys that no index depends on."""
        return tuple(parameter.key for parameter in self.parameters if parameter.online)

    def start(self) -> dict[str, Drawn]:
        """Say what would have to be drawn to get the settings that the search starts from."""
        return {parameter.key: parameter.drawn(self.settings) for parameter in self.parameters}

    def start_settings(self) -> dict[str, Any]:
        """Give the parameters' own values in those settings."""
        return {parameter.key: value_at(self.settings, parameter.key) for parameter in self.parameters}

    def settings_of(self, drawn: Mapping[str, Drawn]) -> dict[str, Any]:
        """Turn what was drawn into settings by their keys."""
        plain = {p.key: p for p in self.parameters if not isinstance(p, Filling)}
        values = {key: p.setting(drawn[key], lambda _: None) for key, p in plain.items()}

        def value(key: str) -> Any:
            return values[key] if key in values else value_at(self.settings, key)

        return {p.key: values[p.key] if p.key in values else p.setting(drawn[p.key], value) for p in self.parameters}

    def applied(self, parameters: Mapping[str, Any]) -> Settings:
        """Give the settings that a search starts from with these parameters."""
        return self.settings.changed(self.overrides(parameters))

    def overrides(self, parameters: Mapping[str, Any]) -> dict[str, Any]:
        """Leave out the weights of scorers that have none here and get none: equal settings shall have one digest."""
        return {
            key: value
            for key, value in parameters.items()
            if not (key.startswith("navigation.scorer.") and value == value_at(self.settings, key) == 0)
        }

    def described(self) -> dict[str, Any]:
        """Say what values each parameter may take."""
        return {parameter.key: parameter.described() for parameter in self.parameters}


def is_number(value: Any) -> TypeGuard[int | float]:
    """Tell numbers from the truth values that Python counts among them."""
    return isinstance(value, int | float) and not isinstance(value, bool)


def value_at(settings: Settings, key: str) -> Any:
    """Give a setting by its dotted name; an entry that a table of settings lacks counts 0, as a weight would."""
    value: Any = settings
    for part in key.split("."):
        if isinstance(value, Mapping):
            value = value.get(part, 0)
        elif part in type(value).model_fields:
            value = getattr(value, part)
        else:
            raise InputError(f"there is no setting {key!r}")
    return value


SHARED: tuple[Parameter, ...] = (
    Whole("lifecycle.reader_budget", 1, 32_768),
    Whole("lifecycle.reader_tokens", 1, 4_096),
    Whole("tam.region_tokens", 8, 8_192),
    Whole("tam.overlap_tokens", 0, 4_096),
    OneOf("tam.boundaries", ("tokens", "sentences")),
)
"""What a comparison gives all methods alike: how much is read and written, and how sources are cut."""


def segmentation(index_calls: bool | Callable[[Settings], bool] = False) -> tuple[Parameter, ...]:
    """Vary the segments that sources are cut into, which most methods share."""
    return (
        OneOf("tam.region_tokens", (96, 128, 192, 256, 384), index_calls=index_calls),
        OneOf("tam.overlap_tokens", (0, 32, 64), index_calls=index_calls),
        OneOf("tam.boundaries", ("tokens", "sentences"), index_calls=index_calls),
    )
