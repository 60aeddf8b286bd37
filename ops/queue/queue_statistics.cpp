// Statistics of a queue: its elements, and the waits for it.
#include "troupe/ops/queue/shared/queue_of.hpp"
#include "troupe/runtime/graph/infer.hpp"
#include "troupe/runtime/state/usage_meter.hpp"

namespace troupe::ops::queue_statistics_op {
namespace {

void ask_statistics(waitable_resource&, question&& request, answers& done) {
  auto usage = request.meter ? request.meter->usage() : resource_usage{};
  answer to{request.id, {}, {tensor::scalar(usage.seconds), tensor::scalar(usage.mean_size)}};
  for (const auto* operation : {&usage.puts, &usage.takes}) {
    to.tensors.push_back(tensor::scalar(operation->requests));
    to.tensors.push_back(tensor::scalar(operation->total_seconds));
    to.tensors.push_back(tensor::scalar(operation->any_waiting_seconds));
  }
  done.push_back(std::move(to));
}

result<shapes> infer_scalars(const infer_context& at) {
  return shapes(static_cast<size_t>(at.outputs()), shape{});
}

} // namespace

extern constexpr op_def queue_statistics{
    .name = "QueueStatistics",
    .doc =
        "Says how a queue has been used since it was made: its mean size, and how long those that "
        "put in and those that take out have waited.\n\n"
        "`enqueue_seconds` and `dequeue_seconds` are the sums over all requests; "
        "`enqueue_waiting` and `dequeue_waiting` say how long at least one request waited, and "
        "are at most `seconds`. Differences between two moments tell of the time between them.",
    .inputs = {ref("handle", "string", resource::queue)},
    .outputs = {{"seconds", "f64"},
                {"mean_size", "f64"},
                {"enqueues", "i64"},
                {"enqueue_seconds", "f64"},
                {"enqueue_waiting", "f64"},
                {"dequeues", "i64"},
                {"dequeue_seconds", "f64"},
                {"dequeue_waiting", "f64"}},
    .effects = effect::stateful | effect::blocking,
    .start_operation = ask_statistics,
    .infer = infer_scalars,
    .no_gradient = "queues do not carry gradients",
    .example = R"(
q = FIFOQueue component_types=[f32] shapes=[[]]
put = QueueEnqueue(q, f32(3))
s = QueueStatistics(q)
target put
run
fetch s:2 = i64(1)
fetch s:4 = f64(0)
)",
};

} // namespace troupe::ops::queue_statistics_op
