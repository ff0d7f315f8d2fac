"""Machine-learning methods of ICML 2026 as working tools.

- ``metier.geometry``: encode places on the earth (``SlepianEncoder``, ``SphericalHarmonics``), and
  sequences (``HippoFeatures``); judge generated data (``GICDM``)
- ``metier.decision``: clinical checklists from a table (``AgentScoreClassifier``)
- ``metier.train``: optimizers on NumPy arrays (``OLion``)
- ``metier.data``: real data sets by name, and tables from files
- ``metier.evidence(name)``: the experiment behind a method, run here and now
"""

import importlib
from typing import TYPE_CHECKING, Any

from metier import _metier
from metier._evidence import Claim, Finding, MethodCard, evidence, methods

if TYPE_CHECKING:
    from metier import data, decision, geometry, train

__version__ = _metier.__version__
__all__ = [
    "Claim",
    "Finding",
    "MethodCard",
    "data",
    "decision",
    "evidence",
    "geometry",
    "methods",
    "train",
]


def __getattr__(name: str) -> Any:
    # Modules are imported on first use: scikit-learn alone takes a second.
    if name in ("data", "decision", "geometry", "train"):
        return importlib.import_module(f"metier.{name}")
    raise AttributeError(f"module 'metier' has no attribute {name!r}")
