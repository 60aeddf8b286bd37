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

// The version of the format: from 22 on, a placeholder of shape [] takes scalars only.
constexpr int producer = 22;

// A list that may be left out stands for its default when it is empty, which the op knows best.
bool is_default_list(const attr_def& attr, const AttrValue& value) {
  return attr.optional && value.value_case() == AttrValue::kList &&
         value.list().ByteSizeLong() == 0;
}

edge result_of(const function& what, size_t i) {
  if (auto argument = what.handed_on(i); argument >= 0)
    return {const_cast<node*>(&what.argument(static_cast<size_t>(argument))), 0};
  for (const auto& one : what.body().nodes())
    if (&one->op() == &internal_ops::fetch &&
        one->attr<int64_t>("index") == static_cast<int64_t>(i))
      return one->inputs()[0];
  return {};
}

std::string argument_name(size_t i) { return concat("argument_", i); }

// The functions that have been written, under names that no other has.
class written_functions {
public:
  explicit written_functions(FunctionDefLibrary& to) : to_(to) {}

  /// A function that has no name yet.
  FunctionDef& add() { return *to_.add_function(); }
  const std::string* find(const function* of, bool noinline) const {
    auto it = names_.find({of, noinline});
    return it == names_.end() ? nullptr : &it->second;
  }
  std::string choose_name(const std::string& wish) {
    auto name = wish;
    for (int i = 1; !taken_.insert(name).second; ++i)
      name = concat(wish, '_', i);
    return name;
  }
  void note(const function* of, bool noinline, std::string name) {
    names_.emplace(std::pair{of, noinline}, std::move(name));
  }
  void add_gradient(const std::string& of, const std::string& by) {
    auto& made = *to_.add_gradient();
    made.set_function_name(of);
    made.set_gradient_func(by);
  }

private:
  FunctionDefLibrary& to_;
  std::map<std::pair<const function*, bool>, std::string> names_; // true: of calls that stay calls
  std::set<std::string> taken_;
};

// What a function takes and gives where it is written, and which of these its own are.
struct written_form {
  std::vector<DataType> arguments = {}, results = {};
  std::vector<size_t> argument_places = {}, result_places = {};
  bool noinline = false;
};

// TensorFlow's gradients take those of all results, and give those of all arguments; ours those
// that there are.
written_form form_of_gradient(const function& of, const written_form& form) {
  written_form made{.arguments = form.arguments,
                    .results = form.arguments,
                    .argument_places = form.argument_places};
  made.arguments.insert(made.arguments.end(), form.results.begin(), form.results.end());
  for (size_t i = 0; i < of.results(); ++i)
    if (!of.result_is_ref(i) && carries_gradients(of.result_type(i)))
      made.argument_places.push_back(form.arguments.size() + form.result_places[i]);
  for (auto to : of.gradient().to)
    made.result_places.push_back(form.argument_places[to]);
  return made;
}

// The functions around what is being written, and what they are called.
using names_around = std::vector<std::pair<std::string, std::string>>;

// Writes the nodes of a graph. Ours are freer than TensorFlow's where variables are given by
// handles: an op that takes references may take handles, and one that wants a value may be given
// one. What is written says the same as TensorFlow does.
class graph_def_writer {
public:
  using node_list = google::protobuf::RepeatedPtrField<NodeDef>;

  /// `body` is the function whose graph it is; nothing for one that is none's.
  /// `handles` says which of its arguments are handles of TensorArrays and stacks.
  graph_def_writer(const graph& of, node_list& to, written_functions& functions,
                   names_around around = {}, FunctionDef* body = nullptr,
                   std::vector<bool> handles = {}, const written_form& form = {})
      : of_(of), to_(to), functions_(functions), around_(std::move(around)), body_(body),
        handles_(std::move(handles)), form_(form) {}

  status write() {
    for (const auto& each : of_.nodes())
      if (!body_ || !is_argument(*each))
        TROUPE_TRY(within(*each, &each->op() == &internal_ops::fetch && body_ ? write_result(*each)
                                                                              : write(*each)));
    return {};
  }

