"""p(y | x_S) for any subset S: one file per kind of predictor."""
