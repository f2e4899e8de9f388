"""What must stay quick to import does not pull in slow packages, nor the core those of extras."""

from __future__ import annotations

import subprocess
import sys

import pytest

SLOW = ("numpy", "pandas", "sklearn", "torch")
EXTRAS = ("h5py", "PIL", "pooch", "ray", "submitit")  # pandas itself imports pyarrow


@pytest.mark.parametrize(
    ("modules", "absent"),
    [
        ("hyperdfs", SLOW + EXTRAS),
        ("hyperdfs.cli.app", SLOW + EXTRAS),
        # Everything a model and a benchmark need runs without any extra.
        ("hyperdfs.estimator, hyperdfs.bundle, hyperdfs.datasets, hyperdfs.bench.work", EXTRAS),
    ],
)
def test_import_leaves_packages_alone(modules: str, absent: tuple[str, ...]) -> None:
    code = f"import sys, {modules}; print([m for m in {absent} if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
