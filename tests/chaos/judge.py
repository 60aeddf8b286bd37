"""Checks the promises and the cost of events, from the lines of the client."""

import statistics
from dataclasses import dataclass, field

CHECKPOINT_SECONDS = 2
# From the time when a checkpoint is due until it is on the disk, during training.
SAVING_SECONDS = 5
# The time for which the failure of a worker may stop the others. A step of all_reduce fails when it is overdue; then the live
# workers are determined, which takes some seconds if one is silent.
PAUSE_SECONDS = {"sync": 1.5, "async": 1.5, "all_reduce": 8}
WHOLE_SECONDS = 60  # after the end of an event, until all train again

SIGNS = {"lost", "retrying", "silent", "warning"}  # signs of a failure


def least_accuracy(steps, undisturbed_steps, undisturbed_accuracy):
    """In percent. A training that was interrupted for long has made fewer steps, and has learnt less."""
    return undisturbed_accuracy - (1.5 if steps >= 0.75 * undisturbed_steps else 4)


@dataclass
class Outcome:
    number: int
    mode: str
    kind: str
    how: str
    target: str
    at: float  # seconds since the run began
    lasted: float
    detected: float | None  # seconds after the beginning
    pause: float  # the longest time without a step of any replica
    whole: float | None  # after the end, until each replica has ended a step
    lost_steps: int = 0  # repeated from a checkpoint
    problems: list = field(default_factory=list)


def owner(line):
    """The process that a line is about."""
    if line["what"] == "lost":
        return f"worker{int(line['replica'])}"
    return line.get("task", "")


def is_whole(lines, healed, workers):
    """Whether each replica has ended a step that it may have begun after the end of the event."""
    seen = {int(one["replica"]) for one in lines if one["what"] == "step" and one["t"] > healed}
    return len(seen) == workers


def detected_after(event, lines, begun):
    for one in lines:
        if one["what"] in SIGNS and one["t"] >= begun and (
                event.shared or not event.targets or one["what"] in ("retrying", "warning")
                or owner(one) in event.targets):
            return one["t"] - begun
    return None


def longest_pause(lines, begun, until):
    times = [begun, *(one["t"] for one in lines if one["what"] == "step" and begun < one["t"] < until), until]
    return max(b - a for a, b in zip(times, times[1:]))


def bystanders(event, lines):
    """Processes that failed though the event did not affect them."""
    if event.shared:
        return []
    found = []
    for one in lines:
        if one["what"] in ("lost", "silent") and owner(one) not in event.targets:
            # If variables are lost or unreachable, no replica can train.
            if one["what"] == "lost" and any(name.startswith("ps") for name in event.targets):
                continue
            found.append(f"{owner(one)} was {one['what']}, though the event did not affect it: {one['text'][:200]}")
    return found


def late(lines, stopped):
    """Steps that did not end by their deadline. Not while the client itself was stopped."""
    return [f"a step on {one['task']} took {one['seconds']:.1f} s, longer than its deadline" for one in lines
            if one["what"] == "late" and not any(a <= one["t"] <= b + 1 for a, b in stopped)]


class Progress:
    """Reads all lines once, and compares saved, restored and lost steps."""

    def __init__(self):
        self._saved, self._reached = 0, []  # the newest checkpoint; (step, when it was first done)
        self.problems, self.lost_steps, self.restored = [], 0, 0

    def begin(self):
        """A new training, with no checkpoints."""
        self._saved, self._reached = 0, []

    def read(self, lines, disk_was_full, event_begun):
        for one in lines:
            if one["what"] == "step":
                step = int(one["step"])
                if not self._reached or step > self._reached[-1][0]:
                    self._reached.append((step, one["t"]))
            elif one["what"] == "saved":
                self._saved = int(one["step"])
            elif one["what"] in ("restored", "initialized") and self._reached:
                self._restore(one, disk_was_full, event_begun)
            elif one["what"] == "wrong":
                self.problems.append(f"{one['task']} computed {one['value']} where 9 is right")

    def _restore(self, line, disk_was_full, event_begun):
        step = int(line["step"])
        self.restored += 1
        if step < self._saved:
            self.problems.append(f"a checkpoint of step {self._saved} was saved, and step {step} was restored")
        lost = [(one, when) for one, when in self._reached if one > step]
        self._reached = [(one, when) for one, when in self._reached if one <= step]
        if not lost:
            return
        self.lost_steps += lost[-1][0] - step
        age = event_begun - lost[0][1] if event_begun else 0
        if age > CHECKPOINT_SECONDS + SAVING_SECONDS and not disk_was_full:
            self.problems.append(f"{age:.1f} s of training were lost with step {step}, where each "
                                 f"{CHECKPOINT_SECONDS} s a checkpoint is due")


class Memory:
    """The resources of each process during its life."""

    def __init__(self):
        self._samples = {}  # (name, pid) -> [(time, MiB, threads, descriptors)]

    def note(self, name, pid, now, of):
        if of:
            self._samples.setdefault((name, pid), []).append((now, *of))

    def problems(self):
        found = []
        for (name, pid), all_of in self._samples.items():
            born, died = all_of[0][0], all_of[-1][0]
            if died - born < 90:
                continue
            early = [one for one in all_of if 30 <= one[0] - born <= 50]
            end = [one for one in all_of if died - one[0] <= 20]
            for i, (what, share, more) in enumerate(
                    [("MiB", 1.10, 8), ("threads", 1, 8), ("descriptors", 1, 16)], start=1):
                was, became = (statistics.median(one[i] for one in part) for part in (early, end))
                if became > was * share + more:
                    found.append(f"{name} (process {pid}) had {was:.0f} {what} after 30 s, and {became:.0f} "
                                 f"{died - born:.0f} s after it began")
        return found

    def most(self):
        """MiB at the end of each process's life, by name."""
        found = {}
        for (name, _), all_of in self._samples.items():
            found[name] = max(found.get(name, 0), all_of[-1][1])
        return found


def seconds(value):
    return "" if value is None else f"{value:.2f}"


def table(outcomes):
    rows = ["| | at | mode | event | hits | lasts | detected | pause | whole again | steps lost | |",
            "|--:|--:|---|---|---|--:|--:|--:|--:|--:|---|"]
    for one in outcomes:
        rows.append(f"| {one.number} | {one.at:.0f} | {one.mode} | {one.kind} {one.how} | {one.target} | {one.lasted:.1f} | "
                    f"{seconds(one.detected)} | {one.pause:.2f} | {seconds(one.whole)} | {one.lost_steps or ''} | "
                    f"{'BAD' if one.problems else ''} |")
    return "\n".join(rows)


def summary(outcomes):
    """Medians and maxima by mode and kind of event, and kind of process."""
    groups = {}
    for one in outcomes:
        job = "" if " " in one.target else {"*": "all"}.get(one.target, one.target.rstrip("0123456789"))
        groups.setdefault((one.kind, job, one.mode), []).append(one)
    rows = ["| event | hits | mode | times | detected | pause | whole again |", "|---|---|---|--:|--:|--:|--:|"]

    def both(values):
        values = [one for one in values if one is not None]
        return f"{statistics.median(values):.2f}, {max(values):.2f}" if values else ""
    for (kind, job, mode), all_of in sorted(groups.items()):
        rows.append(f"| {kind} | {job} | {mode} | {len(all_of)} | {both(o.detected for o in all_of)} | "
                    f"{both(o.pause for o in all_of)} | {both(o.whole for o in all_of)} |")
    return "\n".join(rows)
