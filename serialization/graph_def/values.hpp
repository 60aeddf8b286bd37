// Conversion of the values of a GraphDef: types, shapes, tensors and attributes.
#pragma once
#include "troupe/runtime/graph/op.hpp"
#include "troupe/serialization/graph_def/graph_def.pb.h"

namespace troupe::graph_def {

/// An attribute of gradient functions: the arguments for which they have gradients. Troupe's
/// gradients may omit some, for which TensorFlow's are zeros.
constexpr std::string_view gradient_places = "_gradient_places";

/// The remainder of graph_def_options::filled_bytes.
struct fill_budget {
  size_t bytes = 0;
  /// Subtracts the bytes, or fails.
  status take(size_t count, size_t element_bytes);
};

/// The base type of a reference, or the plain type of a quantized one. Fails with unimplemented for
/// types that Troupe does not have.
result<dtype> read_type(int number);
/// The same for types of values in files.
result<dtype> read_stored_type(int number);

result<partial_shape> read_shape(const TensorShapeProto& from);

result<tensor> read_tensor(const TensorProto& from, fill_budget& budget);

/// Reads an attribute as the declared kind.
result<attr_value> read_attr(const AttrValue& from, const attr_def& declared, fill_budget& budget);

/// The inverses.
DataType to_proto(dtype type);
TensorShapeProto to_proto(const partial_shape& dims);
TensorProto to_proto(const tensor& value);
AttrValue to_proto(const attr_value& value);

/// Prints an attribute for errors, shortened.
std::string to_text(const AttrValue& value);

} // namespace troupe::graph_def
