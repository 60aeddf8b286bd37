#!/usr/bin/env python3
"""Trains on a cluster of real processes during faults, and checks the results: scripts/chaos."""

import argparse
import gzip
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

import judge
from cluster import CLIENT, TASKS, Cluster, memory_of
from events import Deck, FullDisk, can_move_monotonic_clocks
from network import Network, why_not

MODES = ["sync", "async", "all_reduce"]
WORKERS = sum(name.startswith("worker") for name in TASKS)
WALL_CLOCK = "/usr/lib/x86_64-linux-gnu/faketime/libfaketimeMT.so.1"
REST_SECONDS = 2  # between events
END_SECONDS = 45  # how long a training may take to end after the request
DISK_BYTES = "2m"  # of the file system of checkpoints, some 30 of them


def say(*words):
    print("chaos:", *words, flush=True)


class Run:
    def __init__(self, options, root):
        self.options, self.root = options, root
        self.begun = time.monotonic()
        self.folder = tempfile.mkdtemp(prefix="chaos-")
        self.dice = random.Random(options.seed)
        self.outcomes, self.problems, self.undisturbed = [], [], {}
        self.memory, self.progress = judge.Memory(), judge.Progress()
        self.stopped, self.read = [], 0
        self.over = threading.Event()
        missing = self.make_surroundings()
        self.deck = Deck(self.dice, missing)
        with gzip.open(f"{root}/examples/data/digits.csv.gz", "rb") as packed, \
                open(f"{self.folder}/digits.csv", "wb") as plain:
            shutil.copyfileobj(packed, plain)
        self.cluster = Cluster(options.build, self.folder, self.network,
                               "" if "clock" in missing else WALL_CLOCK, not options.insecure)

    def make_surroundings(self):
        """Makes the network, the disk and the clocks that this machine supports. Returns the missing ones, and prints why."""
        missing = set()
        self.network = None
        why = "--loopback is given" if self.options.loopback else why_not()
        if not why:
            try:
                self.network = Network([CLIENT, *TASKS], self.options.seed)
            except OSError as error:
                why = str(error)
        if why:
            missing.add("network")
            say("no loss, delay or partitions:", why)
        self.disk = f"{self.folder}/disk"
        os.mkdir(self.disk)
        mounted = os.geteuid() == 0 and subprocess.run(
            ["mount", "-t", "tmpfs", "-o", f"size={DISK_BYTES}", "none", self.disk], check=False).returncode == 0
        if not mounted:
            missing.add("disk")
            say("no full disk: only root can mount a small file system")
        if not os.path.exists(WALL_CLOCK):
            missing.add("clock")
            say(f"no jumps of the wall clock: {WALL_CLOCK} does not exist (package libfaketime)")
        if not can_move_monotonic_clocks():
            missing.add("time namespaces")
            say("no restarts with another monotonic clock: this machine has no time namespaces, or the user is not root")
        return missing

    # -- used by events

    def start_client(self):
        self.cluster.start_client(self.mode, self.checkpoints)

    # -- the run

    def all_of_it(self):
        for name in TASKS:
            self.cluster.start(name)
        threading.Thread(target=self.watch_memory, daemon=True).start()
        seconds = self.options.minutes * 60
        modes = self.options.mode or MODES
        for mode in modes:
            self.train(mode, min(15, seconds / 4), undisturbed=True)
        turns = len(modes) * max(1, round(seconds / 450))
        for turn in range(turns):
            self.train(modes[turn % len(modes)], seconds / turns)
        self.over.set()
        self.problems += self.memory.problems()

    def train(self, mode, seconds, undisturbed=False):
        self.mode = mode
        self.checkpoints = "" if undisturbed else tempfile.mkdtemp(prefix=f"{mode}-", dir=self.disk)
        self.progress.begin()
        self.read = len(self.cluster.lines)
        self.start_client()
        end = time.monotonic() + seconds
        if not self.train_until_whole(time.monotonic()):
            self.problem(f"{mode}: the training does not begin")
        while not undisturbed and time.monotonic() < end - 5:
            self.damage(self.deck.next())
            if self.cluster.processes[CLIENT].poll() is not None:
                break  # the end of the training reports this
            time.sleep(REST_SECONDS)
        time.sleep(max(0, end - time.monotonic()))
        self.finish(mode, undisturbed)
        shutil.rmtree(self.checkpoints, ignore_errors=True)

    def finish(self, mode, undisturbed):
        """Ends the training in order, and checks its accuracy."""
        client, first = self.cluster.processes[CLIENT], self.read
        client.send_signal(signal.SIGTERM)
        ended = self.cluster.wait_for(lambda: client.poll() is not None, time.monotonic() + END_SECONDS)
        time.sleep(0.2)  # for its last lines
        said = {one["what"]: one for one in self.cluster.since(first)}
        if not ended:
            self.problem(f"{mode}: the training does not end within {END_SECONDS} s")
        elif client.returncode != 0 or "accuracy" not in said:
            self.problem(f"{mode}: the training ended with {client.returncode}: "
                         f"{said.get('failed', {}).get('text', 'without a message')}")
        self.look(None)
        self.cluster.kill(CLIENT)
        if "accuracy" not in said:
            return
        value = float(said["accuracy"]["value"])
        say(f"{mode}{', undisturbed' if undisturbed else ''}: {said['end']['step']} steps, accuracy {value:.1f} %, "
            f"replicas (steps/failures) {said['end']['replicas']}")
        steps = int(said["end"]["step"])
        if undisturbed:
            self.undisturbed[mode] = steps, value
        elif mode in self.undisturbed and value < judge.least_accuracy(steps, *self.undisturbed[mode]):
            self.problem(f"{mode}: accuracy {value:.1f} %, and {self.undisturbed[mode][1]:.1f} % undisturbed")

    def train_until_whole(self, since):
        first = self.read
        return self.cluster.wait_for(
            lambda: judge.is_whole(self.cluster.since(first, since), since, WORKERS)
            or self.cluster.processes[CLIENT].poll() is not None,
            time.monotonic() + judge.WHOLE_SECONDS) and self.cluster.processes[CLIENT].poll() is None

    def damage(self, event):
        self.look(None)
        first = self.read
        begun = time.monotonic()
        say(f"{begun - self.begun:6.1f} s  {self.mode}: {event.kind} {event.how} {' '.join(event.targets)}")
        event.begin(self)
        time.sleep(event.seconds)
        event.end(self)
        healed = time.monotonic()
        if CLIENT in event.targets:
            self.stopped.append((begun, healed))
        whole = self.train_until_whole(healed)
        if isinstance(event, FullDisk):  # ends when a checkpoint is on the disk again
            whole = self.cluster.wait_for(
                lambda: any(one["what"] == "saved" for one in self.cluster.since(first, healed)),
                time.monotonic() + judge.WHOLE_SECONDS)
        until = time.monotonic()
        lines = self.cluster.since(first)
        outcome = judge.Outcome(
            len(self.outcomes) + 1, self.mode, event.kind, event.how, " ".join(event.targets), begun - self.begun,
            healed - begun, judge.detected_after(event, lines, begun), judge.longest_pause(lines, begun, until),
            until - healed if whole else None)
        self.outcomes.append(outcome)
        if not whole:
            outcome.problems.append(f"not all replicas train within {judge.WHOLE_SECONDS} s")
        if event.spares_training() and outcome.pause > judge.PAUSE_SECONDS[self.mode]:
            outcome.problems.append(
                f"no replica ended a step for {outcome.pause:.1f} s, though one worker was hit alone")
        outcome.problems += judge.bystanders(event, lines)
        before = self.progress.lost_steps
        outcome.problems += self.look(event, begun)
        outcome.lost_steps = self.progress.lost_steps - before
        for one in outcome.problems:
            self.problem(f"event {outcome.number}, {self.mode}, {event.kind} {outcome.target}: {one}")

    def look(self, event, begun=None):
        """Checks all lines that were not checked yet."""
        lines = self.cluster.since(self.read)
        self.read += len(lines)
        self.progress.read(lines, isinstance(event, FullDisk), begun)
        found = judge.late(lines, self.stopped) + self.progress.problems
        self.progress.problems = []
        if event is None:
            for one in found:
                self.problem(f"{self.mode}: {one}")
        return found

    def problem(self, text):
        say("BAD:", text)
        self.problems.append(text)

    def watch_memory(self):
        while not self.over.wait(1):
            for name, process in list(self.cluster.processes.items()):
                self.memory.note(name, process.pid, time.monotonic(), memory_of(process.pid))

    def close(self):
        self.over.set()
        self.cluster.end()
        if self.network:
            self.network.close()
        subprocess.run(["umount", self.disk], capture_output=True, check=False)
        if not self.options.keep:
            shutil.rmtree(self.folder, ignore_errors=True)


