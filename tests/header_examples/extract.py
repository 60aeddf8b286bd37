#!/usr/bin/env python3
"""extract.py ROOT OUTPUT: writes a C++ source with all examples that comments of public headers show.

An example is an indented block of a comment (five blanks behind the slashes), or a statement between backquotes, which
ends with a semicolon. Each becomes a function of its own, in a class that is derived from the context of its header
(context.hpp: `context_of_<header>`, else `context`), whose members are the names that examples take for granted.
Comments at the beginning of a header may show what is no code, such as folders: these are passed over.
"""

import re
import sys
from pathlib import Path

BLOCK = re.compile(r"^\s*///( {5,}\S.*|)$")
COMMENT = re.compile(r"^\s*///? ?(.*)$")
STATEMENT = re.compile(r"`([^`]*;)`")


def blocks_of(lines):
    """Yields (number of the first line, lines) of the indented blocks."""
    found, first = [], 0
    for number, line in enumerate(lines + [""], 1):
        match = BLOCK.match(line)
        if match and (match[1] or found):
            first = first if found else number
            found.append(match[1][5:])
        elif found:
            yield first, found
            found = []


def statements_of(lines):
    """Yields (number of the line before, statement) of those between backquotes."""
    text, first = "", 0
    for number, line in enumerate(lines + [""], 1):
        match = COMMENT.match(line) if line.lstrip().startswith("//") else None
        if match and not match[1].startswith("    "):
            first = first if text else number
            text += match[1] + " "
        elif text:
            for statement in STATEMENT.findall(text):
                yield first, [statement]
            text = ""


def main(root, output):
    contexts = set(re.findall(r"\bcontext_of_(\w+)", (root / "tests/header_examples/context.hpp").read_text()))
    headers = [line for line in (root / "api/public_headers.txt").read_text().splitlines() if line.startswith("troupe/")]
    text = ['#include "tests/header_examples/context.hpp"\n']
    count = 0
    for header in headers:
        source = (root / "include" / header).resolve()
        lines = source.read_text().splitlines()
        stem = Path(header).stem
        context = f"context_of_{stem}" if stem in contexts else "context"
        for first, example in [*blocks_of(lines), *statements_of(lines)]:
            count += 1
            code = "\n".join(example)
            text.append(f"namespace troupe::test::header_examples::{stem}_{first}_{count} {{\n"
                        f"struct example : {context} {{\n"
                        f"  void run() {{\n"
                        f'#line {first} "{source.relative_to(root.resolve())}"\n{code}\n'
                        f"  }}\n}};\n"
                        f"void run(example& of) {{ of.run(); }}\n}}\n")
    if count < 20:
        sys.exit(f"only {count} examples were found in public headers")
    Path(output).write_text("\n".join(text))


main(Path(sys.argv[1]), sys.argv[2])
