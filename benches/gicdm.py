"""Precision, recall, density and coverage beside prdc, in CPU seconds on one thread.

    python benches/gicdm.py

Needs numpy and prdc. Double precision on both sides; the scores are compared to 1e-12.
"""

import os

for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[name] = "1"
os.environ["RAYON_NUM_THREADS"] = "1"

import contextlib
import io

import numpy as np
from prdc import compute_prdc as peer

from clock import cpu
from metier.geometry import GICDM, compute_prdc


def main():
    rng = np.random.default_rng(0)
    print("CPU seconds, one thread, nearest_k = 5\n")
    print(f"{'points':>7} {'columns':>8} {'metier s':>9} {'prdc s':>8} {'ratio':>6} {'corrected s':>12}")
    for rows, columns in [(2000, 64), (5000, 64), (5000, 768)]:
        real, fake = rng.normal(size=(2, rows, columns))
        mine, found = cpu(lambda: compute_prdc(real, fake, 5), 3)
        with contextlib.redirect_stdout(io.StringIO()):
            theirs, right = cpu(lambda: peer(real, fake, 5), 3)
        worst = max(abs(found[name] - right[name]) for name in right)
        if worst > 1e-12:
            raise SystemExit(f"the scores differ by {worst}")
        both, _ = cpu(lambda: GICDM(verbose=False).fit(real).score(fake), 1)
        ratio = theirs / mine
        print(f"{rows:>7} {columns:>8} {mine:>9.2f} {theirs:>8.2f} {ratio:>6.1f} {both:>12.2f}", flush=True)


if __name__ == "__main__":
    main()
