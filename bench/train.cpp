// Training steps of the nets of nets.json: gradient descent on one batch, which is fed anew each
// step. Items are samples.
#include "troupe/bench/benchmarks.hpp"
#include "troupe/bench/nets.hpp"

#include <benchmark/benchmark.h>

#include <cstdio>
#include <fstream>

namespace troupe::bench {
namespace {

void train(benchmark::State& state, const net& of) {
  trainer model{of};
  model.step(); // its memory comes from the system
  for (auto _ : state)
    benchmark::DoNotOptimize(model.step());
  state.SetItemsProcessed(state.iterations() * model.samples());
}

// Not getrusage's: that of a process begins with its parent's.
long peak_kibibytes() {
  std::ifstream status{"/proc/self/status"};
  for (std::string line; std::getline(status, line);)
    if (line.starts_with("VmHWM:"))
      return std::atol(line.c_str() + 6);
  return -1;
}

} // namespace

void register_train() {
  for (auto& one : all_nets())
    benchmark::RegisterBenchmark(one.name.c_str(),
                                 [&](benchmark::State& state) { train(state, one); })
        ->UseRealTime()
        ->MeasureProcessCPUTime();
}

void print_peak_memory(const char* name) {
  trainer model{net_called(name)};
  for (int i = 0; i < 50; ++i)
    model.step();
  std::printf("[{\"name\": \"memory/%s\", \"bytes\": %ld}]\n", name, peak_kibibytes() * 1024);
}

void print_losses(const char* name) {
  trainer model{net_called(name)};
  auto first = to_scalar<float>(model.step());
  auto second = to_scalar<float>(model.step());
  std::printf("{\"parameters\": %ld, \"losses\": [%.7g, %.7g]}\n",
              static_cast<long>(model.parameters()), first, second);
}

} // namespace troupe::bench
