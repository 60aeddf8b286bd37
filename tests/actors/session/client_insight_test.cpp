#include "tests/support/catch.hpp"
#include "tests/support/local_world.hpp"
#include "tests/support/processes.hpp"
#include "tests/support/text_case.hpp"
#include "tests/support/trace_rules.hpp"
#include "tests/support/watchdog.hpp"
#include "troupe/actors/execution/flight_report.hpp"
#include "troupe/serialization/reports/trace.hpp"

#include <regex>

namespace troupe::test::client_insight_test {

using namespace std::chrono_literals;
using Catch::Matchers::Contains;

namespace {

struct silent_observer final : step_observer {
  void on_step_ended(caf::execution_unit*) noexcept override {}
};

using clock_type = std::chrono::steady_clock;

std::string first_line(const status& outcome) {
  return outcome.message().substr(0, outcome.message().find('\n'));
}

const char* crossing = R"(
x = Placeholder dtype=f32 shape=[-1] @"/job:worker/task:0"
more = Add(x, x) @"/job:worker/task:0"
y = Neg(more) @"/job:worker/task:1"
feed x = f32[1, 2]
fetch y = f32[-2, -4]
)";

const char* waiting = R"(
q = FIFOQueue component_types=[i32] shapes=[[]] @"/job:worker/task:1"
get = QueueDequeue(q) component_types=[i32]
y = Neg(get) @"/job:worker/task:0"
fetch y = i32(-7)
)";

const char* waiting_here = R"(
q = FIFOQueue component_types=[i32] shapes=[[]]
first = Add(i32(1), i32(2))
get = QueueDequeue(q, ^first) component_types=[i32]
y = Neg(get)
fetch y
)";

result<std::vector<tensor>> run_with(client& tested_client, const text_case& test_case,
                                     step_statistics& statistics) {
  auto deadline = clock_type::now() + 10s;
  auto step =
      tested_client.prepare(*test_case.nodes, signature_of(test_case.text.runs[0]), deadline);
  if (!step)
    return step.status();
  return tested_client.run(**step, feeds_of(test_case.text.runs[0]), deadline,
                           {.statistics = &statistics});
}

std::unique_ptr<client> local_client() {
  client_options options;
  options.ops = &library();
  options.make_devices = [] { return make_devices({.intra_op_threads = 1, .gpus = 0}); };
  options.inter_op_threads = 2;
  auto outcome = client::local(options);
  REQUIRE(outcome);
  return *std::move(outcome);
}

} // namespace

TEST_CASE("the statistics of a step on two tasks use one clock and form one trace") {
  watchdog watch;
  auto cluster = make_cluster(2);
  auto first_task = start_task(cluster, {"worker", 0}), two = start_task(cluster, {"worker", 1});
  auto client = connect_to(cluster);
  text_case text{crossing};
  step_statistics statistics;
  auto outcome = run_with(*client, text, statistics);
  INFO(outcome.status());
  REQUIRE(outcome);
  REQUIRE(statistics.tasks.size() == 2);
  auto round_trip = statistics.end_ns - statistics.begin_ns;
  std::map<std::string, int> nodes;
  for (const auto& task : statistics.tasks) {
    // Clock differences are estimated from round trips: the error is at most half of a round trip.
    CHECK(task.begin_ns >= statistics.begin_ns - round_trip / 2);
    CHECK(task.end_ns <= statistics.end_ns + round_trip / 2);
    for (const auto& span : task.spans)
      if (task.subject_of(span).kind == span_kind::node)
        ++nodes[task.subject_of(span).name + " on " + task.task];
  }
  CHECK(nodes["more on /job:worker/task:0"] == 1);
  CHECK(nodes["y on /job:worker/task:1"] == 1);
  auto trace = nlohmann::json::parse(trace_json(std::span{&statistics, 1}));
  CHECK(broken_rule(trace) == "");
  // A run without statistics gets none, and has no cost.
  auto deadline = clock_type::now() + 10s;
  auto step = client->prepare(*text.nodes, signature_of(text.text.runs[0]), deadline);
  REQUIRE(step);
  CHECK(client->run(**step, feeds_of(text.text.runs[0]), deadline));
  step = status{error_kind::cancelled, ""};
}

