"""The common parts of the rivals' programs: the data, the pace, and their output lines."""

import json
import os
import time

PACE, CHECKPOINT_SECONDS = 0.01, 2  # as those of trainer.cpp


def rows_of(path):
    """Pixels from 0 to 1 and labels; each fifth row is a test row."""
    with open(path, encoding="ascii") as file:
        all_of = [[int(word) for word in line.split(",")] for i, line in enumerate(file) if i % 5 != 4]
    return [[pixel / 16 for pixel in row[:64]] for row in all_of], [row[64] for row in all_of]


def say(path, what, **fields):
    """Writes a line at once, because several processes write to the file."""
    to = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
    os.write(to, (json.dumps({"t": time.monotonic(), "what": what, **fields}) + "\n").encode())
    os.close(to)
