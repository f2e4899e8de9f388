"""Properties of the networks that the paper states or the library relies on."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest
import textbook
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from hyperdfs.nn.encoders import make_encoder
from hyperdfs.nn.hyper import ConcatNet, HyperNet, Output
from hyperdfs.predictors.network import NetworkPredictor
from hyperdfs.training import losses

ENCODERS = ["set_transformer", "inducing_pool", "deep_sets"]
COMPRESSED = [{}, {"compress_to": 4}, {"compress_to": 4, "compressor_sees_mask": True}]


def make_net(kind=HyperNet, *, m=6, d=None, members=1, encoder="inducing_pool", **more):
    torch.manual_seed(0)
    shape = {"token_dim": 8, "condition_dim": 6, "primary": (5,), **more}
    return kind(
        n_columns=d or m, n_features=m, n_classes=3, members=members, encoder=encoder, **shape
    )


def some_masks(n, m, share=0.5):
    return (torch.rand(n, m) < share).float()


@pytest.mark.parametrize("kind", ENCODERS)
def test_encoder_is_invariant_to_a_joint_permutation(kind):
    torch.manual_seed(0)
    encoder, _ = make_encoder(kind, 2, 9, dim=8, out_dim=6, layers=2)
    mask = some_masks(5, 9).unsqueeze(0)
    before = encoder(mask)
    order = torch.randperm(9)
    with torch.no_grad():
        for table in (encoder.tables.presence, encoder.tables.absence):
            table.copy_(table[:, order].clone())
    torch.testing.assert_close(encoder(mask[..., order]), before, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("kind", [*ENCODERS, "raw_mask"])
def test_condition_has_unit_length(kind):
    net = make_net(encoder=kind, members=2)
    mask = some_masks(20, 6)
    mask[:, 0] = 1.0  # the empty mask has no direction in `raw_mask`
    condition, _ = net.encode(mask.unsqueeze(0))
    torch.testing.assert_close(condition.norm(dim=-1), torch.ones(2, 20))


@pytest.mark.parametrize("noise", [0.0, 0.2])
def test_noise_leaves_the_clean_condition_alone(noise):
    net, mask = make_net(), some_masks(4, 6).unsqueeze(0)
    clean, code = net.encode(mask, net.noise(4, noise, torch.Generator().manual_seed(0)))
    plain, plain_code = net.encode(mask)
    torch.testing.assert_close(clean, plain)
    assert torch.equal(code, plain_code) == (noise == 0.0)


def weight_scale(pooled: torch.Tensor, *, normalise: bool) -> float:
    """E |theta|^2 over random hypernetworks (linear, as in the Proposition) for one condition."""
    head = torch.randn(400, pooled.shape[-1], 50)
    z = textbook.unit(pooled) if normalise else pooled
    return float((z.unsqueeze(-2) @ head).square().sum((-2, -1)).mean())


def test_proposition_on_the_scale_of_weights():
    """Presence tokens alone: proportional to |S|. Normalised, or with absence tokens: constant."""
    torch.manual_seed(0)
    m, dim, sizes = 64, 16, [1, 4, 16, 64]
    alone, normalised, both = [], [], []
    for size in sizes:
        presence, absence = (torch.randn(400, m, dim) / dim**0.5 for _ in range(2))
        mask = (torch.arange(m) < size).float().view(1, m, 1)
        pooled = (mask * presence).sum(1)
        alone.append(weight_scale(pooled, normalise=False))
        normalised.append(weight_scale(pooled, normalise=True))
        both.append(weight_scale(pooled + ((1 - mask) * absence).sum(1), normalise=False))
    slope = np.polyfit(np.log(sizes), np.log(alone), 1)[0]
    assert slope == pytest.approx(1.0, abs=0.1)
    for constant in (normalised, both):
        assert np.polyfit(np.log(sizes), np.log(constant), 1)[0] == pytest.approx(0.0, abs=0.05)


@pytest.mark.parametrize("kind", ENCODERS)
def test_pooled_norm_does_not_grow_with_the_subset(kind):
    torch.manual_seed(0)
    norms = []
    for _ in range(20):
        encoder, _ = make_encoder(kind, 1, 40, dim=16, out_dim=8, layers=2)
        mask = (torch.arange(40) < torch.tensor([[1], [40]])).float()
        pooled = []
        encoder.output.register_forward_pre_hook(
            lambda module, args, kept=pooled: kept.append(args[0])
        )
        encoder(mask.unsqueeze(0))
        norms.append(pooled[0][0].norm(dim=-1))
    small, large = torch.stack(norms).mean(0)
    assert 0.8 < large / small < 1.25


@pytest.mark.parametrize("primary", [(64,), (64, 64)])
def test_generated_weights_start_at_the_xavier_scale(primary):
    net = make_net(
        m=30, members=3, primary=primary, hyper_width=128, token_dim=32, condition_dim=32
    )
    _, code = net.encode(some_masks(32, 30).unsqueeze(0))
    for layer in net.layers():
        weight, bias = layer.generate(code)
        assert float(weight.detach().square().mean()) == pytest.approx(1.0 / layer.n_in, rel=0.2)
        assert not bias.any()


@pytest.mark.parametrize("n", [3, 200])
@pytest.mark.parametrize("members", [1, 2])
def test_losses_without_theta_equal_those_of_explicit_theta(members, n):
    net = make_net(members=members).double()
    for layer in net.layers():
        torch.nn.init.normal_(layer.table, std=0.3)
    condition, code = net.encode(some_masks(n, 6).double().unsqueeze(0))
    theta = [torch.cat([t.flatten(2) for t in layer.generate(code)], -1) for layer in net.layers()]
    scale = sum(
        (t.square().mean(-1) - 1.0 / layer.n_in).square().mean(1)
        for t, layer in zip(theta, net.layers(), strict=True)
    )
    torch.testing.assert_close(losses.scale_loss(net, code), scale)
    every = torch.cat(theta, -1)
    target = sum(layer.n_out for layer in net.layers()) / every.shape[-1]
    variance = every.var(1, unbiased=False).mean(-1).clamp(max=10 * target)
    spread = condition.var(1, unbiased=False).mean(-1)
    out = Output(condition, condition, code)
    torch.testing.assert_close(losses.collapse_loss(net, out), -spread - variance)


@settings(max_examples=25, deadline=None)
@given(
    kind=st.sampled_from([HyperNet, ConcatNet]),
    members=st.integers(1, 3),
    groups=st.integers(1, 5),
    rows=st.integers(1, 6),
    d=st.integers(6, 20),
    compressed=st.sampled_from(COMPRESSED),
)
def test_groups_equal_rows(kind, members, groups, rows, d, compressed):
    net = make_net(kind, members=members, d=d, **compressed).double()
    x = torch.randn(1, groups, rows, d).double()
    _, code = net.encode(some_masks(groups, 6).double().unsqueeze(0))
    grouped = net.classify_groups(x, code)
    single = net.classify_rows(x.flatten(1, 2), code.repeat_interleave(rows, 1))
    torch.testing.assert_close(grouped.flatten(1, 2), single)


@pytest.mark.parametrize("kind", [HyperNet, ConcatNet])
@pytest.mark.parametrize("compressed", COMPRESSED)
def test_specialised_layers_equal_the_network(kind, compressed):
    net = make_net(kind, members=2, **compressed)
    mask = torch.tensor([1.0, 0, 0, 1, 1, 0])
    columns = mask.nonzero().flatten()
    x = torch.randn(7, 6) * mask
    expected = net(x.unsqueeze(0), mask.expand(7, -1).unsqueeze(0)).logits
    for member, layers in enumerate(net.specialise(mask.view(1, 1, -1), columns)):
        out = x[:, columns]
        for i, (weight, bias) in enumerate(layers):
            out = (torch.relu(out) if i else out) @ weight + bias
        torch.testing.assert_close(out, expected[member], rtol=1e-4, atol=1e-5)


@settings(max_examples=40, deadline=None)
@given(
    kind=st.sampled_from([HyperNet, ConcatNet]),
    encoder=st.sampled_from(ENCODERS),
    members=st.integers(1, 2),
    distinct=st.integers(1, 30),
    n=st.integers(1, 150),
    seed=st.integers(0, 2**31),
    compressed=st.sampled_from(COMPRESSED),
)
def test_predictor_is_blind_to_how_masks_are_grouped(
    kind, encoder, members, distinct, n, seed, compressed
):
    net = make_net(kind, members=members, encoder=encoder, **compressed)
    torch.manual_seed(seed)
    pool = some_masks(distinct, 6)
    skewed = (torch.rand(n) ** 3 * distinct).long()  # groups of very different sizes
    mask = pool[skewed]
    x = torch.randn(n, 6) * mask
    together = NetworkPredictor(net).proba(x, mask)
    alone = torch.softmax(net(x.unsqueeze(0), mask.unsqueeze(0)).logits, -1).mean(0)
    torch.testing.assert_close(together, alone, rtol=1e-4, atol=1e-5)
    torch.testing.assert_close(together.sum(1), torch.ones(n))


@pytest.mark.parametrize("encoder", ENCODERS)
@pytest.mark.parametrize("embedding", [None, ([0, 1, 2, 3, 4, 5, 5, 5], 2)])
def test_predictor_follows_a_change_of_the_weights(encoder, embedding):
    d = 6 if embedding is None else 8
    net = make_net(encoder=encoder, embedding=embedding, d=d)
    predictor = NetworkPredictor(net)
    mask = some_masks(40, 6)
    x = torch.randn(40, d) * mask[:, [*range(6), *[5] * (d - 6)]]
    for rows in (slice(0, 1), slice(0, 40)):
        predictor.proba(x[rows], mask[rows])
        for parameter in net.parameters():  # one at a time: each must be noticed
            with torch.no_grad():
                parameter.add_(0.1 * torch.randn_like(parameter))
            expected = net(x[rows].unsqueeze(0), mask[rows].unsqueeze(0)).logits
            torch.testing.assert_close(
                predictor.proba(x[rows], mask[rows]), torch.softmax(expected, -1).mean(0)
            )
    optimizer = torch.optim.Adam(net.parameters(), lr=0.1, fused=True)  # as in training
    net(x.unsqueeze(0), mask.unsqueeze(0)).logits.square().sum().backward()
    optimizer.step()
    expected = net(x.unsqueeze(0), mask.unsqueeze(0)).logits
    torch.testing.assert_close(predictor.proba(x, mask), torch.softmax(expected, -1).mean(0))
    again = NetworkPredictor(pickle.loads(pickle.dumps(copy.deepcopy(net))))
    torch.testing.assert_close(predictor.proba(x, mask), again.proba(x, mask))
    net.load_state_dict({k: v + 0.1 * torch.randn_like(v) for k, v in net.state_dict().items()})
    expected = net(x.unsqueeze(0), mask.unsqueeze(0)).logits
    torch.testing.assert_close(predictor.proba(x, mask), torch.softmax(expected, -1).mean(0))
