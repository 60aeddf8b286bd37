"""The files of input/...: the digits of examples/data as records, as bench/input.cpp writes them."""

import atexit
import gzip
import shutil
import struct
import tempfile
import zlib
from pathlib import Path

BATCH = 128
SIDE, SCALE = 8, 8  # pixels of a digit, and how many times larger its PNG is
DIGITS = Path(__file__).resolve().parent.parent.parent / "examples/data/digits.csv.gz"

_TABLE = []
for _byte in range(256):
    for _ in range(8):
        _byte = _byte >> 1 ^ (0x82f63b78 if _byte & 1 else 0)
    _TABLE.append(_byte)


def masked_crc(data):
    crc = 0xffffffff
    for byte in data:
        crc = _TABLE[(crc ^ byte) & 255] ^ crc >> 8
    crc ^= 0xffffffff
    return ((crc >> 15 | crc << 17) + 0xa282ead8) & 0xffffffff


def framed(record):
    """Returns a record in the frame of a TFRecord file."""
    length = struct.pack("<Q", len(record))
    return length + struct.pack("<I", masked_crc(length)) + record + struct.pack("<I", masked_crc(record))


def png(pixels):
    """Returns a gray image in which each pixel of the digit is a square."""
    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
    rows = b""
    for y in range(SIDE):
        row = b"\0" + b"".join(bytes([15 * value] * SCALE) for value in pixels[y * SIDE:(y + 1) * SIDE])
        rows += row * SCALE
    head = struct.pack(">IIBBBBB", SIDE * SCALE, SIDE * SCALE, 8, 0, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")


def write():
    """Returns the paths of both files, which are removed at the end of the process."""
    folder = tempfile.mkdtemp(prefix="troupe_bench_input.")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    digits, pngs = folder + "/digits.tfrecord", folder + "/pngs.tfrecord"
    with gzip.open(DIGITS, "rt") as rows, open(digits, "wb") as raw, open(pngs, "wb") as images:
        for line in rows:
            record = bytes(int(field) for field in line.split(","))
            raw.write(framed(record))
            images.write(framed(record[-1:] + png(record[:-1])))
    return digits, pngs
