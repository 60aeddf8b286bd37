// Connectionist temporal classification: likely sequences of labels.
#include "troupe/ops/ctc/shared/ctc.hpp"

namespace troupe::ops::ctc_decoder_op {
namespace {

result<shapes> infer_ctc_beam_search_decoder(const infer_context& at) {
  TROUPE_ASSIGN(auto inputs, ctc_inputs(at, 1));
  auto paths = at.attr<int64_t>("top_paths"), width = at.attr<int64_t>("beam_width");
  if (paths > width)
    return at.invalid("top_paths must be at most beam_width = ", width, ", got ", paths);
  auto count = static_cast<size_t>(paths);
  shapes outputs(count, {unknown_extent, 2});
  outputs.insert(outputs.end(), count, {unknown_extent});
  outputs.insert(outputs.end(), count, {2});
  outputs.push_back({inputs[1], paths});
  return outputs;
}

result<shapes> infer_ctc_greedy_decoder(const infer_context& at) {
  TROUPE_ASSIGN(auto inputs, ctc_inputs(at, 1));
  return shapes{{unknown_extent, 2}, {unknown_extent}, {2}, {inputs[1], 1}};
}

} // namespace

extern constexpr op_def ctc_beam_search_decoder{
    .name = "CTCBeamSearchDecoder",
    .doc =
        "Finds the top_paths most likely sequences of labels, best first.\n\n"
        "inputs [time, batch, classes] are logits; the last class is the blank. The probability of "
        "a sequence is the sum over all paths that become it when repetitions without a blank "
        "between are merged and blanks dropped. From step to step the beam_width best sequences "
        "are kept, so better ones may be missed. merge_repeated then merges repetitions in the "
        "sequences themselves: A, B, B becomes A, B. It fails where there are fewer sequences than "
        "top_paths. Each path is a sparse tensor of rows by places; log_probability "
        "[batch, top_paths] is the natural logarithm.",
    .inputs = {{"inputs", "T"}, {"sequence_length", "i32"}},
    .outputs = {{"decoded_indices", "i64", "top_paths"},
                {"decoded_values", "i64", "top_paths"},
                {"decoded_shape", "i64", "top_paths"},
                {"log_probability", "T"}},
    .attrs = {{"beam_width", at_least{1}},
              {"top_paths", at_least{1}},
              {"merge_repeated", true},
              {"T", one_of(dtype::f32, dtype::f64), dtype::f32}},
    .infer = infer_ctc_beam_search_decoder,
    .no_gradient = "which sequences are found changes in jumps; to train, take CTCLoss",
    .example = R"(
x = f32[[[2, 1, 0]], [[0, 1, 2]], [[1, 2, 0]]]
y = CTCBeamSearchDecoder(x, i32[3]) beam_width=10 top_paths=2
fetch y = i64[[0, 0], [0, 1]]
fetch y:1 = i64[[0, 0]]
fetch y:2 = i64[0, 1]
fetch y:3 = i64[1]
fetch y:4 = i64[1, 2]
fetch y:5 = i64[1, 1]
)",
};

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
    .infer = infer_ctc_greedy_decoder,
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

} // namespace troupe::ops::ctc_decoder_op
