"""The HiPPO matrix and its limit beside NumPy and SciPy, in CPU seconds on one thread.

    python benches/hippo.py

Needs numpy and scipy. The peers are what people write today: a dense eigen-solve of the matrix,
SciPy's Bessel functions for the kernels, NumPy's transforms and products for the states.
"""

import os

for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[name] = "1"

import json
import subprocess

import numpy as np
from scipy.special import j0, j1, jv

from built import program
from clock import cpu

STATES, SAMPLES, DT = 64, 16_384, 0.25


def dense(n):
    root = np.sqrt(2 * np.arange(n) + 1)
    below = np.tril(np.outer(root, root), -1)
    return np.linalg.eigh(1j * (below - below.T) / 2)


def nodes():
    u, w = np.polynomial.legendre.leggauss(STATES)
    return (u + 1) / 2, np.sqrt(w / 2)


def nodes_point():
    u, root = nodes()
    t = (np.arange(SAMPLES) + 0.5) * DT
    return root[:, None] * j0(2 * np.sqrt(t * u[:, None]))


def nodes_zoh():
    u, root = nodes()
    t = np.arange(SAMPLES + 1) * DT
    z = np.sqrt(t * u[:, None])
    return root[:, None] * np.diff(np.sqrt(t / u[:, None]) * j1(2 * z), axis=1)


def legendre_point():
    n = np.arange(STATES)[:, None]
    t = (np.arange(SAMPLES) + 0.5) * DT
    return np.sqrt(2 * n + 1) * (-1.0) ** n * jv(2 * n + 1, 2 * np.sqrt(t)) / np.sqrt(t)


def transform(bank, u):
    size = 2 * SAMPLES
    return np.fft.irfft(np.fft.rfft(bank, size) * np.fft.rfft(u, size), size)[:, :SAMPLES]


def main():
    bank = nodes_zoh()
    one, many = np.sin(np.arange(SAMPLES)), np.sin(np.add.outer(np.arange(256), np.arange(SAMPLES)))
    peers = {
        ("spectrum", 1024): ("dense eigen-solve", lambda: dense(1024), 1),
        ("eigenvectors", 1024): ("dense eigen-solve", lambda: dense(1024), 1),
        ("nodes-point", STATES * SAMPLES): ("scipy j0", nodes_point, 5),
        ("nodes-zoh", STATES * SAMPLES): ("scipy j1", nodes_zoh, 5),
        ("legendre-point", STATES * SAMPLES): ("scipy jv", legendre_point, 1),
        ("transform", SAMPLES): ("numpy rfft", lambda: transform(bank, one), 5),
        ("last-state", 256): ("numpy product", lambda: many[:, ::-1] @ bank.T, 5),
    }
    example = subprocess.run([program("hippo_bench")], check=True, capture_output=True, text=True)
    print(f"CPU seconds, one thread; kernels of {STATES} states over {SAMPLES} samples\n")
    print(f"{'case':>14} {'size':>8} {'metier s':>10} {'peer':>18} {'peer s':>9} {'ratio':>8}")
    for line in example.stdout.splitlines():
        row = json.loads(line)
        text = f"{row['case']:>14} {row['size']:>8} {row['seconds']:>10.6f}"
        if peer := peers.get((row["case"], row["size"])):
            name, run, repeats = peer
            seconds, _ = cpu(run, repeats)
            text += f" {name:>18} {seconds:>9.4f} {seconds / row['seconds']:>8.1f}"
        print(text, flush=True)


if __name__ == "__main__":
    main()
