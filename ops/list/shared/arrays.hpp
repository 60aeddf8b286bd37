// What definitions of TensorArrays' ops share.
#pragma once
#include "troupe/ops/define/build.hpp"
#include "troupe/runtime/graph/infer.hpp"

namespace troupe::ops {

/// What is known of the elements' shapes where the handle was made, if that can be seen.
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

/// As TensorFlow has them: what was read writes to the array of gradients, and what was written
/// reads there. Gradients of flows order that.
namespace array_gradient {
edges of_array(gradient_context& at); ///< of TensorArrayGrad: hands the flow on
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
