"""The experiments of four papers, run again: one module a paper, `python -m experiments PAPER`.

Nothing is imported here: `__main__` sets the number of threads of matrix products before NumPy is loaded.
"""
