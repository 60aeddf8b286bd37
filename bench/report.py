"""Writes the results of bench/compare as Markdown: one table per subject."""

import json
import os
import re
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
NETS = json.loads((ROOT / "bench/nets.json").read_text(encoding="utf-8"))["nets"]
# Subject -> the title of its table, and the pattern of its cases. A case has the first subject that
# matches the beginning of its name.
SUBJECTS = {
    "dispatch": ("Dispatch of nodes", "dispatch/"),
    "steps": ("Steps", "(run|steps)/"),
    "elementwise": ("Element-wise ops and reductions", "(elementwise|reduce)/"),
    "products": ("Matrix products", "matmul/|int8/matmul"),
    "convolutions": ("Convolutions", "conv2d/|int8/conv2d"),
    "nets": ("Training steps", "softmax/|(" + "|".join(NETS) + ")$"),
    "memory": ("Peak memory", "memory/"),
    "control_flow": ("Control flow", "flow/"),
    "queues": ("Queues", "queue/"),
    "input": ("Input", "input/|files/(tfrecord|lines)_"),
    "checkpoints": ("Checkpoints and files", "(save|files)/"),
    "exchange": ("Transfers between processes", "(exchange|receive)/"),
    "cluster": ("Steps over several processes", "cluster/"),
    "collectives": ("Reductions of several tasks", "collective/"),
    "replicas": ("Training by several workers", "replicas/"),
    "placement": ("Placement", "place/"),
}
# The columns of figures, in this order. The best rival is the best of RIVALS.
COLUMNS = {"troupe": "Troupe", "tensorflow": "TensorFlow", "torch": "PyTorch", "jax": "JAX",
           "onednn": "oneDNN", "loop": "plain code", "old": "old"}
RIVALS = ["tensorflow", "torch", "jax", "onednn"]
START, END = "<!-- report: written by bench/compare --report -->", "<!-- end of report -->"
INTRODUCTION = """\
Each figure is the median of rounds that alternate between Troupe and the rivals; a rival's figure
is that of its fastest mode. The ratio is the best rival's figure, or where there is none that of
the `old` binary, divided by Troupe's. Ratios below 1 (bold) are *behind*; these rows come first. A
ratio in parentheses compares with plain code, which does the same work without a framework."""


def subject_of(case):
    """Returns the subject of a case, or None."""
    return next((name for name, (_, pattern) in SUBJECTS.items() if re.match(pattern, case)), None)


def quantity(result):
    if "bytes" in result:
        return f"{result['bytes'] / 2**20:.0f} MiB"
    for unit, scale in ("s", 1), ("ms", 1e-3), ("us", 1e-6):
        if result["seconds"] >= scale:
            return f"{result['seconds'] / scale:.3g} {unit}"
    return f"{result['seconds'] * 1e9:.3g} ns"


def size(result):
    return result.get("bytes") or result["seconds"]


# -- the run: date, machine, versions

def first_line(*command):
    """Returns the first line that a command prints, or "" if it fails."""
    try:
        answer = subprocess.run(command, text=True, capture_output=True, check=True).stdout
    except (OSError, subprocess.CalledProcessError):
        return ""
    return (answer.splitlines() or [""])[0]


def machine():
    """Returns the processor, its threads and the memory of this machine."""
    def value(file, key):
        try:
            lines = Path(file).read_text(encoding="utf-8").splitlines()
        except OSError:
            return "unknown"
        return next((line.split(":", 1)[1].strip() for line in lines if line.startswith(key)), "unknown")
    memory = re.match(r"(\d+) kB", value("/proc/meminfo", "MemTotal"))
    gigabytes = f"{int(memory[1]) / 2**20:.0f} GiB" if memory else "unknown memory"
    return f"{value('/proc/cpuinfo', 'model name')}, {len(os.sched_getaffinity(0))} threads, {gigabytes}"


def build_of(program):
    """Returns the commit and the compiler of a program in the folder `bin` of a build tree."""
    cache = Path(program).resolve().parent.parent / "CMakeCache.txt"
    if not cache.exists():
        return {"commit": "unknown commit", "compiler": "unknown compiler"}
    values = dict(re.findall(r"^(\w+):\w+=(.*)$", cache.read_text(encoding="utf-8"), re.MULTILINE))
    source, kind = values.get("CMAKE_HOME_DIRECTORY", "."), values.get("CMAKE_BUILD_TYPE", "")
    commit = first_line("git", "-C", source, "rev-parse", "--short", "HEAD") or "unknown commit"
    if first_line("git", "-C", source, "status", "--porcelain", "--untracked-files=no"):
        commit += " with changes"
    compiler = first_line(values.get("CMAKE_CXX_COMPILER", "c++"), "--version") or "unknown compiler"
    return {"commit": commit,
            "compiler": f"{compiler}, {kind} {values.get(f'CMAKE_CXX_FLAGS_{kind.upper()}', '')}".strip()}


# -- tables

def table(header, rows):
    lines = ["| " + " | ".join(header) + " |", "|" + "---|" * len(header)]
    return "\n".join(lines + ["| " + " | ".join(row) + " |" for row in rows])


def label(record):
    """Returns the name of a run: its date and minute."""
    return record["date"][:16].replace("T", " ")


def shown(case):
    """Returns the name of a case without what Google Benchmark adds to it."""
    case = re.sub(r"/(iterations:\d+|(manual|real|process)_time)", "", case)
    return re.sub(r"^((?:save|files)/\w+)/\d+$", r"\1", case)


def ratio_of(sides):
    """Returns how many times better Troupe is than the best rival, else than the old binary; or None."""
    others = [size(sides[side]) for side in RIVALS if side in sides]
    if not others and "old" in sides:
        others = [size(sides["old"])]
    return min(others) / size(sides["troupe"]) if others and "troupe" in sides else None


