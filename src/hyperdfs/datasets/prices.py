"""Published prices of features: what a test costs, alone or together with others of its kind."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from hyperdfs.errors import InputError, suggest


@dataclass(frozen=True)
class Price:
    """What one feature costs.

    ``discounted`` is the price once another feature of the same ``group`` has been paid for (blood
    is drawn once); ``delayed`` says that the result does not come at once.
    """

    cost: float
    discounted: float
    group: str | None = None
    delayed: bool = False


@dataclass(frozen=True)
class CostSheet:
    """Prices by feature, with their unit and where they come from."""

    prices: Mapping[str, Price]
    unit: str
    source: str

    @property
    def costs(self) -> dict[str, float]:
        """The full price of every feature."""
        return {name: price.cost for name, price in self.prices.items()}

    def total(self, features: Iterable[str]) -> float:
        """What these purchases cost together: the first of a group in full, the others discounted.

        The features of a group share what the first one pays on top, so the order does not matter.

        >>> round(HEART.total(["serum_cholesterol", "fasting_blood_sugar"]), 2)
        10.37
        """
        paid: set[str] = set()
        total = 0.0
        for name in dict.fromkeys(features):
            if name not in self.prices:
                raise InputError(f"feature {name!r} has no price; {suggest(name, self.prices)}")
            price = self.prices[name]
            total += price.discounted if price.group in paid else price.cost
            if price.group is not None:
                paid.add(price.group)
        return total


_DOLLARS = "Canadian dollars of 1995"
_TURNEY = "Turney 1995, from the fee schedule of the Ontario Health Insurance Program"
_QUESTION = Price(1.0, 1.0)
_DRAWING_BLOOD = 2.10


def _questions(names: str) -> dict[str, Price]:
    """What is asked or seen at once, for a nominal dollar."""
    return dict.fromkeys(names.split(), _QUESTION)


def _blood(cost: float) -> Price:
    return Price(cost, round(cost - _DRAWING_BLOOD, 2), "blood", delayed=True)


HEART = CostSheet(
    {
        **_questions("age sex chest_pain_type resting_blood_pressure"),
        "serum_cholesterol": _blood(7.27),
        "fasting_blood_sugar": _blood(5.20),
        "resting_ecg": Price(15.50, 15.50, delayed=True),
        "max_heart_rate": Price(102.90, 1.0, "thallium scan", delayed=True),
        "exercise_induced_angina": Price(87.30, 1.0, "exercise test", delayed=True),
        "oldpeak": Price(87.30, 1.0, "exercise test", delayed=True),
        "st_slope": Price(87.30, 1.0, "exercise test", delayed=True),
        "n_major_vessels": Price(100.90, 100.90, delayed=True),
        "thal": Price(102.90, 1.0, "thallium scan", delayed=True),
    },
    _DOLLARS,
    f"{_TURNEY}; costs, groups, discounts and delays as in the UCI files heart-disease.*",
)

PIMA = CostSheet(
    {
        **_questions("times_pregnant diastolic_bp triceps mass_index pedigree age"),
        "glucose_tol": _blood(17.61),
        "insulin": _blood(22.78),
    },
    _DOLLARS,
    _TURNEY,
)

HEPATITIS = CostSheet(
    {
        **_questions("age sex steroid antivirals fatigue malaise anorexia liver_big liver_firm"),
        **_questions("spleen_palpable spiders ascites varices histology"),
        **dict.fromkeys(("bilirubin", "alk_phosphate", "sgot", "albumin"), _blood(7.27)),
        "protime": _blood(8.30),
    },
    _DOLLARS,
    f"{_TURNEY}; discounts and delays follow his rule for blood tests",
)

THYROID = CostSheet(
    {
        **_questions("age sex on_thyroxine query_on_thyroxine on_antithyroid_medication sick"),
        **_questions("pregnant thyroid_surgery I131_treatment query_hypothyroid"),
        **_questions("query_hyperthyroid lithium goitre tumor hypopituitary psych"),
        "TSH": _blood(22.78),
        "T3": _blood(11.41),
        "TT4": _blood(14.51),
        "T4U": _blood(11.41),
        # Computed from TT4 and T4U, it has no published price: both tests, blood drawn once.
        "FTI": _blood(14.51 + 11.41 - _DRAWING_BLOOD),
    },
    _DOLLARS,
    f"{_TURNEY}; discounts and delays follow his rule for blood tests; FTI, which has no price of "
    "its own, is charged as TT4 and T4U together",
)


def _inconvenience(cost: float, names: str) -> dict[str, Price]:
    return dict.fromkeys(names.split(), Price(cost, cost))


NHANES = CostSheet(
    {
        **_inconvenience(2.0, "RIAGENDR RIDAGEYR RIDRETH1 DMDEDUC2"),
        **_inconvenience(4.0, "INDHHINC INDHHIN2 ALQ101 ALQ120Q PAQ180 SMQ020 SMD030 BPQ020"),
        **_inconvenience(5.0, "BPXSY1 BPXDI1 BPXSY2 BPXDI2 BPXSY3 BPXDI3 BPXSY4 BPXDI4"),
        **_inconvenience(5.0, "BMXBMI BMXWAIST BMXHT BMXLEG BMXWT"),
        **_inconvenience(9.0, "LBXTC LBXTR LBDLDL"),
    },
    "relative inconvenience from 2 to 9, not money",
    "Kachuee et al. 2019, one purchase per variable",
)
