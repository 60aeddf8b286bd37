#include "troupe/serialization/graph_def/graph_def.hpp"

#include "troupe/runtime/device/preferred_device.hpp"
#include "troupe/runtime/graph/colocation.hpp"
#include "troupe/runtime/graph/function.hpp"
#include "troupe/runtime/graph/gradient_context.hpp"
#include "troupe/runtime/graph/internal_ops.hpp"
#include "troupe/runtime/graph/transfer_attr.hpp"
#include "troupe/serialization/graph_def/function_library.hpp"
#include "troupe/serialization/graph_def/values.hpp"

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>
#include <google/protobuf/text_format.h>

#include <algorithm>
#include <climits>
#include <map>
#include <set>

namespace troupe {
namespace graph_def {
namespace {

// The version of the format: from 22 on, a placeholder of shape [] takes only scalars.
constexpr int producer = 22;

// Whether an optional list is empty, and so stands for the op's default.
bool is_default_list(const attr_def& attr, const AttrValue& value) {
  return attr.optional && value.value_case() == AttrValue::kList &&
         value.list().ByteSizeLong() == 0;
}

edge result_of(const function& source, size_t i) {
  if (auto argument = source.passed_through(i); argument >= 0)
    return {const_cast<node*>(&source.argument(static_cast<size_t>(argument))), 0};
  for (const auto& body_node : source.body().nodes())
    if (&body_node->op() == &internal_ops::fetch &&
        body_node->attr<int64_t>("index") == static_cast<int64_t>(i))
      return body_node->inputs()[0];
  return {};
}

std::string argument_name(size_t i) { return concat("argument_", i); }

// The functions that were written, with unique names.
class written_functions {
public:
  explicit written_functions(FunctionDefLibrary& library) : library_(library) {}

  /// Adds a function without a name.
  FunctionDef& add() { return *library_.add_function(); }
  const std::string* find(const function* original, bool noinline) const {
    auto entry = names_.find({original, noinline});
    return entry == names_.end() ? nullptr : &entry->second;
  }
  std::string choose_name(const std::string& base_name) {
    auto name = base_name;
    for (int i = 1; !taken_.insert(name).second; ++i)
      name = concat(base_name, '_', i);
    return name;
  }
  void note(const function* original, bool noinline, std::string name) {
    names_.emplace(std::pair{original, noinline}, std::move(name));
  }
  void add_gradient(const std::string& original, const std::string& gradient) {
    auto& added = *library_.add_gradient();
    added.set_function_name(original);
    added.set_gradient_func(gradient);
  }

private:
  FunctionDefLibrary& library_;
  std::map<std::pair<const function*, bool>, std::string> names_; // true: calls are not inlined
  std::set<std::string> taken_;
};

// The signature of a written function, and the positions of the original arguments and results.
struct written_form {
  std::vector<DataType> arguments = {}, results = {};
  std::vector<size_t> argument_places = {}, result_places = {};
  bool noinline = false;
};

// A gradient of TensorFlow takes the gradients of all results, and returns those of all arguments;
// Troupe's only takes and returns existing ones.
written_form form_of_gradient(const function& original, const written_form& form) {
  written_form gradient_form{.arguments = form.arguments,
                             .results = form.arguments,
                             .argument_places = form.argument_places};
  gradient_form.arguments.insert(gradient_form.arguments.end(), form.results.begin(),
                                 form.results.end());
  for (size_t i = 0; i < original.results(); ++i)
    if (!original.result_is_ref(i) && carries_gradients(original.result_type(i)))
      gradient_form.argument_places.push_back(form.arguments.size() + form.result_places[i]);
  for (auto to : original.gradient().arguments)
    gradient_form.result_places.push_back(form.argument_places[to]);
  return gradient_form;
}

// Names of the enclosing functions, and their names in the library.
using names_around = std::vector<std::pair<std::string, std::string>>;

// Writes the nodes of a graph. Troupe allows more combinations with handles of variables than
// TensorFlow: an op on references may take handles, and an op on values may take a handle. The
// written graph has equivalent nodes of TensorFlow.
class graph_def_writer {
public:
  using node_list = google::protobuf::RepeatedPtrField<NodeDef>;

  /// `body` is the function whose graph this is; null for a graph outside of functions. `handles`
  /// says which of its arguments are handles of TensorArrays and stacks.
  graph_def_writer(const graph& source, node_list& nodes, written_functions& functions,
                   names_around around = {}, FunctionDef* body = nullptr,
                   std::vector<bool> handles = {}, const written_form& form = {})
      : source_(source), nodes_(nodes), functions_(functions), enclosing_(std::move(around)),
        body_(body), handles_(std::move(handles)), form_(form) {}

  status write() {
    for (const auto& owned : source_.nodes())
      if (!body_ || !is_argument(*owned))
        TROUPE_TRY(with_node_context(*owned, &owned->op() == &internal_ops::fetch && body_
                                                 ? write_result(*owned)
                                                 : write(*owned)));
    return {};
  }

  // TensorFlow's type of a value that is a variant here. The handle of a TensorArray or a stack is
  // a resource, or a text in old versions. It is traced to its op through loops, and through
  // branches and calls that pass it on.
  DataType type_of(edge from) const {
    auto type = to_proto(from.type());
    while (from.type() == dtype::variant) {
      const auto& maker = *from.node;
      const auto& op = maker.op();
      if (op.name.starts_with("TensorArray") || op.name.starts_with("Stack"))
        return from.index > 0 || op.outputs[0].type != "variant"              ? type
               : op.name == "TensorArrayV2" || op.name == "TensorArrayGradV2" ? DT_STRING
                                                                              : DT_RESOURCE;
      if (is_argument(maker)) {
        auto index = static_cast<size_t>(maker.attr<int64_t>("index"));
        return index < handles_.size() && handles_[index] ? DT_RESOURCE : type;
      }
      auto input = from.index;
      if (runs_functions(op)) {
        auto argument = op.calls == call_kind::while_true
                            ? input
                            : passed_through(op, maker.attrs(), static_cast<size_t>(input));
        input = argument < 0 ? -1 : argument + first_argument(op);
      } else if (op.inputs.empty() || op.outputs[0].type != op.inputs[0].type) {
        return type;
      }
      if (input < 0 || input >= static_cast<int>(maker.inputs().size()))
        return type;
      from = maker.inputs()[static_cast<size_t>(input)];
    }
    return type;
  }

private:
  // -- functions ----------------------------------------------------------------------------------

  // Returns the name of a function in the library, and writes the function on first use.
  result<std::string> name_of(const function_value& value, const node& caller) {
    if (!value.body) {
      for (auto enclosing = enclosing_.rbegin(); enclosing != enclosing_.rend(); ++enclosing)
        if (enclosing->first == value.name)
          return enclosing->second;
      return invalid("function '", value.name, "' is not known here");
    }
    // Calls that are inlined and calls that are not need two functions.
    auto noinline = caller.op().calls == call_kind::once && caller.attr<bool>(noinline_attr);
    if (const auto* known_name = functions_.find(value.body.get(), noinline))
      return *known_name;
    auto name = functions_.choose_name(value.name);
    functions_.note(value.body.get(), noinline, name);
    written_form form;
    form.noinline = noinline;
    for (size_t i = 0; i < value.body->arguments(); ++i) {
      auto type = type_of(caller.inputs()[i + static_cast<size_t>(first_argument(caller.op()))]);
      form.arguments.push_back(value.body->argument_is_ref(i) ? DT_RESOURCE : type);
      form.argument_places.push_back(i);
    }
    TROUPE_TRY(write_function(*value.body, value.name, name, form));
    return name;
  }

  // With an empty list of results, the form gets those of the function.
  status write_function(const function& original, const std::string& own_name,
                        const std::string& name, written_form form) {
    FunctionDef written_function;
    auto& signature = *written_function.mutable_signature();
    signature.set_name(name);
    signature.set_is_stateful(original.has_effects());
    if (form.noinline)
      (*written_function.mutable_attr())[noinline_attr].set_b(true);
    for (size_t i = 0; i < form.arguments.size(); ++i) {
      auto& argument = *signature.add_input_arg();
      argument.set_name(argument_name(i));
      argument.set_type(form.arguments[i]);
    }
    std::vector<bool> handles;
    for (size_t i = 0; i < original.arguments(); ++i)
      handles.push_back(!original.argument_is_ref(i) &&
                        form.arguments[form.argument_places[i]] == DT_RESOURCE);
    auto enclosing = enclosing_;
    enclosing.emplace_back(own_name, name);
    if (form.result_places.empty() && form.results.empty())
      for (size_t i = 0; i < original.results(); ++i) {
        graph_def_writer types{original.body(), nodes_, functions_, {}, &written_function, handles};
        form.results.push_back(original.result_is_ref(i) ? DT_RESOURCE
                                                         : types.type_of(result_of(original, i)));
        form.result_places.push_back(i);
      }
    graph_def_writer body{original.body(),
                          *written_function.mutable_node_def(),
                          functions_,
                          std::move(enclosing),
                          &written_function,
                          std::move(handles),
                          form};
    for (size_t i = 0; i < form.results.size(); ++i) {
      auto& result = *signature.add_output_arg();
      result.set_name(result_name(i));
      result.set_type(form.results[i]);
      if (std::ranges::find(form.result_places, i) == form.result_places.end())
        body.write_nothing(i);
    }
    for (size_t i = 0; i < original.results(); ++i)
      if (auto argument = original.passed_through(i); argument >= 0)
        (*written_function.mutable_ret())[result_name(form.result_places[i])] =
            body.name_of_argument(static_cast<size_t>(argument));
    TROUPE_TRY(body.write().with_context(concat("function '", name, "'")));
    functions_.add() = std::move(written_function);
    return write_gradient(original, name, form);
  }

  status write_gradient(const function& original, const std::string& name,
                        const written_form& form) {
    const auto& [gradient_body, targets] = original.gradient();
    if (!gradient_body && !targets.empty())
      return failure(error_kind::unimplemented, "function '", original.name(),
                     "' has a gradient of its own that was not read, and cannot be written");
    if (!gradient_body)
      return {};
    // A separate name: the form of a gradient depends on its function.
    auto gradient = functions_.choose_name(gradient_body->name());
    TROUPE_TRY(write_function(*gradient_body, gradient_body->name(), gradient,
                              form_of_gradient(original, form)));
    functions_.add_gradient(name, gradient);
    return {};
  }

  // Writes the gradient of an argument without one: zeros.
  void write_nothing(size_t place) {
    auto& places = (*body_->mutable_attr())[std::string{gradient_places}];
    if (!places.has_list())
      for (auto place_of_result : form_.result_places)
        places.mutable_list()->add_i(static_cast<int64_t>(place_of_result));
    places.mutable_list();
    auto& result = (*body_->mutable_ret())[result_name(place)];
    result = argument_name(place);
    if (auto type = form_.arguments[place];
        type == DT_RESOURCE || type == DT_VARIANT || type == DT_STRING)
      return; // these types have no zeros
    NodeDef zeros;
    auto name = concat("zeros_", place);
    while (source_.find(name))
      name += '_';
    zeros.set_name(name);
    zeros.set_op("ZerosLike");
    zeros.add_input(argument_name(place));
    (*zeros.mutable_attr())["T"].set_type(form_.arguments[place]);
    *nodes_.Add() = std::move(zeros);
    result = name + ":y:0";
  }

  static std::string result_name(size_t place) { return concat("result_", place); }
  std::string name_of_argument(size_t i) const {
    return argument_name(form_.argument_places.empty() ? i : form_.argument_places[i]);
  }

  status write_result(const node& fetch_node) {
    auto index = static_cast<size_t>(fetch_node.attr<int64_t>("index"));
    (*body_->mutable_ret())[result_name(form_.result_places[index])] =
        text_of(fetch_node.inputs()[0]);
    return {};
  }

  // Names an edge. Within functions, the name contains the name of the op's output.
  std::string text_of(edge from) const {
    if (!body_)
      return from.name();
    if (is_argument(*from.node))
      return name_of_argument(static_cast<size_t>(from.node->attr<int64_t>("index")));
    int first = 0;
    for (const auto& port : from.node->op().outputs) {
      auto count = tensors_of(*from.node, port);
      if (from.index < first + count)
        return concat(from.node->name(), ':', port.name, ':', from.index - first);
      first += count;
    }
    return from.name();
  }

  static int tensors_of(const node& producer, const port& output_port) {
    if (!output_port.count.empty())
      return static_cast<int>(producer.attr<int64_t>(output_port.count));
    const auto* attr = producer.op().find_attr(output_port.type);
    return attr && attr->kind == attr_kind::types
               ? static_cast<int>(producer.attr<std::vector<dtype>>(output_port.type).size())
               : 1;
  }

  // Functions do not state the shapes of their arguments; a loop may.
  static std::vector<partial_shape> shapes_of_variables(const function& body,
                                                        const attr_value& declared) {
    auto shapes = *declared.get_if<std::vector<partial_shape>>();
    while (shapes.size() < body.arguments())
      shapes.push_back(body.argument(shapes.size()).output_shape(0));
    return shapes;
  }

  // Converts attributes of a node that runs functions: names in the library, and types of arguments
  // that are handles.
  result<AttrValue> attr_of_call(const node& call, const attr_def& attr, const attr_value& value) {
    AttrValue converted;
    if (const auto* function = value.get_if<function_value>()) {
      TROUPE_ASSIGN(auto name, name_of(*function, call));
      converted.mutable_func()->set_name(name);
    } else if (const auto* functions = value.get_if<std::vector<function_value>>()) {
      for (const auto& listed : *functions) {
        TROUPE_ASSIGN(auto name, name_of(listed, call));
        converted.mutable_list()->add_func()->set_name(name);
      }
    } else if (attr.kind == attr_kind::types) {
      auto first = first_argument(call.op());
      auto is_input_list = std::ranges::any_of(
          call.op().inputs, [&](const port& input_port) { return input_port.type == attr.name; });
      const auto& types = *value.get_if<std::vector<dtype>>();
      auto& list = *converted.mutable_list();
      for (int i = 0; i < static_cast<int>(types.size()); ++i)
        list.add_type((is_input_list ? call.input_is_ref(first + i) : call.output_is_ref(i))
                          ? DT_RESOURCE
                      : is_input_list ? type_of(call.inputs()[static_cast<size_t>(first + i)])
                                      : type_of({const_cast<node*>(&call), i}));
    } else if (attr.name == "output_shapes" && call.op().calls == call_kind::while_true &&
               functions_of(call).back()->body) {
      converted =
          to_proto(attr_value{shapes_of_variables(*functions_of(call).back()->body, value)});
    } else {
      converted = to_proto(value);
    }
    return converted;
  }

  // -- nodes --------------------------------------------------------------------------------------

  status write(const node& from) {
    const auto& op = from.op();
    if (op.name.starts_with('_'))
      return failure(error_kind::unimplemented,
                     "gradients of branches, loops and functions keep values in a form of ours, "
                     "which TensorFlow has not: write the graph before its gradients are taken");
    const auto* form = takes_handle(from) ? &op.by_handle : nullptr;
    if (form && form->name.empty())
      return invalid("TensorFlow has no such op for '", handle_behind(from.inputs()[0])->name(),
                     "', which is given by a handle: make it with VariableV2");
    NodeDef written_node;
    written_node.set_name(from.name());
    written_node.set_op(std::string{form ? form->name : op.name});
    written_node.set_device(plain_device(from.device()));
    std::vector<const node*> controls{from.controls().begin(), from.controls().end()};
    for (int i = 0; i < static_cast<int>(from.inputs().size()); ++i) {
      TROUPE_ASSIGN(auto input, input_of(from, i, form, controls));
      written_node.add_input(std::move(input));
    }
    for (const auto* control : controls)
      if (!body_ || !is_argument(*control))
        written_node.add_input(concat('^', control->name()));
    auto type = op.inputs.empty() ? std::string_view{} : op.inputs[0].type;
    for (const auto& attr : op.attrs) {
      auto name = attr.name;
      if (form && name == type) {
        if (form->untyped)
          continue;
        name = form->type.empty() ? name : form->type;
      }
      if (form && form->without_use_locking && name == "use_locking")
        continue;
      const auto& attribute = from.attrs().find(attr.name)->second;
      AttrValue value;
      if (runs_functions(op)) {
        TROUPE_ASSIGN(value, attr_of_call(from, attr, attribute));
      } else {
        value = to_proto(attribute);
        name_handles(value, attr, from);
      }
      const auto* optional_tensor = attribute.get_if<tensor>(); // as ImageSummary's bad_color
      auto is_unused = optional_tensor ? optional_tensor->empty()
                                       : name.starts_with('_') && attribute == default_of(attr);
      if (!is_default_list(attr, value) && !is_unused)
        (*written_node.mutable_attr())[std::string{name}] = std::move(value);
    }
    if (auto transfer = transfer_of(from))
      (*written_node.mutable_attr())[std::string{transfer_attr}].set_s(
          std::string{to_string(*transfer)});
    for (auto group : colocated_with(from))
      if (source_.find(group)) // TensorFlow rejects unknown nodes
        (*written_node.mutable_attr())[std::string{colocation_attr}].mutable_list()->add_s(
            concat(colocation_prefix, group));
    *nodes_.Add() = std::move(written_node);
    if (body_ && has_effects_in_function(from)) {
      (*body_->mutable_control_ret())[from.name()] = from.name();
      body_->mutable_signature()->add_control_output(from.name());
    }
    return {};
  }

