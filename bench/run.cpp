// Whole steps of a local session, measured from the calling thread.
#include "bench/benchmarks.hpp"
#include "troupe/troupe.hpp"

#include <benchmark/benchmark.h>

#include <barrier>
#include <thread>

namespace troupe::bench {
namespace {

using benchmark::State;

/// Feeds a scalar and fetches it.
void identity_step(State& state) {
  graph_builder g;
  auto x = g.placeholder(dtype::f32, shape{}, "x");
  auto s = session::local(options());
  auto step = s.prepare({x}, {identity(x)});
  const auto value = tensor::scalar(1.0f);
  for (auto _ : state)
    benchmark::DoNotOptimize(step.run({value}));
}

/// A null op: the minimal cost of a step.
void one_op_step(State& state) {
  graph_builder g;
  auto* null_op = no_op(g);
  auto s = session::local(options());
  auto step = s.prepare({}, {}, {null_op});
  for (auto _ : state)
    step.run();
}

/// Feeds `count` scalars and fetches their sum.
void feeds_step(State& state, size_t count) {
  graph_builder g;
  std::vector<edge> xs;
  for (size_t i = 0; i < count; ++i)
    xs.push_back(g.placeholder(dtype::f32, shape{}));
  auto s = session::local(options());
  auto step = s.prepare(xs, {add_n(xs)});
  const std::vector<tensor> values(count, tensor::scalar(1.0f));
  for (auto _ : state)
    benchmark::DoNotOptimize(step.run(values));
}

/// Feeds a scalar and fetches `count` sums with it.
void fetches_step(State& state, int count) {
  graph_builder g;
  auto x = g.placeholder(dtype::f32, shape{}, "x");
  std::vector<edge> ys;
  for (int i = 0; i < count; ++i)
    ys.push_back(x + static_cast<float>(i + 1));
  auto s = session::local(options());
  auto step = s.prepare({x}, ys);
  const auto value = tensor::scalar(1.0f);
  for (auto _ : state)
    benchmark::DoNotOptimize(step.run({value}));
}

/// `count` threads run one prepared step concurrently: nine null ops, then the identity of a
/// scalar. Items are steps.
void callers(State& state, int count) {
  const int steps_each = 200'000 / count; // enough to hide the cost of waking the threads
  graph_builder g;
  auto x = g.placeholder(dtype::f32, shape{}, "x");
  node* last = nullptr;
  for (int i = 0; i < 9; ++i) {
    auto later = last ? g.after({last}) : g.after({});
    last = no_op(g);
  }
  auto later = g.after({last});
  auto s = session::local(options());
  auto step = s.prepare({x}, {identity(x)});
  std::barrier round{count + 1};
  std::atomic<bool> done{false};
  std::vector<std::jthread> threads;
  for (int i = 0; i < count; ++i)
    threads.emplace_back([&] {
      const auto value = tensor::scalar(1.0f);
      for (round.arrive_and_wait(); !done; round.arrive_and_wait()) {
        for (int j = 0; j < steps_each; ++j)
          benchmark::DoNotOptimize(step.run({value}));
        round.arrive_and_wait();
      }
    });
  for (auto _ : state) {
    round.arrive_and_wait();
    round.arrive_and_wait();
  }
  done = true;
  round.arrive_and_wait();
  state.SetItemsProcessed(state.iterations() * count * steps_each);
}

/// A training step of the digits classifier: 64-128-10, 32 images. With `traced`, it also records
/// when each node ran.
void mlp_step(State& state, bool traced) {
  graph_builder g;
  auto images = g.placeholder(dtype::f32, {-1, 64}, "images");
  auto labels = g.placeholder(dtype::i32, {-1}, "labels");
  auto layer = [&](edge input, int64_t inputs, int64_t outputs) {
    auto w = g.variable(truncated_normal(g, {inputs, outputs}, dtype::f32, {.seed = 1}) * 0.1);
    auto b = g.variable(fill(g, {outputs}, 0.0f));
    return bias_add(matmul(input, w), b);
  };
  auto logits = layer(relu(layer(images, 64, 128)), 128, 10);
  auto loss = mean(sparse_softmax_cross_entropy_with_logits(logits, labels).loss);
  auto* train = gradient_descent{0.01f}.minimize(loss);
  auto s = session::local(options());
  s.run(g.initializer());
  auto step = s.prepare({images, labels}, {loss}, {train});
  const auto x = tensor::from_values({32, 64}, std::vector<float>(32 * 64, 0.5f));
  std::vector<int32_t> classes(32);
  for (size_t i = 0; i < classes.size(); ++i)
    classes[i] = static_cast<int32_t>(i % 10);
  const auto y = tensor::vector(classes);
  step_statistics statistics;
  const run_options traces{.statistics = traced ? &statistics : nullptr};
  for (auto _ : state)
    benchmark::DoNotOptimize(step.run({x, y}, traces));
  state.SetItemsProcessed(state.iterations() * 32);
}

/// The time to prepare a step of 100,000 nodes that passes cannot reduce: no two are equal, and
/// each has several readers.
void prepare_step(State& state, const pass_options& passes) {
  constexpr size_t nodes = 100'000;
  graph_builder g;
  auto x = g.placeholder(dtype::f32, {4}, "x");
  std::vector<edge> values{x, tanh(x), exp(x)};
  while (values.size() < nodes) {
    auto i = values.size();
    values.push_back(i % 2 ? maximum(values[i - 2], values[i - 3])
                           : minimum(values[i - 1], values[i - 3]));
  }
  auto settings = options();
  settings.passes = passes;
  auto s = session::local(settings);
  for (auto _ : state)
    benchmark::DoNotOptimize(s.prepare({x}, {values.back()}));
  state.SetItemsProcessed(state.iterations() * static_cast<int64_t>(nodes));
}

template <class Case>
void add_run(const char* name, Case run) {
  benchmark::RegisterBenchmark(name, run)->UseRealTime()->MeasureProcessCPUTime();
}

} // namespace

void register_run() {
  add_run("run/identity", identity_step);
  add_run("run/one_op", one_op_step);
  add_run("run/feeds_10", [](State& state) { feeds_step(state, 10); });
  add_run("run/feeds_100", [](State& state) { feeds_step(state, 100); });
  add_run("run/fetches_10", [](State& state) { fetches_step(state, 10); });
  add_run("run/fetches_100", [](State& state) { fetches_step(state, 100); });
  add_run("run/callers_1", [](State& state) { callers(state, 1); });
  add_run("run/callers_2", [](State& state) { callers(state, 2); });
  add_run("run/callers_64", [](State& state) { callers(state, 64); });
  add_run("run/prepare_100000", [](State& state) { prepare_step(state, {}); });
  add_run("run/prepare_100000_without_passes",
          [](State& state) { prepare_step(state, pass_options::none()); });
  add_run("run/mlp_step", [](State& state) { mlp_step(state, false); });
  add_run("run/mlp_step_traced", [](State& state) { mlp_step(state, true); });
}

} // namespace troupe::bench
