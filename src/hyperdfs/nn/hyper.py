"""The hypernetwork and the primary network whose weights it generates."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from hyperdfs.nn.compressor import Compressor
from hyperdfs.nn.embedding import GroupEmbedding
from hyperdfs.nn.encoders import make_encoder
from hyperdfs.nn.members import MemberLinear, MemberMLP
from hyperdfs.nn.products import Gram, RowProduct


class Output(NamedTuple):
    """What the losses need of one pass over n masks (or samples, one mask each)."""

    logits: Tensor
    condition: Tensor  # z̃ without noise, (E, n, d')
    code: Tensor  # [hidden vector of the hypernetwork, 1], (E, n, H + 1)


class HyperLinear(nn.Module):
    """A layer of the primary network: its weights are ``theta = code · table``, never stored.

    Row ``n_in`` of the table generates the bias (its input is the constant 1), entry H of a row is
    the head's own bias (its code is the constant 1).

    **Shape**: table ``(E, n_in + 1, H + 1, n_out)``
    """

    def __init__(self, members: int, hyper_width: int, n_in: int, n_out: int) -> None:
        super().__init__()
        table = torch.zeros(members, n_in + 1, hyper_width + 1, n_out)
        # Hyperfan-in (Chang et al. 2020): the codes have second moment 1/2 per unit, so this gives
        # generated weights of variance 1 / n_in and biases of 0.
        table[:, :-1, :-1].normal_(std=math.sqrt(2.0 / (n_in * hyper_width)))
        self.table = nn.Parameter(table)
        self.n_in, self.n_out = n_in, n_out

    def forward(self, x: Tensor, code: Tensor) -> Tensor:
        """One mask per row: ``(E or 1, n, n_in), (E, n, H + 1) -> (E, n, n_out)``."""
        one = x.new_ones(1).expand(*x.shape[:2], 1)
        y: Tensor = RowProduct.apply(torch.cat([x, one], -1), code, self.table)
        return y

    def grouped(self, x: Tensor, code: Tensor) -> Tensor:
        """K masks, b rows each: ``(E or 1, K, b, n_in), (E, K, H + 1) -> (E, K, b, n_out)``."""
        weight, bias = self.generate(code)
        return torch.matmul(x, weight) + bias

    def generate(self, code: Tensor) -> tuple[Tensor, Tensor]:
        """The weights of K masks: ``(E, K, n_in, n_out)`` and ``(E, K, 1, n_out)``."""
        theta = torch.matmul(code.unsqueeze(1), self.table).transpose(1, 2)
        return theta[:, :, :-1], theta[:, :, -1:]

    def gram(self) -> Tensor:
        """``G`` with ``|theta|^2 = code' G code``, so that norms need no theta: (E, H+1, H+1)."""
        gram: Tensor = Gram.apply(self.table)
        return gram


