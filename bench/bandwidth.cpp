// Ops whose time is the time to move memory, and plain loops that move as many bytes (after STREAM,
// by J. McCalpin). Rates are bytes read and written per second.
#include "bench/benchmarks.hpp"
#include "troupe/devices/cpu/cpu_allocator.hpp"
#include "troupe/troupe.hpp"

#include <benchmark/benchmark.h>

#include <algorithm>
#include <memory>
#include <thread>

namespace troupe::bench {
namespace {

constexpr int64_t extent = 4096, elements = extent * extent;

// Memory of the allocator that tensors use: loops and ops must run on pages of the same kind.
struct deallocate_floats {
  cpu_allocator* allocator;
  void operator()(float* memory) const { allocator->deallocate(memory, elements * sizeof(float)); }
};
using floats = std::unique_ptr<float, deallocate_floats>;

floats filled_floats(float value) {
  auto allocator = cpu_allocator::make(0, 0);
  floats values{static_cast<float*>(allocator->allocate(elements * sizeof(float))),
                {allocator.get()}};
  if (!values)
    throw error{failure(error_kind::resource_exhausted, "no memory for the plain loops")};
  std::fill_n(values.get(), elements, value);
  return values;
}

/// Calls loop(begin, end) for ranges that cover all elements, on as many threads as ops may use.
template <class Loop>
void on_threads(const Loop& loop) {
  auto count = threads > 0 ? threads : static_cast<int>(std::thread::hardware_concurrency());
  std::vector<std::jthread> others;
  for (int i = 1; i < count; ++i)
    others.emplace_back([&, i] { loop(elements * i / count, elements * (i + 1) / count); });
  loop(0, elements / count);
}

void copy(benchmark::State& state) {
  auto a = filled_floats(0), b = filled_floats(1);
  for (auto _ : state)
    on_threads([&](int64_t begin, int64_t end) {
      std::copy(b.get() + begin, b.get() + end, a.get() + begin);
      benchmark::ClobberMemory();
    });
  state.SetBytesProcessed(state.iterations() * elements * 8);
}

void triad(benchmark::State& state) {
  auto a = filled_floats(0), b = filled_floats(1), c = filled_floats(2);
  for (auto _ : state)
    on_threads([&](int64_t begin, int64_t end) {
      auto *result = a.get(), *left = b.get(), *right = c.get();
      for (auto i = begin; i < end; ++i)
        result[i] = left[i] + 3.0f * right[i];
      benchmark::ClobberMemory();
    });
  state.SetBytesProcessed(state.iterations() * elements * 12);
}

// Compiled for the widest registers of the machine, as ops are: otherwise the loop would be bound
// by computation, not by memory.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) &&                             \
    !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
__attribute__((target_clones("avx512f", "avx2", "default")))
#endif
uint32_t
xor_of(const uint32_t* values, int64_t begin, int64_t end) {
  uint32_t result = 0;
  for (auto i = begin; i < end; ++i)
    result ^= values[i];
  return result;
}

void read(benchmark::State& state) {
  auto a = filled_floats(1);
  for (auto _ : state)
    on_threads([&](int64_t begin, int64_t end) {
      benchmark::DoNotOptimize(xor_of(reinterpret_cast<const uint32_t*>(a.get()), begin, end));
    });
  state.SetBytesProcessed(state.iterations() * elements * 4);
}

/// Defines the measured op, whose inputs are two matrices.
using define_op = edge (*)(edge x, edge y);

void op(benchmark::State& state, define_op define, int64_t bytes) {
  graph_builder g;
  auto x = g.variable(fill(g, {extent, extent}, 0.5f));
  auto y = g.variable(fill(g, {extent, extent}, 0.25f));
  auto result = define(x, y);
  auto s = session::local(options());
  s.run(g.initializer());
  auto step = s.prepare({}, {}, {result.node});
  step.run(); // the first step allocates its memory from the system
  for (auto _ : state)
    step.run();
  state.SetBytesProcessed(state.iterations() * bytes);
}

template <class Case>
void add_bandwidth(const char* name, Case run) {
  benchmark::RegisterBenchmark(name, run)->UseRealTime()->MeasureProcessCPUTime();
}

void add_bandwidth(const char* name, define_op define, int64_t bytes) {
  add_bandwidth(name, [=](benchmark::State& state) { op(state, define, bytes); });
}

} // namespace

void register_bandwidth() {
  add_bandwidth("stream/copy", copy);
  add_bandwidth("stream/triad", triad);
  add_bandwidth("stream/read", read);
  add_bandwidth(
      "elementwise/add_16M", [](edge x, edge y) { return x + y; }, elements * 12);
  add_bandwidth(
      "elementwise/relu_16M", [](edge x, edge) { return relu(x); }, elements * 8);
  add_bandwidth(
      "reduce/sum_16M", [](edge x, edge) { return sum(x); }, elements * 4);
  add_bandwidth(
      "reduce/max_16M", [](edge x, edge) { return max(x); }, elements * 4);
  add_bandwidth(
      "reduce/rows_16M", [](edge x, edge) { return sum(x, {1}); }, elements * 4);
  add_bandwidth(
      "reduce/columns_16M", [](edge x, edge) { return sum(x, {0}); }, elements * 4);
}

} // namespace troupe::bench
