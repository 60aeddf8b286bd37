// Products and convolutions of bytes: u8 activations by i8 weights, with sums of 32 bits. Items are
// operations; matmul/N and conv2d/LAYER measure the same with floats.
#include "bench/benchmarks.hpp"
#include "bench/nets.hpp"
#include "troupe/troupe.hpp"

#include <benchmark/benchmark.h>

namespace troupe::bench {
namespace {

template <class T>
tensor bytes(const shape& dims) {
  std::vector<T> values(static_cast<size_t>(dims.elements()));
  for (size_t i = 0; i < values.size(); ++i)
    values[i] = static_cast<T>(i * 48271 % 65537 % 251);
  return tensor::from_values(dims, values);
}

/// Runs steps that compute one node from two variables.
template <class Define>
void run_steps(benchmark::State& state, const shape& a, const shape& b, const Define& define,
               int64_t operations) {
  graph_builder g;
  auto result = define(g.variable(bytes<uint8_t>(a)), g.variable(bytes<int8_t>(b)));
  auto s = session::local(options());
  s.run(g.initializer());
  auto step = s.prepare({}, {}, {result});
  step.run(); // the first step allocates its memory from the system
  for (auto _ : state)
    step.run();
  state.SetItemsProcessed(state.iterations() * operations);
}

void product(benchmark::State& state, int64_t extent) {
  run_steps(
      state, {extent, extent}, {extent, extent},
      [](edge a, edge b) {
        return quantized_mat_mul(a, b, 0.0f, 255.0f, -128.0f, 127.0f).out.node;
      },
      2 * extent * extent * extent);
}

void convolution(benchmark::State& state, const json& layer) {
  auto dims = partial_shape{layer["input"].get<std::vector<int64_t>>()}.known();
  int64_t outputs = layer["conv"], size = layer["size"];
  run_steps(
      state, dims, {size, size, dims[3], outputs},
      [](edge x, edge w) {
        return quantized_conv2d(x, w, 0.0f, 255.0f, -128.0f, 127.0f, {1, 1, 1, 1}, "SAME")
            .output.node;
      },
      2 * dims[0] * dims[1] * dims[2] * outputs * size * size * dims[3]);
}

template <class Run>
void add_int8(const std::string& name, Run run) {
  benchmark::RegisterBenchmark(("int8/" + name).c_str(), run)
      ->UseRealTime()
      ->MeasureProcessCPUTime();
}

} // namespace

void register_int8() {
  for (auto extent : {256, 1024})
    add_int8("matmul_" + std::to_string(extent),
             [=](benchmark::State& state) { product(state, extent); });
  for (auto layer : {"3x3_28", "1x1"})
    add_int8(std::string{"conv2d_"} + layer,
             [=](benchmark::State& state) { convolution(state, all_convolutions().at(layer)); });
}

} // namespace troupe::bench
