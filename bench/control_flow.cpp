// Loops and branches: the cost of an iteration.
#include "bench/benchmarks.hpp"
#include "bench/task_processes.hpp"
#include "troupe/actors/session/client.hpp"
#include "troupe/api/internal/library.hpp"
#include "troupe/devices/cpu/cpu_device.hpp"
#include "troupe/troupe.hpp"

#include <benchmark/benchmark.h>

namespace troupe::bench {
namespace {

using benchmark::State;

constexpr int loop_iterations = 10'000;

/// A loop variable that counts. Items are iterations.
void counter(State& state) {
  graph_builder g;
  auto n = g.placeholder(dtype::i32, {}, "n");
  auto counted = while_loop(
      {g.constant(0)}, [&](auto& v) { return less(v[0], n); },
      [](auto& v) { return edges{v[0] + 1}; });
  auto s = session::local(options());
  auto step = s.prepare({n}, counted);
  const auto limit = tensor::scalar(loop_iterations);
  for (auto _ : state)
    benchmark::DoNotOptimize(step.run({limit}));
  state.SetItemsProcessed(state.iterations() * loop_iterations);
}

/// A hundred loop variables; each grows by 1 in an iteration. Items are iterations.
void hundred_variables(State& state) {
  graph_builder g;
  auto n = g.placeholder(dtype::i32, {}, "n");
  edges initial{g.constant(0)};
  for (int i = 0; i < 100; ++i)
    initial.push_back(g.constant(static_cast<float>(i)));
  auto results = while_loop(
      initial, [&](auto& v) { return less(v[0], n); },
      [](auto& v) {
        edges next{v[0] + 1};
        for (size_t i = 1; i < v.size(); ++i)
          next.push_back(v[i] + 1.0f);
        return next;
      });
  auto s = session::local(options());
  auto step = s.prepare({n}, {results.back()});
  const auto limit = tensor::scalar(loop_iterations / 10);
  for (auto _ : state)
    benchmark::DoNotOptimize(step.run({limit}));
  state.SetItemsProcessed(state.iterations() * (loop_iterations / 10));
}

/// A choice between two additions, in a loop. Items are iterations.
void choices(State& state) {
  graph_builder g;
  auto n = g.placeholder(dtype::i32, {}, "n");
  auto results = while_loop(
      {g.constant(0), g.constant(0)}, [&](auto& v) { return less(v[0], n); },
      [](auto& v) {
        auto next = cond(
            less(v[1], 1000), [&] { return v[1] + 3; }, [&] { return v[1] - 700; });
        return edges{v[0] + 1, next};
      });
  auto s = session::local(options());
  auto step = s.prepare({n}, {results[1]});
  const auto limit = tensor::scalar(loop_iterations);
  for (auto _ : state)
    benchmark::DoNotOptimize(step.run({limit}));
  state.SetItemsProcessed(state.iterations() * loop_iterations);
}

/// A scan over 614 slices that carries 60 numbers, and its gradient. Items are iterations.
void scan_gradient(State& state) {
  constexpr int64_t length = 614;
  constexpr size_t carried = 60;
  graph_builder g;
  auto x = g.placeholder(dtype::f32, {length}, "x");
  edges initial;
  for (size_t i = 0; i < carried; ++i)
    initial.push_back(g.constant(0.01f * static_cast<float>(i)));
  auto last = scan(initial, {x}, [](auto& carry, auto& slices) -> scan_iteration {
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
  const auto value = tensor::from_values(shape{length}, std::vector<float>(length, 0.1f));
  for (auto _ : state)
    benchmark::DoNotOptimize(step.run({value}));
  state.SetItemsProcessed(state.iterations() * length);
}

/// An LSTM of 128 units over 100 steps of 16 sequences, and the gradient of its weights. Items are
/// steps of the sequences.
void dynamic_lstm(State& state) {
  constexpr int64_t length = 100, batch = 16, units = 128;
  graph_builder g;
  auto x = g.placeholder(dtype::f32, {-1, batch, units}, "x");
  auto lengths = g.placeholder(dtype::i32, {batch}, "lengths");
  auto w = g.variable(tensor::from_values(shape{2 * units, 4 * units},
                                          std::vector<float>(8 * units * units, 0.01f)),
                      "w");
  auto zeros =
      g.constant(tensor::from_values(shape{batch, units}, std::vector<float>(batch * units)));
  auto net = dynamic_rnn(
      x, {zeros, zeros},
      [&](edge input, const edges& last) -> scan_iteration {
        auto gates = split(g.constant(1), matmul(concatenate(edges{input, last[0]}, 1), w), 4);
        auto cells = last[1] * sigmoid(gates[2] + 1.0f) + sigmoid(gates[0]) * tanh(gates[1]);
        auto output = tanh(cells) * sigmoid(gates[3]);
        return {{output, cells}, {output}};
      },
      {.lengths = lengths});
  auto loss = sum(net.outputs[0] * net.outputs[0]);
  auto dw = g.gradients(loss, {w});
  auto s = session::local(options());
  s.run(g.initializer());
  auto step = s.prepare({x, lengths}, {loss, dw[0]});
  const auto sequences = tensor::from_values(shape{length, batch, units},
                                             std::vector<float>(length * batch * units, 0.1f));
  const auto full_lengths = tensor::vector(std::vector<int32_t>(batch, length));
  for (auto _ : state)
    benchmark::DoNotOptimize(step.run({sequences, full_lengths}));
  state.SetItemsProcessed(state.iterations() * length);
}

/// A client of one process with two CPU devices.
std::unique_ptr<client> two_processors() {
  client_options options;
  options.ops = &library();
  options.make_devices = [] {
    std::vector<std::shared_ptr<device>> devices;
    for (int i = 0; i < 2; ++i)
      devices.push_back(make_cpu_device({.ordinal = i, .intra_op_threads = 1}));
    return result{std::move(devices)};
  };
  options.inter_op_threads = 2;
  auto started = client::local(options);
  return started ? *std::move(started) : throw error{started.status()};
}

/// Runs a step whose loop has `iterations` iterations, again and again. Items are iterations.
void run_loop(State& state, client& target, const graph& loop_graph, edge n, edge fetched,
              int64_t iterations) {
  auto never = step_clock::time_point::max();
  auto step = target.prepare(loop_graph, {.feeds = {n}, .fetches = {fetched}}, never);
  const std::vector<tensor> feeds{tensor::scalar(static_cast<int32_t>(iterations))};
  for (auto _ : state)
    if (auto ran = step ? target.run(**step, feeds, never) : step.status(); !ran)
      return state.SkipWithError(ran.status().message().c_str());
  state.SetItemsProcessed(state.iterations() * iterations);
}

/// A loop with its counter on one CPU device and a sum on the other. Items are iterations.
void across_devices(State& state) {
  graph_builder g;
  auto n = g.placeholder(dtype::i32, {}, "n");
  auto results = while_loop(
      {g.constant(0), g.constant(0)}, [&](auto& v) { return less(v[0], n); },
      [&](auto& v) {
        auto on_first = g.on("/cpu:0");
        auto next = v[0] + 1;
        auto on_second = g.on("/cpu:1");
        return edges{next, v[1] + next};
      });
  auto s = two_processors();
  run_loop(state, *s, g, n, results[1], loop_iterations);
}

/// Two matrices, the second computed from the first, each on its own CPU device, or both on the
/// same. Items are iterations.
void pipelined(State& state, bool two_devices) {
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
  auto results = while_loop(
      {g.constant(0), w, w}, [&](auto& v) { return less(v[0], n); },
      [&](auto& v) {
        auto first = layer(v[1], "/cpu:0");
        return edges{v[0] + 1, first, layer(first + v[2], two_devices ? "/cpu:1" : "/cpu:0")};
      });
  auto s = two_processors();
  run_loop(state, *s, g, n, sum(results[2]), 50);
}

/// A loop with its counter in one process and a sum in another. Items are iterations.
void across_tasks(State& state) {
  try {
    task_processes tasks;
    graph_builder g;
    auto n = g.placeholder(dtype::i32, {}, "n");
    auto results = while_loop(
        {g.constant(0), g.constant(0)}, [&](auto& v) { return less(v[0], n); },
        [&](auto& v) {
          auto on_first = g.on("/job:worker/task:0");
          auto next = v[0] + 1;
          auto on_second = g.on("/job:worker/task:1");
          return edges{next, v[1] + next};
        });
    auto s = session::connect(tasks.cluster());
    auto step = s.prepare({n}, {results[1]});
    const auto limit = tensor::scalar(loop_iterations / 10);
    for (auto _ : state)
      benchmark::DoNotOptimize(step.run({limit}));
    state.SetItemsProcessed(state.iterations() * (loop_iterations / 10));
  } catch (const error& e) {
    state.SkipWithError(e.what());
  }
}

/// A product in each iteration of a vector and the product of two matrices, which is
/// loop-invariant; with the pass that hoists it out of the loop, and without. Items are iterations.
void invariant_product(State& state, bool hoisted) {
  constexpr int64_t size = 128;
  graph_builder g;
  auto n = g.placeholder(dtype::i32, {}, "n");
  auto w = g.placeholder(dtype::f32, {size, size}, "w"), x = g.placeholder(dtype::f32, {1, size});
  auto results = while_loop(
      {g.constant(0), x}, [&](auto& v) { return less(v[0], n); },
      [&](auto& v) {
        return edges{v[0] + 1, tanh(matmul(v[1], matmul(w, w)))};
      });
  auto settings = options();
  settings.passes.hoist_invariants = hoisted;
  auto s = session::local(settings);
  auto step = s.prepare({n, w, x}, {results[1]});
  const std::vector<float> numbers(size * size, 0.01f);
  const auto matrix = tensor::vector(numbers).reshaped(shape{size, size});
  const auto row = tensor::vector(std::vector<float>(size, 0.5f)).reshaped(shape{1, size});
  constexpr int iterations = 100;
  for (auto _ : state)
    benchmark::DoNotOptimize(step.run({tensor::scalar(iterations), matrix, row}));
  state.SetItemsProcessed(state.iterations() * iterations);
}

/// The gradient of a loop of 100 iterations that keep 4 MiB each, in memory or in files. Bytes are
/// the kept ones.
void kept_values(State& state, bool in_files) {
  constexpr int64_t numbers = 1 << 20;
  constexpr int iterations = 100;
  graph_builder g;
  auto x = g.placeholder(dtype::f32, {numbers}, "x");
  auto y = while_loop(
      {g.constant(0), x}, [](auto& v) { return less(v[0], iterations); },
      [](auto& v) {
        return edges{v[0] + 1, v[1] * v[1]};
      },
      {.swap_memory = in_files})[1];
  auto s = session::local(options());
  auto step = s.prepare({x}, {g.gradients(sum(y), {x})[0]});
  const auto value = tensor::from_values(shape{numbers}, std::vector<float>(numbers, 0.5f));
  for (auto _ : state)
    benchmark::DoNotOptimize(step.run({value}));
  state.SetBytesProcessed(state.iterations() * iterations * numbers * 4);
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
    benchmark::RegisterBenchmark(in_files ? "flow/swapped_turns" : "flow/kept_turns", kept_values,
                                 in_files)
        ->Unit(benchmark::kMillisecond)
        ->UseRealTime();
  for (bool two_devices : {false, true})
    benchmark::RegisterBenchmark(two_devices ? "flow/pipelined" : "flow/not_pipelined", pipelined,
                                 two_devices)
        ->UseRealTime();
}

} // namespace troupe::bench
