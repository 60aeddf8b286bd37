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

// Negative output indices of replacements: the same output of the node, or an entry of
// replacement_lists_.
constexpr int same_output = -1, in_list = -2;

constexpr auto impure_effects =
    effect::stateful | effect::random | effect::blocking | effect::must_be_fed;

// Returns whether a node runs even if no node reads it, because it has effects besides its outputs.
bool is_root(const node& node) {
  return node.op().state_kind == resource::none &&
         has(node.op().effects, effect::stateful | effect::blocking);
}

// Returns whether other nodes may rely on the node having run. They do not rely on random draws.
bool has_effect(const node& node) {
  return is_root(node) && !has(node.op().effects, effect::random);
}

} // namespace

bool is_pure(const node& node) noexcept {
  return !has(node.op().effects, impure_effects) && node.op().state_kind == resource::none &&
         !uses_state(node); // a variable may have another value at another time
}

void sort_controls(std::vector<node*>& controls) {
  std::ranges::sort(controls, {}, [](const node* sorted) { return sorted->id(); });
  auto duplicates = std::ranges::unique(controls);
  controls.erase(duplicates.begin(), duplicates.end());
}

rewriter::rewriter(step_graph& step) : step_(step), graph_(*step.nodes) {
  nodes_.reserve(graph_.nodes_.size());
  replacements_.resize(graph_.nodes_.size());
  has_new_shapes_.resize(graph_.nodes_.size());
  after_effects_.resize(graph_.nodes_.size());
  latest_dependency_.resize(graph_.nodes_.size());
  for (const auto& node : graph_.nodes_)
    nodes_.push_back(node.get());
  for (const auto& node : graph_.nodes_)
    record_dependences(*node);
  targets_.assign(step.targets.begin(), step.targets.end());
  std::ranges::sort(targets_);
}

void rewriter::record_dependences(const node& recorded) {
  auto is_after_effect = [&](const node* before) { return after_effects_[index(*before)]; };
  after_effects_[index(recorded)] =
      has_effect(recorded) ||
      std::ranges::any_of(recorded.inputs(), is_after_effect, &edge::node) ||
      std::ranges::any_of(recorded.controls(), is_after_effect);
  auto& latest = latest_dependency_[index(recorded)];
  latest = is_new(recorded) ? 0 : index(recorded);
  if (is_new(recorded)) {
    for (const auto& input : recorded.inputs())
      latest = std::max(latest, latest_dependency_[index(*input.node)]);
    for (const auto* before : recorded.controls())
      latest = std::max(latest, latest_dependency_[index(*before)]);
  }
}

bool rewriter::is_target(const node& node) const noexcept {
  return std::ranges::binary_search(targets_, &node);
}

edge rewriter::replacement_of(edge source) const noexcept {
  for (;;) {
    const auto& replacement = replacements_[index(*source.node)];
    if (!replacement.node)
      return source;
    if (replacement.index <= in_list)
      source = replacement_lists_[static_cast<size_t>(in_list - replacement.index)]
                                 [static_cast<size_t>(source.index)];
    else
      source = {replacement.node,
                replacement.index == same_output ? source.index : replacement.index};
  }
}

void rewriter::refresh(node& node) {
  bool is_changed = false;
  for (auto& input : node.inputs_) {
    auto replacement = replacement_of(input);
    is_changed = is_changed || !is_same_edge(replacement, input) ||
                 has_new_shapes_[index(*replacement.node)];
    input = replacement;
  }
  bool reordered = false;
  for (auto& before : node.controls_)
    if (auto* new_control = replacement_of({before, 0}).node; new_control != before) {
      before = new_control;
      reordered = true;
    }
  if (reordered)
    sort_controls(node.controls_);
  if (is_changed)
    infer_shapes(node);
}

// Shapes may have become more specific. An error of the shape function is ignored here, because the
// node fails with it when it runs.
void rewriter::infer_shapes(node& node) {
  if (!node.op().infer)
    return;
  auto inferred = node.op().infer(infer_context{node});
  if (!inferred || inferred->size() != node.shapes_.size())
    return;
  for (size_t i = 0; i < node.shapes_.size(); ++i)
    if (auto merged = troupe::merge(node.shapes_[i], (*inferred)[i]);
        merged && *merged != node.shapes_[i] && partial_shape::make(merged->extents())) {
      node.shapes_[i] = *std::move(merged);
      has_new_shapes_[index(node)] = true;
    }
}

bool rewriter::replace(node& old, const std::vector<edge>& replacements) {
  if (replacements.empty() || static_cast<size_t>(old.outputs()) != replacements.size() ||
      !old.controls().empty())
    return false;
  auto transfer = transfer_of(old); // must stay what the readers expect
  for (int i = 0; i < old.outputs(); ++i) {
    const auto& replacement = replacements[static_cast<size_t>(i)];
    if (!replacement || replacement.node == &old || transfer_of(*replacement.node) != transfer ||
        replacement.type() != old.output_type(i) ||
        replacement.node->output_is_ref(replacement.index) ||
        !replacement.dims().compatible(old.output_shape(i)))
      return false;
  }
  if (depends_on(old, replacements) || !keeps_effects(old, replacements))
    return false;
  merge(old, replacements);
  return true;
}

