#!/usr/bin/env python3
"""Trains digits, and kills the program repeatedly at random moments: killed_test.py TRAIN_DIGITS FOLDER KILLS

Each run resumes from the last checkpoint, and the final accuracy is as good as without kills."""

import random
import re
import shutil
import subprocess
import sys

program, folder, kills = sys.argv[1], sys.argv[2], int(sys.argv[3])
shutil.rmtree(folder, ignore_errors=True)
command = [program, "--epochs", "400", "--checkpoint", folder, "--checkpoint-seconds", "0.02",
           "--resume"]
seed = random.randrange(1 << 30)
print("seed", seed)
dice = random.Random(seed)
reached = []
latest_kill = 0.4  # seconds after the start
for _ in range(kills):
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        process.wait(timeout=dice.uniform(0.05, latest_kill))
    except subprocess.TimeoutExpired:
        process.kill()
    output = process.communicate()[0]
    if resumed := re.search(r"resumes at step (\d+)", output):
        reached.append(int(resumed[1]))
    if not reached:
        latest_kill *= 1.2  # a build with sanitizers takes longer to save its first checkpoint
print("resumed at", reached)
if reached != sorted(reached):
    sys.exit("a saved step was lost")
last = subprocess.run(command, capture_output=True, text=True, timeout=300)
print(last.stdout[-200:], last.stderr)
accuracy = re.search(r"test accuracy ([\d.]+)", last.stdout)
if last.returncode != 0 or not accuracy or float(accuracy[1]) < 96:
    sys.exit("the accuracy is too low")
if kills > 3 and not reached:
    sys.exit("no checkpoint was ever saved")
