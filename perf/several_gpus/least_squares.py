# SPDX-License-Identifier: Apache-2.0
"""Least squares of a few unknowns, without a library."""

ROUNDS, CLOSE = 12, 3e-3


def solve(matrix, right):
    """By Gauss and Jordan; small."""
    rows = [list(row) + [value] for row, value in zip(matrix, right)]
    size = len(rows)
    for i in range(size):
        best = max(range(i, size), key=lambda r: abs(rows[r][i]))
        rows[i], rows[best] = rows[best], rows[i]
        for r in range(size):
            if r != i and rows[i][i] != 0:
                factor = rows[r][i] / rows[i][i]
                rows[r] = [a - factor * b for a, b in zip(rows[r], rows[i])]
    return [row[-1] / row[i] if row[i] else 0.0 for i, row in enumerate(rows)]


def least_squares(residuals, start):
    """Levenberg's: `start`, logarithms of the coefficients; `residuals` of a list of such lists at once."""
    at, damping = list(start), 0.01
    here = residuals([at])[0]
    for _ in range(ROUNDS):
        step = 0.02
        moved = residuals([[v + step * (i == j) for i, v in enumerate(at)] for j in range(len(at))])
        slopes = [[(a - b) / step for a, b in zip(column, here)] for column in moved]
        gradient = [-sum(a * b for a, b in zip(slope, here)) for slope in slopes]
        while True:
            normal = [[sum(a * b for a, b in zip(one, other)) * (1 + damping * (i == j))
                       for j, other in enumerate(slopes)] for i, one in enumerate(slopes)]
            change = [max(-1.0, min(1.0, c)) for c in solve(normal, gradient)]
            there = residuals([[v + c for v, c in zip(at, change)]])[0]
            if sum(r * r for r in there) < sum(r * r for r in here):
                at, here, damping = [v + c for v, c in zip(at, change)], there, damping / 5
                break
            damping *= 10
            if damping > 1e4:
                return at
        if max(abs(c) for c in change) < CLOSE:
            break
    return at
