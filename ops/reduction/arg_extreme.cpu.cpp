#include "troupe/ops/reduction/shared/arg_extreme.hpp"
#include "troupe/ops/kernel/element_types.hpp"

#include <functional>

namespace troupe::ops::arg_extreme_cpu {
namespace {

// `better(x, best)` returns whether a later element replaces the best one so far.
template <class T, class Better>
status arg_extreme(kernel_context& at) {
  TROUPE_ASSIGN(auto lines, lines_of_arg_extreme(at));
  auto [out, length, inner] = lines;
  auto find = [&, out = out, length = length, inner = inner](auto* to) {
    const T* from = at.input(0).data<T>();
    at.parallel_for(out->elements(), static_cast<double>(length), [&](int64_t begin, int64_t end) {
      for (auto i = begin; i < end; ++i) {
        const T* first = from + i / inner * length * inner + i % inner;
        int64_t where = 0;
        compute_type<T> best = widen(*first);
        for (int64_t k = 1; k < length && !is_nan(best); ++k)
          if (compute_type<T> candidate = widen(first[k * inner]);
              Better{}(candidate, best) || is_nan(candidate)) {
            best = candidate;
            where = k;
          }
        to[i] = static_cast<std::remove_reference_t<decltype(*to)>>(where);
      }
    });
  };
  if (out->type() == dtype::i64)
    find(out->template data<int64_t>());
  else
    find(out->template data<int32_t>());
  return {};
}

template <class Better, class... Ts>
constexpr inplace_vector<typed_kernel, 18> arg_extreme_kernels(type_list<Ts...>) {
  return {{dtype_of<Ts>, arg_extreme<Ts, Better>}...};
}

} // namespace

extern constexpr kernel_def arg_max_cpu{
    .op = "ArgMax",
    .run = arg_extreme_kernels<std::greater<>>(types::real_numbers + types::boolean),
};

extern constexpr kernel_def arg_min_cpu{
    .op = "ArgMin",
    .run = arg_extreme_kernels<std::less<>>(types::real_numbers + types::boolean),
};

} // namespace troupe::ops::arg_extreme_cpu
