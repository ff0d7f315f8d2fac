"""Checklists: scikit-learn's manners, frames, and the same numbers as its metrics."""

import http.server
import io
import json
import pickle
import threading

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


def test_numbers_of_items_are_compared_where_asked_for():
    X, y = cohort()
    score = AgentScoreClassifier(folds=3, by_items=2, depth=0).fit(X, y)
    one, two = score.honest_["by_items"]
    assert 0.5 < one < two
    with pytest.raises(ValueError, match="there are no folds"):
        AgentScoreClassifier(by_items=2).fit(X, y)


def test_a_search_for_the_best_choice_has_its_limits():
    X, y = cohort()
    proof = lambda score: json.loads(score.fit(X, y).to_json())["proof"]
    exact = proof(AgentScoreClassifier(max_rules=3, selector="exact", exact_pool=6))
    assert exact["proven"] and exact["pool"] <= 9
    cut = proof(AgentScoreClassifier(max_rules=3, selector="exact", exact_pool=6, nodes=2))
    assert not cut["proven"] and cut["gap"] > 0
    program = proof(AgentScoreClassifier(max_rules=2, selector="mip", exact_pool=4, seconds=5.0))
    assert program["goal"] == "balanced_error"


def test_a_dictionary_may_speak_of_the_outcome(tmp_path):
    X, y = cohort()
    dictionary = tmp_path / "dd.yaml"
    dictionary.write_text("columns:\n  death: {type: binary}\n")
    AgentScoreClassifier(dictionary=dictionary, outcome="death").fit(X, y)
    with pytest.raises(ValueError, match="no column `death`"):
        AgentScoreClassifier(dictionary=dictionary, outcome="dead").fit(X, y)


def test_rows_of_one_patient_stay_together():
    """Traits of a patient that mean nothing look useful where his rows are on both sides."""
    rng = np.random.default_rng(0)
    patients = np.repeat(np.arange(60), 10)
    X, y = rng.normal(size=(60, 8))[patients], rng.integers(0, 2, 60)[patients]
    score = AgentScoreClassifier(folds=5, depth=0)
    leaky = score.fit(X, y).honest_["auroc"]
    honest = score.fit(X, y, groups=[f"patient {number}" for number in patients]).honest_["auroc"]
    assert honest < 0.6 < 0.7 < leaky
    assert not any("group" in rule for rule in score.rules_)
    assert score.score_points(X).shape == (600,)
    with pytest.raises(ValueError, match="groups holds 3 values for 600 rows"):
        score.fit(X, y, groups=[1, 2, 3])


class Model(http.server.BaseHTTPRequestHandler):
    """An endpoint whose model knows three rules and one that is none."""

    def do_POST(self):
        question = self.rfile.read(int(self.headers["Content-Length"])).decode()
        self.server.asked.append(question)
        rules = [
            {"type": "numeric_threshold", "feature": "x0", "op": ">=", "threshold": 60},
            {"type": "numeric_threshold", "feature": "x1", "op": ">=", "threshold": 1.3},
            {"type": "binary_true", "feature": "x2"},
        ]
        known = "plausible to a clinician" in question
        text = '{"plausible": true}' if known else "\n".join(map(json.dumps, rules)) + "\nolder"
        answer = json.dumps({"choices": [{"message": {"role": "assistant", "content": text}}]})
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer.encode())

    def log_message(self, *_):
        pass


def test_a_language_model_is_asked_recorded_and_replayed(tmp_path):
    X, y = cohort()
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Model)
    server.asked = []
    threading.Thread(target=server.serve_forever, daemon=True).start()
    session = tmp_path / "session.jsonl"
    settings = {"proposer": "llm", "model": "tiny", "task": "adults in hospital", "calls": 12}
    try:
        endpoint = f"http://127.0.0.1:{server.server_port}/v1"
        live = AgentScoreClassifier(**settings, endpoint=endpoint, record=session).fit(X, y)
    finally:
        server.shutdown()
        server.server_close()
    assert live.rules_ == ["x0 ≥ 60", "x1 ≥ 1.3", "x2"]
    asked = len(server.asked)
    assert 0 < asked <= 12 and "adults in hospital" in server.asked[0]

    # The endpoint is gone: the recording answers.
    again = AgentScoreClassifier(**settings, replay=session).fit(X, y)
    assert again.to_json() == live.to_json()
    assert len(server.asked) == asked
    mixed = AgentScoreClassifier(**{**settings, "proposer": "mixed"}, replay=session)
    with pytest.raises(FileNotFoundError, match="no recorded answer"):
        mixed.fit(X, y)
    with pytest.raises(FileNotFoundError, match="no recorded answer"):
        AgentScoreClassifier(**{**settings, "task": "children"}, replay=session).fit(X, y)
    with pytest.raises(ValueError, match="asked anew for every fold"):
        AgentScoreClassifier(**settings, replay=session, folds=5).fit(X, y)
    with pytest.raises(ValueError, match="no language model is given"):
        AgentScoreClassifier(**settings).fit(X, y)


def test_an_expert_s_rules_are_mixed_with_the_data_s(tmp_path):
    X, y = cohort()
    rules = tmp_path / "rules.jsonl"
    rules.write_text('{"type":"numeric_threshold","feature":"x0","op":">=","threshold":61.5}\n')
    alone = AgentScoreClassifier(proposer=f"file:{rules}").fit(X, y)
    # Two significant digits are what the bedside gets.
    assert alone.rules_ == ["x0 ≥ 62"]
    mixed = AgentScoreClassifier(proposer=f"mixed:{rules}").fit(X, y)
    audit = json.loads(mixed.to_json())["audit"]
    assert len(audit) > 20 and any(entry["rule"].get("threshold") == 62 for entry in audit)


def test_the_card_is_printed():
    pypdf = pytest.importorskip("pypdf")
    X, y = cohort()
    score = AgentScoreClassifier(max_rules=4, outcome="illness").fit(X, y)
    reader = pypdf.PdfReader(io.BytesIO(score.to_pdf()))
    assert len(reader.pages) == 1 and reader.metadata.title == "Checklist for illness"
    text = " ".join(reader.pages[0].extract_text().split())
    assert all(rule in text for rule in score.rules_)
    assert f"Act at {score.threshold_} or more of {len(score.rules_)} points" in text


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
        ({"proposer": "file"}, "no proposer `file`"),
        ({"proposer": "mixed"}, "nothing to mix"),
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
