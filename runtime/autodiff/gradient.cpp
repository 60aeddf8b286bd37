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

edge ones_like(edge like) {
  return like.node->graph().add_or_note(
      {.op = "OnesLike", .inputs = {like}, .device = like.node->device()});
}

// Of a graph, or of the function that is being built within it.
status noted_in(graph& in) {
  auto noted = in.take_note();
  return noted ? in.innermost().take_note() : noted;
}

// Where new nodes belong, until it ends: functions that a user gave may throw.
class gradient_scope {
public:
  gradient_scope(graph& in, std::string_view name, const std::string* device = nullptr)
      : in_(in), on_device_(device) {
    in_.push_scope(name);
    if (on_device_)
      in_.push_device(*device);
  }
  gradient_scope(const gradient_scope&) = delete;
  gradient_scope& operator=(const gradient_scope&) = delete;
  ~gradient_scope() {
    if (on_device_)
      in_.pop_device();
    in_.pop_scope();
    std::ignore = noted_in(in_); // of a function that noted an error, then threw
  }

private:
  graph& in_;
  bool on_device_;
};

class differentiator {
public:
  differentiator(graph& in, const std::vector<edge>& ys, const gradient_options& options,
                 function_gradients& functions, const std::function<result<node*>(node&)>& reached)
      : graph_(in), options_(options), stopped_(edge_keys_of(options.stop)),
        again_(in, options.recompute, ys, options.weights), functions_(functions),
        reached_(reached) {}

  result<std::vector<edge>> run(const std::vector<edge>& ys, const std::vector<edge>& xs) {
    backward_paths between{ys, xs, stopped_};
    const auto& weights = options_.weights;
    for (size_t i = 0; i < ys.size(); ++i)
      partials_[{ys[i].node, ys[i].index}].push_back(weights.empty() ? ones_like(ys[i])
                                                                     : weights[i]);
    // Later nodes first: every partial gradient of an output exists before its node is reached.
    std::vector<node*> order;
    for (const auto& node : graph_.nodes())
      if (between.contains(node.get()))
        order.push_back(node.get());
    for (auto it = order.rbegin(); it != order.rend(); ++it)
      TROUPE_TRY(step_back(**it, between));
    std::vector<edge> gradients;
    for (const auto& x : xs)
      gradients.push_back(sum_of({x.node, x.index}));
    TROUPE_TRY(noted_in(graph_));
    return gradients;
  }

private:
  // Replaces the partial gradients of an output by their sum.
  edge sum_of(const edge_key& of) {
    auto it = partials_.find(of);
    if (it == partials_.end())
      return {};
    if (it->second.size() > 1)
      it->second = {graph_.add_or_note({.op = "AddN", .inputs = it->second})};
    return it->second.front();
  }

  status step_back(node& node, const backward_paths& between) {
    if (node.inputs().empty())
      return {};
    std::vector<bool> wanted;
    for (const auto& in : node.inputs())
      wanted.push_back(between.lead_to(in) && carries_gradients(in.type()));
    if (std::ranges::find(wanted, true) == wanted.end())
      return {};
    std::vector<edge> output_gradients;
    for (int i = 0; i < node.outputs(); ++i)
      output_gradients.push_back(stopped_.contains({&node, i}) ? edge{} : sum_of({&node, i}));
    if (std::ranges::none_of(output_gradients, [](const edge& e) { return bool(e); }))
      return {};
    const auto* given = given_for(node);
    if (!given && !node.op().gradient)
      return failure(error_kind::unimplemented, node.description(),
                     ": no gradient is defined: ", node.op().no_gradient);
    TROUPE_ASSIGN(auto* of, reached_ ? reached_(node) : again_.recomputed(node, output_gradients));
    gradient_context context{*of, std::move(output_gradients), std::move(wanted), &functions_};
    TROUPE_ASSIGN(auto input_gradients, call(node, given, context));
    TROUPE_TRY(check(*of, given, input_gradients)); // which may take more by now
    for (size_t i = 0; i < node.inputs().size(); ++i)
      if (input_gradients[i])
        partials_[{node.inputs()[i].node, node.inputs()[i].index}].push_back(input_gradients[i]);
    return {};
  }

  // The user's gradient of a node; nullptr where it is the op's own.
  const gradient_function* given_for(const node& node) const {
    if (auto it = options_.of_nodes.find(&node); it != options_.of_nodes.end())
      return &it->second;
    auto it = options_.of_ops.find(node.op().name);
    return it == options_.of_ops.end() ? nullptr : &it->second;
  }

  result<edges> call(const node& n, const gradient_function* given, gradient_context& context) {
    // The colocated device and the forward node's name make a gradient's nodes easy to find.
    auto last = n.name().substr(n.name().rfind('/') + 1);
    auto name = concat(last.substr(last.starts_with('_')), "_grad"); // of ops of our own, too
    gradient_scope scope{graph_, name, &n.device()};
    auto made = given ? (*given)(context) : n.op().gradient(context);
    if (auto noted = noted_in(graph_); !noted)
      return std::move(noted).within(concat("gradient of ", n.description()));
    return made;
  }

