#include "troupe/ops/conv/shared/direct_convolution.cpu.hpp"
#include "troupe/ops/quantized/shared/byte_products.cpu.hpp"
#include "troupe/ops/quantized/shared/int8_product.cpu.hpp"
#include "troupe/runtime/graph/graph.hpp"

#include <cstring>

namespace troupe::ops::quantized_conv2d_cpu {
namespace {

result<std::shared_ptr<void>> prepare(const kernel_setup& setup) {
  TROUPE_ASSIGN(auto options, read_windows(setup.origin, quantized_convolution_form));
  return std::shared_ptr<void>{std::make_shared<window_options>(std::move(options))};
}

/// The pixels of a window in sequence: a row of the matrix that is multiplied by the filter.
class patches {
public:
  patches(const convolution_shape& geometry, const quantized_operand& input)
      : geometry_(geometry), input_(input.values.data<uint8_t>()),
        zero_(static_cast<uint8_t>(input.zero)) {}

  int64_t length() const { return geometry_.window() * geometry_.in_channels; }

  /// Writes the patch of an output.
  void write(int64_t output, uint8_t* to) const {
    const auto &rows = geometry_.axes[1], &columns = geometry_.axes[2];
    auto where = place_of(output, geometry_.axes, &window_axis::out);
    auto top = where.at[1] * rows.stride - rows.before;
    auto first_column = where.at[2] * columns.stride - columns.before;
    auto first = columns.first_in(where.at[2]), last = columns.last_in(where.at[2]);
    auto channels = geometry_.in_channels, row_length = columns.size * channels;
    for (int64_t r = 0; r < rows.size; ++r, to += row_length) {
      auto row = top + r * rows.dilation;
      if (row < 0 || row >= rows.in || first >= last) {
        std::fill_n(to, row_length, zero_);
        continue;
      }
      const auto* from = input_ + (where.image * rows.in + row) * columns.in * channels;
      std::fill_n(to, first * channels, zero_);
      if (columns.dilation == 1)
        std::copy_n(from + (first_column + first) * channels, (last - first) * channels,
                    to + first * channels);
      else
        for (auto c = first; c < last; ++c)
          std::copy_n(from + (first_column + c * columns.dilation) * channels, channels,
                      to + c * channels);
      std::fill(to + last * channels, to + row_length, zero_);
    }
  }

private:
  const convolution_shape& geometry_;
  const uint8_t* input_;
  uint8_t zero_;
};

// As many patches at a time as fit the second-level cache, but enough to amortize the packing of
// the filter.
int64_t patches_at_once(int64_t outputs, int64_t length) {
  constexpr int64_t bytes = 1 << 18, least = 192;
  auto max_count = std::max(least, bytes / length);
  auto jobs = (outputs + max_count - 1) / max_count;
  return (outputs + jobs - 1) / jobs;
}

// Where each window has one pixel, the input is the matrix.
bool windows_are_pixels(const convolution_shape& geometry) {
  return std::ranges::all_of(geometry.axes, [](const window_axis& axis) {
    return axis.size == 1 && axis.stride == 1 && axis.in == axis.out;
  });
}

status convolve_bytes(kernel_context& at, const convolution_shape& geometry,
                      const byte_operands& operands, int32_t* out) {
  patches rows{geometry, operands.a};
  auto outputs = geometry.images * geometry.outputs();
  int8_product product{.m = outputs,
                       .n = geometry.out_channels,
                       .k = rows.length(),
                       .a = operands.a.values.data<uint8_t>(),
                       .b = operands.b.values.data<int8_t>(),
                       .c = out,
                       .zero_a = static_cast<uint8_t>(operands.a.zero),
                       .zero_b = static_cast<int8_t>(operands.b.zero)};
  if (windows_are_pixels(geometry))
    return multiply_bytes(at, product);
  auto patches_per_job = patches_at_once(outputs, rows.length());
  auto cost = static_cast<double>(patches_per_job) * static_cast<double>(rows.length()) *
              (0.05 + nanoseconds_per_byte_product * static_cast<double>(geometry.out_channels));
  return onednn::for_each_job(
      at, (outputs + patches_per_job - 1) / patches_per_job, cost,
      [&](dnnl::stream& on, int64_t i) -> status {
        auto part = product;
        part.m = std::min(patches_per_job, outputs - i * patches_per_job);
        TROUPE_ASSIGN(auto matrix, onednn::buffer_of(at, static_cast<size_t>(part.m * part.k)));
        auto* to = static_cast<uint8_t*>(matrix.raw());
        for (int64_t k = 0; k < part.m; ++k)
          rows.write(i * patches_per_job + k, to + k * part.k);
        part.a = to;
        part.c = out + i * patches_per_job * part.n;
        return multiply_bytes(at, on, part);
      });
}

// By plain loops.
status convolve_numbers(kernel_context& at, const convolution_shape& geometry,
                        const quantized_operand& input, const quantized_operand& filter,
                        tensor& out) {
  TROUPE_ASSIGN(auto x, from_zero_on(at, input));
  TROUPE_ASSIGN(auto w, from_zero_on(at, filter));
  using number = uint32_t; // unsigned, so that it wraps around
  auto data = [](const tensor& from) { return static_cast<number*>(from.raw()); };
  direct_output<number>(at, geometry, {data(x), data(w), data(out)});
  return {};
}

status run(kernel_context& at) {
  const auto &input = at.input(0), &filter = at.input(1);
  const auto& options = at.state<window_options>();
  TROUPE_ASSIGN(auto range, range_at(at, 2, input.type()));
  TROUPE_ASSIGN(auto filter_range, range_at(at, 4, filter.type()));
  TROUPE_ASSIGN(auto geometry, fit_convolution(options, false, input.dims(), filter.dims()));
  if (geometry.groups != 1)
    return invalid("the filter ", filter.dims(), " must have as many inputs as the input ",
                   input.dims(), " has channels");
  TROUPE_ASSIGN(auto dims, output_of(options, geometry));
  TROUPE_ASSIGN(auto* out, at.allocate(0, dims));
  TROUPE_TRY(give_range(at, range_of_products(range, filter_range)));
  if (out->elements() == 0)
    return {};
  if (geometry.in_channels == 0) { // there is nothing to sum
    std::memset(out->raw(), 0, out->bytes());
    return {};
  }
  quantized_operand a{input, range.zero()}, b{filter, filter_range.zero()};
  TROUPE_ASSIGN(auto bytes, as_byte_operands(at, a, b));
  return bytes.fit() ? convolve_bytes(at, geometry, bytes, out->data<int32_t>())
                     : convolve_numbers(at, geometry, a, b, *out);
}

} // namespace

extern constexpr kernel_def quantized_conv2d_cpu{
    .op = "QuantizedConv2D",
    .run = {{dtype::none, run}},
    .key = "Tinput",
    .prepare = prepare,
};

} // namespace troupe::ops::quantized_conv2d_cpu
