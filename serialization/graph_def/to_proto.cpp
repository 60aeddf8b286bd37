// Converts Troupe's values to TensorFlow's messages.
#include "troupe/serialization/graph_def/values.hpp"

#include <cstring>

namespace troupe::graph_def {
namespace {

// Whether all elements are equal, so that one value is enough.
bool has_equal_elements(const tensor& value) {
  if (value.elements() == 0)
    return false;
  auto size = size_of(value.type());
  if (value.bytes() <= size)
    return true;
  // Compares each byte to the one an element before it.
  return std::memcmp(value.raw(), static_cast<const char*>(value.raw()) + size,
                     value.bytes() - size) == 0;
}

void add_value(TensorProto& target, const tensor& from) {
  switch (from.type()) {
    case dtype::none:
    case dtype::string:
    case dtype::variant: break;
    case dtype::boolean: return target.add_bool_val(*from.data<bool>());
    case dtype::u8: return target.add_int_val(*from.data<uint8_t>());
    case dtype::u16: return target.add_int_val(*from.data<uint16_t>());
    case dtype::u32: return target.add_uint32_val(*from.data<uint32_t>());
    case dtype::u64: return target.add_uint64_val(*from.data<uint64_t>());
    case dtype::i8: return target.add_int_val(*from.data<int8_t>());
    case dtype::i16: return target.add_int_val(*from.data<int16_t>());
    case dtype::i32: return target.add_int_val(*from.data<int32_t>());
    case dtype::i64: return target.add_int64_val(*from.data<int64_t>());
    case dtype::f16: return target.add_half_val(from.data<float16>()->bits);
    case dtype::bf16: return target.add_half_val(from.data<bfloat16>()->bits);
    case dtype::f32: return target.add_float_val(*from.data<float>());
    case dtype::f64: return target.add_double_val(*from.data<double>());
    case dtype::c64:
      target.add_scomplex_val(from.data<std::complex<float>>()->real());
      return target.add_scomplex_val(from.data<std::complex<float>>()->imag());
    case dtype::c128:
      target.add_dcomplex_val(from.data<std::complex<double>>()->real());
      return target.add_dcomplex_val(from.data<std::complex<double>>()->imag());
  }
}

class attr_writer {
public:
  AttrValue written;

  void operator()(bool value) { written.set_b(value); }
  void operator()(int64_t value) { written.set_i(value); }
  void operator()(double value) { written.set_f(static_cast<float>(value)); }
  void operator()(const std::string& value) { written.set_s(value); }
  void operator()(dtype value) { written.set_type(graph_def::to_proto(value)); }
  void operator()(const partial_shape& value) {
    *written.mutable_shape() = graph_def::to_proto(value);
  }
  void operator()(const function_value& value) { written.mutable_func()->set_name(value.name); }
  void operator()(const tensor& value) { *written.mutable_tensor() = graph_def::to_proto(value); }

  template <class T>
  void operator()(const std::vector<T>& values) {
    auto& list = *written.mutable_list();
    for (const auto& item : values)
      add(list, item);
  }

private:
  using list_value = AttrValue::ListValue;
  static void add(list_value& list, int64_t value) { list.add_i(value); }
  static void add(list_value& list, double value) { list.add_f(static_cast<float>(value)); }
  static void add(list_value& list, const std::string& value) { list.add_s(value); }
  static void add(list_value& list, const function_value& value) {
    list.add_func()->set_name(value.name);
  }
  static void add(list_value& list, dtype value) { list.add_type(graph_def::to_proto(value)); }
  static void add(list_value& list, const partial_shape& value) {
    *list.add_shape() = graph_def::to_proto(value);
  }
};

} // namespace

DataType to_proto(dtype type) {
  switch (type) {
    case dtype::none: break;
    case dtype::boolean: return DT_BOOL;
    case dtype::u8: return DT_UINT8;
    case dtype::u16: return DT_UINT16;
    case dtype::u32: return DT_UINT32;
    case dtype::u64: return DT_UINT64;
    case dtype::i8: return DT_INT8;
    case dtype::i16: return DT_INT16;
    case dtype::i32: return DT_INT32;
    case dtype::i64: return DT_INT64;
    case dtype::f16: return DT_HALF;
    case dtype::bf16: return DT_BFLOAT16;
    case dtype::f32: return DT_FLOAT;
    case dtype::f64: return DT_DOUBLE;
    case dtype::c64: return DT_COMPLEX64;
    case dtype::c128: return DT_COMPLEX128;
    case dtype::string: return DT_STRING;
    case dtype::variant: return DT_VARIANT;
  }
  return DT_INVALID;
}

TensorShapeProto to_proto(const partial_shape& dims) {
  TensorShapeProto converted;
  converted.set_unknown_rank(!dims.has_rank());
  for (auto extent : dims.extents())
    converted.add_dim()->set_size(extent);
  return converted;
}

TensorProto to_proto(const tensor& value) {
  TensorProto converted;
  converted.set_dtype(to_proto(value.type()));
  *converted.mutable_tensor_shape() = to_proto(partial_shape{value.dims()});
  if (value.type() == dtype::string)
    for (const auto& text : value.values<std::string>())
      converted.add_string_val(text);
  else if (has_equal_elements(value))
    add_value(converted, value);
  else if (value.elements() > 0)
    converted.set_tensor_content(value.raw(), value.bytes());
  return converted;
}

AttrValue to_proto(const attr_value& value) {
  attr_writer writer;
  std::visit(writer, value.get());
  return std::move(writer.written);
}

} // namespace troupe::graph_def
