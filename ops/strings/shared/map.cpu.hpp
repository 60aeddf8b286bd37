// Kernels that compute each element of the output from one string.
#pragma once
#include "troupe/ops/kernel/first_failure.hpp"
#include "troupe/runtime/graph/kernel.hpp"

#include <string>
#include <string_view>

namespace troupe::ops {

/// The estimated cost of reading one string once, for parallel_for.
inline constexpr double nanoseconds_per_string = 60;

/// output[i] = fn(input[i]). Where fn returns a result, the first failure is the kernel's.
template <class R, class Fn>
status map_strings(kernel_context& at, Fn&& fn, double cost = nanoseconds_per_string) {
  const auto& input = at.input(0);
  TROUPE_ASSIGN(auto* out, at.allocate(0, input.dims()));
  const auto* from = input.data<std::string>();
  auto* to = out->template data<R>();
  first_failure failed;
  at.parallel_for(input.elements(), cost, [&](int64_t begin, int64_t end) {
    for (auto i = begin; i < end; ++i) {
      if constexpr (requires { fn(from[i]).status(); }) {
        auto mapped = fn(from[i]);
        if (!mapped)
          return failed.note(i, mapped.status());
        to[i] = *std::move(mapped);
      } else {
        to[i] = fn(from[i]);
      }
    }
  });
  return failed.take();
}

} // namespace troupe::ops
