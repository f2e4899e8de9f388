"""E σ(t + s·Z + W): the logistic function averaged over what is not known of a logit.

W is a sum of independent terms of standard normal features, Z a standard normal of its own. σ is
the distribution function of a logistic variable Λ, so the average is P(Λ − s·Z − W ≤ t), which the
Gil-Pelaez formula gives from characteristic functions:

    1/2 + 1/π ∫₀^∞ Im[e^{iωt} φ_Λ(ω) φ_W(ω) e^{−s²ω²/2}] / ω dω,   φ_Λ(ω) = πω / sinh(πω).

φ_Λ falls like e^{−πω}, so a short midpoint sum is exact to about 1e-6. Results are tabulated and
splined once for every distinct W.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import numpy.typing as npt
from scipy.interpolate import CubicSpline, RectBivariateSpline
from scipy.special import expit

from hyperdfs.datasets.base import FloatArray
from hyperdfs.datasets.logit_model import SHAPES, Pair, Term

ComplexArray = npt.NDArray[np.complex128]

# Midpoints of the ω axis: the aliasing distance 2π/0.02 = 314 is far in every tail.
_STEP = 0.02
_OMEGA = (np.arange(300) + 0.5) * _STEP
_T_MAX, _S_MAX, _SPACING = 64.0, 32.0, 0.25
_T_GRID = np.arange(-_T_MAX, _T_MAX + _SPACING / 2, _SPACING)
# The average is even in s; a few negative nodes keep the spline accurate near s = 0.
_S_GRID = np.arange(-1.0, _S_MAX + _SPACING / 2, _SPACING)

TermKey = tuple[str, float]


def mean_sigmoid(t: FloatArray, sd: FloatArray, hidden: tuple[Term, ...]) -> FloatArray:
    """E σ(t + sd·Z + Σ hidden terms) for rows t ``(n,)`` and sd ``(n,)``."""
    keys = tuple(sorted(term_key(term) for term in hidden))
    known = np.clip(t, -_T_MAX, _T_MAX)
    result = np.empty_like(known)
    gaussian = sd > 0
    sharp = ~gaussian
    result[sharp] = _curve(keys)(known[sharp]) if keys else expit(t[sharp])
    if gaussian.any():
        result[gaussian] = _surface(keys).ev(known[gaussian], np.minimum(sd[gaussian], _S_MAX))
    return np.clip(result, 0.0, 1.0)


def term_key(term: Term) -> TermKey:
    """Terms with the same key have the same distribution while unobserved."""
    return ("pair", term.scale) if isinstance(term, Pair) else (term.shape, term.scale)


@lru_cache(maxsize=256)
def _curve(keys: tuple[TermKey, ...]) -> CubicSpline:
    return CubicSpline(_T_GRID, _gil_pelaez(keys, np.zeros(1))[:, 0])


@lru_cache(maxsize=64)
def _surface(keys: tuple[TermKey, ...]) -> RectBivariateSpline:
    return RectBivariateSpline(_T_GRID, _S_GRID, _gil_pelaez(keys, _S_GRID))


def _gil_pelaez(keys: tuple[TermKey, ...], sd: FloatArray) -> FloatArray:
    """The integral above for every t of the grid and every sd, shape ``(len(t), len(sd))``."""
    amplitude = np.pi * _OMEGA / np.sinh(np.pi * _OMEGA) / _OMEGA * _STEP / np.pi
    spectrum = amplitude.astype(np.complex128)
    for key in keys:
        spectrum = spectrum * _characteristic(key)
    damped = spectrum[:, None] * np.exp(-0.5 * np.outer(_OMEGA, sd) ** 2)
    phase = np.outer(_T_GRID, _OMEGA)
    return 0.5 + np.sin(phase) @ damped.real + np.cos(phase) @ damped.imag


@lru_cache(maxsize=64)
def _characteristic(key: TermKey) -> ComplexArray:
    """φ(ω) = E e^{iω·term} of an unobserved term."""
    name, scale = key
    if name == "pair":  # the product of two normals has density K0(|u|)/π
        return (1.0 / np.sqrt(1.0 + (scale * _OMEGA) ** 2)).astype(np.complex128)
    if name == "linear":
        return np.exp(-0.5 * (scale * _OMEGA) ** 2).astype(np.complex128)
    if name == "square":  # chi-squared with one degree of freedom
        return np.asarray(1.0 / np.sqrt(1.0 - 2j * scale * _OMEGA), dtype=np.complex128)
    x = np.linspace(-8.5, 8.5, 8001)
    weight = np.exp(-0.5 * x**2)
    phase = np.outer(_OMEGA, scale * SHAPES[name](x))
    return np.asarray(np.exp(1j * phase) @ (weight / weight.sum()), dtype=np.complex128)
