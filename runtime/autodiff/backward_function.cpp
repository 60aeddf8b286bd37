#include "troupe/runtime/autodiff/function_gradient.hpp"

#include "troupe/runtime/autodiff/run_again.hpp"
#include "troupe/runtime/functions/function_body.hpp"
#include "troupe/runtime/graph/accesses.hpp"

#include <algorithm>
#include <set>

namespace troupe {
namespace {

// The function that goes back, while it is built over the one that goes forward. What it takes of
// that is saved, and so it takes as little as it can: shapes instead of tensors.
class backward_body final : public function_body {
public:
  /// `recomputes`: what the function that goes forward has computed is computed again, where that
  /// is possible, instead of being saved.
  backward_body(graph& forward, bool recomputes)
      : function_body(forward, SIZE_MAX), forward_(forward), recomputes_(recomputes) {
    for (const auto& one : forward.nodes()) {
      if (runs_functions(one->op()) && functions_can_run_again(*one))
        continue; // they only read
      for (const auto& access : accesses_of(*one))
        if (access.updates)
          updated_.insert(access.state);
    }
  }

  /// What the gradient of a node of the function that goes forward is taken of: itself, or, where
  /// it runs functions that can run again here, its copy, which then keeps what the way back needs
  /// only while that is computed.
  result<node*> reached(node& of) {
    if (!recomputes_ || !runs_functions(of.op()) || !can_run_again(of))
      return &of;
    TROUPE_TRY(run_again(of));
    return copies_.at(&of);
  }

private:
  bool is_of_forward(edge what) const { return what && &what.node->graph() == &forward_; }

  bool stays_around(node_spec& spec) override {
    if (spec.inputs.empty() ||
        !std::ranges::all_of(spec.inputs, [&](auto& one) { return is_of_forward(one); }))
      return false;
    if (spec.op == "Identity" && spec.inputs[0].node->output_is_ref(spec.inputs[0].index))
      return true; // reads a variable there
    if (spec.op == "ZerosLike" || spec.op == "OnesLike")
      fill_instead(spec);
    return spec.op == "Shape" || spec.op == "ShapeN" || spec.op == "Size" || spec.op == "Rank" ||
           spec.op == "TensorListLength" || spec.op == "BroadcastGradientArgs";
  }

  // Of a variable, the value that was read is kept: it may have been changed since, by whatever is
  // around.
  result<edge> bring_in(edge from) override {
    if (is_of_forward(from) && from.node->output_is_ref(from.index)) {
      auto& value = read_[{from.node, from.index}];
      if (!value) {
        TROUPE_ASSIGN(auto* made, forward_.add({.op = "Identity", .inputs = {from}}));
        value = made->output(0);
      }
      return function_body::bring_in(value);
    }
    if (recomputes_ && is_of_forward(from) && can_run_again(*from.node)) {
      TROUPE_TRY(run_again(*from.node));
      return edge{copies_.at(from.node), from.index};
    }
    return function_body::bring_in(from);
  }

  // Random numbers and effects are had once, and a variable's value is the one that was read. A
  // list must not be kept from being changed in its place: it is made anew, or kept by nobody.
  bool can_run_again(const node& what) const {
    if (copies_.contains(&what))
      return true;
    auto [known, fresh] = can_.emplace(&what, false);
    if (fresh)
      known->second = looks_like_it(what);
    return known->second;
  }

  bool looks_like_it(const node& what) const {
    constexpr auto once = effect::stateful | effect::random | effect::blocking | effect::fed;
    auto calls = runs_functions(what.op());
    if ((!calls && has(what.op().effects, once)) || what.op().makes != resource::none ||
        what.inputs().empty() || (calls && !functions_can_run_again(what)))
      return false;
    for (int i = 0; i < what.outputs(); ++i)
      if (what.output_is_ref(i) && !calls)
        return false;
    if (!std::ranges::all_of(what.inputs(), [&](const edge& input) {
          return input.type() != dtype::variant || can_run_again(*input.node);
        }))
      return false;
    return std::ranges::none_of(accesses_of(what), [&](const state_access& one) {
      return (!one.as_value && !calls) || updated_.contains(one.state);
    });
  }

