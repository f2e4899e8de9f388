"""Table -> float columns, in three steps that never look beyond the training rows.

`table` takes in whatever the user has and returns a DataFrame; `readings` turns every cell into
one float (a number, a category's code, NaN for missing); `encoding` spreads each reading over the
float columns that the networks see. `Preprocessor` holds the three together.
"""

from hyperdfs.preprocess.preprocessor import Encoded, Preprocessor
from hyperdfs.preprocess.table import as_table, plain_array

__all__ = ["Encoded", "Preprocessor", "as_table", "plain_array"]
