// Whole steps of a local session, from the calling thread's point of view.
#include "troupe/bench/benchmarks.hpp"
#include "troupe/troupe.hpp"

#include <benchmark/benchmark.h>

namespace troupe::bench {
namespace {

/// Feeds one scalar and fetches it again.
void identity_step(benchmark::State& state) {
  graph_builder g;
  auto x = g.placeholder(dtype::f32, shape{}, "x");
  auto s = session::local();
  auto step = s.prepare({x}, {identity(x)});
  const auto value = tensor::scalar(1.0f);
  for (auto _ : state)
    benchmark::DoNotOptimize(step.run({value}));
}

/// One training step of the digits classifier: 64-128-10, 32 images. Traced, it also tells when each
/// node ran.
void mlp_step(benchmark::State& state, bool traced) {
  graph_builder g;
  auto images = g.placeholder(dtype::f32, {-1, 64}, "images");
  auto labels = g.placeholder(dtype::i32, {-1}, "labels");
  auto layer = [&](edge from, int64_t in, int64_t out) {
    auto w = g.variable(truncated_normal(g, {in, out}, dtype::f32, {.seed = 1}) * 0.1);
    auto b = g.variable(fill(g, {out}, 0.0f));
    return bias_add(matmul(from, w), b);
  };
  auto logits = layer(relu(layer(images, 64, 128)), 128, 10);
  auto loss = mean(sparse_softmax_cross_entropy_with_logits(logits, labels).loss);
  auto* train = gradient_descent{0.01f}.minimize(loss);
  auto s = session::local();
  s.run(g.initializer());
  auto step = s.prepare({images, labels}, {loss}, {train});
  const auto x = tensor::of({32, 64}, std::vector<float>(32 * 64, 0.5f));
  std::vector<int32_t> classes(32);
  for (size_t i = 0; i < classes.size(); ++i)
    classes[i] = static_cast<int32_t>(i % 10);
  const auto y = tensor::vector(classes);
  step_statistics statistics;
  const run_options options{.statistics = traced ? &statistics : nullptr};
  for (auto _ : state)
    benchmark::DoNotOptimize(step.run({x, y}, options));
  state.SetItemsProcessed(state.iterations() * 32);
}

} // namespace

void register_run() {
  benchmark::RegisterBenchmark("run/identity", identity_step)->UseRealTime();
  for (bool traced : {false, true})
    benchmark::RegisterBenchmark(traced ? "run/mlp_step_traced" : "run/mlp_step",
                                 [traced](benchmark::State& state) { mlp_step(state, traced); })
        ->UseRealTime();
}

} // namespace troupe::bench
