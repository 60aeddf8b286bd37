// Runs whose deadline has passed.
#include "tests/support/catch.hpp"
#include "tests/support/processes.hpp"
#include "tests/support/thrown_errors.hpp"
#include "tests/support/watchdog.hpp"
#include "troupe/troupe.hpp"

namespace troupe::test::past_deadline_test {

using Catch::Matchers::Contains;
using namespace std::chrono_literals;
using clock = std::chrono::steady_clock;

namespace {

run_options past_deadline() { return {.deadline = clock::now() - 1s}; }

struct counter_graph {
  graph_builder g;
  edge count = g.variable(0, "count");
  node* increment = assign_add(count, 1).node;
};

// None of these steps may have run.
void check_refused(session& s, counter_graph& counters) {
  s.run(counters.g.initializer());
  auto step = s.prepare({}, {counters.count}, {counters.increment});
  std::vector<tensor> results(1);
  for (int i = 0; i < 20; ++i) {
    CHECK(status_thrown_by([&] { step.run({}, past_deadline()); }).kind() ==
          error_kind::deadline_exceeded);
    CHECK(status_thrown_by([&] { step.run_into({}, results, past_deadline()); }).kind() ==
          error_kind::deadline_exceeded);
    CHECK(status_thrown_by([&] { step.run_async({}, past_deadline()).get(); }).kind() ==
          error_kind::deadline_exceeded);
    CHECK(status_thrown_by([&] { s.run(counters.increment, {}, past_deadline()); }).kind() ==
          error_kind::deadline_exceeded);
    CHECK(status_thrown_by([&] { s.fetch(counters.count + 1, {}, past_deadline()); }).kind() ==
          error_kind::deadline_exceeded);
  }
  auto text = error_text_of([&] { step.run({}, past_deadline()); });
  CHECK_THAT(text, Contains("before the step began") && Contains("past_deadline_test.cpp"));
  CHECK(to_scalar<int>(s.fetch(counters.count)) == 0);
  step.run({}, {.deadline = clock::now() + 60s});
  step.run({}, {.deadline = clock::time_point::max()});
  step.run({}, {.timeout = std::chrono::milliseconds::max()});
  step.run({}, {.timeout = 0ms}); // the session's timeout
  CHECK(to_scalar<int>(s.fetch(counters.count)) == 4);
  for (auto timeout : {-5ms, std::chrono::milliseconds::min()}) {
    run_options options{.timeout = timeout};
    CHECK(status_thrown_by([&] { step.run({}, options); }).kind() == error_kind::invalid_argument);
    CHECK(status_thrown_by([&] { step.run_into({}, results, options); }).kind() ==
          error_kind::invalid_argument);
    CHECK(status_thrown_by([&] { step.run_async({}, options).get(); }).kind() ==
          error_kind::invalid_argument);
    CHECK(status_thrown_by([&] { s.run(counters.increment, {}, options); }).kind() ==
          error_kind::invalid_argument);
    CHECK(status_thrown_by([&] { s.fetch(counters.count, {}, options); }).kind() ==
          error_kind::invalid_argument);
  }
  CHECK(to_scalar<int>(s.fetch(counters.count)) == 4);
}

} // namespace

TEST_CASE("a local step whose deadline has passed changes nothing") {
  watchdog watch;
  counter_graph counters;
  auto s = session::local();
  check_refused(s, counters);
}

TEST_CASE("a step whose deadline has passed changes nothing on tasks") {
  watchdog watch;
  auto cluster = make_cluster(1, 0);
  auto worker = start_task(options_of_task(cluster, {"worker", 0}));
  {
    counter_graph counters;
    auto s = session::connect(cluster, {.container = "direct"});
    check_refused(s, counters);
  }
  counter_graph counters;
  auto s = session::connect(concat("master:", cluster.jobs.at("worker").front()),
                            {.container = "hosted"});
  check_refused(s, counters);
}

} // namespace troupe::test::past_deadline_test
