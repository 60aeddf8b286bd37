#include "troupe/ops/define/axes.hpp"
#include "troupe/ops/elementwise/shared/elementwise.cuda.hpp"
#include "troupe/ops/kernel/gpu/two_phase.cuda.hpp"
#include "troupe/ops/sets/shared/equal_rows.cuda.hpp"

namespace troupe::ops::gpu {
inline namespace TROUPE_GPU_BUILD {

struct wide_element {
  uint64_t words[2];
};

// Calls the body with a std::type_identity of a type of this many bytes.
template <class Body>
status with_width(size_t bytes, Body&& body) {
  switch (bytes) {
    case 1: return body(std::type_identity<uint8_t>{});
    case 2: return body(std::type_identity<uint16_t>{});
    case 4: return body(std::type_identity<uint32_t>{});
    case 8: return body(std::type_identity<uint64_t>{});
    default: return body(std::type_identity<wide_element>{});
  }
}

struct choice {
  template <class T>
  TROUPE_DEVICE T operator()(bool chosen, const T& yes, const T& no) const {
    return chosen ? yes : no;
  }
};

} // namespace TROUPE_GPU_BUILD
} // namespace troupe::ops::gpu

namespace troupe::ops::select_gpu {
namespace {

// Each truth value selects a row of elements.
template <class T>
struct select_rows_body {
  int64_t row;
  const bool* condition;
  const T *yes, *no;
  T* out;
  bool narrow;
  TROUPE_DEVICE void operator()(int64_t i) const {
    auto row_index = narrow ? static_cast<uint32_t>(i) / static_cast<uint32_t>(row) : i / row;
    out[i] = condition[row_index] ? yes[i] : no[i];
  }
};

status run_select(kernel_context& at) {
  const auto &condition = at.input(0), &t = at.input(1), &e = at.input(2);
  const auto& dims = t.dims();
  if (!(dims == e.dims()))
    return invalid("t and e must have one shape, got ", dims, " and ", e.dims());
  int64_t row = 1;
  if (condition.rank() == 0)
    row = std::max<int64_t>(dims.elements(), 1);
  else if (condition.rank() == 1 && dims.rank() > 1 && condition.dims()[0] == dims[0])
    row = troupe::ops::product(dims, 1, dims.rank());
  else if (!(condition.dims() == dims))
    return invalid("condition must be a scalar, a vector of rows, or have the shape ", dims,
                   ", got ", condition.dims());
  return gpu::with_width(size_of(t.type()), [&](auto width) -> status {
    using T = typename decltype(width)::type;
    const auto* chosen = condition.data<bool>();
    const auto *yes = static_cast<const T*>(t.raw()), *no = static_cast<const T*>(e.raw());
    TROUPE_ASSIGN(auto* out, at.forward_or_allocate(0, {1, 2}, dims));
    auto* to = static_cast<T*>(out->raw());
    if (row == 1)
      return gpu::map(at, dims.elements(), gpu::choice{}, to, chosen, yes, no);
    return gpu::for_each(
        at, dims.elements(),
        select_rows_body<T>{row, chosen, yes, no, to, dims.elements() < 1ll << 31});
  });
}

template <class T>
struct select_v2_body {
  gpu::strided_index of_condition_and_yes, of_no;
  const bool* condition;
  const T *yes, *no;
  T* out;
  TROUPE_DEVICE void operator()(int64_t i) const {
    auto where = of_condition_and_yes.at(i);
    out[i] = condition[where.of[0]] ? yes[where.of[1]] : no[of_no[i]];
  }
};

status run_select_v2(kernel_context& at) {
  const auto &condition = at.input(0), &t = at.input(1), &e = at.input(2);
  TROUPE_ASSIGN(auto values, broadcast(t.dims(), e.dims()));
  TROUPE_ASSIGN(auto dims, broadcast(condition.dims(), values));
  TROUPE_ASSIGN(auto* out, at.allocate(0, dims));
  auto alike = condition.dims() == dims && t.dims() == dims && e.dims() == dims;
  return gpu::with_width(size_of(out->type()), [&](auto width) {
    using T = typename decltype(width)::type;
    const auto* chosen = condition.data<bool>();
    const auto *yes = static_cast<const T*>(t.raw()), *no = static_cast<const T*>(e.raw());
    auto* to = static_cast<T*>(out->raw());
    if (alike)
      return gpu::map(at, dims.elements(), gpu::choice{}, to, chosen, yes, no);
    return gpu::for_each(
        at, dims.elements(),
        select_v2_body<T>{
            gpu::strided_index{strided_iterator::broadcast(dims, condition.dims(), t.dims())},
            gpu::strided_index{strided_iterator::broadcast(dims, e.dims())}, chosen, yes, no, to});
  });
}

template <class T>
struct where_flag_body {
  const T* from;
  uint8_t* flags;
  TROUPE_DEVICE void operator()(int64_t i) const {
    flags[i] = gpu::load(from[i]) != compute_type<T>{};
  }
};

// Writes the positions of the true elements.
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
    auto remaining = places[i];
    for (int axis = rank - 1; axis >= 0; --axis) {
      to[i * rank + axis] = remaining % extents[axis];
      remaining /= extents[axis];
    }
  }
};

status where_take(kernel_context& at) {
  const auto& dims = at.input(0).dims();
  auto elements = at.input(0).elements();
  TROUPE_ASSIGN(auto counted, gpu::counted_before(at, 1, elements, elements));
  auto count = counted.counts[0];
  TROUPE_ASSIGN(auto* out, at.allocate(0, shape{count, dims.rank()}));
  where_coordinates_body body{counted.kept, out->template data<int64_t>(), dims.rank(), {}};
  std::ranges::copy(dims, body.extents);
  return gpu::for_each(at, dims.rank() > 0 ? count : 0, body);
}

template <class T>
struct where_of {
  static constexpr kernel_fn run = gpu::in_halves<where_count<T>, where_take>;
};

} // namespace

extern constexpr kernel_def TROUPE_GPU_KERNEL(select){
    .op = "Select",
    .device = device_kind::gpu,
    .run = {{dtype::none, run_select}},
};

extern constexpr kernel_def TROUPE_GPU_KERNEL(select_v2){
    .op = "SelectV2",
    .device = device_kind::gpu,
    .run = {{dtype::none, run_select_v2}},
};

extern constexpr kernel_def TROUPE_GPU_KERNEL(where){
    .op = "Where",
    .device = device_kind::gpu,
    .run = gpu::compared_kernels<where_of>(),
};

} // namespace troupe::ops::select_gpu
