"""Real tables. Wine ships with scikit-learn and needs neither a file nor a network."""

from __future__ import annotations

import numpy as np

from hyperdfs.datasets.base import DatasetInfo, RawData


def _load_wine(seed: int, n_samples: int) -> RawData:
    from sklearn.datasets import load_wine

    bunch = load_wine(as_frame=True)
    return RawData(
        X=bunch.data.astype(np.float64),
        y=bunch.target.to_numpy(dtype=np.int64),
        class_names=tuple(str(name) for name in bunch.target_names),
    )


TABLES: list[DatasetInfo] = [
    DatasetInfo(
        name="wine",
        kind="table",
        description="UCI Wine: the cultivar from 13 chemical measurements",
        n_features=13,
        n_classes=3,
        licence="CC BY 4.0",
        source="UCI Machine Learning Repository, Wine (1991), the copy in scikit-learn",
        load=_load_wine,
        majority_share=0.399,
    )
]
