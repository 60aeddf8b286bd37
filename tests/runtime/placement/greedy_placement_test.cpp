// Placement by a simulated run (white paper 3.2.1).
#include "tests/support/catch.hpp"
#include "tests/support/test_ops.hpp"
#include "troupe/runtime/graph/colocation.hpp"
#include "troupe/runtime/insight/node_times.hpp"
#include "troupe/runtime/passes/extract.hpp"
#include "troupe/runtime/placement/constraints.hpp"
#include "troupe/runtime/placement/kernel_site.hpp"
#include "troupe/runtime/placement/link_costs.hpp"
#include "troupe/runtime/placement/placement_report.hpp"
#include "troupe/runtime/placement/simulation.hpp"

#include <random>
#include <set>

namespace troupe::test::greedy_placement_test {
namespace {

device_list workers(int count) {
  device_list devices;
  for (int i = 0; i < count; ++i)
    devices.push_back({"worker", i, "cpu", 0});
  return devices;
}

struct world {
  graph in{ops()};
  edge x = add(in, {.op = "Placeholder",
                    .name = "x",
                    .attrs = {{"dtype", dtype::f32}, {"shape", partial_shape{1000}}}});
  node_times measured;

  edge named(const std::string& op, const std::string& name, const std::vector<edge>& inputs,
             double us, const std::string& device = {}) {
    measured.add({.node = name,
                  .device = "/job:worker/task:0/device:cpu:0",
                  .runs = 1,
                  .mean_ns = us * 1000});
    return add(in, {.op = op, .name = name, .inputs = inputs, .device = device});
  }

  result<placement> place(const std::vector<edge>& fetches, const device_list& devices,
                          place_options options = {}) {
    auto closed = extract(in, {.feeds = {x}, .fetches = fetches});
    REQUIRE(closed);
    step = std::move(closed->nodes);
    options.measured = &measured;
    options.strategy = placement_strategy::greedy;
    return troupe::place(*step, devices, options);
  }
  // The device of each node, without feeds and fetches.
  std::string placed(const std::vector<edge>& fetches, const device_list& devices,
                     const place_options& options = {}) {
    auto placement = place(fetches, devices, options);
    if (!placement)
      return placement.status().message();
    std::string text;
    for (const auto& node : step->nodes())
      if (auto where = placement->chosen[node->index()]; where >= 0)
        text += concat(text.empty() ? "" : " ", node->name(), '=', where);
    return text;
  }

