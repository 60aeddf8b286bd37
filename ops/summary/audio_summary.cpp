// AudioSummary: the sounds of a step for TensorBoard.
#include "troupe/runtime/graph/infer.hpp"

namespace troupe::ops::audio_summary_op {
namespace {

result<shapes> infer(const infer_context& at) {
  TROUPE_TRY(at.of_rank(0, 0));
  const auto& dims = at.input(1);
  if (dims.has_rank() && dims.rank() != 2 && dims.rank() != 3)
    return at.invalid("sounds must be [batch, frames] or [batch, frames, channels], got ", dims);
  if (auto max_outputs = at.attr<int64_t>("max_outputs"); max_outputs < 1)
    return at.invalid("max_outputs must be at least 1, got ", max_outputs);
  if (at.has_attr("sample_rate") && !(at.attr<double>("sample_rate") > 0))
    return at.invalid("sample_rate must be positive, got ", at.attr<double>("sample_rate"));
  return shapes{partial_shape{shape{}}};
}

} // namespace

extern constexpr op_def audio_summary_v2{
    .name = "AudioSummaryV2",
    .doc = "Writes sounds [batch, frames] or [batch, frames, channels] as WAV files in a Summary."
           "\n\nSamples lie between -1 and 1 and become 16 bits; sample_rate is in hertz. Of each "
           "batch, the first max_outputs are written, with the tags tag/audio/0 and so on; if only "
           "one is to be written, tag/audio.",
    .inputs = {{"tag", "string"}, {"tensor", "f32"}, on_host("sample_rate", "f32")},
    .outputs = {{"summary", "string"}},
    .attrs = {{"max_outputs", 3}},
    .infer = infer,
    .no_gradient = "bytes have none",
    .example = R"(
y = AudioSummaryV2(string("a"), f32[[0, 1]], f32(8000)) max_outputs=1
end = Substr(y, i32(68), i32(4))
fetch end = string("\x00\x00\xff\x7f")
)",
};

extern constexpr op_def audio_summary{
    .name = "AudioSummary",
    .doc = "Does the same as AudioSummaryV2, whose sample rate is an input.",
    .inputs = {{"tag", "string"}, {"tensor", "f32"}},
    .outputs = {{"summary", "string"}},
    .attrs = {{"sample_rate", attr_kind::real}, {"max_outputs", 3}},
    .infer = infer,
    .no_gradient = "bytes have none",
    .example = R"(
y = AudioSummary(string("a"), f32[[0, 1]]) sample_rate=8000.0 max_outputs=1
end = Substr(y, i32(68), i32(4))
fetch end = string("\x00\x00\xff\x7f")
)",
};

} // namespace troupe::ops::audio_summary_op
