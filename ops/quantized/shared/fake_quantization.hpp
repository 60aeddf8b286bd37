// Shared by the FakeQuant ops: rounding to the numbers that few bits can represent.
#pragma once
#include "troupe/runtime/graph/graph.hpp"
#include "troupe/runtime/graph/kernel.hpp"

#include <algorithm>
#include <cmath>

namespace troupe::ops {

/// The range of the quantized numbers.
struct bit_range {
  float least, most;
};

/// Reads the attributes of a node, or of a shape function's context.
template <class Node>
result<bit_range> bit_range_of(const Node& of) {
  auto bits = of.template attr<int64_t>("num_bits");
  if (bits < 2 || bits > 16)
    return invalid("num_bits must be between 2 and 16, got ", bits);
  auto first_number = of.template attr<bool>("narrow_range") ? 1.0f : 0.0f;
  return bit_range{first_number, static_cast<float>((1 << bits) - 1)};
}

/// A range of real numbers, shifted so that 0 is exactly representable.
struct nudged_range {
  float least, most, step;

  static result<nudged_range> around(float least, float most, const bit_range& bits) {
    if (!nudges(least, most))
      return invalid("min must be at most 0, max at least 0, and not both 0; got ", least, " and ",
                     most);
    return nudged(least, most, bits);
  }
  /// The parts of around(), for callers that cannot fail.
  static constexpr bool nudges(float least, float most) {
    return least <= 0 && most >= 0 && least < most;
  }
  template <class T = float>
  static constexpr nudged_range nudged(T least, T most, const bit_range& bits) {
    auto step = (most - least) / (bits.most - bits.least);
    auto zero = std::round(std::clamp(bits.least - least / step, bits.least, bits.most));
    return nudged_range{(bits.least - zero) * step, (bits.most - zero) * step, step};
  }

  constexpr bool contains(float x) const { return x >= least && x <= most; }
  template <class T = float> // a template, because only GPUs and some compilers can evaluate its
                             // calls
  constexpr T rounded(T x) const {
    auto zero = std::floor(0.5f - least / step);
    return std::floor((std::max(std::min(x, most), least) - least) / step - zero + 0.5f) * step;
  }
};

/// For kernels of ops whose attributes min and max are the range.
inline result<nudged_range> attribute_range(const node& from_node) {
  TROUPE_ASSIGN(auto bits, bit_range_of(from_node));
  return nudged_range::around(static_cast<float>(from_node.attr<double>("min")),
                              static_cast<float>(from_node.attr<double>("max")), bits);
}

/// For kernel_def::prepare.
inline result<std::shared_ptr<void>> keep_attribute_range(const kernel_setup& setup) {
  TROUPE_ASSIGN(auto range, attribute_range(setup.origin));
  return std::shared_ptr<void>{std::make_shared<nudged_range>(range)};
}
inline result<std::shared_ptr<void>> keep_bit_range(const kernel_setup& setup) {
  TROUPE_ASSIGN(auto range, bit_range_of(setup.origin));
  return std::shared_ptr<void>{std::make_shared<bit_range>(range)};
}

/// Computes output 0 from input 0.
inline status round_to(kernel_context& at, const nudged_range& range) {
  const auto& x = at.input(0);
  const auto* from = x.data<float>();
  TROUPE_ASSIGN(auto* out, at.forward_or_allocate(0, {0}, x.dims()));
  auto* to = out->data<float>();
  at.parallel_for(x.elements(), 3, [&](int64_t begin, int64_t end) {
    std::transform(from + begin, from + end, to + begin,
                   [&](float value) { return range.rounded(value); });
  });
  return {};
}

/// Checks input 0, the gradients, and input 1, the values.
inline status check_passed(const kernel_context& at) {
  const auto &gradients = at.input(0), &x = at.input(1);
  if (gradients.dims() == x.dims())
    return {};
  return invalid("gradients and inputs must have one shape, got ", gradients.dims(), " and ",
                 x.dims());
}

/// Checks that the range at that input and the next consists of two scalars.
inline status check_range_inputs(const kernel_context& at, int i) {
  const auto &range_min = at.input(i), &range_max = at.input(i + 1);
  if (range_min.elements() == 1 && range_max.elements() == 1)
    return {};
  return invalid("min and max must be scalars, got shapes ", range_min.dims(), " and ",
                 range_max.dims());
}

/// Output 0: the gradients in input 0, where the values in input 1 are within the range.
inline status pass_within(kernel_context& at, const nudged_range& range) {
  const auto &gradients = at.input(0), &x = at.input(1);
  TROUPE_TRY(check_passed(at));
  TROUPE_ASSIGN(auto* out, at.allocate(0, x.dims()));
  const auto *dy = gradients.data<float>(), *values = x.data<float>();
  auto* dx = out->data<float>();
  at.parallel_for(x.elements(), 0.5, [&](int64_t begin, int64_t end) {
    for (auto i = begin; i < end; ++i)
      dx[i] = range.contains(values[i]) ? dy[i] : 0.0f;
  });
  return {};
}

} // namespace troupe::ops
