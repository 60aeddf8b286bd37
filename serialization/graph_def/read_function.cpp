#include "troupe/serialization/graph_def/read_function.hpp"

#include "troupe/runtime/functions/function_body.hpp"
#include "troupe/runtime/graph/gradient_context.hpp"
#include "troupe/serialization/graph_def/add_nodes.hpp"
#include "troupe/serialization/graph_def/function_library.hpp"
#include "troupe/serialization/graph_def/inline_calls.hpp"
#include "troupe/serialization/graph_def/input_name.hpp"

#include <algorithm>
#include <cstring>
#include <map>
#include <set>
#include <sstream>

namespace troupe::graph_def {
namespace {

constexpr size_t deepest_function = 64;

// A GraphDef that borrows the library of another while it is read.
class borrowing_graph {
public:
  explicit borrowing_graph(const FunctionDefLibrary& library) {
    nodes.set_allocated_library(const_cast<FunctionDefLibrary*>(&library));
  }
  borrowing_graph(const borrowing_graph&) = delete;
  ~borrowing_graph() { static_cast<void>(nodes.release_library()); }

  GraphDef nodes;
};

// How often a gradient may be read within itself. A gradient that calls its function has gradients
// of any order.
constexpr auto most_orders = 3;

struct function_argument {
  dtype type;
  partial_shape dims;
  const node* state = nullptr; ///< set if the argument is a variable or other state
  bool is_absent = false;      ///< the function gets zero instead, and has no such argument
};

// A zero of a type; for state, which has no value, any zero.
result<tensor> zero_of(dtype type) {
  TROUPE_ASSIGN(auto zero, tensor::make(type == dtype::none ? dtype::i32 : type, shape{}));
  if (zero.type() != dtype::string && zero.type() != dtype::variant)
    std::memset(zero.raw(), 0, zero.bytes());
  return zero;
}

// The name of a function as a name of a node: names of nodes must not begin with _.
std::string node_name(std::string_view function) {
  auto first = std::ranges::find_if(function, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
  });
  return first == function.end() ? std::string{"function"} : std::string{first, function.end()};
}

struct open_body {
  std::unique_ptr<function_body> nodes;
  std::vector<edge> results;
};

// Adds the argument, or the zero that the function gets instead.
result<edge> add_argument(function_body& body, const function_argument& argument) {
  if (argument.is_absent) {
    TROUPE_ASSIGN(auto value, zero_of(argument.type));
    TROUPE_ASSIGN(auto* zero,
                  body.add({.op = "Const", .attrs = {{"value", value}, {"dtype", value.type()}}}));
    return zero->output(0);
  }
  if (argument.state)
    return body.add_state_argument(argument.state->op().state_kind, argument.type, argument.dims);
  auto added = body.add_argument(argument.type, argument.dims);
  TROUPE_TRY(body.take_error());
  return added;
}

result<open_body> read_body(const NameAttrList& called, graph& outer,
                            const std::vector<function_argument>& arguments,
                            const function_source& source) {
  const auto& name = called.name();
  if (source.open.size() == deepest_function)
    return failure(error_kind::unimplemented, "functions are nested more than ", deepest_function,
                   " deep");
  if (!source.left || *source.left == 0)
    return failure(error_kind::resource_exhausted,
                   "branches and loops within others run more than ", max_functions, " functions");
  --*source.left;
  const auto& library = source.library.function();
  if (std::ranges::none_of(library,
                           [&](auto& defined) { return defined.signature().name() == name; }))
    return failure(error_kind::not_found, "there is no function '", name, "'");

  auto body = std::make_unique<function_body>(outer);
  borrowing_graph local{source.library};
  auto& call = *local.nodes.add_node();
  call.set_name(node_name(name));
  call.set_op(name);
  *call.mutable_attr() = called.attr();
  std::map<std::string, edge> given;
  for (size_t i = 0; i < arguments.size(); ++i) {
    TROUPE_ASSIGN(auto argument_edge, add_argument(*body, arguments[i]));
    auto& placeholder = *local.nodes.add_node();
    placeholder.set_name(concat("_argument_", i));
    placeholder.set_op("NoOp");
    call.add_input(placeholder.name());
    given.emplace(placeholder.name(), argument_edge);
  }
  auto inner = source;
  inner.open.push_back(name);
  const auto body_name = call.name(); // `call` is destroyed by inlining
  TROUPE_ASSIGN(auto calls, inline_calls(local.nodes, outer.ops(), call.name()));
  TROUPE_ASSIGN(auto raised, raise_control_flow(local.nodes, outer.ops()));
  inner.raised = &raised;
  auto& target = *body;
  TROUPE_ASSIGN(auto passed, add_nodes(local.nodes, target, inner, given));
  auto call_result = calls.find(body_name);
  if (call_result == calls.end())
    return failure(error_kind::internal, "function '", name, "' was not expanded");
  std::vector<edge> results;
  for (const auto& given_output : call_result->second.outputs) {
    TROUPE_ASSIGN(auto output, raised.renamed(given_output));
    TROUPE_ASSIGN(auto output_name, input_name::parse(output));
    if (auto handle = passed.find(std::string{output_name.node}); handle != passed.end()) {
      results.push_back(handle->second.target);
      continue;
    }
    TROUPE_ASSIGN(auto result, target.find_edge(output));
    results.push_back(result);
  }
  body->leave();
  return open_body{std::move(body), std::move(results)};
}

// Which arguments of a function its gradient is for, among those that can have a gradient.
std::vector<bool> wanted_by(const FunctionDef& gradient,
                            const std::vector<function_argument>& arguments) {
  std::vector<bool> wanted;
  const auto* places_attr = find(gradient.attr(), std::string{gradient_places});
  std::set<int64_t> places;
  if (places_attr)
    places = {places_attr->list().i().begin(), places_attr->list().i().end()};
  for (size_t i = 0; i < arguments.size(); ++i) {
    const auto& argument = arguments[i];
    auto position = static_cast<int64_t>(i);
    wanted.push_back(!argument.is_absent && !argument.state && carries_gradients(argument.type) &&
                     (!places_attr || places.contains(position)));
  }
  return wanted;
}

bool reads_differentiable_variable(const std::vector<function_argument>& arguments) {
  return std::ranges::any_of(arguments, [](const auto& argument) {
    return argument.state && argument.state->op().state_kind == resource::variable &&
           carries_gradients(argument.type);
  });
}

// Reads the gradient function of a function, if the file has one. `results` describes the results
// whose gradients it takes.
result<custom_gradient> read_gradient(const NameAttrList& called, graph& outer,
                                      const std::vector<function_argument>& arguments,
                                      const std::vector<function_argument>& results,
                                      const function_source& source) {
  const auto& gradients = source.library.gradient();
  auto entry = std::ranges::find(gradients, called.name(), &GradientDef::function_name);
  if (entry == gradients.end())
    return custom_gradient{};
  const auto* name = &entry->gradient_func();
  // The error when such a gradient is used: it was not read.
  const custom_gradient not_read{.backward = {}, .arguments = {0}};
  if (std::ranges::count(source.gradients, *name) == most_orders ||
      reads_differentiable_variable(arguments))
    return not_read;
  if (source.gradients.size() == deepest_function)
    return failure(error_kind::unimplemented, "gradients of gradients go more than ",
                   deepest_function, " orders deep");
  const auto& library = source.library.function();
  auto definition = std::ranges::find_if(
      library, [&](auto& defined) { return defined.signature().name() == *name; });
  if (definition == library.end())
    return failure(error_kind::not_found, "there is no function '", *name,
                   "', the declared gradient of '", called.name(), "'");
  auto gradient_arguments = arguments;
  gradient_arguments.insert(gradient_arguments.end(), results.begin(), results.end());
  auto inner = source;
  inner.gradients.push_back(*name);
  NameAttrList gradient_call;
  gradient_call.set_name(*name);
  *gradient_call.mutable_attr() = called.attr();
  auto body = read_body(gradient_call, outer, gradient_arguments, inner);
  if (!body)
    return body.status().with_context(concat("gradient of function '", called.name(), '\''));
  if (body->results.size() != arguments.size())
    return invalid("the gradient of function '", called.name(), "' gives ", body->results.size(),
                   " results for ", arguments.size(), " arguments");
  auto wanted = wanted_by(*definition, arguments);
  custom_gradient gradient;
  std::vector<edge> gradient_results;
  std::vector<function_argument> result_arguments;
  size_t position = 0;
  for (size_t i = 0; i < arguments.size(); ++i) {
    const auto& result = body->results[i];
    result_arguments.push_back(
        {.type = result.type(), .dims = result.dims(), .is_absent = !wanted[i]});
    if (wanted[i] && result.type() != arguments[i].type)
      return invalid("the gradient of function '", called.name(), "' for argument ", i, " is ",
                     result.type(), ", and the argument is ", arguments[i].type);
    if (wanted[i]) {
      gradient.arguments.push_back(position);
      gradient_results.push_back(result);
    }
    position += !arguments[i].is_absent;
  }
  TROUPE_ASSIGN(auto next,
                read_gradient(gradient_call, outer, gradient_arguments, result_arguments, inner));
  TROUPE_ASSIGN(gradient.backward, function_body::finish(std::move(body->nodes), *name,
                                                         gradient_results, std::move(next)));
  return gradient;
}

// A key of all inputs of reading a function. Different keys may mean the same function.
std::string key_of(const NameAttrList& called, const std::vector<function_argument>& arguments,
                   const function_source& source) {
  std::ostringstream key;
  auto put = [&](std::string_view text) { key << text.size() << ' ' << text; };
  put(called.name());
  std::map<std::string_view, const AttrValue*> attrs;
  for (const auto& [name, value] : called.attr())
    attrs.emplace(name, &value);
  for (const auto& [name, value] : attrs) {
    put(name);
    put(value->SerializeAsString());
  }
  for (const auto& argument : arguments) {
    key << ';' << to_string(argument.type) << argument.dims;
    if (argument.state)
      key << ' ' << to_string(argument.state->op().state_kind);
  }
  for (const auto* names : {&source.open, &source.gradients}) {
    key << '|';
    for (const auto& name : *names)
      put(name);
  }
  return key.str();
}

} // namespace

