// What is the same in all turns of a loop is computed before it (docs/decisions/062).
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

// Values that a fused loop computes in place, where a turn costs next to nothing.
constexpr int64_t small_bytes = 4096;
// What makes so much of little may as well be made in each turn.
constexpr int64_t large_bytes = 1 << 20, growth = 4;
// Zeros that a loop without turns may cost.
constexpr int64_t most_zeros = 16 << 20;

int64_t known_bytes(edge of) {
  const auto& dims = of.dims();
  return dims.fully_known() ? estimated_bytes(of.type(), dims) : -1;
}

bool makes_much_of_little(const node& one) {
  if (has(one.op().effects, effect::is_product | effect::is_convolution))
    return false;
  int64_t made = 0, taken = 0;
  for (int i = 0; i < one.outputs(); ++i)
    made += std::max<int64_t>(known_bytes({const_cast<node*>(&one), i}), 0);
  for (const auto& input : one.inputs())
    taken += std::max<int64_t>(known_bytes(input), 0);
  return made > large_bytes && made > growth * taken;
}

bool may_move(const node& one) {
  if (!is_pure(one) || acts_in_a_body(one) || !one.controls().empty() || one.outputs() == 0 ||
      one.inputs().empty() || internal_ops::is_boundary(one) || makes_much_of_little(one))
    return false;
  for (int i = 0; i < one.outputs(); ++i)
    if (one.output_is_ref(i) || one.output_type(i) == dtype::variant || // changed in place
        one.output_type(i) == dtype::string || one.output_type(i) == dtype::none)
      return false;
  return true;
}

// Not what a fused loop would compute: there, a value from outside costs as much. `seen` are
// functions of which nothing is worth it.
bool is_worth_it(const node& one, std::set<const function*>& seen) {
  if (runs_functions(one.op()))
    return std::ranges::any_of(functions_of(one), [&](const function_value* each) {
      return each->body && seen.insert(each->body.get()).second &&
             std::ranges::any_of(each->body->body().nodes(), [&](const auto& inner) {
               return each->body->runs(*inner) && is_worth_it(*inner, seen);
             });
    });
  if (one.inputs().empty() || internal_ops::is_boundary(one) ||
      has(one.op().effects, effect::of_shape))
    return false;
  return !has(one.op().effects, effect::elementwise) ||
         known_bytes({const_cast<node*>(&one), 0}) > small_bytes;
}

// Whether a node gives the same bits wherever it is computed.
bool is_exact(const node& one) {
  auto exact = [&](dtype type) {
    return integers.contains(type) || type == dtype::boolean || type == dtype::variant;
  };
  if (!is_pure(one) || !one.controls().empty() || runs_functions(one.op()))
    return false;
  if (!has(one.op().effects, effect::of_shape))
    for (const auto& input : one.inputs())
      if (!exact(input.type()))
        return false;
  for (int i = 0; i < one.outputs(); ++i)
    if (!exact(one.output_type(i)))
      return false;
  return true;
}

// A part of a function as one of its own, and which of the whole one's arguments it takes.
struct cutting {
  std::shared_ptr<const function> made;
  std::vector<size_t> arguments;
};

bool has_at_most(int64_t bytes, const std::vector<edge>& all) {
  for (const auto& one : all)
    if (bytes -= std::max<int64_t>(known_bytes(one), 0); bytes < 0)
      return false;
  return true;
}

enum class first_turn : uint8_t { certain, never, can_be_asked, unknown };

class loop_hoister {
public:
  loop_hoister(rewriter& change, node& loop, device* host, stop_signal* stop)
      : change_(change), loop_(loop), host_(host), stop_(stop),
        condition_(functions_of(loop)[0]->body), body_(functions_of(loop)[1]->body) {}

