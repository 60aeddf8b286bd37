#include "troupe/ops/index/shared/order_keys.cuda.hpp"
#include "troupe/ops/kernel/gpu/device_indices.cuda.hpp"
#include "troupe/ops/kernel/gpu/primitives.cuda.hpp"
#include "troupe/ops/sparse/shared/sparsify_top_k.hpp"
#include "troupe/ops/state/shared/update.cuda.hpp"

#include <limits>

namespace troupe::ops::sparsify_top_k_gpu {
namespace {

// The greatest magnitude of the new residual has the least key.
template <class T>
struct magnitude_key_body {
  using keys = gpu::short_key<T>;
  using number = compute_type<T>;
  const T *rest, *gradient;
  typename keys::word* to;
  TROUPE_DEVICE void operator()(int64_t i) const {
    auto value = gpu::load(gpu::store<T>(adding{}(gpu::load(rest[i]), gpu::load(gradient[i]))));
    auto magnitude = is_nan(value) ? std::numeric_limits<number>::infinity()
                     : value < 0   ? -value
                                   : value;
    to[i] = keys::greatest - keys::of(gpu::store<T>(magnitude));
  }
};

// The positions of all elements, in the order of their keys.
struct flag_body {
  gpu::integers places;
  int64_t k;
  uint8_t* flags;
  TROUPE_DEVICE void operator()(int64_t i) const { flags[places[i]] = i < k; }
};

template <class T>
struct take_out_body {
  const int64_t* places; // ascending
  T *rest, *values;
  int32_t* positions;
  TROUPE_DEVICE void operator()(int64_t i) const {
    auto place = places[i];
    values[i] = rest[place];
    rest[place] = T{};
    positions[i] = static_cast<int32_t>(place);
  }
};

template <class T>
status sparsify(kernel_context& at) {
  const auto& gradient = at.input(1);
  TROUPE_ASSIGN(auto k, sent_count(at));
  auto count = gradient.elements();
  TROUPE_ASSIGN(auto* values, at.allocate(0, shape{k}));
  TROUPE_ASSIGN(auto* positions, at.allocate(1, shape{k}));
  return change_variable(at, true, [&](tensor& residual) -> status {
    TROUPE_TRY(check_change(at.variable(0), residual, gradient));
    auto* residuals = residual.data<T>();
    const auto* added = gradient.template data<T>();
    auto add = [&] {
      return gpu::map(at, count, adding{}, residuals, static_cast<const T*>(residuals), added);
    };
    if (k == 0)
      return add();
    // All memory is allocated first, so that the residual changes completely or not at all.
    using word = typename gpu::short_key<T>::word;
    TROUPE_ASSIGN(auto keys, tensor::make(dtype_of<word>, shape{count}, at.memory()));
    TROUPE_TRY(gpu::for_each(at, count,
                             magnitude_key_body<T>{residuals, added, keys.template data<word>()}));
    TROUPE_ASSIGN(auto sorted, gpu::sort_rows(at, keys, gpu::short_key<T>::bits));
    TROUPE_ASSIGN(auto flags, tensor::make(dtype::u8, shape{count}, at.memory()));
    TROUPE_TRY(gpu::for_each(
        at, count, flag_body{gpu::integers{sorted.places}, k, flags.template data<uint8_t>()}));
    TROUPE_ASSIGN(auto sent, gpu::select_flagged(at, flags));
    TROUPE_TRY(add());
    return gpu::for_each(at, k,
                         take_out_body<T>{sent.places.template data<int64_t>(), residuals,
                                          values->template data<T>(),
                                          positions->template data<int32_t>()});
  });
}

} // namespace

extern constexpr kernel_def TROUPE_GPU_KERNEL(sparsify_top_k){
    .op = "SparsifyTopK",
    .device = device_kind::gpu,
    .run = {{dtype::f16, sparsify<float16>},
            {dtype::bf16, sparsify<bfloat16>},
            {dtype::f32, sparsify<float>},
            {dtype::f64, sparsify<double>}},
};

} // namespace troupe::ops::sparsify_top_k_gpu
