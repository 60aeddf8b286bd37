// A task that restarts at another address under its host name, as a pod does.
#include "tests/support/catch.hpp"
#include "tests/support/processes.hpp"
#include "tests/support/replaced_functions.hpp"
#include "tests/support/watchdog.hpp"
#include "troupe/actors/membership/find_cluster.hpp"
#include "troupe/troupe.hpp"

namespace troupe::test::changed_name_test {

using namespace std::chrono_literals;

TEST_CASE("a task that restarts with another address for its host name is found there") {
  if (!functions_are_replaced)
    return;
  watchdog watch;
  auto port = free_ports(1).front();
  auto text = concat("dns:worker*1=worker-{index}.train.test:", port);
  name_table names;
  auto begin = [&](const std::string& address) {
    names.set("worker-0.train.test", address);
    auto cluster = find_cluster(text);
    REQUIRE(cluster);
    auto options = options_of_task(*cluster, {"worker", 0});
    options.listen = concat(address, ':', port);
    options.insecure = true; // the host name might be any machine's
    return start_task(std::move(options));
  };
  auto task = begin("127.0.0.2");
  graph_builder g;
  auto placement = g.on("/job:worker/task:0");
  auto x = g.placeholder(dtype::i32, {}, "x");
  auto s = session::connect(text, {.cluster = {.insecure = true}, .timeout = 20s});
  auto step = s.prepare({x}, {x + 1});
  auto run = [&] { return to_scalar<int>(step.run({tensor::scalar(1)}).front()); };
  CHECK(run() == 2);
  for (const auto* address : {"127.0.0.3", "127.0.0.4"}) {
    task.reset();
    task = begin(address);
    CHECK(becomes_true([&] {
      try {
        return run() == 2;
      } catch (const error&) { // the connection was lost
        return false;
      }
    }));
  }
}

} // namespace troupe::test::changed_name_test