  // Returns whether anything was moved.
  result<bool> run() {
    find_unchanged();
    auto of_condition = find_invariants(*condition_), of_body = find_invariants(*body_);
    edge verdict;
    if (!of_body.empty()) {
      TROUPE_ASSIGN(auto turn, ask_first_turn());
      if (turn == first_turn::can_be_asked && has_at_most(most_zeros, of_body)) {
        TROUPE_ASSIGN(verdict, add_verdict());
      } else if (turn != first_turn::certain) {
        of_body.clear();
      }
    }
    if (of_condition.empty() && of_body.empty())
      return false;
    std::vector<edge> further;
    TROUPE_TRY(compute(*condition_, of_condition, {}, further));
    TROUPE_TRY(compute(*body_, of_body, verdict, further));
    TROUPE_TRY(widen(of_condition, of_body, further));
    return true;
  }

private:
  // Values that the body hands on. Whoever reads a variable elsewhere may see another value.
  void find_unchanged() {
    unchanged_.resize(body_->arguments());
    for (size_t i = 0; i < unchanged_.size(); ++i)
      unchanged_[i] =
          body_->handed_on(i) == static_cast<int>(i) && !body_->argument_is_ref(i) && is_value(i);
    for (const auto& one : body_->body().nodes()) {
      if (&one->op() != &internal_ops::fetch)
        continue;
      const auto* from = one->inputs()[0].node;
      auto result = one->attr<int64_t>("index");
      if (is_argument(*from) && from->attr<int64_t>("index") == result && is_value(result))
        unchanged_[static_cast<size_t>(result)] = true;
    }
  }

  bool is_value(size_t argument) const {
    const auto& from = loop_.inputs()[argument];
    return !from.node->output_is_ref(from.index);
  }

  // What the rest of a function reads of what is the same in all turns.
  std::vector<edge> find_invariants(const function& of) const {
    const auto& nodes = of.body().nodes();
    std::vector<bool> same(nodes.size());
    std::vector<edge> found;
    std::set<std::pair<const node*, int>> known;
    const auto order = topological_order(of.body()); // which a function has
    for (const auto* one : *order) {
      if (is_argument(*one)) {
        same[one->index()] = unchanged_[static_cast<size_t>(one->attr<int64_t>("index"))];
      } else if (constant_value({const_cast<node*>(one), 0})) {
        same[one->index()] = one->controls().empty();
      } else {
        auto stays = [&](const edge& input) { return same[input.node->index()]; };
        same[one->index()] = may_move(*one) && std::ranges::all_of(one->inputs(), stays);
      }
      if (same[one->index()] || !of.runs(*one))
        continue;
      for (const auto& input : one->inputs())
        if (same[input.node->index()] && !is_argument(*input.node) && !constant_value(input) &&
            known.emplace(input.node, input.index).second)
          found.push_back(input);
    }
    std::set<const function*> seen;
    auto worth_it = [&](const node* one) { return is_worth_it(*one, seen); };
    return std::ranges::any_of(behind(found), worth_it) ? found : std::vector<edge>{};
  }

  // The nodes that some edges need, each after what it depends on; arguments included.
  static std::vector<const node*> behind(const std::vector<edge>& edges) {
    std::vector<const node*> found;
    if (edges.empty())
      return found;
    const auto& of = edges.front().node->graph();
    std::vector<bool> needed(of.nodes().size());
    std::vector<const node*> open;
    for (const auto& one : edges)
      open.push_back(one.node);
    while (!open.empty()) {
      const auto* at = open.back();
      open.pop_back();
      if (needed[at->index()])
        continue;
      needed[at->index()] = true;
      if (is_argument(*at))
        continue; // which waits for nothing, though it was captured behind an effect
      for (const auto& input : at->inputs())
        open.push_back(input.node);
      open.insert(open.end(), at->controls().begin(), at->controls().end());
    }
    const auto order = topological_order(of);
    for (const auto* one : *order)
      if (needed[one->index()])
        found.push_back(one);
    return found;
  }

  // Its nodes run where the loop does, so that they compute the same bits.
  result<cutting> cut_out(const std::vector<edge>& wanted, const std::string& name) const {
    cutting found;
    auto nodes = std::make_unique<graph>(loop_.graph().ops());
    std::map<const node*, node*> copies;
    const auto needed = behind(wanted);
    for (const auto* one : needed)
      if (is_argument(*one)) {
        found.arguments.push_back(static_cast<size_t>(one->attr<int64_t>("index")));
        TROUPE_ASSIGN(auto made, add_value_argument(*nodes, found.arguments.size() - 1,
                                                    {const_cast<node*>(one), 0}));
        copies[one] = made.node;
      }
    for (const auto* one : needed) {
      if (is_argument(*one))
        continue;
      std::vector<edge> inputs;
      for (const auto& input : one->inputs())
        inputs.push_back({copies.at(input.node), input.index});
      auto free = one->name();
      while (nodes->find(free)) // as an argument is called
        free += '_';
      copies[one] = nodes->add_copy(*one, std::move(free), std::move(inputs), {});
      rewriter::set_colocation(*copies[one], {loop_.name()});
    }
    std::vector<edge> results;
    for (const auto& one : wanted)
      results.push_back({copies.at(one.node), one.index});
    TROUPE_ASSIGN(found.made, function::make(name, std::move(nodes), results));
    return found;
  }