  std::unique_ptr<graph> step;
};

TEST_CASE("long branches run in parallel, short ones stay at their input") {
  world w;
  auto a = w.named("Neg", "a", {w.x}, 1000), b = w.named("Neg", "b", {w.x}, 900);
  auto sum = w.named("Add", "sum", {a, b}, 10);
  CHECK(w.placed({sum}, workers(2)) == "a=0 b=1 sum=0");
  CHECK(w.placed({sum}, workers(1)) == "a=0 b=0 sum=0");

  world light;
  a = light.named("Neg", "a", {light.x}, 20);
  b = light.named("Neg", "b", {light.x}, 20);
  sum = light.named("Add", "sum", {a, b}, 10);
  CHECK(light.placed({sum}, workers(2)) == "a=0 b=0 sum=0"); // the transfer takes longer
}

TEST_CASE("link costs are the measured ones, for each pair of tasks") {
  world w;
  auto a = w.named("Neg", "a", {w.x}, 1000), b = w.named("Neg", "b", {w.x}, 900);
  auto sum = w.named("Add", "sum", {a, b}, 10);
  link_costs slow{{5e6, 1}};
  CHECK(w.placed({sum}, workers(3), {.links = &slow}) == "a=0 b=0 sum=0");
  link_costs third = slow;
  third.set({"worker", 2}, {"worker", 0}, {1000, 0.1});
  CHECK(w.placed({sum}, workers(2), {.links = &third}) == "a=0 b=0 sum=0");
  // The first equally good task for b is task 1, from which the transfer back is slow.
  CHECK(w.placed({sum}, workers(3), {.links = &third}) == "a=0 b=0 sum=0");
  third.set({"worker", 1}, {"worker", 0}, {1000, 0.1});
  CHECK(w.placed({sum}, workers(3), {.links = &third}) == "a=0 b=1 sum=0");
}

TEST_CASE("nodes with state, and its users, stay in place in all steps; readers may move") {
  world w;
  auto v = add(w.in, {.op = "Variable", .name = "v", .attrs = {{"dtype", dtype::i64}}});
  auto a = w.named("Neg", "a", {v}, 1000), b = w.named("Neg", "b", {v}, 1000);
  auto update = w.named("AssignAdd", "update", {v, a}, 1000);
  CHECK(w.placed({update, b}, workers(2)) == "v=0 a=0 b=1 update=0");
}

TEST_CASE("nodes with a partial device name are spread over the matching devices") {
  world w;
  auto a = w.named("Neg", "a", {w.x}, 1000, "/job:ps"),
       b = w.named("Neg", "b", {w.x}, 1000, "/job:ps"), c = w.named("Neg", "c", {w.x}, 1000);
  device_list devices = workers(1);
  devices.push_back({"ps", 0, "cpu", 0});
  devices.push_back({"ps", 1, "cpu", 0});
  CHECK(w.placed({a, b, c}, devices) == "a=1 b=2 c=0");
}

TEST_CASE("colocated nodes follow the first of them") {
  world w;
  attr_map with_a;
  add_colocation(with_a, {"a"});
  auto first = w.named("Neg", "first", {w.x}, 1000);
  auto a = w.named("Neg", "a", {w.x}, 900);
  auto b = add(w.in, {.op = "Neg", .name = "b", .inputs = {first}, .attrs = with_a});
  CHECK(w.placed({a, b}, workers(2)) == "first=0 a=1 b=1");
}

TEST_CASE("a report lists each node's device, the reason, and the step's cost") {
  world w;
  auto v = add(
      w.in, {.op = "Variable", .name = "v", .attrs = {{"dtype", dtype::f32}}, .device = "/job:ps"});
  auto a = w.named("Neg", "a", {w.x}, 1000), b = w.named("Neg", "b", {w.x}, 900);
  auto update = w.named("AssignAdd", "update", {v, b}, 10);
  attr_map with_a;
  add_colocation(with_a, {"a"});
  auto c = add(w.in, {.op = "Identity", .name = "c", .inputs = {a}, .attrs = with_a});
  auto d = w.named("Neg", "d", {c}, 100, "/job:worker/task:1");
  device_list devices = workers(2);
  devices.push_back({"ps", 0, "cpu", 0});
  auto placement = w.place({update, d}, devices, {.explain = true});
  REQUIRE(placement);
  REQUIRE(placement->report);
  CHECK(
      to_string(*placement->report) ==
      R"(Variable 'v' on /job:ps/task:0/device:cpu:0: asked for '/job:ps'; the only device that can run it
_Feed '_feed_0/x' fed; goes to all that read it
Neg 'a' on /job:worker/task:0/device:cpu:0: cheapest: done after 1 ms, on /job:worker/task:1/device:cpu:0 after 1 ms
Neg 'b' on /job:worker/task:1/device:cpu:0: cheapest: done after 900 us, on /job:ps/task:0/device:cpu:0 after 900 us
Identity 'c' on /job:worker/task:0/device:cpu:0: colocated with 'a'
Neg 'd' on /job:worker/task:1/device:cpu:0: asked for '/job:worker/task:1'; the only device that can run it
AssignAdd 'update' on /job:ps/task:0/device:cpu:0: with the state of 'v'
_Fetch '_fetch_0' fetched from where it is made
_Fetch '_fetch_1' fetched from where it is made
strategy: greedy; a step is expected to take 1.15 ms (2.05 ms by first worker)
from /job:worker/task:0 to /job:worker/task:1: 1 message, 4 KB
from /job:worker/task:1 to /job:ps/task:0: 1 message, 4 KB
)");
}

TEST_CASE("a report shows where a GPU was not worth the transfer") {
  world w;
  auto a = w.named("Neg", "a", {w.x}, 1);
  device_list devices = workers(1);
  devices.push_back({"worker", 0, "gpu", 0});
  auto placement = w.place({a}, devices, {.by_cost = true, .explain = true});
  REQUIRE(placement);
  CHECK(placement->report->nodes[1].node == "a");
  CHECK(placement->report->nodes[1].device == "/job:worker/task:0/device:cpu:0");
  CHECK(placement->report->nodes[1].reason ==
        "the processor takes less time than the GPU, with all copies");
}

// -- random graphs -------------------------------------------------------------------------------

struct drawn {
  graph in{ops()};
  std::vector<edge> ends;

