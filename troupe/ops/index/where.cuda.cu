#include "troupe/ops/kernel/gpu/two_phase.cuda.hpp"
#include "troupe/ops/sets/shared/equal_rows.cuda.hpp"

namespace troupe::ops::where_gpu {
namespace {

template <class T>
struct where_flag_body {
  const T* from;
  uint8_t* flags;
  TROUPE_DEVICE void operator()(int64_t i) const {
    flags[i] = gpu::load(from[i]) != compute_type<T>{};
  }
};

// Keeps the places of what is true.
template <class T>
status where_count(kernel_context& at) {
  const auto& x = at.input(0);
  auto flags = x;
  if constexpr (!std::is_same_v<T, uint8_t>) {
    TROUPE_ASSIGN(flags, gpu::room_for(at, x.elements(), dtype::u8));
    TROUPE_TRY(gpu::for_each(
        at, x.elements(),
        where_flag_body<T>{static_cast<const T*>(x.raw()), flags.template data<uint8_t>()}));
  }
  TROUPE_ASSIGN(auto selected, gpu::select_flagged(at, flags));
  at.set_output(0, selected.count.reshaped(shape{1}));
  at.set_output(1, selected.places);
  return {};
}

struct where_coordinates_body {
  const int64_t* places;
  int64_t* to;
  int rank;
  int64_t extents[max_rank];
  TROUPE_DEVICE void operator()(int64_t i) const {
    auto rest = places[i];
    for (int axis = rank - 1; axis >= 0; --axis) {
      to[i * rank + axis] = rest % extents[axis];
      rest /= extents[axis];
    }
  }
};

status where_take(kernel_context& at) {
  const auto& dims = at.input(0).dims();
  auto all = at.input(0).elements();
  TROUPE_ASSIGN(auto before, gpu::counted_before(at, 1, all, all));
  auto count = before.counts[0];
  TROUPE_ASSIGN(auto* out, at.allocate(0, shape{count, dims.rank()}));
  where_coordinates_body body{before.kept, out->template data<int64_t>(), dims.rank(), {}};
  std::ranges::copy(dims, body.extents);
  return gpu::for_each(at, dims.rank() > 0 ? count : 0, body);
}

template <class T>
struct where_of {
  static constexpr kernel_fn run = gpu::in_halves<where_count<T>, where_take>;
};

} // namespace

extern constexpr kernel_def TROUPE_GPU_KERNEL(where){
    .op = "Where",
    .device = device_kind::gpu,
    .run = gpu::compared_kernels<where_of>(),
};

} // namespace troupe::ops::where_gpu