def parse():
    parser = argparse.ArgumentParser(prog="scripts/chaos", description=__doc__)
    parser.add_argument("minutes", type=float, nargs="?", default=10, help="how long; default 10")
    parser.add_argument("--seed", type=int, default=1, help="draws all events; default 1")
    parser.add_argument("--mode", choices=MODES, action="append", help="trains only in this mode; may be repeated")
    parser.add_argument("--loopback", action="store_true", help="use the loopback interface instead of network namespaces")
    parser.add_argument("--insecure", action="store_true", help="no TLS between network namespaces")
    parser.add_argument("--keep", action="store_true", help="keep the folder with the logs of the processes")
    parser.add_argument("--json", metavar="FILE", help="also write the outcome of each event to FILE")
    parser.add_argument("--build", required=True, help=argparse.SUPPRESS)
    return parser.parse_args()


def main():
    options = parse()
    root = os.path.dirname(os.path.dirname(os.path.dirname(os.path.realpath(__file__))))
    run = Run(options, root)
    if options.keep:
        say("logs are in", run.folder)
    try:
        run.all_of_it()
    finally:
        run.close()
    print("\n" + judge.table(run.outcomes) + "\n\n" + judge.summary(run.outcomes) + "\n")
    say("MiB at the end:", ", ".join(f"{name} {mib:.0f}" for name, mib in sorted(run.memory.most().items())))
    say(f"seed {options.seed}: {len(run.outcomes)} events, {run.progress.restored} restores, "
        f"{len(run.problems)} problems")
    for one in run.problems:
        say("BAD:", one)
    if options.json:
        accuracies = {mode: accuracy for mode, (_, accuracy) in run.undisturbed.items()}
        with open(options.json, "w", encoding="utf-8") as file:
            json.dump({"seed": options.seed, "minutes": options.minutes, "accuracies": accuracies,
                       "problems": run.problems, "events": [vars(one) for one in run.outcomes]}, file, indent=1)
    return 1 if run.problems else 0


if __name__ == "__main__":
    sys.exit(main())
