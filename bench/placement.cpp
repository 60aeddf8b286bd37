// The time to place a large step, and the effect of placement and of late receives on two tasks,
// each a process of its own on this machine.
#include "bench/benchmarks.hpp"
#include "bench/task_processes.hpp"
#include "troupe/runtime/passes/extract.hpp"
#include "troupe/runtime/placement/place.hpp"
#include "troupe/troupe.hpp"

#include <benchmark/benchmark.h>

#include <algorithm>
#include <random>

namespace troupe::bench {
namespace {

// Layers of element-wise nodes, each with two inputs from the layer before. One node in ten
// requests a job; one in fifty is colocated with another node.
step_graph large_step(int nodes) {
  graph_builder g;
  std::mt19937 random{1};
  auto x = g.placeholder(dtype::f32, {1000, 1000}, "x");
  std::vector<edge> before(100, x), layer;
  std::vector<edge> fetches;
  for (int i = 0; i < nodes; ++i) {
    auto random_input = [&] { return before[random() % before.size()]; };
    node_spec spec{.op = "Add", .inputs = {random_input(), random_input()}};
    if (random() % 10 == 0)
      spec.device = random() % 2 ? "/job:ps" : "/job:worker";
    else if (random() % 50 == 0)
      spec.attrs["_class"] = std::vector<std::string>{"loc:@" + random_input().node->name()};
    layer.push_back(must(g.add(std::move(spec)))->output(0));
    if (layer.size() == before.size())
      before = std::exchange(layer, {});
  }
  return must(extract(g, {.feeds = {x}, .fetches = before, .targets = {}}));
}

void place_large(benchmark::State& state, int nodes, int devices, placement_strategy strategy) {
  try {
    auto step = large_step(nodes);
    device_list candidates;
    for (int i = 0; i < devices; ++i)
      candidates.push_back({i < devices / 10 ? "ps" : "worker", i, "cpu", 0});
    std::ranges::stable_partition(candidates,
                                  [](const auto& device) { return device.job == "worker"; });
    for (auto _ : state)
      benchmark::DoNotOptimize(
          must(place(*step.nodes, candidates, {.strategy = strategy})).chosen.data());
    state.counters["nodes"] = static_cast<double>(step.nodes->nodes().size());
  } catch (const error& e) {
    state.SkipWithError(e.what());
  }
}

// Two branches of products that are independent of each other.
void two_branches(benchmark::State& state, placement_strategy strategy) {
  try {
    task_processes tasks;
    graph_builder g;
    constexpr int64_t size = 512;
    auto x = g.placeholder(dtype::f32, {size, size}, "x");
    edge left = x, right = x;
    for (int i = 0; i < 8; ++i) {
      left = matmul(left, x);
      right = matmul(x, right);
    }
    auto total = sum(left) + sum(right);
    auto s = session::connect(
        tasks.cluster(), {.insight = {.sample_every = 1}, .placement = {.strategy = strategy}});
    auto value = tensor::vector(std::vector<float>(size * size, 1e-3f)).reshaped({size, size});
    for (int i = 0; i < 3; ++i) // the cost model measures these steps
      s.prepare({x}, {total}).run({value});
    auto step = s.prepare({x}, {total});
    step.run({value});
    for (auto _ : state)
      step.run({value});
    auto expected = s.explain_placement({x}, {total});
    state.counters["expected_ms"] = expected.total_ns / 1e6;
  } catch (const error& e) {
    state.SkipWithError(e.what());
  }
}

// Layers with weights, 4 MB each, on another task.
void far_weights(benchmark::State& state, recv_schedule receives) {
  try {
    task_processes tasks;
    graph_builder g;
    constexpr int layers = 16;
    constexpr int64_t size = 1024, batch = 256;
    auto x = g.placeholder(dtype::f32, {batch, size}, "x");
    std::vector<variable_handle> weights;
    {
      auto on = g.on("/job:worker/task:0");
      for (int i = 0; i < layers; ++i)
        weights.push_back(g.variable(fill(g, {size, size}, 1.0f / size)));
    }
    auto* init = g.initializer();
    auto on = g.on("/job:worker/task:1");
    edge y = x;
    for (const auto& weight : weights)
      y = relu(matmul(y, weight));
    auto last = sum(y);
    auto s = session::connect(
        tasks.cluster(), {.insight = {.sample_every = 1}, .placement = {.receives = receives}});
    s.run(init);
    auto value = tensor::vector(std::vector<float>(batch * size, 1.0f)).reshaped({batch, size});
    for (int i = 0; i < 3; ++i) // the cost model measures these steps
      s.prepare({x}, {last}).run({value});
    auto step = s.prepare({x}, {last});
    step.run({value});
    for (auto _ : state)
      step.run({value});
    state.counters["peak_sender"] = tasks.peak_memory(0);
    state.counters["peak_receiver"] = tasks.peak_memory(1);
  } catch (const error& e) {
    state.SkipWithError(e.what());
  }
}

template <class Run, class... Arguments>
void add(const char* name, Run run, Arguments... arguments) {
  benchmark::RegisterBenchmark(name, [=](benchmark::State& state) { run(state, arguments...); })
      ->UseRealTime()
      ->Unit(benchmark::kMillisecond);
}

} // namespace

void register_placement() {
  using enum placement_strategy;
  add("place/100k", place_large, 125'000, 1000, greedy);
  add("place/100k_first_worker", place_large, 125'000, 1000, first_worker);
  add("place/1k", place_large, 1000, 10, greedy);
  add("place/branches_first_worker", two_branches, first_worker);
  add("place/branches_greedy", two_branches, greedy);
  add("receive/eager", far_weights, recv_schedule::eager);
  add("receive/late", far_weights, recv_schedule::late);
}

} // namespace troupe::bench
