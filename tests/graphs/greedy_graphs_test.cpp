// Every case of this folder, spread over tasks by greedy placement with invented times of its
// nodes.
#include "tests/graphs/all_cases.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/processes.hpp"
#include "tests/support/text_case.hpp"
#include "tests/support/watchdog.hpp"
#include "troupe/api/internal/library.hpp"

#include <random>
#include <set>

namespace troupe::test::greedy_graphs_test {
namespace {

// Times so long that another task is worth the transfer, for some nodes more than for others.
std::vector<node_time> drawn_times(const std::vector<named_text>& cases, unsigned seed) {
  std::set<std::string> names;
  for (const auto& stored : cases) {
    text_case written{stored.text, stored.name};
    for (const auto& node : written.nodes->nodes())
      names.insert(node->name());
  }
  std::mt19937 random{seed};
  std::vector<node_time> times;
  for (const auto& name : names)
    times.push_back({.node = name,
                     .device = "/job:worker/task:0/device:cpu:0",
                     .runs = 1,
                     .mean_ns = std::uniform_real_distribution{1e4, 2e7}(random)});
  return times;
}

std::unique_ptr<client> connect(const cluster_spec& cluster, std::vector<node_time> times,
                                recv_schedule receives) {
  client_options options;
  options.ops = &library();
  options.inter_op_threads = 2;
  options.programs.placement = {.strategy = placement_strategy::greedy, .receives = receives};
  options.node_times = std::move(times);
  auto session = client::connect(cluster, std::move(options));
  REQUIRE(session);
  return *std::move(session);
}

} // namespace

TEST_CASE("every text graph gives the same if greedy placement spreads it over 2 and 4 tasks") {
  watchdog watch{std::chrono::seconds{100}};
  const auto cases = all_cases();
  auto cluster = make_cluster(4);
  std::vector<task_process> tasks;
  for (int i = 0; i < 4; ++i)
    tasks.emplace_back(cluster, task_name{"worker", i});
  for (unsigned seed : {1, 2})
    for (size_t count : {2, 4}) {
      INFO("seed " << seed << ", on " << count << " workers");
      auto part = cluster;
      part.jobs["worker"].resize(count);
      auto in = connect(part, drawn_times(cases, seed),
                        seed == 1 ? recv_schedule::eager : recv_schedule::late);
      CHECK(differences_of(*in, library(), cases, {""}) == "");
    }
}

TEST_CASE("greedy placement with long node times uses all tasks") {
  watchdog watch;
  const auto cases = all_cases();
  auto in = connect(make_cluster(4), drawn_times(cases, 1), recv_schedule::eager);
  std::set<std::string> devices_used;
  for (const auto& stored : cases) {
    text_case written{stored.text, stored.name};
    for (const auto& run : written.text.runs)
      if (auto report = in->explain(*written.nodes, signature_of(run),
                                    step_clock::now() + std::chrono::seconds{20}))
        for (const auto& node : report->nodes)
          devices_used.insert(node.device);
  }
  CHECK(devices_used.size() == 5); // "" of feeds and fetches among them
}

} // namespace troupe::test::greedy_graphs_test
