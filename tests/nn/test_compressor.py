"""The compressor of images against a plain network on columns and mask."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from hyperdfs.config import make_config
from hyperdfs.methods.base import Shape
from hyperdfs.methods.hyper import build_net, stage2_lr
from hyperdfs.nn.compressor import Compressor
from hyperdfs.nn.hyper import ConcatNet, HyperNet


@settings(deadline=None)
@given(members=st.integers(1, 3), n=st.integers(1, 6), d=st.integers(1, 9), m=st.integers(1, 5))
def test_the_mask_is_an_input_like_the_columns(members: int, n: int, d: int, m: int) -> None:
    net = Compressor(members, d, m, 4, sees_mask=True).double()
    x, mask = torch.randn(1, n, d).double(), torch.randn(1, n, m).double()
    (first, bias), (last, last_bias) = net.affine()
    weight = torch.cat([first, net.mask.weight], 1)  # type: ignore[union-attr]
    both = torch.cat([x, mask], -1).expand(members, -1, -1)
    hidden = torch.relu(both @ weight + bias + net.mask.bias)  # type: ignore[union-attr]
    torch.testing.assert_close(net(x, net.shift(mask)), hidden @ last + last_bias)


@pytest.mark.parametrize("kind", [HyperNet, ConcatNet])
@pytest.mark.parametrize("sees_mask", [False, True])
def test_a_black_patch_is_not_an_unknown_one(
    kind: type[HyperNet | ConcatNet], sees_mask: bool
) -> None:
    """The inputs of the classifier differ when the same zeros become known, if it sees the mask."""
    torch.manual_seed(0)
    net = kind(
        n_columns=6, n_features=3, n_classes=2, compress_to=4, compressor_sees_mask=sees_mask
    )
    x = torch.tensor([[[1.0, 2.0, 0, 0, 0, 0]]])
    masks = torch.tensor([[[1.0, 0, 0], [1.0, 1.0, 0]]])
    code = net.encode(masks)[1]
    inputs, own = net._compress(x.expand(1, 2, -1), code)
    assert torch.equal(inputs[:, 0], inputs[:, 1]) != sees_mask
    assert torch.equal(own, net.code(net.encode(masks)[0]))
    assert torch.equal(net(x.expand(1, 2, -1), masks).code, own)


def test_the_mask_has_a_gradient_through_the_compressor() -> None:
    """A purchase that only tells the compressor that a patch is black is worth something."""
    torch.manual_seed(0)
    net = HyperNet(n_columns=6, n_features=3, n_classes=2, compress_to=4, compressor_sees_mask=True)
    mask = torch.ones(1, 1, 3, requires_grad=True)
    code = net.encode(mask)[1]
    inputs, _ = net._compress(torch.zeros(1, 1, 6), code)
    inputs.sum().backward()
    assert bool((mask.grad != 0).any())


@pytest.mark.parametrize(("preset", "inputs", "shift"), [("default", 128, 256), ("paper", 16, 0)])
def test_pixels_get_the_compressor_of_the_preset(preset: str, inputs: int, shift: int) -> None:
    pixels = Shape(tuple(np.repeat(range(4), 9).tolist()), 4, 10, pixels=True)
    config = make_config(preset)
    compressor = build_net(pixels, config, 1).compressor
    assert isinstance(compressor, Compressor)
    assert (compressor.n_out, compressor.shift_width) == (inputs, shift)
    assert stage2_lr(config, pixels) == (3e-3 if preset == "default" else 1e-3)
    table = replace(pixels, pixels=False)
    assert not isinstance(build_net(table, config, 1).compressor, Compressor)
    assert stage2_lr(config, table) == (3e-4 if preset == "default" else 1e-3)
