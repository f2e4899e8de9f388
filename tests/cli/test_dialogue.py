"""The conversation of `ask`: groups, missing results, rare categories, what was known before."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Protocol

import pandas as pd
import pytest

from hyperdfs import HyperDFSClassifier
from hyperdfs.cli.app import main

TINY = {"stage1_epochs": 1, "stage2_epochs": 1, "rollout_steps": 0, "teacher_weight": 0.0}
KNOWN = ("marker=0.3", "smoker=True", "town=Ash", "sex=F")


class Ask(Protocol):
    def __call__(
        self, model: Path, *answers: str, know: tuple[str, ...] = ..., budget: int = ...
    ) -> str: ...


@pytest.fixture
def ask(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Ask:
    """One conversation; what it printed."""

    def talk(model: Path, *answers: str, know: tuple[str, ...] = (), budget: int = 6) -> str:
        monkeypatch.setattr("sys.stdin", io.StringIO("".join(f"{line}\n" for line in answers)))
        known = [f"--know={pair}" for pair in know]
        assert main(["ask", str(model), *known, "--budget", str(budget)]) == 0
        return capsys.readouterr().out

    return talk


def summary(text: str) -> str:
    return text[text.index("Prediction:") :].splitlines()[1]


@pytest.mark.parametrize(
    "answers", [("diastolic=80", "120"), ("systolic=120", "80"), ("systolic=120", "diastolic=80")]
)
def test_a_group_is_asked_for_to_its_end(
    answers: tuple[str, ...], ask: Ask, model_file: Path
) -> None:
    text = ask(model_file, *answers, know=("sex=F",), budget=1)
    whole = ask(model_file, know=("sex=F", "systolic=120", "diastolic=80"))
    assert summary(text) == "1 bought of 6 features, price 3: pressure."
    assert text[text.index("Prediction:") :].splitlines()[0] in whole


def test_the_columns_of_the_group_at_hand_come_in_any_order(ask: Ask, model_file: Path) -> None:
    know = (*KNOWN, "age=54")  # only the group is left
    text = ask(model_file, "diastolic=80", "120", know=know)
    assert summary(text) == "1 bought of 6 features, price 3: pressure."
    assert [line.split(" (")[0] for line in text.splitlines() if " to " in line] == [
        "  systolic"
    ] * 2


def test_a_group_that_was_begun_can_be_taken_back(ask: Ask, model_file: Path) -> None:
    text = ask(model_file, "systolic=120", "undo", "sex=F", "quit")
    assert summary(text) == "1 bought of 6 features, price 1: sex."


def test_a_group_that_is_not_complete_is_left_out(ask: Ask, model_file: Path) -> None:
    text = ask(model_file, "systolic=120")
    assert "pressure was not complete and is left out." in text
    assert summary(text) == "0 bought of 6 features, price 0."


def test_one_column_of_a_group_may_be_missing(ask: Ask, model_file: Path) -> None:
    text = ask(model_file, "systolic=120", "nan", budget=1)
    assert summary(text) == "1 bought of 6 features, price 3: pressure."


@pytest.mark.parametrize("feature", ["age", "sex", "smoker", "marker"])
@pytest.mark.parametrize("word", ["nan", "N/A", ""])
def test_a_purchase_without_result_is_paid(
    feature: str, word: str, ask: Ask, model_file: Path
) -> None:
    text = ask(model_file, f"{feature}={word}", "town=Ash", budget=1)
    price = 5 if feature == "marker" else 1
    assert summary(text) == f"1 bought of 6 features, price {price}: {feature} (no result)."
    assert "outside the range" not in text
    assert "Skipped" not in text


def test_a_purchase_without_result_can_be_taken_back(ask: Ask, model_file: Path) -> None:
    text = ask(model_file, "marker=nan", "undo", "marker=0.5", "skip", "undo", "quit")
    assert summary(text) == "1 bought of 6 features, price 5: marker."


@pytest.mark.parametrize("known", ["age=nan", "age=50", "sex=nan"])
def test_what_was_known_at_the_start_stays(known: str, ask: Ask, model_file: Path) -> None:
    text = ask(model_file, "undo", "town=Ash", "undo", "undo", "quit", know=(known,))
    assert text.count("nothing to take back") == 2
    assert summary(text) == "0 bought of 6 features, price 0."
    assert known.split("=")[0] not in text[text.index("Prediction:") :]


def test_what_is_missing_at_the_start_can_still_be_bought(ask: Ask, model_file: Path) -> None:
    text = ask(model_file, "age=50", "quit", know=("age=nan",))
    assert summary(text) == "1 bought of 6 features, price 1: age."


@pytest.mark.parametrize(
    ("known", "expected"),
    [
        (["age=3", "age=4"], "takes each value once, got 'age' as '3' and as '4'"),
        (["systolic=120"], "'pressure' has several values, got none for 'diastolic'"),
    ],
)
def test_wrong_starts(
    known: list[str], expected: str, model_file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["ask", str(model_file), *(f"--know={pair}" for pair in known)]) == 2
    assert expected in capsys.readouterr().err


@pytest.fixture(scope="module")
def rare_model(table_csv: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    table = pd.read_csv(table_csv)
    table.loc[5, "town"] = "Larch"
    table["name"] = [f"n{i}" for i in range(len(table))]
    path = tmp_path_factory.mktemp("rare") / "m.hdfs"
    clf = HyperDFSClassifier(max_budget=2, config=TINY)
    clf.fit(table[["sex", "town", "name"]], table["risk"]).save(path)
    return path


def test_a_rare_category_may_be_known(rare_model: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["ask", str(rare_model), "--json", "--know", "town=Larch"]) == 0
    out, err = capsys.readouterr()
    assert json.loads(out)["known"] == {"town": "Larch"}
    assert len(err.splitlines()) == 1
    assert "'Larch' is no frequent category" in err
    assert main(["ask", str(rare_model), "--json", "--know", "sex=X"]) == 2
    assert "'X' is not a category seen in training" in capsys.readouterr().err


def test_a_rare_category_is_typed_twice(ask: Ask, rare_model: Path) -> None:
    text = ask(rare_model, "town=Larch", "town=Larch", "quit")
    assert text.count("type it again if it is a rare one") == 1
    assert "not a category seen in training" not in text
    assert summary(text) == "1 bought of 3 features: town."


def test_where_all_categories_are_rare_any_text_will_do(ask: Ask, rare_model: Path) -> None:
    text = ask(rare_model, "name=Ann", "quit")
    assert summary(text) == "1 bought of 3 features: name."


def test_names_and_labels_are_no_markup(ask: Ask, tmp_path: Path) -> None:
    names = ["b\\[/]c", "back\\", "[red]"]
    X = pd.DataFrame(
        {name: [float((i >> k) % 3) for i in range(60)] for k, name in enumerate(names)}
    )
    y = ["no\\[/]", "yes[/bold]\\"] * 30
    HyperDFSClassifier(3, config=TINY).fit(X, y).save(tmp_path / "m.hdfs")
    answers = [f"{names[0]}=9", f"{names[1]}=much", f"{names[1]}=2", "why", "skip"]
    text = ask(tmp_path / "m.hdfs", *answers)
    for part in ("b\\[/]c, back\\.", "Skipped: [red].", "  no\\[/]", " yes[/bold]\\", "got 'much'"):
        assert part in text
    assert "Buy back[/]" not in text
    assert "Buy [red]: " in text


def test_categories_with_blanks_can_be_typed(
    ask: Ask, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    X = pd.DataFrame({"sex": ["F ", "M"] * 30, "side": [" left", "right", "skip "] * 20})
    HyperDFSClassifier(2, config=TINY).fit(X, ["a", "b"] * 30).save(tmp_path / "m.hdfs")
    assert main(["ask", str(tmp_path / "m.hdfs"), "--json", "--know", "sex=F"]) == 0
    assert json.loads(capsys.readouterr().out)["known"] == {"sex": "F "}
    text = ask(tmp_path / "m.hdfs", "skip", know=("sex=F",))
    assert summary(text) == "1 bought of 2 features: side."
    X.assign(y=["a", "b"] * 30).to_csv(tmp_path / "rows.csv", index=False)
    assert main(["evaluate", str(tmp_path / "m.hdfs"), str(tmp_path / "rows.csv")]) == 0
    assert capsys.readouterr().err == ""
