"""Learned inputs per feature."""

from __future__ import annotations

import numpy as np
import torch
from hypothesis import given
from hypothesis import strategies as st

from hyperdfs.nn.embedding import GroupEmbedding, cosine_waves
from hyperdfs.nn.hyper import HyperNet


@given(
    sizes=st.lists(st.integers(1, 6), min_size=1, max_size=5),
    dim=st.integers(1, 4),
    members=st.integers(1, 3),
)
def test_a_feature_feeds_its_own_inputs_only(sizes, dim, members):
    group = np.repeat(np.arange(len(sizes)), sizes)
    layer = GroupEmbedding(members, group, dim)
    with torch.no_grad():
        layer.weight.normal_()  # whatever training makes of it
    width = [min(dim, size) for size in sizes]
    for feature in range(len(sizes)):
        x = torch.zeros(1, 1, len(group))
        x[..., torch.as_tensor(group == feature)] = 1.0
        out = layer(x)[:, 0]
        own = np.repeat(np.arange(len(sizes)), width) == feature
        assert out.shape == (members, sum(width))
        assert not out[:, ~own].any()
        assert out[:, own].all()


def test_tiles_are_the_whole_matrix():
    sizes = [1, 30, 4] * 20
    layer = GroupEmbedding(2, np.repeat(np.arange(len(sizes)), sizes), 8)
    with torch.no_grad():
        layer.weight.normal_()
    assert len(layer.tiles) > 3
    x = torch.randn(1, 5, sum(sizes))
    weight, bias = layer.affine()[0]
    torch.testing.assert_close(layer(x), x @ weight + bias, atol=1e-5, rtol=1e-5)


def test_whole_matrices_of_older_files_can_be_read():
    before, after = (GroupEmbedding(2, [0, 0, 0, 1], 2) for _ in range(2))
    with torch.no_grad():
        before.weight.normal_()
    after.load_state_dict({"weight": before.affine()[0][0].detach()})
    assert torch.equal(after.weight, before.weight)


def test_it_starts_with_the_first_column_of_each_feature():
    layer = GroupEmbedding(2, [0, 0, 0, 1], 2)
    x = torch.randn(1, 5, 4)
    out = layer(x)
    assert torch.equal(out[:, :, 0], x[..., 0].expand(2, -1))
    assert torch.equal(out[:, :, 2], x[..., 3].expand(2, -1))


def test_quantile_columns_become_orthogonal_cosines():
    """Columns as the preprocessor makes them of a uniform number: bins, variance 1, mean 0."""
    u, n = torch.linspace(0.0, 1.0, 4001), 24
    bins = (u.unsqueeze(1) * n - torch.arange(n)).clamp(0.0, 1.0)
    columns = (bins - bins.mean(0)) / bins.std(0)
    waves = columns @ cosine_waves(n, 4)
    for k in range(1, 5):
        expected = np.sqrt(2.0) * torch.cos(np.pi * k * u)
        assert torch.corrcoef(torch.stack([waves[:, k - 1], expected]))[0, 1] > 0.999
    products = waves.T @ waves / len(u)
    assert torch.allclose(products, torch.eye(4), atol=0.1)


def test_specialised_layers_include_the_embedding():
    torch.manual_seed(0)
    net = HyperNet(
        n_columns=7, n_features=3, n_classes=2, members=2, embedding=([0, 0, 0, 1, 2, 2, 2], 2)
    )
    mask, known = torch.tensor([[[1.0, 0.0, 1.0]]]), torch.tensor([0, 1, 2, 4, 5, 6])
    x = torch.randn(4, 7)
    x[:, 3] = 0.0
    expected = net(x.unsqueeze(0), mask.expand(-1, 4, -1)).logits
    for member, layers in enumerate(net.specialise(mask, known)):
        out = x[:, known]
        for i, (weight, bias) in enumerate(layers):
            out = (out.relu() if i else out) @ weight + bias
        torch.testing.assert_close(out, expected[member], atol=1e-5, rtol=1e-5)
