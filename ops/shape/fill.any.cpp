#include "troupe/ops/kernel/copy.hpp"
#include "troupe/ops/kernel/element_types.hpp"
#include "troupe/ops/list/shared/lists.cpu.hpp"
#include "troupe/runtime/graph/infer.hpp"
#include "troupe/runtime/graph/kernel.hpp"

namespace troupe::ops::fill_any {
namespace {

status run_fill(kernel_context& at) {
  const auto &listed = at.input(0), &value = at.input(1);
  if (listed.rank() != 1 || value.elements() != 1)
    return invalid("dims must be a vector and value a scalar, got shapes ", listed.dims(), " and ",
                   value.dims());
  TROUPE_ASSIGN(auto dims, shape::make(to_integers(listed)));
  TROUPE_ASSIGN(auto* out, at.allocate(0, dims));
  at.parallel_for(out->elements(), 0.2, [&](int64_t begin, int64_t end) {
    fill_elements(value, {*out, begin}, end - begin);
  });
  return {};
}

status run_empty(kernel_context& at) {
  if (at.input(0).rank() != 1)
    return invalid("shape must be a vector, got shape ", at.input(0).dims());
  TROUPE_ASSIGN(auto dims, shape::make(to_integers(at.input(0))));
  TROUPE_ASSIGN(auto* out, at.allocate(0, dims));
  fill_zeros(at, *out);
  return {};
}

status run_zeros_like(kernel_context& at) {
  if (at.input(0).type() == dtype::variant) {
    TROUPE_ASSIGN(auto zeros, zeros_like(at.input(0), at.memory()));
    at.set_output(0, std::move(zeros));
    return {};
  }
  TROUPE_ASSIGN(auto* out, at.forward_or_allocate(0, {0}, at.input(0).dims()));
  TROUPE_ASSIGN(auto value, zero_of(out->type()));
  at.parallel_for(out->elements(), 0.2, [&](int64_t begin, int64_t end) {
    fill_elements(value, {*out, begin}, end - begin);
  });
  return {};
}

template <class T>
status run_ones_like(kernel_context& at) {
  TROUPE_ASSIGN(auto* out, at.forward_or_allocate(0, {0}, at.input(0).dims()));
  auto one_value = tensor::scalar(T(1));
  at.parallel_for(out->elements(), 0.2, [&](int64_t begin, int64_t end) {
    fill_elements(one_value, {*out, begin}, end - begin);
  });
  return {};
}

template <class... Ts>
constexpr inplace_vector<typed_kernel, 18> kernels(type_list<Ts...>) {
  return {{dtype_of<Ts>, run_ones_like<Ts>}...};
}

} // namespace

extern constexpr kernel_def fill_any{
    .op = "Fill",
    .run = {{dtype::none, run_fill}},
    .on_any_device = true,
};

extern constexpr kernel_def empty_any{
    .op = "Empty",
    .run = {{dtype::none, run_empty}},
    .on_any_device = true,
};

extern constexpr kernel_def zeros_like_any{
    .op = "ZerosLike",
    .run = {{dtype::none, run_zeros_like}},
    .on_any_device = true,
};

extern constexpr kernel_def ones_like_any{
    .op = "OnesLike",
    .run = kernels(types::numbers + types::boolean),
    .on_any_device = true,
};

} // namespace troupe::ops::fill_any
