// Products of square matrices, in a step and by oneDNN alone. Items are floating-point operations.
#include "bench/benchmarks.hpp"
#include "troupe/troupe.hpp"

#include <benchmark/benchmark.h>
#include <dlfcn.h>
#include <oneapi/dnnl/dnnl.h>

#include <thread>

namespace troupe::bench {
namespace {

void matmul_step(benchmark::State& state, int64_t extent) {
  graph_builder g;
  auto a = g.variable(random_uniform(g, {extent, extent}, dtype::f32, {.seed = 1}));
  auto b = g.variable(random_uniform(g, {extent, extent}, dtype::f32, {.seed = 2}));
  auto product = matmul(a, b);
  auto s = session::local(options());
  s.run(g.initializer());
  auto step = s.prepare({}, {}, {product.node});
  for (auto _ : state)
    step.run();
  state.SetItemsProcessed(state.iterations() * 2 * extent * extent * extent);
}

// oneDNN uses the threads of OpenMP, or one thread if it was built without OpenMP.
bool set_onednn_threads() {
  auto* set = reinterpret_cast<void (*)(int)>(dlsym(RTLD_DEFAULT, "omp_set_num_threads"));
  if (set)
    set(threads > 0 ? threads : static_cast<int>(std::thread::hardware_concurrency()));
  return set || threads == 1;
}

void onednn_matmul(benchmark::State& state, int64_t extent) {
  if (!set_onednn_threads())
    return state.SkipWithError("this oneDNN does not take its threads from OpenMP");
  auto random = [&](int seed) {
    graph_builder g;
    auto s = session::local();
    return s.fetch(random_uniform(g, {extent, extent}, dtype::f32, {.seed = seed}));
  };
  const auto a = random(1), b = random(2), c = random(3);
  for (auto _ : state)
    dnnl_sgemm('N', 'N', extent, extent, extent, 1.0f, a.data<float>(), extent, b.data<float>(),
               extent, 0.0f, c.data<float>(), extent);
  state.SetItemsProcessed(state.iterations() * 2 * extent * extent * extent);
}

} // namespace

void register_matmul() {
  for (auto extent : {64, 128, 256, 512, 1024, 2048}) {
    auto add = [&](const char* family, auto run) {
      benchmark::RegisterBenchmark((family + std::to_string(extent)).c_str(),
                                   [=](benchmark::State& state) { run(state, extent); })
          ->UseRealTime()
          ->MeasureProcessCPUTime();
    };
    add("matmul/", matmul_step);
    add("onednn/", onednn_matmul);
  }
}

} // namespace troupe::bench
