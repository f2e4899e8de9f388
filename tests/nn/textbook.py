"""The same mathematics written down plainly: the oracle that the fast modules must equal.

One member, one mask per sample, every token of every sample projected, a real softmax, all weights
of every primary network generated, all rows walked to the end of the longest trajectory. Nothing
here is clever; `benchmarks/speed.py` measures the library against it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

import torch
from torch import Tensor, nn

from hyperdfs.nn.encoders import (
    DeepSetsEncoder,
    InducingPoolEncoder,
    SetTransformerEncoder,
    TokenTables,
)
from hyperdfs.nn.hyper import HyperNet
from hyperdfs.nn.members import MemberLinear, MemberMLP, MemberNorm
from hyperdfs.nn.scoring import ScoreNet


class MAB(nn.Module):
    """Multihead attention block of Lee et al. 2019, with layer norm."""

    def __init__(self, dim: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.query, self.key, self.value, self.out = (nn.Linear(dim, dim) for _ in range(4))
        self.norm_attended, self.norm_out = nn.LayerNorm(dim), nn.LayerNorm(dim)

    def forward(self, x: Tensor, y: Tensor) -> Tensor:
        query, key, value = self.query(x), self.key(y), self.value(y)
        scores = self._split(query) @ self._split(key).mT / math.sqrt(query.shape[-1])
        attended = torch.softmax(scores, -1) @ self._split(value)
        o = self.norm_attended(query + attended.transpose(-3, -2).flatten(-2))
        return self.norm_out(o + torch.relu(self.out(o)))

    def _split(self, x: Tensor) -> Tensor:
        return x.unflatten(-1, (self.heads, -1)).transpose(-3, -2)


class ISAB(nn.Module):
    """``MAB(X, MAB(P, X))`` with learned inducing points P."""

    def __init__(self, dim: int, heads: int, n_inducing: int) -> None:
        super().__init__()
        self.inducing = nn.Parameter(torch.empty(n_inducing, dim))
        self.induce, self.spread = MAB(dim, heads), MAB(dim, heads)

    def forward(self, x: Tensor) -> Tensor:
        return self.spread(x, self.induce(self.inducing.expand(len(x), -1, -1), x))


class SetEncoder(nn.Module):
    """Tokens ``t = m E1 + (1 - m) E0``, a body over them, a sum over the set, an output net.

    kind : `set_transformer`, `inducing_pool` (the induced points of one ISAB are summed) or
        `deep_sets` (an MLP per token).
    """

    def __init__(
        self, n_features: int, *, kind: str, dim: int, out_dim: int, layers: int, n_inducing: int
    ) -> None:
        super().__init__()
        self.kind = kind
        self.presence = nn.Parameter(torch.empty(n_features, dim))
        self.absence = nn.Parameter(torch.empty(n_features, dim))
        self.isabs = nn.ModuleList(ISAB(dim, 4, n_inducing) for _ in range(layers))
        self.per_token = nn.Sequential(nn.Linear(dim, dim), nn.ReLU(), nn.Linear(dim, dim))
        self.output = nn.Sequential(nn.Linear(dim, dim), nn.ReLU(), nn.Linear(dim, out_dim))

    def forward(self, mask: Tensor) -> Tensor:
        m = mask.unsqueeze(-1)
        x = m * self.presence + (1.0 - m) * self.absence
        if self.kind == "set_transformer":
            for isab in self.isabs:
                x = isab(x)
        elif self.kind == "inducing_pool":
            x = self.isabs[0].induce(self.isabs[0].inducing.expand(len(x), -1, -1), x)
        else:
            x = self.per_token(x)
        z: Tensor = self.output(x.sum(1))
        return z


class Result(NamedTuple):
    logits: Tensor
    condition: Tensor
    theta: list[tuple[Tensor, Tensor]]  # per layer (n, out, in) and (n, out)


class TextbookHyperNet(nn.Module):
    """Encoder, hypernetwork with one flat head, primary network by batched products."""

    def __init__(self, encoder: SetEncoder, condition_dim: int, width: int, sizes: Sequence[int]):
        super().__init__()
        self.encoder = encoder
        self.sizes = list(pairwise(sizes))
        self.hidden = nn.Linear(condition_dim, width)
        self.head = nn.Linear(width, sum(n_out * n_in + n_out for n_in, n_out in self.sizes))

    def generate(self, condition: Tensor) -> list[tuple[Tensor, Tensor]]:
        flat = self.head(torch.relu(self.hidden(condition)))
        theta, start = [], 0
        for n_in, n_out in self.sizes:
            weight = flat[:, start : start + n_out * n_in].view(-1, n_out, n_in)
            start += n_out * n_in
            theta.append((weight, flat[:, start : start + n_out]))
            start += n_out
        return theta

    def forward(self, x: Tensor, mask: Tensor, shake: Tensor | None = None) -> Result:
        """x: ``(n, D)``, or ``(n, b, D)`` for b rows under each mask."""
        z = self.encoder(mask)
        clean = unit(z)
        theta = self.generate(clean if shake is None else unit(z + shake))
        out = x.unsqueeze(1) if x.dim() == 2 else x
        for i, (weight, bias) in enumerate(theta):
            out = torch.bmm(torch.relu(out) if i else out, weight.mT) + bias.unsqueeze(1)
        return Result(out.squeeze(1) if x.dim() == 2 else out, clean, theta)


class TextbookScores(nn.Module):
    """The selector's MLP on ``[x̃ ; mask]``."""

    def __init__(self, widths: Sequence[int]) -> None:
        super().__init__()
        self.linear = nn.ModuleList(nn.Linear(a, b) for a, b in pairwise(widths))

    def forward(self, x: Tensor, mask: Tensor) -> Tensor:
        out = torch.cat([x, mask], -1)
        for i, layer in enumerate(self.linear):
            out = layer(torch.relu(out) if i else out)
        return out