  // Sets the types of inputs that are handles of TensorArrays and stacks.
  void name_handles(AttrValue& value, const attr_def& attr, const node& reader) const {
    for (int i = 0; i < static_cast<int>(reader.inputs().size()); ++i)
      if (const auto& from = reader.inputs()[static_cast<size_t>(i)];
          from.type() == dtype::variant && reader.input_port(i).type == attr.name) {
        if (attr.kind == attr_kind::type)
          value.set_type(type_of(from));
        else if (reader.op().inputs.size() == 1)
          value.mutable_list()->set_type(i, type_of(from));
      }
  }

  static const node* handle_behind(edge value) {
    const auto* producer =
        value.node->output_is_ref(value.index) ? resource_behind(value) : nullptr;
    return producer && producer->op().outputs[0].handle ? producer : nullptr;
  }

  // Whether an op on references is given a handle.
  static bool takes_handle(const node& tested) {
    return !tested.inputs().empty() && tested.input_is_ref(0) && !tested.input_port(0).handle &&
           handle_behind(tested.inputs()[0]);
  }

  result<std::string> input_of(const node& reader, int i, const handle_form* form,
                               std::vector<const node*>& controls) {
    const auto& from = reader.inputs()[static_cast<size_t>(i)];
    const auto* maker = handle_behind(from);
    const auto& port = reader.input_port(i);
    auto wants_handle = port.handle || (form && port.ref) ||
                        (runs_functions(reader.op()) && reader.input_is_ref(i));
    if (!maker && wants_handle)
      return invalid("TensorFlow's takes '", resource_behind(from)->name(),
                     "' by a handle, but it has none: make it with VarHandleOp");
    if (!maker)
      return text_of(from);
    if (port.ref && !wants_handle)
      return invalid("TensorFlow's takes '", maker->name(),
                     "' as a reference, and it is given by a handle: make it with VariableV2");
    if (wants_handle) {
      if (from.node != maker)
        controls.push_back(from.node); // it passes the variable on
      return text_of(edge{const_cast<node*>(maker), 0});
    }
    return read(*maker, from, reader, i);
  }

  // Adds a read of a variable right before the node runs.
  std::string read(const node& maker, edge from, const node& reader, int input) {
    NodeDef read_node;
    auto name = concat(reader.name(), "/read_", input);
    while (source_.find(name))
      name += '_';
    read_node.set_name(name);
    read_node.set_op("ReadVariableOp");
    read_node.set_device(plain_device(maker.device()));
    read_node.add_input(text_of(edge{const_cast<node*>(&maker), 0}));
    if (from.node != &maker)
      read_node.add_input(concat('^', from.node->name()));
    for (const auto* control : reader.controls())
      if (!body_ || !is_argument(*control))
        read_node.add_input(concat('^', control->name()));
    (*read_node.mutable_attr())["dtype"] = to_proto(attr_value{from.type()});
    *nodes_.Add() = std::move(read_node);
    return body_ ? name + ":value:0" : name;
  }

  const graph& source_;
  node_list& nodes_;
  written_functions& functions_;
  const names_around enclosing_;
  FunctionDef* const body_;
  const std::vector<bool> handles_;
  const written_form form_;
};

} // namespace
} // namespace graph_def

result<std::string> write_graph_def(const graph& source, graph_def_format format) {
  graph_def::GraphDef graph;
  graph.mutable_versions()->set_producer(graph_def::producer);
  graph_def::FunctionDefLibrary library;
  graph_def::written_functions functions{library};
  TROUPE_TRY(graph_def::graph_def_writer(source, *graph.mutable_node(), functions).write());
  if (library.function_size() > 0)
    *graph.mutable_library() = std::move(library);
  std::string text;
  if (graph.ByteSizeLong() > INT_MAX)
    return failure(error_kind::resource_exhausted, "a GraphDef has at most ", INT_MAX,
                   " bytes, this one would have ", graph.ByteSizeLong());
  if (format == graph_def_format::text) {
    google::protobuf::TextFormat::PrintToString(graph, &text);
    return text;
  }
  {
    google::protobuf::io::StringOutputStream out{&text};
    google::protobuf::io::CodedOutputStream coded{&out};
    coded.SetSerializationDeterministic(true); // equal graphs give equal bytes
    graph.SerializeToCodedStream(&coded);
  }
  return text;
}

} // namespace troupe
