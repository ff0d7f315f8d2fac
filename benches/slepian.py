"""Slepian features beside pyshtools and a separable NumPy prototype, in CPU seconds on one thread.

    python benches/slepian.py [--quick]

Needs numpy, scipy and pyshtools. Every figure is CPU time of one thread in the same run, so that a
busy machine changes little. pyshtools rotates and expands one function at a time, in the way of the
paper's reference code; its cost per function is measured on a few and multiplied by their number.
"""

import os

for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[name] = "1"

import json
import subprocess
import sys
import time

import numpy as np
from scipy.linalg import eigh_tridiagonal

from built import program
from clock import cpu

CENTRE = (-119.5, 37.0)
RADIUS = 7.5
POINTS = 20_640


def legendre(l_max, m, mu):
    """Rows X_lm(mu) for l = m..l_max."""
    s = np.sqrt(1 - mu * mu)
    k = np.arange(1, m + 1)
    norm = np.sqrt((2 * m + 1) / (4 * np.pi) * np.prod((2 * k - 1) / (2 * k)))
    x = np.zeros((l_max - m + 1, len(mu)))
    x[0] = norm * s**m
    if l_max > m:
        x[1] = np.sqrt(2 * m + 3) * mu * x[0]
    for l in range(m + 2, l_max + 1):
        a = np.sqrt((4 * l * l - 1) / (l * l - m * m))
        b = np.sqrt(((l - 1) ** 2 - m * m) / (4 * (l - 1) ** 2 - 1))
        x[l - m] = a * (mu * x[l - m - 1] - b * x[l - m - 2])
    return x


def numpy_basis(l_max, thresh=0.05):
    c = np.cos(np.radians(RADIUS))
    x, w = np.polynomial.legendre.leggauss(l_max + 1)
    mu, w = 0.5 * (1 - c) * x + 0.5 * (1 + c), 0.5 * (1 - c) * w
    orders = {}
    for m in range(l_max + 1):
        l = np.arange(m, l_max + 1)
        low = l[:-1]
        off = (low * (low + 2) - l_max * (l_max + 2)) * np.sqrt(
            ((low + 1) ** 2 - m * m) / ((2 * low + 1) * (2 * low + 3))
        )
        _, v = eigh_tridiagonal(-l * (l + 1) * c, off) if len(l) > 1 else (None, np.ones((1, 1)))
        energy = 2 * np.pi * ((v.T @ legendre(l_max, m, mu)) ** 2 @ w)
        if (energy > thresh).any():
            orders[m] = v[:, energy > thresh].T
        if m and energy.max() < 1e-6:
            break
    return orders


def numpy_evaluate(orders, l_max, lon, lat, block=4096):
    blocks = []
    for i in range(0, len(lon), block):
        turned, y = np.radians(lon[i : i + block] - CENTRE[0]), np.radians(lat[i : i + block])
        b = np.radians(90 - CENTRE[1])
        px, py, pz = np.cos(y) * np.cos(turned), np.cos(y) * np.sin(turned), np.sin(y)
        mu = np.clip(px * np.sin(b) + pz * np.cos(b), -1, 1)
        phi = np.arctan2(py, px * np.cos(b) - pz * np.sin(b))
        columns = []
        for m, g in orders.items():
            values = g @ legendre(l_max, m, mu)
            if m:
                columns += [np.sqrt(2) * values * np.cos(m * phi), np.sqrt(2) * values * np.sin(m * phi)]
            else:
                columns.append(values)
        blocks.append(np.vstack(columns).T.astype(np.float32))
    return np.vstack(blocks)


def pyshtools_route(l_max, modes, lon, lat, sample):
    import pyshtools as pysh

    basis, slepian = cpu(lambda: pysh.Slepian.from_cap(RADIUS, l_max), 1)
    lon, lat = np.array(lon), np.array(lat)

    def one(k):
        rotated = slepian.to_shcoeffs(k, normalization="4pi").rotate(
            0.0, 90.0 - CENTRE[1], CENTRE[0], degrees=True
        )
        return rotated.expand(lat=lat, lon=lon)

    begun = time.process_time()
    for k in range(sample):
        one(k)
    return basis + (time.process_time() - begun) / sample * modes


def main():
    quick = "--quick" in sys.argv
    example = subprocess.run([program("slepian_bench")], check=True, capture_output=True, text=True)
    ours = [json.loads(line) for line in example.stdout.splitlines()]
    rng = np.random.default_rng(0)
    lon, lat = rng.uniform(-124.3, -114.3, POINTS), rng.uniform(32.5, 42.0, POINTS)
    print(f"CPU seconds, one thread, {POINTS} points\n")
    print(f"{'region':>6} {'L':>4} {'modes':>5} {'basis':>9} {'evaluate':>9} {'numpy':>9} {'ratio':>6} {'pyshtools':>10} {'ratio':>7}")
    for row in ours:
        l_max, total = row["l"], row["basis"] + row["evaluate"]
        line = f"{row['region']:>6} {l_max:>4} {row['modes']:>5} {row['basis']:>9.4f} {row['evaluate']:>9.4f}"
        if row["region"] == "cap" and l_max <= 120:
            made, orders = cpu(lambda: numpy_basis(l_max), 3)
            spent, _ = cpu(lambda: numpy_evaluate(orders, l_max, lon, lat), 3)
            line += f" {made + spent:>9.4f} {(made + spent) / total:>6.1f}"
            if l_max in (40, 120) and not quick:
                peer = pyshtools_route(l_max, row["modes"], lon, lat, 2)
                line += f" {peer:>10.2f} {peer / total:>7.0f}"
        print(line, flush=True)


if __name__ == "__main__":
    main()