def unit(z: Tensor) -> Tensor:
    return z / (torch.sqrt((z * z).sum(-1, keepdim=True)) + 1e-8)


def scale_loss(out: Result) -> Tensor:
    total = torch.zeros((), dtype=out.logits.dtype)
    for weight, bias in out.theta:
        flat = torch.cat([weight.flatten(1), bias], 1)
        total = total + ((flat**2).mean(1) - 1.0 / weight.shape[2]).square().mean()
    return total


def collapse_loss(out: Result) -> Tensor:
    flat = torch.cat([torch.cat([w.flatten(1), b], 1) for w, b in out.theta], 1)
    target = sum(w.shape[1] for w, _ in out.theta) / flat.shape[1]
    spread = out.condition.var(0, unbiased=False).mean()
    return -spread - flat.var(0, unbiased=False).mean().clamp(max=10.0 * target)


def cross_entropy(logits: Tensor, target: Tensor, weight: Tensor) -> Tensor:
    return (-(torch.log_softmax(logits, -1) * target).sum(-1) * weight).mean()


def purchases(
    selector: nn.Module,
    x: Tensor,
    available: Tensor,
    expand: Callable[[Tensor], Tensor],
    lengths: Tensor,
    gumbel: Iterator[Tensor],
    *,
    temperature: float,
) -> Tensor:
    """Straight-through Gumbel purchases, every row for max(lengths) steps, finished ones frozen."""
    mask = torch.zeros_like(available)
    for step in range(int(lengths.max())):
        free = available * (1.0 - mask.detach())
        scores = selector(x * expand(mask), mask)
        scores = torch.where(free > 0.5, scores, -1e9)
        soft = torch.softmax((scores + next(gumbel)) / temperature, -1)
        hard = nn.functional.one_hot(soft.argmax(1), soft.shape[1]).to(soft)
        active = ((lengths > step) & (free.amax(1) > 0.5)).to(x).unsqueeze(1)
        mask = mask + (hard - soft.detach() + soft) * active
    return mask


