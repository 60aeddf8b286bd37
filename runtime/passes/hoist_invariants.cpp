// Computes values that are the same in all iterations of a loop before it (docs/decisions/062).
#include "troupe/runtime/functions/function_body.hpp"
#include "troupe/runtime/graph/colocation.hpp"
#include "troupe/runtime/graph/function.hpp"
#include "troupe/runtime/graph/internal_ops.hpp"
#include "troupe/runtime/passes/estimated_bytes.hpp"
#include "troupe/runtime/passes/passes.hpp"
#include "troupe/runtime/passes/rewriter.hpp"

#include <algorithm>
#include <map>
#include <set>

namespace troupe {
namespace {

// Values up to this size are computed in place by a fused loop, where this costs almost nothing.
constexpr int64_t small_bytes = 4096;
// A node whose outputs are large and much larger than its inputs stays in the loop.
constexpr int64_t large_bytes = 1 << 20, growth = 4;
// The largest size of the zeros that stand for invariants of a loop without iterations.
constexpr int64_t max_zeros = 16 << 20;

int64_t known_bytes(edge source) {
  const auto& dims = source.dims();
  return dims.fully_known() ? estimated_bytes(source.type(), dims) : -1;
}

bool expands_inputs(const node& candidate) {
  if (has(candidate.op().effects, effect::is_product | effect::is_convolution))
    return false;
  int64_t output_bytes = 0, input_bytes = 0;
  for (int i = 0; i < candidate.outputs(); ++i)
    output_bytes += std::max<int64_t>(known_bytes({const_cast<node*>(&candidate), i}), 0);
  for (const auto& input : candidate.inputs())
    input_bytes += std::max<int64_t>(known_bytes(input), 0);
  return output_bytes > large_bytes && output_bytes > growth * input_bytes;
}

bool may_move(const node& candidate) {
  if (!is_pure(candidate) || has_effects_in_function(candidate) || !candidate.controls().empty() ||
      candidate.outputs() == 0 || candidate.inputs().empty() ||
      internal_ops::is_boundary(candidate) || expands_inputs(candidate))
    return false;
  for (int i = 0; i < candidate.outputs(); ++i)
    if (candidate.output_is_ref(i) ||
        candidate.output_type(i) == dtype::variant || // changed in place
        candidate.output_type(i) == dtype::string || candidate.output_type(i) == dtype::none)
      return false;
  return true;
}

// Returns whether moving the node saves time. Element-wise ops of a fused loop do not count:
// reading a value from outside costs the same. `seen` has the functions already found to contain no
// such node.
bool is_worth_moving(const node& candidate, std::set<const function*>& seen) {
  if (runs_functions(candidate.op()))
    return std::ranges::any_of(functions_of(candidate), [&](const function_value* callee) {
      return callee->body && seen.insert(callee->body.get()).second &&
             std::ranges::any_of(callee->body->body().nodes(), [&](const auto& body_node) {
               return callee->body->runs(*body_node) && is_worth_moving(*body_node, seen);
             });
    });
  if (candidate.inputs().empty() || internal_ops::is_boundary(candidate) ||
      has(candidate.op().effects, effect::reads_shapes_only))
    return false;
  return !has(candidate.op().effects, effect::elementwise) ||
         known_bytes({const_cast<node*>(&candidate), 0}) > small_bytes;
}

// Returns whether a node computes the same bits on every device.
bool is_exact(const node& candidate) {
  auto is_exact_type = [&](dtype type) {
    return integers.contains(type) || type == dtype::boolean || type == dtype::variant;
  };
  if (!is_pure(candidate) || !candidate.controls().empty() || runs_functions(candidate.op()))
    return false;
  if (!has(candidate.op().effects, effect::reads_shapes_only))
    for (const auto& input : candidate.inputs())
      if (!is_exact_type(input.type()))
        return false;
  for (int i = 0; i < candidate.outputs(); ++i)
    if (!is_exact_type(candidate.output_type(i)))
      return false;
  return true;
}

// A part of a function as a separate function, and the arguments of the original that it takes.
struct extracted_part {
  std::shared_ptr<const function> body;
  std::vector<size_t> arguments;
};

bool has_at_most(int64_t bytes, const std::vector<edge>& edges) {
  for (const auto& source : edges)
    if (bytes -= std::max<int64_t>(known_bytes(source), 0); bytes < 0)
      return false;
  return true;
}

enum class first_iteration : uint8_t { always, never, can_be_computed, unknown };

class loop_hoister {
public:
  loop_hoister(rewriter& graph_rewriter, node& loop, device* host, stop_signal* stop)
      : rewriter_(graph_rewriter), loop_(loop), host_(host), stop_(stop),
        condition_(functions_of(loop)[0]->body), body_(functions_of(loop)[1]->body) {}

