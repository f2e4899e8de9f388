"""The token part of the set encoder in C, for machines that have a C compiler.

Same mathematics as `hyperdfs.nn.tokens`, which runs everywhere else: on a GPU, without a compiler,
on processors without AVX.
"""
