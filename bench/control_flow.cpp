// Loops and branches: what a turn costs.
#include "bench/benchmarks.hpp"
#include "troupe/troupe.hpp"

#include <benchmark/benchmark.h>

namespace troupe::bench {
namespace {

using benchmark::State;

constexpr int turns = 10'000;

/// One loop variable that counts; items are turns.
void counter(State& state) {
  graph_builder g;
  auto n = g.placeholder(dtype::i32, {}, "n");
  auto found = while_loop(
      {g.constant(0)}, [&](auto& v) { return less(v[0], n); },
      [](auto& v) { return edges{v[0] + 1}; });
  auto s = session::local(options());
  auto step = s.prepare({n}, found);
  const auto many = tensor::scalar(turns);
  for (auto _ : state)
    benchmark::DoNotOptimize(step.run({many}));
  state.SetItemsProcessed(state.iterations() * turns);
}

/// A hundred loop variables, each of which grows by 1; items are turns.
void hundred_variables(State& state) {
  graph_builder g;
  auto n = g.placeholder(dtype::i32, {}, "n");
  edges initial{g.constant(0)};
  for (int i = 0; i < 100; ++i)
    initial.push_back(g.constant(static_cast<float>(i)));
  auto found = while_loop(
      initial, [&](auto& v) { return less(v[0], n); },
      [](auto& v) {
        edges next{v[0] + 1};
        for (size_t i = 1; i < v.size(); ++i)
          next.push_back(v[i] + 1.0f);
        return next;
      });
  auto s = session::local(options());
  auto step = s.prepare({n}, {found.back()});
  const auto many = tensor::scalar(turns / 10);
  for (auto _ : state)
    benchmark::DoNotOptimize(step.run({many}));
  state.SetItemsProcessed(state.iterations() * (turns / 10));
}

/// A choice between two additions, in a loop; items are turns.
void choices(State& state) {
  graph_builder g;
  auto n = g.placeholder(dtype::i32, {}, "n");
  auto found = while_loop(
      {g.constant(0), g.constant(0)}, [&](auto& v) { return less(v[0], n); },
      [](auto& v) {
        auto more = cond(
            less(v[1], 1000), [&] { return v[1] + 3; }, [&] { return v[1] - 700; });
        return edges{v[0] + 1, more};
      });
  auto s = session::local(options());
  auto step = s.prepare({n}, {found[1]});
  const auto many = tensor::scalar(turns);
  for (auto _ : state)
    benchmark::DoNotOptimize(step.run({many}));
  state.SetItemsProcessed(state.iterations() * turns);
}

/// A scan over 614 slices that carries 60 numbers, and its gradient; items are turns.
void scan_gradient(State& state) {
  constexpr int64_t length = 614;
  constexpr size_t carried = 60;
  graph_builder g;
  auto x = g.placeholder(dtype::f32, {length}, "x");
  edges initial;
  for (size_t i = 0; i < carried; ++i)
    initial.push_back(g.constant(0.01f * static_cast<float>(i)));
  auto last = scan(initial, {x}, [](auto& carry, auto& slices) -> scan_turn {
                edges next;
                for (size_t i = 0; i < carried; ++i)
                  next.push_back(tanh(carry[i] * 0.9f + carry[(i + 1) % carried] * slices[0]));
                return {next, {}};
              }).carry;
  auto loss = last[0];
  for (size_t i = 1; i < carried; ++i)
    loss = loss + last[i];
  auto dx = g.gradients(loss, {x});
  auto s = session::local(options());
  auto step = s.prepare({x}, {loss, dx[0]});
  const auto at = tensor::of(shape{length}, std::vector<float>(length, 0.1f));
  for (auto _ : state)
    benchmark::DoNotOptimize(step.run({at}));
  state.SetItemsProcessed(state.iterations() * length);
}

/// An LSTM of 128 units over 100 steps of 16 sequences, and the gradient of its weights; items are
/// steps.
void dynamic_lstm(State& state) {
  constexpr int64_t length = 100, batch = 16, units = 128;
  graph_builder g;
  auto x = g.placeholder(dtype::f32, {-1, batch, units}, "x");
  auto lengths = g.placeholder(dtype::i32, {batch}, "lengths");
  auto w = g.variable(
      tensor::of(shape{2 * units, 4 * units}, std::vector<float>(8 * units * units, 0.01f)), "w");
  auto zeros = g.constant(tensor::of(shape{batch, units}, std::vector<float>(batch * units)));
  auto net = dynamic_rnn(
      x, {zeros, zeros},
      [&](edge now, const edges& before) -> scan_turn {
        auto gates = split(g.constant(1), matmul(concatenate(edges{now, before[0]}, 1), w), 4);
        auto cells = before[1] * sigmoid(gates[2] + 1.0f) + sigmoid(gates[0]) * tanh(gates[1]);
        auto output = tanh(cells) * sigmoid(gates[3]);
        return {{output, cells}, {output}};
      },
      {.lengths = lengths});
  auto loss = sum(net.outputs[0] * net.outputs[0]);
  auto dw = g.gradients(loss, {w});
  auto s = session::local(options());
  s.run(g.initializer());
  auto step = s.prepare({x, lengths}, {loss, dw[0]});
  const auto at =
      tensor::of(shape{length, batch, units}, std::vector<float>(length * batch * units, 0.1f));
  const auto all = tensor::vector(std::vector<int32_t>(batch, length));
  for (auto _ : state)
    benchmark::DoNotOptimize(step.run({at, all}));
  state.SetItemsProcessed(state.iterations() * length);
}

} // namespace

void register_control_flow() {
  benchmark::RegisterBenchmark("flow/scan_gradient", scan_gradient)->Unit(benchmark::kMillisecond);
  benchmark::RegisterBenchmark("flow/dynamic_lstm", dynamic_lstm)->Unit(benchmark::kMillisecond);
  benchmark::RegisterBenchmark("flow/counter", counter);
  benchmark::RegisterBenchmark("flow/hundred_variables", hundred_variables);
  benchmark::RegisterBenchmark("flow/choices", choices);
}

} // namespace troupe::bench