void rewriter::merge(node& old, const std::vector<edge>& replacements) {
  record_order(old, replacements);
  if (replacements.size() == 1) {
    replacements_[index(old)] = replacements[0];
  } else {
    replacements_[index(old)] = {replacements[0].node,
                                 in_list - static_cast<int>(replacement_lists_.size())};
    replacement_lists_.push_back(replacements);
  }
  changed_ = true;
}

void rewriter::merge(node& old, node& replacement) {
  record_order(old, {{&replacement, 0}});
  replacements_[index(old)] = {&replacement, same_output};
  changed_ = true;
}

void rewriter::record_order(const node& old, const std::vector<edge>& replacements) {
  for (const auto& replacement : replacements)
    replaced_by_later_ |= latest_dependency_[index(*replacement.node)] > index(old);
}

// An original node before `dependency` does not depend on it as long as every replacement came
// before the node that it replaces. The search then ends early.
bool rewriter::depends_on(const node& dependency, const std::vector<edge>& edges) const {
  std::vector<const node*> pending;
  std::set<const node*> visited;
  auto visit = [&](const node* candidate) {
    auto is_earlier = index(*candidate) < index(dependency) && !replaced_by_later_;
    if (!is_earlier && visited.insert(candidate).second)
      pending.push_back(candidate);
  };
  for (const auto& source : edges)
    visit(replacement_of(source).node);
  while (!pending.empty()) {
    auto* candidate = pending.back();
    pending.pop_back();
    if (candidate == &dependency)
      return true;
    for (const auto& input : candidate->inputs())
      visit(replacement_of(input).node);
    for (auto* before : candidate->controls())
      visit(replacement_of({before, 0}).node);
  }
  return false;
}

// A node that runs after `old` runs after all effects before it. It runs after the same effects if
// it runs after the replacement, provided that every path backward from `old` reaches a dependency
// of the replacement before it reaches an effect.
bool rewriter::keeps_effects(const node& old, const std::vector<edge>& replacements) const {
  if (!after_effects_[index(old)])
    return true;
  if (replacements.size() > 1)
    return false; // a control edge to the node would be replaced by one to the first only
  std::vector<const node*> cover{replacements[0].node};
  constexpr size_t limit = 16;
  for (size_t i = 0; i < cover.size() && cover.size() < limit; ++i) {
    for (const auto& input : cover[i]->inputs())
      cover.push_back(input.node);
    cover.insert(cover.end(), cover[i]->controls().begin(), cover[i]->controls().end());
  }
  std::vector<const node*> pending{&old};
  for (size_t i = 0; i < pending.size(); ++i) {
    auto* visited = pending[i];
    if (!after_effects_[index(*visited)] || std::ranges::find(cover, visited) != cover.end())
      continue;
    if (has_effect(*visited) || pending.size() > limit)
      return false;
    for (const auto& input : visited->inputs())
      pending.push_back(input.node);
    pending.insert(pending.end(), visited->controls().begin(), visited->controls().end());
  }
  return true;
}

result<node*> rewriter::add(node_spec spec, const node& like) {
  spec.where = like.where_;
  spec.device = like.device_;
  for (auto attr_name : {colocation_attr, transfer_attr})
    if (auto inherited = like.attrs_.find(attr_name); inherited != like.attrs_.end())
      spec.attrs.insert(*inherited);
  TROUPE_ASSIGN(auto* added, graph_.add(std::move(spec)));
  added->where_text_ = like.where_text_;
  replacements_.emplace_back();
  has_new_shapes_.push_back(false);
  after_effects_.push_back(false);
  latest_dependency_.push_back(0);
  record_dependences(*added);
  changed_ = true;
  return added;
}

result<node*> rewriter::add_constant(tensor value, const node& like) {
  auto type = value.type();
  return add({.op = "Const", .attrs = {{"value", std::move(value)}, {"dtype", type}}}, like);
}

void rewriter::take_name(node& target, const node& source) {
  graph_.by_name_.erase(target.name_);
  target.name_ = source.name_;
  graph_.by_name_[target.name_] = &target;
}

void rewriter::set_input(node& target, int input, edge source) {
  target.inputs_[static_cast<size_t>(input)] = source;
  replaced_by_later_ |= is_new(target); // its readers may depend on later nodes now
  changed_ = true;
}

void rewriter::set_controls(node& target, std::vector<node*> controls) {
  target.controls_ = std::move(controls);
  replaced_by_later_ |= is_new(target);
  changed_ = true;
}

namespace {

// Moves nodes from their list to another one, in which each follows the nodes that it depends on.
class dependency_order {
public:
  dependency_order(std::vector<std::unique_ptr<node>>& unsorted,
                   std::vector<std::unique_ptr<node>>& sorted)
      : unsorted_(unsorted), sorted_(sorted), on_path_(unsorted.size(), false) {}

