#include "troupe/ops/kernel/element_types.hpp"
#include "troupe/ops/quantized/shared/quantization.hpp"
#include "troupe/runtime/graph/graph.hpp"

#include <cmath>
#include <limits>

namespace troupe::ops::dequantize_cpu {
namespace {

struct settings {
  quantization mode;
  bool narrow;
  int64_t axis;
};

result<std::shared_ptr<void>> prepare(const kernel_setup& setup) {
  TROUPE_ASSIGN(auto mode, quantization_mode(setup.of.attr<std::string>("mode")));
  settings made{mode, setup.of.attr<bool>("narrow_range"), setup.of.attr<int64_t>("axis")};
  return std::shared_ptr<void>{std::make_shared<settings>(made)};
}

// A whole number q stands for (q + shift) * scale + least.
struct line {
  double shift, scale, least;
};

template <class T>
line line_of(double least, double most, const settings& as) {
  constexpr double lowest = std::numeric_limits<T>::lowest(),
                   highest = std::numeric_limits<T>::max();
  auto scale = (most - least) / (highest - lowest);
  switch (as.mode) {
    case quantization::min_combined:
      return {std::is_signed_v<T> ? (highest - lowest + 1) / 2 : 0, scale, least};
    case quantization::min_first:
      return {-lowest, scale, scale == 0 ? least : std::round(least / scale) * scale};
    case quantization::scaled: break;
  }
  auto from_most = most / highest;
  return {0, lowest == 0 ? from_most : std::max(least / (lowest + (as.narrow ? 1 : 0)), from_most),
          0};
}

template <class T>
status run(kernel_context& at) {
  const auto &x = at.input(0), &least = at.input(1), &most = at.input(2);
  const auto& as = at.state<settings>();
  TROUPE_ASSIGN(auto slices, quantized_slices_of(x.dims(), as.axis, least, most));
  TROUPE_ASSIGN(auto* out, at.allocate(0, x.dims()));
  if (x.elements() == 0)
    return {};
  const T* from = x.data<T>();
  auto fill = [&]<class To>(To* to) {
    at.parallel_for(slices.outer * slices.count, 1.0 * static_cast<double>(slices.inner),
                    [&](int64_t begin, int64_t end) {
                      for (auto i = begin; i < end; ++i) {
                        auto slice = i % slices.count;
                        auto by =
                            line_of<T>(least.data<float>()[slice], most.data<float>()[slice], as);
                        for (auto k = i * slices.inner; k < (i + 1) * slices.inner; ++k)
                          to[k] = static_cast<To>(
                              static_cast<float>((from[k] + by.shift) * by.scale + by.least));
                      }
                    });
  };
  if (out->type() == dtype::f32)
    fill(out->template data<float>());
  else
    fill(out->template data<bfloat16>());
  return {};
}

} // namespace

extern constexpr kernel_def dequantize_cpu{
    .op = "Dequantize",
    .run = {{dtype::i8, run<int8_t>},
            {dtype::u8, run<uint8_t>},
            {dtype::i16, run<int16_t>},
            {dtype::u16, run<uint16_t>},
            {dtype::i32, run<int32_t>}},
    .prepare = prepare,
};

} // namespace troupe::ops::dequantize_cpu
