"""Decisions from tables."""

from __future__ import annotations

import json
import os
import warnings
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import check_random_state
from sklearn.utils.multiclass import check_classification_targets, type_of_target
from sklearn.utils.validation import check_consistent_length, check_is_fitted, column_or_1d
from sklearn.utils.validation import validate_data

from metier import _metier

__all__ = ["AgentScoreClassifier"]


class AgentScoreClassifier(ClassifierMixin, BaseEstimator):
    """A clinical score of a few yes/no items, one point each, that fits on a bedside card.

    Rules are proposed, verified on the data and chosen so that the number of points separates cases
    from others. ``predict`` acts at ``threshold_`` points, the action line, which need not be the
    line at a risk of one half; ``predict_proba`` gives the risk at each number of points.

    Parameters
    ----------
    max_rules : int
        The most items.
    proposer : str
        ``"data"`` (cut-points, ranges and categories found in the data), ``"file:rules.json"`` (an
        expert's list), ``"llm"`` (a language model, by ``endpoint`` or ``replay``), or ``"mixed"``
        or ``"mixed:rules.json"`` for the data with the model, the file, or both.
    tau : float or "auto"
        The least AUROC of a rule by itself. ``"auto"`` takes 0.60 where enough rules reach it, and
        less, never below 0.52, where they do not.
    selector : {"beam", "greedy", "exact", "mip", "llm"}
        How rules are chosen.
    depth : int
        How deep AND and OR may nest; 0 for single rules only.
    max_per_feature : int
        How many items may ask about one column.
    objective : str or tuple
        What the action line is for: ``"youden"``, ``"f1"``, ``("sensitivity", 0.9)``,
        ``("ppv", 0.5)`` or ``("net_benefit", odds)``.
    exact_pool : int
        How many of the best rules ``"exact"`` and ``"mip"`` choose from; the beam's own are added.
    nodes : int
        How many checklists ``"exact"`` looks at before it settles for the best so far.
    seconds : float
        How long ``"mip"`` may take, for each checklist learnt.
    dictionary : path, optional
        A YAML file with labels, units, steps and directions of the columns.
    validation : float
        The share of rows that confirm rules.
    outcome : str
        What is predicted, for the card and for the search of leaks.
    leaks : {"exclude", "use"}
        What to do with columns that separate the classes by themselves or are named like the
        outcome: they usually were recorded after it.
    force : bool
        Go on with fewer than ten rows of a class.
    folds : int
        With 2 or more, the whole procedure is cross-validated; ``honest_`` then says what to
        expect on new rows. Not together with a language model, which would be asked anew for every
        fold.
    by_items : int, optional
        With ``folds``, also cross-validate checklists of 1, 2, ... ``by_items`` items; the mean
        AUROC of each is in ``honest_["by_items"]``.
    endpoint : str, optional
        The base address of an OpenAI-compatible endpoint, such as ``"http://127.0.0.1:8080/v1"``.
        There is no default. It is sent names, types and aggregates, never rows.
    model : str
        The model's name there.
    task : str
        Who the patients are and what is to be predicted, in a sentence.
    calls : int
        How many calls at most.
    key_variable : str
        The environment variable that holds the key, where the endpoint wants one.
    record : path, optional
        Where the session is written down.
    replay : path, optional
        A session written down before: it answers, and nothing is asked anywhere. Data, settings,
        ``model`` and ``task`` have to be those of the recording.
    random_state : int, RandomState or None
        The seed of the split.
    verbose : bool, optional
        Whether to show progress; by default when standard error is a terminal.

    Attributes
    ----------
    classes_ : ndarray
        The two classes; the second counts as the case.
    rules_ : list of str
        The items in words.
    threshold_ : int
        The number of points to act at.
    risks_ : ndarray of shape (len(rules_) + 1, 3)
        The risk at each number of points, and its 95 % interval.
    honest_ : dict or None
        The cross-validated estimate, with ``folds``.

    Notes
    -----
    A missing value makes a rule about it false. Frames may hold columns of text: each is a
    category. Arrays hold numbers.

    Examples
    --------
    >>> import numpy as np
    >>> from metier.decision import AgentScoreClassifier
    >>> rng = np.random.default_rng(0)
    >>> age, fever = rng.uniform(20, 90, 400), rng.integers(0, 2, 400)
    >>> ill = age + 25 * fever + rng.normal(0, 15, 400) > 80
    >>> score = AgentScoreClassifier(max_rules=3).fit(np.column_stack([age, fever]), ill)
    >>> len(score.rules_) <= 3 and 1 <= score.threshold_ <= len(score.rules_)
    True
    >>> int(score.score_points([[85, 1], [25, 0]]).argmax())
    0
    """

    def __init__(
        self,
        max_rules: int = 6,
        proposer: str = "data",
        *,
        tau: float | str = "auto",
        selector: str = "beam",
        depth: int = 1,
        max_per_feature: int = 2,
        objective: str | tuple[str, float] = "youden",
        exact_pool: int = 40,
        nodes: int = 2_000_000,
        seconds: float = 20.0,
        dictionary: str | os.PathLike[str] | None = None,
        validation: float = 0.2,
        outcome: str = "outcome",
        leaks: str = "exclude",
        force: bool = False,
        folds: int = 0,
        by_items: int | None = None,
        endpoint: str | None = None,
        model: str = "local",
        task: str = "",
        calls: int = 220,
        key_variable: str = "METIER_API_KEY",
        record: str | os.PathLike[str] | None = None,
        replay: str | os.PathLike[str] | None = None,
        random_state: Any = 0,
        verbose: bool | None = None,
    ) -> None:
        self.max_rules = max_rules
        self.proposer = proposer
        self.tau = tau
        self.selector = selector
        self.depth = depth
        self.max_per_feature = max_per_feature
        self.objective = objective
        self.exact_pool = exact_pool
        self.nodes = nodes
        self.seconds = seconds
        self.dictionary = dictionary
        self.validation = validation
        self.outcome = outcome
        self.leaks = leaks
        self.force = force
        self.folds = folds
        self.by_items = by_items
        self.endpoint = endpoint
        self.model = model
        self.task = task
        self.calls = calls
        self.key_variable = key_variable
        self.record = record
        self.replay = replay
        self.random_state = random_state
        self.verbose = verbose

    def fit(self, X: Any, y: Any, groups: Any = None) -> AgentScoreClassifier:
        """Learns a checklist from a table and a label of two classes per row.

        ``groups`` tells whose rows belong together, one value per row: rows of one patient are
        never on both sides of a split, neither of the one that confirms rules nor of ``folds``.
        """
        columns = self._columns(X, reset=True)
        if y is None:
            raise ValueError(
                f"This {type(self).__name__} estimator requires y to be passed, "
                "but the target y is None."
            )
        y = column_or_1d(y, warn=True)
        check_classification_targets(y)
        check_consistent_length(columns[0][1], y)
        if type_of_target(y, input_name="y") == "multiclass":
            raise ValueError(
                "Only binary classification is supported. The type of the target is multiclass."
            )
        self.classes_, labels = np.unique(y, return_inverse=True)
        if len(self.classes_) < 2:
            raise ValueError(
                f"y holds one class only, {self.classes_[0]!r}; a checklist needs two classes"
            )
        config = self._config([name for name, _ in columns])
        if groups is not None:
            name = _free("group", [name for name, _ in columns])
            columns = [*columns, (name, _groups(groups, len(y)))]
            config["group"] = name
        self.checklist_ = _metier.Score.fit(
            columns,
            labels.astype(np.uint8),
            config=json.dumps(config),
            source=json.dumps(self._source()),
            dictionary=None if self.dictionary is None else os.fspath(self.dictionary),
            folds=self.folds,
            by_items=self.by_items,
            verbose=self.verbose,
        )
        self.rules_ = self.checklist_.items()
        self.threshold_ = self.checklist_.theta()
        self.risks_ = np.asarray(self.checklist_.risks())
        self.honest_ = json.loads(self.checklist_.to_json())["honest"]
        leaks = [text for text in self.checklist_.warnings() if text.startswith("possible leak")]
        for message in leaks:
            warnings.warn(message, UserWarning, stacklevel=2)
        return self

    def score_points(self, X: Any) -> np.ndarray:
        """The points of each row."""
        check_is_fitted(self)
        return self.checklist_.score(self._columns(X, reset=False)).astype(np.int64)

    def decision_function(self, X: Any) -> np.ndarray:
        """Points above the action line, less a half: positive where the checklist says act."""
        return self.score_points(X) - self.threshold_ + 0.5

    def predict(self, X: Any) -> np.ndarray:
        """The second class for rows with at least ``threshold_`` points, the first for others."""
        acts = self.score_points(X) >= self.threshold_
        return self.classes_[acts.astype(int)]

    def predict_proba(self, X: Any) -> np.ndarray:
        """The risk of each class at the row's number of points."""
        points = self.score_points(X)
        risk = self.risks_[points, 0]
        return np.column_stack([1 - risk, risk])

    def validate(self, X: Any, y: Any) -> dict[str, Any]:
        """How the checklist does on another table: AUROC, sensitivity, calibration, net benefit."""
        check_is_fitted(self)
        columns = self._columns(X, reset=False)
        labels = (column_or_1d(y) == self.classes_[1]).astype(np.uint8)
        return json.loads(self.checklist_.validate(columns, labels))

    def to_json(self) -> str:
        """The checklist as the file that ``metier score apply`` reads."""
        check_is_fitted(self)
        return self.checklist_.to_json()

    def to_markdown(self) -> str:
        """The bedside card as Markdown."""
        check_is_fitted(self)
        return self.checklist_.to_markdown()

    def to_html(self) -> str:
        """The bedside card as a page of its own."""
        check_is_fitted(self)
        return self.checklist_.to_html()

    def to_svg(self) -> str:
        """The bedside card as a picture."""
        check_is_fitted(self)
        return self.checklist_.to_svg()

    def to_pdf(self) -> bytes:
        """The bedside card as one page of A4."""
        check_is_fitted(self)
        return self.checklist_.to_pdf()

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = True
        return tags

    def _config(self, names: list[str]) -> dict[str, Any]:
        if self.leaks not in ("exclude", "use"):
            raise ValueError(f"leaks is {self.leaks!r}, where 'exclude' or 'use' is wanted")
        objective = self.objective
        if not isinstance(objective, str):
            kind, value = objective
            objective = {kind: value}
        config = {
            "m": self.max_rules,
            "depth": self.depth,
            "selector": self.selector,
            "max_per_feature": self.max_per_feature,
            "exact_pool": self.exact_pool,
            "nodes": self.nodes,
            "seconds": self.seconds,
            "objective": objective,
            "validation": self.validation,
            "outcome": self.outcome,
            "force": bool(self.force),
            "allow": names if self.leaks == "use" else [],
            "seed": _seed(self.random_state),
        }
        if self.tau != "auto":
            config["screening"] = {"tau": {"fixed": self.tau}}
        return config

    def _source(self) -> dict[str, Any]:
        origin, _, rules = str(self.proposer).partition(":")
        takes_rules = {"data": False, "llm": False, "file": True, "mixed": bool(rules)}
        if takes_rules.get(origin) != bool(rules):
            raise ValueError(
                f"there is no proposer `{self.proposer}`\nwrite data, llm, file:rules.json, mixed "
                "or mixed:rules.json"
            )
        return {
            "origin": origin,
            "rules": rules or None,
            "endpoint": self.endpoint,
            "key_variable": self.key_variable,
            "record": None if self.record is None else os.fspath(self.record),
            "replay": None if self.replay is None else os.fspath(self.replay),
            "llm": {"model": self.model, "task": self.task, "calls": self.calls},
        }

    def _columns(self, X: Any, *, reset: bool) -> list[tuple[str, Any]]:
        names = getattr(X, "columns", None)
        if names is not None and all(isinstance(name, str) for name in names):
            # Frames keep their columns of text; what is checked is their names and number.
            validate_data(self, X, skip_check_array=True, reset=reset)
            if len(X) == 0 or len(names) == 0:
                raise ValueError(f"Found array with {len(X)} sample(s) (shape={X.shape})")
            return [(name, _cells(X[name])) for name in names]
        X = validate_data(
            self, X, dtype="numeric", ensure_all_finite="allow-nan", reset=reset
        )
        names = getattr(self, "feature_names_in_", [f"x{i}" for i in range(X.shape[1])])
        return [
            (str(name), np.ascontiguousarray(X[:, index], dtype=np.float64))
            for index, name in enumerate(names)
        ]


def _cells(column: Any) -> np.ndarray | list[str | None]:
    """A column of a frame as float64 with NaN, or as texts with None."""
    values = column.to_numpy()
    if values.dtype.kind in "biuf":
        return np.ascontiguousarray(values, dtype=np.float64)
    missing = np.asarray(column.isna() if hasattr(column, "isna") else column.is_null())
    present = values[~missing]
    if all(isinstance(value, (bool, int, float, np.number, np.bool_)) for value in present):
        cells = np.full(len(values), np.nan)
        cells[~missing] = present.astype(np.float64)
        return cells
    return [None if gap else str(value) for value, gap in zip(values, missing)]


def _groups(groups: Any, rows: int) -> list[str]:
    values = column_or_1d(groups)
    if len(values) != rows:
        raise ValueError(f"groups holds {len(values)} values for {rows} rows")
    return [str(value) for value in values]


def _free(name: str, taken: list[str]) -> str:
    while name in taken:
        name += "_"
    return name


def _seed(random_state: Any) -> int:
    if isinstance(random_state, (int, np.integer)):
        return int(random_state)
    return int(check_random_state(random_state).randint(2**31 - 1))
