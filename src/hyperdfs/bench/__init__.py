"""The benchmark: a plan of cells, a store that survives anything, engines, tables."""
