"""Generated data judged by neighbours, against NumPy and SciPy."""

import numpy as np
import pytest
from scipy.spatial.distance import cdist
from scipy.stats import skew
from sklearn.base import clone

from metier.geometry import GICDM, compute_prdc, hubness_report

RNG = np.random.default_rng(0)


def test_plain_scores_are_those_of_all_pairs():
    real, fake, k = RNG.normal(size=(120, 9)), RNG.normal(size=(90, 9)) + 0.3, 5
    rr, ff, rf = cdist(real, real), cdist(fake, fake), cdist(real, fake)
    reach, fake_reach = np.sort(rr)[:, k], np.sort(ff)[:, k]
    inside = rf < reach[:, None]
    right = {
        "precision": inside.any(0).mean(),
        "recall": (rf < fake_reach).any(1).mean(),
        "density": inside.sum() / (k * len(fake)),
        "coverage": inside.any(1).mean(),
    }
    found = compute_prdc(real, fake, nearest_k=k)
    assert found == pytest.approx(right, abs=1e-12)


def test_hubness_is_that_of_all_pairs():
    points = RNG.normal(size=(300, 40))
    distances = cdist(points, points)
    np.fill_diagonal(distances, np.inf)
    counts = np.bincount(np.argsort(distances)[:, :10].ravel(), minlength=300)
    report = hubness_report(points)
    assert report["raw"]["occurrences"] == counts.tolist()
    assert report["raw"]["skewness"] == pytest.approx(skew(counts), abs=1e-9)
    assert report["corrected"]["skewness"] < report["raw"]["skewness"]


def test_the_mean_is_no_sample():
    real, same = RNG.normal(size=(2, 400, 64))
    judge = clone(GICDM()).fit(real)
    assert np.isclose(judge.log_delta_.sum(), 0, atol=1e-9)
    honest, middle = judge.score(same), judge.score(1e-3 * same)
    assert honest["precision"] > 0.9 > honest["raw"]["precision"]
    assert middle["raw"]["precision"] == 1 and middle["precision"] == 0
    assert not any(sample["accepted"] for sample in judge.samples(1e-3 * same))
    assert judge.score(real)["copies"] == 400


def test_wrong_input_is_named():
    real = RNG.normal(size=(60, 4))
    with pytest.raises(ValueError, match="at least 12 are needed"):
        GICDM().fit(real[:5])
    with pytest.raises(ValueError, match="NaN"):
        GICDM().fit(np.full((60, 4), np.nan))
    with pytest.raises(ValueError, match="features"):
        GICDM().fit(real).score(real[:, :2])
    with pytest.raises(ValueError, match="quantile is 0.6"):
        GICDM(q=0.6).fit(real)
    with pytest.raises(ValueError, match="unknown variant"):
        GICDM(metric="angle").fit(real)
    with pytest.raises(ValueError, match="row 1: a row of zeros"):
        GICDM(metric="cosine").fit(np.zeros((60, 4)))
    with pytest.raises(ValueError, match="columns meet rows of"):
        compute_prdc(real, real[:, :2])


def test_the_docstrings_are_true(doctest_of):
    doctest_of("metier.geometry.gicdm")
