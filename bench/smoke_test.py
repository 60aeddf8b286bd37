#!/usr/bin/env python3
"""Runs each benchmark for a moment: smoke_test.py TROUPE_BENCH ARGUMENT...

A benchmark that reports an error runs a second time, by itself: those that measure tasks and deadlines
may be late on a busy machine. The errors are repeated at the end of the output."""

import re
import subprocess
import sys

program, arguments = sys.argv[1], sys.argv[2:]


def failures_of(command):
    """Returns the lines of the benchmarks that report an error, by the benchmark's name."""
    errors = {}
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                               errors="replace")
    for line in process.stdout:
        sys.stdout.write(line)
        if "ERROR OCCURRED" in line:
            errors[line.split()[0]] = line
    sys.stdout.flush()
    if process.wait() != 0:
        sys.exit(f"{' '.join(command)}: ended with {process.returncode}")
    return errors


first = failures_of([program, *arguments])
repeated = {}
for name in first:
    repeated |= failures_of([program, "--benchmark_min_time=0.001",
                             f"--benchmark_filter=^{re.escape(name)}$"])
for line in first.values():
    print("the first time:", line, end="")
if repeated:
    sys.exit("failed twice:\n" + "".join(repeated.values()))