  explicit drawn(std::mt19937& random) {
    auto below = [&](size_t n) { return std::uniform_int_distribution<size_t>{0, n - 1}(random); };
    std::vector<edge> values{constant(in, tensor::vector(std::vector<float>(1000, 1)))};
    std::vector<edge> states;
    constexpr const char* requested[] = {"",
                                         "/job:ps",
                                         "/job:worker",
                                         "/task:1",
                                         "/job:ps/task:1",
                                         "/device:cpu:*",
                                         "/cpu:0",
                                         "/job:worker/device:cpu:0"};
    auto constrained = below(3) > 0;
    for (size_t i = 0, count = 2 + below(40); i < count; ++i) {
      auto name = concat('n', i);
      auto device =
          std::string{constrained && below(4) == 0 ? requested[below(std::size(requested))] : ""};
      attr_map attrs;
      if (constrained && below(6) == 0)
        add_colocation(attrs, {concat('n', below(count))});
      auto value = values[below(values.size())], other = values[below(values.size())];
      switch (below(6)) {
        case 0:
          states.push_back(add(in, {.op = "Variable",
                                    .name = name,
                                    .attrs = {{"dtype", dtype::f32}},
                                    .device = device}));
          values.push_back(states.back());
          break;
        case 1:
          if (!states.empty()) {
            add(in, {.op = "AssignAdd",
                     .name = name,
                     .inputs = {states[below(states.size())], value},
                     .attrs = attrs});
            break;
          }
          [[fallthrough]];
        case 2:
          values.push_back(add(in, {.op = "HostOnly",
                                    .name = name,
                                    .inputs = {value},
                                    .attrs = attrs,
                                    .device = device}));
          break;
        default:
          values.push_back(add(in, {.op = "AddN",
                                    .name = name,
                                    .inputs = {value, other},
                                    .attrs = attrs,
                                    .device = device}));
      }
    }
  }
};

double total_of(const graph& nodes, const device_list& devices, const place_options& options,
                const std::vector<int>& chosen) {
  return simulate(nodes, devices, options, chosen).total_ns;
}

// Whether the constraints are consistent.
bool check_placement(unsigned seed) {
  INFO("seed " << seed);
  std::mt19937 random{seed};
  auto below = [&](int n) { return std::uniform_int_distribution<int>{0, n - 1}(random); };
  drawn graph{random};
  device_list devices = workers(1 + below(3));
  for (int i = 0, count = 2 + below(2); i < count; ++i)
    devices.push_back({"ps", i, "cpu", 0});
  if (below(2) == 0)
    devices.push_back({"worker", 0, "gpu", 0});
  link_costs links{{static_cast<double>(below(3)) * 100, 0.001 * below(10)}};
  if (below(2) == 0)
    links.set({"ps", 0}, {"worker", 0}, {static_cast<double>(below(10'000)), 0.1});
  place_options options{.by_cost = below(2) == 0,
                        .strategy = placement_strategy::greedy,
                        .links = &links,
                        .explain = true};
  auto placement = place(graph.in, devices, options);
  auto original_options = options;
  original_options.strategy = placement_strategy::first_worker;
  auto first = place(graph.in, devices, original_options);
  CHECK(first.status().kind() ==
        placement.status().kind()); // contradictions are found in either mode
  if (!placement || !first)
    return false;
  auto sets = node_sets::find(graph.in, devices);
  REQUIRE(sets);
  std::set<size_t> moved;
  for (const auto* node : placement->moved_to_host)
    moved.insert(node->index());
  for (const auto& node : graph.in.nodes()) {
    INFO(node->description());
    auto at = placement->chosen[node->index()];
    REQUIRE(at >= 0);
    REQUIRE(at < static_cast<int>(devices.size()));
    const auto& where = devices[static_cast<size_t>(at)];
    CHECK(site_of(*node, kind_of(where)) != kernel_site::none);
    if (!moved.contains(node->index()))
      CHECK(device_name::parse(node->device())->matches(where));
    for (auto group : colocated_with(*node))
      if (auto* leader = graph.in.find(group))
        CHECK(placement->chosen[leader->index()] == at);
    for (int i = 0; i < static_cast<int>(node->inputs().size()); ++i)
      if (node->input_is_ref(i))
        CHECK(placement->chosen[node->inputs()[static_cast<size_t>(i)].node->index()] == at);
    if (node->op().state_kind != resource::none)
      CHECK(first->chosen[node->index()] == at);
  }
  if (!options.by_cost) // placement by cost sums times, and may make a step longer
    CHECK(total_of(graph.in, devices, options, placement->chosen) <=
          total_of(graph.in, devices, options, first->chosen));
  CHECK(placement->report->nodes.size() == graph.in.nodes().size());
  return true;
}

TEST_CASE(
    "random graphs: all nodes can run where they are, constraints and groups are kept, and no "
    "step is expected to take longer than on the first device") {
  int placed = 0;
  for (unsigned seed = 1; seed <= 400; ++seed)
    placed += check_placement(seed);
  CHECK(placed > 150);
  CHECK(placed < 400);
}

TEST_CASE("more random graphs are placed as their constraints say", "[slow]") {
  int placed = 0;
  for (unsigned seed = 1000; seed <= 10'000; ++seed)
    placed += check_placement(seed);
  CHECK(placed > 3000);
}

} // namespace
} // namespace troupe::test::greedy_placement_test
