"""A check of the pages that are written."""

from __future__ import annotations

from html.parser import HTMLParser

VOID = {"meta", "br", "img", "link", "input", "hr"}


class Balance(HTMLParser):
    """Every element that is opened is closed, in order; ids are unique and links lead to one."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.ids: list[str] = []
        self.targets: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = dict(attrs)
        if "id" in found:
            self.ids.append(str(found["id"]))
        if str(found.get("href", "")).startswith("#"):
            self.targets.append(str(found["href"])[1:])
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        pass

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag
