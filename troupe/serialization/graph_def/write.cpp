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

// Writes the nodes of a graph. Ours are freer than TensorFlow's where variables are given by
// handles: an op that takes references may take handles, and one that wants a value may be given
// one. What is written says the same as TensorFlow does.
class graph_def_writer {
public:
  explicit graph_def_writer(const graph& of) : of_(of) {
    made.mutable_versions()->set_producer(producer);
  }

  status write() {
    for (const auto& each : of_.nodes())
      TROUPE_TRY(within(*each, write(*each)));
    return {};
  }

  GraphDef made;

private:
  status write(const node& from) {
    const auto& op = from.op();
    if (op.calls != calling::never)
      return failure(error_kind::unimplemented, "functions are not written yet");
    const auto* form = takes_handle(from) ? &op.by_handle : nullptr;
    if (form && form->name.empty())
      return invalid("TensorFlow has no such op for '", handle_behind(from.inputs()[0])->name(),
                     "', which is given by a handle: make it with VariableV2");
    NodeDef to;
    to.set_name(from.name());
    to.set_op(std::string{form ? form->name : op.name});
    to.set_device(from.device());
    std::vector<const node*> controls{from.controls().begin(), from.controls().end()};
    for (int i = 0; i < static_cast<int>(from.inputs().size()); ++i) {
      TROUPE_ASSIGN(auto input, input_of(from, i, form, controls));
      to.add_input(std::move(input));
    }
    for (const auto* before : controls)
      to.add_input(concat('^', before->name()));
    auto type = op.inputs.empty() ? std::string_view{} : op.inputs[0].type;
    for (const auto& attr : op.attrs) {
      auto name = attr.name;
      if (form && name == type) {
        if (form->untyped)
          continue;
        name = form->type.empty() ? name : form->type;
      }
      if (form && form->locks && name == "use_locking")
        continue;
      const auto& own = from.attrs().find(attr.name)->second;
      auto value = written(own);
      const auto* nothing = own.get_if<tensor>(); // as ImageSummary's bad_color
      auto is_unused =
          nothing ? nothing->empty() : name.starts_with('_') && own == default_of(attr);
      if (!is_default_list(attr, value) && !is_unused)
        (*to.mutable_attr())[std::string{name}] = std::move(value);
    }
    *made.add_node() = std::move(to);
    return {};
  }

  static const node* handle_behind(edge what) {
    const auto* behind = what.node->output_is_ref(what.index) ? resource_behind(what) : nullptr;
    return behind && behind->op().outputs[0].handle ? behind : nullptr;
  }

  // An op on references that is given a handle.
  static bool takes_handle(const node& at) {
    return !at.inputs().empty() && at.input_is_ref(0) && !at.input_port(0).handle &&
           handle_behind(at.inputs()[0]);
  }

  result<std::string> input_of(const node& at, int i, const handle_form* form,
                               std::vector<const node*>& controls) {
    const auto& from = at.inputs()[static_cast<size_t>(i)];
    const auto* maker = handle_behind(from);
    const auto& port = at.input_port(i);
    auto wants_handle = port.handle || (form && port.ref);
    if (!maker && wants_handle)
      return invalid("TensorFlow's takes '", resource_behind(from)->name(),
                     "' by a handle, which it has none of: make it with VarHandleOp");
    if (!maker)
      return from.name();
    if (port.ref && !wants_handle)
      return invalid("TensorFlow's takes '", maker->name(),
                     "' as a reference, and it is given by a handle: make it with VariableV2");
    if (wants_handle) {
      if (from.node != maker)
        controls.push_back(from.node); // which hands the variable on
      return maker->name();
    }
    return read(*maker, from, at, i);
  }

  // The value that the node would read right before it runs.
  std::string read(const node& maker, edge from, const node& by, int input) {
    NodeDef to;
    auto name = concat(by.name(), "/read_", input);
    while (of_.find(name))
      name += '_';
    to.set_name(name);
    to.set_op("ReadVariableOp");
    to.set_device(maker.device());
    to.add_input(maker.name());
    if (from.node != &maker)
      to.add_input(concat('^', from.node->name()));
    for (const auto* before : by.controls())
      to.add_input(concat('^', before->name()));
    (*to.mutable_attr())["dtype"] = written(attr_value{from.type()});
    *made.add_node() = std::move(to);
    return name;
  }

  const graph& of_;
};

} // namespace
} // namespace graph_def

result<std::string> write_graph_def(const graph& of, graph_def_format format) {
  graph_def::graph_def_writer writer{of};
  TROUPE_TRY(writer.write());
  const auto& made = writer.made;
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
