"""Fixed memories of sequences, against SciPy's Bessel functions, solvers and signal tools."""

import json
import pickle

import numpy as np
import pytest
from scipy.linalg import expm
from scipy.signal import lfilter
from scipy.special import j0, j1, jv
from sklearn.datasets import load_digits
from sklearn.linear_model import RidgeClassifier
from sklearn.model_selection import cross_val_score
from sklearn.utils.estimator_checks import check_estimator

from metier.geometry import HippoFeatures, hippo

RNG = np.random.default_rng(0)


@pytest.mark.parametrize(
    "estimator",
    [
        HippoFeatures(n_state=4),
        HippoFeatures(n_state=3, dt=1.0, basis="legendre"),
        HippoFeatures(n_state=4, dt=0.1, basis="s4d-lin"),
        HippoFeatures(n_state=4, missing="hold"),
    ],
)
def test_scikit_learn_agrees(estimator):
    check_estimator(estimator)


def test_kernels_are_bessel_functions():
    u, w = np.polynomial.legendre.leggauss(5)
    u, w = (u + 1) / 2, w / 2
    t = (np.arange(300) + 0.5) * 2.5
    found = hippo.kernels(5, 300, dt=2.5, discretization="point")
    right = np.sqrt(w)[:, None] * j0(2 * np.sqrt(t * u[:, None]))
    assert np.abs(found - right).max() < 1e-13
    n = np.arange(5)[:, None]
    found = hippo.kernels(5, 300, dt=2.5, discretization="point", basis="legendre")
    right = np.sqrt(2 * n + 1) * (-1.0) ** n * jv(2 * n + 1, 2 * np.sqrt(t)) / np.sqrt(t)
    assert np.abs(found - right).max() < 1e-13
    edges = np.arange(301) * 2.5
    z = edges * u[:, None]
    held = np.where(z > 0, edges * j1(2 * np.sqrt(z)) / np.sqrt(np.maximum(z, 1e-300)), 0)
    found = hippo.kernels(5, 300, dt=2.5)
    assert np.abs(found - np.sqrt(w)[:, None] * np.diff(held, axis=1)).max() < 1e-11


def test_states_are_convolutions():
    X = RNG.normal(size=(3, 80))
    features = HippoFeatures(n_state=6, dt=1.3, output="sequence").fit(X)
    states = features.transform(X)
    assert states.shape == (3, 80, 6)
    for n, kernel in enumerate(hippo.kernels(6, 80, dt=1.3)):
        assert np.abs(states[:, :, n] - lfilter(kernel, [1.0], X)).max() < 1e-11
    last = HippoFeatures(n_state=6, dt=1.3).fit_transform(X)
    assert np.abs(last - states[:, -1]).max() < 1e-11


def test_the_layer_reads_its_states():
    u, c = RNG.normal(size=(2, 50)), RNG.normal(size=4)
    kernel = c @ hippo.kernels(4, 50, basis="legendre", dt=0.7)
    right = lfilter(kernel, [1.0], u) + 0.5 * u
    assert np.abs(hippo.lssl(u, c, 0.5, dt=0.7) - right).max() < 1e-11


@pytest.mark.parametrize("n", [1, 2, 5, 16])
def test_the_matrix_is_put_together_again(n):
    form = hippo.dplr(n)
    k = np.arange(n)
    root = np.sqrt(2 * k + 1)
    A = np.tril(np.outer(root, root), -1) + np.diag(k + 1.0)
    V, P = form["V"], form["P"]
    found = V @ (np.diag(form["Lambda"]) - np.outer(P, P)) @ V.conj().T
    assert np.abs(found + A).max() < 1e-12 * n * n
    assert np.abs(V @ form["B"] - root).max() < 1e-12 * n
    skew = A - np.eye(n) / 2 - np.outer(root, root) / 2
    dense = np.sort(np.linalg.eigvalsh(1j * skew))[::-1]
    omega = hippo.legs_spectrum(n)["omega"]
    assert np.abs(dense[: len(omega)] - omega).max() < 1e-12 * n * n
    # What the kernels of LegS are made of.
    found = hippo.kernels(n, 3, basis="legs", dt=0.4)[:, 1]
    assert np.abs(found - expm(-0.6 * A) @ root).max() < 1e-11


def load_file(path):
    # A header of JSON behind its length, and the numbers.
    raw = path.read_bytes()
    length = int.from_bytes(raw[:8], "little")
    tensors = {}
    for name, entry in json.loads(raw[8 : 8 + length]).items():
        start, end = (8 + length + at for at in entry["data_offsets"])
        assert entry["dtype"] == "F64"
        tensors[name] = np.frombuffer(raw[start:end]).reshape(entry["shape"])
    return tensors


