"""Products with Omega for one sample, and the step of rank two."""

from lvq.solvers.kernels.compiling import helper

# Four rows of Omega at a time: each vector is read once for four rows, and four sums are computed in parallel. With one
# row at a time the vectors are read again for each row, and the loops take more than twice the time.


@helper
def project(omega, x, out):
    rank, features = omega.shape
    whole = rank - rank % 4
    zero = omega.dtype.type(0)
    for r in range(0, whole, 4):
        p, q, s, t = zero, zero, zero, zero
        for k in range(features):
            value = x[k]
            p += omega[r, k] * value
            q += omega[r + 1, k] * value
            s += omega[r + 2, k] * value
            t += omega[r + 3, k] * value
        out[r], out[r + 1], out[r + 2], out[r + 3] = p, q, s, t
    for r in range(whole, rank):
        total = zero
        for k in range(features):
            total += omega[r, k] * x[k]
        out[r] = total


@helper
def pull_back(omega, first, second, first_out, second_out):
    """Omega' a for two vectors; Omega is read once."""
    rank, features = omega.shape
    whole = rank - rank % 4
    first_out[:] = 0
    second_out[:] = 0
    for r in range(0, whole, 4):
        a, b, c, d = first[r], first[r + 1], first[r + 2], first[r + 3]
        e, f, g, h = second[r], second[r + 1], second[r + 2], second[r + 3]
        for k in range(features):
            p, q, s, t = omega[r, k], omega[r + 1, k], omega[r + 2, k], omega[r + 3, k]
            first_out[k] += a * p + b * q + c * s + d * t
            second_out[k] += e * p + f * q + g * s + h * t
    for r in range(whole, rank):
        a, e = first[r], second[r]
        for k in range(features):
            first_out[k] += a * omega[r, k]
            second_out[k] += e * omega[r, k]


@helper
def rank_two_step(omega, a, u, b, v, first, second, first_out, second_out):
    """Omega -= a u' + b v', and in the same loop the products Omega `first` and Omega `second`."""
    rank, features = omega.shape
    whole = rank - rank % 4
    zero = omega.dtype.type(0)
    for r in range(rank):
        left, right = a[r], b[r]
        for k in range(features):
            omega[r, k] -= left * u[k] + right * v[k]
        if r % 4 == 3:
            r -= 3
            f0, f1, f2, f3 = zero, zero, zero, zero
            s0, s1, s2, s3 = zero, zero, zero, zero
            for k in range(features):
                one, two = first[k], second[k]
                o0, o1, o2, o3 = omega[r, k], omega[r + 1, k], omega[r + 2, k], omega[r + 3, k]
                f0, f1, f2, f3 = f0 + o0 * one, f1 + o1 * one, f2 + o2 * one, f3 + o3 * one
                s0, s1, s2, s3 = s0 + o0 * two, s1 + o1 * two, s2 + o2 * two, s3 + o3 * two
            first_out[r], first_out[r + 1], first_out[r + 2], first_out[r + 3] = f0, f1, f2, f3
            second_out[r], second_out[r + 1], second_out[r + 2], second_out[r + 3] = s0, s1, s2, s3
    for r in range(whole, rank):
        f0, s0 = zero, zero
        for k in range(features):
            f0, s0 = f0 + omega[r, k] * first[k], s0 + omega[r, k] * second[k]
        first_out[r], second_out[r] = f0, s0


@helper
def _dot(a, b):
    total = 0.0
    for k in range(a.shape[0]):
        total += a[k] * b[k]
    return total


@helper
def norm_after_step(scale, first_step, a, u, second_step, b, v):
    """|Omega - s a u' - t b v'|^2 with a = Omega u and b = Omega v, not reading Omega; 0 where digits are lost."""
    before = 1.0 / (scale * scale)
    a_square, b_square = _dot(a, a), _dot(b, b)
    gain = first_step * first_step * a_square * _dot(u, u) + second_step * second_step * b_square * _dot(v, v)
    gain += before + 2.0 * first_step * second_step * _dot(a, b) * _dot(u, v)
    after = gain - 2.0 * (first_step * a_square + second_step * b_square)
    return after if after > 1e-4 * gain else 0.0


@helper
def update_projections(W, P, low, high, a, u, b, v):
    """P_i = Omega w_i for prototypes that did not move, after Omega -= a u' + b v': O(m + n) each."""
    for i in range(low, high - (high - low) % 2, 2):
        zero = W.dtype.type(0)
        p, q, s, t = zero, zero, zero, zero
        for k in range(W.shape[1]):
            left, right = u[k], v[k]
            p += left * W[i, k]
            q += right * W[i, k]
            s += left * W[i + 1, k]
            t += right * W[i + 1, k]
        for r in range(P.shape[1]):
            left, right = a[r], b[r]
            P[i, r] -= left * p + right * q
            P[i + 1, r] -= left * s + right * t
    if (high - low) % 2:
        i = high - 1
        p, q = W.dtype.type(0), W.dtype.type(0)
        for k in range(W.shape[1]):
            p += u[k] * W[i, k]
            q += v[k] * W[i, k]
        for r in range(P.shape[1]):
            P[i, r] -= a[r] * p + b[r] * q


@helper
def difference_from(rows, i, x, out):
    for k in range(x.shape[0]):
        out[k] = x[k] - rows[i, k]


@helper
def square_norm(omega):
    total = 0.0
    for r in range(omega.shape[0]):
        for k in range(omega.shape[1]):
            total += float(omega[r, k]) * float(omega[r, k])
    return total
