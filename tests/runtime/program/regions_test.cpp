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

std::vector<const node*> before(const node& n) {
  std::vector<const node*> all;
  for (const auto& input : n.inputs())
    all.push_back(input.node);
  all.insert(all.end(), n.controls().begin(), n.controls().end());
  return all;
}

} // namespace

TEST_CASE("nodes that wait for the same are one region") {
  graph in{ops()};
  auto recv = [&](int key) {
    return add(in,
               {.op = "_Recv",
                .attrs = {{"key", key}, {"from", ""}, {"dtype", dtype::i64}, {"shape", shape{}}}});
  };
  auto op = [&](std::vector<edge> inputs) { return add(in, {.op = "AddN", .inputs = inputs}); };
  auto one = constant(in, int64_t{1});
  auto a = recv(0), b = recv(1);
  auto early = op({one, one}), from_a = op({a, one}), from_b = op({b, one});
  auto joint = op({from_a, from_b}), more = op({a, b}), later = op({joint, more});
  auto queue = add(in, {.op = "Queue"});
  auto ask = add(in, {.op = "Ask", .inputs = {queue, from_a}});
  auto answered = op({ask, a});
  auto found = find_regions(in);
  auto of = [&](edge what) { return found.of[static_cast<size_t>(what.node->id())]; };
  CHECK(found.count == 5);
  CHECK(of(one) == 0);
  CHECK(of(early) == 0);
  CHECK(of(queue) == 0);
  CHECK(of(a) == of(from_a));
  CHECK(of(from_a) != of(from_b));
  CHECK(of(joint) == of(more));
  CHECK(of(later) == of(joint));
  CHECK(of(ask) == of(answered));
  CHECK(of(ask) != of(a));
  CHECK(found.issued_from[static_cast<size_t>(ask.node->id())] == of(a));
  CHECK(found.issued_from[static_cast<size_t>(a.node->id())] == 0);
}

TEST_CASE("an empty graph has the region that starts the step") {
  graph in{ops()};
  CHECK(find_regions(in).count == 1);
}

namespace {

// Multiplies square matrices, each of which takes a while.
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
  // Such a product is estimated at 1.2 microseconds.
  region_options two_workers{.workers = 2, .dispatch_ns = 1'000};
};

std::set<uint32_t> regions_of(const region_map& found, std::vector<edge> nodes) {
  std::set<uint32_t> all;
  for (auto one : nodes)
    all.insert(found.of[static_cast<size_t>(one.node->id())]);
  return all;
}

} // namespace

TEST_CASE("parallel branches that are worth another thread become regions") {
  towers t;
  auto fork = t.product(t.source);
  auto left = t.tower(fork, 10), right = t.tower(fork, 10), small = t.tower(fork, 1);
  auto joint = add(t.in, {.op = "AddN", .inputs = {left, right, small}});
  auto found = find_regions(t.in, t.two_workers);
  CHECK(regions_of(found, {left, right, fork, joint}).size() == 4);
  CHECK(regions_of(found, {small, fork}).size() == 1);
  CHECK(found.count == 4);
  t.two_workers.workers = 1;
  CHECK(find_regions(t.in, t.two_workers).count == 1);
}

TEST_CASE("a constant that both branches need does not tie them together") {
  towers t;
  auto fork = t.tower(t.source, 3), three = constant(t.in, 3.0f);
  auto plus = [&](edge to) { return add(t.in, {.op = "Add", .inputs = {to, three}}); };
  auto left = t.tower(plus(fork), 10), right = t.tower(plus(t.product(fork)), 10);
  auto joint = add(t.in, {.op = "AddN", .inputs = {left, right}});
  CHECK(regions_of(find_regions(t.in, t.two_workers), {left, right, fork, joint}).size() == 4);
}

TEST_CASE("branches that are cheaper than a few hand-overs stay together") {
  towers t;
  auto left = t.tower(t.source, 2), right = t.tower(t.source, 2);
  add(t.in, {.op = "AddN", .inputs = {left, right}});
  CHECK(find_regions(t.in, t.two_workers).count == 1);
}

TEST_CASE("many branches are shared out among as many regions as there are workers") {
  towers t;
  std::vector<edge> tops;
  for (int i = 0; i < 9; ++i)
    tops.push_back(t.tower(t.source, 10));
  CHECK(regions_of(find_regions(t.in, t.two_workers), tops).size() == 2);
}

