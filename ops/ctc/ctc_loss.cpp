// Connectionist temporal classification: the loss, with the blank label last (CTCLoss) or first
// (CTCLossV2).
#include "troupe/ops/ctc/shared/ctc.hpp"

namespace troupe::ops::ctc_loss_op {

extern constexpr op_def ctc_loss = ctc_loss_form(
    {
        .name = "CTCLoss",
        .doc =
            "Computes the loss of connectionist temporal classification (Graves et al. 2006).\n\n"
            "inputs [time, batch, classes] are logits; the last class is the blank. Row b of the "
            "batch is sequence_length[b] steps long, and its labels are those labels_values whose "
            "row in labels_indices begins with b; these must be sorted. The loss is minus the "
            "logarithm of the probability of all paths that become the labels when repetitions are "
            "merged and blanks dropped, infinite where there is none. Blanks at the end of labels "
            "count for nothing.\n\n"
            "More labels than steps are an error, or with ignore_longer_outputs_than_inputs a loss "
            "of 0. preprocess_collapse_repeated merges repeated labels first; without "
            "ctc_merge_repeated, repetitions in a path are labels of their own. In difference to "
            "TensorFlow, a row may have no labels.",
        .attrs = {{"preprocess_collapse_repeated", false},
                  {"ctc_merge_repeated", true},
                  {"ignore_longer_outputs_than_inputs", false},
                  {"T", one_of(dtype::f32, dtype::f64), dtype::f32}},
        .example = R"(
x = f32[[[0, 1, 2]], [[1, 0, 1]]]
y = CTCLoss(x, i64[[0, 0]], i32[1], i32[2])
fetch y = f32[1.407606]
fetch y:1 = f32[[[0.09003057, -0.3329527, 0.2429222]], [[0.4223188, -0.4223187, 2.980232e-08]]]
)",
    },
    "T");

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

} // namespace troupe::ops::ctc_loss_op
