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

// A graph that shares the library of another while it is read.
class borrowing_graph {
public:
  explicit borrowing_graph(const FunctionDefLibrary& library) {
    nodes.set_allocated_library(const_cast<FunctionDefLibrary*>(&library));
  }
  borrowing_graph(const borrowing_graph&) = delete;
  ~borrowing_graph() { static_cast<void>(nodes.release_library()); }

  GraphDef nodes;
};

// How often a gradient may be read within itself: one that calls its function has one of any order.
constexpr auto most_orders = 3;

struct function_argument {
  dtype type;
  partial_shape dims;
  const node* state = nullptr; ///< a variable or the like itself
  bool is_absent = false;      ///< the function gets zero, and is no function of it
};

// State has no value: then any will do.
result<tensor> zero_of(dtype type) {
  TROUPE_ASSIGN(auto made, tensor::make(type == dtype::none ? dtype::i32 : type, shape{}));
  if (made.type() != dtype::string && made.type() != dtype::variant)
    std::memset(made.raw(), 0, made.bytes());
  return made;
}

// As a node may be called: TensorFlow begins names of functions with _, which nodes may not.
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

result<open_body> read_body(const NameAttrList& which, graph& around,
                            const std::vector<function_argument>& arguments,
                            const function_source& from) {
  const auto& name = which.name();
  if (from.open.size() == deepest_function)
    return failure(error_kind::unimplemented, "functions are nested more than ", deepest_function,
                   " deep");
  if (!from.left || *from.left == 0)
    return failure(error_kind::resource_exhausted,
                   "branches and loops within others run more than ", max_functions, " functions");
  --*from.left;
  const auto& known = from.library.function();
  if (std::ranges::none_of(known, [&](auto& one) { return one.signature().name() == name; }))
    return failure(error_kind::not_found, "there is no function '", name, "'");

  auto body = std::make_unique<function_body>(around);
  borrowing_graph local{from.library};
  auto& call = *local.nodes.add_node();
  call.set_name(node_name(name));
  call.set_op(name);
  *call.mutable_attr() = which.attr();
  std::map<std::string, edge> given;
  for (size_t i = 0; i < arguments.size(); ++i) {
    const auto& one = arguments[i];
    edge own;
    if (one.is_absent) {
      TROUPE_ASSIGN(auto value, zero_of(one.type));
      TROUPE_ASSIGN(auto* zero, body->add({.op = "Const",
                                           .attrs = {{"value", value}, {"dtype", value.type()}}}));
      own = zero->output(0);
    } else if (one.state) {
      TROUPE_ASSIGN(own, body->add_state_argument(one.state->op().makes, one.type, one.dims));
    } else {
      own = body->add_argument(one.type, one.dims);
      TROUPE_TRY(body->take_note());
    }
    auto& stands_for_it = *local.nodes.add_node();
    stands_for_it.set_name(concat("_argument_", i));
    stands_for_it.set_op("NoOp");
    call.add_input(stands_for_it.name());
    given.emplace(stands_for_it.name(), own);
  }
  auto inner = from;
  inner.open.push_back(name);
  const auto body_name = call.name(); // which goes when it is inlined
  TROUPE_ASSIGN(auto calls, inline_calls(local.nodes, around.ops(), call.name()));
  TROUPE_ASSIGN(auto raised, raise_control_flow(local.nodes, around.ops()));
  inner.raised = &raised;
  auto& into = *body;
  TROUPE_ASSIGN(auto passed, add_nodes(local.nodes, into, inner, given));
  auto found = calls.find(body_name);
  if (found == calls.end())
    return failure(error_kind::internal, "function '", name, "' was not expanded");
  std::vector<edge> results;
  for (const auto& given_output : found->second.outputs) {
    TROUPE_ASSIGN(auto output, raised.renamed(given_output));
    TROUPE_ASSIGN(auto at, input_name::parse(output));
    if (auto it = passed.find(std::string{at.node}); it != passed.end()) {
      results.push_back(it->second.of);
      continue;
    }
    TROUPE_ASSIGN(auto result, into.find_edge(output));
    results.push_back(result);
  }
  body->leave();
  return open_body{std::move(body), std::move(results)};
}

// Which arguments of a function its gradient is for, among those that may have some.
std::vector<bool> wanted_by(const FunctionDef& gradient,
                            const std::vector<function_argument>& arguments) {
  std::vector<bool> wanted;
  const auto* said = find(gradient.attr(), std::string{gradient_places});
  std::set<int64_t> places;
  if (said)
    places = {said->list().i().begin(), said->list().i().end()};
  for (size_t i = 0; i < arguments.size(); ++i) {
    const auto& one = arguments[i];
    auto place = static_cast<int64_t>(i);
    wanted.push_back(!one.is_absent && !one.state && carries_gradients(one.type) &&
                     (!said || places.contains(place)));
  }
  return wanted;
}

