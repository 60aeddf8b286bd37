#include "troupe/runtime/autodiff/gradient.hpp"

#include "troupe/runtime/autodiff/backward_paths.hpp"
#include "troupe/runtime/autodiff/function_gradient.hpp"
#include "troupe/runtime/autodiff/gradient_options.hpp"
#include "troupe/runtime/autodiff/recompute.hpp"
#include "troupe/runtime/graph/registry.hpp"

#include <algorithm>
#include <atomic>
#include <map>
#include <tuple>

namespace troupe {
namespace {

edge ones_like(edge source) {
  return source.node->graph().add_or_record_error(
      {.op = "OnesLike", .inputs = {source}, .device = source.node->device()});
}

// Takes the error that was recorded in a graph or in the function that is being built within it.
status take_error(graph& target) {
  auto recorded = target.take_error();
  return recorded ? target.innermost().take_error() : recorded;
}

// The scope and device of new nodes. Ends by its destructor, because a user's function may throw.
class gradient_scope {
public:
  gradient_scope(graph& target, std::string_view name, const std::string* device = nullptr)
      : graph_(target), on_device_(device) {
    graph_.push_scope(name);
    if (on_device_)
      graph_.push_device(*device);
  }
  gradient_scope(const gradient_scope&) = delete;
  gradient_scope& operator=(const gradient_scope&) = delete;
  ~gradient_scope() {
    if (on_device_)
      graph_.pop_device();
    graph_.pop_scope();
    std::ignore = take_error(graph_); // a function may record an error and then throw
  }

private:
  graph& graph_;
  bool on_device_;
};

class differentiator {
public:
  differentiator(graph& target, const std::vector<edge>& ys, const gradient_options& options,
                 function_gradients& functions, const std::function<result<node*>(node&)>& reached)
      : graph_(target), options_(options), stopped_(edge_keys_of(options.stop_edges)),
        recomputation_(target, options.recomputed_parts, ys, options.weights),
        functions_(functions), reached_(reached) {}

  result<std::vector<edge>> run(const std::vector<edge>& ys, const std::vector<edge>& xs) {
    backward_paths paths{ys, xs, stopped_};
    const auto& weights = options_.weights;
    for (size_t i = 0; i < ys.size(); ++i)
      partials_[{ys[i].node, ys[i].index}].push_back(weights.empty() ? ones_like(ys[i])
                                                                     : weights[i]);
    // In reverse order, so that all partial gradients of an output exist before its node is
    // visited.
    std::vector<node*> order;
    for (const auto& node : graph_.nodes())
      if (paths.contains(node.get()))
        order.push_back(node.get());
    for (auto visited = order.rbegin(); visited != order.rend(); ++visited)
      TROUPE_TRY(differentiate_node(**visited, paths));
    std::vector<edge> gradients;
    for (const auto& x : xs)
      gradients.push_back(sum_partials({x.node, x.index}));
    TROUPE_TRY(take_error(graph_));
    return gradients;
  }

private:
  // Replaces the partial gradients of an output by their sum and returns it.
  edge sum_partials(const edge_key& key) {
    auto partials = partials_.find(key);
    if (partials == partials_.end())
      return {};
    if (partials->second.size() > 1)
      partials->second = {graph_.add_or_record_error({.op = "AddN", .inputs = partials->second})};
    return partials->second.front();
  }

  status differentiate_node(node& node, const backward_paths& paths) {
    if (node.inputs().empty())
      return {};
    std::vector<bool> needed_inputs;
    for (const auto& input : node.inputs())
      needed_inputs.push_back(paths.leads_to_x(input) && carries_gradients(input.type()));
    if (std::ranges::find(needed_inputs, true) == needed_inputs.end())
      return {};
    std::vector<edge> output_gradients;
    for (int i = 0; i < node.outputs(); ++i)
      output_gradients.push_back(stopped_.contains({&node, i}) ? edge{} : sum_partials({&node, i}));
    if (std::ranges::none_of(output_gradients,
                             [](const edge& output_gradient) { return bool(output_gradient); }))
      return {};
    const auto* user_function = users_gradient(node);
    if (!user_function && !node.op().gradient)
      return failure(error_kind::unimplemented, node.description(),
                     ": no gradient is defined: ", node.op().no_gradient);
    TROUPE_ASSIGN(auto* differentiated,
                  reached_ ? reached_(node) : recomputation_.recomputed(node, output_gradients));
    gradient_context context{*differentiated, std::move(output_gradients), std::move(needed_inputs),
                             &functions_};
    TROUPE_ASSIGN(auto input_gradients, call(node, user_function, context));
    TROUPE_TRY(check(*differentiated, user_function,
                     input_gradients)); // the node may have more inputs now
    for (size_t i = 0; i < node.inputs().size(); ++i)
      if (input_gradients[i])
        partials_[{node.inputs()[i].node, node.inputs()[i].index}].push_back(input_gradients[i]);
    return {};
  }

  // Returns the user's gradient of a node, or nullptr if the op's own applies.
  const gradient_function* users_gradient(const node& node) const {
    if (auto users = options_.of_nodes.find(&node); users != options_.of_nodes.end())
      return &users->second;
    auto users = options_.of_ops.find(node.op().name);
    return users == options_.of_ops.end() ? nullptr : &users->second;
  }

