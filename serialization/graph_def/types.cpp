#include "troupe/serialization/graph_def/values.hpp"

namespace troupe::graph_def {

constexpr int first_ref = 100;

result<dtype> read_type(int number) {
  switch (number > first_ref ? number - first_ref : number) {
    case DT_FLOAT: return dtype::f32;
    case DT_DOUBLE: return dtype::f64;
    case DT_INT8:
    case DT_QINT8: return dtype::i8;
    case DT_INT16:
    case DT_QINT16: return dtype::i16;
    case DT_INT32:
    case DT_QINT32: return dtype::i32;
    case DT_INT64: return dtype::i64;
    case DT_UINT8:
    case DT_QUINT8: return dtype::u8;
    case DT_UINT16:
    case DT_QUINT16: return dtype::u16;
    case DT_UINT32: return dtype::u32;
    case DT_UINT64: return dtype::u64;
    case DT_BOOL: return dtype::boolean;
    case DT_STRING: return dtype::string;
    case DT_VARIANT: return dtype::variant;
    case DT_COMPLEX64: return dtype::c64;
    case DT_COMPLEX128: return dtype::c128;
    case DT_HALF: return dtype::f16;
    case DT_BFLOAT16: return dtype::bf16;
    case DT_RESOURCE:
      return failure(error_kind::unimplemented,
                     "a handle (DT_RESOURCE) is known when the graph is compiled, and is neither "
                     "fed nor computed: it must come from a VarHandleOp or the like, by way of "
                     "Identity or calls of functions");
    case DT_INVALID: return invalid("a type is missing (DT_INVALID)");
    default: break;
  }
  std::string type_name{DataType_IsValid(number) ? DataType_Name(static_cast<DataType>(number))
                                                 : ""};
  return failure(error_kind::unimplemented, "there is no element type ",
                 type_name.empty() ? concat("number ", number) : type_name);
}

result<dtype> read_stored_type(int number) {
  TROUPE_ASSIGN(auto type, read_type(number));
  if (type == dtype::variant)
    return failure(error_kind::unimplemented, "values of DT_VARIANT are not kept in files");
  return type;
}

result<partial_shape> read_shape(const TensorShapeProto& from) {
  if (from.unknown_rank())
    return partial_shape::unknown();
  std::vector<int64_t> extents;
  for (const auto& extent : from.dim())
    extents.push_back(extent.size());
  return partial_shape::make(extents);
}

status fill_budget::take(size_t count, size_t element_bytes) {
  if (element_bytes > 0 && count > bytes / element_bytes)
    return failure(error_kind::resource_exhausted, "a constant of ", count, " elements of ",
                   element_bytes,
                   " bytes, which the file does not list, exceeds the limit of filled bytes");
  bytes -= count * element_bytes;
  return {};
}

} // namespace troupe::graph_def
