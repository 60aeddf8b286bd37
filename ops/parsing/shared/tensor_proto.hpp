// Conversion of tensors from and to TensorFlow's message TensorProto.
#pragma once
#include "troupe/runtime/types/tensor.hpp"

#include <string>
#include <string_view>

namespace troupe::ops {

std::string to_tensor_proto(const tensor& value);

/// Accepts both forms: all elements as bytes, or listed one by one, with the last one repeated.
/// Fails for more or fewer elements than the shape has.
result<tensor> from_tensor_proto(std::string_view message, allocator& memory);

} // namespace troupe::ops