  // What TensorFlow calls what we hand on as a variant: the handle of a TensorArray or a stack is a
  // resource, or was a text. It is followed to its maker through loops, and through branches and
  // calls that hand it on.
  DataType type_of(edge from) const {
    auto type = written(from.type());
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
        auto argument = op.calls == calling::while_true
                            ? input
                            : handed_on(op, maker.attrs(), static_cast<size_t>(input));
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

  // What a function is called in the library, where it is once it has been asked for.
  result<std::string> name_of(const function_value& what, const node& by) {
    if (!what.body) {
      for (auto it = around_.rbegin(); it != around_.rend(); ++it)
        if (it->first == what.name)
          return it->second;
      return invalid("function '", what.name, "' is not known here");
    }
    // Where calls differ in whether they stay calls, there are two functions.
    auto noinline = by.op().calls == calling::once && by.attr<bool>(noinline_attr);
    if (const auto* known = functions_.find(what.body.get(), noinline))
      return *known;
    auto name = functions_.choose_name(what.name);
    functions_.note(what.body.get(), noinline, name);
    written_form form;
    form.noinline = noinline;
    for (size_t i = 0; i < what.body->arguments(); ++i) {
      auto type = type_of(by.inputs()[i + static_cast<size_t>(first_argument(by.op()))]);
      form.arguments.push_back(what.body->argument_is_ref(i) ? DT_RESOURCE : type);
      form.argument_places.push_back(i);
    }
    TROUPE_TRY(write_function(*what.body, what.name, name, form));
    return name;
  }

  // Without results, the form gets those of the function.
  status write_function(const function& what, const std::string& own_name, const std::string& name,
                        written_form form) {
    FunctionDef made;
    auto& signature = *made.mutable_signature();
    signature.set_name(name);
    signature.set_is_stateful(what.has_effects());
    if (form.noinline)
      (*made.mutable_attr())[noinline_attr].set_b(true);
    for (size_t i = 0; i < form.arguments.size(); ++i) {
      auto& to = *signature.add_input_arg();
      to.set_name(argument_name(i));
      to.set_type(form.arguments[i]);
    }
    std::vector<bool> handles;
    for (size_t i = 0; i < what.arguments(); ++i)
      handles.push_back(!what.argument_is_ref(i) &&
                        form.arguments[form.argument_places[i]] == DT_RESOURCE);
    auto around = around_;
    around.emplace_back(own_name, name);
    if (form.result_places.empty() && form.results.empty())
      for (size_t i = 0; i < what.results(); ++i) {
        graph_def_writer types{what.body(), to_, functions_, {}, &made, handles};
        form.results.push_back(what.result_is_ref(i) ? DT_RESOURCE
                                                     : types.type_of(result_of(what, i)));
        form.result_places.push_back(i);
      }
    graph_def_writer body{what.body(), *made.mutable_node_def(), functions_, std::move(around),
                          &made,       std::move(handles),       form};
    for (size_t i = 0; i < form.results.size(); ++i) {
      auto& to = *signature.add_output_arg();
      to.set_name(result_name(i));
      to.set_type(form.results[i]);
      if (std::ranges::find(form.result_places, i) == form.result_places.end())
        body.write_nothing(i);
    }
    for (size_t i = 0; i < what.results(); ++i)
      if (auto argument = what.handed_on(i); argument >= 0)
        (*made.mutable_ret())[result_name(form.result_places[i])] =
            body.name_of_argument(static_cast<size_t>(argument));
    TROUPE_TRY(body.write().within(concat("function '", name, "'")));
    functions_.add() = std::move(made);
    return write_gradient(what, name, form);
  }

  status write_gradient(const function& of, const std::string& name, const written_form& form) {
    const auto& [by, to] = of.gradient();
    if (!by && !to.empty())
      return failure(error_kind::unimplemented, "function '", of.name(),
                     "' has a gradient of its own that was not read, and cannot be written");
    if (!by)
      return {};
    // Not under the name that calls of it have: its form depends on the function.
    auto gradient = functions_.choose_name(by->name());
    TROUPE_TRY(write_function(*by, by->name(), gradient, form_of_gradient(of, form)));
    functions_.add_gradient(name, gradient);
    return {};
  }

  // The gradient of an argument that has none.
  void write_nothing(size_t place) {
    auto& places = (*body_->mutable_attr())[std::string{gradient_places}];
    if (!places.has_list())
      for (auto one : form_.result_places)
        places.mutable_list()->add_i(static_cast<int64_t>(one));
    places.mutable_list();
    auto& result = (*body_->mutable_ret())[result_name(place)];
    result = argument_name(place);
    if (auto type = form_.arguments[place];
        type == DT_RESOURCE || type == DT_VARIANT || type == DT_STRING)
      return; // which have no zeros
    NodeDef to;
    auto name = concat("zeros_", place);
    while (of_.find(name))
      name += '_';
    to.set_name(name);
    to.set_op("ZerosLike");
    to.add_input(argument_name(place));
    (*to.mutable_attr())["T"].set_type(form_.arguments[place]);
    *to_.Add() = std::move(to);
    result = name + ":y:0";
  }

  static std::string result_name(size_t place) { return concat("result_", place); }
  std::string name_of_argument(size_t i) const {
    return argument_name(form_.argument_places.empty() ? i : form_.argument_places[i]);
  }

  status write_result(const node& of) {
    auto index = static_cast<size_t>(of.attr<int64_t>("index"));
    (*body_->mutable_ret())[result_name(form_.result_places[index])] = text_of(of.inputs()[0]);
    return {};
  }

  // How what a node gives is called: within functions by the output of the op.
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

  static int tensors_of(const node& of, const port& at) {
    if (!at.count.empty())
      return static_cast<int>(of.attr<int64_t>(at.count));
    const auto* attr = of.op().find_attr(at.type);
    return attr && attr->kind == attr_kind::types
               ? static_cast<int>(of.attr<std::vector<dtype>>(at.type).size())
               : 1;
  }

  // Functions do not say of which shape their arguments are; a loop may.
  static std::vector<partial_shape> shapes_of_variables(const function& body,
                                                        const attr_value& said) {
    auto all = *said.get_if<std::vector<partial_shape>>();
    while (all.size() < body.arguments())
      all.push_back(body.argument(all.size()).output_shape(0));
    return all;
  }

  // Attributes of a node that runs functions: their names in the library, and what is handed on as
  // a handle.
  result<AttrValue> attr_of_call(const node& of, const attr_def& attr, const attr_value& own) {
    AttrValue made;
    if (const auto* one = own.get_if<function_value>()) {
      TROUPE_ASSIGN(auto name, name_of(*one, of));
      made.mutable_func()->set_name(name);
    } else if (const auto* all = own.get_if<std::vector<function_value>>()) {
      for (const auto& each : *all) {
        TROUPE_ASSIGN(auto name, name_of(each, of));
        made.mutable_list()->add_func()->set_name(name);
      }
    } else if (attr.kind == attr_kind::types) {
      auto first = first_argument(of.op());
      auto takes =
          std::ranges::any_of(of.op().inputs, [&](const port& at) { return at.type == attr.name; });
      const auto& types = *own.get_if<std::vector<dtype>>();
      auto& list = *made.mutable_list();
      for (int i = 0; i < static_cast<int>(types.size()); ++i)
        list.add_type((takes ? of.input_is_ref(first + i) : of.output_is_ref(i)) ? DT_RESOURCE
                      : takes ? type_of(of.inputs()[static_cast<size_t>(first + i)])
                              : type_of({const_cast<node*>(&of), i}));
    } else if (attr.name == "output_shapes" && of.op().calls == calling::while_true &&
               functions_of(of).back()->body) {
      made = written(attr_value{shapes_of_variables(*functions_of(of).back()->body, own)});
    } else {
      made = written(own);
    }
    return made;
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
    NodeDef to;
    to.set_name(from.name());
    to.set_op(std::string{form ? form->name : op.name});
    to.set_device(plain_device(from.device()));
    std::vector<const node*> controls{from.controls().begin(), from.controls().end()};
    for (int i = 0; i < static_cast<int>(from.inputs().size()); ++i) {
      TROUPE_ASSIGN(auto input, input_of(from, i, form, controls));
      to.add_input(std::move(input));
    }
    for (const auto* before : controls)
      if (!body_ || !is_argument(*before))
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
      AttrValue value;
      if (runs_functions(op)) {
        TROUPE_ASSIGN(value, attr_of_call(from, attr, own));
      } else {
        value = written(own);
        name_handles(value, attr, from);
      }
      const auto* nothing = own.get_if<tensor>(); // as ImageSummary's bad_color
      auto is_unused =
          nothing ? nothing->empty() : name.starts_with('_') && own == default_of(attr);
      if (!is_default_list(attr, value) && !is_unused)
        (*to.mutable_attr())[std::string{name}] = std::move(value);
    }
    if (auto how = transfer_of(from))
      (*to.mutable_attr())[std::string{transfer_attr}].set_s(std::string{to_string(*how)});
    for (auto group : colocated_with(from))
      if (of_.find(group)) // TensorFlow refuses one that is not there
        (*to.mutable_attr())[std::string{colocation_attr}].mutable_list()->add_s(
            concat(colocation_prefix, group));
    *to_.Add() = std::move(to);
    if (body_ && acts_in_a_body(from)) {
      (*body_->mutable_control_ret())[from.name()] = from.name();
      body_->mutable_signature()->add_control_output(from.name());
    }
    return {};
  }

