"""What must stay quick to import does not pull in the slow packages."""

from __future__ import annotations

import subprocess
import sys

import pytest


@pytest.mark.parametrize("module", ["hyperdfs", "hyperdfs.cli.app"])
def test_import_leaves_heavy_packages_alone(module: str) -> None:
    code = (
        f"import sys, {module}; "
        "print([m for m in ('torch', 'pandas', 'sklearn', 'numpy') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