  // Returns whether anything was moved.
  result<bool> run() {
    find_unchanged();
    auto condition_invariants = find_invariants(*condition_),
         body_invariants = find_invariants(*body_);
    edge condition;
    if (!body_invariants.empty()) {
      TROUPE_ASSIGN(auto prediction, predict_first_iteration());
      if (prediction == first_iteration::can_be_computed &&
          has_at_most(max_zeros, body_invariants)) {
        TROUPE_ASSIGN(condition, add_condition());
      } else if (prediction != first_iteration::always) {
        body_invariants.clear();
      }
    }
    if (condition_invariants.empty() && body_invariants.empty())
      return false;
    std::vector<edge> new_inputs;
    TROUPE_TRY(compute(*condition_, condition_invariants, {}, new_inputs));
    TROUPE_TRY(compute(*body_, body_invariants, condition, new_inputs));
    TROUPE_TRY(widen(condition_invariants, body_invariants, new_inputs));
    return true;
  }

private:
  // Finds loop variables that the body passes through. A variable's value may change elsewhere.
  void find_unchanged() {
    unchanged_.resize(body_->arguments());
    for (size_t i = 0; i < unchanged_.size(); ++i)
      unchanged_[i] = body_->passed_through(i) == static_cast<int>(i) &&
                      !body_->argument_is_ref(i) && is_value(i);
    for (const auto& body_node : body_->body().nodes()) {
      if (&body_node->op() != &internal_ops::fetch)
        continue;
      const auto* source = body_node->inputs()[0].node;
      auto result = body_node->attr<int64_t>("index");
      if (is_argument(*source) && source->attr<int64_t>("index") == result && is_value(result))
        unchanged_[static_cast<size_t>(result)] = true;
    }
  }

  bool is_value(size_t argument) const {
    const auto& initial_value = loop_.inputs()[argument];
    return !initial_value.node->output_is_ref(initial_value.index);
  }

  // Returns the invariants that other nodes of a function read.
  std::vector<edge> find_invariants(const function& source) const {
    const auto& nodes = source.body().nodes();
    std::vector<bool> is_invariant(nodes.size());
    std::vector<edge> invariants;
    std::set<std::pair<const node*, int>> found_edges;
    const auto order = topological_order(source.body()); // cannot fail: a function has no cycles
    for (const auto* source_node : *order) {
      if (is_argument(*source_node)) {
        is_invariant[source_node->index()] =
            unchanged_[static_cast<size_t>(source_node->attr<int64_t>("index"))];
      } else if (constant_value({const_cast<node*>(source_node), 0})) {
        is_invariant[source_node->index()] = source_node->controls().empty();
      } else {
        auto is_invariant_input = [&](const edge& input) {
          return is_invariant[input.node->index()];
        };
        is_invariant[source_node->index()] =
            may_move(*source_node) &&
            std::ranges::all_of(source_node->inputs(), is_invariant_input);
      }
      if (is_invariant[source_node->index()] || !source.runs(*source_node))
        continue;
      for (const auto& input : source_node->inputs())
        if (is_invariant[input.node->index()] && !is_argument(*input.node) &&
            !constant_value(input) && found_edges.emplace(input.node, input.index).second)
          invariants.push_back(input);
    }
    std::set<const function*> seen;
    auto is_worthwhile = [&](const node* source_node) {
      return is_worth_moving(*source_node, seen);
    };
    return std::ranges::any_of(dependencies_of(invariants), is_worthwhile) ? invariants
                                                                           : std::vector<edge>{};
  }

