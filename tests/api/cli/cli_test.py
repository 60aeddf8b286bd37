#!/usr/bin/env python3
"""Runs the `troupe` command as a user would: cli_test.py PATH-OF-TROUPE FOLDER-FOR-FILES."""

import contextlib
import itertools
import json
import os
import random
import re
import shutil
import signal
import socket
import struct
import subprocess
import sys
import threading
import time
import unittest
import urllib.error
import urllib.request
import zipfile

TROUPE, FOLDER = sys.argv[1], sys.argv[2]
# The factor of all timeouts, for builds that are slow.
PATIENCE = max(1, int(os.environ.get("TROUPE_PATIENCE", "1")))
ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "..")
TENSORFLOW = os.path.join(ROOT, "tests", "graphs", "tensorflow")
os.makedirs(FOLDER, exist_ok=True)


def troupe(*arguments, timeout=60, environment=None):
    return subprocess.run([TROUPE, *arguments], capture_output=True, text=True, timeout=timeout * PATIENCE,
                          env={**os.environ, **(environment or {})})


def worker(*arguments, environment=None, **popen_options):
    return subprocess.Popen([TROUPE, "worker", *arguments], stdout=subprocess.PIPE, text=True,
                            env={**os.environ, **(environment or {})}, **popen_options)


@contextlib.contextmanager
def ending(*processes):
    """Kills the processes at the end, also after an exception."""
    try:
        yield processes
    finally:
        for process in processes:
            process.kill()
            process.wait()
            for stream in process.stdout, process.stderr:
                if stream:
                    stream.close()


def write(name, text):
    path = os.path.join(FOLDER, name)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    return path


def unpacked(name):
    """The folder of files that TensorFlow has written (tests/graphs/tensorflow/saved_models.py)."""
    target_folder = os.path.join(FOLDER, f"unpacked_{name}")
    with zipfile.ZipFile(os.path.join(TENSORFLOW, f"saved_{name}.zip")) as archive:
        archive.extractall(target_folder)
    return os.path.join(target_folder, "model")


def write_npy(name, descr, shape, data):
    header = f"{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}, }}\n".encode()
    path = write(name, "")
    with open(path, "wb") as file:
        file.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header + data)
    return path


def read_npy(path):
    """Header and data."""
    with open(path, "rb") as file:
        content = file.read()
    end = 10 + struct.unpack("<H", content[8:10])[0]
    return content[10:end].decode(), content[end:]


def below_connections():
    """Ports below the kernel's ephemeral range, each once."""
    with open("/proc/sys/net/ipv4/ip_local_port_range", encoding="ascii") as file:
        least = int(file.read().split()[0])
    first, end = 10000, least if least > 11000 else 32768
    start = random.randrange(first, end)
    return itertools.chain(range(start, end), range(first, start))


PORTS = below_connections()


def free_port():
    for port in PORTS:
        with contextlib.suppress(OSError), socket.socket() as probe:
            probe.bind(("127.0.0.1", port))
            return port
    raise OSError("no free port")


def free_ports_in_a_row(count):
    while True:
        first = free_port()
        try:
            with contextlib.ExitStack() as reserved:
                for port in range(first, first + count):
                    reserved.enter_context(socket.socket()).bind(("127.0.0.1", port))
            return first
        except (OSError, OverflowError):
            pass


class Cluster:
    """One worker process per task of the job `worker`; they log to one file."""

    count = itertools.count()

    def __init__(self, tasks, *options, stderr=None):
        self.addresses = [f"127.0.0.1:{free_port()}" for _ in range(tasks)]
        self.file = write(f"cluster{tasks}.json", json.dumps({"worker": self.addresses}))
        self.log = write(f"log{next(Cluster.count)}.txt", "")
        with open(self.log, "a", encoding="utf-8") as log:
            self.processes = [
                subprocess.Popen([TROUPE, "worker", "--job", "worker", "--task", str(i), "--cluster",
                                  self.file, *options], stdout=subprocess.PIPE, stderr=stderr or log,
                                 text=True)
                for i in range(tasks)]

    def __enter__(self):
        return self

    def wait(self):
        """Returns when all tasks listen."""
        for process in self.processes:
            assert process.stdout.readline().startswith("listening on ")
        return self

    def __exit__(self, *_):
        for process in self.processes:
            process.kill()
            process.wait()
            process.stdout.close()


GRAPH = """
x = Placeholder dtype=f32 shape=[2]
y = Mul(x, f32(2))
feed x = f32[1, 2]
fetch y = f32[2, {last}]
"""

OVER_TWO = """
x = Add(i32(1), i32(2)) @"/job:worker/task:0"
y = Mul(x, i32(5)) @"/job:worker/task:1"
fetch y = i32(15)
"""

NAN = """
x = Placeholder dtype=f32 shape=[2]
y = Log(x)
feed x = f32[2, -1]
fetch y
"""

# total += x in each step, and twice the total before it; as TensorFlow would write it.
GRAPH_DEF = """
node { name: 'x' op: 'Placeholder' attr { key: 'dtype' value { type: DT_FLOAT } }
       attr { key: 'shape' value { shape { dim { size: 2 } } } } }
node { name: 'zeros' op: 'Const' attr { key: 'dtype' value { type: DT_FLOAT } }
       attr { key: 'value' value { tensor { dtype: DT_FLOAT tensor_shape { dim { size: 2 } } } } } }
node { name: 'total' op: 'VariableV2' attr { key: 'dtype' value { type: DT_FLOAT } }
       attr { key: 'shape' value { shape { dim { size: 2 } } } } }
node { name: 'init' op: 'Assign' input: 'total' input: 'zeros' }
node { name: 'add' op: 'AssignAdd' input: 'total' input: 'x' }
node { name: 'twice' op: 'Add' input: 'add' input: 'add' }
node { name: 'names/count' op: 'Placeholder' attr { key: 'dtype' value { type: DT_STRING } } }
node { name: 'names/same' op: 'Identity' input: 'names/count' }
versions { producer: 27 }
"""

PARTLY_READABLE = """
node { name: 'x' op: 'Placeholder' attr { key: 'dtype' value { type: DT_FLOAT } } }
node { name: 'p' op: 'Placeholder' attr { key: 'dtype' value { type: DT_BOOL } } }
node { name: 'twice' op: 'Add' input: 'x' input: 'x' }
node { name: 'far' op: 'FromElsewhere' input: 'x' }
node { name: 'further' op: 'Neg' input: 'far' }
node { name: 'handle' op: 'Placeholder' attr { key: 'dtype' value { type: DT_RESOURCE } } }
node { name: 'read' op: 'ReadVariableOp' input: 'handle' attr { key: 'dtype' value { type: DT_FLOAT } } }
node { name: 'cond/Switch' op: 'Switch' input: 'x' input: 'p' }
node { name: 'cond/double' op: 'Add' input: 'cond/Switch:1' input: 'cond/Switch:1' }
node { name: 'cond/Merge' op: 'Merge' input: 'cond/Switch' input: 'cond/double' }
versions { producer: 27 }
"""

DRAWN = """
drawn = RandomUniform(i32[4]) dtype=f32
fetch drawn
"""


PLACED = """
v = VariableV2 dtype=f32 shape=[1000,1000] @"/job:ps"
x = Placeholder dtype=f32 shape=[1000,1000]
a = MatMul(x, x)
b = MatMul(x, v)
c = Relu(a) _class=["loc:@a"]
d = Add(c, b)
u = AssignAdd(v, x)
feed x = f32{1000,1000}[1]
fetch d
target u
"""

EXPLAINED = """# the run at line 9
VariableV2 'v' on /job:ps/task:0/device:cpu:0: asked for '/job:ps'; the only device that can run it
_Feed '_feed_0/x' fed; goes to all that read it
MatMul 'a' on /job:worker/task:0/device:cpu:0: cheapest: done after 40 ms, on /job:worker/task:1/device:cpu:0 after 40 ms
MatMul 'b' on /job:ps/task:0/device:cpu:0: cheapest: done after 40 ms, on /job:worker/task:1/device:cpu:0 after 43.3 ms
Relu 'c' on /job:worker/task:0/device:cpu:0: colocated with 'a'
Add 'd' on /job:worker/task:0/device:cpu:0: cheapest: done after 44.5 ms, on /job:worker/task:1/device:cpu:0 after 45.3 ms
AssignAdd 'u' on /job:ps/task:0/device:cpu:0: with the state of 'v'
_Fetch '_fetch_0' fetched from where it is made
strategy: greedy; a step is expected to take 44.5 ms (82 ms by first worker)
from /job:ps/task:0 to /job:worker/task:0: 1 message, 4 MB
"""


