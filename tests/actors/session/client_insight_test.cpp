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
  void step_ended(caf::execution_unit*) noexcept override {}
};

using clock_type = std::chrono::steady_clock;

std::string first_line(const status& of) { return of.message().substr(0, of.message().find('\n')); }

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

result<std::vector<tensor>> run_with(client& in, const text_case& what, step_statistics& found) {
  auto deadline = clock_type::now() + 10s;
  auto step = in.prepare(*what.nodes, signature_of(what.text.runs[0]), deadline);
  if (!step)
    return step.status();
  return in.run(**step, feeds_of(what.text.runs[0]), deadline, {.statistics = &found});
}

std::unique_ptr<client> here() {
  client_options options;
  options.ops = &library();
  options.make_devices = [] { return make_devices({.intra_op_threads = 1, .gpus = 0}); };
  options.inter_op_threads = 2;
  auto made = client::local(options);
  REQUIRE(made);
  return *std::move(made);
}

} // namespace

TEST_CASE("the statistics of a step on two tasks lie on one clock and make one trace") {
  watchdog watch;
  auto cluster = make_cluster(2);
  auto one = start_task(cluster, {"worker", 0}), two = start_task(cluster, {"worker", 1});
  auto client = connect_to(cluster);
  text_case text{crossing};
  step_statistics found;
  auto outcome = run_with(*client, text, found);
  INFO(outcome.status());
  REQUIRE(outcome);
  REQUIRE(found.tasks.size() == 2);
  auto round_trip = found.end_ns - found.begin_ns;
  std::map<std::string, int> nodes;
  for (const auto& task : found.tasks) {
    // Estimated from the way there and back: half of it is how wrong that can be.
    CHECK(task.begin_ns >= found.begin_ns - round_trip / 2);
    CHECK(task.end_ns <= found.end_ns + round_trip / 2);
    for (const auto& span : task.spans)
      if (task.subject_of(span).kind == span_kind::node)
        ++nodes[task.subject_of(span).name + " on " + task.task];
  }
  CHECK(nodes["more on /job:worker/task:0"] == 1);
  CHECK(nodes["y on /job:worker/task:1"] == 1);
  auto trace = nlohmann::json::parse(trace_json(std::span{&found, 1}));
  CHECK(broken_rule(trace) == "");
  // A run that does not ask gets, and costs, nothing.
  auto deadline = clock_type::now() + 10s;
  auto step = client->prepare(*text.nodes, signature_of(text.text.runs[0]), deadline);
  REQUIRE(step);
  CHECK(client->run(**step, feeds_of(text.text.runs[0]), deadline));
  step = status{error_kind::cancelled, ""};
}