  // Returns the nodes that edges depend on, in topological order, with arguments.
  static std::vector<const node*> dependencies_of(const std::vector<edge>& edges) {
    std::vector<const node*> sorted;
    if (edges.empty())
      return sorted;
    const auto& source = edges.front().node->graph();
    std::vector<bool> needed(source.nodes().size());
    std::vector<const node*> pending;
    for (const auto& source_edge : edges)
      pending.push_back(source_edge.node);
    while (!pending.empty()) {
      const auto* current = pending.back();
      pending.pop_back();
      if (needed[current->index()])
        continue;
      needed[current->index()] = true;
      if (is_argument(*current))
        continue; // depends on no node, even if it was captured after an effect
      for (const auto& input : current->inputs())
        pending.push_back(input.node);
      pending.insert(pending.end(), current->controls().begin(), current->controls().end());
    }
    const auto order = topological_order(source);
    for (const auto* candidate : *order)
      if (needed[candidate->index()])
        sorted.push_back(candidate);
    return sorted;
  }

  // Extracts nodes, which run on the device of the loop, so that they compute the same bits.
  result<extracted_part> extract(const std::vector<edge>& extracted_edges,
                                 const std::string& name) const {
    extracted_part part;
    auto nodes = std::make_unique<graph>(loop_.graph().ops());
    std::map<const node*, node*> copies;
    const auto needed = dependencies_of(extracted_edges);
    for (const auto* source_node : needed)
      if (is_argument(*source_node)) {
        part.arguments.push_back(static_cast<size_t>(source_node->attr<int64_t>("index")));
        TROUPE_ASSIGN(auto argument, add_value_argument(*nodes, part.arguments.size() - 1,
                                                        {const_cast<node*>(source_node), 0}));
        copies[source_node] = argument.node;
      }
    for (const auto* source_node : needed) {
      if (is_argument(*source_node))
        continue;
      std::vector<edge> inputs;
      for (const auto& input : source_node->inputs())
        inputs.push_back({copies.at(input.node), input.index});
      auto unused_name = source_node->name();
      while (nodes->find(unused_name)) // an argument may have this name
        unused_name += '_';
      copies[source_node] =
          nodes->add_copy(*source_node, std::move(unused_name), std::move(inputs), {});
      rewriter::set_colocation(*copies[source_node], {loop_.name()});
    }
    std::vector<edge> results;
    for (const auto& source_edge : extracted_edges)
      results.push_back({copies.at(source_edge.node), source_edge.index});
    TROUPE_ASSIGN(part.body, function::make(name, std::move(nodes), results));
    return part;
  }

  edge condition_edge() const {
    for (const auto& condition_node : condition_->body().nodes())
      if (&condition_node->op() == &internal_ops::fetch)
        return condition_node->inputs()[0];
    return {const_cast<node*>(
                &condition_->argument(static_cast<size_t>(condition_->passed_through(0)))),
            0};
  }

  // Predicts whether the loop has a first iteration, or whether this can be computed before it.
  result<first_iteration> predict_first_iteration() const {
    auto condition = condition_edge();
    if (condition.type() != dtype::boolean || condition_->has_effects())
      return first_iteration::unknown;
    auto can_be_computed = true;
    auto known_part = std::make_unique<graph>(loop_.graph().ops());
    std::map<const node*, node*> copies;
    for (const auto* source_node : dependencies_of({condition})) {
      std::vector<edge> inputs;
      for (const auto& input : source_node->inputs())
        inputs.push_back({copies.at(input.node), input.index});
      auto*& copy = copies[source_node];
      if (!is_argument(*source_node)) {
        can_be_computed = can_be_computed && is_exact(*source_node);
        copy = known_part->add_copy(*source_node, std::move(inputs), {});
        continue;
      }
      auto position = static_cast<size_t>(source_node->attr<int64_t>("index"));
      can_be_computed = can_be_computed && is_value(position);
      const auto* value = constant_value(loop_.inputs()[position]);
      if (!value) {
        copy = known_part->add_copy(*source_node, {}, {});
        continue;
      }
      TROUPE_ASSIGN(
          copy,
          known_part->add({.op = "Const", .attrs = {{"value", *value}, {"dtype", value->type()}}}));
    }
    TROUPE_ASSIGN(auto* fetch,
                  known_part->add({.op = "_Fetch",
                                   .inputs = {{copies.at(condition.node), condition.index}},
                                   .attrs = {{"index", int64_t{0}}}}));
    step_graph step{std::move(known_part), {fetch}};
    if (host_)
      fold_constants(step, *host_, stop_);
    if (const auto* value = constant_value(step.targets[0]->inputs()[0]);
        value && value->rank() == 0)
      return *value->data<bool>() ? first_iteration::always : first_iteration::never;
    return can_be_computed ? first_iteration::can_be_computed : first_iteration::unknown;
  }

