// Shared by the QuantizeAndDequantize ops: rounding to the multiples of a step that few bits can
// count.
#pragma once
#include "troupe/runtime/graph/graph.hpp"
#include "troupe/runtime/graph/infer.hpp"
#include "troupe/runtime/graph/kernel.hpp"

#include <cmath>
#include <limits>

namespace troupe::ops {

/// The attributes of these ops.
struct simulated_quantization {
  bool is_signed = true, range_given = false, narrow = false, half_up = false;
  int64_t bits = 8, axis = -1;

  /// Fails for a number of bits that 64-bit integers cannot count.
  status check_bits() const {
    auto max_bits = is_signed ? 61 : 62;
    return bits > 0 && bits <= max_bits
               ? status{}
               : invalid("num_bits must be in [1, ", max_bits, "], got ", bits);
  }
};

/// Reads the attributes of a node, or of a shape function's context; V3 has fewer.
template <class Node>
result<simulated_quantization> simulated_quantization_of(const Node& of) {
  simulated_quantization settings{.is_signed = of.template attr<bool>("signed_input"),
                                  .range_given = of.template attr<bool>("range_given"),
                                  .narrow = of.template attr<bool>("narrow_range"),
                                  .axis = of.template attr<int64_t>("axis")};
  if (of.op().find_attr("num_bits")) {
    settings.bits = of.template attr<int64_t>("num_bits");
    const auto& mode = of.template attr<std::string>("round_mode");
    if (mode != "HALF_TO_EVEN" && mode != "HALF_UP")
      return invalid("round_mode must be HALF_TO_EVEN or HALF_UP, got '", mode, "'");
    settings.half_up = mode == "HALF_UP";
  }
  TROUPE_TRY(settings.check_bits());
  return settings;
}

inline result<std::shared_ptr<void>> keep_simulated_quantization(const kernel_setup& setup) {
  TROUPE_ASSIGN(auto settings, simulated_quantization_of(setup.origin));
  return std::shared_ptr<void>{std::make_shared<simulated_quantization>(settings)};
}

/// The range of integers of this many bits.
template <class T>
struct whole_numbers {
  T least, most;

  static whole_numbers of(const simulated_quantization& settings) {
    auto half = int64_t{1} << (settings.bits - 1);
    if (!settings.is_signed)
      return {0, static_cast<T>((int64_t{1} << settings.bits) - 1)};
    return {static_cast<T>(settings.narrow ? 1 - half : -half), static_cast<T>(half - 1)};
  }
};

/// A real range represented by integers times a step; 0 is represented exactly.
template <class T>
struct simulated_range {
  T least, most, scale, step;
  bool half_up;

  /// The side of the range that needs the greater step keeps its end.
  static constexpr simulated_range fitted(T from, T to, const whole_numbers<T>& numbers,
                                          bool half_up) {
    constexpr auto largest = std::numeric_limits<T>::max();
    auto below = numbers.least * from > 0 ? numbers.least / from : largest,
         above = numbers.most * to > 0 ? numbers.most / to : largest;
    if (below < above) {
      auto step = from / numbers.least;
      return {from, numbers.most * step, below, step, half_up};
    }
    auto step = to / numbers.most;
    return {numbers.least * step, to, above, step, half_up};
  }

  template <class U = T> // a template, because only GPUs and some compilers can evaluate its calls
  constexpr U rounded(U x, bool clamps) const {
    if (clamps) {
      x = most < x ? most : x;
      x = x < least ? least : x;
    }
    x *= scale;
    return (half_up ? std::floor(x + U{0.5}) : std::rint(x)) * step;
  }
};

/// The division of an input along the axis: element i belongs to slice i / inner % slices.
struct axis_slices {
  int64_t slices = 1, inner = 1, items = 0; // items: elements per slice

  static result<axis_slices> of(const shape& dims, int64_t axis) {
    if (axis < -1 || axis >= dims.rank())
      return invalid("axis must be in [-1, ", dims.rank(), "), got ", axis);
    axis_slices layout{.inner = std::max<int64_t>(dims.elements(), 1), .items = dims.elements()};
    if (axis < 0)
      return layout;
    layout.slices = dims[static_cast<int>(axis)];
    layout.inner = 1;
    for (auto i = static_cast<int>(axis) + 1; i < dims.rank(); ++i)
      layout.inner *= dims[i];
    layout.items = layout.slices == 0 ? 0 : dims.elements() / layout.slices;
    return layout;
  }
};

/// Checks that the inputs of the range's ends have one number per slice.
inline status check_ends(const kernel_context& at, int first, int64_t axis,
                         const axis_slices& along) {
  auto expected_shape = axis < 0 ? shape{} : shape{along.slices};
  for (int i : {first, first + 1})
    if (!(at.input(i).dims() == expected_shape))
      return invalid(i == first ? "input_min" : "input_max", " must have the shape ",
                     expected_shape, ", got ", at.input(i).dims());
  return {};
}

inline constexpr auto range_is_reversed = "input_min must not be greater than input_max";

} // namespace troupe::ops
