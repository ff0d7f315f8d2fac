"""The experiments behind the methods."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from metier import _metier


@dataclass(frozen=True)
class Claim:
    """A statement, what was measured for it, and the bar that it had to clear."""

    id: str
    statement: str
    metric: str
    ours: list[float | None]
    baseline: list[float | None]
    bar: str
    holds: bool
    gate: bool


@dataclass(frozen=True)
class Table:
    """Numbers and words in rows, each as long as ``columns``; None where nothing was measured."""

    title: str
    columns: list[str]
    rows: list[list[float | str | None]]

    def to_pandas(self):
        """The table as a ``pandas.DataFrame``."""
        import pandas

        return pandas.DataFrame(self.rows, columns=self.columns)


@dataclass(frozen=True)
class Figure:
    """A picture as SVG; a notebook shows it."""

    id: str
    title: str
    svg: str

    def _repr_svg_(self) -> str:
        return self.svg


@dataclass(frozen=True)
class Finding:
    """What the experiment of a method found."""

    method: str
    scale: str
    seed: int
    seconds: float
    claims: list[Claim]
    notes: list[str]
    tables: list[Table]
    figures: list[Figure]

    @property
    def holds(self) -> bool:
        """Whether every claim that gates the experiment holds."""
        return all(claim.holds or not claim.gate for claim in self.claims)

    def __str__(self) -> str:
        lines = [f"{self.method} ({self.scale}, seed {self.seed}, {self.seconds:.1f} s)"]
        for claim in self.claims:
            verdict = "holds" if claim.holds else "does not hold"
            lines.append(f"  {verdict}: {claim.statement} [{claim.bar}]")
        return "\n".join(lines + [f"  note: {note}" for note in self.notes])


@dataclass(frozen=True)
class MethodCard:
    """A method's entry in the catalogue."""

    id: str
    name: str
    paper: str
    job: str


def methods() -> list[MethodCard]:
    """The methods whose experiments can be run."""
    return [MethodCard(*entry) for entry in _metier.methods()]


def evidence(
    method: str,
    scale: Literal["quick", "full"] = "quick",
    seed: int = 0,
    *,
    data: Mapping[str, str | os.PathLike[str]] | None = None,
    verbose: bool | None = None,
) -> Finding:
    """Runs the experiment of a method on real data and returns what it found.

    Parameters
    ----------
    method : str
        The name of the method, such as ``"olion"``; ``metier.methods()`` lists them.
    scale : {"quick", "full"}
        At most about 30 seconds, or at most about 8 minutes, on two cores.
    seed : int
        The first seed.
    data : mapping, optional
        Data sets taken from a path instead of the cache, by name.
    verbose : bool, optional
        Whether to show a progress bar; by default when standard error is a terminal.

    Raises
    ------
    FileNotFoundError
        When a data set is not here; the message says how to get it.
    """
    paths = {name: os.fspath(path) for name, path in (data or {}).items()}
    found, tables, figures = json.loads(_metier.evidence(method, scale, seed, paths, verbose))
    found["claims"] = [Claim(**claim) for claim in found["claims"]]
    return Finding(
        **found,
        tables=[
            Table(table["title"], table["columns"], [[_plain(cell) for cell in row] for row in table["rows"]])
            for table in tables
        ],
        figures=[Figure(*figure) for figure in figures],
    )


def _plain(cell):
    # A number comes with the digits that the terminal shows.
    return cell["value"] if isinstance(cell, dict) else cell
