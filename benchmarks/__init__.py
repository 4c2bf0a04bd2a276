"""Speed, memory and accuracy, against the machine's own limit and against other libraries, in the same run.

`python -m benchmarks` runs the cases, `python -m benchmarks environments` installs the other libraries, and
`python -m benchmarks page` writes `docs/benchmarks.md` from the stored results.
"""
