// Shared by the definitions of TensorArrays' ops.
#pragma once
#include "troupe/ops/define/build.hpp"
#include "troupe/runtime/graph/infer.hpp"

namespace troupe::ops {

/// The known part of the elements' shapes at the op that made the handle, if that op is visible.
partial_shape array_element_shape(edge handle);

namespace infer_array {
result<shapes> make(const infer_context& at);
result<shapes> gradient(const infer_context& at);
result<shapes> write(const infer_context& at);
result<shapes> read(const infer_context& at);
result<shapes> gather(const infer_context& at);
result<shapes> scatter(const infer_context& at);
result<shapes> concat(const infer_context& at);
result<shapes> split(const infer_context& at);
result<shapes> size(const infer_context& at);
result<shapes> close(const infer_context& at);
result<shapes> pack(const infer_context& at);
result<shapes> unpack(const infer_context& at);
} // namespace infer_array

/// As in TensorFlow: the gradient of a read writes to the array of gradients, and the gradient of a
/// write reads from it. The flows' gradients order these ops.
namespace array_gradient {
edges of_array(gradient_context& at); ///< of TensorArrayGrad: passes the flow on
edges write(gradient_context& at);
edges read(gradient_context& at);
edges gather(gradient_context& at);
edges scatter(gradient_context& at);
edges concat(gradient_context& at);
edges split(gradient_context& at);
edges pack(gradient_context& at);
edges unpack(gradient_context& at);
} // namespace array_gradient

inline constexpr auto no_gradient_of_arrays =
    "a new array depends on nothing, and its size is a whole number";

} // namespace troupe::ops