  edge verdict_of_condition() const {
    for (const auto& one : condition_->body().nodes())
      if (&one->op() == &internal_ops::fetch)
        return one->inputs()[0];
    return {const_cast<node*>(&condition_->argument(static_cast<size_t>(condition_->handed_on(0)))),
            0};
  }

  // Whether there will be a first turn, as far as that can be known or asked.
  result<first_turn> ask_first_turn() const {
    auto verdict = verdict_of_condition();
    if (verdict.type() != dtype::boolean || condition_->has_effects())
      return first_turn::unknown;
    auto can_be_asked = true;
    auto known = std::make_unique<graph>(loop_.graph().ops());
    std::map<const node*, node*> copies;
    for (const auto* one : behind({verdict})) {
      std::vector<edge> inputs;
      for (const auto& input : one->inputs())
        inputs.push_back({copies.at(input.node), input.index});
      auto*& copy = copies[one];
      if (!is_argument(*one)) {
        can_be_asked = can_be_asked && is_exact(*one);
        copy = known->add_copy(*one, std::move(inputs), {});
        continue;
      }
      auto at = static_cast<size_t>(one->attr<int64_t>("index"));
      can_be_asked = can_be_asked && is_value(at);
      const auto* value = constant_value(loop_.inputs()[at]);
      if (!value) {
        copy = known->add_copy(*one, {}, {});
        continue;
      }
      TROUPE_ASSIGN(copy, known->add({.op = "Const",
                                      .attrs = {{"value", *value}, {"dtype", value->type()}}}));
    }
    TROUPE_ASSIGN(auto* asked, known->add({.op = "_Fetch",
                                           .inputs = {{copies.at(verdict.node), verdict.index}},
                                           .attrs = {{"index", int64_t{0}}}}));
    step_graph alone{std::move(known), {asked}};
    if (host_)
      fold_constants(alone, *host_, stop_);
    if (const auto* value = constant_value(alone.targets[0]->inputs()[0]);
        value && value->rank() == 0)
      return *value->data<bool>() ? first_turn::certain : first_turn::never;
    return can_be_asked ? first_turn::can_be_asked : first_turn::unknown;
  }

  std::vector<edge> outside(const std::vector<size_t>& arguments) const {
    std::vector<edge> found;
    for (auto one : arguments)
      found.push_back(loop_.inputs()[one]);
    return found;
  }

  std::string free_name(std::string_view suffix) const {
    auto name = concat(loop_.name(), suffix);
    while (change_.graph().find(name))
      name += '_';
    return name;
  }

  result<node*> add(node_spec spec) {
    add_colocation(spec.attrs, {loop_.name()});
    return change_.add(std::move(spec), loop_);
  }

  result<edge> add_verdict() {
    TROUPE_ASSIGN(auto part, cut_out({verdict_of_condition()}, "first_turn"));
    TROUPE_ASSIGN(auto* made, add({.op = "PartitionedCall",
                                   .name = free_name("/first_turn"),
                                   .inputs = outside(part.arguments),
                                   .attrs = {{"f", function_value{"first_turn", part.made}}}}));
    return made->output(0);
  }

  // Adds what computes them; with a verdict only if there is a first turn.
  status compute(const function& of, const std::vector<edge>& wanted, edge verdict,
                 std::vector<edge>& made) {
    if (wanted.empty())
      return {};
    const auto* name = &of == body_.get() ? "invariants" : "invariants_of_condition";
    TROUPE_ASSIGN(auto part, cut_out(wanted, name));
    node_spec spec{.op = "PartitionedCall",
                   .name = free_name(concat('/', name)),
                   .inputs = outside(part.arguments)};
    if (verdict) {
      TROUPE_ASSIGN(auto nothing, like_nothing(*part.made));
      spec.op = "StatelessIf";
      spec.inputs.insert(spec.inputs.begin(), verdict);
      spec.attrs["then_branch"] = function_value{name, part.made};
      spec.attrs["else_branch"] = function_value{"no_turn", std::move(nothing)};
    } else {
      spec.attrs["f"] = function_value{name, part.made};
    }
    TROUPE_ASSIGN(auto* added, add(std::move(spec)));
    for (int i = 0; i < added->outputs(); ++i)
      made.push_back(added->output(i));
    return {};
  }

