"""All compiled code: epochs of sample-by-sample training, for every model of the family.

It repeats the formulas of `lvq.model` in compiled form; a test compares the two. Rules:

- Everything that numba compiles is in this package, whose text is part of the key of numba's disk cache
  (`compiling.py`).
- Choices are integers inside `Rule` (`rule.py`), never function arguments, which miss the disk cache.
- Every function releases the interpreter lock; parallelism is over folds and restarts, by threads, outside.
- Prototypes are ordered by class, so the prototypes of class k are the rows `starts[k]:starts[k + 1]`.
- Ties between prototypes go to the lowest index.
- A step that would move a prototype further than `Rule.reach` from its sample is left out, so nothing overflows.
- Derivatives are taken at the state before the step; prototypes and metric move together.
- A loop runs one epoch and gets its arrays in the named tuples of `rule.py`. It reads their fields once, as reading one
  for each sample would take as long as a step. Working memory is allocated inside.

`derivative` is always dE/dD, of the cost by the squared distance; the prototype step is then
`w += 2 rate derivative Lambda (x - w)` (up to sign). Rules without a cost (LVQ1 and its variants) have the same form
with a derivative of 1/2. `Rule.slope` is the steepness of GLVQ's sigmoid.

The loops are in `plain.py`, `weights.py`, `matrices.py` and `sparse.py`, imported when they are first needed; the other
modules are parts of their steps. Missing values are a mask of the rows in the loops of weights and matrices, of which
complete rows are the special case.
"""
