#include "troupe/ops/summary/shared/summary_proto.hpp"

#include <unordered_set>

namespace troupe::ops::merge_summary_cpu {
namespace {

using wire = proto_reader::wire;

status add_values(std::string_view summary, std::unordered_set<std::string>& tags,
                  std::string& to) {
  auto damaged = [] { return invalid("one of the inputs is no Summary"); };
  proto_reader values{summary};
  while (values.next()) {
    if (!values.is(summary_field::value, wire::bytes))
      continue;
    std::string tag;
    proto_reader fields{values.bytes()};
    while (fields.next())
      if (fields.is(summary_field::tag, wire::bytes))
        tag = fields.bytes();
    if (fields.broken())
      return damaged();
    if (!tag.empty() && !tags.insert(tag).second)
      return invalid("two values have the tag '", tag, "'");
    put_bytes(to, summary_field::value, values.bytes());
  }
  return values.broken() ? damaged() : status{};
}

status run(kernel_context& at) {
  std::unordered_set<std::string> tags;
  std::string merged;
  for (int i = 0; i < at.inputs(); ++i)
    for (const auto& serialized : at.input(i).values<std::string>())
      TROUPE_TRY(add_values(serialized, tags, merged));
  return put_summary_output(at, std::move(merged));
}

} // namespace

extern constexpr kernel_def merge_summary_cpu{
    .op = "MergeSummary",
    .run = {{dtype::none, run}},
};

} // namespace troupe::ops::merge_summary_cpu
