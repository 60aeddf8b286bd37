"""input/... with PyTorch's DataLoader, over the same files: in the process, and with a worker process for each core."""

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
        """The records of a TFRecord file, by number; checksums are not verified."""

        def __init__(self, path, parse):
            with open(path, "rb") as file:
                self._bytes = file.read()
            self._parse, self._ranges, offset = parse, [], 0
            while offset < len(self._bytes):
                length, = struct.unpack_from("<Q", self._bytes, offset)
                self._ranges.append((offset + 12, length))
                offset += length + 16

        def __len__(self):
            return len(self._ranges)

        def __getitem__(self, number):
            offset, length = self._ranges[number]
            return self._parse(self._bytes[offset:offset + length])

    def digit(record):
        value = torch.from_numpy(np.frombuffer(record, np.uint8).copy())
        return value[:-1].float() / 16, value[-1:].int()

    def png(record):
        from PIL import Image
        image = torch.from_numpy(np.array(Image.open(io.BytesIO(record[1:]))))
        return image.float() / 255, record[0]

    def loader(file, parse, workers):
        if not files:
            files.extend(input_files.write())

        def batches():
            data = Records(files[file], parse)
            batches_of_epoch = torch.utils.data.DataLoader(data, BATCH, shuffle=True, num_workers=workers, drop_last=True,
                                                            persistent_workers=workers > 0)
            while True:
                yield from batches_of_epoch

        stream = batches()
        return Step(lambda: next(stream), BATCH)

    def modes(file, parse):
        cores = len(os.sched_getaffinity(0))
        return {"loader": lambda: loader(file, parse, 0),
                "workers": lambda: loader(file, parse, cores)}

    cases = {"input/digits": modes(0, digit), "input/digits_64_at_once": modes(0, digit)}
    try:
        import PIL  # noqa: F401
        cases["input/png"] = modes(1, png)
    except ImportError:
        pass
    return cases