  std::vector<edge> loop_inputs(const std::vector<size_t>& arguments) const {
    std::vector<edge> inputs;
    for (auto argument : arguments)
      inputs.push_back(loop_.inputs()[argument]);
    return inputs;
  }

  std::string free_name(std::string_view suffix) const {
    auto name = concat(loop_.name(), suffix);
    while (rewriter_.graph().find(name))
      name += '_';
    return name;
  }

  result<node*> add(node_spec spec) {
    add_colocation(spec.attrs, {loop_.name()});
    return rewriter_.add(std::move(spec), loop_);
  }

  result<edge> add_condition() {
    TROUPE_ASSIGN(auto part, extract({condition_edge()}, "first_iteration"));
    TROUPE_ASSIGN(auto* call,
                  add({.op = "PartitionedCall",
                       .name = free_name("/first_iteration"),
                       .inputs = loop_inputs(part.arguments),
                       .attrs = {{"f", function_value{"first_iteration", part.body}}}}));
    return call->output(0);
  }

  // Adds the computation of invariants; with a condition, only if there is a first iteration.
  status compute(const function& source, const std::vector<edge>& invariants, edge condition,
                 std::vector<edge>& outputs) {
    if (invariants.empty())
      return {};
    const auto* name = &source == body_.get() ? "invariants" : "invariants_of_condition";
    TROUPE_ASSIGN(auto part, extract(invariants, name));
    node_spec spec{.op = "PartitionedCall",
                   .name = free_name(concat('/', name)),
                   .inputs = loop_inputs(part.arguments)};
    if (condition) {
      TROUPE_ASSIGN(auto zeros, zeros_like(*part.body));
      spec.op = "StatelessIf";
      spec.inputs.insert(spec.inputs.begin(), condition);
      spec.attrs["then_branch"] = function_value{name, part.body};
      spec.attrs["else_branch"] = function_value{"no_iteration", std::move(zeros)};
    } else {
      spec.attrs["f"] = function_value{name, part.body};
    }
    TROUPE_ASSIGN(auto* added, add(std::move(spec)));
    for (int i = 0; i < added->outputs(); ++i)
      outputs.push_back(added->output(i));
    return {};
  }

  // Returns a function of the same type that returns zeros. No iteration reads them.
  static result<std::shared_ptr<const function>> zeros_like(const function& source) {
    auto nodes = std::make_unique<graph>(source.body().ops());
    for (size_t i = 0; i < source.arguments(); ++i)
      TROUPE_TRY(
          add_value_argument(*nodes, i, {const_cast<node*>(&source.argument(i)), 0}).status());
    std::vector<edge> results;
    for (size_t i = 0; i < source.results(); ++i) {
      std::vector<int64_t> extents;
      const auto& dims = source.result_dims(i);
      for (int axis = 0; dims.has_rank() && axis < dims.rank(); ++axis)
        extents.push_back(std::max<int64_t>(dims[axis], 0));
      auto constant = [&](tensor value) -> result<edge> {
        auto type = value.type();
        TROUPE_ASSIGN(
            auto* constant_node,
            nodes->add({.op = "Const", .attrs = {{"value", std::move(value)}, {"dtype", type}}}));
        return constant_node->output(0);
      };
      TROUPE_ASSIGN(auto zero, tensor::make(source.result_type(i), shape{}));
      std::fill_n(static_cast<std::byte*>(zero.raw()), zero.bytes(), std::byte{0});
      TROUPE_ASSIGN(auto shape, constant(tensor::vector(extents)));
      TROUPE_ASSIGN(auto value, constant(std::move(zero)));
      TROUPE_ASSIGN(auto* fill, nodes->add({.op = "Fill", .inputs = {shape, value}}));
      results.push_back(fill->output(0));
    }
    return function::make("no_iteration", std::move(nodes), results);
  }

