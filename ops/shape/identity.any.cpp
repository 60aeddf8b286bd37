#include "troupe/ops/shape/shared/identity.hpp"
#include "troupe/ops/kernel/copy.hpp"
#include "troupe/runtime/graph/graph.hpp"

namespace troupe::ops::identity_any {
namespace {

template <class T>
void copy_loop(const void* const* inputs, const int64_t*, void* output, int64_t count) {
  std::copy_n(static_cast<const T*>(inputs[0]), count, static_cast<T*>(output));
}

inner_loop_fn find_copy_loop(const node& from_node) {
  return with_word(from_node.output_type(0), [](auto type) -> inner_loop_fn {
    return copy_loop<typename decltype(type)::type>;
  });
}

} // namespace

extern constexpr kernel_def identity_any{
    .op = "Identity",
    .run = {{dtype::none, pass_inputs}},
    .find_inner_loop = find_copy_loop,
    .on_any_device = true,
};

extern constexpr kernel_def identity_n_any{
    .op = "IdentityN",
    .run = {{dtype::none, pass_inputs}},
    .on_any_device = true,
};

extern constexpr kernel_def stop_gradient_any{
    .op = "StopGradient",
    .run = {{dtype::none, pass_inputs}},
    .find_inner_loop = find_copy_loop,
    .on_any_device = true,
};

extern constexpr kernel_def prevent_gradient_any{
    .op = "PreventGradient",
    .run = {{dtype::none, pass_inputs}},
    .on_any_device = true,
};

extern constexpr kernel_def ensure_shape_any{
    .op = "EnsureShape",
    .run = {{dtype::none, pass_shaped}},
    .prepare = cache_attr<partial_shape, "shape">,
    .on_any_device = true,
};

} // namespace troupe::ops::identity_any
