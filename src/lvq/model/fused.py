"""Triton kernels for the margin costs on a GPU, in float32: nothing of size N x M is ever written.

- `search`: the nearest own and other prototype of each sample. Products are taken on the tensor cores in three TF32
  passes, which keep float32's digits; the distances of the two found are then sums of squared differences.
- `scatter`: sums of the samples' rows times their slopes, for each prototype. Samples are sorted by prototype, so
  whole tiles are summed before they are added; a sort of small integers costs a tenth of the sum itself.
- `differences`: sum_j s_ij (z_i - p_j) for each sample, in one pass.

Ties go to the lowest index. Imported only for CUDA tensors and where Triton is installed.
"""

import torch
import triton
import triton.language as tl
from torch import Tensor

# (rows, columns, depth, warps, stages) of the search's tiles, measured on an H200; the large need much shared memory
LARGE_TILE, SMALL_TILE = (128, 128, 64, 8, 3), (64, 64, 32, 4, 2)
LARGE_TILE_MEMORY = 200 * 1024  # bytes of shared memory


@triton.jit
def _search_kernel(
    z_pointer, p_pointer, squares_pointer, y_pointer, labels_pointer, own_pointer, other_pointer, near_pointer,
    far_pointer, samples, count, depth, ROWS: tl.constexpr, COLUMNS: tl.constexpr, DEPTH: tl.constexpr,
):  # fmt: skip
    row = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    inside = row < samples
    place = row.to(tl.int64) * depth
    y = tl.load(y_pointer + row, mask=inside, other=-1)
    near = tl.full((ROWS,), float("inf"), tl.float32)
    far = tl.full((ROWS,), float("inf"), tl.float32)
    own = tl.zeros((ROWS,), tl.int32)
    other = tl.zeros((ROWS,), tl.int32)
    for begin in range(0, count, COLUMNS):
        column = begin + tl.arange(0, COLUMNS)
        products = tl.zeros((ROWS, COLUMNS), tl.float32)
        for k in range(0, depth, DEPTH):
            feature = k + tl.arange(0, DEPTH)
            z = tl.load(z_pointer + place[:, None] + feature[None, :],
                        mask=inside[:, None] & (feature < depth)[None, :], other=0.0)  # fmt: skip
            p = tl.load(p_pointer + column[None, :] * depth + feature[:, None],
                        mask=(column < count)[None, :] & (feature < depth)[:, None], other=0.0)  # fmt: skip
            products = tl.dot(z, p, products, input_precision="tf32x3")
        squares = tl.load(squares_pointer + column, mask=column < count, other=float("inf"))
        labels = tl.load(labels_pointer + column, mask=column < count, other=-2)
        scores = squares[None, :] - 2.0 * products
        mine = labels[None, :] == y[:, None]
        # a minimum, then the first column that reaches it: two plain reductions beat one that carries its index
        mine_only = tl.where(mine, scores, float("inf"))
        value = tl.min(mine_only, 1)
        index = tl.min(tl.where(mine_only == value[:, None], column[None, :], count), 1)
        better = value < near
        near, own = tl.where(better, value, near), tl.where(better, index, own)
        rest = tl.where(mine, float("inf"), scores)
        value = tl.min(rest, 1)
        index = tl.min(tl.where(rest == value[:, None], column[None, :], count), 1)
        better = value < far
        far, other = tl.where(better, value, far), tl.where(better, index, other)
    near = tl.zeros((ROWS,), tl.float32)
    far = tl.zeros((ROWS,), tl.float32)
    for k in range(0, depth, DEPTH):
        feature = k + tl.arange(0, DEPTH)
        mask = inside[:, None] & (feature < depth)[None, :]
        z = tl.load(z_pointer + place[:, None] + feature[None, :], mask=mask, other=0.0)
        one = z - tl.load(p_pointer + own[:, None] * depth + feature[None, :], mask=mask, other=0.0)
        two = z - tl.load(p_pointer + other[:, None] * depth + feature[None, :], mask=mask, other=0.0)
        near += tl.sum(one * one, 1)
        far += tl.sum(two * two, 1)
    tl.store(own_pointer + row, own.to(tl.int64), mask=inside)
    tl.store(other_pointer + row, other.to(tl.int64), mask=inside)
    tl.store(near_pointer + row, near, mask=inside)
    tl.store(far_pointer + row, far, mask=inside)


