#!/usr/bin/env python3
"""Kills the parameter server of a training run: lost_task_test.py TRAIN_DIGITS TROUPE FOLDER KILLS

Each restarted server is empty, the run resumes from the newest checkpoint, and the final accuracy is as good as
without losses."""

import json
import os
import re
import shutil
import socket
import subprocess
import sys
import threading

program, troupe, folder, kills = sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4])
shutil.rmtree(folder, ignore_errors=True)
os.makedirs(folder)


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


cluster = os.path.join(folder, "cluster.json")
with open(cluster, "w", encoding="utf-8") as file:
    json.dump({job: [f"127.0.0.1:{free_port()}"] for job in ("ps", "worker")}, file)


def start(job):
    process = subprocess.Popen([troupe, "worker", "--job", job, "--task", "0", "--cluster", cluster],
                               stdout=subprocess.PIPE, text=True)
    process.stdout.readline()  # printed when it listens
    return process


worker, ps = start("worker"), start("ps")
run = subprocess.Popen([program, "--cluster", cluster, "--workers", "1", "--ps", "1", "--epochs", "100",
                        "--checkpoint", os.path.join(folder, "model"), "--checkpoint-seconds", "0.1"],
                       stdout=subprocess.PIPE, text=True)
watchdog = threading.Timer(240, run.kill)
watchdog.start()
lines, lost = [], 0
try:
    for line in run.stdout:
        lines.append(line)
        # A line of progress is printed after each tenth of the steps.
        if lost < kills and re.match(r"step +\d+ of", line):
            lost += 1
            ps.kill()
            ps.wait()
            ps = start("ps")
    run.wait(timeout=60)
finally:
    watchdog.cancel()
    for process in (worker, ps, run):
        process.kill()
        process.wait()
output = "".join(lines)
print(output)
if run.returncode != 0:
    sys.exit(f"the program ended with {run.returncode}")
if lost < kills or output.count("resumes at step") < kills or "retry" not in output:
    sys.exit(f"the task was lost {lost} times, but the run did not resume as often")
accuracy = re.search(r"test accuracy ([\d.]+)", output)
if not accuracy or float(accuracy[1]) < 96:
    sys.exit("the accuracy is too low")
