"""The benchmark as one self-contained HTML page."""

from hyperdfs.report.benchmark.gather import gather
from hyperdfs.report.benchmark.page import render

__all__ = ["gather", "render"]