class SubsetNet(nn.Module, ABC):
    """A classifier of any subset of features, for E members: mask -> code, (x, code) -> logits.

    x carries zeros where nothing is observed. Masks repeat, so the code is computed per distinct
    mask and then serves one row (`rows`) or a group of rows (`groups`).
    """

    def __init__(
        self,
        *,
        n_columns: int,
        n_features: int,
        n_classes: int,
        members: int = 1,
        encoder: str = "set_transformer",
        encoder_layers: int = 2,
        token_dim: int = 32,
        condition_dim: int = 32,
        compress_to: int | None = None,
        compressor_sees_mask: bool = False,
        embedding: tuple[Sequence[int], int] | None = None,
    ) -> None:
        """embedding : (feature of each column, inputs per feature) puts a `GroupEmbedding` before
        the classifier; compress_to : puts a `Compressor` there."""
        super().__init__()
        self.members, self.n_classes = members, n_classes
        self.encoder, self.condition_dim = make_encoder(
            encoder,
            members,
            n_features,
            dim=token_dim,
            out_dim=condition_dim,
            layers=encoder_layers,
        )
        self.compressor: Compressor | GroupEmbedding | None = None
        if embedding is not None:
            self.compressor = GroupEmbedding(members, *embedding)
        if compress_to is not None:
            self.compressor = Compressor(
                members, n_columns, n_features, compress_to, sees_mask=compressor_sees_mask
            )
        self.n_inputs = n_columns if self.compressor is None else self.compressor.n_out

    @abstractmethod
    def code(self, condition: Tensor) -> Tensor:
        """Unit condition vectors -> what the classifier is built from, ``(E, n, anything)``."""

    @abstractmethod
    def classify_rows(self, x: Tensor, code: Tensor) -> Tensor:
        """``(E or 1, n, D), (E, n, ...) -> (E, n, C)``"""

    @abstractmethod
    def classify_groups(self, x: Tensor, code: Tensor) -> Tensor:
        """``(E or 1, K, b, D), (E, K, ...) -> (E, K, b, C)``"""

    @abstractmethod
    def classifier_layers(self, code: Tensor) -> list[tuple[Tensor, Tensor]]:
        """The classifier of one mask, ``(E, 1, ...)``, as weights (E, n_in, n_out) and biases
        (E, 1, n_out) on top of the compressor."""

    def specialise(self, mask: Tensor, columns: Tensor) -> list[list[tuple[Tensor, Tensor]]]:
        """Per member the layers of the classifier of one mask, for the known columns alone.

        Unknown inputs are 0, so their rows of the first layer can go.
        """
        code, shift = self._parts(self.encode(mask)[1])
        layers = self.classifier_layers(code)
        if self.compressor is not None:
            # No ReLU follows the compressor's last layer: it merges with the one after it.
            *before, (weight, bias) = self.compressor.affine()
            if shift is not None:
                before[0] = (before[0][0], before[0][1] + shift)
            merged = (weight @ layers[0][0], bias @ layers[0][0] + layers[0][1])
            layers = [*before, merged, *layers[1:]]
        layers[0] = (layers[0][0][:, columns], layers[0][1])
        return [[(w[e], b[e, 0]) for w, b in layers] for e in range(self.members)]

    def noise(self, n: int, size: float, generator: torch.Generator | None) -> Tensor:
        """What shakes the z of n masks in training, drawn on the CPU; ``(E, n, d')``."""
        shape = (self.members, n, self.condition_dim)
        return size * torch.randn(shape, generator=generator) if size else torch.zeros(shape)

    def encode(self, mask: Tensor, noise: Tensor | None = None) -> tuple[Tensor, Tensor]:
        """z̃ and the code. Noise shakes z *before* normalisation and reaches the code only.

        The shift of a compressor that sees the mask goes along at the end of the code.
        """
        z: Tensor = self.encoder(mask).expand(self.members, -1, -1)
        clean = unit(z)
        code = self.code(clean if noise is None else unit(z + noise.to(z)))
        if isinstance(self.compressor, Compressor) and self.compressor.shift_width:
            code = torch.cat([code, self.compressor.shift(mask)], -1)
        return clean, code

    def forward(self, x: Tensor, mask: Tensor) -> Output:
        """One mask per row: ``(E or 1, n, D), (E or 1, n, M) -> (E, n, C)``."""
        return self.rows(x, *self.encode(mask))

    def grouped(self, x: Tensor, masks: Tensor) -> Output:
        """K masks, b rows each: ``(E or 1, K, b, D), (E or 1, K, M) -> (E, K, b, C)``."""
        return self.groups(x, *self.encode(masks))

    def rows(self, x: Tensor, condition: Tensor, code: Tensor) -> Output:
        """`forward` of masks that are encoded."""
        return Output(self.classify_rows(x, code), condition, self._parts(code)[0])

    def groups(self, x: Tensor, condition: Tensor, code: Tensor) -> Output:
        """`grouped` of masks that are encoded."""
        return Output(self.classify_groups(x, code), condition, self._parts(code)[0])

    def _parts(self, code: Tensor) -> tuple[Tensor, Tensor | None]:
        """The classifier's code, and the compressor's shift if it has one."""
        if not isinstance(self.compressor, Compressor) or not self.compressor.shift_width:
            return code, None
        width = self.compressor.shift_width
        return code[..., :-width], code[..., -width:]

    def _compress(self, x: Tensor, code: Tensor) -> tuple[Tensor, Tensor]:
        """What the classifier takes in, and its own part of the code."""
        own, shift = self._parts(code)
        if isinstance(self.compressor, Compressor):
            return self.compressor(x, shift), own
        if self.compressor is not None:
            x = self.compressor(x.flatten(1, -2)).unflatten(1, x.shape[1:-1])
        return x, own


