"""What runs inside the interpreter of a library: standard library, NumPy and that library only.

`python -m benchmarks.workers` reads a task per line from its input, as JSON, and writes a result per line.
"""
