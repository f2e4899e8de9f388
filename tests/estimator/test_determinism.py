"""Same seed, same model, and nothing else is touched."""

from __future__ import annotations

import numpy as np
import torch

from small_tables import fit, mixed, numbers


def test_same_seed_same_model_other_seed_other_model():
    X, y = mixed(40)
    first, again, other = (
        fit(X, y, max_budget=2, random_state=s, config={"teacher_weight": 0.5}) for s in (3, 3, 4)
    )
    np.testing.assert_array_equal(first.predict_proba(X), again.predict_proba(X))
    np.testing.assert_array_equal(first.acquire(X).order, again.acquire(X).order)
    assert first.history_ == again.history_
    assert not np.array_equal(first.predict_proba(X), other.predict_proba(X))


def test_global_random_states_are_left_alone():
    torch.manual_seed(1)
    np.random.seed(1)
    before = torch.get_rng_state(), np.random.get_state()[1].copy()
    X, y = numbers(30)
    clf = fit(X, y, max_budget=2, config={"teacher_weight": 0.5})
    clf.acquire(X)
    assert torch.equal(torch.get_rng_state(), before[0])
    np.testing.assert_array_equal(np.random.get_state()[1], before[1])
    torch.manual_seed(2)
    np.random.seed(2)
    again = fit(X, y, max_budget=2, config={"teacher_weight": 0.5})
    np.testing.assert_array_equal(clf.predict_proba(X), again.predict_proba(X))


def test_the_number_of_threads_does_not_matter():
    """Every fit runs on one thread, and the caller's setting comes back."""
    X, y = numbers(600, m=20)
    threads = torch.get_num_threads()
    weights = []
    try:
        for n in (1, 2):
            torch.set_num_threads(n)
            clf = fit(X, y, max_budget=2)
            assert torch.get_num_threads() == n
            modules = clf._state.model.modules
            weights.append({k: m.state_dict() for k, m in modules.items()})
    finally:
        torch.set_num_threads(threads)
    for name, state in weights[0].items():
        for key, value in state.items():
            assert torch.equal(value, weights[1][name][key]), (name, key)


def test_a_random_state_generator_is_used_up():
    X, y = numbers()
    state = np.random.RandomState(0)
    first, second = fit(X, y, random_state=state), fit(X, y, random_state=state)
    assert not np.array_equal(first.predict_proba(X), second.predict_proba(X))