result<function_value> read_function(const NameAttrList& called, graph& outer,
                                     const std::vector<edge>& arguments,
                                     const std::vector<partial_shape>& dims,
                                     const function_source& source) {
  const auto& name = called.name();
  if (std::ranges::find(source.open, name) != source.open.end())
    return function_value{name, {}};
  std::vector<function_argument> function_arguments;
  for (size_t i = 0; i < arguments.size(); ++i) {
    const auto& outside = arguments[i];
    const auto* state =
        outside.node->output_is_ref(outside.index) ? resource_behind(outside) : nullptr;
    if (state)
      function_arguments.push_back({state->output_type(0), state->output_shape(0), state});
    else
      function_arguments.push_back({outside.type(), i < dims.size() ? dims[i] : partial_shape{}});
  }
  auto key = source.known ? key_of(called, function_arguments, source) : std::string{};
  if (source.known)
    if (auto known_function = source.known->find(key); known_function != source.known->end())
      return function_value{name, known_function->second};
  TROUPE_ASSIGN(auto body, read_body(called, outer, function_arguments, source));
  std::vector<function_argument> result_arguments;
  for (const auto& result : body.results)
    result_arguments.push_back({.type = result.type(),
                                .dims = result.dims(),
                                .is_absent = result.node->output_is_ref(result.index) ||
                                             !carries_gradients(result.type())});
  TROUPE_ASSIGN(auto gradient,
                read_gradient(called, outer, function_arguments, result_arguments, source));
  TROUPE_ASSIGN(auto finished, function_body::finish(std::move(body.nodes), name, body.results,
                                                     std::move(gradient)));
  if (source.known && !finished->has_effects()) // each call draws its own random numbers
    source.known->emplace(std::move(key), finished);
  return function_value{name, std::move(finished)};
}

} // namespace troupe::graph_def
