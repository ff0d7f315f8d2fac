"""Checklists: scikit-learn's manners, frames, and the same numbers as its metrics."""

import json
import pickle

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import cross_val_score
from sklearn.utils.estimator_checks import check_estimator

from metier import data
from metier.decision import AgentScoreClassifier


def cohort(rows=600, seed=0):
    rng = np.random.default_rng(seed)
    age, crea = rng.uniform(20, 90, rows), rng.lognormal(0, 0.4, rows)
    fever = rng.integers(0, 2, rows).astype(float)
    odds = (age - 60) / 15 + 2 * (crea > 1.3) + fever - 1
    return np.column_stack([age, crea, fever]), (rng.logistic(size=rows) < odds).astype(int)


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_scikit_learn_agrees():
    """The checks learn from twenty random rows, or from columns that separate the classes.

    The estimator refuses both unless told otherwise: it is told here. Nothing else is exempt.
    """
    check_estimator(AgentScoreClassifier(force=True, leaks="use", tau=0.0, validation=0.0))


def test_points_thresholds_and_risks_fit_together():
    X, y = cohort()
    score = AgentScoreClassifier(max_rules=4).fit(X, y)
    points = score.score_points(X)
    assert points.min() >= 0 and points.max() <= len(score.rules_) <= 4
    assert 1 <= score.threshold_ <= len(score.rules_)
    assert np.array_equal(score.predict(X) == 1, points >= score.threshold_)
    assert np.array_equal(score.decision_function(X) > 0, points >= score.threshold_)
    assert np.all(np.diff(score.risks_[:, 0]) >= 0)
    assert np.allclose(score.predict_proba(X).sum(axis=1), 1)


def test_the_auroc_is_that_of_scikit_learn():
    X, y = cohort()
    score = AgentScoreClassifier(max_rules=4).fit(X, y)
    other, truth = cohort(seed=1)
    theirs = roc_auc_score(truth, score.score_points(other))
    found = score.validate(other, truth)
    assert abs(found["auroc"] - theirs) < 1e-12
    assert theirs > 0.75
    assert cross_val_score(AgentScoreClassifier(), X, y, scoring="roc_auc").mean() > 0.75


def test_frames_with_text_are_read_by_name():
    pandas = pytest.importorskip("pandas")
    polars = pytest.importorskip("polars")
    X, y = cohort()
    ward = np.where(X[:, 2] == 1, "acute", "day")
    columns = {"age": X[:, 0], "crea": X[:, 1], "ward": ward}
    columns["crea"] = np.where(np.arange(len(y)) % 50 == 0, np.nan, columns["crea"])
    frames = [pandas.DataFrame(columns), polars.DataFrame(columns)]
    scores = [AgentScoreClassifier(max_rules=4).fit(frame, y) for frame in frames]
    assert scores[0].rules_ == scores[1].rules_
    assert any("ward" in rule for rule in scores[0].rules_)
    assert np.array_equal(scores[0].predict(frames[1]), scores[1].predict(frames[0]))
    assert scores[0].feature_names_in_.tolist() == ["age", "crea", "ward"]


def test_labels_of_any_kind_come_back():
    X, y = cohort()
    names = np.where(y == 1, "ill", "well")
    score = AgentScoreClassifier().fit(X, names)
    assert score.classes_.tolist() == ["ill", "well"]
    assert set(score.predict(X)) <= {"ill", "well"}


def test_a_checklist_survives_pickle_and_json():
    X, y = cohort()
    score = AgentScoreClassifier(max_rules=3).fit(X, y)
    again = pickle.loads(pickle.dumps(score))
    assert np.array_equal(again.score_points(X), score.score_points(X))
    saved = json.loads(score.to_json())
    assert len(saved["items"]) == 3
    assert score.to_svg().startswith("<svg") and "<html" in score.to_html()
    assert all(rule in score.to_markdown() for rule in score.rules_)


def test_an_honest_estimate_is_cross_validated():
    X, y = cohort()
    score = AgentScoreClassifier(max_rules=3, folds=3).fit(X, y)
    assert len(score.honest_["folds"]) == 3
    assert 0.7 < score.honest_["auroc"] < 1
    assert AgentScoreClassifier(max_rules=3).fit(X, y).honest_ is None


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda X, y: (X, np.zeros_like(y)), "one class only"),
        (lambda X, y: (X, np.arange(len(y)) % 3), "Only binary classification"),
        (lambda X, y: (X[:12], np.arange(12) % 2), "at least 10 of each"),
        (lambda X, y: (np.random.default_rng(0).normal(size=X.shape), y), "no rule passes"),
    ],
)
def test_what_cannot_be_learnt_from_is_said(change, message):
    with pytest.raises(ValueError, match=message):
        AgentScoreClassifier(tau=0.6).fit(*change(*cohort()))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"max_rules": 0}, "between 1 and 20"),
        ({"proposer": "oracle"}, "no proposer `oracle`"),
        ({"selector": "luck"}, "luck"),
        ({"leaks": "maybe"}, "leaks is 'maybe'"),
        ({"objective": ("sensitivity", 2.0)}, "between 0 and 1"),
    ],
)
def test_settings_out_of_range_are_named(arguments, message):
    with pytest.raises(ValueError, match=message):
        AgentScoreClassifier(**arguments).fit(*cohort())


def test_a_leak_is_left_out_and_told():
    X, y = cohort()
    leaky = np.column_stack([X, y + 0.001 * X[:, 0]])
    with pytest.warns(UserWarning, match="possible leak"):
        score = AgentScoreClassifier().fit(leaky, y)
    assert not any("x3" in rule for rule in score.rules_)


def test_a_real_trial():
    table = data.table("gbsg2")
    assert len(table["time"]) == 686 and table["tgrade"][0] in {"I", "II", "III"}
    early = (table["time"] <= 1095) & (table["cens"] == 1)
    kept = early | (table["time"] > 1095)
    names = ["age", "tsize", "pnodes", "progrec", "estrec"]
    X = np.column_stack([table[name][kept] for name in names])
    score = AgentScoreClassifier().fit(X, early[kept])
    assert roc_auc_score(early[kept], score.score_points(X)) > 0.68


def test_the_docstrings_are_true(doctest_of):
    doctest_of("metier.decision")
