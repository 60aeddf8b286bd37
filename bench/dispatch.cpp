// Null ops: all that is measured is the runtime itself.
#include "troupe/bench/benchmarks.hpp"
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

void run_nodes(benchmark::State& state, int chains, int length, bool traced = false) {
  graph_builder g;
  std::vector<node*> ends;
  for (int i = 0; i < chains; ++i)
    ends.push_back(chain(g, length));
  auto s = session::local();
  auto step = s.prepare({}, {}, {chains == 1 ? ends.front() : g.group(ends)});
  step_statistics statistics;
  const run_options options{.statistics = traced ? &statistics : nullptr};
  for (auto _ : state)
    step.run({}, options);
  state.SetItemsProcessed(state.iterations() * chains * length);
}

} // namespace

void register_dispatch() {
  benchmark::RegisterBenchmark("dispatch/chain_1000",
                               [](benchmark::State& state) { run_nodes(state, 1, 1000); });
  benchmark::RegisterBenchmark("dispatch/chain_1000_traced", [](benchmark::State& state) {
    run_nodes(state, 1, 1000, true);
  });
  benchmark::RegisterBenchmark("dispatch/wide_16x1024", [](benchmark::State& state) {
    run_nodes(state, 16, 1024);
  })->UseRealTime();
}

} // namespace troupe::bench
