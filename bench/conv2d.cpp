// Single convolutions of nets.json, and their gradients. Items are floating-point operations.
#include "bench/benchmarks.hpp"
#include "bench/nets.hpp"
#include "troupe/troupe.hpp"

#include <benchmark/benchmark.h>

namespace troupe::bench {
namespace {

enum class part { forward, input, filter };

void convolution_step(benchmark::State& state, const json& layer, part measured) {
  int64_t outputs = layer["conv"], size = layer["size"];
  auto [strides, padding, pads] = window_of(layer);
  auto dims = partial_shape{layer["input"].get<std::vector<int64_t>>()}.known();
  const shape filter_dims{size, size, dims[3], outputs};
  graph_builder g;
  auto x = g.variable(noise(dims, 1, 1));
  auto w = g.variable(noise(filter_dims, 1, 2));
  auto y = conv2d(x, w, strides, padding, {.explicit_paddings = pads});
  auto out = y.dims().known();
  auto dy = g.variable(noise(out, 1, 3));
  auto sizes_of = [](const shape& sizes) {
    return tensor::vector(std::vector<int32_t>(sizes.begin(), sizes.end()));
  };
  auto output = measured == part::forward ? y
                : measured == part::input
                    ? conv2d_backprop_input(sizes_of(dims), w, dy, strides, padding,
                                            {.explicit_paddings = pads})
                    : conv2d_backprop_filter(x, sizes_of(filter_dims), dy, strides, padding,
                                             {.explicit_paddings = pads});
  auto s = session::local(options());
  s.run(g.initializer());
  auto step = s.prepare({}, {}, {output.node});
  step.run(); // the first step allocates its memory from the system
  for (auto _ : state)
    step.run();
  state.SetItemsProcessed(state.iterations() * 2 * out.elements() * size * size * dims[3]);
}

} // namespace

void register_conv2d() {
  for (auto& [name, layer] : all_convolutions().items())
    for (auto [suffix, measured] : {std::pair{"", part::forward},
                                    {"_input_gradient", part::input},
                                    {"_filter_gradient", part::filter}})
      benchmark::RegisterBenchmark(
          ("conv2d/" + name + suffix).c_str(),
          [&layer, measured](benchmark::State& state) { convolution_step(state, layer, measured); })
          ->UseRealTime()
          ->MeasureProcessCPUTime();
}

} // namespace troupe::bench
