// All-reduce of a tensor between tasks, each a process of its own on this machine; once per step.
#include "bench/benchmarks.hpp"
#include "bench/task_processes.hpp"
#include "troupe/troupe.hpp"

#include <benchmark/benchmark.h>

namespace troupe::bench {
namespace {

void reduce(benchmark::State& state, int count, int64_t bytes, bool reads_peer_memory) {
  try {
    task_processes tasks{reads_peer_memory ? medium_kind::peer_memory : medium_kind::socket, count};
    graph_builder g;
    std::vector<edge> parts;
    for (int i = 0; i < count; ++i) {
      auto on = g.on(concat("/job:worker/task:", i, "/cpu:0"));
      parts.push_back(identity(g.variable(fill(g, {bytes / 4}, 1.0f))));
    }
    std::vector<target> sums;
    for (const auto& reduced : all_reduce(parts))
      sums.emplace_back(reduced.node);
    auto s = session::connect(tasks.cluster(), {.cluster = {.same_host_reads = reads_peer_memory}});
    s.run(g.initializer());
    auto step = s.prepare({}, {}, sums);
    step.run();
    for (auto _ : state)
      step.run();
    state.SetBytesProcessed(state.iterations() * bytes);
  } catch (const error& e) {
    state.SkipWithError(e.what());
  }
}

} // namespace

void register_collective() {
  for (auto [name, bytes] : {std::pair{"100MB", int64_t{100'000'000}},
                             {"1MB", int64_t{1'000'000}},
                             {"4KB", int64_t{4'000}}})
    for (int count : {2, 4})
      for (bool near : {true, false})
        benchmark::RegisterBenchmark(
            concat("collective/all_reduce_", name, count == 4 ? "_4_tasks" : "",
                   near ? "" : "_by_socket")
                .c_str(),
            [=](benchmark::State& state) { reduce(state, count, bytes, near); })
            ->UseRealTime()
            ->Unit(benchmark::kMillisecond);
}

} // namespace troupe::bench
