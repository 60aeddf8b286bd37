// Abort: fails a step.
#include "troupe/runtime/graph/infer.hpp"

namespace troupe::ops::abort_op {

extern constexpr op_def abort{
    .name = "Abort",
    .doc = "Fails the step with error_msg.\n\nWith exit_without_error, it does nothing. TensorFlow "
           "ends the process in either case; no graph may do that here.",
    .attrs = {{"error_msg", ""}, {"exit_without_error", false}},
    .effects = effect::stateful,
    .infer = infer::nothing,
    .no_gradient = "it has no outputs",
    .example = R"(
stop = Abort error_msg="the data end here"
target stop
error failed_precondition "the data end here"
)",
};

} // namespace troupe::ops::abort_op