class HyperNet(SubsetNet):
    """The paper's predictor: subset encoder, hypernetwork, primary network.

    The mask reaches the classifier only through the generated weights, unless a compressor of
    images sees it too.

    >>> net = HyperNet(n_columns=4, n_features=4, n_classes=3)
    >>> net(torch.zeros(1, 5, 4), torch.ones(1, 5, 4)).logits.shape
    torch.Size([1, 5, 3])
    """

    def __init__(
        self, *, hyper_width: int = 128, primary: Sequence[int] = (64,), **shape: Any
    ) -> None:
        super().__init__(**shape)
        self.hidden = MemberLinear(self.members, self.condition_dim, hyper_width)
        # |z̃| = 1, so unit variance here gives pre-activations of unit variance.
        nn.init.normal_(self.hidden.weight)
        nn.init.zeros_(self.hidden.bias)
        widths = (self.n_inputs, *primary, self.n_classes)
        self.primary = nn.ModuleList(
            HyperLinear(self.members, hyper_width, n_in, n_out) for n_in, n_out in pairwise(widths)
        )

    def layers(self) -> list[HyperLinear]:
        """The layers of the primary network, first to last."""
        return list(self.primary)  # type: ignore[arg-type]

    def code(self, condition: Tensor) -> Tensor:
        hidden = torch.relu(self.hidden(condition))
        return torch.cat([hidden, torch.ones_like(hidden[..., :1])], -1)

    def classify_rows(self, x: Tensor, code: Tensor) -> Tensor:
        x, code = self._compress(x, code)
        for i, layer in enumerate(self.layers()):
            x = layer(torch.relu(x) if i else x, code)
        return x

    def classify_groups(self, x: Tensor, code: Tensor) -> Tensor:
        x, code = self._compress(x, code)
        for i, layer in enumerate(self.layers()):
            x = layer.grouped(torch.relu(x) if i else x, code)
        return x

    def classifier_layers(self, code: Tensor) -> list[tuple[Tensor, Tensor]]:
        generated = [layer.generate(code) for layer in self.layers()]
        return [(weight[:, 0], bias[:, 0]) for weight, bias in generated]


class ConcatNet(SubsetNet):
    """Ablation without a hypernetwork: one MLP on ``[x̃ ; z̃]``, same encoder."""

    def __init__(self, *, primary: Sequence[int] = (64,), **shape: Any) -> None:
        super().__init__(**shape)
        widths = (self.n_inputs + self.condition_dim, *primary, self.n_classes)
        self.body = MemberMLP(self.members, widths)

    def code(self, condition: Tensor) -> Tensor:
        return condition

    def classify_rows(self, x: Tensor, code: Tensor) -> Tensor:
        x, code = self._compress(x, code)
        return self.body(torch.cat([x.expand(self.members, -1, -1), code], -1))

    def classify_groups(self, x: Tensor, code: Tensor) -> Tensor:
        per_row = code.repeat_interleave(x.shape[2], dim=1)
        return self.classify_rows(x.flatten(1, 2), per_row).unflatten(1, x.shape[1:3])

    def classifier_layers(self, code: Tensor) -> list[tuple[Tensor, Tensor]]:
        (weight, bias), *others = self.body.affine()
        known, condition = weight.split([self.n_inputs, self.condition_dim], 1)
        return [(known, bias + code @ condition), *others]


def unit(z: Tensor) -> Tensor:
    return z / (z.norm(dim=-1, keepdim=True) + 1e-8)
