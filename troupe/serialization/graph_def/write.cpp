#include "troupe/serialization/graph_def.hpp"
#include "troupe/serialization/graph_def/values.hpp"

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>
#include <google/protobuf/text_format.h>

#include <climits>

namespace troupe {
namespace graph_def {
namespace {

// The version of the format: from 22 on, a placeholder of shape [] takes scalars only.
constexpr int producer = 22;

// A list that may be left out stands for its default when it is empty, which the op knows best.
bool is_default_list(const attr_def& attr, const AttrValue& value) {
  return attr.optional && value.value_case() == AttrValue::kList &&
         value.list().ByteSizeLong() == 0;
}

void write(const node& from, NodeDef& to) {
  to.set_name(from.name());
  to.set_op(std::string{from.op().name});
  to.set_device(from.device());
  for (const auto& input : from.inputs())
    to.add_input(input.name());
  for (const auto* before : from.controls())
    to.add_input(concat('^', before->name()));
  for (const auto& attr : from.op().attrs) {
    auto value = written(from.attrs().find(attr.name)->second);
    if (!is_default_list(attr, value))
      (*to.mutable_attr())[std::string{attr.name}] = std::move(value);
  }
}

} // namespace
} // namespace graph_def

result<std::string> write_graph_def(const graph& of, graph_def_format format) {
  graph_def::GraphDef made;
  made.mutable_versions()->set_producer(graph_def::producer);
  for (const auto& each : of.nodes())
    graph_def::write(*each, *made.add_node());
  std::string text;
  if (made.ByteSizeLong() > INT_MAX)
    return failure(error_kind::resource_exhausted, "a GraphDef has at most ", INT_MAX,
                   " bytes, this one would have ", made.ByteSizeLong());
  if (format == graph_def_format::text) {
    google::protobuf::TextFormat::PrintToString(made, &text);
    return text;
  }
  {
    google::protobuf::io::StringOutputStream out{&text};
    google::protobuf::io::CodedOutputStream coded{&out};
    coded.SetSerializationDeterministic(true); // the same graph makes the same bytes
    made.SerializeToCodedStream(&coded);
  }
  return text;
}

} // namespace troupe