@torch.inference_mode()
def walk(
    net: TextbookHyperNet, selector: nn.Module, x: Tensor, budget: int, *, chunk: int = 256
) -> tuple[Tensor, Tensor]:
    """Deterministic purchases, one mask per row: orders (n, budget), proba (n, budget + 1, C)."""
    orders, probas = [], []
    for rows in x.split(chunk):
        mask = torch.zeros_like(rows)
        order, proba = [], [torch.softmax(net(rows * mask, mask).logits, -1)]
        for _ in range(budget):
            scores = selector(rows * mask, mask).masked_fill(mask > 0, -1e9)
            order.append(scores.argmax(1))
            mask = mask.scatter(1, order[-1].unsqueeze(1), 1.0)
            proba.append(torch.softmax(net(rows * mask, mask).logits, -1))
        orders.append(torch.stack(order, 1))
        probas.append(torch.stack(proba, 1))
    return torch.cat(orders), torch.cat(probas)


# Loading the weights of a fast module: where each parameter of the library lives in the textbook.


class Pair(NamedTuple):
    """`view` takes one member of the fast parameter (or of its gradient) to the book's shape."""

    name: str
    fast: nn.Parameter
    book: nn.Parameter
    view: Callable[[Tensor], Tensor]


def same(t: Tensor) -> Tensor:
    return t


def _linear(name: str, fast: MemberLinear, book: nn.Linear) -> Iterator[Pair]:
    yield Pair(f"{name}.weight", fast.weight, book.weight, lambda t: t.T)
    yield Pair(f"{name}.bias", fast.bias, book.bias, lambda t: t[0])


def _norm(name: str, fast: MemberNorm, book: nn.LayerNorm) -> Iterator[Pair]:
    yield Pair(f"{name}.weight", fast.weight, book.weight, same)
    yield Pair(f"{name}.bias", fast.bias, book.bias, same)


def _mlp(name: str, fast: MemberMLP, book: nn.Sequential) -> Iterator[Pair]:
    linear = [layer for layer in book if isinstance(layer, nn.Linear)]
    for i, (a, b) in enumerate(zip(fast.layers, linear, strict=True)):
        yield from _linear(f"{name}.{i}", a, b)


def _mab(name: str, fast: nn.Module, book: MAB) -> Iterator[Pair]:
    for part in ("query", "key", "value", "out"):
        yield from _linear(f"{name}.{part}", getattr(fast, part), getattr(book, part))
    for part in ("norm_attended", "norm_out"):
        yield from _norm(f"{name}.{part}", getattr(fast, part), getattr(book, part))


def _encoder(fast: nn.Module, book: SetEncoder) -> Iterator[Pair]:
    tables = fast.tables
    assert isinstance(tables, TokenTables)
    yield Pair("presence", tables.presence, book.presence, same)
    yield Pair("absence", tables.absence, book.absence, same)
    yield from _mlp("output", fast.output, book.output)
    if isinstance(fast, DeepSetsEncoder):
        yield from _mlp("per_token", fast.per_token, book.per_token)
        return
    isab = book.isabs[0]
    yield Pair("inducing", fast.induced.inducing, isab.inducing, same)
    yield from _mab("induce", fast.induced.block, isab.induce)
    if isinstance(fast, SetTransformerEncoder):
        yield from _mab("spread", fast.tokens.block, isab.spread)
        for i, (a, b) in enumerate(zip(fast.more, list(book.isabs)[1:], strict=True), 1):
            yield Pair(f"{i}.inducing", a.inducing, b.inducing, same)
            yield from _mab(f"{i}.induce", a.block, b.induce)
            yield from _mab(f"{i}.spread", a.tokens.block, b.spread)


