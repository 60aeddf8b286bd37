"""Tasks that reduce a tensor together through gloo, each a process of its own on this machine."""

import atexit
import os
import socket
import subprocess
import sys

import measure

SIZES = {"100MB": 100_000_000, "1MB": 1_000_000, "4KB": 4_000}


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def serve(rank, count, size, port, threads):
    """Reduces once for each line of the input, and answers with a line."""
    import torch
    import torch.distributed as dist
    if threads:
        torch.set_num_threads(threads)
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port), GLOO_SOCKET_IFNAME="lo")
    dist.init_process_group("gloo", rank=rank, world_size=count)
    values = torch.zeros(size // 4)
    dist.barrier()
    for _ in sys.stdin:
        dist.all_reduce(values)
        print(flush=True)


def all_reduce(count, size, threads):
    port = free_port()
    tasks = [subprocess.Popen([sys.executable, __file__, str(rank), str(count), str(size), str(port), str(threads)],
                              stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
             for rank in range(count)]
    atexit.register(lambda: [task.kill() for task in tasks])

    def run():
        for task in tasks:
            task.stdin.write(b"\n")
            task.stdin.flush()
        for task in tasks:
            if not task.stdout.readline():
                raise RuntimeError("a task ended")

    return measure.Step(run)


def make_cases(threads):
    # gloo has only sockets: both cases of Troupe are compared with it.
    return {f"collective/all_reduce_{name}{'_4_tasks' if count == 4 else ''}{suffix}":
            {"gloo": lambda count=count, size=size: all_reduce(count, size, threads)}
            for name, size in SIZES.items() for count in (2, 4) for suffix in ("", "_by_socket")}


if __name__ == "__main__":
    serve(*map(int, sys.argv[1:6]))
