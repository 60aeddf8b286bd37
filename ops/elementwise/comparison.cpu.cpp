#include "troupe/ops/elementwise/shared/elementwise.cpu.hpp"
#include "troupe/ops/kernel/cached_attr.hpp"

#include <cmath>
#include <functional>

namespace troupe::ops::comparison_cpu {
namespace {

// Compares element by element. Tensors whose shapes do not match are unequal as a whole, unless
// that is an error.
template <class T, class Fn>
status compare(kernel_context& at) {
  if (!at.state<bool>() && !broadcast(at.input(0).dims(), at.input(1).dims())) {
    constexpr bool answer = Fn{}(0, 1);
    TROUPE_ASSIGN(auto* out, at.allocate(0, {}));
    *out->template data<bool>() = answer;
    return {};
  }
  return binary<T, Fn, bool>(at);
}

template <class Fn, class... Ts>
constexpr inplace_vector<typed_kernel, 18> equality_kernels(type_list<Ts...>) {
  return {binary_kernel<Ts, Fn, bool>(compare<Ts, Fn>)...};
}

// The distance of a and b. The distance of integers may exceed their type.
template <class T>
auto distance(const T& a, const T& b) {
  if constexpr (std::is_integral_v<T>)
    return a < b ? static_cast<uint64_t>(b) - static_cast<uint64_t>(a)
                 : static_cast<uint64_t>(a) - static_cast<uint64_t>(b);
  else
    return std::abs(a - b);
}

template <class T>
status run(kernel_context& at) {
  const auto &x = at.input(0), &y = at.input(1);
  TROUPE_TRY(check_paired(at));
  TROUPE_ASSIGN(auto* out, at.allocate(0, x.dims()));
  auto a = x.values<T>(), b = y.values<T>();
  auto z = out->values<bool>();
  // Floats compare with the tolerance rounded to their type.
  using measure = decltype(distance(widen(a[0]), widen(b[0])));
  using limit = std::conditional_t<std::is_same_v<measure, float>, float, double>;
  const auto tolerance = static_cast<limit>(at.state<double>());
  at.parallel_for(x.elements(), cheap, [&](int64_t begin, int64_t end) {
    for (auto i = static_cast<size_t>(begin); i < static_cast<size_t>(end); ++i)
      z[i] = static_cast<limit>(distance(widen(a[i]), widen(b[i]))) <= tolerance;
  });
  return {};
}

template <class... Ts>
constexpr inplace_vector<typed_kernel, 18> kernels(type_list<Ts...>) {
  return {{dtype_of<Ts>, run<Ts>}...};
}

} // namespace

extern constexpr kernel_def equal_cpu{
    .op = "Equal",
    .run = equality_kernels<std::equal_to<>>(types::numbers + types::boolean + types::string),
    .prepare = cache_attr<bool, "incompatible_shape_error">,
};

extern constexpr kernel_def not_equal_cpu{
    .op = "NotEqual",
    .run = equality_kernels<std::not_equal_to<>>(types::numbers + types::boolean + types::string),
    .prepare = cache_attr<bool, "incompatible_shape_error">,
};

extern constexpr kernel_def less_cpu{
    .op = "Less",
    .run = comparison_kernels<std::less<>>(types::real_numbers),
};

extern constexpr kernel_def less_equal_cpu{
    .op = "LessEqual",
    .run = comparison_kernels<std::less_equal<>>(types::real_numbers),
};

extern constexpr kernel_def greater_cpu{
    .op = "Greater",
    .run = comparison_kernels<std::greater<>>(types::real_numbers),
};

extern constexpr kernel_def greater_equal_cpu{
    .op = "GreaterEqual",
    .run = comparison_kernels<std::greater_equal<>>(types::real_numbers),
};

extern constexpr kernel_def approximate_equal_cpu{
    .op = "ApproximateEqual",
    .run = kernels(types::numbers),
    .prepare = cache_attr<double, "tolerance">,
};

} // namespace troupe::ops::comparison_cpu
