#include "troupe/ops/kernel/cached_attr.hpp"
#include "troupe/ops/kernel/gpu/device_indices.cuda.hpp"
#include "troupe/ops/loss/in_top_k.hpp"

namespace troupe::ops::gpu {
inline namespace TROUPE_GPU_BUILD {

struct count_up {
  TROUPE_DEVICE static int64_t step(int64_t a, int64_t b) { return a + b; }
};

TROUPE_DEVICE inline bool is_finite(float x) { return x - x == 0; }

// A k computed on the device takes precedence, if there is one.
template <class K>
struct in_top_body {
  const float* from;
  int64_t classes;
  integers targets;
  K k;
  bool* to;

  template <class Group>
  TROUPE_DEVICE void operator()(int64_t row, const Group& group) const {
    constexpr auto too_many = int64_t{1} << 40; // the rank of a target that is not finite
    const float* x = from + row * classes;
    auto target = targets[row];
    auto is_valid = target >= 0 && target < classes;
    int64_t greater = is_valid && is_finite(x[target]) ? 0 : too_many;
    if (greater == 0)
      for (int64_t c = group.rank(); c < classes; c += group.size())
        greater += !is_finite(x[c]) ? too_many : x[c] > x[target];
    greater = group.template all<count_up>(greater);
    if (group.rank() == 0)
      to[row] = greater < too_many && greater < k[0];
  }
};

struct known_k {
  int64_t k;
  TROUPE_DEVICE int64_t operator[](int64_t) const { return k; }
};

template <class K>
status mark_in_top_k(kernel_context& at, K k) {
  const auto &predictions = at.input(0), &targets = at.input(1);
  TROUPE_TRY(check_targets(predictions, targets));
  TROUPE_ASSIGN(auto* out, at.allocate(0, targets.dims()));
  auto classes = predictions.dims()[1];
  return for_each_group(at, targets.elements(), classes,
                        in_top_body<K>{predictions.data<float>(), classes, integers{targets}, k,
                                       out->template data<bool>()});
}

} // namespace TROUPE_GPU_BUILD
} // namespace troupe::ops::gpu

namespace troupe::ops::in_top_k_gpu {
namespace {

status run_in_top_k(kernel_context& at) {
  return gpu::mark_in_top_k(at, gpu::known_k{at.state<int64_t>()});
}

status run_in_top_k_v2(kernel_context& at) {
  if (at.input(2).rank() != 0)
    return invalid("k must be a scalar, got shape ", at.input(2).dims());
  return gpu::mark_in_top_k(at, gpu::integers{at.input(2)});
}

} // namespace

extern constexpr kernel_def TROUPE_GPU_KERNEL(in_top_k){
    .op = "InTopK",
    .device = device_kind::gpu,
    .run = {{dtype::i32, run_in_top_k}, {dtype::i64, run_in_top_k}},
    .prepare = cache_attr<int64_t, "k">,
};

extern constexpr kernel_def TROUPE_GPU_KERNEL(in_top_k_v2){
    .op = "InTopKV2",
    .device = device_kind::gpu,
    .run = {{dtype::i32, run_in_top_k_v2}, {dtype::i64, run_in_top_k_v2}},
};

} // namespace troupe::ops::in_top_k_gpu
