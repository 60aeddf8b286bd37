// CTCGreedyDecoder: the labels of the best path.
#include "troupe/ops/ctc/shared/ctc.hpp"

namespace troupe::ops::ctc_greedy_decoder_op {
namespace {

result<shapes> infer(const infer_context& at) {
  TROUPE_ASSIGN(auto inputs, ctc_inputs(at, 1));
  return shapes{{unknown_extent, 2}, {unknown_extent}, {2}, {inputs[1], 1}};
}

} // namespace

extern constexpr op_def ctc_greedy_decoder{
    .name = "CTCGreedyDecoder",
    .doc = "Takes the class with the greatest logit in each step, and drops the blanks.\n\n"
           "inputs [time, batch, classes] are logits. The blank is the class blank_index, counted "
           "from the end where negative. With merge_repeated, repetitions without a blank between "
           "count once. The labels are a sparse tensor of rows by places; log_probability is minus "
           "the sum of the logits that were taken.",
    .inputs = {{"inputs", "T"}, {"sequence_length", "i32"}},
    .outputs = {{"decoded_indices", "i64"},
                {"decoded_values", "i64"},
                {"decoded_shape", "i64"},
                {"log_probability", "T"}},
    .attrs = {{"merge_repeated", false},
              {"blank_index", -1},
              {"T", one_of(dtype::f32, dtype::f64), dtype::f32}},
    .infer = infer,
    .no_gradient = "its output is made of whole numbers",
    .example = R"(
x = f32[[[0, 1, 2]], [[1, 0, 0]], [[1, 0, 0]]]
y = CTCGreedyDecoder(x, i32[3]) merge_repeated=true
fetch y = i64[[0, 0]]
fetch y:1 = i64[0]
fetch y:2 = i64[1, 1]
fetch y:3 = f32[[-4]]
)",
};

} // namespace troupe::ops::ctc_greedy_decoder_op
