"""A network of namespaces, one for each process, joined by a switch that loses, delays and stops frames.

The switch is a process of its own with a TAP device in each namespace. Like `tc netem`, it impairs each pair of
ends and each direction, also on kernels without netem."""

import fcntl
import heapq
import json
import os
import random
import select
import shutil
import signal
import struct
import subprocess
import time

TUNSETIFF = 0x400454CA
IFF_TAP, IFF_NO_PI = 0x0002, 0x1000
MTU = 9000
# The maximum number of frames that wait in the switch: like a real one, it drops others.
MOST_DELAYED = 20_000


def run(*command):
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise OSError(f"{' '.join(command)}: {done.stderr.strip() or done.returncode}")


def why_not():
    """Why this machine supports no network namespaces; an empty text if it does."""
    if os.geteuid() != 0:
        return "only root can make network namespaces"
    if not shutil.which("ip"):
        return "the command ip is not installed (package iproute2)"
    if not os.path.exists("/dev/net/tun"):
        return "/dev/net/tun does not exist"
    return ""


class Network:
    """Namespaces by name, whose ends have the addresses 10.77.0.1 and so on. The calling process must have a network
    and a mount namespace of its own (unshare --net --mount): everything created here disappears with these."""

    def __init__(self, names, seed):
        self.names = names
        os.makedirs("/run/netns", exist_ok=True)
        run("mount", "-t", "tmpfs", "none", "/run/netns")
        taps = []
        for i, name in enumerate(names):
            tap = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK)
            fcntl.ioctl(tap, TUNSETIFF, struct.pack("16sH", f"chaos{i}".encode(), IFF_TAP | IFF_NO_PI))
            run("ip", "netns", "add", name)
            run("ip", "link", "set", f"chaos{i}", "address", self._mac(i), "mtu", str(MTU), "netns", name)
            run("ip", "-n", name, "addr", "add", f"{self.address(name)}/24", "dev", f"chaos{i}")
            run("ip", "-n", name, "link", "set", f"chaos{i}", "up")
            run("ip", "-n", name, "link", "set", "lo", "up")
            taps.append(tap)
        inside, self._rules = os.pipe()
        self._switch = os.fork()
        if self._switch == 0:
            os.close(self._rules)
            signal.signal(signal.SIGINT, signal.SIG_IGN)
            try:
                forward(taps, inside, random.Random(seed))
            finally:
                os._exit(1)
        os.close(inside)
        for tap in taps:
            os.close(tap)

    @staticmethod
    def _mac(number):
        return f"02:00:00:00:00:{number:02x}"

    def address(self, name):
        return f"10.77.0.{self.names.index(name) + 1}"

    def command(self, name):
        """The prefix that runs a command in the namespace of this name."""
        return ["nsenter", f"--net=/run/netns/{name}"]

    def impair(self, rules):
        """Replaces the rules from now on: (from, to, {"loss": share, "delay": seconds,
        "jitter": seconds}); * is any name. A loss of 1 stops all."""
        def number(name):
            return -1 if name == "*" else self.names.index(name)
        text = json.dumps([(number(a), number(b), what) for a, b, what in rules])
        os.write(self._rules, text.encode() + b"\n")

    def close(self):
        os.kill(self._switch, signal.SIGKILL)
        os.waitpid(self._switch, 0)


def forward(taps, control, dice):
    """The switch: forwards frames between the namespaces by the rules that it reads from `control`. Never returns."""
    poller = select.epoll()
    ends = {tap: number for number, tap in enumerate(taps)}
    for tap in [*taps, control]:
        poller.register(tap, select.EPOLLIN)
    rules, delayed, count, text = {}, [], 0, b""

    def rule(source, target):
        for key in (source, target), (source, -1), (-1, target), (-1, -1):
            if key in rules:
                return rules[key]
        return None

    def deliver(target, frame):
        try:
            os.write(taps[target], frame)
        except OSError:  # the queue is full, or the device goes down: like any switch, it drops the frame
            pass

    def send(source, target, frame):
        nonlocal count
        what = rule(source, target) if rules else None
        if not what:
            return deliver(target, frame)
        if dice.random() < what.get("loss", 0):
            return None
        delay = what.get("delay", 0) + what.get("jitter", 0) * (2 * dice.random() - 1)
        if delay <= 0:
            return deliver(target, frame)
        if len(delayed) < MOST_DELAYED:
            count += 1
            heapq.heappush(delayed, (time.monotonic() + delay, count, target, frame))
        return None

    while True:
        wait = max(0, delayed[0][0] - time.monotonic()) if delayed else None
        for tap, _ in poller.poll(wait):
            if tap == control:
                more = os.read(control, 65536)
                if not more:
                    os._exit(0)
                *lines, text = (text + more).split(b"\n")
                for line in lines:
                    rules = {(a, b): what for a, b, what in json.loads(line)}
                continue
            source = ends[tap]
            for _ in range(64):
                try:
                    frame = os.read(tap, MTU + 64)
                except BlockingIOError:
                    break
                except OSError:
                    break
                target = frame[5] if frame[:5] == b"\2\0\0\0\0" else -1
                if 0 <= target < len(taps):
                    send(source, target, frame)
                elif frame[0] & 1:
                    for other in range(len(taps)):
                        if other != source:
                            send(source, other, frame)
        now = time.monotonic()
        while delayed and delayed[0][0] <= now:
            _, _, target, frame = heapq.heappop(delayed)
            deliver(target, frame)
