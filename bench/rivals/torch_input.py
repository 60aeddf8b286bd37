"""input/... with PyTorch's DataLoader, over the same files: in the process itself, and with a worker for each core."""

import io
import os
import struct

import input_files
from input_files import BATCH
from measure import Step


def make_cases(torch):
    import numpy as np
    files = []

    class Records(torch.utils.data.Dataset):
        """Finds a record by its number; checks no sums."""

        def __init__(self, path, parse):
            with open(path, "rb") as file:
                self._bytes = file.read()
            self._parse, self._places, at = parse, [], 0
            while at < len(self._bytes):
                length, = struct.unpack_from("<Q", self._bytes, at)
                self._places.append((at + 12, length))
                at += length + 16

        def __len__(self):
            return len(self._places)

        def __getitem__(self, number):
            at, length = self._places[number]
            return self._parse(self._bytes[at:at + length])

    def digit(record):
        value = torch.from_numpy(np.frombuffer(record, np.uint8).copy())
        return value[:-1].float() / 16, value[-1:].int()

    def png(record):
        from PIL import Image
        image = torch.from_numpy(np.array(Image.open(io.BytesIO(record[1:]))))
        return image.float() / 255, record[0]

    def loader(which, parse, workers):
        if not files:
            files.extend(input_files.write())

        def batches():
            data = Records(files[which], parse)
            made = torch.utils.data.DataLoader(data, BATCH, shuffle=True, num_workers=workers, drop_last=True,
                                               persistent_workers=workers > 0)
            while True:
                yield from made

        each = batches()
        return Step(lambda: next(each), BATCH)

    def modes(which, parse):
        cores = len(os.sched_getaffinity(0))
        return {"loader": lambda: loader(which, parse, 0),
                "workers": lambda: loader(which, parse, cores)}

    cases = {"input/digits": modes(0, digit), "input/digits_64_at_once": modes(0, digit)}
    try:
        import PIL  # noqa: F401
        cases["input/png"] = modes(1, png)
    except ImportError:
        pass
    return cases
