"""The paper's own numbers, read from `published.toml`, to be shown beside a run's."""

from __future__ import annotations

import math
import tomllib
from functools import cache
from importlib import resources

from pydantic import ConfigDict, Field, model_validator

from programs.frozen import Frozen


class PublishedTable(Frozen):
    """One table, or one sentence's numbers: a row a method, a value a column, NaN where nothing is printed."""

    model_config = ConfigDict(allow_inf_nan=True)

    title: str
    columns: tuple[str, ...] = Field(min_length=1)
    rows: dict[str, tuple[float, ...]]

    @model_validator(mode="after")
    def _is_rectangular(self) -> PublishedTable:
        if len(set(self.columns)) < len(self.columns):
            raise ValueError(f"{self.title}: a column comes twice")
        uneven = [method for method, values in self.rows.items() if len(values) != len(self.columns)]
        if uneven:
            raise ValueError(f"{self.title}: {', '.join(uneven)} must have {len(self.columns)} values")
        return self


class PrintedSetting(Frozen):
    """A line of the paper's tables of settings, and the keys of ours that say the same."""

    item: str
    printed: str
    keys: tuple[str, ...] = Field(min_length=1)


class Published(Frozen):
    """Everything that the paper prints, and what it was measured with."""

    models: str
    queries: dict[str, int]
    tables: dict[str, PublishedTable]
    settings: tuple[PrintedSetting, ...]
    environment: dict[str, str]

    def value(self, table: str, method: str, column: str) -> float:
        """Look a number up; NaN where the paper prints none, as for a method or a workload of one's own."""
        found = self.tables[table]
        if method not in found.rows or column not in found.columns:
            return math.nan
        return found.rows[method][found.columns.index(column)]

    @property
    def origin(self) -> str:
        """Say whose numbers these are, for the foot of a table that shows them beside a run's."""
        sizes = f"LongBench {self.queries['longbench']:,}, QASPER {self.queries['qasper']:,}, "
        sizes += f"DocVQA {self.queries['docvqa']:,} queries"
        return (
            f"“paper” is what the paper prints for its own models ({self.models}) on its complete evaluation sets "
            f"({sizes}); other models on other queries give other numbers."
        )


@cache
def published() -> Published:
    """Read the file that ships with the project."""
    text = (resources.files("programs.report") / "published.toml").read_text(encoding="utf-8")
    return Published.model_validate(tomllib.loads(text))
