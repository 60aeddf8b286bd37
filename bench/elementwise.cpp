// Ten element-wise ops, one after the other, on a vector that lies in a variable.
#include "bench/benchmarks.hpp"
#include "troupe/troupe.hpp"

#include <benchmark/benchmark.h>

namespace troupe::bench {
namespace {

// No two adjacent ops can be folded into one by algebra.
edge ten_ops(edge x) {
  x = relu(x * 1.01f + 0.5f);
  x = square(x * 0.5f - 0.25f);
  return abs(-(x + 0.125f)) * 0.75f;
}

void elementwise_step(benchmark::State& state, int64_t elements, bool fused) {
  graph_builder g;
  auto x = g.variable(fill(g, {elements}, 0.5f));
  auto last = ten_ops(x);
  auto settings = options();
  settings.passes.fuse = fused;
  auto s = session::local(settings);
  s.run(g.initializer());
  auto step = s.prepare({}, {}, {last.node});
  for (auto _ : state)
    step.run();
  state.SetItemsProcessed(state.iterations() * elements * 10);
}

void add_elementwise(const char* name, int64_t elements, bool fused = true) {
  benchmark::RegisterBenchmark(
      name, [=](benchmark::State& state) { elementwise_step(state, elements, fused); })
      ->UseRealTime()
      ->MeasureProcessCPUTime();
}

} // namespace

void register_elementwise() {
  add_elementwise("elementwise/1K", 1 << 10);
  add_elementwise("elementwise/32K", 1 << 15);
  add_elementwise("elementwise/1M", 1 << 20);
  add_elementwise("elementwise/16M", 1 << 24);
  add_elementwise("elementwise/1K_unfused", 1 << 10, false);
  add_elementwise("elementwise/32K_unfused", 1 << 15, false);
  add_elementwise("elementwise/1M_unfused", 1 << 20, false);
  add_elementwise("elementwise/16M_unfused", 1 << 24, false);
}

} // namespace troupe::bench
