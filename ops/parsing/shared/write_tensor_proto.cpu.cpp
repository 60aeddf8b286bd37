#include "troupe/ops/parsing/shared/proto_writer.hpp"
#include "troupe/ops/parsing/shared/tensor_proto.hpp"
#include "troupe/ops/parsing/shared/tensor_types.hpp"

namespace troupe::ops {

std::string to_tensor_proto(const tensor& value) {
  std::string dims, to;
  for (auto extent : value.dims()) {
    std::string dim;
    if (extent != 0)
      put_number(dim, 1, static_cast<uint64_t>(extent));
    put_bytes(dims, 2, dim);
  }
  put_number(to, tensor_proto::type, tensor_proto::number_of(value.type()));
  put_bytes(to, tensor_proto::shape, dims);
  if (value.type() == dtype::string) {
    for (const auto& text : value.values<std::string>())
      put_bytes(to, tensor_proto::texts, text);
  } else if (value.elements() > 0) {
    put_bytes(to, tensor_proto::content, {static_cast<const char*>(value.raw()), value.bytes()});
  }
  return to;
}

} // namespace troupe::ops
