#include "tests/support/catch.hpp"
#include "tests/support/trace_rules.hpp"
#include "troupe/serialization/reports/trace.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>

namespace troupe::test::trace_test {

using nlohmann::json;

namespace {

// Two tasks: `a` computes and sends, `b` waits for the tensor and continues.
step_statistics example(uint64_t number, int64_t at) {
  step_statistics step{.step = number, .begin_ns = at, .end_ns = at + 10'000, .tasks = {}};
  auto a = std::make_shared<std::vector<span_subject>>();
  a->push_back({.kind = span_kind::node, .name = "sum", .op = "Add", .device = "a:cpu:0"});
  a->push_back({span_kind::send, "sum/send", "_Send", "a:cpu:0", "b:cpu:0", 7, 0});
  a->push_back({.kind = span_kind::region, .name = "region 0", .device = "a:cpu:0"});
  task_statistics first{.task = "/job:a/task:0", .subjects = a};
  first.begin_ns = at + 100;
  first.end_ns = at + 5000;
  first.messages = {.starts = 1, .sends = 1, .region_ends = 1};
  first.spans = {{2, 0, at + 200, at + 4000, 0},
                 {0, 0, at + 200, at + 3000, 64},
                 {1, 0, at + 3000, at + 4000, 0}};
  auto b = std::make_shared<std::vector<span_subject>>();
  b->push_back(
      {.kind = span_kind::node, .name = "minus", .op = "Neg", .device = "b:cpu:0", .region = 1});
  b->push_back({.kind = span_kind::region, .name = "region 1", .device = "b:cpu:0", .region = 1});
  b->push_back({span_kind::wait, "sum/recv", "_Recv", "b:cpu:0", "a:cpu:0", 7, 1});
  task_statistics second{.task = "/job:b/task:0", .subjects = b};
  second.begin_ns = at + 50; // before the other's end: clock offsets are estimates
  second.end_ns = at + 9000;
  second.spans = {{2, 0, at + 60, at + 4500, 64},
                  {1, 3, at + 4600, at + 8000, 0},
                  {0, 3, at + 4600, at + 8000, 64}};
  step.tasks = {first, second};
  return step;
}

} // namespace

TEST_CASE("a trace obeys the rules of its format") {
  std::vector<step_statistics> steps{example(1, 1'000'000), example(2, 1'020'000)};
  auto trace = json::parse(trace_json(steps));
  CHECK(test::broken_rule(trace) == "");
  // and says what happened
  CHECK(test::slices(trace, "sum").size() == 2);
  auto sum = test::slices(trace, "sum")[0];
  CHECK(sum["ts"].get<double>() == Approx(0.2));
  CHECK(sum["dur"].get<double>() == Approx(2.8));
  CHECK(sum["args"]["op"] == "Add");
  CHECK(sum["args"]["bytes"] == 64);
  CHECK(sum["args"]["step"] == "1");
  auto count = [&](std::string_view phase) {
    return std::ranges::count_if(trace["traceEvents"],
                                 [&](const json& event) { return event["ph"] == phase; });
  };
  auto step_of_a = std::ranges::find_if(trace["traceEvents"], [](const json& event) {
    return event["ph"] == "b" && event["cat"] == "step";
  });
  REQUIRE(step_of_a != trace["traceEvents"].end());
  CHECK((*step_of_a)["args"]["messages"] == 3);
  CHECK(count("s") == 2); // an arrow from task to task in each step
  CHECK(count("f") == 2);
  CHECK(count("b") == 6); // a step on two tasks, and a wait
  CHECK(count("M") == 4); // two processes with a thread each
}

TEST_CASE("a trace shows a GPU's memory over time, and its copies on tracks of their own") {
  auto step = example(1, 1'000'000);
  auto& task = step.tasks[0];
  task.memory = {{.device = "/job:a/task:0/device:gpu:0",
                  .at_ns = {1'000'300, 1'000'900},
                  .bytes = {4096, 0}}};
  task.spans.push_back({1, copy_track(0, copy_stream::to_host), 1'002'000, 1'004'500, 64});
  auto trace = json::parse(trace_json(std::span{&step, 1}));
  CHECK(test::broken_rule(trace) == "");
  std::vector<double> bytes;
  std::string tracks;
  for (const auto& event : trace["traceEvents"]) {
    if (event["ph"] == "C") {
      CHECK(event["name"] == "memory of /gpu:0");
      bytes.push_back(event["args"]["bytes"].get<double>());
    }
    if (event["ph"] == "M" && event["name"] == "thread_name")
      tracks += event["args"]["name"].get<std::string>() + ';';
  }
  CHECK(bytes == std::vector<double>{4096, 0});
  CHECK(tracks.find("gpu:0 to the host;") != std::string::npos);
}

TEST_CASE("no steps make an empty trace, and unusual names are readable") {
  CHECK(test::broken_rule(json::parse(trace_json({}))) == "");
  auto step = example(1, 0);
  auto subjects = *step.tasks[0].subjects;
  subjects[0].name = "\"\n\xff\\";
  step.tasks[0].subjects = std::make_shared<const std::vector<span_subject>>(subjects);
  CHECK(test::broken_rule(json::parse(trace_json(std::span{&step, 1}))) == "");
}

TEST_CASE("the trace checker detects traces that break the rules") {
  auto step = example(1, 0);
  auto trace = json::parse(trace_json(std::span{&step, 1}));
  auto without = [&](std::string_view phase) {
    auto changed = trace;
    auto& events = changed["traceEvents"];
    events.erase(
        std::ranges::find_if(events, [&](const json& event) { return event["ph"] == phase; }));
    return test::broken_rule(changed);
  };
  CHECK(without("e") != "");
  CHECK(without("b") != "");
  CHECK(without("s") != "");
  CHECK(without("M") != "");
  auto changed = trace;
  for (auto& event : changed["traceEvents"])
    if (event["ph"] == "X" && event["cat"] == "node")
      event["dur"] = event["dur"].get<double>() + 100; // exceeds its region
  CHECK(test::broken_rule(changed) != "");
}

TEST_CASE("the error of an unwritable trace names its path") {
  auto step = example(1, 0);
  auto outcome = write_trace("/nowhere/at/all.json", std::span{&step, 1});
  CHECK_THAT(outcome.message(), Catch::Matchers::Contains("/nowhere/at/all.json"));
  auto path = std::filesystem::temp_directory_path() / concat("trace_test.", getpid(), ".json");
  REQUIRE(write_trace(path.string(), std::span{&step, 1}));
  std::ifstream in{path};
  CHECK(test::broken_rule(json::parse(in)) == "");
  std::filesystem::remove(path);
}

} // namespace troupe::test::trace_test
