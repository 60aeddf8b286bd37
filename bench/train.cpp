// Training steps of the nets of nets.json: gradient descent on one batch, which is fed in each
// step. Items are samples.
#include "bench/benchmarks.hpp"
#include "bench/nets.hpp"

#include "troupe/api/error.hpp"
#include "troupe/api/internal/library.hpp"
#include "troupe/runtime/device/accelerator.hpp"

#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <map>

namespace troupe::bench {
namespace {

// Prints the ops or nodes that kept the GPU busy longest, the longest first.
void print_slowest(const std::map<std::string, std::pair<int, int64_t>>& times) {
  std::vector<std::pair<int64_t, std::string>> lines;
  for (const auto& [name, spent] : times)
    lines.emplace_back(spent.second, concat(name, " (", spent.first, ")"));
  std::ranges::sort(lines, std::greater{});
  lines.resize(std::min(lines.size(), static_cast<size_t>(slowest)));
  for (const auto& [ns, name] : lines)
    std::fprintf(stderr, "%10.1f us  %s\n", static_cast<double>(ns) * 1e-3, name.c_str());
}

// Counters of the GPU: the peak of its memory so far; and of another step, with statistics, which
// make it launch kernel by kernel: the number of launches and the time that they keep the GPU busy.
void describe_gpu(trainer& model, benchmark::State& state) {
  auto gpu = value_or_throw(make_devices({.intra_op_threads = 1, .gpus = 1})).back();
  state.counters["peak_bytes"] = static_cast<double>(gpu->statistics().peak);
  state.counters["replays"] = static_cast<double>(gpu->as_accelerator()->replays().replays);
  step_statistics statistics;
  model.step({.statistics = &statistics});
  std::vector<std::pair<int64_t, int64_t>> busy;
  std::map<std::string, std::pair<int, int64_t>> by_op, by_node;
  for (const auto& task : statistics.tasks)
    for (const auto& span : task.spans) {
      const auto& subject = task.subject_of(span);
      if (span.thread < device_tracks || span.thread >= copy_track(0, copy_stream::to_host) ||
          subject.kind != span_kind::node)
        continue;
      busy.emplace_back(span.begin_ns, span.end_ns);
      for (auto* spent : {&by_op[subject.op], &by_node[concat(subject.op, ' ', subject.name)]}) {
        ++spent->first;
        spent->second += span.end_ns - span.begin_ns;
      }
    }
  print_slowest(by_op);
  print_slowest(by_node);
  std::ranges::sort(busy);
  int64_t busy_ns = 0, last = INT64_MIN;
  for (auto [begin, end] : busy) {
    busy_ns += std::max<int64_t>(0, end - std::max(begin, last));
    last = std::max(last, end);
  }
  state.counters["launches"] = static_cast<double>(busy.size());
  state.counters["busy_seconds"] = static_cast<double>(busy_ns) * 1e-9;
}

void train(benchmark::State& state, const net& description) {
  trainer model{description};
  // In the first steps, memory comes from the system, and GPUs try algorithms and record graphs.
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

// The peak of this process only: that of getrusage begins with the peak of the parent process.
long peak_kibibytes() {
  std::ifstream status{"/proc/self/status"};
  for (std::string line; std::getline(status, line);)
    if (line.starts_with("VmHWM:"))
      return std::atol(line.c_str() + 6);
  return -1;
}

} // namespace

void register_train() {
  for (auto& known : all_nets())
    benchmark::RegisterBenchmark(known.name.c_str(),
                                 [&](benchmark::State& state) { train(state, known); })
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
