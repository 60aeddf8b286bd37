"""A list of what exceeds a limit today, which only shrinks: no entry is added or raised.

A line is `KIND SIZE PATH NAME`. Its entry permits SIZE (lines, members, uses) of one kind of thing by its file and name.
Without a file, an update writes all that exceeds the limits."""

import re
import sys


class entry:
    """A thing that exceeds a limit. `line` is its line in its file, or the line of the list."""

    def __init__(self, kind, size, path, name, line=0):
        self.kind = kind
        self.size = size
        self.path = path
        self.name = name
        self.line = line

    def __str__(self):
        return f"{self.kind} {self.size} {self.path} {self.name}"


class shrinking_list:
    """`command` updates the list, and `title` is the first line of its file."""

    def __init__(self, root, name, command, title):
        self.path = root / name
        self.name = name
        self.command = command
        self.title = title
        self.entries = self.read()

    def read(self):
        entries = []
        for number, line in enumerate(self.path.read_text(encoding="utf-8").splitlines() if self.path.is_file() else [], 1):
            if not line.strip() or line.startswith("#"):
                continue
            match = re.match(r"(\w+) (\d+) (\S+) (.+)$", line)
            if not match:
                sys.exit(f"{self.name}:{number}: expected `KIND SIZE PATH NAME`: correct the line, or remove it")
            entries.append(entry(match[1], int(match[2]), match[3], match[4], number))
        return entries

    def pair(self, measured):
        """Returns (entry, measured or None) for each entry, and the measured ones without an entry.

        An entry follows what is not larger and has another name in the same file, or lies in another file."""
        unlisted = sorted(measured, key=lambda item: -item.size)
        pairs, missing = [], []

        def take(listed, is_same):
            for item in unlisted:
                if item.kind == listed.kind and is_same(item):
                    unlisted.remove(item)
                    pairs.append((listed, item))
                    return True
            return False

        for listed in sorted(self.entries, key=lambda item: -item.size):
            if not take(listed, lambda item: (item.path, item.name) == (listed.path, listed.name)):
                missing.append(listed)
        for listed in missing:
            if not take(listed, lambda item: item.name == listed.name and item.size <= listed.size) and \
                    not take(listed, lambda item: item.path == listed.path and item.size <= listed.size):
                pairs.append((listed, None))
        return pairs, unlisted

    def update(self, measured):
        """Lowers and removes entries."""
        if self.path.is_file():
            kept = [entry(item.kind, min(item.size, listed.size), item.path, item.name)
                    for listed, item in self.pair(measured)[0] if item]
        else:
            kept = measured
        lines = sorted(map(str, kept), key=lambda line: (line.split()[0], line.split()[2:]))
        self.path.write_text(f"# {self.title}\n# The list only shrinks: {self.command} lowers and removes entries.\n"
                             + "".join(line + "\n" for line in lines), encoding="utf-8")
        self.entries = self.read()

    def outdated(self, pairs):
        """Yields a text for each entry that permits more than there is."""
        for listed, item in pairs:
            place = f"{self.name}:{listed.line}: {listed.kind} {listed.name} of {listed.path}"
            if item is None:
                yield f"{place} is within the limit or gone: remove the entry"
            elif item.size <= listed.size and (item.path, item.name) != (listed.path, listed.name):
                yield f"{place} is now {item.name} of {item.path}: change the entry"
            elif item.size < listed.size:
                yield f"{place} has a size of {item.size}, and had {listed.size}: lower the entry"
