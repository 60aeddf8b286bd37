#include "tests/support/catch.hpp"
#include "tests/support/processes.hpp"
#include "tests/support/test_steps.hpp"
#include "troupe/runtime/program/regions.hpp"

#include <algorithm>
#include <set>

#include <unistd.h>

namespace troupe::test::regions_test {

namespace {

bool waits(const node& node) { return has(node.op().effects, effect::blocking); }

std::vector<const node*> predecessors(const node& n) {
  std::vector<const node*> inputs;
  for (const auto& input : n.inputs())
    inputs.push_back(input.node);
  inputs.insert(inputs.end(), n.controls().begin(), n.controls().end());
  return inputs;
}

} // namespace

TEST_CASE("nodes that wait for the same inputs form one region") {
  graph in{ops()};
  auto recv = [&](int key) {
    return add(in,
               {.op = "_Recv",
                .attrs = {{"key", key}, {"from", ""}, {"dtype", dtype::i64}, {"shape", shape{}}}});
  };
  auto op = [&](std::vector<edge> inputs) { return add(in, {.op = "AddN", .inputs = inputs}); };
  auto one_const = constant(in, int64_t{1});
  auto a = recv(0), b = recv(1);
  auto early = op({one_const, one_const}), from_a = op({a, one_const}), from_b = op({b, one_const});
  auto joint = op({from_a, from_b}), more = op({a, b}), later = op({joint, more});
  auto queue = add(in, {.op = "Queue"});
  auto ask = add(in, {.op = "Ask", .inputs = {queue, from_a}});
  auto answered = op({ask, a});
  auto regions = find_regions(in);
  auto region_of = [&](edge source) {
    return regions.region_of_node[static_cast<size_t>(source.node->id())];
  };
  CHECK(regions.count == 5);
  CHECK(region_of(one_const) == 0);
  CHECK(region_of(early) == 0);
  CHECK(region_of(queue) == 0);
  CHECK(region_of(a) == region_of(from_a));
  CHECK(region_of(from_a) != region_of(from_b));
  CHECK(region_of(joint) == region_of(more));
  CHECK(region_of(later) == region_of(joint));
  CHECK(region_of(ask) == region_of(answered));
  CHECK(region_of(ask) != region_of(a));
  CHECK(regions.issuing_region[static_cast<size_t>(ask.node->id())] == region_of(a));
  CHECK(regions.issuing_region[static_cast<size_t>(a.node->id())] == 0);
}

TEST_CASE("an empty graph has the region that starts the step") {
  graph in{ops()};
  CHECK(find_regions(in).count == 1);
}

namespace {

// Multiplies square matrices, each of which takes some time.
struct towers {
  graph in{ops()};
  edge product(edge a) { return add(in, {.op = "Mul", .inputs = {a, a}}); }
  edge tower(edge from, int height) {
    for (int i = 0; i < height; ++i)
      from = product(from);
    return from;
  }
  edge source =
      add(in, {.op = "Placeholder", .attrs = {{"dtype", dtype::f32}, {"shape", shape{1000}}}});
  // Each product is estimated at 1.2 microseconds.
  region_options two_workers{.workers = 2, .dispatch_ns = 1'000};
};

std::set<uint32_t> regions_of(const region_map& regions, std::vector<edge> nodes) {
  std::set<uint32_t> numbers;
  for (auto source : nodes)
    numbers.insert(regions.region_of_node[static_cast<size_t>(source.node->id())]);
  return numbers;
}

} // namespace

TEST_CASE("parallel branches that are worth a thread become regions") {
  towers t;
  auto fork = t.product(t.source);
  auto left_tower = t.tower(fork, 10), right_tower = t.tower(fork, 10), small = t.tower(fork, 1);
  auto joint = add(t.in, {.op = "AddN", .inputs = {left_tower, right_tower, small}});
  auto regions = find_regions(t.in, t.two_workers);
  CHECK(regions_of(regions, {left_tower, right_tower, fork, joint}).size() == 4);
  CHECK(regions_of(regions, {small, fork}).size() == 1);
  CHECK(regions.count == 4);
  t.two_workers.workers = 1;
  CHECK(find_regions(t.in, t.two_workers).count == 1);
}

TEST_CASE("a constant used by two branches does not merge them") {
  towers t;
  auto fork = t.tower(t.source, 3), three = constant(t.in, 3.0f);
  auto plus = [&](edge to) { return add(t.in, {.op = "Add", .inputs = {to, three}}); };
  auto left_tower = t.tower(plus(fork), 10), right_tower = t.tower(plus(t.product(fork)), 10);
  auto joint = add(t.in, {.op = "AddN", .inputs = {left_tower, right_tower}});
  CHECK(regions_of(find_regions(t.in, t.two_workers), {left_tower, right_tower, fork, joint})
            .size() == 4);
}

TEST_CASE("branches that are cheaper than a few dispatches stay together") {
  towers t;
  auto left_tower = t.tower(t.source, 2), right_tower = t.tower(t.source, 2);
  add(t.in, {.op = "AddN", .inputs = {left_tower, right_tower}});
  CHECK(find_regions(t.in, t.two_workers).count == 1);
}

TEST_CASE("many branches are divided into one region per worker") {
  towers t;
  std::vector<edge> tops;
  for (int i = 0; i < 9; ++i)
    tops.push_back(t.tower(t.source, 10));
  CHECK(regions_of(find_regions(t.in, t.two_workers), tops).size() == 2);
}

TEST_CASE("a heavy chain is not cut, and work after a join is not split off") {
  towers t;
  auto top = t.tower(t.tower(t.source, 20), 20);
  add(t.in, {.op = "AddN", .inputs = {top, t.source}});
  CHECK(find_regions(t.in, t.two_workers).count == 1);
}

TEST_CASE("nodes that use all threads by themselves are not run in parallel") {
  towers t;
  t.two_workers.nodes_use_all_threads = true;
  auto left_tower = t.tower(t.source, 10), right_tower = t.tower(t.source, 10);
  CHECK(regions_of(find_regions(t.in, t.two_workers), {left_tower, right_tower}).size() == 2);
  t.two_workers.dispatch_ns = 100; // a product costs ten dispatches
  CHECK(find_regions(t.in, t.two_workers).count == 1);
}

TEST_CASE("measured times take precedence over estimates") {
  towers t;
  auto left_tower = t.tower(t.source, 2), right_tower = t.tower(t.source, 2);
  add(t.in, {.op = "AddN", .inputs = {left_tower, right_tower}});
  node_times measured;
  for (const auto& node : t.in.nodes())
    measured.add({.node = node->name(), .runs = 1, .mean_ns = 5'000});
  t.two_workers.measured = &measured;
  CHECK(regions_of(find_regions(t.in, t.two_workers), {left_tower, right_tower}).size() == 2);
}

TEST_CASE("ten thousand received tensors that are summed one by one take little memory") {
  constexpr int count = 10'000;
  for (bool last_first : {false, true}) {
    INFO("the last comes first: " << last_first);
    graph in{ops()};
    std::vector<edge> received;
    for (int i = 0; i < count; ++i)
      received.push_back(add(
          in, {.op = "_Recv",
               .attrs = {{"key", i}, {"from", ""}, {"dtype", dtype::i64}, {"shape", shape{}}}}));
    if (last_first)
      std::ranges::reverse(received);
    auto sum = constant(in, int64_t{0});
    for (const auto& received_tensor : received)
      sum = add(in, {.op = "Add", .inputs = {sum, received_tensor}});
    auto resident_before = footprint_of(getpid()).resident_kib;
    auto regions = find_regions(in);
    auto grown = footprint_of(getpid()).resident_kib - resident_before;
    CHECK(regions.count == 2 * count); // the first sum waits for one tensor only
    INFO(grown << " KiB");
    if (size_is_telling)
      CHECK(grown < 48 * 1024);
  }
}

namespace {

// A graph and its regions.
struct divided_graph {
  const graph& in;
  const region_map& regions;

  uint32_t region_of(const node& node) const {
    return regions.region_of_node[static_cast<size_t>(node.id())];
  }
  uint32_t issued(const node& node) const {
    return regions.issuing_region[static_cast<size_t>(node.id())];
  }
};

// The regions that each region requires; a wait leads from the region that issued it to the region
// of its answer.
std::vector<std::set<uint32_t>> required_regions(const divided_graph& divided) {
  std::vector<std::set<uint32_t>> needs(divided.regions.count);
  std::vector<int> members(divided.regions.count, 0);
  for (const auto& node : divided.in.nodes()) {
    auto region = divided.region_of(*node), issued = divided.issued(*node);
    REQUIRE(region < divided.regions.count);
    ++members[region];
    ++members[issued];
    if (waits(*node))
      REQUIRE(region != issued);
    else
      REQUIRE(region == issued);
    if (region != issued)
      needs[region].insert(issued);
    for (auto* from : predecessors(*node))
      if (divided.region_of(*from) != issued)
        needs[issued].insert(divided.region_of(*from));
  }
  CHECK(needs[0].empty());
  for (uint32_t r = 1; r < divided.regions.count; ++r)
    CHECK(members[r] > 0);
  return needs;
}

// A region starts when all required regions have ended. If all can end in some order, there is
// neither a cycle nor a deadlock, and no path leaves a region and returns.
void check_that_all_can_end(const std::vector<std::set<uint32_t>>& needs) {
  std::set<uint32_t> ended;
  for (bool moved = true; moved;) {
    moved = false;
    for (uint32_t r = 0; r < needs.size(); ++r)
      if (!ended.contains(r) && std::ranges::includes(ended, needs[r])) {
        ended.insert(r);
        moved = true;
      }
  }
  CHECK(ended.size() == needs.size());
}

// A node on a path between two nodes of a region belongs to the region.
void check_that_region_is_convex(const divided_graph& divided, uint32_t region) {
  auto nodes = divided.in.nodes();
  std::vector<bool> after_leaving(nodes.size(), false);
  for (const auto& node : nodes) {
    auto issued = divided.issued(*node);
    for (auto* from : predecessors(*node))
      if (after_leaving[static_cast<size_t>(from->id())] ||
          (divided.region_of(*from) == region && issued != region))
        after_leaving[static_cast<size_t>(node->id())] = true;
    if (waits(*node) && issued == region)
      after_leaving[static_cast<size_t>(node->id())] = true;
    if (after_leaving[static_cast<size_t>(node->id())])
      REQUIRE((issued != region || waits(*node)));
  }
}

} // namespace

TEST_CASE("regions of random graphs are convex, form no cycle and can all start") {
  auto base = std::random_device{}();
  for (unsigned round = 0; round < 600; ++round) {
    auto seed = base + round;
    INFO("seed " << seed << ", round " << round);
    random_step_graph play{seed, 1 + static_cast<int>(round / 3)};
    auto graph = play.take_graph();
    auto regions = find_regions(*graph, cutting(round));
    divided_graph divided{*graph, regions};
    check_that_all_can_end(required_regions(divided));
    for (uint32_t r = 0; r < regions.count; ++r)
      check_that_region_is_convex(divided, r);
  }
}

} // namespace troupe::test::regions_test