  result<edges> call(const node& forward_node, const gradient_function* user_function,
                     gradient_context& context) {
    // The colocated device and the forward node's name make a gradient's nodes easy to find.
    auto last = forward_node.name().substr(forward_node.name().rfind('/') + 1);
    auto name = concat(last.substr(last.starts_with('_')), "_grad"); // internal ops start with _
    gradient_scope scope{graph_, name, &forward_node.device()};
    auto input_gradients =
        user_function ? (*user_function)(context) : forward_node.op().gradient(context);
    if (auto recorded = take_error(graph_); !recorded)
      return std::move(recorded).with_context(concat("gradient of ", forward_node.description()));
    return input_gradients;
  }

  // Checks a user's gradients. The tests of an op check the types and shapes of its own gradients.
  status check(const node& node, const gradient_function* user_function,
               const edges& gradients) const {
    if (gradients.size() != node.inputs().size())
      return failure(user_function ? error_kind::invalid_argument : error_kind::internal,
                     node.description(),
                     user_function ? ": the gradient function given for it returned "
                                   : ": its gradient function returned ",
                     gradients.size(), " gradients for ", node.inputs().size(), " inputs");
    for (size_t i = 0; user_function && i < gradients.size(); ++i) {
      const auto &gradient = gradients[i], &input = node.inputs()[i];
      if (!gradient)
        continue;
      auto mismatch = [&](const auto&... parts) {
        return invalid(node.description(), ": gradient ", i, " of the function given for it ",
                       parts...);
      };
      if (!gradient.exists() ||
          (&gradient.node->graph() != &graph_ && &gradient.node->graph() != &graph_.innermost()))
        return mismatch("is not an edge of the graph");
      if (gradient.type() != input.type() || !gradient.dims().compatible(input.dims()))
        return mismatch("is ", gradient.type(), gradient.dims(), ", but the input '", input,
                        "' is ", input.type(), input.dims());
    }
    return {};
  }

  graph& graph_;
  const gradient_options& options_;
  edge_keys stopped_;
  recomputation recomputation_;
  function_gradients& functions_;
  const std::function<result<node*>(node&)>& reached_;
  std::map<edge_key, std::vector<edge>> partials_;
};

} // namespace

result<std::vector<edge>> differentiate(graph& target, const std::vector<edge>& ys,
                                        const std::vector<edge>& xs,
                                        const gradient_options& options,
                                        function_gradients& functions,
                                        const std::function<result<node*>(node&)>& reached) {
  return differentiator{target, ys, options, functions, reached}.run(ys, xs);
}

result<std::vector<edge>> gradients(std::vector<edge> ys, std::vector<edge> xs,
                                    std::vector<edge> ys_gradients, std::source_location where) {
  return gradients(std::move(ys), std::move(xs),
                   gradient_options{.weights = std::move(ys_gradients)}, where);
}

result<std::vector<edge>> gradients(std::vector<edge> ys, std::vector<edge> xs,
                                    const gradient_options& options, std::source_location where) {
  auto context = concat("gradients (", to_string(where), ')');
  auto invalid_call = [&](const auto&... parts) { return invalid(parts...).with_context(context); };
  if (ys.empty() || xs.empty())
    return invalid_call("needs at least one y and one x");
  auto* target = ys.front() ? &ys.front().node->graph() : nullptr;
  for (const auto* list : {&ys, &xs})
    for (const auto& candidate : *list) {
      if (!candidate.exists() || &candidate.node->graph() != target)
        return invalid_call("all ys and xs must be edges of one graph");
      if (!(floating | complex_types).contains(candidate.type()))
        return invalid_call("'", candidate, "' is ", candidate.type(),
                            "; gradients exist for floating and complex types");
    }
  const auto& weights = options.weights;
  if (!weights.empty() && weights.size() != ys.size())
    return invalid_call("got ", weights.size(), " weights for ", ys.size(), " ys");
  for (size_t i = 0; i < weights.size(); ++i) {
    const auto& weight = weights[i];
    if (!weight.exists() || &weight.node->graph() != target)
      return invalid_call("weight ", i, " is not an edge of the graph of the ys");
    if (weight.type() != ys[i].type() || !weight.dims().compatible(ys[i].dims()))
      return invalid_call("weight '", weight, "' is ", weight.type(), weight.dims(), ", but '",
                          ys[i], "' is ", ys[i].type(), ys[i].dims());
  }
  for (const auto& candidate : options.stop_edges)
    if (!candidate.exists() || &candidate.node->graph() != target)
      return invalid_call("a stop edge is not an edge of the graph of the ys");
  for (const auto& part : options.recomputed_parts)
    for (const auto* part_node : part)
      if (!part_node || &part_node->graph() != target)
        return invalid_call("a node to recompute is not in the graph of the ys");
  for (const auto& [differentiated, function] : options.of_nodes)
    if (!differentiated || &differentiated->graph() != target || !function)
      return invalid_call("of_nodes must map nodes of the graph of the ys to functions");
  for (const auto& [op_name, function] : options.of_ops) {
    if (auto op = target->ops().find_op(op_name); !op)
      return op.status().with_context(context);
    if (!function)
      return invalid_call("the gradient function for ", op_name, " is empty");
  }
  gradient_scope scope{*target, "gradients"};
  static std::atomic<uint64_t> call_count{0};
  function_gradients functions{options.of_ops, concat(target->scope(), ++call_count)};
  auto result_edges = differentiate(*target, ys, xs, options, functions);
  if (!result_edges)
    return result_edges.status().with_context(context);
  return result_edges;
}

} // namespace troupe
