#include "troupe/serialization/graph_def/read_function.hpp"

#include "troupe/serialization/graph_def/add_nodes.hpp"
#include "troupe/serialization/graph_def/inline_calls.hpp"
#include "troupe/serialization/graph_def/input_name.hpp"

#include <algorithm>

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

} // namespace

result<function_value> read_function(const NameAttrList& which, graph& around,
                                     const std::vector<edge>& arguments,
                                     const std::vector<partial_shape>& dims,
                                     const function_source& from) {
  const auto& name = which.name();
  if (std::ranges::find(from.open, name) != from.open.end())
    return function_value{name, {}};
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
  call.set_name(name);
  call.set_op(name);
  *call.mutable_attr() = which.attr();
  std::map<std::string, edge> given;
  for (size_t i = 0; i < arguments.size(); ++i) {
    const auto& outside = arguments[i];
    const auto* state =
        outside.node->output_is_ref(outside.index) ? resource_behind(outside) : nullptr;
    edge own;
    if (state) {
      TROUPE_ASSIGN(own, body->add_state_argument(state->op().makes, state->output_type(0),
                                                  state->output_shape(0)));
    } else {
      own = body->add_argument(outside.type(), i < dims.size() ? dims[i] : partial_shape{});
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
  TROUPE_ASSIGN(auto calls, inline_calls(local.nodes, around.ops()));
  TROUPE_ASSIGN(auto raised, raise_control_flow(local.nodes, around.ops()));
  inner.raised = &raised;
  auto& into = *body;
  TROUPE_ASSIGN(auto passed, add_nodes(local.nodes, into, inner, given));
  auto found = calls.find(name);
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
  TROUPE_ASSIGN(auto made, function_body::finish(std::move(body), name, results));
  return function_value{name, std::move(made)};
}

} // namespace troupe::graph_def
