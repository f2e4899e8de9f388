"""HyperEns: members of a small table are trained one by one, those of others together."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from hyperdfs import fitting
from hyperdfs.lessons import make_lesson
from small_tables import fit, mixed, numbers

MEMBERS = 3


@pytest.fixture(scope="module")
def table():
    return mixed(120)


@pytest.fixture(scope="module")
def ensemble(table):
    return fit(*table, max_budget=3, n_members=MEMBERS, random_state=5)


def weights(model, part):
    return model._state.model.modules[part].state_dict()


def test_the_first_member_and_the_selector_are_those_of_hyper_dfs(table, ensemble):
    single = fit(*table, max_budget=3, random_state=5)
    for name, value in weights(single, "predictor").items():
        assert torch.equal(weights(ensemble, "predictor")[name][:1], value), name
    for name, value in weights(single, "selector").items():
        assert torch.equal(weights(ensemble, "selector")[name], value), name


def test_every_member_is_another_one(ensemble):
    for name, value in weights(ensemble, "predictor").items():
        assert value.shape[0] == MEMBERS, name
    trained = weights(ensemble, "predictor")["hidden.weight"]
    assert all(not torch.equal(trained[0], other) for other in trained[1:])


def test_the_others_learn_what_the_selector_buys(table, ensemble):
    """Stage 2 goes on for every member, and changes it."""
    stages = {(row["member"], row["stage"]) for row in ensemble.history_}
    assert stages == {(member, stage) for member in range(MEMBERS) for stage in (1, 2)}
    short = fit(
        *table, max_budget=3, n_members=MEMBERS, random_state=5, config={"stage2_lr": 1e-12}
    )
    name = "hidden.weight"
    moved = weights(ensemble, "predictor")[name] - weights(short, "predictor")[name]
    assert (moved.abs().amax((1, 2)) > 1e-6).all()


def test_each_member_is_judged_by_rows_that_others_learn_from(table, monkeypatch):
    lessons = []

    def spy(*args, **options):
        lessons.append(make_lesson(*args, **options))
        return lessons[-1]

    monkeypatch.setattr(fitting, "make_lesson", spy)
    fit(*table, max_budget=3, n_members=MEMBERS, config={"teacher_weight": 0.5})
    assert len(lessons) == MEMBERS
    for lesson in lessons:
        rows = np.sort(np.concatenate([lesson.train, lesson.valid]))
        np.testing.assert_array_equal(rows, np.arange(len(table[1])))
    assert len({tuple(lesson.valid) for lesson in lessons}) == MEMBERS
    first, second = (lesson.train_target.taught for lesson in lessons[:2])
    assert not np.array_equal(first, second)


def test_the_mean_of_the_members_predicts(table, ensemble):
    X, _ = table
    state, (values, observed) = ensemble._encode(X, impute=False)
    x, mask = (torch.as_tensor(a, dtype=torch.float32) for a in (values, observed))
    net = state.model.modules["predictor"]
    each = torch.softmax(net(x.unsqueeze(0), mask.unsqueeze(0)).logits, -1)
    np.testing.assert_allclose(ensemble.predict_proba(X), each.mean(0).detach(), atol=1e-6)


def test_same_seed_same_members(table, ensemble):
    again = fit(*table, max_budget=3, n_members=MEMBERS, random_state=5)
    np.testing.assert_array_equal(again.predict_proba(table[0]), ensemble.predict_proba(table[0]))


def test_progress_adds_up_over_the_members(table, monkeypatch):
    """One bar per stage that never runs backwards, and ends where it should."""
    seen = {}

    def watch(stage, done, total):
        assert done >= seen.get(stage, (0, total))[0] or stage == "teacher"
        assert total == seen.get(stage, (0, total))[1]
        seen[stage] = (done, total)

    class Watched:
        def __enter__(self):
            return watch

        def __exit__(self, *_):
            return None

    monkeypatch.setattr("hyperdfs.estimator.show_progress", lambda verbose: Watched())
    fit(*table, max_budget=3, n_members=MEMBERS)
    assert seen["predictor"] == (3 * MEMBERS, 3 * MEMBERS)
    assert seen["selector"] == (2 * MEMBERS, 2 * MEMBERS)


@pytest.mark.parametrize("reason", ["many validation rows", "many features"])
def test_members_of_other_tables_are_trained_together(monkeypatch, reason):
    where = {"many validation rows": ("FEW", 2), "many features": ("WIDE", 3)}[reason]
    monkeypatch.setattr(f"hyperdfs.methods.hyperens.{where[0]}", where[1])
    X, y = numbers(60)
    model = fit(X, y, max_budget=2, n_members=2)
    assert all("member" not in row for row in model.history_)


def test_a_table_too_small_for_a_split_has_members_too():
    X, y = numbers(24)
    model = fit(X, y, max_budget=2, n_members=2)
    assert weights(model, "predictor")["hidden.weight"].shape[0] == 2
