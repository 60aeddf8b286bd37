#!/usr/bin/env python3
"""Writes a C++ source with the list of the ops and kernels that other sources define.

A source defines what stands in it as `extern constexpr op_def NAME` or `extern constexpr kernel_def NAME`, in the
namespace that it opens. The list is left alone where it would not change, so that nothing is compiled again.
"""

import argparse
import re
import sys
from pathlib import Path

NAMESPACE = re.compile(r"^namespace (troupe::ops[\w:]*) \{", re.MULTILINE)
DEFINITION = re.compile(r"^extern constexpr (op|kernel)_def (?:TROUPE_GPU_KERNEL\((\w+)\)|(\w+))", re.MULTILINE)


def definitions(sources, gpu_suffix):
    """Returns (kind, namespace, name) of all that the sources define."""
    found = []
    for source in sources:
        text = Path(source).read_text(encoding="utf-8")
        for kind, gpu_name, name in DEFINITION.findall(text):
            found.append((kind, NAMESPACE.search(text)[1], gpu_name + gpu_suffix if gpu_name else name))
    return found


def listing(kind, function, found):
    space, _, name = function.rpartition("::")
    entries = "".join(f"      &{inside}::{one},\n" for what, inside, one in found if what == kind)
    return f"""
namespace {space} {{
std::span<const {kind}_def* const> {name}() {{
  static constexpr const {kind}_def* all[] = {{
{entries}  }};
  return all;
}}
}} // namespace {space}
"""


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("output", type=Path)
    parser.add_argument("--header", required=True, help="declares the functions")
    parser.add_argument("--ops", help="the function that returns all ops, if there shall be one")
    parser.add_argument("--kernels", required=True, help="the function that returns all kernels")
    parser.add_argument("--gpu-suffix", default="_cuda", help="ends the names of kernels for GPUs")
    parser.add_argument("--sources", type=Path, required=True, help="a file with the path of a source in each line")
    arguments = parser.parse_args()

    found = definitions(arguments.sources.read_text(encoding="utf-8").split(), arguments.gpu_suffix)
    names = [(kind, name) for kind, _, name in found]
    if twice := sorted({name for kind, name in names if names.count((kind, name)) > 1}):
        sys.exit(f"list_ops: two definitions are called {', '.join(twice)}")
    text = f'// Written by cmake/list_ops.py.\n#include "{arguments.header}"\n\n'
    text += "".join(f"namespace {space} {{ extern const troupe::{kind}_def {name}; }}\n" for kind, space, name in found)
    if arguments.ops:
        text += listing("op", arguments.ops, found)
    text += listing("kernel", arguments.kernels, found)
    if not arguments.output.exists() or arguments.output.read_text(encoding="utf-8") != text:
        arguments.output.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