def test_the_form_is_exported(tmp_path):
    path = tmp_path / "legs.safetensors"
    hippo.export_dplr(7, path, vectors=True)
    read, right = load_file(path), hippo.dplr(7)
    assert np.array_equal(read["Lambda_re"] + 1j * read["Lambda_im"], right["Lambda"])
    assert np.array_equal(read["V_re"] + 1j * read["V_im"], right["V"])
    assert np.array_equal(read["P"], right["P"]) and np.array_equal(read["B"], right["B"])
    hippo.export_dplr(7, path)
    assert sorted(load_file(path)) == ["B", "Lambda_im", "Lambda_re", "P"]


def test_the_past_is_given_back():
    X = RNG.normal(size=(4, 8))
    features = HippoFeatures(n_state=8, dt=4.0).fit(X)
    assert np.abs(features.inverse_transform(features.transform(X)) - X).max() < 1e-6
    assert features.memory().min() > 0.999
    again = pickle.loads(pickle.dumps(features))
    assert np.array_equal(again.transform(X), features.transform(X))


def test_the_step_is_chosen_by_coverage_or_by_a_score():
    X, y = load_digits(return_X_y=True)
    X, y = X[:500], y[:500]
    chosen = HippoFeatures(n_state=16).fit(X)
    assert chosen.coverage_.shape == (25, 2)
    assert chosen.dt_ == max(chosen.coverage_.tolist(), key=lambda step: step[1])[0]

    def score(states, y):
        return cross_val_score(RidgeClassifier(), states, y, cv=3).mean()

    scored = HippoFeatures(n_state=16, scoring=score).fit(X, y)
    assert score(scored.transform(X), y) == scored.coverage_[:, 1].max()
    assert score(scored.transform(X), y) >= score(chosen.transform(X), y)


def test_irregular_times():
    t, u = np.arange(9.0), RNG.normal(size=9)
    even = HippoFeatures(n_state=4, dt=0.5).fit_transform(u[None])
    assert np.abs(hippo.irregular_states(t, u, n_state=4, dt=0.5) - even).max() < 1e-12
    assert hippo.irregular_states(t, u, n_state=4, every=True).shape == (9, 4)
    with pytest.raises(ValueError, match="row 2: time 0 comes after 0"):
        hippo.irregular_states(np.zeros(3), np.zeros(3))


def test_gaps_are_refused_held_or_zero():
    X = np.array([[np.nan, 1.0, np.nan, 3.0]])
    with pytest.raises(ValueError, match="NaN"):
        HippoFeatures(dt=1.0).fit(X)
    for missing, filled in [("hold", [1.0, 1.0, 1.0, 3.0]), ("zero", [0.0, 1.0, 0.0, 3.0])]:
        features = HippoFeatures(n_state=3, dt=1.0, missing=missing).fit(X)
        assert features.n_missing_ == 2
        right = HippoFeatures(n_state=3, dt=1.0).fit_transform([filled])
        assert np.array_equal(features.transform(X), right)
    with pytest.raises(ValueError, match="every sample of row 1 is missing"):
        HippoFeatures(dt=1.0, missing="hold").fit(np.full((1, 3), np.nan))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"n_state": 0}, "n must be at least 1"),
        ({"dt": 0.0}, "dt is 0, where a positive number is meant"),
        ({"dt": float("nan")}, "dt is NaN"),
        ({"dt": "best"}, "a number or 'auto'"),
        ({"basis": "spectral", "gamma": -1.0}, "would grow without bound"),
        ({"basis": "legs"}, "has no dt='auto'"),
        ({"basis": "legs", "dt": 0.1, "gamma": 1.0}, "does not have"),
        ({"basis": "nose", "dt": 1.0}, "unknown variant `nose`"),
        ({"output": "all"}, "last, sequence"),
        ({"missing": "drop"}, "refuse, hold, zero"),
        ({"dt": 1e15}, "can be told apart up to"),
    ],
)
def test_what_cannot_be_made_is_named(arguments, message):
    with pytest.raises(ValueError, match=message):
        HippoFeatures(**{"n_state": 4, "verbose": False, **arguments}).fit(np.ones((2, 5)))


def test_ragged_rows_are_named():
    with pytest.raises(ValueError, match="row 2 has 1 samples, where row 1 has 2"):
        HippoFeatures(dt=1.0).fit([[1.0, 2.0], [3.0]])


def test_the_docstrings_are_true(doctest_of):
    doctest_of("metier.geometry.hippo")
