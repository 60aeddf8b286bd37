// The kernels of LowerBound and UpperBound for GPUs.
#pragma once
#include "troupe/ops/index/shared/search_sorted.hpp"
#include "troupe/ops/kernel/gpu/device_indices.cuda.hpp"

#include <algorithm>

namespace troupe::ops::gpu {
inline namespace TROUPE_GPU_BUILD {

template <class T, bool Upper>
struct search_body {
  struct less {
    TROUPE_DEVICE bool operator()(const T& a, const T& b) const { return load(a) < load(b); }
  };

  divisor by_columns;
  int64_t length;
  const T *from, *wanted;
  integer_output to;

  TROUPE_DEVICE void operator()(int64_t i) const {
    const T* row = from + by_columns(i).quotient * length;
    const T* found = Upper ? std::upper_bound(row, row + length, wanted[i], less{})
                           : std::lower_bound(row, row + length, wanted[i], less{});
    to.set(i, found - row);
  }
};

template <class T, bool Upper>
status search_rows(kernel_context& at) {
  TROUPE_TRY(check_bounds(at));
  const auto &sorted = at.input(0), &values = at.input(1);
  TROUPE_ASSIGN(auto* out, at.allocate(0, values.dims()));
  return for_each(at, values.elements(),
                  search_body<T, Upper>{{values.dims()[1], values.elements()},
                                        sorted.dims()[1],
                                        sorted.data<T>(),
                                        values.data<T>(),
                                        integer_output{*out}});
}

template <bool Upper, class... Ts>
constexpr inplace_vector<typed_kernel, 18> search_kernels(type_list<Ts...>) {
  return {{dtype_of<Ts>, search_rows<Ts, Upper>}...};
}

} // namespace TROUPE_GPU_BUILD
} // namespace troupe::ops::gpu