  // With all that it takes, first things first.
  status run_again(const node& what) {
    std::vector<const node*> needed, open{&what};
    std::set<const node*> seen;
    while (!open.empty()) {
      const auto* one = open.back();
      open.pop_back();
      if (copies_.contains(one) || !can_run_again(*one) || !seen.insert(one).second)
        continue;
      needed.push_back(one);
      for (const auto& input : one->inputs())
        open.push_back(input.node);
    }
    std::ranges::sort(needed, {}, &node::id);
    for (const auto* one : needed) {
      std::vector<edge> inputs;
      for (const auto& input : one->inputs()) {
        TROUPE_ASSIGN(auto here, bring_in(input));
        inputs.push_back(here);
      }
      status outcome;
      auto spec = over_values(*one, std::move(inputs), outcome);
      TROUPE_TRY(std::move(outcome));
      if (find(concat(scope(), spec.name)))
        spec.name.clear();
      TROUPE_ASSIGN(copies_[one], add_here(std::move(spec)));
    }
    return {};
  }

  void fill_instead(node_spec& spec) {
    auto like = spec.inputs[0];
    if (!numbers.contains(like.type()))
      return;
    edge dims;
    if (like.dims().fully_known()) {
      auto extents = like.dims().extents();
      dims = add_or_note({.op = "Const",
                          .attrs = {{"value", tensor::vector(std::vector<int64_t>(extents.begin(),
                                                                                  extents.end()))},
                                    {"dtype", dtype::i64}}});
    } else {
      dims = forward_.add_or_note(
          {.op = "Shape", .inputs = {like}, .attrs = {{"out_type", dtype::i64}}});
    }
    auto number =
        add_or_note({.op = "Const",
                     .attrs = {{"value", tensor::scalar(spec.op == "OnesLike" ? 1.0f : 0.0f)},
                               {"dtype", dtype::f32}}});
    auto value =
        like.type() == dtype::f32
            ? number
            : add_or_note({.op = "Cast", .inputs = {number}, .attrs = {{"DstT", like.type()}}});
    spec.op = "Fill";
    spec.inputs = {dims, value};
  }

  graph& forward_;
  const bool recomputes_;
  std::map<const node*, node*> copies_;     // of nodes that run again
  mutable std::map<const node*, bool> can_; // by what was found out
  std::set<const node*> updated_;           // variables, by the function that goes forward
  std::map<std::pair<const node*, int>, edge> read_;
};

} // namespace

result<function_gradients::two_ways>
function_gradients::both_ways(const function& of, const std::vector<size_t>& from,
                              const std::vector<size_t>& to,
                              const std::function<bool(size_t)>& stays, bool recomputes) {
  two_ways made{opened(of), nullptr, {}, {}};
  auto& forward = made.forward;
  std::vector<edge> ys, xs;
  auto body = std::make_unique<backward_body>(*forward.body, recomputes);
  gradient_options options{.of_ops = of_ops_};
  for (auto one : from) {
    ys.push_back(forward.results[one]);
    // In a loop, a value may have another shape in the next turn.
    const auto& result = forward.results[one];
    auto dims = one < of.arguments() && of.handed_on(one) < 0 && to == from
                    ? widened(result.dims(), forward.arguments[one].dims())
                    : result.dims();
    options.weights.push_back(body->add_argument(result.type(), dims));
  }
  for (auto one : to)
    xs.push_back(forward.arguments[one]);
  auto context = concat("function '", of.name(), "'");
  auto gradients = differentiate(*forward.body, ys, xs, options, *this,
                                 [&](node& one) { return body->reached(one); });
  if (!gradients)
    return gradients.status().within(context);
  for (size_t i = 0; i < to.size(); ++i)
    if (!(*gradients)[i])
      (*gradients)[i] = forward.body->add_or_note({.op = "ZerosLike", .inputs = {xs[i]}});
  if (auto noted = forward.body->take_note(); !noted)
    return std::move(noted).within(context);
  for (auto& one : *gradients) {
    TROUPE_ASSIGN(one, body->own(one));
  }
  auto captured = body->captured();
  TROUPE_ASSIGN(made.backward,
                function_body::finish(std::move(body), concat(of.name(), "_backward"), *gradients));
  for (const auto& one : captured) {
    auto argument = find_edge(forward.arguments, one);
    auto index = static_cast<size_t>(argument - forward.arguments.begin());
    if (argument != forward.arguments.end() && stays(index)) {
      made.needs.push_back({true, index});
      continue;
    }
    made.needs.push_back({false, made.saved.size()});
    made.saved.push_back(one);
  }
  return made;
}

} // namespace troupe
