"""The C of the token stack: compiled once, never required."""

from __future__ import annotations

import shutil

import pytest
import torch

from hyperdfs.nn.encoders import make_encoder
from hyperdfs.nn.native import build

needs_compiler = pytest.mark.skipif(shutil.which("cc") is None, reason="needs a C compiler")


def find(dtype=torch.float32):
    """What a fresh process would find."""
    return build.library.__wrapped__(dtype)


def encode(monkeypatch, library):
    monkeypatch.setattr("hyperdfs.nn.encoders.library", lambda dtype: library)
    torch.manual_seed(0)
    encoder, _ = make_encoder("set_transformer", 1, 20, dim=16, out_dim=6, layers=2)
    mask = (torch.rand(1, 9, 20) < 0.5).float()
    return encoder(mask)


@needs_compiler
def test_compiled_once(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    first = find()
    if first is None:
        pytest.skip("this processor has no AVX")
    (kept,) = (tmp_path / "hyperdfs").iterdir()
    written = kept.stat().st_mtime_ns
    assert find() is not None
    assert [kept] == list((tmp_path / "hyperdfs").iterdir())
    assert kept.stat().st_mtime_ns == written
    torch.testing.assert_close(encode(monkeypatch, first), encode(monkeypatch, None))


@needs_compiler
@pytest.mark.parametrize("larger", [1.0, 200.0])  # scores beyond what can be exponentiated as it is
@pytest.mark.parametrize("flags", [(), ("-mno-avx512f",)])
def test_every_width_of_vectors(tmp_path, monkeypatch, flags, larger):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(build, "FLAGS", (*build.FLAGS, *flags))
    library = find()
    if library is None:
        pytest.skip("this processor has no AVX")

    def gradients(library):
        monkeypatch.setattr("hyperdfs.nn.encoders.library", lambda dtype: library)
        torch.manual_seed(0)
        encoder, _ = make_encoder("set_transformer", 1, 13, dim=24, out_dim=6, layers=2)
        with torch.no_grad():
            encoder.tokens.block.key.weight.mul_(larger)
            encoder.more[0].block.query.weight.mul_(larger)
        mask = (torch.rand(1, 9, 13) < 0.5).float().requires_grad_()
        z = encoder(mask)
        z.square().mean().backward()
        return [z, mask.grad, *(weight.grad for weight in encoder.parameters())]

    for ours, expected in zip(gradients(library), gradients(None), strict=True):
        torch.testing.assert_close(ours, expected, rtol=1e-4, atol=3e-5)


@needs_compiler
def test_a_cache_that_cannot_be_written(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("not a folder")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    expected = build.library(torch.float32) is not None
    assert (find() is not None) == expected


@pytest.mark.parametrize("compiler", [None, "#!/bin/sh\nexit 1\n", "#!/bin/sh\nexit 0\n"])
def test_without_a_working_compiler(tmp_path, monkeypatch, compiler):
    if compiler is not None:
        (tmp_path / "cc").write_text(compiler)
        (tmp_path / "cc").chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    assert find() is None


def test_other_kinds_of_numbers():
    assert find(torch.float16) is None


def test_inference_follows_a_change_of_the_weights():
    torch.manual_seed(0)
    encoder, _ = make_encoder("set_transformer", 2, 7, dim=16, out_dim=6, layers=2)
    mask = (torch.rand(1, 5, 7) < 0.5).float()
    with torch.inference_mode():
        before = encoder(mask)
    with torch.no_grad():
        encoder.more[0].block.value.weight.mul_(3.0)
    with torch.inference_mode():
        after = encoder(mask)
    assert not torch.allclose(before, after, atol=1e-4)
    torch.testing.assert_close(after, encoder(mask).detach())


def test_what_is_not_a_number_stays_so():
    encoder, _ = make_encoder("set_transformer", 1, 7, dim=16, out_dim=6, layers=2)
    with torch.no_grad():
        encoder.tables.absence[0, 3, 2] = float("nan")
    assert encoder(torch.zeros(1, 2, 7)).isnan().all()
