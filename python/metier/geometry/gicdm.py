"""Generated data judged by neighbours, in distances that no hub distorts."""

from __future__ import annotations

import json
import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted, validate_data

from metier import _metier

__all__ = ["GICDM", "compute_prdc", "hubness_report"]


class GICDM(BaseEstimator):
    """Fidelity and coverage of generated points, raw and corrected for hubs.

    Every real point gets a factor that makes all neighbourhoods equally wide; a generated point gets
    one from the real points alone, and is rejected where it does not suit its place.

    Parameters
    ----------
    k : int
        Neighbours whose mean distance the correction makes equal.
    scales : sequence of int
        Numbers of neighbours at which the filter looks; empty for no filter.
    q : float
        The share of real points beyond each of the filter's bounds.
    neighbours : int
        Neighbours that a neighbourhood of the scores reaches to.
    metric : {"euclidean", "cosine"}
        How far apart points are.
    verbose : bool, optional
        Whether to show progress; by default when standard error is a terminal.

    Attributes
    ----------
    log_delta_ : ndarray
        The logarithm of each real point's factor.
    pass_real_ : float
        The share of real points that pass the filter.

    Examples
    --------
    >>> import numpy as np
    >>> from metier.geometry import GICDM
    >>> rng = np.random.default_rng(0)
    >>> real, same = rng.normal(size=(2, 400, 64))
    >>> scores = GICDM().fit(real).score(same)
    >>> bool(scores["precision"] > 0.9), bool(scores["raw"]["precision"] < 0.85)
    (True, True)
    """

    def __init__(
        self,
        k: int = 10,
        scales: Sequence[int] = (5, 10, 20, 50),
        q: float = 0.03,
        *,
        neighbours: int = 5,
        metric: str = "euclidean",
        verbose: bool | None = None,
    ) -> None:
        self.k = k
        self.scales = scales
        self.q = q
        self.neighbours = neighbours
        self.metric = metric
        self.verbose = verbose

    def fit(self, X: Any, y: Any = None) -> GICDM:
        """Learns the factors and bounds of real points."""
        X = validate_data(self, X, dtype=np.float64, order="C")
        config = {
            "icdm": {"k": int(self.k)},
            "scales": [int(scale) for scale in self.scales],
            "quantile": float(self.q),
            "neighbours": int(self.neighbours),
        }
        self._fitted_ = _metier.Gicdm.fit(X, self.metric, json.dumps(config), self.verbose)
        self.log_delta_ = self._fitted_.log_delta()
        self.pass_real_ = self._fitted_.pass_real()
        if not self._fitted_.converged():
            warnings.warn("neighbourhoods still differ after the last sweep", UserWarning, stacklevel=2)
        return self

    def score(self, X: Any, y: Any = None) -> dict[str, Any]:
        """The scores of generated points: ``precision``, ``density``, ``coverage``, and all of
        ``raw`` and ``corrected``."""
        check_is_fitted(self)
        X = validate_data(self, X, dtype=np.float64, order="C", reset=False)
        return json.loads(self._fitted_.score(X, self.verbose))

    def samples(self, X: Any) -> list[dict[str, Any]]:
        """What the correction makes of each generated point: ``accepted``, ``copy``, ``nearest``."""
        check_is_fitted(self)
        X = validate_data(self, X, dtype=np.float64, order="C", reset=False)
        return json.loads(self._fitted_.samples(X))


def compute_prdc(
    real_features: Any, fake_features: Any, nearest_k: int = 5
) -> dict[str, float]:
    """Precision, recall, density and coverage in plain distances, with the keys of ``prdc``."""
    real, fake = (np.ascontiguousarray(x, dtype=np.float64) for x in (real_features, fake_features))
    found = json.loads(_metier.gicdm_fidelity(real, fake, nearest_k))
    return {name: found[name] for name in ("precision", "recall", "density", "coverage")}


def hubness_report(X: Any, k: int = 10, *, metric: str = "euclidean") -> dict[str, dict[str, Any]]:
    """How uneven neighbours are, ``raw`` and ``corrected``: skewness, antihubs, the largest hub."""
    X = np.ascontiguousarray(X, dtype=np.float64)
    raw, corrected = json.loads(_metier.gicdm_hubness(X, k, metric))
    return {"raw": raw, "corrected": corrected}