  // Moves node `start`, after all nodes that it depends on.
  void append(size_t start) {
    path_.push_back(start);
    while (!path_.empty()) {
      auto& visited = unsorted_[path_.back()];
      if (!visited) {
        path_.pop_back();
        continue;
      }
      auto size_before = path_.size();
      bool is_repeated = on_path_[path_.back()]; // a copy, because the next line changes it
      on_path_[path_.back()] = true;
      for (const auto& input : visited->inputs())
        follow(*input.node);
      for (auto* predecessor : visited->controls())
        follow(*predecessor);
      if (path_.size() == size_before) {
        path_.pop_back();
        sorted_.push_back(std::move(visited));
      } else if (is_repeated) { // its dependencies have not come first
        throw std::logic_error{concat("a pass made a cycle through ", visited->description())};
      }
    }
  }

private:
  void follow(const node& dependency) {
    auto index = static_cast<size_t>(dependency.id());
    if (unsorted_[index])
      path_.push_back(index);
  }

  std::vector<std::unique_ptr<node>>& unsorted_;
  std::vector<std::unique_ptr<node>>& sorted_;
  std::vector<size_t> path_;
  std::vector<bool> on_path_;
};

} // namespace

void rewriter::finish() {
  if (!changed_)
    return;
  for (auto*& target : step_.targets)
    target = replacement_of({target, 0}).node;
  std::vector<bool> needed(graph_.nodes_.size(), false);
  std::vector<node*> pending;
  auto require = [&](node* node) {
    if (!needed[index(*node)]) {
      needed[index(*node)] = true;
      pending.push_back(node);
    }
  };
  for (const auto& node : graph_.nodes_)
    if (is_root(*node) && !is_replaced(*node))
      require(node.get());
  for (auto* target : step_.targets)
    require(target);
  while (!pending.empty()) {
    auto* visited = pending.back();
    pending.pop_back();
    refresh(*visited);
    for (const auto& input : visited->inputs_)
      require(input.node);
    for (auto* predecessor : visited->controls_)
      require(predecessor);
  }
  // A new node moves to the position of the node that it replaces, or else directly before the
  // first node that depends on it. All other nodes keep their order.
  std::vector<std::unique_ptr<node>> unsorted;
  unsorted.swap(graph_.nodes_);
  dependency_order order{unsorted, graph_.nodes_};
  for (size_t i = 0; i < unsorted.size(); ++i)
    if (needed[i])
      order.append(i);
    else if (auto replacement = replacements_[i].node; replacement && needed[index(*replacement)])
      order.append(index(*replacement));
  for (size_t i = 0; i < graph_.nodes_.size(); ++i)
    graph_.nodes_[i]->id_ = static_cast<int>(i);
  for (const auto& dead : unsorted)
    if (dead)
      if (auto named = graph_.by_name_.find(dead->name_);
          named != graph_.by_name_.end() && named->second == dead.get())
        graph_.by_name_.erase(named);
  graph_.version_ = troupe::graph::next_version();
}

void rewriter::set_device(node& target, std::string device) { target.device_ = std::move(device); }

void rewriter::set_default_device(node& target, const std::string& device) {
  auto takes_state = false;
  for (int i = 0; i < static_cast<int>(target.inputs().size()); ++i)
    takes_state = takes_state || target.input_is_ref(i);
  if (target.device().empty() && !takes_state)
    target.device_ = device;
}

void rewriter::set_colocation(node& target, const std::vector<std::string>& groups) {
  target.attrs_.erase(std::string{colocation_attr});
  add_colocation(target.attrs_, groups);
}

void rewriter::set_transfer(node& target, f32_transfer transfer) {
  if (std::ranges::find(target.types_, dtype::f32) != target.types_.end())
    target.attrs_.emplace(std::string{transfer_attr}, std::string{to_string(transfer)});
}

void rewriter::redirect(node& target, int input, edge source) {
  target.inputs_[static_cast<size_t>(input)] = source;
}

status rewriter::change_functions(node& target,
                                  const std::function<status(function_value&)>& change) {
  for (auto& [name, value] : target.attrs_) {
    if (auto* single_value = value.get_if<function_value>()) {
      auto changed = *single_value;
      TROUPE_TRY(with_node_context(target, change(changed)));
      value = std::move(changed);
    } else if (auto* values = value.get_if<std::vector<function_value>>()) {
      auto changed = *values;
      for (auto& item : changed)
        TROUPE_TRY(with_node_context(target, change(item)));
      value = std::move(changed);
    }
  }
  return {};
}

void rewriter::reorder(troupe::graph& target, std::span<node* const> order) {
  std::vector<std::unique_ptr<node>> sorted(target.nodes_.size());
  for (size_t i = 0; i < order.size(); ++i)
    sorted[i] = std::move(target.nodes_[index(*order[i])]);
  target.nodes_ = std::move(sorted);
  for (size_t i = 0; i < target.nodes_.size(); ++i)
    target.nodes_[i]->id_ = static_cast<int>(i);
  target.version_ = troupe::graph::next_version();
}

} // namespace troupe
