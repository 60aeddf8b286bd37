// What the QuantizeAndDequantize ops share: rounding to the multiples of a step that few bits can
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

  /// Fails for a number of bits that no whole number of 64 bits can count.
  status check_bits() const {
    auto most = is_signed ? 61 : 62;
    return bits > 0 && bits <= most ? status{}
                                    : invalid("num_bits must be in [1, ", most, "], got ", bits);
  }
};

/// Reads the attributes of a node, or of what a shape function sees of it; V3 has fewer.
template <class Node>
result<simulated_quantization> simulated_quantization_of(const Node& of) {
  simulated_quantization how{.is_signed = of.template attr<bool>("signed_input"),
                             .range_given = of.template attr<bool>("range_given"),
                             .narrow = of.template attr<bool>("narrow_range"),
                             .axis = of.template attr<int64_t>("axis")};
  if (of.op().find_attr("num_bits")) {
    how.bits = of.template attr<int64_t>("num_bits");
    const auto& mode = of.template attr<std::string>("round_mode");
    if (mode != "HALF_TO_EVEN" && mode != "HALF_UP")
      return invalid("round_mode must be HALF_TO_EVEN or HALF_UP, got '", mode, "'");
    how.half_up = mode == "HALF_UP";
  }
  TROUPE_TRY(how.check_bits());
  return how;
}

inline result<std::shared_ptr<void>> keep_simulated_quantization(const kernel_setup& setup) {
  TROUPE_ASSIGN(auto how, simulated_quantization_of(setup.of));
  return std::shared_ptr<void>{std::make_shared<simulated_quantization>(how)};
}

/// The whole numbers of so many bits.
template <class T>
struct whole_numbers {
  T least, most;

  static whole_numbers of(const simulated_quantization& how) {
    auto half = int64_t{1} << (how.bits - 1);
    if (!how.is_signed)
      return {0, static_cast<T>((int64_t{1} << how.bits) - 1)};
    return {static_cast<T>(how.narrow ? 1 - half : -half), static_cast<T>(half - 1)};
  }
};

/// A range of real numbers that whole ones stand for, times a step; 0 stays 0.
template <class T>
struct simulated_range {
  T least, most, scale, step;
  bool half_up;

  /// The side of the range that asks for the greater step keeps its end.
  static constexpr simulated_range fitted(T from, T to, const whole_numbers<T>& whole,
                                          bool half_up) {
    constexpr auto largest = std::numeric_limits<T>::max();
    auto below = whole.least * from > 0 ? whole.least / from : largest,
         above = whole.most * to > 0 ? whole.most / to : largest;
    if (below < above) {
      auto step = from / whole.least;
      return {from, whole.most * step, below, step, half_up};
    }
    auto step = to / whole.most;
    return {whole.least * step, to, above, step, half_up};
  }

  template <class U = T> // a template may call what only GPUs and some compilers evaluate
  constexpr U rounded(U x, bool clamps) const {
    if (clamps) {
      x = most < x ? most : x;
      x = x < least ? least : x;
    }
    x *= scale;
    return (half_up ? std::floor(x + U{0.5}) : std::rint(x)) * step;
  }
};

/// How an input is divided along the axis: element i belongs to slice i / inner % slices.
struct axis_slices {
  int64_t slices = 1, inner = 1, items = 0; // of a slice

  static result<axis_slices> of(const shape& dims, int64_t axis) {
    if (axis < -1 || axis >= dims.rank())
      return invalid("axis must be in [-1, ", dims.rank(), "), got ", axis);
    axis_slices made{.inner = std::max<int64_t>(dims.elements(), 1), .items = dims.elements()};
    if (axis < 0)
      return made;
    made.slices = dims[static_cast<int>(axis)];
    made.inner = 1;
    for (auto i = static_cast<int>(axis) + 1; i < dims.rank(); ++i)
      made.inner *= dims[i];
    made.items = made.slices == 0 ? 0 : dims.elements() / made.slices;
    return made;
  }
};

/// Checks that the inputs of the ends of the range have a number for each slice.
inline status check_ends(const kernel_context& at, int first, int64_t axis,
                         const axis_slices& along) {
  auto wanted = axis < 0 ? shape{} : shape{along.slices};
  for (int i : {first, first + 1})
    if (!(at.input(i).dims() == wanted))
      return invalid(i == first ? "input_min" : "input_max", " must have the shape ", wanted,
                     ", got ", at.input(i).dims());
  return {};
}

inline constexpr auto range_is_reversed = "input_min must not be greater than input_max";

} // namespace troupe::ops
