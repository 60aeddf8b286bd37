// Steps of null ops: they measure only the runtime.
#include "bench/benchmarks.hpp"
#include "troupe/troupe.hpp"

#include <benchmark/benchmark.h>

namespace troupe::bench {
namespace {

node* chain(graph_builder& g, int length) {
  auto* last = no_op(g);
  for (int i = 1; i < length; ++i) {
    auto later = g.after({last});
    last = no_op(g);
  }
  return last;
}

struct dispatch_options {
  bool traced = false, by_node = false;
};

void run_nodes(benchmark::State& state, int chains, int length, const dispatch_options& measured) {
  graph_builder g;
  std::vector<node*> ends;
  for (int i = 0; i < chains; ++i)
    ends.push_back(chain(g, length));
  auto settings = options();
  settings.passes = pass_options::none(); // passes would remove null ops, since no node reads them
  settings.insight.region_per_node = measured.by_node;
  auto s = session::local(settings);
  auto step = s.prepare({}, {}, {chains == 1 ? ends.front() : g.group(ends)});
  step_statistics statistics;
  const run_options traces{.statistics = measured.traced ? &statistics : nullptr};
  for (auto _ : state)
    step.run({}, traces);
  state.SetItemsProcessed(state.iterations() * chains * length);
}

void add_dispatch(const char* name, int chains, int length, dispatch_options measured = {}) {
  benchmark::RegisterBenchmark(
      name, [=](benchmark::State& state) { run_nodes(state, chains, length, measured); })
      ->UseRealTime()
      ->MeasureProcessCPUTime();
}

} // namespace

void register_dispatch() {
  add_dispatch("dispatch/chain_1000", 1, 1000);
  add_dispatch("dispatch/chain_1000_traced", 1, 1000, {.traced = true});
  add_dispatch("dispatch/chain_1000_by_node", 1, 1000, {.by_node = true});
  add_dispatch("dispatch/chain_100000", 1, 100'000);
  add_dispatch("dispatch/wide_16x1024", 16, 1024);
  add_dispatch("dispatch/wide_1000x100", 1000, 100);
}

} // namespace troupe::bench
