// Distributions with parameters, drawn by rejection: each element has numbers of its own, as many
// as it takes, so that the output does not depend on who draws it.
#pragma once
#include "troupe/ops/random/as_doubles.hpp"
#include "troupe/ops/random/random.cpu.hpp"

namespace troupe::ops {

/// The numbers of one element, one after another.
class number_source {
public:
  number_source(const philox& numbers, uint64_t index) : numbers_(numbers), index_(index) {}

  /// From [0, 1), evenly.
  double uniform() {
    if (left_ == 0) {
      block_ = numbers_(index_, attempt_++);
      left_ = 2;
    }
    --left_;
    return ops::uniform<double>(joined(block_[2 * left_], block_[2 * left_ + 1]));
  }
  /// Normal, with mean 0 and variance 1.
  double normal() {
    auto radius = std::sqrt(-2 * std::log(1 - uniform()));
    return radius * std::cos(2 * std::numbers::pi * uniform());
  }

private:
  const philox& numbers_;
  const uint64_t index_;
  uint32_t attempt_ = 0;
  philox::block block_{};
  size_t left_ = 0;
};

/// The nearest number that T has; the largest for those beyond.
template <class T>
T nearest(double x) {
  if constexpr (std::is_integral_v<T>)
    return x < static_cast<double>(std::numeric_limits<T>::max()) ? static_cast<T>(x)
                                                                  : std::numeric_limits<T>::max();
  else
    return static_cast<T>(static_cast<compute_type<T>>(x));
}

/// Fills output 0 for each place of the shape that input 0 lists with one number for each parameter
/// in input 1, drawn by `draw(numbers, parameter)`.
template <class T, class Draw>
status draw_for_each(kernel_context& at, double nanoseconds, Draw draw) {
  TROUPE_ASSIGN(auto outer, drawn_shape(at));
  TROUPE_ASSIGN(auto parameters, as_doubles(at.input(1), at.memory()));
  std::vector<int64_t> extents{outer.begin(), outer.end()};
  extents.insert(extents.end(), parameters.dims().begin(), parameters.dims().end());
  TROUPE_ASSIGN(auto dims, shape::make(extents));
  TROUPE_ASSIGN(auto* out, at.allocate(0, dims));
  auto& stream = at.state<random_stream>();
  auto first = stream.take(static_cast<uint64_t>(dims.elements()));
  auto* to = out->template data<T>();
  const auto* parameter = parameters.template data<double>();
  auto each = parameters.elements();
  at.parallel_for(dims.elements(), nanoseconds, [&](int64_t begin, int64_t end) {
    for (auto i = begin; i < end; ++i) {
      number_source numbers{stream.numbers(), first + static_cast<uint64_t>(i)};
      to[i] = nearest<T>(draw(numbers, parameter[i % each]));
    }
  });
  return {};
}

} // namespace troupe::ops
