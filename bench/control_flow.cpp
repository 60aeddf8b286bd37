// Loops and branches: what a turn costs.
#include "bench/benchmarks.hpp"
#include "bench/two_tasks.hpp"
#include "troupe/actors/session/client.hpp"
#include "troupe/api/internal/library.hpp"
#include "troupe/devices/cpu/cpu_device.hpp"
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

/// A session of one process with two processors.
std::unique_ptr<client> two_processors() {
  client_options options;
  options.ops = &library();
  options.make_devices = [] {
    std::vector<std::shared_ptr<device>> made;
    for (int i = 0; i < 2; ++i)
      made.push_back(make_cpu_device({.ordinal = i, .intra_op_threads = 1}));
    return result{std::move(made)};
  };
  options.inter_op_threads = 2;
  auto made = client::local(options);
  return made ? *std::move(made) : throw error{made.status()};
}

/// Runs a step with n = `turns` again and again; items are turns.
void run_turns(State& state, client& in, const graph& of, edge n, edge found, int64_t turns) {
  auto never = step_clock::time_point::max();
  auto step = in.prepare(of, {.feeds = {n}, .fetches = {found}}, never);
  const std::vector<tensor> many{tensor::scalar(static_cast<int32_t>(turns))};
  for (auto _ : state)
    if (auto ran = step ? in.run(**step, many, never) : step.status(); !ran)
      return state.SkipWithError(ran.status().message().c_str());
  state.SetItemsProcessed(state.iterations() * turns);
}

/// A loop whose counter lies on one processor, and a sum on the other; items are turns.
void across_devices(State& state) {
  graph_builder g;
  auto n = g.placeholder(dtype::i32, {}, "n");
  auto found = while_loop(
      {g.constant(0), g.constant(0)}, [&](auto& v) { return less(v[0], n); },
      [&](auto& v) {
        auto on_first = g.on("/cpu:0");
        auto next = v[0] + 1;
        auto on_second = g.on("/cpu:1");
        return edges{next, v[1] + next};
      });
  auto s = two_processors();
  run_turns(state, *s, g, n, found[1], turns);
}

/// Two matrices that follow each other, each on its processor, or both on one; items are turns.
void pipelined(State& state, bool both) {
  constexpr int64_t size = 256;
  graph_builder g;
  auto n = g.placeholder(dtype::i32, {}, "n");
  auto w = fill(g, {size, size}, 0.5f / size);
  auto layer = [&](edge x, const char* device) {
    auto on = g.on(device);
    for (int i = 0; i < 4; ++i)
      x = tanh(matmul(x, w));
    return x;
  };
  auto found = while_loop(
      {g.constant(0), w, w}, [&](auto& v) { return less(v[0], n); },
      [&](auto& v) {
        auto first = layer(v[1], "/cpu:0");
        return edges{v[0] + 1, first, layer(first + v[2], both ? "/cpu:1" : "/cpu:0")};
      });
  auto s = two_processors();
  run_turns(state, *s, g, n, sum(found[2]), 50);
}

/// A loop whose counter lies in one process, and a sum in another; items are turns.
void across_tasks(State& state) {
  try {
    two_tasks tasks;
    graph_builder g;
    auto n = g.placeholder(dtype::i32, {}, "n");
    auto found = while_loop(
        {g.constant(0), g.constant(0)}, [&](auto& v) { return less(v[0], n); },
        [&](auto& v) {
          auto on_first = g.on("/job:worker/task:0");
          auto next = v[0] + 1;
          auto on_second = g.on("/job:worker/task:1");
          return edges{next, v[1] + next};
        });
    auto s = session::connect(tasks.cluster());
    auto step = s.prepare({n}, {found[1]});
    const auto many = tensor::scalar(turns / 10);
    for (auto _ : state)
      benchmark::DoNotOptimize(step.run({many}));
    state.SetItemsProcessed(state.iterations() * (turns / 10));
  } catch (const error& e) {
    state.SkipWithError(e.what());
  }
}

/// A product in each turn, of a vector and what is the product of two matrices in all turns; with
/// the pass that computes that before the loop, and without. Items are turns.
void invariant_product(State& state, bool hoisted) {
  constexpr int64_t size = 128;
  graph_builder g;
  auto n = g.placeholder(dtype::i32, {}, "n");
  auto w = g.placeholder(dtype::f32, {size, size}, "w"), x = g.placeholder(dtype::f32, {1, size});
  auto found = while_loop(
      {g.constant(0), x}, [&](auto& v) { return less(v[0], n); },
      [&](auto& v) {
        return edges{v[0] + 1, tanh(matmul(v[1], matmul(w, w)))};
      });
  auto how = options();
  how.passes.hoist_invariants = hoisted;
  auto s = session::local(how);
  auto step = s.prepare({n, w, x}, {found[1]});
  const std::vector<float> numbers(size * size, 0.01f);
  const auto matrix = tensor::vector(numbers).reshaped(shape{size, size});
  const auto row = tensor::vector(std::vector<float>(size, 0.5f)).reshaped(shape{1, size});
  constexpr int few = 100;
  for (auto _ : state)
    benchmark::DoNotOptimize(step.run({tensor::scalar(few), matrix, row}));
  state.SetItemsProcessed(state.iterations() * few);
}

/// The gradient of 100 turns that keep 4 MiB each, in memory or in files; bytes are what is kept.
void kept_turns(State& state, bool in_files) {
  constexpr int64_t numbers = 1 << 20;
  constexpr int few = 100;
  graph_builder g;
  auto x = g.placeholder(dtype::f32, {numbers}, "x");
  auto y = while_loop(
      {g.constant(0), x}, [](auto& v) { return less(v[0], few); },
      [](auto& v) {
        return edges{v[0] + 1, v[1] * v[1]};
      },
      {.swap_memory = in_files})[1];
  auto s = session::local(options());
  auto step = s.prepare({x}, {g.gradients(sum(y), {x})[0]});
  const auto at = tensor::of(shape{numbers}, std::vector<float>(numbers, 0.5f));
  for (auto _ : state)
    benchmark::DoNotOptimize(step.run({at}));
  state.SetBytesProcessed(state.iterations() * few * numbers * 4);
}

} // namespace

void register_control_flow() {
  benchmark::RegisterBenchmark("flow/scan_gradient", scan_gradient)->Unit(benchmark::kMillisecond);
  benchmark::RegisterBenchmark("flow/dynamic_lstm", dynamic_lstm)->Unit(benchmark::kMillisecond);
  benchmark::RegisterBenchmark("flow/counter", counter);
  benchmark::RegisterBenchmark("flow/hundred_variables", hundred_variables);
  benchmark::RegisterBenchmark("flow/choices", choices);
  benchmark::RegisterBenchmark("flow/across_devices", across_devices)->UseRealTime();
  benchmark::RegisterBenchmark("flow/across_tasks", across_tasks)->UseRealTime();
  for (bool hoisted : {false, true})
    benchmark::RegisterBenchmark(hoisted ? "flow/invariant_product"
                                         : "flow/invariant_product_in_turns",
                                 invariant_product, hoisted);
  for (bool in_files : {false, true})
    benchmark::RegisterBenchmark(in_files ? "flow/swapped_turns" : "flow/kept_turns", kept_turns,
                                 in_files)
        ->Unit(benchmark::kMillisecond)
        ->UseRealTime();
  for (bool both : {false, true})
    benchmark::RegisterBenchmark(both ? "flow/pipelined" : "flow/not_pipelined", pipelined, both)
        ->UseRealTime();
}

} // namespace troupe::bench
