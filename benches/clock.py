"""CPU seconds of a call, for the benchmarks."""

import time

import numpy as np


def cpu(run, repeats):
    """The median of several runs, and what the last one returned."""
    times = []
    for _ in range(repeats):
        begun = time.process_time()
        result = run()
        times.append(time.process_time() - begun)
    return float(np.median(times)), result
