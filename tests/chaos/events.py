"""Faults. An event is drawn by the seed: its kind, its targets, and how long it lasts."""

import errno
import os
import signal
import subprocess

from cluster import CLIENT, TASKS

WORKERS = [name for name in TASKS if name.startswith("worker")]
SERVERS = [name for name in TASKS if name.startswith("ps")]


class Event:
    """`targets` are the affected processes: no other process may fail, unless the event is `shared`."""

    kind = ""  # tables add up events by this name
    how = ""  # other choices of the seed
    shared = False  # whether others may fail with the targets
    needs = None  # "network", "disk", "clock" or "time namespaces", if it needs one that a machine may lack

    def __init__(self, dice):
        self.targets = self.draw(dice)
        self.seconds = self.lasting(dice)

    def draw(self, dice):
        return [dice.choice(TASKS)]

    def spares_training(self):
        """Whether it affects only one worker, so that the others must continue training."""
        return not self.shared and len(self.targets) == 1 and self.targets[0] in WORKERS

    def lasting(self, dice):
        """Seconds: sometimes less, sometimes more than the 10 s after which a silent peer counts as lost."""
        return dice.uniform(1, 4) if dice.random() < 0.5 else dice.uniform(11, 16)

    def begin(self, at):
        """`at` is the run: its cluster, its network, its folder of checkpoints."""
        raise NotImplementedError

    def end(self, at):
        raise NotImplementedError


class Kill(Event):
    kind = "kill -9, restart"
    offset = 0

    def draw(self, dice):
        return [dice.choice(dice.choice([WORKERS, SERVERS]))]

    def lasting(self, dice):
        return dice.uniform(0, 3)

    def begin(self, at):
        at.cluster.kill(self.targets[0])

    def end(self, at):
        at.cluster.start(self.targets[0], self.offset)


class Reboot(Kill):
    """Restarts the task with a monotonic clock that began at another time, as after a reboot of its machine."""

    kind = "kill -9, restart with another monotonic clock"
    needs = "time namespaces"

    def __init__(self, dice):
        super().__init__(dice)
        self.offset = dice.randrange(1, 10_000_000)


class KillClient(Event):
    """Restarts the program itself, which is the chief of the training, and continues from its checkpoint."""

    kind = "kill -9 of the client, restart"
    shared = True

    def draw(self, dice):
        return [CLIENT]

    def lasting(self, dice):
        return dice.uniform(0, 3)

    def begin(self, at):
        at.cluster.kill(CLIENT)

    def end(self, at):
        at.start_client()


class Stop(Event):
    kind = "SIGSTOP, SIGCONT"

    def begin(self, at):
        at.cluster.signal(self.targets[0], signal.SIGSTOP)

    def end(self, at):
        at.cluster.signal(self.targets[0], signal.SIGCONT)


class StopClient(Stop):
    kind = "SIGSTOP, SIGCONT of the client"
    shared = True

    def draw(self, dice):
        return [CLIENT]


class Impairment(Event):
    needs = "network"

    def rules(self):
        raise NotImplementedError

    def begin(self, at):
        at.network.impair(self.rules())

    def end(self, at):
        at.network.impair([])


class Partition(Impairment):
    kind = "partition"

    def rules(self):
        name, cut = self.targets[0], {"loss": 1}
        return [(name, "*", cut), ("*", name, cut)]


class OneWayPartition(Impairment):
    """The task receives from the others and cannot send to them, or the reverse."""

    kind = "partition of one direction"

    def __init__(self, dice):
        super().__init__(dice)
        self._hears = dice.random() < 0.5
        self.how = "it hears" if self._hears else "it is heard"

    def rules(self):
        name, cut = self.targets[0], {"loss": 1}
        return [(name, "*", cut)] if self._hears else [("*", name, cut)]


class PartitionBetween(Impairment):
    """Two tasks that the client reaches cannot reach each other."""

    kind = "partition between a worker and another task"
    shared = True

    def draw(self, dice):
        worker = dice.choice(WORKERS)
        return [worker, dice.choice([name for name in TASKS if name != worker])]

    def rules(self):
        a, b = self.targets
        return [(a, b, {"loss": 1}), (b, a, {"loss": 1})]


class Loss(Impairment):
    kind = "loss of frames"
    shared = True

    def __init__(self, dice):
        super().__init__(dice)
        self._share = dice.uniform(0.01, 0.2)
        self.how = f"{self._share:.0%}"

    def draw(self, dice):
        return [dice.choice([*TASKS, "*"])]

    def lasting(self, dice):
        return dice.uniform(5, 10)

    def rules(self):
        name, what = self.targets[0], {"loss": self._share}
        return [(name, "*", what), ("*", name, what)]


class Delay(Loss):
    kind = "delay of frames"

    def __init__(self, dice):
        super().__init__(dice)
        self._seconds = dice.uniform(0.01, 0.15)
        self.how = f"{self._seconds * 1000:.0f} ms, jitter of half as much"

    def rules(self):
        name, what = self.targets[0], {"delay": self._seconds, "jitter": self._seconds / 2}
        return [(name, "*", what), ("*", name, what)]


class FullDisk(Event):
    """Fills the disk of checkpoints, except for a few bytes."""

    kind = "full disk"
    needs = "disk"

    def draw(self, dice):
        return []

    def lasting(self, dice):
        return dice.uniform(5, 9)

    def begin(self, at):
        self._file = os.path.join(at.disk, "something else")
        with open(self._file, "wb", buffering=0) as file:
            for size in 65536, 4096, 512:
                try:
                    while True:
                        file.write(bytes(size))
                except OSError as why:
                    if why.errno != errno.ENOSPC:
                        raise

    def end(self, at):
        os.remove(self._file)


class ClockJump(Event):
    """Sets the wall clock of a process forward or back, and then right again."""

    kind = "jump of the wall clock"
    needs = "clock"

    def __init__(self, dice):
        super().__init__(dice)
        self._by = dice.choice([-86_400, -3_600, -60, 60, 3_600, 86_400])
        self.how = f"{self._by:+d} s"

    def draw(self, dice):
        return [dice.choice([*TASKS, CLIENT])]

    def lasting(self, dice):
        return dice.uniform(4, 8)

    def begin(self, at):
        at.cluster.jump(self.targets[0], self._by)

    def end(self, at):
        at.cluster.jump(self.targets[0], 0)


KINDS = [Kill, Kill, Reboot, KillClient, Stop, Stop, StopClient, Partition, Partition, OneWayPartition,
         PartitionBetween, Loss, Delay, FullDisk, ClockJump]


def can_move_monotonic_clocks():
    return os.geteuid() == 0 and subprocess.run(
        ["unshare", "--time", "--monotonic=1", "true"], capture_output=True, check=False).returncode == 0


class Deck:
    """All kinds that this machine supports, in an order drawn by the seed, repeatedly."""

    def __init__(self, dice, missing):
        self._dice, self._left = dice, []
        self._kinds = [kind for kind in KINDS if kind.needs not in missing]

    def next(self):
        if not self._left:
            self._left = list(self._kinds)
            self._dice.shuffle(self._left)
        return self._left.pop()(self._dice)
