// The values within a GraphDef: types, shapes, tensors and attributes, and ours for them.
#pragma once
#include "troupe/runtime/graph/op.hpp"
#include "troupe/serialization/graph_def/graph_def.pb.h"

namespace troupe::graph_def {

/// The attribute of a function that is another one's gradient which says for which arguments: ours
/// may leave some out, of which TensorFlow's are zeros.
constexpr std::string_view gradient_places = "_gradient_places";

/// What is left of graph_def_options::filled_bytes.
struct fill_budget {
  size_t bytes = 0;
  /// Takes that much, or fails.
  status take(size_t count, size_t bytes_each);
};

/// The type behind a reference, and the plain one for a quantized one. Fails with unimplemented for
/// types that we do not have.
result<dtype> read_type(int number);
/// The same for a type that values in files have.
result<dtype> read_stored_type(int number);

result<partial_shape> read_shape(const TensorShapeProto& from);

result<tensor> read_tensor(const TensorProto& from, fill_budget& budget);

/// Reads an attribute as what the op declares it.
result<attr_value> read_attr(const AttrValue& from, const attr_def& as, fill_budget& budget);

/// The inverses.
DataType written(dtype type);
TensorShapeProto written(const partial_shape& dims);
TensorProto written(const tensor& value);
AttrValue written(const attr_value& value);

/// Prints an attribute for errors, shortened.
std::string to_text(const AttrValue& value);

} // namespace troupe::graph_def
