// Our values as TensorFlow writes them.
#include "troupe/serialization/graph_def/values.hpp"

#include <cstring>

namespace troupe::graph_def {
namespace {

// Zeros, and other tensors all of whose elements are equal, need one value only.
bool one_for_all(const tensor& value) {
  if (value.elements() == 0)
    return false;
  auto size = size_of(value.type());
  if (value.bytes() <= size)
    return true;
  // Each byte equals the one an element before it.
  return std::memcmp(value.raw(), static_cast<const char*>(value.raw()) + size,
                     value.bytes() - size) == 0;
}

void add_value(TensorProto& to, const tensor& from) {
  switch (from.type()) {
    case dtype::none:
    case dtype::string:
    case dtype::variant: break;
    case dtype::boolean: return to.add_bool_val(*from.data<bool>());
    case dtype::u8: return to.add_int_val(*from.data<uint8_t>());
    case dtype::u16: return to.add_int_val(*from.data<uint16_t>());
    case dtype::u32: return to.add_uint32_val(*from.data<uint32_t>());
    case dtype::u64: return to.add_uint64_val(*from.data<uint64_t>());
    case dtype::i8: return to.add_int_val(*from.data<int8_t>());
    case dtype::i16: return to.add_int_val(*from.data<int16_t>());
    case dtype::i32: return to.add_int_val(*from.data<int32_t>());
    case dtype::i64: return to.add_int64_val(*from.data<int64_t>());
    case dtype::f16: return to.add_half_val(from.data<float16>()->bits);
    case dtype::bf16: return to.add_half_val(from.data<bfloat16>()->bits);
    case dtype::f32: return to.add_float_val(*from.data<float>());
    case dtype::f64: return to.add_double_val(*from.data<double>());
    case dtype::c64:
      to.add_scomplex_val(from.data<std::complex<float>>()->real());
      return to.add_scomplex_val(from.data<std::complex<float>>()->imag());
    case dtype::c128:
      to.add_dcomplex_val(from.data<std::complex<double>>()->real());
      return to.add_dcomplex_val(from.data<std::complex<double>>()->imag());
  }
}

class attr_writer {
public:
  AttrValue written;

  void operator()(bool value) { written.set_b(value); }
  void operator()(int64_t value) { written.set_i(value); }
  void operator()(double value) { written.set_f(static_cast<float>(value)); }
  void operator()(const std::string& value) { written.set_s(value); }
  void operator()(dtype value) { written.set_type(graph_def::written(value)); }
  void operator()(const partial_shape& value) {
    *written.mutable_shape() = graph_def::written(value);
  }
  void operator()(const function_value& value) { written.mutable_func()->set_name(value.name); }
  void operator()(const tensor& value) { *written.mutable_tensor() = graph_def::written(value); }

  template <class T>
  void operator()(const std::vector<T>& values) {
    auto& list = *written.mutable_list();
    for (const auto& each : values)
      add(list, each);
  }

private:
  using list_value = AttrValue::ListValue;
  static void add(list_value& to, int64_t value) { to.add_i(value); }
  static void add(list_value& to, double value) { to.add_f(static_cast<float>(value)); }
  static void add(list_value& to, const std::string& value) { to.add_s(value); }
  static void add(list_value& to, const function_value& value) {
    to.add_func()->set_name(value.name);
  }
  static void add(list_value& to, dtype value) { to.add_type(graph_def::written(value)); }
  static void add(list_value& to, const partial_shape& value) {
    *to.add_shape() = graph_def::written(value);
  }
};

} // namespace

DataType written(dtype type) {
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

TensorShapeProto written(const partial_shape& dims) {
  TensorShapeProto made;
  made.set_unknown_rank(!dims.has_rank());
  for (auto extent : dims.extents())
    made.add_dim()->set_size(extent);
  return made;
}

TensorProto written(const tensor& value) {
  TensorProto made;
  made.set_dtype(written(value.type()));
  *made.mutable_tensor_shape() = written(partial_shape{value.dims()});
  if (value.type() == dtype::string)
    for (const auto& each : value.values<std::string>())
      made.add_string_val(each);
  else if (one_for_all(value))
    add_value(made, value);
  else if (value.elements() > 0)
    made.set_tensor_content(value.raw(), value.bytes());
  return made;
}

AttrValue written(const attr_value& value) {
  attr_writer writer;
  std::visit(writer, value.get());
  return std::move(writer.written);
}

} // namespace troupe::graph_def