class CommandTest(unittest.TestCase):
    def one_line(self, result, *parts):
        self.assertEqual(result.stderr.count("\n"), 1, result.stderr)
        for part in parts:
            self.assertIn(part, result.stderr)

    def test_version_is_printed(self):
        result = troupe("version")
        self.assertEqual(result.returncode, 0)
        self.assertRegex(result.stdout, r"^troupe \d+\.\d+\.\d+\n$")
        result = troupe("version", "--build")
        self.assertRegex(result.stdout, r"^troupe \d+\.\d+\.\d+, build (sources-)?[0-9a-f]{12}(-modified)?, "
                                        r"message schema [0-9a-f]{16}\n$")

    def test_wrong_usage_exits_with_2(self):
        for arguments in [], ["dance"], ["worker"], ["worker", "--task", "x", "--cluster", "f"]:
            with self.subTest(arguments=arguments):
                result = troupe(*arguments)
                self.assertEqual(result.returncode, 2)
                self.one_line(result, "troupe", "--help says more")

    def test_a_typo_names_the_nearest_valid_word(self):
        file = write("one.json", '{"worker": ["127.0.0.1:1"]}')
        for arguments, parts in [
                (["frobnicate"], ["troupe: there is no subcommand 'frobnicate'", "drain, "]),
                (["wrker", "--job", "x"], ["'wrker', did you mean 'worker'?", "(troupe --help "]),
                (["state"], ["troupe state: a subcommand is required: ls, reset"]),
                (["state", "lss", "--cluster", file], ["troupe state: ", "did you mean 'ls'?"]),
                (["worker", "--jb", "x", "--cluster", file],
                 ["there is no option --jb, did you mean '--job'?", "(troupe worker --help "]),
                (["devices", "--timeot=3"], ["did you mean '--timeout'?"]),
                (["worker", "--job", "worker", "--cluster", file, "--gpu-watchdog", "-1"],
                 ["troupe worker: --gpu-watchdog: ", "(troupe worker --help "]),
                (["devices", "--timeout", "-1"], ["troupe devices: ", "(troupe devices --help "])]:
            with self.subTest(arguments=arguments):
                result = troupe(*arguments)
                self.assertEqual(result.returncode, 2)
                self.one_line(result, *parts)
        graph = write("typo.txt", """
images = Placeholder dtype=f32 shape=[]
labels = Neg(images) @"/job:woker/task:0"
fetch labels
""")
        result = troupe("run", graph, "--feed", "image=1", "--fetch", "labels")
        self.one_line(result, "'image'", "did you mean 'images'?")
        result = troupe("run", graph, "--feed", "images=1", "--fetch", "label")
        self.one_line(result, "'label'", "did you mean 'labels'?")
        # A file lists all jobs: no other job can appear.
        start = time.monotonic()
        result = troupe("run", graph, "--feed", "images=1", "--fetch", "labels", "--cluster", file)
        self.assertLess(time.monotonic() - start, 15)
        self.assertEqual(result.returncode, 1)
        self.one_line(result, "there is no device '/job:woker/task:0', did you mean 'worker'?")
        self.assertNotIn(".cpp", result.stderr)

    def test_coverage_lists_types_and_gradients(self):
        lines = troupe("ops", "--coverage").stdout.splitlines()
        rows = {line.split("\t")[0]: line.split("\t") for line in lines[1:-1]}
        self.assertIn("f32", rows["MatMul"][1])
        self.assertIn("f32", rows["Relu"][1])
        self.assertEqual(rows["Relu"][3], "yes")
        self.assertTrue(rows["Shape"][3].startswith("none: "))
        self.assertEqual(rows["QueueDequeue"][1], "by an actor")
        self.assertTrue(lines[-1].startswith(f"# {len(rows)} ops, "))

    def test_ops_are_listed_but_not_the_hidden_ones(self):
        result = troupe("ops")
        self.assertEqual(result.returncode, 0)
        self.assertIn("\nMatMul ", result.stdout)
        self.assertNotIn("\n_", "\n" + result.stdout)

    def test_an_op_is_described(self):
        result = troupe("ops", "MatMul")
        self.assertEqual(result.returncode, 0)
        self.assertIn("transpose_a", result.stdout)

    def test_a_mistyped_op_gets_a_proposal(self):
        result = troupe("ops", "MatMull")
        self.assertEqual(result.returncode, 1)
        self.one_line(result, "did you mean 'MatMul'?")

    def test_local_devices_are_listed(self):
        result = troupe("devices")
        self.assertEqual(result.returncode, 0)
        self.assertIn("/job:local/task:0/device:cpu:0", result.stdout)

    def test_a_text_graph_runs(self):
        result = troupe("run", write("good.txt", GRAPH.format(last=4)))
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(result.stdout, "y = f32[2] {2, 4}\n")

    def test_a_placement_is_explained(self):
        cluster = write("placed.json", '{"worker": ["127.0.0.1:1", "127.0.0.1:2"], "ps": ["127.0.0.1:3"]}')
        graph = write("placed.txt", PLACED)
        explained = troupe("run", graph, "--cluster", cluster, "--placement", "greedy", "--explain-placement")
        self.assertEqual(explained.stderr, "")
        self.assertEqual(explained.stdout, EXPLAINED)
        first = troupe("run", graph, "--cluster", cluster, "--explain-placement").stdout
        self.assertIn("the first that can run it", first)
        self.assertNotIn("task:1", first)
        self.assertIn("strategy: first worker; ", first)

    def test_a_graph_of_tensorflow_runs_with_feeds_and_fetches(self):
        path = write("graph.pbtxt", GRAPH_DEF)
        result = troupe("run", path, "--init", "init", "--feed", "x=[1, 2]", "--fetch", "twice",
                        "--fetch", "x:0")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(result.stdout, "twice = f32[2] {2, 4}\nx:0 = f32[2] {1, 2}\n")
        result = troupe("run", path, "--feed", "names/count=three", "--fetch", "names/same")
        self.assertEqual(result.stdout, 'names/same = string[] {"three"}\n', result.stderr)

    def test_only_fetched_nodes_must_be_readable(self):
        path = write("partly.pbtxt", PARTLY_READABLE)
        result = troupe("run", path, "--feed", "x=[1, 2]", "--fetch", "twice")
        self.assertEqual(result.stdout, "twice = f32[2] {2, 4}\n", result.stderr)
        result = troupe("run", path, "--feed", "x=[1, 2]", "--feed", "p=true", "--fetch", "cond/double",
                        "--fetch", "cond/Merge")
        self.assertEqual(result.stdout, "cond/double = f32[2] {2, 4}\ncond/Merge = f32[2] {2, 4}\n",
                         result.stderr)
        for arguments, part in (
                (["--fetch", "far"], "no such op: FromElsewhere ('far')"),
                (["--target", "further"], "FromElsewhere ('far', which 'further' needs)"),
                (["--fetch", "read"], "it needs Placeholder 'handle': a handle (DT_RESOURCE)"),
                (["--feed", "x=[1, 2]", "--feed", "p=false", "--fetch", "cond/double"],
                 "cond/double is dead: predicate p of Switch cond/Switch is false"),
                ([], "no such op: FromElsewhere ('far')")):
            with self.subTest(arguments=arguments):
                result = troupe("run", path, *arguments)
                self.assertEqual(result.returncode, 1)
                self.one_line(result, part)

    def test_a_saved_model_lists_its_signatures_and_runs_them(self):
        model = os.path.join(FOLDER, "saved", "model")
        archive = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "graphs", "tensorflow",
                               "saved_first_version.zip")
        with zipfile.ZipFile(archive) as files:
            files.extractall(os.path.join(FOLDER, "saved"))
        result = troupe("run", model)
        self.assertEqual(result.returncode, 0, result.stderr)
        for line in ("graph with the tags serve", "signature serving_default", "  feed  x f32[?,3]",
                     "  fetch y f32[?,2]", "signature number_of", "  fetch number i64[?]"):
            self.assertIn(line, result.stdout.splitlines())
        result = troupe("run", model, "--feed", "x=[[1, 0, 0]]")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(result.stdout, "y = f32[1,2] {1.5, 1.5}\n")
        result = troupe("run", model, "--signature", "number_of", "--feed", 'word=["two", "none"]',
                        "--fetch", "number")
        self.assertEqual(result.stdout, "number = i64[2] {2, -1}\n", result.stderr)
        for arguments, part in ((["--signature", "number"], "did you mean 'number_of'?"),
                                (["--tags", "train", "--feed", "x=1"], "has no graph with the tags {train}"),
                                (["--feed", "z=1"], "the graph has no node 'z'")):
            with self.subTest(arguments=arguments):
                result = troupe("run", model, *arguments)
                self.assertEqual(result.returncode, 1)
                self.one_line(result, part)

    def test_saving_one_name_twice_is_refused(self):
        graph = write("save.txt", "x = Const value=f32[1] dtype=f32\n")
        for saves in (["x=a.npy", "x=b.npy"], ["x=a.npy", "x:0=a.npy"]):
            result = troupe("run", graph, "--save", saves[0], "--save", saves[1])
            self.assertEqual(result.returncode, 1)
            self.assertRegex(result.stderr, "--save x.*already|another --save")

    def test_arrays_of_numpy_are_fed_and_saved(self):
        path = write("graph.pbtxt", GRAPH_DEF)
        fed = write_npy("x.npy", "<f8", "(2,)", struct.pack("<2d", 1, 0.5))
        saved = os.path.join(FOLDER, "twice.npy")
        result = troupe("run", path, "--init", "init", "--feed", f"x=@{fed}",
                        "--save", f"twice=@{saved}")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(result.stdout, "")
        header, data = read_npy(saved)
        self.assertIn("'descr': '<f4', 'fortran_order': False, 'shape': (2,)", header)
        self.assertEqual(struct.unpack("<2f", data), (2, 1))
        out = os.path.join(FOLDER, "out")
        result = troupe("run", path, "--init", "init", "--feed", f"x=@{fed}", "--fetch", "twice",
                        "--fetch", "x:0", "--out", out)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(sorted(os.listdir(out)), ["twice.npy", "x_0.npy"])

    def test_a_text_graph_runs_with_other_feeds_than_its_own(self):
        result = troupe("run", write("good.txt", GRAPH.format(last=4)), "--feed", "x=f32[3, 4]",
                        "--fetch", "y")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(result.stdout, "y = f32[2] {6, 8}\n")

    def test_graphs_that_cannot_run_are_errors(self):
        path = write("graph.pbtxt", GRAPH_DEF)
        for arguments, part in (
                ([], "feeds x f32[2], feeds names/count string"),
                (["--fetch", "twic"], "did you mean 'twice'?"),
                (["--feed", "x"], "--feed takes NAME=VALUE"),
                (["--feed", "x=@nowhere.npy", "--fetch", "x"], "cannot read nowhere.npy"),
                (["--feed", "x=[1, two]", "--fetch", "x"], "a number"),
                (["--fetch", "twice"], "x"),
                (["--target", "nothing"], "nothing"),
                (["--fetch", "x", "--signature", "serving_default"], "--signature and --tags select"),
                (["--fetch", "x", "--tags", "serve"], "--signature and --tags select")):
            with self.subTest(arguments=arguments):
                result = troupe("run", path, *arguments)
                self.assertEqual(result.returncode, 1)
                self.one_line(result, part)
        result = troupe("run", write("broken.pbtxt", "node { name 'x' }"), "--fetch", "x")
        self.one_line(result, "broken.pbtxt:1:13")
        result = troupe("run", write("broken.pb", "no graph"), "--fetch", "x")
        self.one_line(result, "broken.pb: ")

    def assert_no_control_characters(self, text, lines=None):
        """No control character but line breaks, no bytes that are no UTF-8, no change of direction."""
        self.assertNotRegex(text, "[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ufffd]")
        if lines is not None:
            self.assertEqual(len(text.splitlines()), lines, text)

    def test_output_contains_no_terminal_control_characters(self):
        graph = write("hostile.txt", r"""
s = Const dtype=string value=string["\x1b[31mred\x07\x00\xff \"quoted\" \\ \xe2\x80\xae Z\xc3\xbcrich\nforged = f32[]"]
fetch s = string["other"]
""")
        result = troupe("run", graph)
        self.assertEqual(result.returncode, 1)
        self.assert_no_control_characters(result.stdout, 1)
        self.assert_no_control_characters(result.stderr)
        self.assertIn(r's = string[1] {"\x1b[31mred\x07\x00\xff \"quoted\" \\ \xe2\x80\xae Zürich\nforged = f32[]"}',
                      result.stdout)
        for arguments in (["run", graph, "--fetch", "\x1b[2J\nx"], ["run", "\x1b[2J\nnowhere"], ["\x1b[2J"],
                          ["devices", "--cluster", "\x1b[2J"], ["ops", "\x1b[2J\n"],
                          ["checkpoint", "show", "\x1b[2J\u202e"], ["state", "ls", "--cluster", "/no\x1b]0;where"]):
            with self.subTest(arguments=arguments):
                result = troupe(*arguments)
                self.assertNotEqual(result.returncode, 0)
                self.assert_no_control_characters(result.stdout)
                self.assert_no_control_characters(result.stderr)

    def test_names_in_checkpoints_are_shown_escaped(self):
        name = "w\x1b[31m\u202e\nforged  f32[9]  \u00fc"
        path = os.path.join(FOLDER, "hostile.safetensors")
        header = json.dumps({name: {"dtype": "F32", "shape": [1], "data_offsets": [0, 4]}}).encode()
        with open(path, "wb") as file:
            file.write(struct.pack("<Q", len(header)) + header + struct.pack("<f", 1))
        shown = troupe("checkpoint", "show", path)
        self.assertEqual(shown.returncode, 0, shown.stderr)
        self.assert_no_control_characters(shown.stdout, 2)
        self.assertIn(r"w\x1b[31m\xe2\x80\xae\nforged  f32[9]  ü", shown.stdout)
        compared = troupe("checkpoint", "diff", path, os.path.join(FOLDER, "hostile_other.safetensors"))
        self.assert_no_control_characters(compared.stdout + compared.stderr)

    def test_logs_of_a_worker_contain_no_control_characters(self):
        for form in "text", "json":
            port = free_port()
            cluster = json.dumps({"worker": [f"127.0.0.1:{port}"]})
            process = worker("--cluster", cluster, "--log", form, "--log-level", "debug", stderr=subprocess.PIPE)
            with ending(process):
                process.stdout.readline()
                with socket.create_connection(("127.0.0.1", port), timeout=10 * PATIENCE) as caller:
                    caller.sendall(b"GET /\x1b[31m\xff\xe2\x80\xae\r\n\r\n" * 8)
                    caller.settimeout(10)
                    with contextlib.suppress(OSError):
                        while caller.recv(4096):
                            pass
                process.send_signal(signal.SIGTERM)
                _, log = process.communicate(timeout=30 * PATIENCE)
            self.assertTrue(log)
            self.assert_no_control_characters(log)
            if form == "json":
                for line in log.splitlines():
                    json.loads(line)

    def test_a_run_shows_the_graph_after_the_passes(self):
        file = write("chain.txt", "x = f32(1)\na = Placeholder dtype=f32 shape=[]\n"
                     "b = Mul(a, x)\nc = Neg(b)\nd = Exp(c)\nfeed a = f32(0)\nfetch d = f32(1)\n")
        optimized = troupe("run", file, "--dump")
        self.assertEqual(optimized.returncode, 0, optimized.stderr)
        self.assertIn("d = _Fused(_feed_0/a) f32[]\n", optimized.stdout)
        written = troupe("run", file, "--dump", "--no-passes")
        self.assertEqual(written.returncode, 0, written.stderr)
        self.assertIn("b = Mul(_feed_0/a, x) f32[]\n", written.stdout)
        for result in optimized, written:
            self.assertIn("\nd = f32[] {1}\n", result.stdout)

    def test_regions_and_messages_are_those_of_the_guide(self):
        with open(os.path.join(ROOT, "docs", "architecture.md"), encoding="utf-8") as file:
            page = file.read()
        examples = re.findall(r"^    \$ troupe (run \S+ --no-passes --regions (\w+)) \| tail -(\d+)\n"
                              r"((?:    [^$\n].*\n)+)", page, re.MULTILINE)
        self.assertEqual([way for _, way, _, _ in examples], ["node", "joined"])
        totals = []
        for command, _, lines, expected in examples:
            words = command.split()
            words[1] = os.path.join(ROOT, words[1])
            result = troupe(*words)
            self.assertEqual(result.returncode, 0, result.stderr)
            shown = result.stdout.splitlines(keepends=True)[-int(lines):]
            self.assertEqual("".join("    " + line for line in shown), expected)
            counts = {kind.removesuffix("es" if kind == "fetches" else "s"): int(number)
                      for number, kind in re.findall(r"(\d+) ([a-z ]+)", shown[-1])}
            totals.append({**counts, "messages of the step": sum(counts.values())})
            self.assertIn(f" {sum(counts.values())} messages\n", shown[2])
        table = page.partition("| an actor for each node | regions of joined nodes |\n")[2].partition("\n\n")[0]
        rows = re.findall(r"^\| (?:[\w ]+: )?([\w ]+) \| (\d+) \| (\d+) \|$", table, re.MULTILINE)
        self.assertEqual([{kind: int(row[way]) for kind, *row in rows} for way in (0, 1)], totals)

    def test_regions_are_not_printed_for_runs_that_fail_as_they_should(self):
        result = troupe("run", write("refused.txt", NAN + 'error invalid_argument "not finite"\n'),
                        "--check-numerics", "--regions", "node")
        self.assertEqual((result.returncode, result.stdout), (0, ""), result.stderr)
        self.assertEqual(troupe("run", write("good.txt", GRAPH.format(last=4)), "--regions", "nodes").returncode, 2)
        self.assertEqual(troupe("run", write("good.txt", GRAPH.format(last=4)), "--regions", "node",
                                "--explain-placement").returncode, 2)

    def test_a_run_in_16_bits_shows_its_casts(self):
        file = write("product.txt", "x = Placeholder dtype=f32 shape=[1,1]\ny = MatMul(x, x)\n"
                     "feed x = f32[[257]]\nfetch y ~ 0.02 = f32[[66049]]\n")
        result = troupe("run", file, "--mixed-precision", "bf16", "--dump")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("x/bf16 = Cast(_feed_0/x) bf16[1,1]\n", result.stdout)
        self.assertIn("y = MatMul(x/bf16, x/bf16) bf16[1,1]\n", result.stdout)
        self.assertIn("y/f32 = Cast(y) f32[1,1]\n", result.stdout)
        self.assertEqual(troupe("run", file, "--mixed-precision", "f64").returncode, 2)

    def test_a_failed_expectation_exits_with_1_and_names_the_line(self):
        result = troupe("run", write("wrong.txt", GRAPH.format(last=5)))
        self.assertEqual(result.returncode, 1)
        self.one_line(result, "wrong.txt:5")

    def test_a_run_writes_a_trace(self):
        trace = os.path.join(FOLDER, "trace.json")
        result = troupe("run", write("good.txt", GRAPH.format(last=4)), "--trace", trace)
        self.assertEqual(result.returncode, 0, result.stderr)
        with open(trace, encoding="utf-8") as file:
            events = json.load(file)["traceEvents"]
        self.assertEqual([event["args"]["op"] for event in events if event.get("name") == "y"], ["Mul"])
        os.remove(trace)

    def test_a_failed_run_writes_its_trace_as_well(self):
        trace = os.path.join(FOLDER, "failed.json")
        result = troupe("run", write("nan.txt", NAN), "--check-numerics", "--trace", trace)
        self.assertEqual(result.returncode, 1)
        lines = result.stderr.splitlines()
        self.assertIn("Log 'y' (nan.txt:3)", lines[0])
        self.assertTrue(lines[1].startswith("  output 0 f32[2]: 1 of 2 values is not finite"), lines)
        self.assertTrue(lines[2].startswith("  input 0 '_feed_0/x' f32[2]: finite, from -1 to 2"), lines)
        with open(trace, encoding="utf-8") as file:
            self.assertIn("region 0", [event["name"] for event in json.load(file)["traceEvents"]])
        os.remove(trace)

    def test_a_deterministic_run_repeats_its_random_numbers(self):
        path = write("drawn.txt", DRAWN)
        runs = [troupe("run", path, "--deterministic").stdout for _ in range(2)]
        self.assertEqual(runs[0], runs[1])
        self.assertIn("drawn = f32[4]", runs[0])
        self.assertNotEqual(troupe("run", path).stdout, troupe("run", path).stdout)

    def test_the_error_of_an_invalid_text_graph_names_the_place(self):
        result = troupe("run", write("broken.txt", "x = Nonsense(\n"))
        self.assertEqual(result.returncode, 1)
        self.one_line(result, "broken.txt:")

    def test_a_worker_prints_its_address_and_ends_at_sigterm(self):
        with Cluster(1) as cluster:
            process = cluster.processes[0]
            self.assertEqual(process.stdout.readline(),
                             f"listening on {cluster.addresses[0]} as /job:worker/task:0\n")
            process.send_signal(signal.SIGTERM)
            self.assertEqual(process.wait(timeout=20 * PATIENCE), 0)

    def test_a_worker_lives_on_if_its_log_is_not_read(self):
        for is_closed in True, False:
            reads, writes = os.pipe()
            if not is_closed: # the pipe has no room for a line
                os.set_blocking(writes, False)
                with contextlib.suppress(BlockingIOError):
                    while True:
                        os.write(writes, b"x" * 65536)
                os.set_blocking(writes, True)
            with Cluster(1, "--log-level", "debug", stderr=writes) as cluster:
                os.close(writes)
                if is_closed:
                    os.close(reads)
                process = cluster.processes[0]
                process.stdout.readline()
                host, port = cluster.addresses[0].split(":")
                for _ in range(3):
                    with socket.create_connection((host, int(port)), timeout=10 * PATIENCE) as stranger:
                        stranger.sendall(b"GET / HTTP/1.0\r\n\r\n")
                        with contextlib.suppress(ConnectionError):
                            stranger.recv(1000)
                self.assertIn("/job:worker/task:0",
                              troupe("devices", "--cluster", cluster.file).stdout)
                self.assertIsNone(process.poll())
                process.send_signal(signal.SIGTERM)
                self.assertEqual(process.wait(timeout=20 * PATIENCE), 0)
            if not is_closed:
                os.close(reads)

    def test_a_worker_serves_http_and_drains_at_sigterm(self):
        with Cluster(1, "--http", "127.0.0.1:0", "--drain", "30") as cluster:
            process = cluster.processes[0]
            process.stdout.readline()
            url = process.stdout.readline().removeprefix("serving ").strip()

            def get(path):
                try:
                    with urllib.request.urlopen(url + path, timeout=10 * PATIENCE) as answer:
                        return answer.status, answer.read().decode()
                except urllib.error.HTTPError as answer:
                    with answer:
                        return answer.code, answer.read().decode()

            self.assertEqual(get("/readyz"), (200, "ok\n"))
            waits = subprocess.Popen([TROUPE, "run", write("waits.txt", """
q = FIFOQueue component_types=[i32] shapes=[[]] shared_name="q"
x = QueueDequeue(q) component_types=[i32]
fetch x = i32(3)
"""), "--cluster", cluster.file], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
            try:
                while not re.search(r'troupe_waits{for="state"} 1\n', get("/metrics")[1]):
                    pass
                task = json.loads(get("/v1/node/job:worker/task:0?depth=2")[1])
                steps = [child for child in task["children"] if child["kind"] == "step"]
                self.assertEqual(steps[0]["children"][0]["properties"]["name"], "q")
                process.send_signal(signal.SIGTERM)
                while get("/readyz")[0] != 503:
                    pass
                self.assertEqual(get("/healthz"), (200, "ok\n"))
                self.assertEqual(process.stdout.readline(), "draining: 1 step still running\n")
                process.send_signal(signal.SIGTERM)
                self.assertEqual(process.wait(timeout=20 * PATIENCE), 0)
                self.assertEqual(process.stdout.readline(), "ends with 1 step still running\n")
                waits.communicate(timeout=20 * PATIENCE)
                self.assertEqual(waits.returncode, 1)
            finally:
                waits.kill()
                waits.communicate()

    def test_waits_top_and_drain_report_the_state_of_a_cluster(self):
        with Cluster(2, "--log", "json") as cluster:
            cluster.wait()
            runs = subprocess.Popen([TROUPE, "run", write("waits.txt", """
q = FIFOQueue component_types=[i32] shapes=[[]] shared_name="q" @"/job:worker/task:0"
x = QueueDequeue(q) component_types=[i32] @"/job:worker/task:0"
y = Neg(x) @"/job:worker/task:1"
fetch y = i32(-3)
"""), "--cluster", cluster.file], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
            try:
                pending_waits = []
                while len(pending_waits) < 2:
                    waits = troupe("waits", "--cluster", cluster.file, "--json")
                    self.assertEqual(waits.returncode, 0, waits.stderr)
                    pending_waits = [wait for wait in json.loads(waits.stdout) if wait["for"] != "task"]
                self.assertEqual([wait["is_cause"] for wait in pending_waits], [True, False])
                self.assertEqual(pending_waits[1]["other_task"], "/job:worker/task:0")
                text = troupe("waits", "--cluster", cluster.file).stdout
                self.assertIn("/job:worker/task:1 waits for /job:worker/task:0: 1 step, the longest for ",
                              text)
                self.assertIn("/job:worker/task:0 waits for queue 'q' (0 elements, 1 dequeues wait): "
                              "QueueDequeue 'x' ", text)
                top = troupe("top", "--cluster", cluster.file, "--once", "--interval", "0.1", "--json")
                self.assertEqual(top.returncode, 0, top.stderr)
                frame = json.loads(top.stdout)
                self.assertEqual([task["steps_running"] for task in frame["tasks"]], [1, 1])
                self.assertEqual(frame["queues"][0]["takes_waiting"], 1)
                self.assertEqual(frame["hosted_sessions"], [])
                top = troupe("top", "--cluster", cluster.file, "--once", "--interval", "0.1")
                self.assertRegex(top.stdout, r"^TASK .* STATE\n/job:worker/task:0 .* ready\n")
                drain = troupe("drain", "/job:worker/task:1", "--cluster", cluster.file)
                self.assertEqual((drain.returncode, drain.stdout),
                                 (0, "/job:worker/task:1 is draining\n"))
                for _ in range(10):
                    drain_result = troupe("drain", "/job:worker/task:1", "--cluster", cluster.file,
                                  "--wait", "0.3")
                    self.assertEqual(drain_result.returncode, 1)
                    if "does not answer" not in drain_result.stderr: # ends within a second
                        break
                self.one_line(drain_result, "still runs 1 step after")
                put = troupe("run", write("put.txt", """
q = FIFOQueue component_types=[i32] shapes=[[]] shared_name="q" @"/job:worker/task:0"
x = QueueEnqueue(q, i32(3))
target x
"""), "--cluster", cluster.file)
                self.assertEqual(put.returncode, 0, put.stderr)
                self.assertEqual(runs.communicate(timeout=20 * PATIENCE)[0], "y = i32[] {-3}\n")
                self.assertEqual(cluster.processes[1].wait(timeout=20 * PATIENCE), 0)
                top = troupe("top", "--cluster", cluster.file, "--once", "--interval", "0.1",
                             "--timeout", "1", "--json")
                self.assertEqual(top.returncode, 2)
                lost = json.loads(top.stdout)
                self.assertIn("problem", lost["tasks"][1])
                self.assertEqual(troupe("drain", "/job:worker/task:0", "--cluster", cluster.file,
                                        "--wait", "20").stdout, "/job:worker/task:0 has ended\n")
                self.assertEqual(cluster.processes[0].wait(timeout=20 * PATIENCE), 0)
            finally:
                runs.kill()
                runs.communicate()
            with open(cluster.log, encoding="utf-8") as log:
                events = [json.loads(line) for line in log]
            self.assertIn(("/job:worker/task:1", "drain_requested"),
                          [(event["task"], event["event"]) for event in events])

    def test_drain_waits_for_a_task_that_does_not_answer(self):
        with Cluster(1, "--log", "json") as cluster:
            cluster.wait()
            runs = subprocess.Popen([TROUPE, "run", write("waits.txt", """
q = FIFOQueue component_types=[i32] shapes=[[]] shared_name="q"
x = QueueDequeue(q) component_types=[i32]
fetch x = i32(3)
"""), "--cluster", cluster.file], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
            drain = None
            try:
                while not json.loads(troupe("waits", "--cluster", cluster.file, "--json").stdout):
                    pass
                drain = subprocess.Popen([TROUPE, "drain", "/job:worker/task:0", "--cluster",
                                          cluster.file, "--wait", "60"],
                                         stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
                log = ""
                while "drain_requested" not in log:
                    with open(cluster.log, encoding="utf-8") as file:
                        log = file.read()
                cluster.processes[0].send_signal(signal.SIGSTOP)
                with self.assertRaises(subprocess.TimeoutExpired):
                    drain.wait(timeout=3)
                cluster.processes[0].send_signal(signal.SIGCONT)
                cluster.processes[0].send_signal(signal.SIGTERM) # a second signal: running steps fail
                self.assertEqual(drain.communicate(timeout=20 * PATIENCE),
                                 ("/job:worker/task:0 has ended\n", ""))
                self.assertEqual(cluster.processes[0].wait(timeout=20 * PATIENCE), 0)
            finally:
                for process in (runs, drain):
                    if process:
                        process.kill()
                        process.communicate()

    def test_drain_notices_the_end_of_a_task_that_restarts_at_once(self):
        with Cluster(1) as cluster:
            drain = subprocess.Popen([TROUPE, "drain", "/job:worker/task:0", "--cluster", cluster.file,
                                      "--wait", "30"],
                                     stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
            self.assertEqual(cluster.processes[0].wait(timeout=20 * PATIENCE), 0)
            with ending(worker("--job", "worker", "--task", "0", "--cluster", cluster.file)):
                self.assertEqual(drain.communicate(timeout=60 * PATIENCE),
                                 ("/job:worker/task:0 has ended\n", ""))

    def test_tools_for_operators_refuse_invalid_tasks(self):
        file = write("one.json", '{"worker": ["127.0.0.1:1"]}')
        self.one_line(troupe("drain", "worker", "--cluster", file), "kind:id")
        self.one_line(troupe("drain", "/job:worker", "--cluster", file), "is not a task")
        self.one_line(troupe("drain", "/job:chef/task:0", "--cluster", file), "chef")
        unreachable = troupe("waits", "--cluster", file, "--timeout", "0.5")
        self.assertEqual((unreachable.returncode, unreachable.stdout), (2, "no step waits\n"))
        self.assertEqual(unreachable.stderr, "troupe: /job:worker/task:0 could not be queried: "
                                      "cannot connect to 127.0.0.1:1: Connection refused\n")

    def test_one_unreachable_task_hides_no_other_task(self):
        with Cluster(3) as cluster:
            cluster.wait()
            graph = write("held.txt", """
v = VariableV2 dtype=f32 shape=[2]
a = Assign(v, f32[1, 2])
fetch a = f32[1, 2]
""")
            self.assertEqual(troupe("run", graph, "--cluster", cluster.file).returncode, 0)
            cluster.processes[1].kill()
            cluster.processes[1].wait()
            refused = ("troupe: /job:worker/task:1 could not be queried: cannot connect to "
                       f"{cluster.addresses[1]}: Connection refused\n")
            commands = {("devices", "--timeout", "60"): "/job:worker/task:2/device:cpu:0  cpu",
                        ("state", "ls", "--timeout", "60"): "variable  v  f32[2]",
                        ("waits", "--timeout", "60"): "no step waits\n",
                        ("top", "--once", "--interval", "0.1", "--timeout", "60"):
                            "\n/job:worker/task:2 "}
            for words, shown in commands.items():
                with self.subTest(words=words):
                    start = time.monotonic()
                    result = troupe(*words, "--cluster", cluster.file)
                    self.assertLess(time.monotonic() - start, 8) # less than the timeout
                    self.assertEqual(result.returncode, 2)
                    self.assertIn(shown, result.stdout)
                    if words[0] != "top":
                        self.assertEqual(result.stderr, refused)
            # Two silent tasks cost one timeout. The answer of the third is shown.
            with Cluster(3) as others:
                others.wait()
                for process in others.processes[1:]:
                    process.send_signal(signal.SIGSTOP)
                for words in (("devices",), ("state", "ls"), ("waits",)):
                    with self.subTest(words=words):
                        start = time.monotonic()
                        result = troupe(*words, "--timeout", "2", "--cluster", others.file)
                        self.assertLess(time.monotonic() - start, 3.9) # less than two timeouts
                        self.assertEqual(result.returncode, 2)
                        self.assertEqual(result.stderr.count(" could not be queried: "), 2)
                        if words == ("devices",):
                            self.assertIn("/job:worker/task:0/device:cpu:0", result.stdout)

    def test_a_graph_runs_on_the_tasks_of_a_cluster(self):
        with Cluster(2) as cluster:
            cluster.wait()
            result = troupe("devices", "--cluster", cluster.file)
            self.assertEqual(result.returncode, 0, result.stderr)
            self.assertIn("/job:worker/task:1/device:cpu:0", result.stdout)
            result = troupe("run", write("good.txt", GRAPH.format(last=4)), "--cluster", cluster.file)
            self.assertEqual(result.returncode, 0, result.stderr)
            self.assertEqual(result.stdout, "y = f32[2] {2, 4}\n")

    def test_tasks_find_each_other_by_a_file_that_is_written_last(self):
        file = os.path.join(FOLDER, "late.json")
        if os.path.exists(file):
            os.remove(file)
        addresses = [f"127.0.0.1:{free_port()}" for _ in range(2)]
        workers = [worker("--task", str(i), "--cluster", f"file:{file}") for i in range(2)]
        run = subprocess.Popen([TROUPE, "run", write("two.txt", OVER_TWO), "--cluster", f"file:{file}"],
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        with ending(*workers, run):
            write("late.json.new", json.dumps({"worker": addresses}))
            os.rename(file + ".new", file)
            self.assertEqual(run.communicate(timeout=60 * PATIENCE), ("y = i32[] {15}\n", ""))
        with ending(worker("--task", "7", "--cluster", f"file:{file}", "--join-timeout", "0.1",
                           stderr=subprocess.PIPE)) as (process,):
            self.assertIn("/job:worker/task:7", process.communicate(timeout=30 * PATIENCE)[1])
            self.assertEqual(process.returncode, 1)

    def test_tasks_find_each_other_by_names_that_follow_a_pattern(self):
        spec = f"dns:worker*2=127.0.0.1{{index}}:{free_port()}"
        with ending(*(worker("--task", str(i), "--cluster", spec) for i in (1, 0))):
            self.runs_over_two(spec)

    def test_tasks_find_each_other_by_slurm_variables(self):
        base = free_ports_in_a_row(2)
        spec = f"slurm:worker*2,port={base}"
        step = {"SLURM_STEP_NODELIST": "127.0.0.1", "SLURM_STEP_TASKS_PER_NODE": "2"}
        with ending(*(worker("--cluster", spec, environment={**step, "SLURM_PROCID": str(i)})
                      for i in (1, 0))) as workers:
            self.assertEqual(workers[0].stdout.readline(),
                             f"listening on 127.0.0.1:{base + 1} as /job:worker/task:1\n")
            self.runs_over_two(spec, {"SLURM_JOB_NODELIST": "127.0.0.1", "SLURM_TASKS_PER_NODE": "2"})
        result = troupe("devices", "--cluster", "slurm")
        self.assertEqual(result.returncode, 1)
        self.one_line(result, "SLURM_JOB_NODELIST")

    def test_tasks_join_by_the_address_of_one_task(self):
        seed = f"127.0.0.1:{free_port()}"
        joining = [worker("--join", seed) for _ in range(2)]
        with ending(worker("--job", "ps", "--task", "0", "--join", seed, "--listen", seed),
                    *joining) as processes:
            self.assertEqual(processes[0].stdout.readline(), f"listening on {seed} as /job:ps/task:0\n")
            announcements = [process.stdout.readline() for process in joining]
            self.assertEqual(sorted(line.split(" as ")[1] for line in announcements),
                             ["/job:worker/task:0\n", "/job:worker/task:1\n"])
            self.runs_over_two("join:" + seed)
            top = json.loads(troupe("top", "--cluster", "join:" + seed, "--once", "--interval", "0.1",
                                    "--json").stdout)
            self.assertEqual((top["members"]["coordinator"], top["members"]["here"],
                              top["members"]["away"]), ("/job:ps/task:0", 3, []))
            # The killed task is reported as gone; a process at its address is the same task again.
            port = next(line for line in announcements if "task:1" in line).split()[2]
            lost = joining[["task:1" in line for line in announcements].index(True)]
            lost.kill()
            for _ in range(100):
                top = troupe("top", "--cluster", "join:" + seed, "--once", "--interval", "0.1",
                             "--timeout", "0.5").stdout
                if "unreachable" in top:
                    break
            self.assertRegex(top, r"\n/job:worker/task:1 +unreachable +[0-9]+ +" + port + "\n")
            with ending(worker("--join", seed, "--listen", port)) as (back,):
                self.assertEqual(back.stdout.readline(),
                                 f"listening on {port} as /job:worker/task:1\n")
                self.runs_over_two("join:" + seed)
        for arguments in [["--join", "nowhere"], ["--join", seed, "--cluster", "x"], []]:
            self.assertNotEqual(troupe("worker", *arguments).returncode, 0)

    def runs_over_two(self, cluster, environment=None):
        result = troupe("run", write("two.txt", OVER_TWO), "--cluster", cluster,
                        environment=environment)
        self.assertEqual((result.returncode, result.stdout), (0, "y = i32[] {15}\n"), result.stderr)

    def test_state_is_listed_and_reset(self):
        with Cluster(2) as cluster:
            graph = write("state.txt", """
v = VariableV2 dtype=f32 shape=[2] container="box"
a = Assign(v, f32[1, 2])
fetch a = f32[1, 2]
""")
            result = troupe("run", graph, "--cluster", cluster.file)
            self.assertEqual(result.returncode, 0, result.stderr)
            listed = troupe("state", "ls", "--cluster", cluster.file)
            self.assertEqual(listed.returncode, 0, listed.stderr)
            self.assertEqual(listed.stdout,
                             "/job:worker/task:0  box  variable  v  f32[2]  8 bytes  initialized\n")
            other = troupe("state", "ls", "--cluster", cluster.file, "--task", "/job:worker/task:1")
            self.assertEqual((other.returncode, other.stdout), (0, ""))
            none = troupe("state", "ls", "--cluster", cluster.file, "--container", "")
            self.assertEqual((none.returncode, none.stdout), (0, ""))
            self.assertEqual(troupe("state", "reset", "--cluster", cluster.file).returncode, 2)
            reset = troupe("state", "reset", "--cluster", cluster.file, "--container", "box")
            self.assertEqual(reset.returncode, 0, reset.stderr)
            self.assertEqual(troupe("state", "ls", "--cluster", cluster.file).stdout, "")
            cluster.processes[0].kill()
            cluster.processes[0].wait()
            lost = troupe("state", "ls", "--cluster", cluster.file, "--timeout", "1")
            self.assertEqual(lost.returncode, 2)
            self.one_line(lost, "troupe: /job:worker/task:0 could not be queried: ")

    def test_an_unreachable_cluster_is_an_error_within_the_timeout(self):
        file = write("nobody.json", json.dumps({"worker": [f"127.0.0.1:{free_port()}"]}))
        start = time.monotonic()
        result = troupe("devices", "--cluster", file, "--timeout", "1")
        self.assertLess(time.monotonic() - start, 10)
        self.assertEqual(result.returncode, 2)
        self.one_line(result, "/job:worker/task:0")

    def test_two_workers_at_one_address_are_an_error(self):
        with Cluster(1) as cluster:
            cluster.processes[0].stdout.readline()
            result = troupe("worker", "--task", "0", "--cluster", cluster.file)
            self.assertEqual(result.returncode, 1)
            self.one_line(result, cluster.addresses[0].split(":")[1])

    def test_a_task_that_is_not_in_the_cluster_is_an_error(self):
        result = troupe("worker", "--job", "chef", "--task", "0", "--cluster",
                        write("one.json", '{"worker": ["127.0.0.1:1"]}'))
        self.assertEqual(result.returncode, 1)
        self.one_line(result, "chef")

    def test_listening_beyond_loopback_must_be_allowed(self):
        result = troupe("worker", "--task", "0", "--listen", "0.0.0.0:0", "--cluster",
                        write("one.json", '{"worker": ["127.0.0.1:1"]}'))
        self.assertEqual(result.returncode, 1)
        self.one_line(result, "--insecure")


class Security(unittest.TestCase):
    """A cluster of one worker and a client, with certificates of `troupe certs`."""

    def certs(self, *arguments):
        created = troupe("certs", *arguments)
        self.assertEqual(created.returncode, 0, created.stderr)
        return created.stdout.split()

    def files(self, name):
        return [part for option, file in (("--tls-cert", name + ".pem"), ("--tls-key", name + ".key"),
                                          ("--tls-ca", "authority.pem"))
                for part in (option, os.path.join(self.folder, file))]

    def setUp(self):
        self.folder = os.path.join(FOLDER, "certs")
        shutil.rmtree(self.folder, ignore_errors=True)
        self.certs("init", self.folder)

    def test_a_cluster_with_certificates_that_troupe_certs_made(self):
        created = self.certs("task", self.folder, "--job", "worker", "--task", "0")
        self.assertEqual([os.path.basename(path) for path in created], ["worker-0.pem", "worker-0.key"])
        self.certs("client", self.folder, "--name", "alice")
        for name in os.listdir(self.folder):
            self.assertEqual(os.stat(os.path.join(self.folder, name)).st_mode & 0o777, 0o600, name)
        cluster = write("secure.json", json.dumps({"worker": [f"127.0.0.1:{free_port()}"]}))
        worker = subprocess.Popen([TROUPE, "worker", "--task", "0", "--cluster", cluster,
                                   *self.files("worker-0")],
                                  stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        try:
            self.assertIn("listening", worker.stdout.readline())
            inside = troupe("devices", "--cluster", cluster, *self.files("client-alice"))
            self.assertEqual(inside.returncode, 0, inside.stderr)
            self.assertIn("/job:worker/task:0", inside.stdout)
            outside = troupe("devices", "--cluster", cluster)
            self.assertEqual(outside.returncode, 2)
            self.assertIn("over TLS", outside.stderr)
            # The worker may log it after the client has disconnected.
            self.assertTrue(any("it speaks without TLS" in line for line in worker.stderr))
        finally:
            worker.kill()
            worker.communicate()

    def test_certificates_are_overwritten_only_on_request(self):
        repeated = troupe("certs", "init", self.folder)
        self.assertEqual(repeated.returncode, 1)
        self.assertIn("authority.key exists already; --replace", repeated.stderr)
        self.certs("init", self.folder, "--replace")

    def test_without_an_authority_there_are_no_certificates(self):
        result = troupe("certs", "task", os.path.join(FOLDER, "nothing"), "--task", "0")
        self.assertEqual(result.returncode, 1)
        self.assertIn("troupe certs init", result.stderr)

    def test_a_certificate_without_a_key_is_wrong_usage(self):
        result = troupe("devices", "--cluster", "none.json", "--tls-cert", "a.pem")
        self.assertEqual(result.returncode, 2)
        self.assertIn("--tls-key", result.stderr)


TRAINED = """
v = VariableV2 dtype=f32 shape=[]
init = Assign(v, f32(0))
x = Placeholder dtype=f32 shape=[]
step = AssignAdd(v, x)
loss = Neg(v)
said = ScalarSummary(string("v"), v)
q = FIFOQueueV2 component_types=[i32] shapes=[[]] capacity=5
fill = QueueEnqueueV2(q, i32(1))
t = HashTableV2 key_dtype=i64 value_dtype=f32
init2 = InitializeTableV2(t, i64[1], f32[2])
"""


class Train(unittest.TestCase):
    def train(self, folder, *arguments):
        return ["train", write("trained.txt", TRAINED), "--init", "init", "--target", "step",
                "--feed", "x=2", "--loss", "loss", "--checkpoint", os.path.join(FOLDER, folder), *arguments]

    def test_training_resumes_from_its_checkpoint(self):
        folder = os.path.join(FOLDER, "trained")
        shutil.rmtree(folder, ignore_errors=True)
        logs = os.path.join(FOLDER, "logs")
        shutil.rmtree(logs, ignore_errors=True)
        first = troupe(*self.train("trained", "--steps", "50", "--summaries", logs, "--summary", "said",
                                   "--enqueue", "fill"))
        self.assertEqual(first.returncode, 0, first.stderr)
        self.assertIn("begins\n", first.stdout)
        self.assertIn("ended at step 50: the last step was done\n", first.stdout)
        self.assertTrue(os.listdir(logs)[0].startswith("events.out.tfevents."))
        self.events_are_shown(logs)
        resumed = troupe(*self.train("trained", "--steps", "80", "--checkpoint-steps", "10"))
        self.assertEqual(resumed.returncode, 0, resumed.stderr)
        self.assertIn(f"resumes at step 50 with {folder}/step-50\n", resumed.stdout)
        self.assertIn(f"saved in {folder}/step-80\n", resumed.stdout)
        for steps in 90, 95:  # the queue's elements are saved
            kept = troupe(*self.train("trained", "--steps", str(steps), "--enqueue", "fill", "--save-input",
                                      "--local-init", "init2"))
            self.assertEqual(kept.returncode, 0, kept.stderr)
        self.assertIn("queue:q  string[]", troupe("checkpoint", "show", folder).stdout)
        anew = troupe(*self.train("trained", "--steps", "3", "--no-resume"))
        self.assertIn("begins\n", anew.stdout)

    def events_are_shown(self, folder):
        shown = troupe("events", "show", folder)
        self.assertEqual((shown.returncode, shown.stderr), (0, ""))
        self.assertRegex(shown.stdout, r"^0  2\d\d\d-\S+Z  -  file of version brain.Event:2\n")
        self.assertRegex(shown.stdout, r"\n\d+  2\d\d\d-\S+Z  loss  [0-9.e-]+\n")
        file = os.path.join(folder, os.listdir(folder)[0])
        self.assertEqual(troupe("events", "show", file).stdout, shown.stdout)
        with open(file, "rb") as whole:
            content = whole.read()
        bad = os.path.join(FOLDER, "events.out.tfevents.bad")
        empty = os.path.join(FOLDER, "no_events")
        os.makedirs(empty, exist_ok=True)
        damaged = bytearray(content)
        damaged[20] ^= 1
        for bytes_of, expected_text in [(content[:-3], "is still being written"), (damaged, "checksum"),
                               (b"no records at all", "byte 0")]:
            with open(bad, "wb") as to:
                to.write(bytes_of)
            failed = troupe("events", "show", bad)
            self.assertEqual(failed.returncode, 1)
            self.assertEqual(failed.stderr.count("\n"), 1, failed.stderr)
            self.assertIn(bad, failed.stderr)
            self.assertIn(expected_text, failed.stderr)
        for path, expected_text in [(empty, "has no event files"), (bad + ".none", "no such file")]:
            failed = troupe("events", "show", path)
            self.assertEqual(failed.returncode, 1)
            self.assertIn(expected_text, failed.stderr)

    def test_sigterm_saves_and_ends_without_an_error(self):
        folder = os.path.join(FOLDER, "stopped")
        shutil.rmtree(folder, ignore_errors=True)
        command = [TROUPE, *self.train("stopped", "--checkpoint-seconds", "0.05")]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        self.assertEqual(process.stdout.readline(), "begins\n")
        process.send_signal(signal.SIGTERM)
        output = process.communicate(timeout=60 * PATIENCE)[0]
        self.assertEqual(process.returncode, 0, output)
        ended = re.search(r"ended at step (\d+): a stop was requested", output)
        self.assertTrue(ended, output)
        shown = troupe("checkpoint", "show", folder)
        self.assertIn(f": step {ended[1]},", shown.stdout)

    def test_a_second_process_gets_an_error_that_names_the_first_or_takes_over(self):
        folder = os.path.join(FOLDER, "shared")
        shutil.rmtree(folder, ignore_errors=True)
        command = self.train("shared", "--checkpoint-steps", "100")
        first = subprocess.Popen([TROUPE, *command], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                 text=True)
        with ending(first):
            self.assertTrue(any("saved in" in line for line in first.stdout))
            refused = troupe(*command, "--steps", "10")
            self.assertEqual(refused.returncode, 1)
            self.assertIn(f"{folder}: process {first.pid} on host '", refused.stderr)
            self.assertIn("writes checkpoints here since 20", refused.stderr)
            self.assertIn("--take-over", refused.stderr)
            # The first process's pipe would fill up before its end.
            drained = threading.Thread(target=first.stdout.read)
            drained.start()
            taken = troupe(*command, "--seconds", "0.3", "--take-over")
            self.assertEqual(taken.returncode, 0, taken.stderr)
            self.assertIn("resumes at step", taken.stdout)
            self.assertEqual(first.wait(timeout=60 * PATIENCE), 1)
            self.assertIn("has taken the folder over", first.stderr.read())
            drained.join()

    def test_a_killed_process_resumes_at_once(self):
        folder = os.path.join(FOLDER, "killed")
        shutil.rmtree(folder, ignore_errors=True)
        command = self.train("killed", "--checkpoint-steps", "100")
        first = subprocess.Popen([TROUPE, *command], stdout=subprocess.PIPE, text=True)
        with ending(first):
            self.assertTrue(any("saved in" in line for line in first.stdout))
            first.kill()  # it is not waited for: a zombie
            resumed = troupe(*command, "--seconds", "0.1")
            self.assertEqual(resumed.returncode, 0, resumed.stderr)
            self.assertIn("resumes at step", resumed.stdout)

    def test_a_checkpoint_of_another_graph_is_restored_in_part_on_request(self):
        folder = os.path.join(FOLDER, "changed")
        shutil.rmtree(folder, ignore_errors=True)
        self.assertEqual(troupe(*self.train("changed", "--steps", "5")).returncode, 0)
        graph = write("changed.txt", TRAINED + "w = VariableV2 dtype=f32 shape=[]\n"
                      "init3 = Assign(w, f32(7))\nall = NoOp(^init, ^init3)\n")
        command = ["train", graph, "--init", "all", "--target", "step", "--feed", "x=2",
                   "--checkpoint", folder, "--steps", "8"]
        refused = troupe(*command)
        self.assertEqual(refused.returncode, 1)
        self.assertIn("w: is not in the checkpoint", refused.stderr)
        taken = troupe(*command, "--partial")
        self.assertEqual(taken.returncode, 0, taken.stderr)
        self.assertIn("warning: " + folder + "/step-5: does not have w\n", taken.stdout)
        listed = troupe("checkpoint", "ls", folder).stdout.splitlines()
        self.assertEqual(len(listed), 2)
        self.assertRegex(listed[0], r"^step-5  step 5  1 tensors  4 bytes  metric -$")
        self.assertRegex(listed[1], r"^step-8  step 8  2 tensors  8 bytes  metric -  latest$")

    def test_untrainable_graphs_are_errors(self):
        result = troupe(*self.train("none", "--loss", "said"))
        self.assertEqual(result.returncode, 2)  # twice
        result = troupe("train", write("trained.txt", TRAINED), "--init", "init", "--target", "stop")
        self.assertEqual(result.returncode, 1)
        self.assertIn("did you mean 'step'", result.stderr)
        result = troupe("train", write("trained.txt", TRAINED), "--init", "init", "--target", "init",
                        "--enqueue", "loss")
        self.assertEqual(result.returncode, 1)
        self.assertIn("fills no queue", result.stderr)


class Checkpoint(unittest.TestCase):
    def test_files_of_others_are_shown_verified_and_compared(self):
        path = os.path.join(FOLDER, "weights.safetensors")
        header = json.dumps({"w": {"dtype": "F32", "shape": [2], "data_offsets": [0, 8]}}).encode()
        for name, values in ("weights", (1.0, 2.0)), ("others", (1.0, 3.0)):
            with open(os.path.join(FOLDER, f"{name}.safetensors"), "wb") as file:
                file.write(struct.pack("<Q", len(header)) + header + struct.pack("<2f", *values))
        shown = troupe("checkpoint", "show", path)
        self.assertEqual(shown.stdout, f"{path}: safetensors, 1 tensors\n  w  f32[2]\n")
        self.assertIn("all 1 tensors are as they were saved", troupe("checkpoint", "verify", path).stdout)
        other_path = os.path.join(FOLDER, "others.safetensors")
        compared = troupe("checkpoint", "diff", path, other_path)
        self.assertEqual((compared.returncode, compared.stdout), (1, "w: other values\n"))
        self.assertEqual(troupe("checkpoint", "diff", path, path).returncode, 0)

    def test_errors_name_the_folder(self):
        for command in "ls", "show", "verify":
            done = troupe("checkpoint", command, os.path.join(FOLDER, "none"))
            self.assertEqual(done.returncode, 1)
            self.assertIn("none", done.stderr)
        self.assertNotEqual(troupe("checkpoint").returncode, 0)

    def test_files_of_tensorflow_are_shown_by_any_of_their_names(self):
        folder = unpacked("on_disk")
        prefix = os.path.join(folder, "model.ckpt-2")
        for path in prefix, f"{prefix}.index", f"{prefix}.meta", f"{prefix}.data-00000-of-00001", folder:
            shown = troupe("checkpoint", "show", path)
            self.assertEqual(shown.returncode, 0, shown.stderr)
            self.assertEqual(shown.stdout, f"{prefix}: TensorFlow's, version 2, 1 tensors\n  v  f32[2]\n")
        model = unpacked("first_checkpoint")
        shown = troupe("checkpoint", "show", os.path.join(model, "saved_model.pb"))
        self.assertIn("TensorFlow's, version 1, 1 tensors\n  v  f32[]\n", shown.stdout)

    def test_arrays_of_numpy_are_shown_with_types_and_shapes(self):
        npy = write_npy("shown.npy", "<f4", "(2, 3)", bytes(24))
        path = os.path.join(FOLDER, "shown.npz")
        for method in zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED:
            with zipfile.ZipFile(path, "w", method) as archive:
                archive.write(npy, "w.npy")
            self.assertIn("  w  f32[2,3]\n", troupe("checkpoint", "show", path).stdout)


class FilesOfTensorFlow(unittest.TestCase):
    """Files as people have them on disk."""

    def test_the_graph_beside_a_checkpoint_runs(self):
        prefix = os.path.join(unpacked("on_disk"), "model.ckpt-2")
        done = troupe("run", f"{prefix}.meta", "--init", "save/restore_all", "--feed", f"save/Const={prefix}",
                      "--feed", "x=[1, 10]", "--fetch", "y")
        self.assertEqual((done.returncode, done.stdout), (0, "y = f32[2] {3, 40}\n"), done.stderr)

    def test_the_graph_file_of_a_saved_model_names_its_folder(self):
        for name, file in ("first_checkpoint", "saved_model.pb"), ("as_text", "saved_model.pbtxt"):
            model = unpacked(name)
            listed = [troupe("run", path).stdout for path in (model, os.path.join(model, file))]
            self.assertIn("signature serving_default\n", listed[0])
            self.assertEqual(listed[0], listed[1])
        done = troupe("run", os.path.join(unpacked("first_checkpoint"), "saved_model.pb"), "--feed", "x=[1, 3]")
        self.assertEqual((done.returncode, done.stdout), (0, "y = f32[2] {3, 9}\n"), done.stderr)

    def test_a_folder_without_a_saved_model_names_its_graphs(self):
        folder = unpacked("on_disk")
        done = troupe("run", folder, "--fetch", "y")
        self.assertEqual(done.returncode, 1)
        self.assertIn("it has graphs of checkpoints: give", done.stderr)
        self.assertIn("model.ckpt-1.meta", done.stderr)

    def test_the_error_of_another_kind_of_file_names_its_kind(self):
        done = troupe("run", os.path.join(unpacked("on_disk"), "model.ckpt-2.index"), "--fetch", "y")
        self.assertEqual(done.returncode, 1)
        self.assertIn("it is a checkpoint of TensorFlow", done.stderr)

    def test_devices_of_another_machine_are_replaced_with_a_warning(self):
        graph = write("devices.pbtxt", """
            node { name: "x" op: "Placeholder" device: "/job:localhost/replica:0/task:0/device:CPU:0"
                   attr { key: "dtype" value { type: DT_FLOAT } } }
            node { name: "y" op: "Neg" input: "x" device: "/device:GPU:0"
                   attr { key: "T" value { type: DT_FLOAT } } }""")
        result = troupe("run", graph, "--feed", "x=[1, 2]", "--fetch", "y")
        self.assertEqual((result.returncode, result.stdout), (0, "y = f32[2] {-1, -2}\n"), result.stderr)
        self.assertIn("asks for '/device:GPU:0'", result.stderr)
        graph_path = write("own_devices.txt", 'x = f32[1, 2]\ny = Neg(x) @"/device:gpu:0"\nfetch y\n')
        result = troupe("run", graph_path)
        self.assertEqual(result.returncode, 1)
        self.assertIn("--soft-placement", result.stderr)

    def test_a_variable_may_be_fed_and_one_tensor_by_two_names(self):
        graph = write("fed.pbtxt", """
            node { name: "v" op: "VariableV2" attr { key: "dtype" value { type: DT_FLOAT } }
                   attr { key: "shape" value { shape { dim { size: 2 } } } } }
            node { name: "y" op: "AddN" input: "v" input: "v" attr { key: "T" value { type: DT_FLOAT } }
                   attr { key: "N" value { i: 2 } } }""")
        for feeds in ["v=[1, 2]"], ["v=[1, 2]", "v:0=[1, 2]"]:
            words = [word for feed in feeds for word in ("--feed", feed)]
            done = troupe("run", graph, *words, "--fetch", "y")
            self.assertEqual((done.returncode, done.stdout), (0, "y = f32[2] {2, 4}\n"), done.stderr)
        done = troupe("run", graph, "--feed", "v=[1, 2]", "--feed", "v:0=[3, 4]", "--fetch", "y")
        self.assertIn("is fed twice", done.stderr)

    def test_a_misspelt_field_of_a_text_is_refused_with_its_place(self):
        graph = write("misspelt.pbtxt", 'node { name: "x" op: "NoOp"\n  devise: "/gpu:0" }\n')
        done = troupe("run", graph, "--target", "x")
        self.assertEqual(done.returncode, 1)
        self.assertIn("misspelt.pbtxt:2:9: NodeDef has no field 'devise', did you mean 'device'?", done.stderr)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