  // Takes and gives the same; no turn looks at the values.
  static result<std::shared_ptr<const function>> like_nothing(const function& of) {
    auto nodes = std::make_unique<graph>(of.body().ops());
    for (size_t i = 0; i < of.arguments(); ++i)
      TROUPE_TRY(add_value_argument(*nodes, i, {const_cast<node*>(&of.argument(i)), 0}).status());
    std::vector<edge> results;
    for (size_t i = 0; i < of.results(); ++i) {
      std::vector<int64_t> extents;
      const auto& dims = of.result_dims(i);
      for (int axis = 0; dims.has_rank() && axis < dims.rank(); ++axis)
        extents.push_back(std::max<int64_t>(dims[axis], 0));
      auto constant = [&](tensor value) -> result<edge> {
        auto type = value.type();
        TROUPE_ASSIGN(
            auto* made,
            nodes->add({.op = "Const", .attrs = {{"value", std::move(value)}, {"dtype", type}}}));
        return made->output(0);
      };
      TROUPE_ASSIGN(auto zero, tensor::make(of.result_type(i), shape{}));
      std::fill_n(static_cast<std::byte*>(zero.raw()), zero.bytes(), std::byte{0});
      TROUPE_ASSIGN(auto shape, constant(tensor::vector(extents)));
      TROUPE_ASSIGN(auto value, constant(std::move(zero)));
      TROUPE_ASSIGN(auto* filled, nodes->add({.op = "Fill", .inputs = {shape, value}}));
      results.push_back(filled->output(0));
    }
    return function::make("no_turn", std::move(nodes), results);
  }

  // The loop takes what was computed, and hands it on.
  status widen(const std::vector<edge>& of_condition, const std::vector<edge>& of_body,
               const std::vector<edge>& further) {
    auto condition = opened(*condition_), body = opened(*body_);
    const auto first = body_->arguments();
    for (auto* each : {&condition, &body}) {
      for (size_t i = 0; i < further.size(); ++i) {
        TROUPE_ASSIGN(auto made, add_value_argument(*each->body, first + i, further[i]));
        each->arguments.push_back(made);
      }
      const auto& wanted = each == &body ? of_body : of_condition;
      const auto offset = first + (each == &body ? of_condition.size() : 0);
      edge_map moved;
      for (size_t i = 0; i < wanted.size(); ++i)
        moved[{each->copies[wanted[i].node->index()], wanted[i].index}] =
            each->arguments[offset + i];
      replace(*each, moved);
      const auto order = topological_order(*each->body);
      rewriter::reorder(*each->body, *order);
    }
    body.results.insert(body.results.end(),
                        body.arguments.begin() + static_cast<std::ptrdiff_t>(first),
                        body.arguments.end());
    TROUPE_ASSIGN(auto test,
                  function::make(condition_->name(), std::move(condition.body), condition.results));
    TROUPE_ASSIGN(auto turn, function::make(body_->name(), std::move(body.body), body.results));
    const auto all = functions_of(loop_);
    return loop_.graph().widen(loop_, further,
                               {{"cond", function_value{all[0]->name, test}},
                                {"body", function_value{all[1]->name, turn}}});
  }

  using edge_map = std::map<std::pair<const node*, int>, edge>;

  static void replace(open_function& in, const edge_map& by) {
    for (const auto& one : in.body->nodes())
      for (size_t i = 0; i < one->inputs().size(); ++i) {
        const auto& input = one->inputs()[i];
        if (auto found = by.find({input.node, input.index}); found != by.end())
          rewriter::redirect(*one, static_cast<int>(i), found->second);
      }
    for (auto& result : in.results)
      if (auto found = by.find({result.node, result.index}); found != by.end())
        result = found->second;
  }

  rewriter& change_;
  node& loop_;
  device* const host_;
  stop_signal* const stop_;
  const std::shared_ptr<const function> condition_, body_;
  std::vector<bool> unchanged_; // by argument
};

} // namespace

result<bool> hoist_invariants(step_graph& of, const frame_rule& is_frame, device* host,
                              stop_signal* stop) {
  rewriter change{of};
  auto moved = false;
  for (auto* one : change.nodes()) {
    if (one->op().calls != calling::while_true || is_frame(*one) || (stop && stop->due()))
      continue;
    const auto all = functions_of(*one);
    if (!all[0]->body || !all[1]->body)
      continue;
    auto done = loop_hoister{change, *one, host, stop}.run();
    if (!done)
      return within(*one, done.status());
    moved = moved || *done;
  }
  change.finish();
  return moved;
}

} // namespace troupe
