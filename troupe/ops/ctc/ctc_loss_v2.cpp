// CTCLossV2: CTCLoss with the blank first.
#include "troupe/ops/ctc/shared/ctc.hpp"

namespace troupe::ops::ctc_loss_v2_op {

extern constexpr op_def ctc_loss_v2 = ctc_loss_form(
    {
        .name = "CTCLossV2",
        .doc = "Computes the loss of connectionist temporal classification where class 0 is the "
               "blank.\n\n"
               "Otherwise as CTCLoss.",
        .attrs = {{"preprocess_collapse_repeated", false},
                  {"ctc_merge_repeated", true},
                  {"ignore_longer_outputs_than_inputs", false}},
        .example = R"(
x = f32[[[2, 0, 1]], [[1, 1, 0]]]
y = CTCLossV2(x, i64[[0, 0]], i32[2], i32[2])
fetch y = f32[1.407606]
)",
    },
    "f32");

} // namespace troupe::ops::ctc_loss_v2_op
