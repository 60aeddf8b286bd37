// TensorSummary: tensors of any type for plugins of TensorBoard.
#include "troupe/runtime/graph/infer.hpp"

namespace troupe::ops::tensor_summary_op {
namespace {

result<shapes> infer_v2(const infer_context& at) {
  TROUPE_TRY(at.of_rank(0, 0));
  TROUPE_TRY(at.of_rank(2, 0));
  return shapes{partial_shape{shape{}}};
}

} // namespace

extern constexpr op_def tensor_summary_v2{
    .name = "TensorSummaryV2",
    .doc = "Writes a tensor with its tag as a Summary.\n\n"
           "serialized_summary_metadata, a SummaryMetadata, says which plugin of TensorBoard shows "
           "it; it may be empty.",
    .inputs = {{"tag", "string"}, {"tensor", "T"}, {"serialized_summary_metadata", "string"}},
    .outputs = {{"summary", "string"}},
    .attrs = {{"T", any_type}},
    .infer = infer_v2,
    .no_gradient = "bytes have none",
    .example = R"(
y = TensorSummaryV2(string("t"), u8[7], string(""))
fetch y = string("\x0a\x12\x0a\x01t\x42\x0b\x08\x04\x12\x04\x12\x02\x08\x01\x22\x01\x07\x4a\x00")
)",
};

extern constexpr op_def tensor_summary{
    .name = "TensorSummary",
    .doc = "Writes a tensor as a Summary, under the name of the node instead of a tag.\n\n"
           "description, labels and display_name are kept in graphs and say nothing here, as in "
           "TensorFlow.",
    .inputs = {{"tensor", "T"}},
    .outputs = {{"summary", "string"}},
    .attrs = {{"T", any_type},
              {"description", ""},
              {"labels", attr_kind::texts, true},
              {"display_name", ""}},
    .infer = infer::scalar,
    .no_gradient = "bytes have none",
    .example = R"(
y = TensorSummary(u8[7])
fetch y = string("\x0a\x10\x3a\x01y\x42\x0b\x08\x04\x12\x04\x12\x02\x08\x01\x22\x01\x07")
)",
};

} // namespace troupe::ops::tensor_summary_op
