// Distributions without parameters: what a block of random words becomes.
#pragma once
#include "troupe/ops/random/random.cpu.hpp"

namespace troupe::ops {

template <class T>
struct uniform_draw {
  static constexpr double cost = 10; // nanoseconds per block
  std::array<T, per_block<T>> operator()(const philox& numbers, uint64_t index) const {
    auto x = numbers(index);
    if constexpr (per_block<T> == 2)
      return {uniform<T>(joined(x[0], x[1])), uniform<T>(joined(x[2], x[3]))};
    else
      return {uniform<T>(x[0]), uniform<T>(x[1]), uniform<T>(x[2]), uniform<T>(x[3])};
  }
};

template <class T>
struct normal_draw {
  static constexpr double cost = 60;
  std::array<T, per_block<T>> operator()(const philox& numbers, uint64_t index) const {
    auto drawn = normal_block<compute_type<T>>(numbers(index));
    std::array<T, per_block<T>> out;
    std::ranges::transform(drawn, out.begin(), [](auto x) { return static_cast<T>(x); });
    return out;
  }
};

/// Normal numbers, again where one is beyond 2.
template <class T>
struct truncated_normal_draw {
  static constexpr double cost = 80;
  // One in 22 is beyond: after this many attempts, none in 10^27.
  static constexpr uint32_t most_attempts = 20;
  std::array<T, per_block<T>> operator()(const philox& numbers, uint64_t index) const {
    std::array<T, per_block<T>> out{};
    std::array<bool, per_block<T>> accepted{};
    size_t missing = out.size();
    for (uint32_t attempt = 0; missing != 0 && attempt < most_attempts; ++attempt) {
      auto drawn = normal_block<compute_type<T>>(numbers(index, attempt));
      for (size_t i = 0; i < out.size(); ++i)
        if (!accepted[i] && std::abs(drawn[i]) < 2) {
          out[i] = static_cast<T>(drawn[i]);
          accepted[i] = true;
          --missing;
        }
    }
    return out;
  }
};

template <class T, template <class> class Draw>
status run_drawn(kernel_context& at) {
  return fill_random<T, per_block<T>>(at, Draw<T>::cost, Draw<T>{});
}

/// The numbers begin anew in each run: input 1 has the two seeds.
template <class T, template <class> class Draw>
status run_stateless(kernel_context& at) {
  const auto& seeds = at.input(1);
  if (seeds.rank() != 1 || seeds.elements() != 2)
    return invalid("seed must be a vector of two, got shape ", seeds.dims());
  auto seed = to_integers(seeds);
  TROUPE_ASSIGN(auto dims, drawn_shape(at));
  TROUPE_ASSIGN(auto* out, at.allocate(0, dims));
  philox numbers{static_cast<uint64_t>(seed[0]), static_cast<uint64_t>(seed[1])};
  fill_from<T, per_block<T>>(at, *out, numbers, 0, Draw<T>::cost, Draw<T>{});
  return {};
}

template <template <class> class Draw, class... Ts>
constexpr upto<typed_kernel, 18> drawn_kernels(type_list<Ts...>) {
  return {{dtype_of<Ts>, run_drawn<Ts, Draw>}...};
}
template <template <class> class Draw, class... Ts>
constexpr upto<typed_kernel, 18> stateless_kernels(type_list<Ts...>) {
  return {{dtype_of<Ts>, run_stateless<Ts, Draw>}...};
}

} // namespace troupe::ops
