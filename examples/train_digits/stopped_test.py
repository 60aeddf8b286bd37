#!/usr/bin/env python3
"""Stops train_digits by signals: stopped_test.py TRAIN_DIGITS TROUPE FOLDER

It saves a checkpoint of its last step, exits with 0, and a new run resumes from there."""

import os
import re
import shutil
import signal
import subprocess
import sys
import time

program, troupe, folder = sys.argv[1:4]
shutil.rmtree(folder, ignore_errors=True)
command = [program, "--epochs", "100000", "--checkpoint", folder, "--checkpoint-seconds", "0.05",
           "--resume"]


def checkpoints():
    """The names of the finished checkpoints; a run also has its lock in the folder."""
    names = os.listdir(folder) if os.path.isdir(folder) else []
    return {name for name in names if re.fullmatch(r"step-\d+", name)}


def stopped(signal_number):
    before = checkpoints()
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    deadline = time.monotonic() + 60
    while checkpoints() <= before:
        if time.monotonic() > deadline or process.poll() is not None:
            process.kill()
            sys.exit(f"no checkpoint was saved: {process.communicate()[0]}")
        time.sleep(0.01)
    process.send_signal(signal_number)
    output = process.communicate(timeout=60)[0]
    if process.returncode != 0:
        sys.exit(f"the program ended with {process.returncode}: {output}")
    step = int(re.search(r"stopped at step (\d+)", output)[1])
    saved = re.findall(r"saved in (.*)", output)
    if not saved or not saved[-1].endswith(f"step-{step}"):
        sys.exit(f"the last step was not saved: {output}")
    shown = subprocess.run([troupe, "checkpoint", "show", folder], capture_output=True, text=True)
    if f": step {step}," not in shown.stdout:
        sys.exit(f"the newest checkpoint is of another step: {shown.stdout}")
    return step, output


first, _ = stopped(signal.SIGTERM)
second, output = stopped(signal.SIGINT)
if f"resumes at step {first} " not in output or second < first:
    sys.exit(f"the program did not resume at step {first}: {output}")
print("stopped at", first, "and at", second)
