// Durations that the public interface refuses.
#include "tests/support/catch.hpp"
#include "tests/support/processes.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tests/support/thrown_errors.hpp"
#include "troupe/troupe.hpp"

#include <cmath>
#include <limits>

namespace troupe::test::durations_test {

using Catch::Matchers::Contains;
using namespace std::chrono_literals;

TEST_CASE("invalid durations are refused where they are given") {
  auto check = [](std::string_view name, auto&& body) {
    INFO(name);
    auto outcome = status_thrown_by(body);
    CHECK(outcome.kind() == error_kind::invalid_argument);
    CHECK_THAT(outcome.message(), Contains(std::string{name}));
  };
  check("timeout", [] { session::local({.timeout = 0ms}); });
  check("timeout", [] { session::local({.timeout = -1ms}); });
  check("timeout", [] { session::connect(R"({"worker": ["127.0.0.1:1"]})", {.timeout = -1ms}); });
  check("peer_timeout", [] { session::local({.cluster = {.peer_timeout = -1ms}}); });
  check("recovery.initial_delay", [] { session::local({.recovery = {.initial_delay = -1ms}}); });
  check("memory.gpu_idle_timeout", [] { session::local({.memory = {.gpu_idle_timeout = -1ms}}); });
  check("gpu.watchdog", [] { session::local({.gpu = {.watchdog = -1ms}}); });
  auto serve = [](const server_options& options) {
    server::start(R"({"worker": ["127.0.0.1:1"]})", options);
  };
  check("join_timeout", [&] { serve({.join_timeout = 0ms}); });
  check("memory.gpu_idle_timeout", [&] { serve({.memory = {.gpu_idle_timeout = -1ms}}); });
  check("gpu.watchdog", [&] { serve({.gpu = {.watchdog = -1ms}}); });
  check("peer_timeout", [&] { serve({.cluster = {.peer_timeout = 0ms}}); });
  check("initialize_before_serving", [&] { serve({.initialize_before_serving = -1ms}); });
  auto running = server::start(make_cluster(1, 0));
  check("timeout", [&] { running.drain(-1ms); });
  coordinator coord;
  check("timeout", [&] { coord.wait_for_stop(-1ms); });
  check("timeout", [&] { coord.join(-1ms); });
  check("timeout", [&] { coord.run_while_suspended([] {}, -1ms); });
  CHECK_FALSE(coord.wait_for_stop(0ms));
  check("timeout", [] { live_tasks{{"/job:worker/task:0"}, {.timeout = -1ms}}; });
}

TEST_CASE("invalid durations of a training run are refused where they are given") {
  temporary_folder folder;
  for (auto wrong_seconds : {-1.0, std::nan(""), -std::numeric_limits<double>::infinity()}) {
    graph_builder g;
    auto w = g.variable(1.0f, "w");
    auto* train = assign_sub(w, 0.1f).node;
    auto refused = [&](training_options options) {
      options.checkpoints = folder.path();
      CHECK_THAT(error_text_of([&] {
                   training_run run{g, {{.loss = w * w, .train = {train}}}, options};
                 }),
                 Contains("must not be negative"));
    };
    refused({.checkpoint_seconds = wrong_seconds});
    refused({.time_limit = wrong_seconds});
    refused({.retry_delay_seconds = wrong_seconds});
  }
  graph_builder g;
  g.variable(1.0f, "w");
  saver checkpoints{g, folder.path()};
  CHECK(status_thrown_by([&] { checkpoints.set_step_timeout(-1ms); }).kind() ==
        error_kind::invalid_argument);
}

} // namespace troupe::test::durations_test
