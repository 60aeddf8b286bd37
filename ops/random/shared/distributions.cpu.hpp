// The kernels of distributions without parameters.
#pragma once
#include "troupe/ops/random/shared/random.cpu.hpp"

namespace troupe::ops {

template <class T, template <class> class Draw>
struct rounded {
  static constexpr double cost = Draw<T>::cost;
  std::array<T, per_block<T>> operator()(const philox& numbers, uint64_t index) const {
    auto values_drawn = Draw<T>{}(numbers, index);
    std::array<T, per_block<T>> out;
    std::ranges::transform(values_drawn, out.begin(), [](auto x) { return static_cast<T>(x); });
    return out;
  }
};

template <class T, template <class> class Draw>
status run_drawn(kernel_context& at) {
  return fill_random<T, per_block<T>>(at, Draw<T>::cost, rounded<T, Draw>{});
}

/// The numbers start anew in each run: input 1 has the two seeds.
template <class T, template <class> class Draw>
status run_stateless(kernel_context& at) {
  const auto& seeds = at.input(1);
  TROUPE_TRY(check_seeds(seeds));
  auto seed = to_integers(seeds);
  TROUPE_ASSIGN(auto dims, drawn_shape(at));
  TROUPE_ASSIGN(auto* out, at.allocate(0, dims));
  philox numbers{static_cast<uint64_t>(seed[0]), static_cast<uint64_t>(seed[1])};
  fill_from<T, per_block<T>>(at, *out, numbers, 0, Draw<T>::cost, rounded<T, Draw>{});
  return {};
}

template <template <class> class Draw, class... Ts>
constexpr inplace_vector<typed_kernel, 18> drawn_kernels(type_list<Ts...>) {
  return {{dtype_of<Ts>, run_drawn<Ts, Draw>}...};
}
template <template <class> class Draw, class... Ts>
constexpr inplace_vector<typed_kernel, 18> stateless_kernels(type_list<Ts...>) {
  return {{dtype_of<Ts>, run_stateless<Ts, Draw>}...};
}

} // namespace troupe::ops
