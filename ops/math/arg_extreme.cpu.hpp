// What the kernels of ArgMax and ArgMin share.
#pragma once
#include "troupe/ops/axes.hpp"
#include "troupe/ops/element_types.hpp"
#include "troupe/runtime/infer.hpp"

namespace troupe::ops {

/// `better(x, best)` says whether a later element replaces the best one so far.
template <class T, class Better>
status arg_extreme(kernel_context& at) {
  const auto& x = at.input(0);
  const auto& dims = x.dims();
  if (at.input(1).elements() != 1)
    return invalid("dimension must be one number, got shape ", at.input(1).dims());
  TROUPE_ASSIGN(auto axis, resolve_axis(to_integers(at.input(1))[0], dims.rank()));
  axis_set along;
  along.set(static_cast<size_t>(axis));
  auto length = dims[axis], inner = product(dims, axis + 1, dims.rank());
  TROUPE_ASSIGN(auto* out, at.allocate(0, without(dims, along, false)));
  if (out->elements() > 0 && length == 0)
    return invalid("axis ", axis, " of ", dims, " is empty");
  auto find = [&](auto* to) {
    const T* from = x.data<T>();
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
constexpr upto<typed_kernel, 18> arg_extreme_kernels(type_list<Ts...>) {
  return {{dtype_of<Ts>, arg_extreme<Ts, Better>}...};
}

} // namespace troupe::ops
