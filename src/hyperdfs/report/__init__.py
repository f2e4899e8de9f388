"""One self-contained HTML page: plain content in, text out."""

from hyperdfs.report.content import CasePath, Curve, HeatMap, Purchase, Report
from hyperdfs.report.page import render, write_page

__all__ = ["CasePath", "Curve", "HeatMap", "Purchase", "Report", "render", "write_page"]
