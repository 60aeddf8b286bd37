#include "troupe/runtime/passes/rewriter.hpp"

#include "troupe/runtime/graph/accesses.hpp"
#include "troupe/runtime/graph/colocation.hpp"
#include "troupe/runtime/graph/infer.hpp"
#include "troupe/runtime/graph/internal_ops.hpp"
#include "troupe/runtime/graph/transfer_attr.hpp"

#include <algorithm>
#include <set>
#include <stdexcept>

namespace troupe {
namespace {

// Stand for an output index in what replaces a node.
constexpr int same_output = -1, several = -2;

constexpr auto impure_effects = effect::stateful | effect::random | effect::blocking | effect::fed;

// Runs whoever reads it: what it does is not in its outputs.
bool is_root(const node& node) {
  return node.op().makes == resource::none &&
         has(node.op().effects, effect::stateful | effect::blocking);
}

// Others may count on its having run. Drawing numbers is nothing that one could count on.
bool has_effect(const node& node) {
  return is_root(node) && !has(node.op().effects, effect::random);
}

} // namespace

bool is_pure(const node& node) noexcept {
  return !has(node.op().effects, impure_effects) && node.op().makes == resource::none &&
         !uses_state(node); // reading a variable now or later may differ
}

void sort_controls(std::vector<node*>& controls) {
  std::ranges::sort(controls, {}, [](const node* at) { return at->id(); });
  auto twice = std::ranges::unique(controls);
  controls.erase(twice.begin(), twice.end());
}

rewriter::rewriter(step_graph& of) : of_(of), graph_(*of.nodes) {
  nodes_.reserve(graph_.nodes_.size());
  by_.resize(graph_.nodes_.size());
  learned_.resize(graph_.nodes_.size());
  after_effects_.resize(graph_.nodes_.size());
  latest_.resize(graph_.nodes_.size());
  for (const auto& node : graph_.nodes_)
    nodes_.push_back(node.get());
  for (const auto& node : graph_.nodes_)
    note(*node);
  targets_.assign(of.targets.begin(), of.targets.end());
  std::ranges::sort(targets_);
}

void rewriter::note(const node& n) {
  auto after = [&](const node* before) { return after_effects_[index(*before)]; };
  after_effects_[index(n)] = has_effect(n) || std::ranges::any_of(n.inputs(), after, &edge::node) ||
                             std::ranges::any_of(n.controls(), after);
  auto& latest = latest_[index(n)];
  latest = is_new(n) ? 0 : index(n);
  if (is_new(n)) {
    for (const auto& input : n.inputs())
      latest = std::max(latest, latest_[index(*input.node)]);
    for (const auto* before : n.controls())
      latest = std::max(latest, latest_[index(*before)]);
  }
}

bool rewriter::is_target(const node& node) const noexcept {
  return std::ranges::binary_search(targets_, &node);
}

edge rewriter::now(edge what) const noexcept {
  for (;;) {
    const auto& by = by_[index(*what.node)];
    if (!by.node)
      return what;
    if (by.index <= several)
      what = several_[static_cast<size_t>(several - by.index)][static_cast<size_t>(what.index)];
    else
      what = {by.node, by.index == same_output ? what.index : by.index};
  }
}

void rewriter::refresh(node& node) {
  bool news = false;
  for (auto& input : node.inputs_) {
    auto by = now(input);
    news = news || !is_same_edge(by, input) || learned_[index(*by.node)];
    input = by;
  }
  bool reordered = false;
  for (auto& before : node.controls_)
    if (auto* by = now({before, 0}).node; by != before) {
      before = by;
      reordered = true;
    }
  if (reordered)
    sort_controls(node.controls_);
  if (news)
    learn_shapes(node);
}

// What was an unknown extent may be known by now. What can be seen now to fail will do so when it
// runs.
void rewriter::learn_shapes(node& node) {
  if (!node.op().infer)
    return;
  auto inferred = node.op().infer(infer_context{node});
  if (!inferred || inferred->size() != node.shapes_.size())
    return;
  for (size_t i = 0; i < node.shapes_.size(); ++i)
    if (auto merged = troupe::merge(node.shapes_[i], (*inferred)[i]);
        merged && *merged != node.shapes_[i] && partial_shape::make(merged->extents())) {
      node.shapes_[i] = *std::move(merged);
      learned_[index(node)] = true;
    }
}

bool rewriter::replace(node& old, const std::vector<edge>& by) {
  if (by.empty() || static_cast<size_t>(old.outputs()) != by.size() || !old.controls().empty())
    return false;
  auto travels = transfer_of(old); // as its readers expect
  for (int i = 0; i < old.outputs(); ++i) {
    const auto& one = by[static_cast<size_t>(i)];
    if (!one || one.node == &old || transfer_of(*one.node) != travels ||
        one.type() != old.output_type(i) || one.node->output_is_ref(one.index) ||
        !one.dims().compatible(old.output_shape(i)))
      return false;
  }
  if (depends_on(old, by) || !keeps_effects(old, by))
    return false;
  merge(old, by);
  return true;
}

void rewriter::merge(node& old, const std::vector<edge>& by) {
  note_order(old, by);
  if (by.size() == 1) {
    by_[index(old)] = by[0];
  } else {
    by_[index(old)] = {by[0].node, several - static_cast<int>(several_.size())};
    several_.push_back(by);
  }
  changed_ = true;
}

void rewriter::merge(node& old, node& by) {
  note_order(old, {{&by, 0}});
  by_[index(old)] = {&by, same_output};
  changed_ = true;
}

void rewriter::note_order(const node& old, const std::vector<edge>& by) {
  for (const auto& one : by)
    replaced_by_later_ |= latest_[index(*one.node)] > index(old);
}

// Nodes from before that come before `what` do not depend on it as long as every replacement came
// before what it replaces; such a walk ends soon.
bool rewriter::depends_on(const node& what, const std::vector<edge>& edges) const {
  std::vector<const node*> open;
  std::set<const node*> seen;
  auto visit = [&](const node* at) {
    auto earlier = index(*at) < index(what) && !replaced_by_later_;
    if (!earlier && seen.insert(at).second)
      open.push_back(at);
  };
  for (const auto& one : edges)
    visit(now(one).node);
  while (!open.empty()) {
    auto* at = open.back();
    open.pop_back();
    if (at == &what)
      return true;
    for (const auto& input : at->inputs())
      visit(now(input).node);
    for (auto* before : at->controls())
      visit(now({before, 0}).node);
  }
  return false;
}

// Whoever waits for `old` waits for all effects before it. It waits for as much through `by` if
// every way back from `old` meets what `by` is made of before it meets an effect.
bool rewriter::keeps_effects(const node& old, const std::vector<edge>& by) const {
  if (!after_effects_[index(old)])
    return true;
  if (by.size() > 1)
    return false; // who waits for the node waits for the first only
  std::vector<const node*> cover{by[0].node};
  constexpr size_t enough = 16;
  for (size_t i = 0; i < cover.size() && cover.size() < enough; ++i) {
    for (const auto& input : cover[i]->inputs())
      cover.push_back(input.node);
    cover.insert(cover.end(), cover[i]->controls().begin(), cover[i]->controls().end());
  }
  std::vector<const node*> open{&old};
  for (size_t i = 0; i < open.size(); ++i) {
    auto* at = open[i];
    if (!after_effects_[index(*at)] || std::ranges::find(cover, at) != cover.end())
      continue;
    if (has_effect(*at) || open.size() > enough)
      return false;
    for (const auto& input : at->inputs())
      open.push_back(input.node);
    open.insert(open.end(), at->controls().begin(), at->controls().end());
  }
  return true;
}

result<node*> rewriter::add(node_spec spec, const node& like) {
  spec.where = like.where_;
  spec.device = like.device_;
  for (auto of_any_op : {colocation_attr, transfer_attr})
    if (auto own = like.attrs_.find(of_any_op); own != like.attrs_.end())
      spec.attrs.insert(*own);
  TROUPE_ASSIGN(auto* made, graph_.add(std::move(spec)));
  made->where_text_ = like.where_text_;
  by_.emplace_back();
  learned_.push_back(false);
  after_effects_.push_back(false);
  latest_.push_back(0);
  note(*made);
  changed_ = true;
  return made;
}

result<node*> rewriter::add_constant(tensor value, const node& like) {
  auto type = value.type();
  return add({.op = "Const", .attrs = {{"value", std::move(value)}, {"dtype", type}}}, like);
}

void rewriter::take_name(node& to, const node& from) {
  graph_.by_name_.erase(to.name_);
  to.name_ = from.name_;
  graph_.by_name_[to.name_] = &to;
}

void rewriter::set_input(node& of, int input, edge to) {
  of.inputs_[static_cast<size_t>(input)] = to;
  replaced_by_later_ |= is_new(of); // who reads it may come later now
  changed_ = true;
}

void rewriter::set_controls(node& of, std::vector<node*> controls) {
  of.controls_ = std::move(controls);
  replaced_by_later_ |= is_new(of);
  changed_ = true;
}

void rewriter::finish() {
  if (!changed_)
    return;
  for (auto*& target : of_.targets)
    target = now({target, 0}).node;
  std::vector<bool> needed(graph_.nodes_.size(), false);
  std::vector<node*> open;
  auto need = [&](node* node) {
    if (!needed[index(*node)]) {
      needed[index(*node)] = true;
      open.push_back(node);
    }
  };
  for (const auto& node : graph_.nodes_)
    if (is_root(*node) && !is_replaced(*node))
      need(node.get());
  for (auto* target : of_.targets)
    need(target);
  while (!open.empty()) {
    auto* at = open.back();
    open.pop_back();
    refresh(*at);
    for (const auto& input : at->inputs_)
      need(input.node);
    for (auto* before : at->controls_)
      need(before);
  }
  // New nodes move to the place of what they replace, or else to right before the first that
  // depends on them; all others stay in order.
  std::vector<std::unique_ptr<node>> all;
  all.swap(graph_.nodes_);
  std::vector<size_t> path;
  std::vector<bool> on_path(all.size(), false);
  auto place = [&](size_t start) {
    path.push_back(start);
    while (!path.empty()) {
      auto& at = all[path.back()];
      if (!at) {
        path.pop_back();
        continue;
      }
      auto before = path.size();
      bool again = on_path[path.back()]; // not a reference to it
      on_path[path.back()] = true;
      for (const auto& input : at->inputs_)
        if (all[index(*input.node)])
          path.push_back(index(*input.node));
      for (auto* one : at->controls_)
        if (all[index(*one)])
          path.push_back(index(*one));
      if (path.size() == before) {
        path.pop_back();
        graph_.nodes_.push_back(std::move(at));
      } else if (again) { // what it waits for did not come first
        throw std::logic_error{concat("a pass made a cycle through ", at->description())};
      }
    }
  };
  for (size_t i = 0; i < all.size(); ++i)
    if (needed[i])
      place(i);
    else if (auto by = by_[i].node; by && needed[index(*by)])
      place(index(*by));
  for (size_t i = 0; i < graph_.nodes_.size(); ++i)
    graph_.nodes_[i]->id_ = static_cast<int>(i);
  for (const auto& dead : all)
    if (dead)
      if (auto it = graph_.by_name_.find(dead->name_);
          it != graph_.by_name_.end() && it->second == dead.get())
        graph_.by_name_.erase(it);
  graph_.version_ = troupe::graph::next_version();
}

void rewriter::set_device(node& of, std::string device) { of.device_ = std::move(device); }

void rewriter::set_default_device(node& of, const std::string& device) {
  auto takes_state = false;
  for (int i = 0; i < static_cast<int>(of.inputs().size()); ++i)
    takes_state = takes_state || of.input_is_ref(i);
  if (of.device().empty() && !takes_state)
    of.device_ = device;
}

void rewriter::set_colocation(node& of, const std::vector<std::string>& with) {
  of.attrs_.erase(std::string{colocation_attr});
  add_colocation(of.attrs_, with);
}

void rewriter::set_transfer(node& of, f32_transfer how) {
  if (std::ranges::find(of.types_, dtype::f32) != of.types_.end())
    of.attrs_.emplace(std::string{transfer_attr}, std::string{to_string(how)});
}

void rewriter::redirect(node& of, int input, edge to) {
  of.inputs_[static_cast<size_t>(input)] = to;
}

status rewriter::change_functions(node& of, const std::function<status(function_value&)>& change) {
  for (auto& [name, value] : of.attrs_) {
    if (auto* one = value.get_if<function_value>()) {
      auto changed = *one;
      TROUPE_TRY(within(of, change(changed)));
      value = std::move(changed);
    } else if (auto* several = value.get_if<std::vector<function_value>>()) {
      auto changed = *several;
      for (auto& each : changed)
        TROUPE_TRY(within(of, change(each)));
      value = std::move(changed);
    }
  }
  return {};
}

void rewriter::reorder(troupe::graph& of, std::span<node* const> order) {
  std::vector<std::unique_ptr<node>> sorted(of.nodes_.size());
  for (size_t i = 0; i < order.size(); ++i)
    sorted[i] = std::move(of.nodes_[index(*order[i])]);
  of.nodes_ = std::move(sorted);
  for (size_t i = 0; i < of.nodes_.size(); ++i)
    of.nodes_[i]->id_ = static_cast<int>(i);
  of.version_ = troupe::graph::next_version();
}

} // namespace troupe
