#include "troupe/runtime/placement/late_recv.hpp"

#include "tests/support/catch.hpp"
#include "tests/support/test_ops.hpp"
#include "troupe/runtime/insight/node_times.hpp"
#include "troupe/runtime/passes/extract.hpp"
#include "troupe/runtime/placement/link_costs.hpp"
#include "troupe/runtime/placement/partition.hpp"

#include <algorithm>
#include <random>

namespace troupe::test::late_recv_test {
namespace {

const device_list devices{*device_name::parse("/job:worker/task:0/cpu:0"),
                          *device_name::parse("/job:ps/task:0/cpu:0")};

struct world {
  graph in{ops()};
  node_times measured;
  std::unique_ptr<graph> step;
  std::vector<int> chosen;

  // A variable of this many floats on the ps.
  edge variable(const std::string& name, int64_t size) {
    return add(in, {.op = "Variable",
                    .name = name,
                    .attrs = {{"dtype", dtype::f32}, {"shape", partial_shape{size}}},
                    .device = "/job:ps"});
  }
  edge op(const std::string& op, const std::string& name, const std::vector<edge>& inputs,
          double us, const std::string& device = {}) {
    measured.add({.node = name,
                  .device = "/job:worker/task:0/device:cpu:0",
                  .runs = 1,
                  .mean_ns = us * 1000});
    return add(in, {.op = op, .name = name, .inputs = inputs, .device = device});
  }

  late_requests find(const std::vector<edge>& fetches, const link_costs* links = nullptr) {
    auto closed = extract(in, {.feeds = {}, .fetches = fetches});
    REQUIRE(closed);
    step = std::move(closed->nodes);
    auto placed = place(*step, devices);
    REQUIRE(placed);
    chosen = placed->chosen;
    return find_late_requests(*step, chosen, devices, {.measured = &measured, .links = links});
  }
  // "w2>b" where w2 is requested after b has run.
  std::string text(const late_requests& late) {
    std::vector<std::string> entries;
    for (const auto& [value, trigger] : late)
      entries.push_back(concat(std::get<0>(value)->name(), '>', trigger->name()));
    std::ranges::sort(entries);
    std::string joined;
    for (const auto& entry : entries)
      joined += concat(joined.empty() ? "" : " ", entry);
    return joined;
  }
};

constexpr int64_t large = 100'000; // 400 kB: about 0.4 ms on a default link

} // namespace

TEST_CASE("a large value that is read much later is requested shortly before, a small one is not") {
  world w;
  auto w1 = w.variable("w1", large), w2 = w.variable("w2", large), bias = w.variable("bias", 1);
  auto a = w.op("Neg", "a", {w1}, 5000), b = w.op("Neg", "b", {a}, 5000),
       c = w.op("Neg", "c", {b}, 5000);
  auto d = w.op("Add", "d", {c, w2}, 100);
  auto e = w.op("Add", "e", {d, bias}, 100);
  CHECK(w.text(w.find({e})) == "w2>b");
  link_costs slow{{4e6, 1}}; // a round trip with margin: before a has ended
  CHECK(w.text(w.find({e}, &slow)) == "");
  link_costs fast{{100, 0.001}};
  CHECK(w.text(w.find({e}, &fast)) == "w2>b"); // c is not before the reader of w2
}

TEST_CASE("a value that is computed late, or read at once, is sent as soon as it exists") {
  world w;
  auto w1 = w.variable("w1", large);
  auto remote = w.op("Neg", "there", {w1}, 20'000, "/job:ps");
  auto a = w.op("Neg", "a", {w1}, 100), b = w.op("Neg", "b", {a}, 5000);
  auto c = w.op("Add", "c", {b, remote}, 100);
  CHECK(w.text(w.find({c})) == "");
}

TEST_CASE("a late send waits for the receiver's request, and is not part of a cycle") {
  world w;
  std::vector<edge> layers;
  edge x = w.op("Neg", "first", {w.variable("w0", large)}, 3000);
  for (int i = 1; i < 5; ++i) {
    x = w.op("Add", concat("layer", i), {x, w.variable(concat("w", i), large)}, 3000);
  }
  auto late = w.find({x});
  CHECK(w.text(late) == "w2>first w3>layer1 w4>layer2");
  auto parts = cut(*w.step, w.chosen, devices, {}, {}, f32_transfer::exact, late);
  REQUIRE(parts);
  int waiting = 0;
  for (const auto& part : *parts) {
    REQUIRE(topological_order(*part.nodes));
    for (const auto& node : part.nodes->nodes())
      if (node->op().name == "_Send" && !node->controls().empty()) {
        ++waiting;
        CHECK(part.device == devices[1]);
        for (const auto* predecessor : node->controls())
          CHECK(predecessor->op().name == "_RecvControl");
      }
  }
  CHECK(waiting == 3);
}

TEST_CASE(
    "whatever is sent for late, partitions of random graphs wait for each other in no cycle") {
  for (unsigned seed = 1; seed <= 200; ++seed) {
    INFO("seed " << seed);
    std::mt19937 random{seed};
    auto below = [&](size_t n) { return std::uniform_int_distribution<size_t>{0, n - 1}(random); };
    world w;
    std::vector<edge> values{w.variable("v0", large), w.variable("v1", large)};
    for (size_t i = 0; i < 30; ++i)
      values.push_back(
          w.op("Add", concat('n', i), {values[below(values.size())], values[below(values.size())]},
               static_cast<double>(below(10) * 1000), below(2) ? "/job:ps" : "/job:worker"));
    auto late = w.find({values.back(), values[values.size() - 2]});
    auto parts = cut(*w.step, w.chosen, devices, {}, {}, f32_transfer::exact, late);
    REQUIRE(parts);
    // The partitions joined, with an edge from each send to its receive.
    std::map<int64_t, size_t> sends;
    std::vector<std::vector<size_t>> successors;
    std::vector<const node*> nodes;
    std::map<const node*, size_t> index;
    for (const auto& part : *parts)
      for (const auto& node : part.nodes->nodes()) {
        index[node.get()] = nodes.size();
        nodes.push_back(node.get());
        if (node->op().name.starts_with("_Send"))
          sends[node->attr<int64_t>("key")] = index[node.get()];
      }
    std::vector<int> missing(nodes.size());
    successors.resize(nodes.size());
    auto order = [&](size_t earlier, size_t later) {
      successors[earlier].push_back(later);
      ++missing[later];
    };
    for (const auto* node : nodes) {
      for (const auto& input : node->inputs())
        order(index.at(input.node), index.at(node));
      for (const auto* predecessor : node->controls())
        order(index.at(predecessor), index.at(node));
      if (node->op().name.starts_with("_Recv"))
        order(sends.at(node->attr<int64_t>("key")), index.at(node));
    }
    std::vector<size_t> ready;
    for (size_t i = 0; i < nodes.size(); ++i)
      if (missing[i] == 0)
        ready.push_back(i);
    for (size_t i = 0; i < ready.size(); ++i)
      for (auto later : successors[ready[i]])
        if (--missing[later] == 0)
          ready.push_back(later);
    CHECK(ready.size() == nodes.size());
  }
}

} // namespace troupe::test::late_recv_test
