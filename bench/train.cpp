// Training steps of the nets of nets.json: gradient descent on one batch, which is fed anew each
// step. Items are samples.
#include "bench/benchmarks.hpp"
#include "bench/nets.hpp"

#include "troupe/api/error.hpp"
#include "troupe/api/library.hpp"
#include "troupe/runtime/device/accelerator.hpp"

#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstdio>
#include <fstream>

namespace troupe::bench {
namespace {

// What steps do to the GPU: the peak of its memory so far, and of one more step, which statistics
// make launch kernel by kernel, how many it launches and how long these keep the GPU busy.
void describe_gpu(trainer& model, benchmark::State& state) {
  auto gpu = value_or_throw(make_devices({.intra_op_threads = 1, .gpus = 1})).back();
  state.counters["peak_bytes"] = static_cast<double>(gpu->statistics().peak);
  state.counters["replays"] = static_cast<double>(gpu->as_accelerator()->replays().replays);
  step_statistics found;
  model.step({.statistics = &found});
  std::vector<std::pair<int64_t, int64_t>> busy;
  for (const auto& task : found.tasks)
    for (const auto& span : task.spans)
      if (span.thread >= device_tracks && span.thread < copy_track(0, copy_stream::to_host) &&
          task.subject_of(span).kind == span_kind::node)
        busy.emplace_back(span.begin_ns, span.end_ns);
  std::ranges::sort(busy);
  int64_t worked = 0, last = INT64_MIN;
  for (auto [begin, end] : busy) {
    worked += std::max<int64_t>(0, end - std::max(begin, last));
    last = std::max(last, end);
  }
  state.counters["launches"] = static_cast<double>(busy.size());
  state.counters["busy_seconds"] = static_cast<double>(worked) * 1e-9;
}

void train(benchmark::State& state, const net& of) {
  trainer model{of};
  // Memory comes from the system, GPUs try algorithms, and record what they will repeat.
  state.counters["loss_0"] = to_scalar<float>(model.step());
  state.counters["loss_1"] = to_scalar<float>(model.step());
  for (int i = 0; gpus > 0 && i < 4; ++i)
    model.step();
  for (auto _ : state)
    benchmark::DoNotOptimize(model.step());
  state.SetItemsProcessed(state.iterations() * model.samples());
  if (gpus > 0)
    describe_gpu(model, state);
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
