// Runs whose deadline has passed.
#include "tests/support/catch.hpp"
#include "tests/support/failure_of.hpp"
#include "tests/support/processes.hpp"
#include "tests/support/watchdog.hpp"
#include "troupe/troupe.hpp"

namespace troupe::test::past_deadline_test {

using Catch::Matchers::Contains;
using namespace std::chrono_literals;
using clock = std::chrono::steady_clock;

namespace {

run_options late() { return {.deadline = clock::now() - 1s}; }

struct counter_graph {
  graph_builder g;
  edge count = g.variable(0, "count");
  node* more = assign_add(count, 1).node;
};

// None of these may have run.
void check_refused(session& s, counter_graph& in) {
  s.run(in.g.initializer());
  auto step = s.prepare({}, {in.count}, {in.more});
  std::vector<tensor> place(1);
  for (int i = 0; i < 20; ++i) {
    CHECK(thrown_by([&] { step.run({}, late()); }).kind() == error_kind::deadline_exceeded);
    CHECK(thrown_by([&] { step.run_into({}, place, late()); }).kind() ==
          error_kind::deadline_exceeded);
    CHECK(thrown_by([&] { step.run_async({}, late()).get(); }).kind() ==
          error_kind::deadline_exceeded);
    CHECK(thrown_by([&] { s.run(in.more, {}, late()); }).kind() == error_kind::deadline_exceeded);
    CHECK(thrown_by([&] { s.fetch(in.count + 1, {}, late()); }).kind() ==
          error_kind::deadline_exceeded);
  }
  auto text = failure_of([&] { step.run({}, late()); });
  CHECK_THAT(text, Contains("before the step began") && Contains("past_deadline_test.cpp"));
  CHECK(to_scalar<int>(s.fetch(in.count)) == 0);
  step.run({}, {.deadline = clock::now() + 60s});
  step.run({}, {.deadline = clock::time_point::max()});
  step.run({}, {.timeout = std::chrono::milliseconds::max()});
  step.run({}, {.timeout = 0ms}); // the session's
  CHECK(to_scalar<int>(s.fetch(in.count)) == 4);
  for (auto timeout : {-5ms, std::chrono::milliseconds::min()}) {
    run_options how{.timeout = timeout};
    CHECK(thrown_by([&] { step.run({}, how); }).kind() == error_kind::invalid_argument);
    CHECK(thrown_by([&] { step.run_into({}, place, how); }).kind() == error_kind::invalid_argument);
    CHECK(thrown_by([&] { step.run_async({}, how).get(); }).kind() == error_kind::invalid_argument);
    CHECK(thrown_by([&] { s.run(in.more, {}, how); }).kind() == error_kind::invalid_argument);
    CHECK(thrown_by([&] { s.fetch(in.count, {}, how); }).kind() == error_kind::invalid_argument);
  }
  CHECK(to_scalar<int>(s.fetch(in.count)) == 4);
}

} // namespace

TEST_CASE("a local step whose deadline has passed changes nothing") {
  watchdog watch;
  counter_graph in;
  auto s = session::local();
  check_refused(s, in);
}

TEST_CASE("a step whose deadline has passed changes nothing on tasks") {
  watchdog watch;
  auto cluster = make_cluster(1, 0);
  auto worker = start_task(options_of_task(cluster, {"worker", 0}));
  {
    counter_graph in;
    auto s = session::connect(cluster, {.container = "direct"});
    check_refused(s, in);
  }
  counter_graph in;
  auto s = session::connect(concat("master:", cluster.jobs.at("worker").front()),
                            {.container = "hosted"});
  check_refused(s, in);
}

} // namespace troupe::test::past_deadline_test
