"""Newton-Schulz orthogonalization beside the same five steps in NumPy, on one thread each.

    python benches/olion.py

Needs NumPy, and what `make bench` builds. Times are CPU seconds, medians of seven.
"""

import json
import os
import subprocess
import sys
import time

# One thread each, and OpenBLAS free to choose its own kernels; both are read when NumPy is imported.
for name in ("OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE"):
    os.environ.pop(name, None)
os.environ["OPENBLAS_NUM_THREADS"] = "1"

import numpy as np

from built import program

SHAPES = [(768, 3072), (768, 768), (64, 256)]
A, B, C = 3.4445, -4.7750, 2.0315


def newton_schulz(g, steps=5):
    """What a user of NumPy would write, following the reference."""
    x = g.T if g.shape[0] > g.shape[1] else g
    x = x / (np.linalg.norm(x) + 1e-7)
    for _ in range(steps):
        gram = x @ x.T
        x = A * x + (B * gram + C * (gram @ gram)) @ x
    return x.T if g.shape[0] > g.shape[1] else x


def median_seconds(work, repeats=7):
    work()
    times = []
    for _ in range(repeats):
        start = time.process_time()
        work()
        times.append(time.process_time() - start)
    return sorted(times)[repeats // 2]


def main():
    print("olion: Newton-Schulz, 5 steps, f32, one thread")
    print("shape        metier s   numpy s   ratio   metier GF/s   gemm GF/s   share")
    for rows, columns in SHAPES:
        command = [program("newton_schulz_rate"), str(rows), str(columns)]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode != 0:
            sys.exit(done.stderr)
        ours = json.loads(done.stdout)
        g = np.random.default_rng(0).standard_normal((rows, columns), dtype=np.float32)
        # Small matrices take less than the clock can tell.
        calls = max(1, 10**8 // (rows * rows * columns))
        peer = median_seconds(lambda: [newton_schulz(g) for _ in range(calls)]) / calls
        print(
            f"{rows:4}x{columns:<6} {ours['cpu_seconds']:9.5f} {peer:9.5f}"
            f" {peer / ours['cpu_seconds']:7.2f} {ours['gflops']:13.1f}"
            f" {ours['gemm_gflops']:11.1f} {ours['share_of_gemm']:7.2f}"
        )


if __name__ == "__main__":
    main()
