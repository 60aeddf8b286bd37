#!/usr/bin/env python3
"""Measures the cost of the same kills and stops for TensorFlow's parameter-server strategy and PyTorch's elastic
launcher.

    tests/chaos/rivals/main.py --python VENV/bin/python tensorflow torch

A supervisor that restarts ended processes after a second is part of the measurement."""

import argparse
import gzip
import json
import os
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import threading
import time

HERE = os.path.dirname(os.path.realpath(__file__))
sys.path.insert(0, os.path.dirname(HERE))

import judge  # noqa: E402
from cluster import ends_with_us, free_ports  # noqa: E402

STOP_SECONDS, RESTART_SECONDS, STEADY_SECONDS, LIMIT_SECONDS = 12, 1, 6, 150


class Rival:
    def __init__(self, python, folder):
        self.python, self.folder = python, folder
        self.lines_path = f"{folder}/lines"
        open(self.lines_path, "w", encoding="ascii").close()
        self.data = f"{folder}/digits.csv"
        self.processes = {}

    def lines(self):
        with open(self.lines_path, encoding="utf-8") as file:
            return [json.loads(line) for line in file if line.endswith("\n")]

    def spawn(self, name, command):
        with open(f"{self.folder}/{name}.log", "ab") as log:
            self.processes[name] = subprocess.Popen(command, stdout=log, stderr=log, cwd=HERE,
                                                    preexec_fn=ends_with_us)

    def kill(self, name):
        process = self.processes.pop(name)
        process.kill()
        process.wait()

    def end(self):
        for name in list(self.processes):
            self.kill(name)


class TensorFlow(Rival):
    name = "TensorFlow, parameter-server strategy (asynchronous)"
    events = ["kill worker", "stop worker", "kill ps", "kill client"]

    def begin(self):
        ports = free_ports(7)
        self.cluster = json.dumps({"chief": [f"127.0.0.1:{ports[0]}"],
                                   "ps": [f"127.0.0.1:{port}" for port in ports[1:3]],
                                   "worker": [f"127.0.0.1:{port}" for port in ports[3:]]})
        for job, count in ("ps", 2), ("worker", 4):
            for number in range(count):
                self.start(f"{job}{number}")
        self.start("chief0")
        self.over = threading.Event()
        threading.Thread(target=self.supervise, daemon=True).start()

    def start(self, name):
        self.spawn(name, [self.python, f"{HERE}/tensorflow_task.py", name[:-1], name[-1], self.cluster,
                          *([self.data, self.lines_path, f"{self.folder}/checkpoints"] if name == "chief0" else [])])

    def supervise(self):
        while not self.over.wait(0.1):
            for name, process in list(self.processes.items()):
                if process.poll() is not None and not self.over.wait(RESTART_SECONDS):
                    self.start(name)

    def damage(self, what, turn):
        victim = {"worker": f"worker{turn % 4}", "ps": f"ps{turn % 2}", "client": "chief0"}[what.split()[1]]
        process = self.processes[victim]
        if what.startswith("kill"):
            process.kill()  # the supervisor notices
            return time.monotonic() + RESTART_SECONDS
        process.send_signal(signal.SIGSTOP)
        time.sleep(STOP_SECONDS)
        process.send_signal(signal.SIGCONT)
        return time.monotonic()

    def end(self):
        self.over.set()
        super().end()


class Torch(Rival):
    name = "PyTorch, elastic launcher (synchronous)"
    events = ["kill worker", "stop worker", "kill client"]

    def begin(self):
        self.start()

    def start(self):
        self.spawn("agent", [self.python, "-m", "torch.distributed.run", "--nnodes=1", "--nproc-per-node=4",
                             "--max-restarts=1000", "--standalone",
                             f"{HERE}/torch_task.py", self.data, self.lines_path, f"{self.folder}/checkpoint"])

    def workers(self):
        return {one["replica"]: one["pid"] for one in self.lines() if one["what"] == "started"}

    def damage(self, what, turn):
        if what == "kill client":
            workers = self.workers()
            self.kill("agent")
            for pid in workers.values():  # these do not end with the launcher
                os.kill(pid, signal.SIGKILL)
            time.sleep(RESTART_SECONDS)
            self.start()
            return time.monotonic()
        pid = self.workers()[turn % 4]
        if what == "kill worker":
            os.kill(pid, signal.SIGKILL)
            return time.monotonic()
        os.kill(pid, signal.SIGSTOP)
        time.sleep(STOP_SECONDS)
        os.kill(pid, signal.SIGCONT)
        return time.monotonic()

    def end(self):
        workers = self.workers()
        super().end()
        for pid in workers.values():
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass


def await_steps(rival, since):
    """Waits until all four have ended steps after this time. Returns when; nothing if they do not."""
    end = time.monotonic() + LIMIT_SECONDS
    while time.monotonic() < end:
        time.sleep(0.2)
        first = {}
        for one in rival.lines():
            if one["what"] == "step" and one["t"] > since:
                first.setdefault(one["replica"], one["t"])
        if len(first) == 4:
            return max(first.values())
    return None


def measure(kind, python, rounds):
    folder = tempfile.mkdtemp(prefix="rivals-")
    root = os.path.dirname(os.path.dirname(os.path.dirname(HERE)))
    with gzip.open(f"{root}/examples/data/digits.csv.gz", "rb") as packed, \
            open(f"{folder}/digits.csv", "wb") as plain:
        shutil.copyfileobj(packed, plain)
    rival, found = kind(python, folder), {}
    try:
        begun = time.monotonic()
        rival.begin()
        if not await_steps(rival, begun):
            sys.exit(f"{kind.name} does not train; see {folder}")
        for turn in range(rounds):
            for what in kind.events:
                time.sleep(STEADY_SECONDS)
                begun = time.monotonic()
                healed = rival.damage(what, turn)
                until = await_steps(rival, healed)
                lines = rival.lines()
                pause = judge.longest_pause(lines, begun, until or time.monotonic())
                again = None if until is None else until - healed
                print(f"{kind.name}: {what}: pause {pause:.2f} s, whole again {judge.seconds(again)} s", flush=True)
                found.setdefault(what, []).append((pause, again))
    finally:
        rival.end()
    shutil.rmtree(folder, ignore_errors=True)
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    kinds = {"tensorflow": TensorFlow, "torch": Torch}
    parser.add_argument("rivals", nargs="+", choices=kinds)
    parser.add_argument("--python", default=sys.executable, help="one that can import them (bench/rivals/install)")
    parser.add_argument("--rounds", type=int, default=3, help="of all events; default 3")
    options = parser.parse_args()
    rows = ["| | event | pause: median, longest | whole again |", "|---|---|--:|--:|"]
    for name in options.rivals:
        for what, all_of in measure(kinds[name], options.python, options.rounds).items():
            pauses, again = [one for one, _ in all_of], [one for _, one in all_of if one is not None]
            rows.append(f"| {kinds[name].name} | {what} | {statistics.median(pauses):.2f}, {max(pauses):.2f} | "
                        f"{statistics.median(again):.2f} |" if again else "never |")
    print("\n" + "\n".join(rows))


if __name__ == "__main__":
    main()