def _hyper(fast: HyperNet, book: TextbookHyperNet) -> Iterator[Pair]:
    yield from _linear("hidden", fast.hidden, book.hidden)
    for i, layer in enumerate(fast.layers()):
        yield Pair(f"table{i}", layer.table, book.head.weight, _HeadSlice(book, i, bias=False))
        yield Pair(f"table{i}.bias", layer.table, book.head.bias, _HeadSlice(book, i, bias=True))


class _HeadSlice:
    """The rows of the flat head that generate one layer, from that layer's table."""

    def __init__(self, book: TextbookHyperNet, layer: int, *, bias: bool) -> None:
        sizes = [n_out * n_in + n_out for n_in, n_out in book.sizes]
        self.rows = slice(sum(sizes[:layer]), sum(sizes[: layer + 1]))
        self.bias = bias

    def __call__(self, table: Tensor) -> Tensor:
        part = table[:, -1:] if self.bias else table[:, :-1]  # (n_in + 1, H or 1, n_out)
        weights = part[:-1].permute(2, 0, 1).flatten(0, 1)
        rows = torch.cat([weights, part[-1].T])
        return rows[:, 0] if self.bias else rows


def pairs(fast: nn.Module, book: nn.Module) -> list[Pair]:
    """All parameters of `fast` with their counterparts."""
    if isinstance(fast, HyperNet):
        assert isinstance(book, TextbookHyperNet)
        return [*_encoder(fast.encoder, book.encoder), *_hyper(fast, book)]
    assert isinstance(book, SetEncoder)
    return list(_encoder(fast, book))


def book_part(pair: Pair, tensor: Tensor) -> Tensor:
    """The part of a book parameter (or gradient) that the pair speaks of."""
    return tensor[pair.view.rows] if isinstance(pair.view, _HeadSlice) else tensor


@torch.no_grad()
def _copy(fast: nn.Module, book: nn.Module, member: int) -> None:
    for pair in pairs(fast, book):
        book_part(pair, pair.book).copy_(pair.view(pair.fast[member]))


def encoder_like(fast: nn.Module, member: int = 0) -> SetEncoder:
    """The textbook encoder with the weights of one member of a fast one."""
    tables, last = fast.tables, fast.output.layers[-1]
    n_features, dim = tables.presence.shape[1:]
    kinds = {
        SetTransformerEncoder: "set_transformer",
        InducingPoolEncoder: "inducing_pool",
        DeepSetsEncoder: "deep_sets",
    }
    kind = kinds[type(fast)]
    book = SetEncoder(
        n_features,
        kind=kind,
        dim=dim,
        out_dim=last.weight.shape[2],
        layers=1 + len(getattr(fast, "more", [])) if kind != "deep_sets" else 0,
        n_inducing=fast.induced.inducing.shape[1] if kind != "deep_sets" else 0,
    ).to(tables.presence.dtype)
    _copy(fast, book, member)
    return book


def hypernet_like(fast: HyperNet, member: int = 0) -> TextbookHyperNet:
    """The textbook predictor with the weights of one member of a fast one."""
    layers = fast.layers()
    book = TextbookHyperNet(
        encoder_like(fast.encoder, member),
        fast.condition_dim,
        fast.hidden.weight.shape[2],
        [layers[0].n_in, *(layer.n_out for layer in layers)],
    ).to(fast.hidden.weight.dtype)
    _copy(fast, book, member)
    return book


def scores_like(fast: ScoreNet) -> TextbookScores:
    """The textbook selector with the weights of a fast one."""
    linear = [*fast.hidden, fast.head]
    book = TextbookScores([linear[0].in_features, *(layer.out_features for layer in linear)])
    book.to(fast.head.weight.dtype)
    with torch.no_grad():
        for theirs, ours in zip(book.linear, linear, strict=True):
            theirs.weight.copy_(ours.weight)
            theirs.bias.copy_(ours.bias)
    return book
