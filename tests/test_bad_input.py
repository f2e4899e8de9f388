"""What a user can get wrong, and the one sentence that tells how to put it right."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.exceptions import NotFittedError

from hyperdfs import DFSClassifier, HyperDFSClassifier
from hyperdfs.errors import InputError
from small_tables import TINY, fit, mixed, numbers

X, Y = numbers(40)
MIXED, LABELS = mixed(60)
CUBE = np.zeros((4, 3, 2))
DATES = pd.Series(pd.date_range("2020", periods=2)).iloc[np.arange(40) % 2].to_numpy()


@pytest.fixture(scope="module")
def clf():
    return fit(MIXED, LABELS, max_budget=2, groups={"body": ["age", "height"]})


def holed(value):
    """The numbers with one cell replaced."""
    array = X.astype(object if isinstance(value, str | list | dict) else type(value))
    array[3, 1] = value
    return array


def named(**columns):
    return MIXED.assign(**columns)


# What is wrong, the call on (clf), and what the message has to say.
CASES = [
    # The table
    ("1-D X", lambda c: fit(X[:, 0], Y), ["Expected 2D array", "reshape(-1, 1)"]),
    ("3-D X", lambda c: fit(CUBE, [0, 1, 0, 1]), ["dim 3", "flatten"]),
    ("no rows", lambda c: fit(X[:0], Y[:0]), ["0 sample(s)"]),
    ("no columns", lambda c: fit(X[:, :0], Y), ["0 feature(s)"]),
    ("ragged rows", lambda c: fit([[1, 2], [3]], [0, 1]), ["same length", "pad"]),
    ("sparse X", lambda c: fit(sparse.csr_matrix(X), Y), ["Sparse", "toarray"]),
    ("complex X", lambda c: fit(X.astype(complex), Y), ["Complex data not supported", "split"]),
    ("infinity", lambda c: fit(holed(np.inf), Y), ["row 3", "'x1'", "infinity", "NaN"]),
    ("a huge number", lambda c: fit(holed(1e200), Y), ["beyond 1e+100", "1e+200"]),
    (
        "a table without values",
        lambda c: fit(np.nan * X, Y),
        ["some training row", "'x0'", "check how"],
    ),
    (
        "dates",
        lambda c: fit(named(age=pd.Timestamp("2020-01-01")), LABELS),
        ["'age'", "datetime64", "days since"],
    ),
    (
        "lists in cells",
        lambda c: fit(named(job=[["a"]] * len(MIXED)), LABELS),
        ["'job'", "list", "split it"],
    ),
    (
        "two columns of one name",
        lambda c: fit(pd.DataFrame(X[:, :2], columns=["a", "a"]), Y),
        ["unique", "'a'", "rename"],
    ),
    (
        "names of two types",
        lambda c: fit(pd.DataFrame(X[:, :2], columns=["a", 1]), Y),
        ["all strings or all integers", "rename"],
    ),
    # The labels
    ("no y", lambda c: fit(X, None), ["requires y", "one label per row"]),
    ("one class", lambda c: fit(X, np.ones(40)), ["two classes", "1.0", "add rows"]),
    ("NaN in y", lambda c: fit(X, np.where(Y, 1.0, np.nan)), ["NaN", "row", "drop"]),
    ("None in y", lambda c: fit(X, [None, *["a", "b"] * 19, "a"]), ["row 0", "drop"]),
    ("NA in y", lambda c: fit(X, pd.Series([pd.NA, *Y[1:]], dtype="Int64")), ["row 0", "drop"]),
    ("infinity in y", lambda c: fit(X, np.where(Y, 1.0, np.inf)), ["finite labels", "row"]),
    ("y too short", lambda c: fit(X, Y[:5]), ["one length", "40", "5", "align"]),
    ("y of two columns", lambda c: fit(X, X[:, :2]), ["1d array", "(40, 2)"]),
    ("y of measurements", lambda c: fit(X, X[:, 0]), ["whole numbers", "pd.cut", "astype(str)"]),
    ("y of intervals", lambda c: fit(X, pd.cut(X[:, 0], 2)), ["Interval(", "y.astype(str)"]),
    ("y of dates", lambda c: fit(X, DATES), ["text, whole numbers or booleans", "astype(str)"]),
    ("y of two types", lambda c: fit(X, np.array([1, "a"] * 20, object)), ["one type", "astype"]),
    # Weights
    ("a negative weight", lambda c: fit(X, Y, Y - 0.5), ["negative", "-0.5", "use 0"]),
    ("weights of zero", lambda c: fit(X, Y, 0 * Y), ["positive", "zeros", "leave it out"]),
    ("too few weights", lambda c: fit(X, Y, [1, 2]), ["sample_weight", "40 rows", "(2,)"]),
    ("weights of NaN", lambda c: fit(X, Y, Y * np.nan), ["sample_weight", "finite", "NaN"]),
    ("weights of text", lambda c: fit(X, Y, ["a"] * 40), ["sample_weight", "number", "'a'"]),
    # Prices and groups
    ("a negative cost", lambda c: fit(X, Y, costs=[1, -2, 1, 1]), ["'x1'", "at least 0", "-2"]),
    ("a cost of NaN", lambda c: fit(X, Y, costs=[1, np.nan, 1, 1]), ["'x1'", "finite", "nan"]),
    ("too few costs", lambda c: fit(X, Y, costs=[1, 2]), ["one value per feature (4)", "got 2"]),
    (
        "the cost of an unknown feature",
        lambda c: fit(X, Y, costs={"x0": 1, "x1": 1, "x2": 1, "x3": 1, "x33": 1}),
        ["unknown feature 'x33'", "did you mean"],
    ),
    ("a cost left out", lambda c: fit(X, Y, costs={"x0": 1}), ["every feature", "'x1'", "add"]),
    (
        "groups as a Series",
        lambda c: fit(MIXED, LABELS, groups=pd.Series({"age": "body", "height": "body"})),
        ["map a name to its columns", "Series", "write e.g."],
    ),
    (
        "a group of an unknown column",
        lambda c: fit(MIXED, LABELS, groups={"g": ["agge"]}),
        ["'g'", "'agge'", "did you mean 'age'"],
    ),
    (
        "a column in two groups",
        lambda c: fit(MIXED, LABELS, groups={"g": ["age"], "h": ["age", "job"]}),
        ["one group only", "'age'", "'g'", "'h'"],
    ),
    ("a group of nothing", lambda c: fit(X, Y, groups={"g": None}), ["list its columns", "None"]),
    ("groups as a list", lambda c: fit(X, Y, groups=[["x0", "x1"]]), ["map a name", "list"]),
    # Parameters
    ("max_budget 0", lambda c: fit(X, Y, max_budget=0), ["max_budget", "at least 1", "got 0"]),
    ("max_budget 2.5", lambda c: fit(X, Y, max_budget=2.5), ["whole number", "2.5"]),
    ("max_budget True", lambda c: fit(X, Y, max_budget=True), ["whole number", "True"]),
    ("n_members 0", lambda c: fit(X, Y, n_members=0), ["n_members", "at least 1", "got 0"]),
    (
        "an unknown method",
        lambda c: DFSClassifier("magic").fit(X, Y),
        ["method", "hyperdfs", "random", "'magic'"],
    ),
    ("an unknown preset", lambda c: fit(X, Y, preset="best"), ["default, paper", "'best'"]),
    ("an unknown device", lambda c: fit(X, Y, device="toaster"), ["'cpu'", "'toaster'"]),
    ("a device without data", lambda c: fit(X, Y, device="meta"), ["'cpu'", "'meta'"]),
    ("no device", lambda c: fit(X, Y, device=None), ["'auto'", "None"]),
    (
        "negative epochs",
        lambda c: fit(X, Y, config={"stage1_epochs": -1}),
        ["'stage1_epochs'", "-1", "greater than or equal to 1"],
    ),
    (
        "an unknown encoder",
        lambda c: fit(X, Y, config={"encoder": "lstm"}),
        ["'encoder'", "'lstm'", "set_transformer"],
    ),
    (
        "bins in the paper's style",
        lambda c: fit(X, Y, preset="paper", config={"n_bins": 4}),
        ["paper", "n_bins=4", "None"],
    ),
    ("a seed of text", lambda c: fit(X, Y, random_state="a"), ["random_state", "number", "'a'"]),
    ("a negative seed", lambda c: fit(X, Y, random_state=-1), ["random_state", "-1"]),
    # A fitted model and another table
    (
        "a column that training had not",
        lambda c: c.predict(named(weight=1)),
        ["feature names should match", "unseen at fit time", "weight"],
    ),
    (
        "a column left out",
        lambda c: c.predict_proba(MIXED.drop(columns="job")),
        ["feature names should match", "now missing", "job"],
    ),
    ("text for a number", lambda c: c.predict(named(age="old")), ["'age'", "number", "'old'"]),
    # Purchases
    ("budget 0", lambda c: c.acquire(MIXED, 0), ["budget", "at least 1", "got 0"]),
    ("budget 1.5", lambda c: c.acquire(MIXED, 1.5), ["whole number", "1.5"]),
    ("a selector by name", lambda c: c.acquire(MIXED, selector="random"), ["scores", "'random'"]),
    ("known by one name", lambda c: c.acquire(MIXED, known="age"), ["a list", "'age'"]),
    ("known of no feature", lambda c: c.acquire(MIXED, known=["bode"]), ["'bode'", "'body'"]),
    (
        "known with a column that is no feature",
        lambda c: c.acquire(MIXED, known=MIXED.drop(columns="height").notna()),
        ["'age'", "part of 'body'"],
    ),
    (
        "known without a column for each feature",
        lambda c: c.acquire(MIXED, known=MIXED[["job", "grade"]].notna()),
        ["one column for each feature", "'job', 'grade'", "'smoker'"],
    ),
    ("half of a group known", lambda c: c.acquire(MIXED, known=["age"]), ["part of 'body'"]),
    (
        "a known mask of another shape",
        lambda c: c.acquire(MIXED, known=np.ones((60, 4), bool)),
        ["60 rows", "5 features", "(60, 4)"],
    ),
    (
        "a known mask of numbers",
        lambda c: c.acquire(MIXED, known=np.ones((60, 5))),
        ["boolean", "float64"],
    ),
    ("masks beyond the run", lambda c: c.acquire(MIXED, 2).masks(3), ["2 purchases", "got 3"]),
    ("masks of a half", lambda c: c.acquire(MIXED, 2).masks(0.5), ["whole number", "0.5"]),
    ("no budgets", lambda c: c.auac(MIXED, LABELS, []), ["budgets", "5 features", "got []"]),
    ("a negative budget", lambda c: c.auac(MIXED, LABELS, [-1, 2]), ["between 0", "[-1, 2]"]),
    ("budgets of halves", lambda c: c.auac(MIXED, LABELS, [2.5]), ["whole numbers", "[2.5]"]),
    ("budgets too large", lambda c: c.auac(MIXED, LABELS, [6, 7]), ["5 features", "[6, 7]"]),
    (
        "an unknown metric",
        lambda c: c.acquisition_curve(MIXED, LABELS, [2], metric="f2"),
        ["f1_macro, accuracy", "log_loss", "'f2'"],
    ),
    (
        "an unknown label in the test",
        lambda c: c.auac(MIXED, np.where(LABELS == "sick", "ill", LABELS)),
        ["'sick', 'well'", "'ill'", "drop"],
    ),
    ("labels of another type", lambda c: c.auac(MIXED, np.zeros(60, int)), ["'sick'", "got 0"]),
    ("no label in the test", lambda c: c.auac(MIXED, [None] * 60), ["row 0", "drop"]),
    ("too few labels", lambda c: c.auac(MIXED, LABELS[:9]), ["one length", "60", "9"]),
    ("a file by number", lambda c: c.save(3), ["by its path", "3"]),
    # One case
    ("an unknown feature", lambda c: c.start_case(jobb="cook"), ["'jobb'", "mean 'job'"]),
    ("a case of a list", lambda c: c.start_case([1, 2]), ["by feature name", "list", "keywords"]),
    ("a position too high", lambda c: c.start_case().observe(9, 1), ["0..4", "got 9"]),
    (
        "observed twice",
        lambda c: c.start_case(job="cook").observe("job", "coach"),
        ["'job'", "already known", "undo()"],
    ),
    (
        "observed after a skip",
        lambda c: c.start_case().skip("job").observe("job", "cook"),
        ["'job'", "skipped", "undo()"],
    ),
    ("an unreadable number", lambda c: c.start_case(visits="many"), ["'visits'", "'many'"]),
    ("an unreadable boolean", lambda c: c.start_case(smoker="maybe"), ["true or false", "maybe"]),
    ("an infinite value", lambda c: c.start_case(visits=np.inf), ["'visits'", "infinity", "NaN"]),
    ("one number for a group", lambda c: c.start_case(body=3), ["2 columns", "'age'", "mapping"]),
    ("a set for a group", lambda c: c.start_case(body={50, 170}), ["2 columns", "or a list"]),
    (
        "an unknown column of a group",
        lambda c: c.start_case(body={"weight": 80}),
        ["'body'", "'weight'", "mean 'height'"],
    ),
    ("k of 0", lambda c: c.start_case().recommend(0), ["k must", "at least 1", "got 0"]),
    ("k of a half", lambda c: c.start_case().recommend(1.5), ["whole number", "1.5"]),
    ("nothing to undo", lambda c: c.start_case().undo(), ["undo", "no step"]),
    # Export
    ("specialise nothing", lambda c: c.specialise([]), ["at least one feature", "'body'"]),
    ("specialise a name", lambda c: c.specialise("job"), ["list", "'job'"]),
    ("specialise a number", lambda c: c.specialise(3), ["list", "got 3"]),
    ("specialise the unknown", lambda c: c.specialise(["jobb"]), ["'jobb'", "mean 'job'"]),
]


@pytest.mark.parametrize(("call", "fragments"), [c[1:] for c in CASES], ids=[c[0] for c in CASES])
def test_the_message_says_what_is_wrong(clf, call, fragments):
    with pytest.raises(InputError) as caught:
        call(clf)
    message = str(caught.value)
    for fragment in fragments:
        assert fragment in message
    assert len(message) < 300


def test_the_cases_have_names_of_their_own():
    names = [name for name, _, _ in CASES]
    assert len(set(names)) == len(names) > 25


def test_a_wrong_number_of_columns():
    model = fit(X, Y, max_budget=1)
    with pytest.raises(InputError, match="X has 3 features, but HyperDFSClassifier is expecting 4"):
        model.predict(X[:, :3])


@pytest.mark.parametrize(
    "use",
    [
        lambda c: c.predict(X),
        lambda c: c.predict_proba(X),
        lambda c: c.acquire(X),
        lambda c: c.acquisition_curve(X, Y),
        lambda c: c.auac(X, Y),
        lambda c: c.start_case(),
        lambda c: c.specialise([0]),
        lambda c: c.save("nowhere.hdfs"),
    ],
)
def test_use_before_fit(use):
    with pytest.raises(NotFittedError, match="not fitted yet"):
        use(HyperDFSClassifier())


def test_a_refused_fit_leaves_the_model_as_it_was():
    model = fit(X, Y, max_budget=1)
    before = model.predict_proba(X)
    for bad in (Y[:3], np.ones(40)):
        with pytest.raises(InputError):
            model.fit(X, bad)
    np.testing.assert_array_equal(model.predict_proba(X), before)


def test_what_only_looks_wrong_is_fine():
    """A constant column, text for numbers in objects, one row to predict, a budget above M."""
    table = MIXED.assign(one=1, text=MIXED.height.astype(str))
    model = HyperDFSClassifier(99, config=TINY).fit(table, LABELS)
    assert model.max_budget_ == 8
    assert model.predict(table[:1]).shape == (1,)
    assert model.acquire(table, budget=50).budget == 8
