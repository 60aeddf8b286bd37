#include "troupe/ops/parsing/shared/tensor_proto.hpp"
#include "troupe/runtime/graph/kernel.hpp"

namespace troupe::ops::tensor_proto_cpu {
namespace {

status run_parse_tensor(kernel_context& at) {
  if (at.input(0).rank() != 0)
    return invalid("serialized must be a scalar, got shape ", at.input(0).dims());
  TROUPE_ASSIGN(auto value, from_tensor_proto(*at.input(0).data<std::string>(), at.memory()));
  if (value.type() != at.output_type(0))
    return invalid("the tensor is ", value.type(), ", out_type says ", at.output_type(0));
  at.set_output(0, std::move(value));
  return {};
}

status run_serialize_tensor(kernel_context& at) {
  TROUPE_ASSIGN(auto* out, at.allocate(0, shape{}));
  *out->data<std::string>() = to_tensor_proto(at.input(0));
  return {};
}

} // namespace

extern constexpr kernel_def parse_tensor_cpu{
    .op = "ParseTensor",
    .run = {{dtype::none, run_parse_tensor}},
};

extern constexpr kernel_def serialize_tensor_cpu{
    .op = "SerializeTensor",
    .run = {{dtype::none, run_serialize_tensor}},
};

} // namespace troupe::ops::tensor_proto_cpu
