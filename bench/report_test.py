#!/usr/bin/env python3
"""report_test.py README: tests the report of bench/compare on made-up results, and the README's markers."""

import re
import subprocess
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

import report  # noqa: E402

README = Path(sys.argv.pop()).read_text(encoding="utf-8") if len(sys.argv) > 1 else ""


def seconds(value, mode="step", **others):
    return {"mode": mode, "seconds": value, **others}


def record(cases, date="2026-12-01T10:20:30+00:00", **others):
    return {"date": date, "machine": "a processor, 2 threads, 8 GiB", "clock": "wall", "rounds": 3,
            "seconds": 0.5, "failures": [],
            "versions": {"troupe": {"commit": "abc1234", "compiler": "a compiler"},
                         "rivals": {"tensorflow": "2.21.0", "torch": "2.15.0"}},
            "runs": [{"threads": 1, "load": [0.1, 0.2], "cases": cases, "targets": []}], **others}


def cases_of(text):
    return re.findall(r"^\| `([^`]+)`", text, re.MULTILINE)


RECORD = record({
    "run/no_rival": {"troupe": seconds(1.0)},
    "run/ahead": {"troupe": seconds(1.0), "tensorflow": seconds(3.0, "callable"),
                  "torch": seconds(2.0, "eager")},
    "run/only_old": {"troupe": seconds(1.0), "old": seconds(0.9)},
    "run/behind": {"troupe": seconds(1.0), "tensorflow": seconds(0.5, "executor"),
                   "torch": seconds(2.0, "eager")},
    "exchange/4B": {"troupe": seconds(1e-4), "loop": seconds(5e-5)},
    "files/safetensors_read_1G/1073741824": {"troupe": seconds(2e-3), "loop": seconds(1e-3)},
    "memory/mlp/64": {"troupe": {"mode": "process", "bytes": 2**20},
                      "tensorflow": {"mode": "process", "bytes": 2**21}},
    "save/dip_16M/16777216": {"troupe": seconds(1.0, counters={"dip": 0.25})},
})


class Report(unittest.TestCase):
    def test_rows_behind_come_first_and_rows_without_a_ratio_last(self):
        text = report.section("steps", RECORD)
        self.assertEqual(cases_of(text), ["run/behind", "run/only_old", "run/ahead", "run/no_rival"])
        self.assertIn("Rows behind: 2 of 3 with a ratio.", text)

    def test_a_ratio_compares_with_the_best_rival_and_else_with_the_old_binary(self):
        text = report.section("steps", RECORD)
        self.assertIn("| `run/behind` | 1 s | 500 ms (`executor`) | 2 s (`eager`) |  | **0.50** |", text)
        self.assertIn("| `run/ahead` | 1 s | 3 s (`callable`) | 2 s (`eager`) |  | 2.00 |", text)
        self.assertIn("| `run/only_old` | 1 s |  |  | 900 ms | **0.90** |", text)

    def test_plain_code_is_shown_and_gives_no_ratio(self):
        self.assertIn("| `exchange/4B` | 100 us | 50 us (0.50) |  |", report.section("exchange", RECORD))

    def test_memory_and_counters_are_shown(self):
        self.assertIn("| 1 MiB | 2 MiB | 2.00 |", report.section("memory", RECORD))
        text = report.section("checkpoints", RECORD)
        self.assertIn("| `save/dip_16M` | 1 s |  |  | `dip` 0.25 |", text)
        self.assertIn("`files/safetensors_read_1G`", text)

    def test_targets_threads_and_failures_are_shown(self):
        made = record({"run/identity": {"troupe": seconds(1e-6)}},
                      failures=[["run/one_op", "tensorflow", "it `ended`\nwith 1"]])
        made["runs"][0]["targets"] = [["run/identity", "<= 2 us", "1 us", "met"]]
        made["runs"].append({**made["runs"][0], "threads": 2,
                             "targets": [["run/identity", "<= 2 us", "3 us", "MISSED"]]})
        text = report.section("steps", made)
        self.assertIn("| `run/identity` | 1 | 1 us |  | <= 2 us: 1 us, met |", text)
        self.assertIn("| `run/identity` | 2 | 1 us |  | <= 2 us: 3 us, **missed** |", text)
        self.assertIn("Not measured: `run/one_op` by TensorFlow: it 'ended' with 1\n", text)

    def test_the_run_names_date_machine_and_versions(self):
        self.assertIn("| 2026-12-01 10:20 | a processor, 2 threads, 8 GiB | Troupe abc1234 (a compiler); "
                      "TensorFlow 2.21.0; PyTorch 2.15.0 | wall time, threads: 1; 3 rounds of 0.5 s; "
                      "load 0.2 |", report.write(RECORD))

    def test_a_run_replaces_only_the_tables_of_its_subjects(self):
        text = f"# Title\n\n{report.START}\n{report.END}\n\nEnd.\n"
        text = report.replace(text, RECORD)
        later = record({"run/identity": {"troupe": seconds(1.0)}}, "2026-12-02T00:00:00+00:00")
        replaced = report.replace(text, later)
        self.assertTrue(replaced.startswith(f"# Title\n\n{report.START}\n") and
                        replaced.endswith(f"{report.END}\n\nEnd.\n"))
        self.assertEqual(cases_of(replaced), ["run/identity", *cases_of(text)[4:]])
        self.assertIn("| 2026-12-01 10:20 |", replaced)
        self.assertIn("| 2026-12-02 00:00 |", replaced)
        self.assertEqual(report.replace(replaced, later), replaced)

    def test_a_run_whose_tables_are_all_replaced_is_forgotten(self):
        text = report.write(record({"run/identity": {"troupe": seconds(1.0)}}))
        later = record({"run/one_op": {"troupe": seconds(1.0)}}, "2026-12-02T00:00:00+00:00")
        self.assertNotIn("2026-12-01", report.write(later, text))

    def test_a_file_without_the_markers_is_not_changed(self):
        file = Path(__file__)
        before = file.read_bytes()
        answer = subprocess.run([sys.executable, str(report.ROOT / "bench/compare"), "--report",
                                 f"--from={file}", f"--output={file}"], text=True, capture_output=True,
                                check=False)
        self.assertNotEqual(answer.returncode, 0)
        self.assertIn("has no lines", answer.stderr)
        self.assertEqual(file.read_bytes(), before)

    def test_subjects_have_distinct_titles(self):
        self.assertEqual(len({title for title, _ in report.SUBJECTS.values()}), len(report.SUBJECTS))

    @unittest.skipUnless(README, "no README was given")
    def test_the_readme_has_a_report_that_a_run_can_replace(self):
        self.assertTrue(report.has_markers(README))
        runs, sections = report.parsed(report.split_at_markers(README)[2])
        titles = [title for title, _ in report.SUBJECTS.values()]
        self.assertEqual([title for title in titles if title in sections], list(sections))
        for run, *_ in runs:
            self.assertTrue(any(run in text for text in sections.values()), run)
        later = record({"run/identity": {"troupe": seconds(1.0)}})
        replaced = report.parsed(report.split_at_markers(report.replace(README, later))[2])[1]
        self.assertEqual({title: text for title, text in replaced.items() if title != "Steps"},
                         {title: text for title, text in sections.items() if title != "Steps"})


if __name__ == "__main__":
    unittest.main()