TEST_CASE("tasks whose clocks differ are brought to the clock of who asked") {
  task_statistics late{.task = "t"};
  late.begin_ns = 1'000'000;
  late.end_ns = 1'000'500;
  late.spans = {{0, 0, 1'000'100, 1'000'200, 0}};
  shift(late, -999'000);
  CHECK(late.begin_ns == 1000);
  CHECK(late.end_ns == 1500);
  CHECK(late.spans[0].begin_ns == 1100);
  CHECK(late.spans[0].end_ns == 1200);
}

TEST_CASE("the trap works on other tasks, too") {
  watchdog watch;
  auto cluster = make_cluster(1);
  auto one = start_task(cluster, {"worker", 0});
  auto client = connect_to(cluster);
  text_case text{"x = Placeholder dtype=f32 shape=[]\ny = Log(x)\nfeed x = f32(-1)\nfetch y"};
  auto deadline = clock_type::now() + 10s;
  auto step = client->prepare(*text.nodes, signature_of(text.text.runs[0]), deadline);
  REQUIRE(step);
  CHECK(client->run(**step, feeds_of(text.text.runs[0]), deadline));
  auto why =
      client->run(**step, feeds_of(text.text.runs[0]), deadline, {.check_numerics = true}).status();
  CHECK(why.kind() == error_kind::invalid_argument);
  CHECK_THAT(first_line(why), Contains("/job:worker/task:0") && Contains("Log 'y'"));
  CHECK_THAT(why.message(), Contains("\n  input 0") && Contains("finite, from -1 to -1"));
  step = status{error_kind::cancelled, ""};
}

TEST_CASE("a deadline says what the step waited for, since when, and what it did before") {
  watchdog watch;
  auto client = here();
  text_case text{waiting_here};
  auto step =
      client->prepare(*text.nodes, signature_of(text.text.runs[0]), clock_type::now() + patience());
  REQUIRE(step);
  auto why = client->run(**step, {}, clock_type::now() + 500ms).status();
  INFO(why);
  CHECK(why.kind() == error_kind::deadline_exceeded);
  CHECK_THAT(first_line(why), Catch::Matchers::EndsWith("was not done in time"));
  CHECK_THAT(why.message(), Contains("\n  /job:local/task:0 waited for\n    QueueDequeue 'get'"));
  CHECK(std::regex_search(why.message(), std::regex{R"(on queue 'q', for [1-9][0-9.]* m?s\n)"}));
  CHECK_THAT(why.message(), Contains("\n  /job:local/task:0 did last\n"));
  auto began = why.message().find("ago: the step began"),
       waits = why.message().find("ago: began to wait for QueueDequeue 'get'"),
       ran = why.message().find("ago: ran region 0 of");
  CHECK(began < waits);
  CHECK(waits < ran);
  CHECK(ran != std::string::npos);
}

TEST_CASE(
    "at a deadline every task that takes part says what it waits for, and the client for whom") {
  watchdog watch;
  auto cluster = make_cluster(2);
  auto one = start_task(cluster, {"worker", 0}), two = start_task(cluster, {"worker", 1});
  auto client = connect_to(cluster);
  text_case text{waiting};
  // Tasks have a moment to answer after a deadline: a busy machine may need several attempts.
  status why;
  auto complete = [&] {
    return why.message().find("\n  /job:worker/task:0 waited") != std::string::npos &&
           why.message().find("\n  /job:worker/task:1 waited") != std::string::npos;
  };
  for (int attempt = 0; attempt < 30 && !complete(); ++attempt)
    why = run(*client, text, 0, 300ms).status();
  INFO(why);
  CHECK(why.kind() == error_kind::deadline_exceeded);
  CHECK_THAT(first_line(why), Contains("was not done in time; no answer from"));
  CHECK_THAT(why.message(), Contains("\n  the client waited for\n    the answer of /job:worker/"));
  CHECK_THAT(why.message(), Contains("\n  /job:worker/task:1 waited for\n    QueueDequeue 'get'"));
  CHECK_THAT(why.message(), Contains("\n  /job:worker/task:0 waited for\n    "));
  CHECK_THAT(why.message(), Contains(" from /job:worker/task:1/device:cpu:0, for "));
}

TEST_CASE("a step that is cancelled says what it waited for, one that fails says only why") {
  local_world world;
  text_case text{waiting_here};
  auto step = world.prepare(text);
  REQUIRE(step);
  for (auto kind : {error_kind::cancelled, error_kind::aborted}) {
    auto program = (*step)->local;
    auto in = program->check_out();
    silent_observer observer;
    in->conductor().begin(99, observer, nullptr);
    world.run();
    in->conductor().abort(99, failure(kind, "enough"), nullptr);
    world.run();
    auto text_of = in->conductor().outcome().message();
    CHECK(text_of.starts_with("enough"));
    CHECK((text_of.find("QueueDequeue 'get'") != text_of.npos) == (kind == error_kind::cancelled));
    in->retire();
  }
  step = status{error_kind::cancelled, ""};
}

TEST_CASE("a report of a step with very many waits stays short") {
  std::string many = "q = FIFOQueue component_types=[i32] shapes=[[]]\n";
  for (int i = 0; i < 300; ++i)
    many += concat("a_name_that_is_rather_long_", i, " = QueueDequeue(q) component_types=[i32]\n");
  many += "fetch a_name_that_is_rather_long_7\nfetch a_name_that_is_rather_long_8\n";
  for (int i = 0; i < 300; ++i)
    many += concat("target a_name_that_is_rather_long_", i, '\n');
  local_world world;
  text_case text{many};
  auto step = world.prepare(text);
  REQUIRE(step);
  auto in = (*step)->local->check_out();
  silent_observer observer;
  in->conductor().begin(99, observer, nullptr);
  world.run();
  auto lines = flight_report(*in, 99);
  CHECK(lines.size() <= 4200);
  CHECK_THAT(lines, Contains("\n    and more"));
  in->conductor().abort(99, failure(error_kind::aborted, "enough"), nullptr);
  in->retire();
  in.reset();
  step = status{error_kind::cancelled, ""};
}

TEST_CASE("reports of other tasks are added to the first cause, but never without end") {
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

TEST_CASE("times read well at every length") {
  CHECK(readable_time(1'500) == "2 us");
  CHECK(readable_time(12'400'000) == "12.4 ms");
  CHECK(readable_time(3'100'000'000) == "3.1 s");
}

} // namespace troupe::test::client_insight_test