TEST_CASE("a heavy chain is not cut, and work after a join does not wait beside it") {
  towers t;
  auto top = t.tower(t.tower(t.source, 20), 20);
  add(t.in, {.op = "AddN", .inputs = {top, t.source}});
  CHECK(find_regions(t.in, t.two_workers).count == 1);
}

TEST_CASE("nodes that use all threads by themselves need no others beside them") {
  towers t;
  t.two_workers.nodes_use_all_threads = true;
  auto left = t.tower(t.source, 10), right = t.tower(t.source, 10);
  CHECK(regions_of(find_regions(t.in, t.two_workers), {left, right}).size() == 2);
  t.two_workers.dispatch_ns = 100; // a product is worth ten of these
  CHECK(find_regions(t.in, t.two_workers).count == 1);
}

TEST_CASE("measured times decide where there are some") {
  towers t;
  auto left = t.tower(t.source, 2), right = t.tower(t.source, 2);
  add(t.in, {.op = "AddN", .inputs = {left, right}});
  node_times measured;
  for (const auto& node : t.in.nodes())
    measured.add({.node = node->name(), .runs = 1, .mean_ns = 5'000});
  t.two_workers.measured = &measured;
  CHECK(regions_of(find_regions(t.in, t.two_workers), {left, right}).size() == 2);
}

TEST_CASE("ten thousand tensors from elsewhere that are added up one by one take little memory") {
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
    for (const auto& one : received)
      sum = add(in, {.op = "Add", .inputs = {sum, one}});
    auto before = footprint_of(getpid()).resident_kib;
    auto found = find_regions(in);
    auto grown = footprint_of(getpid()).resident_kib - before;
    CHECK(found.count == 2 * count); // the first sum waits for one only
    INFO(grown << " KiB");
    if (size_is_telling)
      CHECK(grown < 48 * 1024);
  }
}

TEST_CASE("regions of random graphs are convex, form no cycle and can all start") {
  auto base = std::random_device{}();
  for (unsigned round = 0; round < 600; ++round) {
    auto seed = base + round;
    INFO("seed " << seed << ", round " << round);
    random_play play{seed, 1 + static_cast<int>(round / 3)};
    auto graph = play.take_graph();
    auto found = find_regions(*graph, cutting(round));
    auto nodes = graph->nodes();
    auto of = [&](const node& node) { return found.of[static_cast<size_t>(node.id())]; };
    auto issued = [&](const node& node) {
      return found.issued_from[static_cast<size_t>(node.id())];
    };

    // The regions that each needs to have ended; a wait leads from where it was issued to its
    // answer.
    std::vector<std::set<uint32_t>> needs(found.count);
    std::vector<int> members(found.count, 0);
    for (const auto& node : nodes) {
      REQUIRE(of(*node) < found.count);
      ++members[of(*node)];
      ++members[issued(*node)];
      if (waits(*node))
        REQUIRE(of(*node) != issued(*node));
      else
        REQUIRE(of(*node) == issued(*node));
      if (of(*node) != issued(*node))
        needs[of(*node)].insert(issued(*node));
      for (auto* from : before(*node))
        if (of(*from) != issued(*node))
          needs[issued(*node)].insert(of(*from));
    }
    CHECK(needs[0].empty());
    for (uint32_t r = 1; r < found.count; ++r)
      CHECK(members[r] > 0);

    // A region starts when all that it needs has ended: if all do, in some order, there is neither
    // a cycle nor a deadlock, and no path leaves a region and comes back.
    std::set<uint32_t> ended;
    for (bool moved = true; moved;) {
      moved = false;
      for (uint32_t r = 0; r < found.count; ++r)
        if (!ended.contains(r) && std::ranges::includes(ended, needs[r])) {
          ended.insert(r);
          moved = true;
        }
    }
    CHECK(ended.size() == found.count);

    // Convex: what lies on a path between two nodes of a region belongs to it.
    for (uint32_t r = 0; r < found.count; ++r) {
      std::vector<bool> after_leaving(nodes.size(), false);
      for (const auto& node : nodes) {
        for (auto* from : before(*node))
          if (after_leaving[static_cast<size_t>(from->id())] ||
              (of(*from) == r && issued(*node) != r))
            after_leaving[static_cast<size_t>(node->id())] = true;
        if (waits(*node) && issued(*node) == r)
          after_leaving[static_cast<size_t>(node->id())] = true;
        if (after_leaving[static_cast<size_t>(node->id())])
          REQUIRE((issued(*node) != r || waits(*node)));
      }
    }
  }
}

} // namespace troupe::test::regions_test