@triton.jit
def _sorted_kernel(
    x_pointer, order_pointer, index_pointer, value_pointer, sums_pointer, totals_pointer, length, features,
    ROWS: tl.constexpr, FEATURES: tl.constexpr,
):  # fmt: skip
    """One tile of entries sorted by prototype: most tiles hold one prototype, and add one row of sums."""
    entry = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    inside = entry < length
    # the indices may be 16 bits wide, where a large number for "none" would become -1
    index = tl.where(inside, tl.load(index_pointer + entry, mask=inside, other=0).to(tl.int32), 2147483647)
    place = tl.load(order_pointer + entry, mask=inside, other=0)
    slope = tl.load(value_pointer + place, mask=inside, other=0.0)
    sample = place // 2
    for begin in range(0, features, FEATURES):
        feature = begin + tl.arange(0, FEATURES)
        x = tl.load(x_pointer + sample[:, None] * features + feature[None, :],
                    mask=inside[:, None] & (feature < features)[None, :], other=0.0)  # fmt: skip
        x = x * slope[:, None]
        current = tl.min(index, 0)
        while current < 2147483647:
            chosen = index == current
            tl.atomic_add(sums_pointer + current * features + feature,
                          tl.sum(tl.where(chosen[:, None], x, 0.0), 0), mask=feature < features)  # fmt: skip
            if begin == 0:
                tl.atomic_add(totals_pointer + current, tl.sum(tl.where(chosen, slope, 0.0), 0))
            current = tl.min(tl.where(index > current, index, 2147483647), 0)


@triton.jit
def _differences_kernel(
    z_pointer, p_pointer, index_pointer, value_pointer, out_pointer, samples, depth,
    ROWS: tl.constexpr, DEPTH: tl.constexpr,
):  # fmt: skip
    row = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    feature = tl.program_id(1) * DEPTH + tl.arange(0, DEPTH)
    inside = row < samples
    mask = inside[:, None] & (feature < depth)[None, :]
    one = tl.load(index_pointer + 2 * row, mask=inside, other=0)
    two = tl.load(index_pointer + 2 * row + 1, mask=inside, other=0)
    left = tl.load(value_pointer + 2 * row, mask=inside, other=0.0)
    right = tl.load(value_pointer + 2 * row + 1, mask=inside, other=0.0)
    place = row.to(tl.int64)[:, None] * depth + feature[None, :]
    z = tl.load(z_pointer + place, mask=mask, other=0.0)
    p = tl.load(p_pointer + one[:, None] * depth + feature[None, :], mask=mask, other=0.0)
    q = tl.load(p_pointer + two[:, None] * depth + feature[None, :], mask=mask, other=0.0)
    tl.store(out_pointer + place, left[:, None] * (z - p) + right[:, None] * (z - q), mask=mask)


def search(Z: Tensor, P: Tensor, squares: Tensor, y: Tensor, labels: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Own and other index, and their squared distances."""
    samples, depth = Z.shape
    own, other = (torch.empty(samples, dtype=torch.int64, device=Z.device) for _ in range(2))
    near, far = (torch.empty(samples, dtype=torch.float32, device=Z.device) for _ in range(2))
    memory = getattr(torch.cuda.get_device_properties(Z.device), "shared_memory_per_block_optin", 0)
    rows, columns, deep, warps, stages = (
        LARGE_TILE if depth > 64 and P.shape[0] > 64 and memory >= LARGE_TILE_MEMORY else SMALL_TILE
    )
    _search_kernel[(triton.cdiv(samples, rows),)](
        Z.contiguous(), P.contiguous(), squares, y, labels, own, other, near, far, samples, P.shape[0], depth,
        ROWS=rows, COLUMNS=columns, DEPTH=deep, num_warps=warps, num_stages=stages,
    )  # fmt: skip
    return own, other, near, far


def scatter(X: Tensor, index: Tensor, value: Tensor, count: int) -> tuple[Tensor, Tensor]:
    """S'X and the column sums of S, for slopes `value` (N, 2) at prototypes `index` (N, 2)."""
    samples, features = X.shape
    sums = torch.zeros((count, features), dtype=torch.float32, device=X.device)
    totals = torch.zeros(count, dtype=torch.float32, device=X.device)
    index, value, X = index.contiguous(), value.contiguous(), X.contiguous()
    small = index.reshape(-1).to(torch.int16 if count < 2**15 else torch.int32)
    ordered, order = torch.sort(small)
    _sorted_kernel[(triton.cdiv(2 * samples, 128),)](
        X, order, ordered, value, sums, totals, 2 * samples, features, ROWS=128, FEATURES=32, num_warps=2
    )
    return sums, totals


def differences(Z: Tensor, P: Tensor, index: Tensor, value: Tensor) -> Tensor:
    """sum_j s_ij (z_i - p_j) for each sample."""
    samples, depth = Z.shape
    out = torch.empty_like(Z)
    wide = min(128, triton.next_power_of_2(depth))
    _differences_kernel[(triton.cdiv(samples, 32), triton.cdiv(depth, wide))](
        Z.contiguous(), P.contiguous(), index.contiguous(), value.contiguous(), out, samples, depth,
        ROWS=32, DEPTH=wide, num_warps=4,
    )  # fmt: skip
    return out
