#include "troupe/ops/kernel/cached_attr.hpp"
#include "troupe/ops/parsing/shared/tensor_proto.hpp"
#include "troupe/ops/summary/shared/summary_proto.hpp"

namespace troupe::ops::tensor_summary_cpu {
namespace {

status run_v2(kernel_context& at) {
  const auto &tag = at.input(0), &metadata = at.input(2);
  if (tag.rank() != 0 || metadata.rank() != 0)
    return invalid("tag and serialized_summary_metadata must be scalars, got shapes ", tag.dims(),
                   " and ", metadata.dims());
  const auto& metadata_text = *metadata.data<std::string>();
  proto_reader fields{metadata_text};
  while (fields.next()) {
  }
  if (fields.broken())
    return invalid("serialized_summary_metadata is no SummaryMetadata");
  std::string content, summary;
  put_bytes(content, summary_field::tensor, to_tensor_proto(at.input(1)));
  put_bytes(content, summary_field::metadata, metadata_text);
  put_summary_value(summary, *tag.data<std::string>(), content);
  return put_summary_output(at, std::move(summary));
}

status run(kernel_context& at) {
  std::string content, summary;
  put_bytes(content, summary_field::node_name, at.state<std::string>());
  put_bytes(content, summary_field::tensor, to_tensor_proto(at.input(0)));
  put_summary_value(summary, {}, content);
  return put_summary_output(at, std::move(summary));
}

result<std::shared_ptr<void>> prepare_name(const kernel_setup& setup) {
  return std::shared_ptr<void>{std::make_shared<std::string>(setup.origin.name())};
}

} // namespace

extern constexpr kernel_def tensor_summary_v2_cpu{
    .op = "TensorSummaryV2",
    .run = {{dtype::none, run_v2}},
};

extern constexpr kernel_def tensor_summary_cpu{
    .op = "TensorSummary",
    .run = {{dtype::none, run}},
    .prepare = prepare_name,
};

} // namespace troupe::ops::tensor_summary_cpu
