"""Networks: torch only, no pandas, no scikit-learn.

Every network of a predictor carries a leading *member* axis E, so that the members of an ensemble
(or a single model, E = 1) are one batched computation.
"""