  // An op's own gradients have types and shapes that fit: its tests see to that.
  status check(const node& node, const gradient_function* given, const edges& made) const {
    if (made.size() != node.inputs().size())
      return failure(given ? error_kind::invalid_argument : error_kind::internal,
                     node.description(),
                     given ? ": the function given for it gave " : ": its gradient function gave ",
                     made.size(), " gradients for ", node.inputs().size(), " inputs");
    for (size_t i = 0; given && i < made.size(); ++i) {
      const auto &one = made[i], &in = node.inputs()[i];
      if (!one)
        continue;
      auto wrong = [&](const auto&... parts) {
        return invalid(node.description(), ": gradient ", i, " of the function given for it ",
                       parts...);
      };
      if (!one.exists() ||
          (&one.node->graph() != &graph_ && &one.node->graph() != &graph_.innermost()))
        return wrong("is not an edge of the graph");
      if (one.type() != in.type() || !one.dims().compatible(in.dims()))
        return wrong("is ", one.type(), one.dims(), ", but the input '", in, "' is ", in.type(),
                     in.dims());
    }
    return {};
  }

  graph& graph_;
  const gradient_options& options_;
  edge_keys stopped_;
  recomputation again_;
  function_gradients& functions_;
  const std::function<result<node*>(node&)>& reached_;
  std::map<edge_key, std::vector<edge>> partials_;
};

} // namespace

result<std::vector<edge>> differentiate(graph& in, const std::vector<edge>& ys,
                                        const std::vector<edge>& xs,
                                        const gradient_options& options,
                                        function_gradients& functions,
                                        const std::function<result<node*>(node&)>& reached) {
  return differentiator{in, ys, options, functions, reached}.run(ys, xs);
}

result<std::vector<edge>> gradients(std::vector<edge> ys, std::vector<edge> xs,
                                    std::vector<edge> ys_gradients, std::source_location where) {
  return gradients(std::move(ys), std::move(xs),
                   gradient_options{.weights = std::move(ys_gradients)}, where);
}

result<std::vector<edge>> gradients(std::vector<edge> ys, std::vector<edge> xs,
                                    const gradient_options& options, std::source_location where) {
  auto context = concat("gradients (", to_string(where), ')');
  auto bad = [&](const auto&... parts) { return invalid(parts...).within(context); };
  if (ys.empty() || xs.empty())
    return bad("needs at least one y and one x");
  auto* in = ys.front() ? &ys.front().node->graph() : nullptr;
  for (const auto* list : {&ys, &xs})
    for (const auto& one : *list) {
      if (!one.exists() || &one.node->graph() != in)
        return bad("all ys and xs must be edges of one graph");
      if (!(floating | complex_types).contains(one.type()))
        return bad("'", one, "' is ", one.type(),
                   "; gradients exist for floating and complex types");
    }
  const auto& weights = options.weights;
  if (!weights.empty() && weights.size() != ys.size())
    return bad("got ", weights.size(), " weights for ", ys.size(), " ys");
  for (size_t i = 0; i < weights.size(); ++i) {
    const auto& weight = weights[i];
    if (!weight.exists() || &weight.node->graph() != in)
      return bad("weight ", i, " is not an edge of the graph of the ys");
    if (weight.type() != ys[i].type() || !weight.dims().compatible(ys[i].dims()))
      return bad("weight '", weight, "' is ", weight.type(), weight.dims(), ", but '", ys[i],
                 "' is ", ys[i].type(), ys[i].dims());
  }
  for (const auto& one : options.stop)
    if (!one.exists() || &one.node->graph() != in)
      return bad("an edge to stop at is not one of the graph of the ys");
  for (const auto& part : options.recompute)
    for (const auto* one : part)
      if (!one || &one->graph() != in)
        return bad("what is to be computed again is no node of the graph of the ys");
  for (const auto& [of, function] : options.of_nodes)
    if (!of || &of->graph() != in || !function)
      return bad("a gradient is given for no node of the graph of the ys, or is no function");
  for (const auto& [of, function] : options.of_ops) {
    if (auto op = in->ops().find_op(of); !op)
      return op.status().within(context);
    if (!function)
      return bad("what is given as gradient of ", of, " is no function");
  }
  gradient_scope scope{*in, "gradients"};
  static std::atomic<uint64_t> taken{0};
  function_gradients functions{options.of_ops, concat(in->scope(), ++taken)};
  auto found = differentiate(*in, ys, xs, options, functions);
  if (!found)
    return found.status().within(context);
  return found;
}

} // namespace troupe