  // Adds the invariants to the inputs of the loop, which passes them through.
  status widen(const std::vector<edge>& condition_invariants,
               const std::vector<edge>& body_invariants, const std::vector<edge>& new_inputs) {
    auto condition = copy_body(*condition_), body = copy_body(*body_);
    const auto first = body_->arguments();
    for (auto* target : {&condition, &body}) {
      for (size_t i = 0; i < new_inputs.size(); ++i) {
        TROUPE_ASSIGN(auto argument, add_value_argument(*target->body, first + i, new_inputs[i]));
        target->arguments.push_back(argument);
      }
      const auto& invariants = target == &body ? body_invariants : condition_invariants;
      const auto offset = first + (target == &body ? condition_invariants.size() : 0);
      edge_map moved;
      for (size_t i = 0; i < invariants.size(); ++i)
        moved[{target->copies[invariants[i].node->index()], invariants[i].index}] =
            target->arguments[offset + i];
      replace(*target, moved);
      const auto order = topological_order(*target->body);
      rewriter::reorder(*target->body, *order);
    }
    body.results.insert(body.results.end(),
                        body.arguments.begin() + static_cast<std::ptrdiff_t>(first),
                        body.arguments.end());
    TROUPE_ASSIGN(auto condition_function,
                  function::make(condition_->name(), std::move(condition.body), condition.results));
    TROUPE_ASSIGN(auto body_function,
                  function::make(body_->name(), std::move(body.body), body.results));
    const auto functions = functions_of(loop_);
    return loop_.graph().widen(loop_, new_inputs,
                               {{"cond", function_value{functions[0]->name, condition_function}},
                                {"body", function_value{functions[1]->name, body_function}}});
  }

  using edge_map = std::map<std::pair<const node*, int>, edge>;

  static void replace(function_copy& target, const edge_map& replacements) {
    for (const auto& reader : target.body->nodes())
      for (size_t i = 0; i < reader->inputs().size(); ++i) {
        const auto& input = reader->inputs()[i];
        if (auto replacement = replacements.find({input.node, input.index});
            replacement != replacements.end())
          rewriter::redirect(*reader, static_cast<int>(i), replacement->second);
      }
    for (auto& result : target.results)
      if (auto replacement = replacements.find({result.node, result.index});
          replacement != replacements.end())
        result = replacement->second;
  }

  rewriter& rewriter_;
  node& loop_;
  device* const host_;
  stop_signal* const stop_;
  const std::shared_ptr<const function> condition_, body_;
  std::vector<bool> unchanged_; // by argument index
};

} // namespace

result<bool> hoist_invariants(step_graph& step, const frame_rule& is_frame, device* host,
                              stop_signal* stop) {
  rewriter graph_rewriter{step};
  auto has_moved = false;
  for (auto* loop : graph_rewriter.nodes()) {
    if (loop->op().calls != call_kind::while_true || is_frame(*loop) || (stop && stop->is_due()))
      continue;
    const auto functions = functions_of(*loop);
    if (!functions[0]->body || !functions[1]->body)
      continue;
    auto is_moved = loop_hoister{graph_rewriter, *loop, host, stop}.run();
    if (!is_moved)
      return with_node_context(*loop, is_moved.status());
    has_moved = has_moved || *is_moved;
  }
  graph_rewriter.finish();
  return has_moved;
}

} // namespace troupe
