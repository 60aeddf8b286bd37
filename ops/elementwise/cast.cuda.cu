#include "troupe/ops/elementwise/shared/conversion.hpp"
#include "troupe/ops/elementwise/shared/elementwise.cuda.hpp"
#include "troupe/ops/kernel/cached_attr.hpp"

namespace troupe::ops::cast_gpu {
namespace {

// Each kernel handles all target types: a branch per element costs less than a kernel per pair of
// types.
template <class From>
struct cast_body {
  const From* from;
  void* to;
  dtype target;
  int cut = 0; // the number of bits to truncate

  template <class To>
  TROUPE_DEVICE void put(int64_t i) const {
    auto x = gpu::load(from[i]);
    if constexpr (std::is_floating_point_v<From>)
      if (cut > 0)
        x = without_low_bits(x, cut);
    static_cast<To*>(to)[i] = gpu::store<To>(converted<compute_type<To>>(x));
  }
  // The imaginary part is zero.
  template <class Part>
  TROUPE_DEVICE void put_complex(int64_t i) const {
    auto* parts = static_cast<Part*>(to) + 2 * i;
    parts[0] = converted<Part>(gpu::load(from[i]));
    parts[1] = 0;
  }
  TROUPE_DEVICE void operator()(int64_t i) const {
    switch (target) {
      case dtype::boolean: return put<bool>(i);
      case dtype::i8: return put<int8_t>(i);
      case dtype::i16: return put<int16_t>(i);
      case dtype::i32: return put<int32_t>(i);
      case dtype::i64: return put<int64_t>(i);
      case dtype::u8: return put<uint8_t>(i);
      case dtype::u16: return put<uint16_t>(i);
      case dtype::u32: return put<uint32_t>(i);
      case dtype::u64: return put<uint64_t>(i);
      case dtype::f16: return put<float16>(i);
      case dtype::bf16: return put<bfloat16>(i);
      case dtype::f32: return put<float>(i);
      case dtype::f64: return put<double>(i);
      case dtype::c64: return put_complex<float>(i);
      case dtype::c128: return put_complex<double>(i);
      default: return;
    }
  }
};

struct cast_fn {
  TROUPE_DEVICE float operator()(float x) const { return x; }
};

template <class From>
status run_cast(kernel_context& at) {
  const auto& x = at.input(0);
  auto target = at.output_type(0);
  if (dtype_of<From> == target) {
    at.set_output(0, x);
    return {};
  }
  auto cut = at.state<bool>() ? lost_bits(dtype_of<From>, target) : 0;
  // Training with mixed precision casts between these types often.
  if constexpr (std::is_same_v<From, float>) {
    if (target == dtype::f16 && cut == 0)
      return gpu::unary<float, cast_fn, float16>(at);
    if (target == dtype::bf16 && cut == 0)
      return gpu::unary<float, cast_fn, bfloat16>(at);
  }
  if constexpr (is_half<From>)
    if (target == dtype::f32)
      return gpu::unary<From, cast_fn, float>(at);
  TROUPE_ASSIGN(auto* out, at.allocate(0, x.dims()));
  return gpu::for_each(at, x.elements(), cast_body<From>{x.data<From>(), out->raw(), target, cut});
}

template <class... Ts>
constexpr inplace_vector<typed_kernel, 18> cast_kernels(type_list<Ts...>) {
  return {{dtype_of<Ts>, run_cast<Ts>}...};
}

} // namespace

extern constexpr kernel_def TROUPE_GPU_KERNEL(cast){
    .op = "Cast",
    .device = device_kind::gpu,
    .run = cast_kernels(types::real_numbers + types::boolean),
    .key = "SrcT",
    .prepare = cache_attr<bool, "Truncate">,
};

} // namespace troupe::ops::cast_gpu
