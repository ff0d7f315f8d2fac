"""Fixed memories of sequences: the HiPPO matrix in closed form, and the layer in its limit."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from metier import _metier

__all__ = [
    "HippoFeatures",
    "dplr",
    "export_dplr",
    "irregular_states",
    "kernels",
    "legs_spectrum",
    "lssl",
]

_LIMIT = ("nodes", "legendre", "spectral")
_OUTPUTS = ("last", "sequence")
_MISSING = ("refuse", "hold", "zero")


class HippoFeatures(TransformerMixin, BaseEstimator):
    """Sequences as a few states that hold their past, for a linear model to read.

    Every row of ``X`` is a sequence, oldest sample first. The states are fixed sums over it, whose
    weights are Bessel functions of a sample's age: nothing is learned but the step.

    Parameters
    ----------
    n_state : int
        How many states.
    basis : str
        ``"nodes"``, ``"legendre"`` or ``"spectral"`` of the limit; or one of the memories it is
        compared with: ``"legs"``, ``"legt"``, ``"lagt"``, ``"fourier"``, ``"s4d-legs"``,
        ``"s4d-inv"``, ``"s4d-lin"``, ``"random"``.
    dt : float or "auto"
        Time per sample: more is a longer and coarser memory. ``"auto"`` takes, of 25 steps, the one
        that ``scoring`` likes best, or else the one whose states keep most of the variance.
    gamma : float
        Damping of the limit per unit of its time.
    output : {"last", "sequence"}
        The states after the last sample, or after each: ``(n_samples, n_timesteps, n_state)``.
    discretization : {"zoh", "point"}
        Whether a sample is held, or stands for the middle of its step.
    scoring : callable, optional
        ``scoring(states, y)``, more is better, for ``dt="auto"``: for example the cross-validated
        score of the model that will read the states.
    missing : {"refuse", "hold", "zero"}
        What stands for samples that are NaN.
    seed : int
        For ``basis="random"``.
    verbose : bool, optional
        Whether to show progress; by default when standard error is a terminal.

    Attributes
    ----------
    dt_ : float
        The step.
    coverage_ : ndarray of shape (25, 2)
        With ``dt="auto"``, each step and its score.
    n_missing_ : int
        How many samples of the fit were filled.

    Examples
    --------
    >>> import numpy as np
    >>> from metier.geometry import HippoFeatures
    >>> waves = np.sin(np.outer([0.1, 0.2, 0.3], np.arange(100)))
    >>> HippoFeatures(n_state=8).fit_transform(waves).shape
    (3, 8)
    """

    def __init__(
        self,
        n_state: int = 32,
        basis: str = "nodes",
        dt: float | str = "auto",
        gamma: float = 0.0,
        output: str = "last",
        *,
        discretization: str = "zoh",
        scoring: Callable[[np.ndarray, Any], float] | None = None,
        missing: str = "refuse",
        seed: int = 0,
        verbose: bool | None = None,
    ) -> None:
        self.n_state = n_state
        self.basis = basis
        self.dt = dt
        self.gamma = gamma
        self.output = output
        self.discretization = discretization
        self.scoring = scoring
        self.missing = missing
        self.seed = seed
        self.verbose = verbose

    def fit(self, X: Any, y: Any = None) -> HippoFeatures:
        """Chooses the step."""
        _one_of("output", self.output, _OUTPUTS)
        _one_of("missing", self.missing, _MISSING)
        X, self.n_missing_ = self._sequences(X, reset=True)
        self.dt_ = self._step(X, y)
        self._bank()
        return self

    def transform(self, X: Any) -> np.ndarray:
        """The states of each sequence."""
        check_is_fitted(self)
        X, _ = self._sequences(X, reset=False)
        bank = self._bank()
        return bank.last_state(X) if self.output == "last" else bank.transform(X)

    def inverse_transform(self, X: Any) -> np.ndarray:
        """The most likely sequences of last states, for inputs without structure."""
        check_is_fitted(self)
        states = np.ascontiguousarray(np.atleast_2d(X), dtype=np.float64)
        return self._bank().reconstruct(states)[:, ::-1]

    def memory(self) -> np.ndarray:
        """How well states give back white noise: R² by delay, 0 for the last sample."""
        check_is_fitted(self)
        return self._bank().r_squared()

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """``state_0``, ``state_1``, ..."""
        check_is_fitted(self)
        return np.asarray([f"state_{n}" for n in range(self.n_state)], dtype=object)

    def _sequences(self, X: Any, *, reset: bool) -> tuple[np.ndarray, int]:
        if isinstance(X, (list, tuple)):
            _same_length(X)
        finite = True if self.missing == "refuse" else "allow-nan"
        X = validate_data(
            self, X, dtype=np.float64, ensure_all_finite=finite, reset=reset, order="C"
        )
        gaps = np.isnan(X)
        count = int(gaps.sum())
        if count:
            X = np.where(gaps, 0.0, X) if self.missing == "zero" else _held(X, gaps)
        return X, count

    def _step(self, X: np.ndarray, y: Any) -> float:
        if not isinstance(self.dt, str):
            return float(self.dt)
        if self.dt != "auto":
            raise ValueError(f"dt is {self.dt!r}, where a number or 'auto' is meant")
        if self.basis not in _LIMIT:
            raise ValueError(
                f"basis {self.basis!r} has no dt='auto': give a number, "
                f"or take one of {', '.join(_LIMIT)}"
            )
        steps = _metier.hippo_coverage(
            self.n_state, self.basis, self.discretization, self.gamma, X, self.verbose
        )
        if self.scoring is not None:
            steps = [
                (dt, float(self.scoring(self._bank_of(dt, X.shape[1]).last_state(X), y)))
                for dt, _ in steps
            ]
        self.coverage_ = np.asarray(steps)
        return max(steps, key=lambda step: step[1])[0]

    def _bank(self) -> _metier.Bank:
        return self._bank_of(self.dt_, self.n_features_in_)

    def _bank_of(self, dt: float, length: int) -> _metier.Bank:
        return _bank(
            self.n_state, self.basis, self.discretization, dt, self.gamma, length, self.seed
        )

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = self.missing != "refuse"
        return tags


def kernels(
    n_state: int,
    length: int,
    *,
    basis: str = "nodes",
    dt: float = 1.0,
    gamma: float = 0.0,
    discretization: str = "zoh",
    seed: int = 0,
) -> np.ndarray:
    """The weight of a sample by its age in every state, ``(n_state, length)``.

    >>> from metier.geometry import hippo
    >>> hippo.kernels(4, 100, basis="legendre").shape
    (4, 100)
    """
    return _bank(n_state, basis, discretization, dt, gamma, length, seed).values()


def lssl(
    u: Any,
    c: Any,
    d: float = 0.0,
    *,
    basis: str = "legendre",
    dt: float = 1.0,
    gamma: float = 0.0,
    discretization: str = "zoh",
) -> np.ndarray:
    """The linear state-space layer ``y = c · x + d u`` of sequences ``(n_samples, n_timesteps)``.

    ``c`` has one weight per state, as a trained layer has them.
    """
    u = np.ascontiguousarray(np.atleast_2d(u), dtype=np.float64)
    c = np.ascontiguousarray(c, dtype=np.float64)
    bank = _bank(len(c), basis, discretization, dt, gamma, u.shape[1], 0)
    return bank.readout(u, c, d)


def irregular_states(
    times: Any,
    u: Any,
    *,
    n_state: int = 32,
    basis: str = "nodes",
    dt: float = 1.0,
    gamma: float = 0.0,
    every: bool = False,
) -> np.ndarray:
    """The states of samples that come at irregular times; ``dt`` is per unit of time.

    A sample stands for the time since the one before. ``(1, n_state)`` after the last, or with
    ``every`` one row per sample.
    """
    times = np.ascontiguousarray(times, dtype=np.float64)
    u = np.ascontiguousarray(u, dtype=np.float64)
    return _metier.hippo_irregular(n_state, basis, dt, gamma, times, u, every)


def legs_spectrum(n: int) -> dict[str, np.ndarray]:
    """``omega`` in descending order, ``p`` and ``b`` of the HiPPO-LegS matrix, to the last digits.

    >>> from metier.geometry import hippo
    >>> hippo.legs_spectrum(4)["omega"].round(6).tolist()
    [4.603293, 0.556501]
    """
    omega, p, b = _metier.hippo_spectrum(n)
    return {"omega": omega, "p": p, "b": b}


def dplr(n: int) -> dict[str, np.ndarray]:
    """The diagonal-plus-low-rank form of the LegS system ``x' = -A x + B u``.

    ``-A = V (diag(Lambda) - outer(P, P)) V*`` and ``V B`` of the result is the system's own ``B``.
    """
    omega, p, b = _metier.hippo_spectrum(n)
    paired = n // 2
    signs = np.tile([-1.0, 1.0], paired)
    imaginary = np.concatenate([np.repeat(omega[:paired], 2) * signs, omega[paired:]])
    both = [np.concatenate([np.repeat(x[:paired], 2), x[paired:]]) for x in (p, b)]
    return {
        "Lambda": -0.5 + 1j * imaginary,
        "P": both[0],
        "B": both[1],
        "V": _metier.hippo_eigenvectors(n),
    }


def export_dplr(n: int, path: str | os.PathLike[str], *, vectors: bool = False) -> None:
    """Writes ``Lambda_re``, ``Lambda_im``, ``P``, ``B`` (and ``V_re``, ``V_im``) as safetensors."""
    _metier.hippo_export(n, vectors, os.fspath(path))


def _bank(
    n_state: int,
    basis: str,
    discretization: str,
    dt: float,
    gamma: float,
    length: int,
    seed: int,
) -> _metier.Bank:
    if basis in _LIMIT:
        return _metier.Bank.limit(n_state, basis, discretization, dt, gamma, length)
    if gamma != 0.0:
        raise ValueError(f"gamma is {gamma}, which basis {basis!r} does not have")
    return _metier.Bank.baseline(basis, n_state, dt, length, seed)


def _one_of(field: str, value: Any, allowed: tuple[str, ...]) -> None:
    if value not in allowed:
        raise ValueError(f"{field} is {value!r}, where one of {', '.join(allowed)} is meant")


def _same_length(rows: Any) -> None:
    lengths = [len(row) for row in rows if hasattr(row, "__len__")]
    for row, length in enumerate(lengths):
        if length != lengths[0]:
            raise ValueError(
                f"row {row + 1} has {length} samples, where row 1 has {lengths[0]}: "
                "sequences of one batch have one length"
            )


def _held(X: np.ndarray, gaps: np.ndarray) -> np.ndarray:
    if gaps.all(axis=1).any():
        row = int(gaps.all(axis=1).argmax()) + 1
        raise ValueError(f"every sample of row {row} is missing, so none can be held")
    # The index of the last sample there is, or of the first where none comes before.
    at = np.where(gaps, -1, np.arange(X.shape[1]))
    at = np.maximum.accumulate(at, axis=1)
    at = np.where(at < 0, (~gaps).argmax(axis=1)[:, None], at)
    return np.take_along_axis(X, at, axis=1)
