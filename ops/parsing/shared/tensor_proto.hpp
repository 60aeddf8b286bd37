// Tensors as TensorFlow writes them: its message TensorProto.
#pragma once
#include "troupe/runtime/types/tensor.hpp"

#include <string>
#include <string_view>

namespace troupe::ops {

std::string to_tensor_proto(const tensor& value);

/// Takes both forms: all elements as bytes, or listed one by one, the last one repeated. Fails
/// where they are more or fewer than the shape says.
result<tensor> from_tensor_proto(std::string_view message, allocator& memory);

} // namespace troupe::ops
