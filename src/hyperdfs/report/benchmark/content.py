"""What the benchmark's page says, before it is drawn."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from hyperdfs.bench.curves import Band, FitTime
from hyperdfs.bench.statistics import Comparison, Friedman
from hyperdfs.bench.table_grid import Grid


@dataclass(frozen=True)
class Method:
    """A label with its look, the same in every picture: hue and the stroke of its group.

    Hue 0..9, or None for a level that others are measured by: it has the colour of the text and no
    band.
    """

    label: str
    slug: str  # its CSS class
    hue: int | None
    stroke: str  # the name of its group
    preset: str
    parameters: str
    ticked: bool  # whether its curves are drawn when the page opens
    what: str = ""  # a line for somebody who does not know it


@dataclass(frozen=True)
class Agreement:
    """How alike the methods' purchases are on one data set.

    `by_budget` is each method's agreement with the reference after 1, 2, … purchases; `pairwise`
    (methods × methods) after `budget`; `budgets` a method's favourite features at budgets i and j.
    """

    reference: str
    labels: Sequence[str]
    n_rows: int
    budget: int
    by_budget: Mapping[str, Sequence[float]]
    pairwise: Sequence[Sequence[float]]
    budgets: Mapping[str, Sequence[Sequence[float]]]


@dataclass(frozen=True)
class Frequencies:
    """Share of the test rows that hold each favourite feature after `budget` purchases."""

    budget: int
    features: Sequence[str]
    labels: Sequence[str]
    shares: Sequence[Sequence[float]]  # (features, labels)


@dataclass(frozen=True)
class PatchMap:
    """A method's purchases on a square grid of patches."""

    label: str
    side: int
    share: Sequence[Sequence[float]]  # of the images that buy the patch
    mean_step: Sequence[Sequence[float | None]]
    steps: Sequence[Sequence[Sequence[float]]]  # the share at each step


@dataclass(frozen=True)
class Revealed:
    """One test image as PNG, with the patches a method bought in their order."""

    label: str
    truth: str
    predicted: str
    png: str  # base64
    side: int
    order: Sequence[int]


@dataclass(frozen=True)
class PaperNote:
    """What to keep in mind when these data sets are held against the paper's."""

    datasets: Sequence[str]
    comparable: bool
    why: str


@dataclass(frozen=True)
class DatasetView:
    """Everything about one data set."""

    name: str
    anchor: str
    facts: str
    what: str  # a line for somebody who does not know it
    n_features: int
    curves: Mapping[str, Band]
    ceiling: Mapping[int, float]  # by budget; empty where the truth is not known
    ceiling_title: str
    money: Mapping[str, Band] = field(default_factory=dict)
    money_unit: str = ""
    prices: str = ""  # a sentence; empty where all features cost the same
    agreement: Agreement | None = None
    frequencies: Frequencies | None = None
    patches: Sequence[PatchMap] = ()
    images: Sequence[Sequence[Revealed]] = ()  # one image as several methods saw it


@dataclass(frozen=True)
class Tests:
    """Significance over data sets, with sentences where the data do not reach."""

    friedman: Friedman | None
    friedman_note: str
    comparisons: Sequence[Comparison]
    wilcoxon_note: str
    reference: str
    n_datasets: int
    left_out: str  # a sentence; empty if all ranked methods take part


@dataclass(frozen=True)
class Failure:
    """A cell that failed, and the last line of its traceback."""

    cell: str
    reason: str


@dataclass(frozen=True)
class BenchmarkReport:
    """The whole page."""

    title: str
    headline: Sequence[str]
    facts: Mapping[str, str]
    methods: Sequence[Method]
    groups: Mapping[str, str]  # name -> title, as far as there are methods
    grids: Sequence[Grid]
    legend: Sequence[str]
    datasets: Sequence[DatasetView]
    tests: Tests
    times: Mapping[str, Sequence[FitTime]]
    limits: Sequence[tuple[str, str]]  # head and text
    failures: Sequence[Failure]
    settings: Mapping[str, str]
    commands: Sequence[str]

    def of(self, labels: Iterable[str]) -> list[Method]:
        """The methods of these labels, in the order of the tables."""
        wanted = set(labels)
        return [method for method in self.methods if method.label in wanted]

    def drawn(self, group: str) -> list[Method]:
        """The methods of a group that have a curve somewhere."""
        labels = {label for view in self.datasets for label in view.curves}
        return [method for method in self.of(labels) if method.stroke == group]
