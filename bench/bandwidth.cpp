// Ops that do little more than move memory, and plain loops that move as much (after STREAM, by
// J. McCalpin). Rates are bytes read and written per second.
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

// From where tensors have their memory: loops and ops shall meet the same pages.
struct give_back {
  cpu_allocator* to;
  void operator()(float* memory) const { to->deallocate(memory, elements * sizeof(float)); }
};
using floats = std::unique_ptr<float, give_back>;

floats some_floats(float value) {
  auto from = cpu_allocator::make(0, 0);
  floats made{static_cast<float*>(from->allocate(elements * sizeof(float))), {from.get()}};
  if (!made)
    throw error{failure(error_kind::resource_exhausted, "no memory for the plain loops")};
  std::fill_n(made.get(), elements, value);
  return made;
}

/// Calls loop(from, to) for all elements, on as many threads as ops may use.
template <class Loop>
void on_threads(const Loop& loop) {
  auto count = threads > 0 ? threads : static_cast<int>(std::thread::hardware_concurrency());
  std::vector<std::jthread> others;
  for (int i = 1; i < count; ++i)
    others.emplace_back([&, i] { loop(elements * i / count, elements * (i + 1) / count); });
  loop(0, elements / count);
}

void copy(benchmark::State& state) {
  auto a = some_floats(0), b = some_floats(1);
  for (auto _ : state)
    on_threads([&](int64_t from, int64_t to) {
      std::copy(b.get() + from, b.get() + to, a.get() + from);
      benchmark::ClobberMemory();
    });
  state.SetBytesProcessed(state.iterations() * elements * 8);
}

void triad(benchmark::State& state) {
  auto a = some_floats(0), b = some_floats(1), c = some_floats(2);
  for (auto _ : state)
    on_threads([&](int64_t from, int64_t to) {
      auto *into = a.get(), *left = b.get(), *right = c.get();
      for (auto i = from; i < to; ++i)
        into[i] = left[i] + 3.0f * right[i];
      benchmark::ClobberMemory();
    });
  state.SetBytesProcessed(state.iterations() * elements * 12);
}

// For the widest registers there are, as ops are: else it would compute, not wait for memory.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) &&                             \
    !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
__attribute__((target_clones("avx512f", "avx2", "default")))
#endif
uint32_t
combined(const uint32_t* a, int64_t from, int64_t to) {
  uint32_t all = 0;
  for (auto i = from; i < to; ++i)
    all ^= a[i];
  return all;
}

void read(benchmark::State& state) {
  auto a = some_floats(1);
  for (auto _ : state)
    on_threads([&](int64_t from, int64_t to) {
      benchmark::DoNotOptimize(combined(reinterpret_cast<const uint32_t*>(a.get()), from, to));
    });
  state.SetBytesProcessed(state.iterations() * elements * 4);
}

/// What becomes of two matrices.
using formula = edge (*)(edge x, edge y);

void op(benchmark::State& state, formula of, int64_t bytes) {
  graph_builder g;
  auto x = g.variable(fill(g, {extent, extent}, 0.5f));
  auto y = g.variable(fill(g, {extent, extent}, 0.25f));
  auto result = of(x, y);
  auto s = session::local(options());
  s.run(g.initializer());
  auto step = s.prepare({}, {}, {result.node});
  step.run(); // its memory comes from the system
  for (auto _ : state)
    step.run();
  state.SetBytesProcessed(state.iterations() * bytes);
}

template <class Case>
void add_bandwidth(const char* name, Case run) {
  benchmark::RegisterBenchmark(name, run)->UseRealTime()->MeasureProcessCPUTime();
}

void add_bandwidth(const char* name, formula of, int64_t bytes) {
  add_bandwidth(name, [=](benchmark::State& state) { op(state, of, bytes); });
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
