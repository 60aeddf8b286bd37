"""A worker of PyTorch's elastic launcher that trains the digits classifier synchronously: DATA LINES CHECKPOINT"""

import os
import sys
import time

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel

from steps import CHECKPOINT_SECONDS, PACE, rows_of, say


def main(data, lines, checkpoint):
    torch.set_num_threads(1)
    # A store for each attempt: the store of the launcher contains addresses of the previous attempt.
    attempt = f"{os.environ['TORCHELASTIC_RUN_ID']}-{os.environ['TORCHELASTIC_RESTART_COUNT']}"
    dist.init_process_group("gloo", init_method=f"file://{checkpoint}.store-{attempt}",
                            rank=int(os.environ["RANK"]), world_size=int(os.environ["WORLD_SIZE"]))
    rank = dist.get_rank()
    say(lines, "started", replica=rank, pid=os.getpid())
    torch.manual_seed(1)
    model = DistributedDataParallel(
        torch.nn.Sequential(torch.nn.Linear(64, 128), torch.nn.ReLU(), torch.nn.Linear(128, 10)))
    step, saved = 0, time.monotonic()
    if os.path.exists(checkpoint):
        state = torch.load(checkpoint)
        model.load_state_dict(state["model"])
        step = state["step"]
    by = torch.optim.SGD(model.parameters(), 0.2)
    x, y = rows_of(data)
    x, y = torch.tensor(x), torch.tensor(y)
    while True:
        time.sleep(PACE)
        at = torch.randint(len(y), (32,), generator=torch.Generator().manual_seed(step * 64 + rank))
        by.zero_grad()
        torch.nn.functional.cross_entropy(model(x[at]), y[at]).backward()
        by.step()
        step += 1
        say(lines, "step", replica=rank, step=step)
        if rank == 0 and time.monotonic() - saved > CHECKPOINT_SECONDS:
            torch.save({"model": model.state_dict(), "step": step}, checkpoint + ".new")
            os.replace(checkpoint + ".new", checkpoint)
            saved = time.monotonic()


if __name__ == "__main__":
    main(*sys.argv[1:4])
