"""Measures the cases of a rival and prints the results as JSON: the main program of each rival's script.

A rival's script gives `main` a function from a number of threads (0: one per core) to its cases,
{name: {mode: build}}. `build()` prepares a step and returns a `Step`.
"""

import argparse
import json
import re
import sys
import threading
import time
from dataclasses import dataclass
from typing import Callable


@dataclass
class Step:
    run: Callable[[], object]
    items: int = 1  # nodes, samples or operations per run, as the case counts
    parameters: int = 0  # number of trained parameters of a training step


def callers(step, count, steps=6400):
    """Returns a Step in which `count` threads concurrently call `step`, `steps` times in total."""
    steps_each = steps // count
    round_barrier = threading.Barrier(count + 1)

    def work():
        while True:
            round_barrier.wait()
            for _ in range(steps_each):
                step()
            round_barrier.wait()

    for _ in range(count):
        threading.Thread(target=work, daemon=True).start()

    def run():
        round_barrier.wait()
        round_barrier.wait()

    return Step(run, count * steps_each)


def seconds_per_run(run, budget, clock):
    """Returns the mean time of runs over about `budget` seconds, after a run that is not counted."""
    run()
    count = 1
    while True:
        start = clock()
        for _ in range(count):
            run()
        taken = clock() - start
        if taken >= budget / 2:
            return taken / count
        # At most ten times as many: the first runs are slower.
        count = min(10 * count, max(2 * count, int(count * budget / max(taken, 1e-9))))


def peak_bytes():
    with open("/proc/self/status", encoding="utf-8") as status:
        for line in status:
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) * 1024
    return None


class Bench:
    def __init__(self, cases, options):
        self._cases = cases
        self._budget = options.seconds
        self._clock = {"wall": time.perf_counter, "cpu": time.process_time}[options.clock]
        self._ready = {}

    def measure(self, name):
        results = []
        for mode, build in self._cases.get(name, {}).items():
            step = self._ready.get((name, mode))
            if step is None:
                step = self._ready[name, mode] = build()
            seconds = seconds_per_run(step.run, self._budget, self._clock)
            results.append({"name": name, "mode": mode, "seconds": seconds,
                            "items_per_second": step.items / seconds})
        return results


def losses(step):
    def number(result):
        return float(result[0] if isinstance(result, (list, tuple)) else result)
    return {"parameters": step.parameters, "losses": [number(step.run()), number(step.run())]}


def main(description, make_cases):
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--cases", default="", metavar="REGEX", help="measure these; default all")
    parser.add_argument("--modes", default="", metavar="REGEX", help="in these modes; default all")
    parser.add_argument("--threads", type=int, default=0, help="number of threads; 0: one per core")
    parser.add_argument("--seconds", type=float, default=1.0, help="duration of a measurement")
    parser.add_argument("--clock", choices=["wall", "cpu"], default="wall",
                        help="cpu: processor time of all threads")
    parser.add_argument("--list", action="store_true", help="print the names of the cases")
    parser.add_argument("--serve", action="store_true",
                        help="read names of cases, one per line, and answer each with a line of JSON")
    parser.add_argument("--losses", metavar="CASE",
                        help="print the number of parameters and the losses of the first two steps")
    parser.add_argument("--peak-memory", metavar="CASE",
                        help="run a case 50 times; print the peak memory of the process")
    options = parser.parse_args()
    cases = {name: {mode: build for mode, build in modes.items()
                    if re.search(options.modes, mode)}
             for name, modes in make_cases(options.threads).items()}
    if options.list:
        print("\n".join(cases))
    elif options.losses:
        print(json.dumps({mode: losses(build()) for mode, build in cases[options.losses].items()}))
    elif options.peak_memory:
        mode, build = next(iter(cases[options.peak_memory].items()))
        step = build()
        for _ in range(50):
            step.run()
        print(json.dumps([{"name": "memory/" + options.peak_memory, "mode": mode,
                           "bytes": peak_bytes()}]))
    elif options.serve:
        bench = Bench(cases, options)
        for line in sys.stdin:
            print(json.dumps(bench.measure(line.strip())), flush=True)
    else:
        bench = Bench(cases, options)
        chosen = [name for name in cases if re.search(options.cases, name)]
        print(json.dumps([result for name in chosen for result in bench.measure(name)], indent=2))
