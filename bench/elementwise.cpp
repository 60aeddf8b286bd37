// Ten element-wise ops, one after the other, on a vector that lies in a variable.
#include "troupe/bench/benchmarks.hpp"
#include "troupe/troupe.hpp"

#include <benchmark/benchmark.h>

namespace troupe::bench {
namespace {

// No two neighbours of it can be folded into one op by algebra.
edge ten_ops(edge x) {
  x = relu(x * 1.01f + 0.5f);
  x = square(x * 0.5f - 0.25f);
  return abs(-(x + 0.125f)) * 0.75f;
}

void elementwise_step(benchmark::State& state, int64_t elements) {
  graph_builder g;
  auto x = g.variable(fill(g, {elements}, 0.5f));
  auto last = ten_ops(x);
  auto s = session::local(options());
  s.run(g.initializer());
  auto step = s.prepare({}, {}, {last.node});
  for (auto _ : state)
    step.run();
  state.SetItemsProcessed(state.iterations() * elements * 10);
}

void add(const char* name, int64_t elements) {
  benchmark::RegisterBenchmark(name,
                               [=](benchmark::State& state) { elementwise_step(state, elements); })
      ->UseRealTime()
      ->MeasureProcessCPUTime();
}

} // namespace

void register_elementwise() {
  add("elementwise/1K", 1 << 10);
  add("elementwise/32K", 1 << 15);
  add("elementwise/1M", 1 << 20);
  add("elementwise/16M", 1 << 24);
}

} // namespace troupe::bench
