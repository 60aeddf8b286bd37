// Softmax on GPUs: a group of threads reads each row of logits twice.
#pragma once
#include "troupe/ops/kernel/gpu/layer.cuda.hpp"

#include <math.h>

namespace troupe::ops::gpu {
inline namespace TROUPE_GPU_BUILD {

/// The largest element read so far, and the sum of exp(x - largest) of the elements read so far.
template <class N>
struct exponentials {
  N largest = 0, sum = 0; ///< sum 0: no element was read

  TROUPE_DEVICE void add(N x) {
    if (sum == 0) {
      largest = x;
      sum = 1;
    } else if (x > largest) {
      sum = sum * exp(largest - x) + 1;
      largest = x;
    } else {
      sum += x == largest ? N{1} : exp(x - largest); // infinity - infinity would be NaN
    }
  }
  /// Where the largest is infinite, all results of the row are NaN.
  TROUPE_DEVICE N total() const {
    return largest - largest == 0 ? sum : std::numeric_limits<N>::quiet_NaN();
  }
};

struct join_exponentials {
  template <class E>
  static TROUPE_DEVICE E step(const E& a, const E& b) {
    if (a.sum == 0 || b.sum == 0)
      return a.sum == 0 ? b : a;
    if (a.largest == b.largest)
      return {a.largest, a.sum + b.sum};
    if (a.largest < b.largest)
      return {b.largest, a.sum * exp(a.largest - b.largest) + b.sum};
    return {a.largest, a.sum + b.sum * exp(b.largest - a.largest)};
  }
};

struct add_numbers {
  template <class N>
  static TROUPE_DEVICE N step(N a, N b) {
    return a + b;
  }
};

template <class T, class Group>
TROUPE_DEVICE exponentials<compute_type<T>> exponentials_of(const T* row, int64_t size,
                                                            const Group& group) {
  exponentials<compute_type<T>> partial;
  for (int64_t c = group.rank(); c < size; c += group.size())
    partial.add(load(row[c]));
  return group.template all<join_exponentials>(partial);
}

template <class T, bool Logarithm>
struct softmax_body {
  const T* x;
  T* y;
  int64_t size;
  template <class Group>
  TROUPE_DEVICE void operator()(int64_t row, const Group& group) const {
    const auto* from = x + row * size;
    auto* to = y + row * size;
    auto row_sums = exponentials_of(from, size, group);
    auto total = row_sums.total();
    if constexpr (Logarithm)
      total = log(total);
    else
      total = 1 / total;
    for (int64_t c = group.rank(); c < size; c += group.size()) {
      auto beyond = load(from[c]) - row_sums.largest;
      if constexpr (Logarithm)
        to[c] = store<T>(beyond - total);
      else
        to[c] = store<T>(exp(beyond) * total);
    }
  }
};

template <class T, bool Logarithm>
status softmax(kernel_context& at) {
  const auto& in = at.input(0);
  if (in.rank() == 0)
    return invalid("logits must have a last axis, got a scalar");
  auto size = in.dims()[in.rank() - 1], rows = size > 0 ? in.elements() / size : 0;
  const troupe::gpu::softmax_layer layer{Logarithm, dtype_of<T>, rows, size};
  TROUPE_ASSIGN(auto* out, forward_unless_tuning(at, layer, in.dims()));
  if (in.elements() == 0)
    return {};
  const auto* x = in.data<T>();
  auto* y = out->template data<T>();
  return compute_layer(
      at, layer,
      [&at, rows, size, x, y] {
        return for_each_group(at, rows, size, softmax_body<T, Logarithm>{x, y, size});
      },
      [=](layer_library& library, const auto& call) { return library.softmax(call, layer, x, y); },
      always_agree, x == y);
}

template <bool Logarithm, class... Ts>
constexpr inplace_vector<typed_kernel, 18> softmax_kernels(type_list<Ts...>) {
  return {{dtype_of<Ts>, softmax<Ts, Logarithm>}...};
}

} // namespace TROUPE_GPU_BUILD
} // namespace troupe::ops::gpu
