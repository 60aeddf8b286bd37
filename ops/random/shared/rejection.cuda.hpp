// GPU kernels of distributions with parameters, drawn by rejection.
#pragma once
#include "troupe/ops/random/shared/parameters.hpp"
#include "troupe/ops/random/shared/random.cuda.hpp"
#include "troupe/ops/random/shared/rejection.hpp"
#include "troupe/ops/special/shared/incomplete_functions.cuda.hpp"

namespace troupe::ops::gpu {
inline namespace TROUPE_GPU_BUILD {

template <class T, class Draw>
struct reject_body {
  known_numbers numbers;
  real_elements parameters;
  divisor by_parameters;
  device_errors wrong;
  T* to;
  TROUPE_DEVICE void operator()(int64_t i) const {
    auto parameter = parameters[by_parameters(i).rest];
    if (!Draw::allows(parameter)) {
      wrong.add();
      to[i] = T{};
      return;
    }
    number_source source{numbers.numbers, numbers.first + static_cast<uint64_t>(i)};
    to[i] = store<T>(nearest<T>(Draw::draw(source, parameter)));
  }
};

/// Fills output 0: for each index of the shape that input 0 lists, one number per parameter in
/// input 1.
template <class T, class Draw>
status reject(kernel_context& at) {
  TROUPE_ASSIGN(auto dims, drawn_for_each(at));
  TROUPE_ASSIGN(auto* out, at.allocate(0, dims));
  auto numbers = next_numbers(at, dims.elements());
  return for_each(at, dims.elements(),
                  reject_body<T, Draw>{numbers,
                                       real_elements{at.input(1)},
                                       {at.input(1).elements(), dims.elements()},
                                       {at, Draw::wrong},
                                       out->template data<T>()});
}

struct gamma_draw {
  static constexpr auto wrong = "alpha must be positive and finite";
  TROUPE_DEVICE static bool allows(double alpha) { return is_positive(alpha); }
  TROUPE_DEVICE static double draw(number_source& numbers, double alpha) {
    return drawn_gamma(numbers, alpha);
  }
};

struct poisson_draw {
  static constexpr auto wrong = "a rate must be finite and not negative";
  TROUPE_DEVICE static bool allows(double rate) { return is_rate(rate); }
  TROUPE_DEVICE static double draw(number_source& numbers, double rate) {
    return drawn_poisson(numbers, rate, log_gamma{});
  }
};

} // namespace TROUPE_GPU_BUILD
} // namespace troupe::ops::gpu
