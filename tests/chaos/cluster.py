"""The processes: two parameter servers, four workers, and the program that trains on them."""

import ctypes
import json
import os
import signal
import socket
import subprocess
import threading
import time

TASKS = ["ps0", "ps1", "worker0", "worker1", "worker2", "worker3"]
CLIENT = "client"
START_SECONDS = 20


def free_ports(count):
    held = []
    for _ in range(count):
        held.append(socket.socket())
        held[-1].bind(("127.0.0.1", 0))
    ports = [one.getsockname()[1] for one in held]
    for one in held:
        one.close()
    return ports


def ends_with_us():
    """Runs in a child process: makes the kernel kill it when its parent ends."""
    ctypes.CDLL(None).prctl(1, signal.SIGKILL, 0, 0, 0)


def memory_of(pid):
    """(MiB, threads, descriptors); nothing for a process that has just ended."""
    try:
        with open(f"/proc/{pid}/status", encoding="ascii", errors="replace") as file:
            fields = dict(line.split(":", 1) for line in file if ":" in line)
        return (int(fields["VmRSS"].split()[0]) / 1024, int(fields["Threads"]),
                len(os.listdir(f"/proc/{pid}/fd")))
    except (OSError, KeyError):
        return None


class Cluster:
    """All running processes. `wall_clock` is the path of libfaketime, or nothing."""

    def __init__(self, build, folder, network, wall_clock, tls):
        self._build, self._folder, self._network, self._wall_clock = build, folder, network, wall_clock
        self._tls = tls and network is not None
        self.processes = {}
        self.lines = []  # the output of the client, oldest first; lines are only added
        addresses = {"ps": [], "worker": []}
        ports = [7000] * len(TASKS) if network else free_ports(len(TASKS))
        for name, port in zip(TASKS, ports):
            host = network.address(name) if network else "127.0.0.1"
            addresses[name[:-1]].append(f"{host}:{port}")
        self._spec = json.dumps(addresses)
        if self._tls:
            self._make_certificates()

    # -- processes

    def start(self, name, monotonic_offset=0):
        """Starts a task. Returns when it listens."""
        command = [f"{self._build}/bin/troupe", "worker", "--job", name[:-1], "--task", name[-1],
                   "--cluster", self._spec, "--log", "none", "--intra-op-threads", "1",
                   "--inter-op-threads", "2", *self._security(name)]
        if monotonic_offset:
            command = ["unshare", "--time", f"--monotonic={monotonic_offset}", *command]
        process = self._spawn(name, command)
        ready = threading.Thread(target=process.stdout.readline, daemon=True)
        ready.start()
        ready.join(START_SECONDS)
        if ready.is_alive() or process.poll() is not None:
            raise RuntimeError(f"{name} does not start; see {self._folder}/{name}.log")
        threading.Thread(target=process.stdout.read, daemon=True).start()

    def start_client(self, mode, checkpoints):
        process = self._spawn(CLIENT, [
            f"{self._build}/bin/troupe_chaos_trainer", "--cluster", self._spec, "--data", f"{self._folder}/digits.csv",
            "--mode", mode, *(["--checkpoints", checkpoints] if checkpoints else []),
            *self._security(CLIENT)])
        threading.Thread(target=self._listen, args=[process], daemon=True).start()

    def kill(self, name):
        process = self.processes.pop(name)
        process.kill()
        process.wait()

    def signal(self, name, what):
        self.processes[name].send_signal(what)

    def end(self):
        for name in list(self.processes):
            self.kill(name)

    def jump(self, name, seconds):
        """Shifts the wall clock of a process by this much from now on."""
        path = self._clock_file(name)
        with open(path + ".new", "w", encoding="ascii") as file:
            file.write(f"{seconds:+d}\n")
        os.replace(path + ".new", path)

    def can_jump(self):
        return bool(self._wall_clock)

    # -- lines

    def since(self, first, time_of=0.0):
        """Lines from this index on, not older than this time."""
        return [one for one in self.lines[first:] if one["t"] >= time_of]

    def wait_for(self, holds, until):
        """Whether the condition holds at a time before `until`."""
        while not holds():
            if time.monotonic() >= until:
                return False
            time.sleep(0.05)
        return True

    def _listen(self, process):
        with open(f"{self._folder}/{CLIENT}.jsonl", "a", encoding="utf-8") as log:
            for line in process.stdout:
                log.write(line)
                try:
                    self.lines.append(json.loads(line))
                except ValueError:  # the client was killed in the middle of a line
                    pass

    # -- how processes are started

    def _clock_file(self, name):
        return f"{self._folder}/{name}.clock"

    def _spawn(self, name, command):
        environment = dict(os.environ)
        if self._wall_clock:
            self.jump(name, 0)
            environment |= {"LD_PRELOAD": self._wall_clock, "FAKETIME_TIMESTAMP_FILE": self._clock_file(name),
                            "FAKETIME_CACHE_DURATION": "1", "FAKETIME_DONT_FAKE_MONOTONIC": "1"}
        if self._network:
            command = [*self._network.command(name), *command]
        with open(f"{self._folder}/{name}.log", "ab") as log:
            self.processes[name] = subprocess.Popen(
                command, stdout=subprocess.PIPE, stderr=log, text=True, env=environment, preexec_fn=ends_with_us)
        return self.processes[name]

    def _security(self, name):
        if not self._network:
            return []
        if not self._tls:
            return ["--insecure"]
        file = f"{CLIENT}-{CLIENT}" if name == CLIENT else f"{name[:-1]}-{name[-1]}"
        certificates = f"{self._folder}/certificates"
        return ["--tls-cert", f"{certificates}/{file}.pem", "--tls-key", f"{certificates}/{file}.key",
                "--tls-ca", f"{certificates}/authority.pem"]

    def _make_certificates(self):
        def certs(*arguments):
            subprocess.run([f"{self._build}/bin/troupe", "certs", *arguments], check=True,
                           stdout=subprocess.DEVNULL)
        folder = f"{self._folder}/certificates"
        certs("init", folder)
        for name in TASKS:
            certs("task", folder, "--job", name[:-1], "--task", name[-1])
        certs("client", folder, "--name", CLIENT)
