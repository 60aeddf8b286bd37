// Shared by the definitions of poolings.
#pragma once
#include "troupe/ops/define/windows.hpp"
#include "troupe/runtime/graph/gradient_context.hpp"
#include "troupe/runtime/graph/infer.hpp"

namespace troupe::ops {

inline constexpr window_form max_pool_2d{.explicit_pads = true, .pools = true};
inline constexpr window_form average_pool_2d{.pools = true};
inline constexpr window_form pool_3d{.spatial = 3, .pools = true};
/// Channels come last.
inline constexpr window_form argmax_pool{.formats = false, .pools = true};

inline constexpr dtype_set max_pool_types_allowed =
    floating | one_of(dtype::i8, dtype::i16, dtype::i32, dtype::i64, dtype::u8, dtype::u16);

/// The shape of the pooled tensor.
result<partial_shape> infer_pooled(const infer_context& at, const window_form& form,
                                   const partial_shape& dims);

/// Output 0, and the second output if it exists, have one element for each window of input 0.
template <window_form Form>
result<shapes> infer_pool(const infer_context& at) {
  TROUPE_ASSIGN(auto pooled, infer_pooled(at, Form, at.input(0)));
  return shapes(static_cast<size_t>(at.outputs()), pooled);
}

/// For gradients of poolings: input 0 is the pooled tensor, the other inputs belong to its windows.
/// Output 0 has the shape of input 0; with `pooled`, for gradients of gradients, it has the shape
/// of the windows, and another input has the shape of input 0.
result<shapes> infer_pool_gradient(const infer_context& at, const window_form& form, int like_input,
                                   bool pooled);
template <window_form Form>
result<shapes> infer_pool_gradient(const infer_context& at) {
  return infer_pool_gradient(at, Form, 0, false);
}
template <window_form Form, int LikeInput>
result<shapes> infer_pool_second_gradient(const infer_context& at) {
  return infer_pool_gradient(at, Form, LikeInput, true);
}

/// Input 0 lists the sizes of output 0, input 1 belongs to its windows.
result<shapes> infer_average_gradient(const infer_context& at, const window_form& form);
template <window_form Form>
result<shapes> infer_average_gradient(const infer_context& at) {
  return infer_average_gradient(at, Form);
}

/// Adds an op with this op's attributes of the windows' positions.
edge pool_like(gradient_context& at, std::string op, std::vector<edge> inputs);

} // namespace troupe::ops