// What the file says that the gradient of a function is; `results` says of the results which it is
// taken of.
result<own_gradient> read_gradient(const NameAttrList& of, graph& around,
                                   const std::vector<function_argument>& arguments,
                                   const std::vector<function_argument>& results,
                                   const function_source& from) {
  const auto& said = from.library.gradient();
  auto own = std::ranges::find(said, of.name(), &GradientDef::function_name);
  if (own == said.end())
    return own_gradient{};
  const auto* name = &own->gradient_func();
  // Who wants such a gradient is told that it was not read.
  const own_gradient not_read{.by = {}, .to = {0}};
  if (std::ranges::count(from.gradients, *name) == most_orders)
    return not_read;
  if (std::ranges::any_of(arguments, [](const auto& one) {
        return one.state && one.state->op().makes == resource::variable &&
               carries_gradients(one.type);
      }))
    return not_read;
  if (from.gradients.size() == deepest_function)
    return failure(error_kind::unimplemented, "gradients of gradients go more than ",
                   deepest_function, " orders deep");
  const auto& known = from.library.function();
  auto definition =
      std::ranges::find_if(known, [&](auto& one) { return one.signature().name() == *name; });
  if (definition == known.end())
    return failure(error_kind::not_found, "there is no function '", *name,
                   "', which is said to be the gradient of '", of.name(), "'");
  auto takes = arguments;
  takes.insert(takes.end(), results.begin(), results.end());
  auto inner = from;
  inner.gradients.push_back(*name);
  NameAttrList which;
  which.set_name(*name);
  *which.mutable_attr() = of.attr();
  auto read = read_body(which, around, takes, inner);
  if (!read)
    return read.status().within(concat("gradient of function '", of.name(), '\''));
  if (read->results.size() != arguments.size())
    return invalid("the gradient of function '", of.name(), "' gives ", read->results.size(),
                   " results for ", arguments.size(), " arguments");
  auto wanted = wanted_by(*definition, arguments);
  own_gradient made;
  std::vector<edge> given;
  std::vector<function_argument> gives;
  size_t place = 0;
  for (size_t i = 0; i < arguments.size(); ++i) {
    const auto& result = read->results[i];
    gives.push_back({.type = result.type(), .dims = result.dims(), .is_absent = !wanted[i]});
    if (wanted[i] && result.type() != arguments[i].type)
      return invalid("the gradient of function '", of.name(), "' for argument ", i, " is ",
                     result.type(), ", and the argument is ", arguments[i].type);
    if (wanted[i]) {
      made.to.push_back(place);
      given.push_back(result);
    }
    place += !arguments[i].is_absent;
  }
  TROUPE_ASSIGN(auto next, read_gradient(which, around, takes, gives, inner));
  TROUPE_ASSIGN(made.by,
                function_body::finish(std::move(read->nodes), *name, given, std::move(next)));
  return made;
}

// All that what is read depends on. Two texts may stand for the same.
std::string key_of(const NameAttrList& which, const std::vector<function_argument>& arguments,
                   const function_source& from) {
  std::ostringstream key;
  auto put = [&](std::string_view text) { key << text.size() << ' ' << text; };
  put(which.name());
  std::map<std::string_view, const AttrValue*> attrs;
  for (const auto& [name, value] : which.attr())
    attrs.emplace(name, &value);
  for (const auto& [name, value] : attrs) {
    put(name);
    put(value->SerializeAsString());
  }
  for (const auto& one : arguments) {
    key << ';' << to_string(one.type) << one.dims;
    if (one.state)
      key << ' ' << to_string(one.state->op().makes);
  }
  for (const auto* names : {&from.open, &from.gradients}) {
    key << '|';
    for (const auto& name : *names)
      put(name);
  }
  return key.str();
}

} // namespace

result<function_value> read_function(const NameAttrList& which, graph& around,
                                     const std::vector<edge>& arguments,
                                     const std::vector<partial_shape>& dims,
                                     const function_source& from) {
  const auto& name = which.name();
  if (std::ranges::find(from.open, name) != from.open.end())
    return function_value{name, {}};
  std::vector<function_argument> takes;
  for (size_t i = 0; i < arguments.size(); ++i) {
    const auto& outside = arguments[i];
    const auto* state =
        outside.node->output_is_ref(outside.index) ? resource_behind(outside) : nullptr;
    if (state)
      takes.push_back({state->output_type(0), state->output_shape(0), state});
    else
      takes.push_back({outside.type(), i < dims.size() ? dims[i] : partial_shape{}});
  }
  auto key = from.known ? key_of(which, takes, from) : std::string{};
  if (from.known)
    if (auto found = from.known->find(key); found != from.known->end())
      return function_value{name, found->second};
  TROUPE_ASSIGN(auto read, read_body(which, around, takes, from));
  std::vector<function_argument> gives;
  for (const auto& one : read.results)
    gives.push_back(
        {.type = one.type(),
         .dims = one.dims(),
         .is_absent = one.node->output_is_ref(one.index) || !carries_gradients(one.type())});
  TROUPE_ASSIGN(auto gradient, read_gradient(which, around, takes, gives, from));
  TROUPE_ASSIGN(auto made, function_body::finish(std::move(read.nodes), name, read.results,
                                                 std::move(gradient)));
  if (from.known && !made->has_effects()) // each call draws random numbers of its own
    from.known->emplace(std::move(key), made);
  return function_value{name, std::move(made)};
}

} // namespace troupe::graph_def