  // Types of inputs that are handles of TensorArrays and stacks.
  void name_handles(AttrValue& value, const attr_def& attr, const node& of) const {
    for (int i = 0; i < static_cast<int>(of.inputs().size()); ++i)
      if (const auto& from = of.inputs()[static_cast<size_t>(i)];
          from.type() == dtype::variant && of.input_port(i).type == attr.name) {
        if (attr.kind == attr_kind::type)
          value.set_type(type_of(from));
        else if (of.op().inputs.size() == 1)
          value.mutable_list()->set_type(i, type_of(from));
      }
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
    auto wants_handle =
        port.handle || (form && port.ref) || (runs_functions(at.op()) && at.input_is_ref(i));
    if (!maker && wants_handle)
      return invalid("TensorFlow's takes '", resource_behind(from)->name(),
                     "' by a handle, which it has none of: make it with VarHandleOp");
    if (!maker)
      return text_of(from);
    if (port.ref && !wants_handle)
      return invalid("TensorFlow's takes '", maker->name(),
                     "' as a reference, and it is given by a handle: make it with VariableV2");
    if (wants_handle) {
      if (from.node != maker)
        controls.push_back(from.node); // which hands the variable on
      return text_of(edge{const_cast<node*>(maker), 0});
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
    to.set_device(plain_device(maker.device()));
    to.add_input(text_of(edge{const_cast<node*>(&maker), 0}));
    if (from.node != &maker)
      to.add_input(concat('^', from.node->name()));
    for (const auto* before : by.controls())
      if (!body_ || !is_argument(*before))
        to.add_input(concat('^', before->name()));
    (*to.mutable_attr())["dtype"] = written(attr_value{from.type()});
    *to_.Add() = std::move(to);
    return body_ ? name + ":value:0" : name;
  }

  const graph& of_;
  node_list& to_;
  written_functions& functions_;
  const names_around around_;
  FunctionDef* const body_;
  const std::vector<bool> handles_;
  const written_form form_;
};

} // namespace
} // namespace graph_def

result<std::string> write_graph_def(const graph& of, graph_def_format format) {
  graph_def::GraphDef made;
  made.mutable_versions()->set_producer(graph_def::producer);
  graph_def::FunctionDefLibrary library;
  graph_def::written_functions functions{library};
  TROUPE_TRY(graph_def::graph_def_writer(of, *made.mutable_node(), functions).write());
  if (library.function_size() > 0)
    *made.mutable_library() = std::move(library);
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
