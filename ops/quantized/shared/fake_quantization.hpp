// What the FakeQuant ops share: rounding to the numbers that few bits can stand for.
#pragma once
#include "troupe/runtime/graph/graph.hpp"
#include "troupe/runtime/graph/kernel.hpp"

#include <algorithm>
#include <cmath>

namespace troupe::ops {

/// The range of the whole numbers.
struct bit_range {
  float least, most;
};

/// Reads the attributes of a node, or of what a shape function sees of it.
template <class Node>
result<bit_range> bit_range_of(const Node& of) {
  auto bits = of.template attr<int64_t>("num_bits");
  if (bits < 2 || bits > 16)
    return invalid("num_bits must be between 2 and 16, got ", bits);
  auto least = of.template attr<bool>("narrow_range") ? 1.0f : 0.0f;
  return bit_range{least, static_cast<float>((1 << bits) - 1)};
}

/// A range of real numbers, moved so that 0 is one of those that whole numbers stand for.
struct nudged_range {
  float least, most, step;

  static result<nudged_range> around(float least, float most, const bit_range& whole) {
    if (!nudges(least, most))
      return invalid("min must be at most 0, max at least 0, and not both 0; got ", least, " and ",
                     most);
    return nudged(least, most, whole);
  }
  /// The parts of it, for who cannot fail.
  static constexpr bool nudges(float least, float most) {
    return least <= 0 && most >= 0 && least < most;
  }
  template <class T = float>
  static constexpr nudged_range nudged(T least, T most, const bit_range& whole) {
    auto step = (most - least) / (whole.most - whole.least);
    auto zero = std::round(std::clamp(whole.least - least / step, whole.least, whole.most));
    return nudged_range{(whole.least - zero) * step, (whole.most - zero) * step, step};
  }

  constexpr bool contains(float x) const { return x >= least && x <= most; }
  template <class T = float> // a template may call what only GPUs and some compilers evaluate
  constexpr T rounded(T x) const {
    auto zero = std::floor(0.5f - least / step);
    return std::floor((std::max(std::min(x, most), least) - least) / step - zero + 0.5f) * step;
  }
};

/// For kernels of ops whose attributes min and max are the range.
inline result<nudged_range> attribute_range(const node& of) {
  TROUPE_ASSIGN(auto whole, bit_range_of(of));
  return nudged_range::around(static_cast<float>(of.attr<double>("min")),
                              static_cast<float>(of.attr<double>("max")), whole);
}

/// For kernel_def::prepare.
inline result<std::shared_ptr<void>> keep_attribute_range(const kernel_setup& setup) {
  TROUPE_ASSIGN(auto range, attribute_range(setup.of));
  return std::shared_ptr<void>{std::make_shared<nudged_range>(range)};
}
inline result<std::shared_ptr<void>> keep_bit_range(const kernel_setup& setup) {
  TROUPE_ASSIGN(auto range, bit_range_of(setup.of));
  return std::shared_ptr<void>{std::make_shared<bit_range>(range)};
}

/// Output 0 from input 0.
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

/// Checks that the range at that input and the next is two numbers.
inline status check_range_inputs(const kernel_context& at, int i) {
  const auto &least = at.input(i), &most = at.input(i + 1);
  if (least.elements() == 1 && most.elements() == 1)
    return {};
  return invalid("min and max must be scalars, got shapes ", least.dims(), " and ", most.dims());
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
