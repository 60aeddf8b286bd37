#include "troupe/ops/kernel/element_types.hpp"
#include "troupe/ops/quantized/shared/quantization.hpp"
#include "troupe/runtime/graph/graph.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace troupe::ops::quantize_cpu {
namespace {

struct quantize_v2_settings {
  quantization mode;
  bool to_even, narrow;
  int64_t axis;
  float ensured;
};

result<std::shared_ptr<void>> prepare_quantize_v2(const kernel_setup& setup) {
  TROUPE_ASSIGN(auto mode, quantization_mode(setup.origin.attr<std::string>("mode")));
  quantize_v2_settings settings{
      mode, setup.origin.attr<std::string>("round_mode") == "HALF_TO_EVEN",
      setup.origin.attr<bool>("narrow_range"), setup.origin.attr<int64_t>("axis"),
      static_cast<float>(setup.origin.attr<double>("ensure_minimum_range"))};
  return std::shared_ptr<void>{std::make_shared<quantize_v2_settings>(settings)};
}

struct range {
  float least, most;
};

range widened(range requested, float ensured) {
  auto low = std::min(0.0f, requested.least);
  auto size = std::max({1.0f, std::abs(requested.least), std::abs(requested.most)});
  return {low, std::max(0.0f, std::max(requested.most, low + size * ensured))};
}

// NaN becomes the lowest number.
template <class T>
T to_whole(double value) {
  constexpr auto min_value = std::numeric_limits<T>::lowest(),
                 max_value = std::numeric_limits<T>::max();
  return value >= max_value ? max_value : value > min_value ? static_cast<T>(value) : min_value;
}

// Calls the body with the final range, and with the function that quantizes a number.
template <class T, class Body>
void with_quantizer(range r, const quantize_v2_settings& as, Body&& body) {
  constexpr double lowest = std::numeric_limits<T>::lowest(),
                   highest = std::numeric_limits<T>::max();
  switch (as.mode) {
    case quantization::min_combined: {
      auto scale = static_cast<float>((highest - lowest) / (double{r.most} - double{r.least}));
      auto half = std::is_signed_v<T> ? static_cast<float>((highest - lowest + 1) / 2) : 0.0f;
      return body(r, [=](float x) {
        auto place = (std::max(std::min(x, r.most), r.least) - r.least) * scale;
        return to_whole<T>(std::is_signed_v<T> ? std::round(place - half)
                                               : std::floor(place + 0.5f));
      });
    }
    case quantization::min_first: {
      // One step more than the distance of the ends, since each end is a representable number.
      auto steps = highest - lowest + 1;
      auto scale = (steps - 1) / (double{r.most} - double{r.least});
      auto first = std::round(double{r.least} * scale);
      return body(
          r, [=](float x) { return to_whole<T>(std::round(double{x} * scale) - first + lowest); });
    }
    case quantization::scaled: {
      auto first_number = static_cast<float>(lowest) + (as.narrow ? 1.0f : 0.0f);
      auto last_number = static_cast<float>(highest);
      auto side = [](float number, float bound) {
        return number * bound > 0 ? number / bound : std::numeric_limits<float>::max();
      };
      auto scale = std::min(side(first_number, r.least), side(last_number, r.most));
      range final_range{first_number / scale, last_number / scale};
      return body(final_range, [=, to_even = as.to_even](float x) {
        auto place = std::max(std::min(x, final_range.most), final_range.least) * scale;
        return to_whole<T>(to_even ? std::nearbyint(place) : std::round(place));
      });
    }
  }
}

template <class T>
status run_quantize_v2(kernel_context& at) {
  const auto &x = at.input(0), &min_range = at.input(1), &max_range = at.input(2);
  const auto& as = at.state<quantize_v2_settings>();
  TROUPE_ASSIGN(auto slices, quantized_slices_of(x.dims(), as.axis, min_range, max_range));
  TROUPE_ASSIGN(auto* out, at.allocate(0, x.dims()));
  TROUPE_ASSIGN(auto* out_least, at.allocate(1, min_range.dims()));
  TROUPE_ASSIGN(auto* out_most, at.allocate(2, max_range.dims()));
  const auto* from = x.data<float>();
  auto* to = out->template data<T>();
  for (int64_t slice = 0; slice < slices.count; ++slice) {
    range requested{min_range.data<float>()[slice], max_range.data<float>()[slice]};
    if (!(requested.least <= requested.most))
      return invalid("max_range must not be less than min_range, got ", requested.most, " and ",
                     requested.least);
    with_quantizer<T>(widened(requested, as.ensured), as, [&](range final_range, auto quantize) {
      out_least->template data<float>()[slice] = final_range.least;
      out_most->template data<float>()[slice] = final_range.most;
      at.parallel_for(slices.outer * slices.inner, 2, [&](int64_t begin, int64_t end) {
        for (auto i = begin; i < end; ++i) {
          auto place = (i / slices.inner * slices.count + slice) * slices.inner + i % slices.inner;
          to[place] = quantize(from[place]);
        }
      });
    });
  }
  return {};
}

struct dequantize_settings {
  quantization mode;
  bool narrow;
  int64_t axis;
};

result<std::shared_ptr<void>> prepare_dequantize(const kernel_setup& setup) {
  TROUPE_ASSIGN(auto mode, quantization_mode(setup.origin.attr<std::string>("mode")));
  dequantize_settings settings{mode, setup.origin.attr<bool>("narrow_range"),
                               setup.origin.attr<int64_t>("axis")};
  return std::shared_ptr<void>{std::make_shared<dequantize_settings>(settings)};
}

// The number q represents (q + shift) * scale + least.
struct line {
  double shift, scale, least;
};

template <class T>
line line_of(double range_min, double range_max, const dequantize_settings& as) {
  constexpr double lowest = std::numeric_limits<T>::lowest(),
                   highest = std::numeric_limits<T>::max();
  auto scale = (range_max - range_min) / (highest - lowest);
  switch (as.mode) {
    case quantization::min_combined:
      return {std::is_signed_v<T> ? (highest - lowest + 1) / 2 : 0, scale, range_min};
    case quantization::min_first:
      return {-lowest, scale, scale == 0 ? range_min : std::round(range_min / scale) * scale};
    case quantization::scaled: break;
  }
  auto from_most = range_max / highest;
  return {0,
          lowest == 0 ? from_most : std::max(range_min / (lowest + (as.narrow ? 1 : 0)), from_most),
          0};
}

template <class T>
status run_dequantize(kernel_context& at) {
  const auto &x = at.input(0), &min_range = at.input(1), &max_range = at.input(2);
  const auto& as = at.state<dequantize_settings>();
  TROUPE_ASSIGN(auto slices, quantized_slices_of(x.dims(), as.axis, min_range, max_range));
  TROUPE_ASSIGN(auto* out, at.allocate(0, x.dims()));
  if (x.elements() == 0)
    return {};
  const T* from = x.data<T>();
  auto fill = [&]<class To>(To* to) {
    at.parallel_for(slices.outer * slices.count, 1.0 * static_cast<double>(slices.inner),
                    [&](int64_t begin, int64_t end) {
                      for (auto i = begin; i < end; ++i) {
                        auto slice = i % slices.count;
                        auto line = line_of<T>(min_range.data<float>()[slice],
                                               max_range.data<float>()[slice], as);
                        for (auto k = i * slices.inner; k < (i + 1) * slices.inner; ++k)
                          to[k] = static_cast<To>(
                              static_cast<float>((from[k] + line.shift) * line.scale + line.least));
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

extern constexpr kernel_def quantize_v2_cpu{
    .op = "QuantizeV2",
    .run = {{dtype::i8, run_quantize_v2<int8_t>},
            {dtype::u8, run_quantize_v2<uint8_t>},
            {dtype::i16, run_quantize_v2<int16_t>},
            {dtype::u16, run_quantize_v2<uint16_t>},
            {dtype::i32, run_quantize_v2<int32_t>}},
    .prepare = prepare_quantize_v2,
};

extern constexpr kernel_def dequantize_cpu{
    .op = "Dequantize",
    .run = {{dtype::i8, run_dequantize<int8_t>},
            {dtype::u8, run_dequantize<uint8_t>},
            {dtype::i16, run_dequantize<int16_t>},
            {dtype::u16, run_dequantize<uint16_t>},
            {dtype::i32, run_dequantize<int32_t>}},
    .prepare = prepare_dequantize,
};

} // namespace troupe::ops::quantize_cpu
