#!/usr/bin/env python3
"""Writes a C++ source that lists what other sources define.

A definition is `extern constexpr op_def NAME` or `extern constexpr kernel_def NAME`, in the namespace that the source
opened last. The output is not written if it would not change, so that nothing is compiled again.
"""

import argparse
import re
import sys
from pathlib import Path

NAMESPACE = re.compile(r"^namespace (troupe::ops[\w:]*) \{", re.MULTILINE)
DEFINITION = re.compile(r"^extern constexpr (op|kernel)_def (?:TROUPE_GPU_KERNEL\((\w+)\)|(\w+))[^\"]*\"(\w+)\"",
                        re.MULTILINE)


def definitions(sources, gpu_suffix):
    """Returns (kind, namespace, name, op, source) of each definition."""
    found = []
    for source in sources:
        text = Path(source).read_text(encoding="utf-8")
        spaces = list(NAMESPACE.finditer(text))
        for one in DEFINITION.finditer(text):
            kind, gpu_name, name, op = one.groups()
            space = [opened[1] for opened in spaces if opened.start() < one.start()][-1]
            found.append((kind, space, gpu_name + gpu_suffix if gpu_name else name, op, source))
    return found


def pointers(kind, function, found):
    """A function that returns pointers to all definitions."""
    names = [name for _, _, name, _, _ in found]
    if twice := sorted({name for name in names if names.count(name) > 1}):
        sys.exit(f"list_ops: two definitions are called {', '.join(twice)}")
    space, _, name = function.rpartition("::")
    text = "".join(f"namespace {inside} {{ extern const troupe::{kind}_def {one}; }}\n" for _, inside, one, _, _ in found)
    entries = "".join(f"      &{inside}::{one},\n" for _, inside, one, _, _ in found)
    return text + f"""
namespace {space} {{
std::span<const {kind}_def* const> {name}() {{
  static constexpr const {kind}_def* all[] = {{
{entries}  }};
  return all;
}}
}} // namespace {space}
"""


def devices(function, found):
    """A function that returns the names of ops with the devices that have kernels for them."""
    on = {}
    for _, _, _, op, source in found:
        kinds = re.search(r"\.(cpu|any|cuda)\.\w+$", source)
        kinds = {"cpu": ["cpu"], "cuda": ["gpu"]}.get(kinds[1] if kinds else "any", ["cpu", "gpu"])
        on.setdefault(op, set()).update(kinds)
    space, _, name = function.rpartition("::")
    entries = "".join(f'      {{"{op}", "{", ".join(sorted(kinds))}"}},\n' for op, kinds in sorted(on.items()))
    return f"""
namespace {space} {{
std::span<const op_devices> {name}() {{
  static constexpr op_devices all[] = {{
{entries}  }};
  return all;
}}
}} // namespace {space}
"""


def folders(function, found):
    """A function that returns the names of ops with the folders of ops/ that define them."""
    space, _, name = function.rpartition("::")
    folder_of = {op: re.search(r".*(?:^|/)ops/(\w+)/", source)[1] for _, _, _, op, source in found}
    entries = "".join(f'      {{"{op}", "{folder}"}},\n' for op, folder in sorted(folder_of.items()))
    return f"""
namespace {space} {{
std::span<const op_folder> {name}() {{
  static constexpr op_folder all[] = {{
{entries}  }};
  return all;
}}
}} // namespace {space}
"""


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("output", type=Path)
    parser.add_argument("--header", required=True, help="declares the function")
    parser.add_argument("--function", required=True, help="the function that returns the list")
    parser.add_argument("--define", required=True, choices=["op", "kernel", "devices", "folders"], help="what is listed")
    parser.add_argument("--gpu-suffix", default="_cuda", help="ends the names of kernels for GPUs")
    parser.add_argument("--sources", type=Path, required=True, help="a file with the path of a source in each line")
    arguments = parser.parse_args()

    sources = arguments.sources.read_text(encoding="utf-8").split()
    kind = "op" if arguments.define in ("op", "folders") else "kernel"
    found = [one for one in definitions(sources, arguments.gpu_suffix) if one[0] == kind]
    body = devices(arguments.function, found) if arguments.define == "devices" else \
        folders(arguments.function, found) if arguments.define == "folders" else \
        pointers(kind, arguments.function, found)
    text = f'// Written by cmake/list_ops.py.\n#include "{arguments.header}"\n\n{body}'
    if not arguments.output.exists() or arguments.output.read_text(encoding="utf-8") != text:
        arguments.output.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
