#include "troupe/ops/conv/shared/product_convolution.cpu.hpp"

#include "troupe/devices/cpu/gemm.hpp"
#include "troupe/ops/kernel/element_types.hpp"
#include "troupe/ops/kernel/first_failure.hpp"

namespace troupe::ops {
namespace {

/// The size of a block of windows in floats: a block stays in the second-level cache.
constexpr int64_t block_floats = 1 << 17;

// Adds rows of windows to the image that they were read from. The part of a window in one image row
// is contiguous in both.
TROUPE_SIMD_CLONES void add_windows(const convolution_shape& geometry, int64_t begin, int64_t end,
                                    const float* windows, float* image) {
  const auto &rows = geometry.axes[1], &columns = geometry.axes[2];
  auto channels = geometry.in_channels, width = columns.size * channels;
  for (auto row = begin; row < end; ++row)
    for (int64_t column = 0; column < columns.out; ++column, windows += rows.size * width) {
      auto first_column = columns.first_in(column), count = columns.last_in(column) - first_column;
      if (count <= 0) // only padding
        continue;
      auto first = (column * columns.stride - columns.before + first_column) * channels;
      for (auto k = rows.first_in(row); k < rows.last_in(row); ++k) {
        auto place = row * rows.stride - rows.before + k * rows.dilation;
        const auto* from = windows + k * width + first_column * channels;
        auto* to = image + place * columns.in * channels + first;
#pragma GCC ivdep
        for (int64_t i = 0; i < count * channels; ++i)
          to[i] += from[i];
      }
    }
}

} // namespace

bool has_few_inputs(const convolution_shape& geometry, convolution_role computes) {
  // A row of windows, the least that is computed at a time, must not exceed the memory.
  auto row = static_cast<double>(geometry.axes[2].out) * static_cast<double>(geometry.window()) *
             static_cast<double>(geometry.in_channels);
  return computes == convolution_role::input && geometry.spatial == 2 && geometry.groups == 1 &&
         !geometry.channels_first && geometry.axes[2].dilation == 1 && geometry.in_channels <= 4 &&
         geometry.out_channels >= 16 && geometry.window() * geometry.in_channels >= 16 &&
         row < 32 * block_floats;
}

status input_gradient_by_products(kernel_context& at, const convolution_shape& geometry,
                                  convolution_data<float> data) {
  const auto &rows = geometry.axes[1], &columns = geometry.axes[2];
  auto elements = geometry.window() * geometry.in_channels; // per window
  auto at_once = std::clamp<int64_t>(block_floats / (columns.out * elements), 1, rows.out);
  auto input = geometry.inputs() * geometry.in_channels,
       output = geometry.outputs() * geometry.out_channels;
  first_failure failed;
  auto cost = geometry.multiplications() / static_cast<double>(geometry.images) * 0.02;
  at.parallel_for(geometry.images, cost, [&](int64_t begin, int64_t end) {
    auto windows = tensor::make(dtype::f32, shape{at_once * columns.out, elements}, at.memory());
    if (!windows)
      return failed.note(begin, windows.status());
    auto* products = windows->data<float>();
    for (auto i = begin; i < end; ++i) {
      auto* image = data.input + i * input;
      std::fill_n(image, input, 0.f);
      for (int64_t row = 0; row < rows.out && !at.stopped(); row += at_once) {
        auto last = std::min(row + at_once, rows.out);
        const auto* gradient = data.output + i * output + row * columns.out * geometry.out_channels;
        auto done = gemm(false, true, (last - row) * columns.out, elements, geometry.out_channels,
                         gradient, static_cast<const float*>(data.filter), products);
        if (!done)
          return failed.note(i, std::move(done));
        add_windows(geometry, row, last, products, image);
      }
    }
  });
  return failed.take();
}

} // namespace troupe::ops
