#include "troupe/ops/index/shared/nth_element.hpp"
#include "troupe/ops/index/shared/order_keys.cuda.hpp"
#include "troupe/ops/index/shared/top_k.cuda.hpp"
#include "troupe/ops/kernel/cached_attr.hpp"
#include "troupe/ops/kernel/gpu/device_indices.cuda.hpp"
#include "troupe/ops/kernel/gpu/primitives.cuda.hpp"

namespace troupe::ops::top_k_gpu {
namespace {

template <class... Ts>
constexpr inplace_vector<typed_kernel, 18> top_k_kernels(type_list<Ts...>) {
  return {{dtype_of<Ts>,
           [](kernel_context& at) { return gpu::find_greatest<Ts>(at, at.state<int64_t>()); }}...};
}

template <class T>
status run_top_k_v2(kernel_context& at) {
  TROUPE_ASSIGN(auto k, listed_k(at));
  return gpu::find_greatest<T>(at, k);
}

template <class... Ts>
constexpr inplace_vector<typed_kernel, 18> top_k_v2_kernels(type_list<Ts...>) {
  return {{dtype_of<Ts>, run_top_k_v2<Ts>}...};
}

constexpr int64_t nth_longest_searched = 1024;

struct nth_sum {
  TROUPE_DEVICE static int64_t step(int64_t a, int64_t b) { return a + b; }
};

struct nth_least {
  TROUPE_DEVICE static int64_t step(int64_t a, int64_t b) { return b < a ? b : a; }
};

// The sought key is determined bit by bit, from the highest.
template <class T>
struct nth_body {
  const T* from;
  int64_t size, n;
  T* to;

  template <class Group>
  TROUPE_DEVICE void operator()(int64_t row, const Group& group) const {
    using keys = gpu::short_key<T>;
    const T* x = from + row * size;
    uint64_t prefix = 0;
    auto rank_left = n; // the rank among keys with this prefix
    for (int bit = keys::bits - 1; bit >= 0; --bit) {
      int64_t zeros = 0;
      for (int64_t i = group.rank(); i < size; i += group.size())
        zeros += keys::of(x[i]) >> bit == prefix >> bit;
      zeros = group.template all<nth_sum>(zeros);
      if (rank_left >= zeros) {
        rank_left -= zeros;
        prefix |= uint64_t{1} << bit;
      }
    }
    int64_t place = size;
    for (int64_t i = group.rank(); i < size; i += group.size())
      if (keys::of(x[i]) == prefix && i < place)
        place = i;
    place = group.template all<nth_least>(place);
    if (group.rank() == 0)
      to[row] = x[place];
  }
};

template <class T>
struct nth_sorted_body {
  const T* from;
  gpu::integers order;
  int64_t size, n;
  T* to;
  TROUPE_DEVICE void operator()(int64_t row) const {
    to[row] = from[row * size + order[row * size + n]];
  }
};

template <class T>
status run_nth(kernel_context& at) {
  const auto& in = at.input(0);
  TROUPE_ASSIGN(auto layout, nth_layout_of(at, at.state<bool>()));
  TROUPE_ASSIGN(auto* out, at.allocate(0, layout.dims));
  // Sorting reads long rows less often.
  if (layout.size > nth_longest_searched && gpu::can_sort_rows_of<T>(layout.size)) {
    TROUPE_ASSIGN(auto keys, gpu::short_keys<T>(at, in, false));
    TROUPE_ASSIGN(auto sorted, gpu::sort_rows(at, keys, gpu::short_key<T>::bits));
    return gpu::for_each(at, out->elements(),
                         nth_sorted_body<T>{in.data<T>(), gpu::integers{sorted.places}, layout.size,
                                            layout.n, out->template data<T>()});
  }
  return gpu::for_each_group(
      at, out->elements(), layout.size,
      nth_body<T>{in.data<T>(), layout.size, layout.n, out->template data<T>()});
}

template <class... Ts>
constexpr inplace_vector<typed_kernel, 18> nth_kernels(type_list<Ts...>) {
  return {{dtype_of<Ts>, run_nth<Ts>}...};
}

} // namespace

extern constexpr kernel_def TROUPE_GPU_KERNEL(top_k){
    .op = "TopK",
    .device = device_kind::gpu,
    .run = top_k_kernels(gpu::sorted_types),
    .prepare = cache_attr<int64_t, "k">,
};

extern constexpr kernel_def TROUPE_GPU_KERNEL(top_k_v2){
    .op = "TopKV2",
    .device = device_kind::gpu,
    .run = top_k_v2_kernels(gpu::sorted_types),
};

extern constexpr kernel_def TROUPE_GPU_KERNEL(nth_element){
    .op = "NthElement",
    .device = device_kind::gpu,
    .run = nth_kernels(types::floating + type_list<int32_t, int64_t>{}),
    .prepare = cache_attr<bool, "reverse">,
};

} // namespace troupe::ops::top_k_gpu
