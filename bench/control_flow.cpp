// Loops and branches: what a turn costs.
#include "bench/benchmarks.hpp"
#include "troupe/troupe.hpp"

#include <benchmark/benchmark.h>

namespace troupe::bench {
namespace {

using benchmark::State;

constexpr int turns = 10'000;

/// One loop variable that counts; items are turns.
void counter(State& state) {
  graph_builder g;
  auto n = g.placeholder(dtype::i32, {}, "n");
  auto found = while_loop(
      {g.constant(0)}, [&](auto& v) { return less(v[0], n); },
      [](auto& v) { return edges{v[0] + 1}; });
  auto s = session::local(options());
  auto step = s.prepare({n}, found);
  const auto many = tensor::scalar(turns);
  for (auto _ : state)
    benchmark::DoNotOptimize(step.run({many}));
  state.SetItemsProcessed(state.iterations() * turns);
}

/// A hundred loop variables, each of which grows by 1; items are turns.
void hundred_variables(State& state) {
  graph_builder g;
  auto n = g.placeholder(dtype::i32, {}, "n");
  edges initial{g.constant(0)};
  for (int i = 0; i < 100; ++i)
    initial.push_back(g.constant(static_cast<float>(i)));
  auto found = while_loop(
      initial, [&](auto& v) { return less(v[0], n); },
      [](auto& v) {
        edges next{v[0] + 1};
        for (size_t i = 1; i < v.size(); ++i)
          next.push_back(v[i] + 1.0f);
        return next;
      });
  auto s = session::local(options());
  auto step = s.prepare({n}, {found.back()});
  const auto many = tensor::scalar(turns / 10);
  for (auto _ : state)
    benchmark::DoNotOptimize(step.run({many}));
  state.SetItemsProcessed(state.iterations() * (turns / 10));
}

/// A choice between two additions, in a loop; items are turns.
void choices(State& state) {
  graph_builder g;
  auto n = g.placeholder(dtype::i32, {}, "n");
  auto found = while_loop(
      {g.constant(0), g.constant(0)}, [&](auto& v) { return less(v[0], n); },
      [](auto& v) {
        auto more = cond(
            less(v[1], 1000), [&] { return v[1] + 3; }, [&] { return v[1] - 700; });
        return edges{v[0] + 1, more};
      });
  auto s = session::local(options());
  auto step = s.prepare({n}, {found[1]});
  const auto many = tensor::scalar(turns);
  for (auto _ : state)
    benchmark::DoNotOptimize(step.run({many}));
  state.SetItemsProcessed(state.iterations() * turns);
}

} // namespace

void register_control_flow() {
  benchmark::RegisterBenchmark("flow/counter", counter);
  benchmark::RegisterBenchmark("flow/hundred_variables", hundred_variables);
  benchmark::RegisterBenchmark("flow/choices", choices);
}

} // namespace troupe::bench
