#!/usr/bin/env python3
"""extract.py ROOT OUTPUT: writes a C++ source with all examples of public headers and of the documentation.

An example of a header is an indented block of a comment (five blanks behind the slashes), or a statement between
backquotes, which ends with a semicolon. Comments at the beginning of a header may contain indented blocks that are not
code, such as folders: these are skipped.

An example of a page (README.md and docs/) is a ```cpp block. Blocks with a main() are skipped, since the test
readme_example runs them. A block that is not valid C++ by intent has a line before it that gives the reason:
`<!-- not compiled: reason -->`.

Each example becomes a function of its own, in a class that is derived from the context of its file (context.hpp:
`context_of_<header>` or `context_of_page_<page>`, else `context`). The members of the context are the names that
examples assume.
"""

import re
import sys
from pathlib import Path

BLOCK = re.compile(r"^\s*///( {5,}\S.*|)$")
COMMENT = re.compile(r"^\s*///? ?(.*)$")
STATEMENT = re.compile(r"`([^`]*;)`")
FENCE = re.compile(r"^\s*```(\w*)$")
NOT_COMPILED = re.compile(r"^\s*<!-- not compiled: \S.* -->$")


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


def cpp_blocks_of(lines):
    """Yields (number of the first line, lines) of the ```cpp blocks of a page."""
    block, first, last_text = None, 0, ""
    for number, line in enumerate(lines, 1):
        fence = FENCE.match(line)
        if fence and block is None:
            block, first = ([] if fence[1] == "cpp" and not NOT_COMPILED.match(last_text) else False), number + 1
        elif fence:
            if block and not any("int main(" in code for code in block):
                yield first, block
            block, last_text = None, ""
        elif block is not None:
            if block is not False:
                block.append(line)
        elif line.strip():
            last_text = line


def examples_of_headers(root):
    """Yields (path, kind of context, examples) of the public headers."""
    for header in (root / "api/public_headers.txt").read_text().splitlines():
        if header.startswith("troupe/"):
            source = (root / "include" / header).resolve()
            lines = source.read_text().splitlines()
            yield source.relative_to(root.resolve()), source.stem, [*blocks_of(lines), *statements_of(lines)]


def examples_of_pages(root):
    """Yields (path, kind of context, examples) of README.md and the pages in docs/."""
    for page in [root / "README.md", *sorted((root / "docs").rglob("*.md"))]:
        yield page.relative_to(root), "page_" + page.stem.replace("-", "_"), [*cpp_blocks_of(page.read_text().splitlines())]


def main(root, output):
    contexts = set(re.findall(r"\bcontext_of_(\w+)", (root / "tests/header_examples/context.hpp").read_text()))
    text = ['#include "tests/header_examples/context.hpp"\n']
    for examples_of, least in [(examples_of_headers, 20), (examples_of_pages, 40)]:
        count = 0
        for path, kind, examples in examples_of(root):
            context = f"context_of_{kind}" if kind in contexts else "context"
            for first, example in examples:
                count += 1
                code = "\n".join(example)
                name = re.sub(r"\W", "_", f"{kind}_{first}_{count}")
                text.append(f"namespace troupe::test::header_examples::{name} {{\n"
                            f"struct example : {context} {{\n"
                            f"  void run() {{\n"
                            f'#line {first} "{path}"\n{code}\n'
                            f"  }}\n}};\n"
                            f"void run(example& of) {{ of.run(); }}\n}}\n")
        if count < least:
            sys.exit(f"{examples_of.__name__}: only {count} examples were found")
    Path(output).write_text("\n".join(text))


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2])