def cell(sides, side):
    if side not in sides:
        return ""
    text = quantity(sides[side])
    if side in ("tensorflow", "torch") and sides[side].get("mode", "process") != "process":
        return f"{text} (`{sides[side]['mode']}`)"
    if side == "loop" and "troupe" in sides:
        return f"{text} ({size(sides[side]) / size(sides['troupe']):.2f})"
    return text


def ratio_cell(ratio):
    if ratio is None:
        return ""
    text = f"{ratio:.2f}" if ratio >= 0.1 else f"{ratio:.1g}"
    return text if ratio >= 1 else f"**{text}**"


def counters_of(sides):
    """Returns the values that a benchmark of Troupe measures besides its time."""
    counters = sides.get("troupe", {}).get("counters", {})
    return ", ".join(f"`{name}` {value:.3g}" for name, value in counters.items())


def target_cell(targets):
    return "; ".join(f"{target}: {measured}, {met if met == 'met' else '**missed**'}"
                     for _, target, measured, met in targets)


def rows_of(subject, record):
    """Returns (case, threads, sides, ratio, targets) of each row of a subject: behind, ahead, no ratio."""
    rows = []
    for run in record["runs"]:
        for case, sides in run["cases"].items():
            if subject_of(case) == subject:
                targets = [row for row in run.get("targets", []) if row[0] == case]
                rows.append((case, run["threads"], sides, ratio_of(sides), targets))
    return sorted(rows, key=lambda row: (row[3] is None, row[3] or 0))


def section(subject, record):
    """Returns the section of a subject, or None if the run has no result of it."""
    rows = rows_of(subject, record)
    failures = [failure for failure in record.get("failures", []) if subject_of(failure[0]) == subject]
    if not rows and not failures:
        return None
    columns = [side for side in COLUMNS if side == "troupe" or any(side in row[2] for row in rows)]
    with_threads = len({run["threads"] for run in record["runs"]}) > 1
    with_counters = any(counters_of(row[2]) for row in rows)
    with_targets = any(row[4] for row in rows)
    header = ["case", *(["threads"] if with_threads else []), *(COLUMNS[side] for side in columns),
              "ratio", *(["counters"] if with_counters else []),
              *(["target"] if with_targets else [])]
    cells = []
    for case, threads, sides, ratio, targets in rows:
        cells.append([f"`{shown(case)}`", *([str(threads)] if with_threads else []),
                      *(cell(sides, side) for side in columns), ratio_cell(ratio),
                      *([counters_of(sides)] if with_counters else []),
                      *([target_cell(targets)] if with_targets else [])])
    compared = [row[3] for row in rows if row[3] is not None]
    behind = sum(ratio < 1 for ratio in compared)
    lines = [f"## {SUBJECTS[subject][0]}", "",
             f"Run {label(record)}. Rows behind: {behind} of {len(compared)} with a ratio.", "",
             table(header, cells), ""]
    for case, side, message in failures:
        words = message.replace("`", "'").split()
        lines += [f"Not measured: `{shown(case)}` by {COLUMNS[side]}: {' '.join(words)[:200]}", ""]
    return "\n".join(lines)


def run_row(record):
    versions = record["versions"]
    programs = [f"Troupe {versions['troupe']['commit']} ({versions['troupe']['compiler']})"]
    programs += [f"{COLUMNS[name]} {version}" for name, version in versions["rivals"].items()]
    if "old" in versions:
        programs.append(f"old: Troupe {versions['old']['commit']} ({versions['old']['compiler']})")
    counts = ", then ".join(str(run["threads"]) for run in record["runs"])
    load = max((value for run in record["runs"] for value in run["load"]), default=0)
    rounds = f"{record['rounds']} round" + "s" * (record["rounds"] != 1)
    return [label(record), record["machine"], "; ".join(programs),
            f"{record['clock']} time, threads: {counts}; {rounds} of {record['seconds']:g} s; load {load:g}"]


def whole(runs, sections):
    """Returns the report of the given rows of runs and sections by their titles."""
    runs_table = table(["run", "machine", "versions", "measurement"], runs)
    ordered = [sections[title] for title, _ in SUBJECTS.values() if title in sections]
    return "\n".join([INTRODUCTION, "", runs_table, "", *ordered]).rstrip() + "\n"


def parsed(report):
    """Returns the rows of runs and the sections of a report."""
    introduction, *parts = re.split(r"^(?=## )", report, flags=re.MULTILINE)
    rows = [line for line in introduction.splitlines() if line.startswith("| ")][1:]
    runs = [[word.strip() for word in row.strip("| ").split(" | ")] for row in rows]
    return runs, {part[3:].split("\n", 1)[0]: part.rstrip() + "\n" for part in parts}


def write(record, previous=""):
    """Returns the report of a run. Sections of the previous report remain whose subjects this run
    has not measured, and so do the rows of their runs."""
    runs, sections = parsed(previous)
    for subject, (title, _) in SUBJECTS.items():
        if text := section(subject, record):
            sections[title] = text
    runs = [row for row in runs
            if row[0] != label(record) and any(row[0] in text for text in sections.values())]
    return whole([run_row(record), *runs], sections)


def split_at_markers(text):
    return re.split(f"({re.escape(START)}|{re.escape(END)})", text)


def has_markers(text):
    return [part for part in split_at_markers(text) if part in (START, END)] == [START, END]


def replace(text, record):
    """Returns a text that has the markers with the report between them replaced."""
    before, start, previous, end, after = split_at_markers(text)
    return f"{before}{start}\n\n{write(record, previous)}\n{end}{after}"
