// QueueSize: how full a queue is.
#include "troupe/runtime/graph/infer.hpp"

namespace troupe::ops::queue_size_op {

extern constexpr op_def queue_size{
    .name = "QueueSize",
    .doc = "Counts the elements of a queue at this moment.",
    .inputs = {ref("handle", "string", resource::queue)},
    .outputs = {{"size", "i32"}},
    .effects = effect::stateful | effect::blocking,
    .infer = infer::scalar,
    .no_gradient = "its output is a count",
    .example = R"(
q = FIFOQueue component_types=[f32]
put = QueueEnqueueMany(q, f32[1, 2, 3])
size = QueueSize(q)
fetch size = i32(0)
run
target put
run
fetch size = i32(3)
)",
};

} // namespace troupe::ops::queue_size_op