TEST_CASE("times of tasks whose clocks differ are converted to the client's clock") {
  task_statistics late_statistics{.task = "t"};
  late_statistics.begin_ns = 1'000'000;
  late_statistics.end_ns = 1'000'500;
  late_statistics.spans = {{0, 0, 1'000'100, 1'000'200, 0}};
  shift(late_statistics, -999'000);
  CHECK(late_statistics.begin_ns == 1000);
  CHECK(late_statistics.end_ns == 1500);
  CHECK(late_statistics.spans[0].begin_ns == 1100);
  CHECK(late_statistics.spans[0].end_ns == 1200);
}

TEST_CASE("numerics checks work on other tasks as well") {
  watchdog watch;
  auto cluster = make_cluster(1);
  auto first_task = start_task(cluster, {"worker", 0});
  auto client = connect_to(cluster);
  text_case text{"x = Placeholder dtype=f32 shape=[]\ny = Log(x)\nfeed x = f32(-1)\nfetch y"};
  auto deadline = clock_type::now() + 10s;
  auto step = client->prepare(*text.nodes, signature_of(text.text.runs[0]), deadline);
  REQUIRE(step);
  CHECK(client->run(**step, feeds_of(text.text.runs[0]), deadline));
  auto reason =
      client->run(**step, feeds_of(text.text.runs[0]), deadline, {.check_numerics = true}).status();
  CHECK(reason.kind() == error_kind::invalid_argument);
  CHECK_THAT(first_line(reason), Contains("/job:worker/task:0") && Contains("Log 'y'"));
  CHECK_THAT(reason.message(), Contains("\n  input 0") && Contains("finite, from -1 to -1"));
  step = status{error_kind::cancelled, ""};
}

TEST_CASE(
    "a deadline error names what the step waited for, since when, and the nodes that ran before") {
  watchdog watch;
  auto client = local_client();
  text_case text{waiting_here};
  auto step =
      client->prepare(*text.nodes, signature_of(text.text.runs[0]), clock_type::now() + patience());
  REQUIRE(step);
  auto outcome = client->run(**step, {}, clock_type::now() + 500ms).status();
  INFO(outcome);
  CHECK(outcome.kind() == error_kind::deadline_exceeded);
  CHECK_THAT(first_line(outcome), Catch::Matchers::EndsWith("was not done in time"));
  CHECK_THAT(outcome.message(),
             Contains("\n  /job:local/task:0 waited for\n    QueueDequeue 'get'"));
  CHECK(
      std::regex_search(outcome.message(), std::regex{R"(on queue 'q', for [1-9][0-9.]* m?s\n)"}));
  CHECK_THAT(outcome.message(), Contains("\n  /job:local/task:0 did last\n"));
  auto begin_position = outcome.message().find("ago: the step began"),
       wait_position = outcome.message().find("ago: began to wait for QueueDequeue 'get'"),
       run_position = outcome.message().find("ago: ran region 0 of");
  CHECK(begin_position < wait_position);
  CHECK(wait_position < run_position);
  CHECK(run_position != std::string::npos);
}

TEST_CASE(
    "at a deadline each participating task reports its waits, and the client the awaited tasks") {
  watchdog watch;
  auto cluster = make_cluster(2);
  auto first_task = start_task(cluster, {"worker", 0}), two = start_task(cluster, {"worker", 1});
  auto client = connect_to(cluster);
  text_case text{waiting};
  // Tasks have a moment to answer after a deadline: a busy machine may need several attempts.
  status reason;
  auto complete = [&] {
    return reason.message().find("\n  /job:worker/task:0 waited") != std::string::npos &&
           reason.message().find("\n  /job:worker/task:1 waited") != std::string::npos;
  };
  for (int attempt = 0; attempt < 30 && !complete(); ++attempt)
    reason = run(*client, text, 0, 300ms).status();
  INFO(reason);
  CHECK(reason.kind() == error_kind::deadline_exceeded);
  CHECK_THAT(first_line(reason), Contains("was not done in time; no answer from"));
  CHECK_THAT(reason.message(),
             Contains("\n  the client waited for\n    the answer of /job:worker/"));
  CHECK_THAT(reason.message(),
             Contains("\n  /job:worker/task:1 waited for\n    QueueDequeue 'get'"));
  CHECK_THAT(reason.message(), Contains("\n  /job:worker/task:0 waited for\n    "));
  CHECK_THAT(reason.message(), Contains(" from /job:worker/task:1/device:cpu:0, for "));
}

TEST_CASE("the error of a cancelled step names its waits, and the error of a failed step only the "
          "cause") {
  local_world world;
  text_case text{waiting_here};
  auto step = world.prepare(text);
  REQUIRE(step);
  for (auto kind : {error_kind::cancelled, error_kind::aborted}) {
    auto program = (*step)->local;
    auto running_instance = program->check_out();
    silent_observer observer;
    running_instance->conductor().begin(99, observer, nullptr);
    world.run();
    running_instance->conductor().abort(99, failure(kind, "enough"), nullptr);
    world.run();
    auto text_of = running_instance->conductor().outcome().message();
    CHECK(text_of.starts_with("enough"));
    CHECK((text_of.find("QueueDequeue 'get'") != text_of.npos) == (kind == error_kind::cancelled));
    running_instance->retire();
  }
  step = status{error_kind::cancelled, ""};
}

TEST_CASE("the report of a step with very many waits stays short") {
  std::string nodes_text = "q = FIFOQueue component_types=[i32] shapes=[[]]\n";
  for (int i = 0; i < 300; ++i)
    nodes_text +=
        concat("a_name_that_is_rather_long_", i, " = QueueDequeue(q) component_types=[i32]\n");
  nodes_text += "fetch a_name_that_is_rather_long_7\nfetch a_name_that_is_rather_long_8\n";
  for (int i = 0; i < 300; ++i)
    nodes_text += concat("target a_name_that_is_rather_long_", i, '\n');
  local_world world;
  text_case text{nodes_text};
  auto step = world.prepare(text);
  REQUIRE(step);
  auto running_instance = (*step)->local->check_out();
  silent_observer observer;
  running_instance->conductor().begin(99, observer, nullptr);
  world.run();
  auto lines = flight_report(*running_instance, 99);
  CHECK(lines.size() <= 4200);
  CHECK_THAT(lines, Contains("\n    and more"));
  running_instance->conductor().abort(99, failure(error_kind::aborted, "enough"), nullptr);
  running_instance->retire();
  running_instance.reset();
  step = status{error_kind::cancelled, ""};
}

TEST_CASE("reports of other tasks are appended to the first cause, up to a limit") {
  status cause = failure(error_kind::deadline_exceeded, "late");
  add_reports(cause, failure(error_kind::cancelled, "/job:a/task:0: late\n  a waited"));
  add_reports(cause, failure(error_kind::invalid_argument, "an echo\n  of something else"));
  add_reports(cause, failure(error_kind::cancelled, "nothing to tell"));
  CHECK(cause.message() == "late\n  a waited");
  CHECK(without_reports(cause).message() == "late");
  for (int i = 0; i < 100; ++i)
    add_reports(cause, failure(error_kind::cancelled, "late\n", std::string(4000, 'x')));
  CHECK(cause.message().size() <= 16 * 1024 + 16);
}

TEST_CASE("durations of every length are printed readably") {
  CHECK(readable_time(1'500) == "2 us");
  CHECK(readable_time(12'400'000) == "12.4 ms");
  CHECK(readable_time(3'100'000'000) == "3.1 s");
}

} // namespace troupe::test::client_insight_test
