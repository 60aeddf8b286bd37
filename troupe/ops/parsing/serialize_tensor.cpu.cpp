#include "troupe/ops/parsing/shared/tensor_proto.hpp"
#include "troupe/runtime/graph/kernel.hpp"

namespace troupe::ops::serialize_tensor_cpu {
namespace {

status run(kernel_context& at) {
  TROUPE_ASSIGN(auto* out, at.allocate(0, shape{}));
  *out->data<std::string>() = to_tensor_proto(at.input(0));
  return {};
}

} // namespace

extern constexpr kernel_def serialize_tensor_cpu{
    .op = "SerializeTensor",
    .run = {{dtype::none, run}},
};

} // namespace troupe::ops::serialize_tensor_cpu
