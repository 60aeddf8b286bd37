#include "troupe/runtime/graph/graph.hpp"

#include "troupe/runtime/device/preferred_device.hpp"
#include "troupe/runtime/graph/function.hpp"
#include "troupe/runtime/graph/infer.hpp"
#include "troupe/runtime/graph/registry.hpp"
#include "troupe/runtime/graph/signature.hpp"
#include "troupe/runtime/types/error.hpp"
#include "troupe/runtime/types/printable.hpp"
#include "troupe/runtime/types/source_line.hpp"

#include <algorithm>
#include <atomic>
#include <ostream>
#include <sstream>

namespace troupe {
namespace {

// TensorFlow's rule, so that graphs can be exchanged; names that begin with _ are the runtime's
// own.
bool valid_name(std::string_view name, bool internal) {
  auto alnum = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
  };
  auto inner = [&](char c) {
    return alnum(c) || c == '_' || c == '.' || c == '\\' || c == '/' || c == '-' || c == '>';
  };
  return !name.empty() && (alnum(name[0]) || name[0] == '.' || (name[0] == '_' && internal)) &&
         std::ranges::all_of(name, inner);
}

// Stands for the location of a node whose own is no line of the program: a program adds nodes in
// the order of its lines, as a rule.
std::string line_before(const std::vector<std::unique_ptr<node>>& nodes) {
  auto last = std::find_if(nodes.rbegin(), nodes.rend(),
                           [](const auto& each) { return has_user_line(each->where()); });
  return last == nodes.rend() ? std::string{} : concat("after ", to_string((*last)->where()));
}

void throw_if_none_open(size_t scopes, const char* kind) {
  if (scopes == 0)
    throw error{
        failure(error_kind::failed_precondition, "no ", kind, " scope is open to be ended")};
}

} // namespace

// Unique in this process: a graph is not taken for another one that stood at its address before.
uint64_t graph::next_version() {
  static std::atomic<uint64_t> last{0};
  return last.fetch_add(1, std::memory_order_relaxed) + 1;
}

dtype edge::type() const {
  if (!node)
    throw error{invalid("an edge to nothing has no type")};
  return node->output_type(index);
}

const partial_shape& edge::dims() const {
  if (!node)
    throw error{invalid("an edge to nothing has no shape")};
  return node->output_shape(index);
}

std::string edge::name() const {
  if (!node)
    return "nothing";
  return index == 0 ? node->name() : concat(node->name(), ':', index);
}

bool edge::exists() const noexcept { return node && index >= 0 && index < node->outputs(); }

std::ostream& operator<<(std::ostream& out, const edge& what) { return out << what.name(); }

bool node::output_is_ref(int i) const { return output_ports_[output_place(i)]->ref; }

bool node::input_is_ref(int i) const { return input_ports_[input_place(i)]->ref; }

const std::string& variable_handle::name() const {
  if (!ref)
    throw error{invalid("a handle of no variable has no name")};
  return ref.node->name();
}

std::string node::description() const {
  auto where = where_text_.empty() ? to_string(where_) : where_text_;
  return concat(op_->name, " '", name_, "' (", where, ')');
}

status within(const node& which, status why) {
  if (why.ok()) // on the way of every step that replays
    return why;
  return std::move(why).about(which.op().name, which.name()).within(which.description());
}

void graph::set_origin(node& of, std::string_view where) { of.where_text_ = printable(where); }

void graph::choose_seeds(node_spec& spec) const {
  auto unset = [&](const char* name) {
    auto it = spec.attrs.find(name);
    if (it == spec.attrs.end())
      return true;
    auto* value = it->second.get_if<int64_t>();
    return value && *value == 0;
  };
  if (!random_seed_ || !unset("seed") || !unset("seed2"))
    return;
  if (auto op = ops_->find_op(spec.op); op && (*op)->find_attr("seed2")) {
    spec.attrs["seed"] = *random_seed_;
    spec.attrs["seed2"] = first_seed2_ + static_cast<int64_t>(nodes_.size());
  }
}

void graph::begin_recompute() {
  if (open_recomputes_++ == 0)
    recomputed_.push_back({nodes_.size(), nodes_.size()});
}

void graph::end_recompute() noexcept {
  if (open_recomputes_ > 0 && --open_recomputes_ == 0)
    recomputed_.back().end = nodes_.size();
}

std::vector<std::vector<node*>> graph::recomputed_parts() const {
  std::vector<std::vector<node*>> parts;
  for (const auto& [first, end] : recomputed_) {
    auto& part = parts.emplace_back();
    for (size_t i = first; i < end; ++i)
      part.push_back(nodes_[i].get());
  }
  return parts;
}

void graph::begin_function(graph& body) {
  inner_ = &body;
  body.random_seed_ = random_seed_;
  // Mixed, because functions lie within functions.
  constexpr uint64_t factor = 0x9e3779b97f4a7c15u;
  auto far =
      (static_cast<uint64_t>(first_seed2_) + static_cast<uint64_t>(++functions_begun_)) * factor;
  body.first_seed2_ = static_cast<int64_t>(far >> 1);
}

result<edge> graph::own(edge from) {
  if (!from)
    return invalid("an edge to nothing is of no graph");
  return &from.node->graph() == this ? result<edge>{from} : bring_in(from);
}

result<edge> graph::bring_in(edge from) {
  return invalid("input '", from, "' belongs to another graph");
}

bool graph::reaches(const node& what) const noexcept { return what.graph_ == this; }

status graph::come_after(node&) { return invalid("a control input belongs to another graph"); }

result<node*> graph::add(node_spec spec) {
  if (!inner_)
    return add_here(std::move(spec));
  if (auto op = ops_->find_op(spec.op); op && outlives_steps(**op))
    return invalid("a ", to_string((*op)->makes),
                   " lives longer than a call: make it outside of the function, and use it there")
        .about(spec.op, spec.name)
        .within(concat(spec.op, " '", spec.name, "' (", to_string(spec.where), ')'));
  return inner_->stays_around(spec) ? add_here(std::move(spec)) : inner_->add(std::move(spec));
}

result<node*> graph::add_before(node& later, node_spec spec) {
  if (later.graph_ != this)
    return invalid(later.description(), " is of another graph");
  // What comes before a node cannot wait for others behind it.
  auto scopes = std::exchange(control_scopes_, {});
  auto added = add_here(std::move(spec));
  control_scopes_ = std::move(scopes);
  TROUPE_ASSIGN(auto* made, std::move(added));
  auto first = nodes_.begin() + later.id_;
  std::rotate(first, nodes_.end() - 1, nodes_.end());
  for (auto it = first; it != nodes_.end(); ++it)
    (*it)->id_ = static_cast<int>(it - nodes_.begin());
  for (auto& part : recomputed_) {
    part.first += part.first > made->index();
    part.end += part.end > made->index();
  }
  return made;
}

status graph::widen(node& which, const std::vector<edge>& further, attr_map attrs) {
  if (which.graph_ != this)
    return invalid(which.description(), " is of another graph");
  for (const auto& [name, value] : which.attrs_) {
    const auto* attr = which.op_->find_attr(name); // none of what nodes of any op may have
    if (!attr || (attr->kind != attr_kind::types && attr->kind != attr_kind::shapes))
      attrs.emplace(name, value);
  }
  auto inputs = which.inputs_;
  inputs.insert(inputs.end(), further.begin(), further.end());
  TROUPE_ASSIGN(auto matched, match_signature(*which.op_, inputs, std::move(attrs)));
  if (!std::ranges::equal(which.types_, std::span{matched.output_types}.first(std::min(
                                            which.types_.size(), matched.output_types.size()))))
    return failure(error_kind::internal, which.description(), ": its outputs changed their types");
  which.attrs_ = std::move(matched.attrs);
  which.inputs_ = std::move(inputs);
  which.types_ = std::move(matched.output_types);
  which.input_ports_ = std::move(matched.input_ports);
  which.output_ports_ = std::move(matched.output_ports);
  version_ = next_version();
  auto inferred = which.op_->infer(infer_context{which});
  if (!inferred)
    return inferred.status().within(which.description());
  which.shapes_ = *std::move(inferred);
  return {};
}

result<node*> graph::add_here(node_spec spec) {
  choose_seeds(spec);
  auto origin = has_user_line(spec.where) ? std::string{} : line_before(nodes_);
  auto context = [&](const std::string& name) {
    return concat(spec.op, " '", name, "' (", origin.empty() ? to_string(spec.where) : origin, ')');
  };
  auto name = name_for(spec);
  if (!name)
    return name.status().about(spec.op, spec.name).within(context(spec.name));
  auto op = ops_->find_op(spec.op);
  if (!op)
    return op.status().about(spec.op, *name).within(context(*name));
  for (auto& input : spec.inputs) {
    if (input && &input.node->graph() != this) {
      auto brought = bring_in(input);
      if (!brought)
        return brought.status().about(spec.op, *name).within(context(*name));
      input = *brought;
    }
    if (input && !input.exists())
      return invalid("there is no output '", input, "', ", input.node->description(), " has ",
                     input.node->outputs())
          .about(spec.op, *name)
          .within(context(*name));
  }
  auto matched = match_signature(**op, spec.inputs, std::move(spec.attrs));
  if (!matched)
    return matched.status().about(spec.op, *name).within(context(*name));

  auto made = std::make_unique<node>();
  made->id_ = static_cast<int>(nodes_.size());
  made->name_ = *name;
  made->op_ = *op;
  made->attrs_ = std::move(matched->attrs);
  made->inputs_ = std::move(spec.inputs);
  made->where_ = spec.where;
  made->where_text_ = std::move(origin);
  made->graph_ = this;
  made->types_ = std::move(matched->output_types);
  made->input_ports_ = std::move(matched->input_ports);
  made->output_ports_ = std::move(matched->output_ports);
  made->device_ =
      device_in_scope(std::move(spec.device), devices_.empty() ? std::string{} : devices_.back());
  made->controls_ = std::move(spec.controls);
  for (const auto& scope : control_scopes_)
    made->controls_.insert(made->controls_.end(), scope.begin(), scope.end());
  for (auto*& before : made->controls_) {
    if (before && before->graph_ == this)
      continue;
    auto waits = before ? come_after(*before) : invalid("a control input is no node");
    if (!waits)
      return std::move(waits).about(spec.op, *name).within(context(*name));
    before = nullptr;
  }
  std::erase(made->controls_, nullptr);
  std::ranges::sort(made->controls_, {}, &node::id);
  auto twice = std::ranges::unique(made->controls_);
  made->controls_.erase(twice.begin(), twice.end());

  if ((*op)->infer) {
    auto inferred = (*op)->infer(infer_context{*made});
    if (!inferred)
      return inferred.status().about(spec.op, *name).within(context(*name));
    made->shapes_ = *std::move(inferred);
    if ((*op)->outputs.empty())
      made->shapes_.clear();
  }
  if (made->shapes_.size() != made->types_.size())
    return failure(error_kind::internal, "its shape function gave ", made->shapes_.size(),
                   " shapes for ", made->types_.size(), " outputs")
        .about(spec.op, *name)
        .within(context(*name));
  for (size_t i = 0; i < made->shapes_.size(); ++i)
    if (auto valid = partial_shape::make(made->shapes_[i].extents()); !valid)
      return valid.status()
          .about(spec.op, *name)
          .within(concat(context(*name), ": output ", i, " would have shape ", made->shapes_[i]));
  auto* added = made.get();
  by_name_.emplace(added->name_, added);
  nodes_.push_back(std::move(made));
  version_ = next_version();
  return added;
}

node* graph::add_copy(const node& like, std::vector<edge> inputs, std::vector<node*> controls) {
  return add_copy(like, like.name(), std::move(inputs), std::move(controls));
}

node* graph::add_copy(const node& like, std::string name, std::vector<edge> inputs,
                      std::vector<node*> controls) {
  auto made = std::make_unique<node>(like);
  made->id_ = static_cast<int>(nodes_.size());
  made->name_ = std::move(name);
  made->inputs_ = std::move(inputs);
  made->controls_ = std::move(controls);
  made->graph_ = this;
  auto* added = made.get();
  by_name_.emplace(added->name_, added);
  nodes_.push_back(std::move(made));
  version_ = next_version();
  return added;
}

status graph::add_control(node& before, node& after) {
  if (inner_)
    return inner_->add_control(before, after);
  if (before.graph_ != this || after.graph_ != this)
    return invalid("a control edge must stay within one graph");
  if (std::ranges::find(after.controls_, &before) == after.controls_.end()) {
    after.controls_.push_back(&before);
    version_ = next_version();
  }
  return {};
}

node* graph::find(std::string_view name) const noexcept {
  auto it = by_name_.find(std::string{name});
  return it == by_name_.end() ? nullptr : it->second;
}

result<edge> graph::find_edge(std::string_view name) const {
  int index = 0;
  auto node_name = name;
  if (auto colon = name.rfind(':'); colon != name.npos) {
    node_name = name.substr(0, colon);
    auto digits = name.substr(colon + 1);
    auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
    if (digits.empty() || digits.size() > 6 || !std::ranges::all_of(digits, is_digit))
      return invalid("'", name, "' does not name an output; write 'node' or 'node:1'");
    for (char digit : digits)
      index = index * 10 + (digit - '0');
  }
  auto* found = find(node_name);
  if (!found) {
    std::vector<std::string_view> names;
    for (const auto& one : nodes_)
      names.push_back(one->name());
    return failure(error_kind::not_found, "the graph has no node '", node_name, "'",
                   did_you_mean(node_name, names));
  }
  if (index >= found->outputs())
    return failure(error_kind::not_found, found->description(), " has ", found->outputs(),
                   " outputs, there is no '", name, "'");
  return edge{found, index};
}

std::string graph::unique(const std::string& name) const {
  if (!by_name_.contains(name) && !scope_names_.contains(name))
    return name;
  for (auto& next = next_suffix_[name];;) {
    auto candidate = concat(name, '_', ++next);
    if (!by_name_.contains(candidate) && !scope_names_.contains(candidate))
      return candidate;
  }
}

result<std::string> graph::name_for(const node_spec& spec) const {
  auto full = scope_ + (spec.name.empty() ? spec.op : spec.name);
  if (!valid_name(full, spec.op.starts_with('_')))
    return invalid("'", full, "' is no name: letters, digits and _ . / - only, not first _ / or -");
  if (spec.name.empty())
    return unique(full);
  if (auto* first = find(full))
    return failure(error_kind::already_exists, "the name '", full, "' is used already by ",
                   first->description());
  return full;
}

void graph::push_scope(std::string_view name) {
  if (inner_)
    return inner_->push_scope(name);
  scopes_.push_back(scope_);
  auto full = unique(concat(scope_, name));
  scope_names_.insert(full);
  scope_ = full + '/';
}

void graph::pop_scope() {
  if (inner_)
    return inner_->pop_scope();
  throw_if_none_open(scopes_.size(), "name");
  scope_ = std::move(scopes_.back());
  scopes_.pop_back();
}

size_t graph::depth(scope_kind of) const noexcept {
  if (inner_)
    return inner_->depth(of);
  switch (of) {
    case scope_kind::name: return scopes_.size();
    case scope_kind::device: return devices_.size();
    case scope_kind::controls: return control_scopes_.size();
  }
  return 0;
}

void graph::push_device(std::string device) {
  if (inner_)
    return inner_->push_device(std::move(device));
  devices_.push_back(std::move(device));
}

void graph::push_controls(std::vector<node*> before) {
  if (inner_)
    return inner_->push_controls(std::move(before));
  control_scopes_.push_back(std::move(before));
}

void graph::pop_device() {
  if (inner_)
    return inner_->pop_device();
  throw_if_none_open(devices_.size(), "device");
  devices_.pop_back();
}

void graph::pop_controls() {
  if (inner_)
    return inner_->pop_controls();
  throw_if_none_open(control_scopes_.size(), "control");
  control_scopes_.pop_back();
}

edge graph::add_or_note(node_spec spec) {
  for (const auto& input : spec.inputs)
    if (!input)
      return {}; // what broke this input is noted already
  auto made = add(std::move(spec));
  if (made)
    return (*made)->output(0);
  note(made.status());
  return {};
}

void graph::note(status error) {
  if (noted_.ok())
    noted_ = std::move(error);
}

std::string describe(const graph& of) {
  std::ostringstream out;
  for (const auto& node : of.nodes()) {
    out << node->name() << " = " << node->op().name << '(';
    const char* between = "";
    for (const auto& input : node->inputs()) {
      out << between << input;
      between = ", ";
    }
    for (auto* before : node->controls()) {
      out << between << '^' << before->name();
      between = ", ";
    }
    out << ')';
    for (int i = 0; i < node->outputs(); ++i)
      out << ' ' << node->output_type(i) << node->output_shape(i);
    if (auto* value = constant_value({node.get(), 0}); value && value->elements() <= 8)
      out << " = " << *value;
    out << '\n';
  }
  return std::move(out).str();
}

const tensor* constant_value(edge of) noexcept {
  if (!of || of.index != 0 || !of.node->inputs().empty() ||
      has(of.node->op().effects, effect::stateful))
    return nullptr;
  auto it = of.node->attrs().find("value");
  return it == of.node->attrs().end() ? nullptr : it->second.get_if<tensor>();
}

const node* resource_behind(edge at) noexcept {
  while (at && at.node->op().makes == resource::none) {
    if (runs_functions(at.node->op())) {
      auto argument = handed_on(at.node->op(), at.node->attrs(), static_cast<size_t>(at.index));
      auto input = static_cast<size_t>(argument + first_argument(at.node->op()));
      at = argument >= 0 && input < at.node->inputs().size() ? at.node->inputs()[input] : edge{};
      continue;
    }
    // An op with a ref output hands on its first ref input, as Assign does.
    size_t i = 0;
    const auto& inputs = at.node->inputs();
    while (i < inputs.size() && !at.node->input_is_ref(static_cast<int>(i)))
      ++i;
    at = i < inputs.size() ? inputs[i] : edge{};
  }
  return at.node;
}

result<std::vector<node*>> topological_order(const graph& of) {
  enum class mark : uint8_t { fresh, open, done };
  std::vector<mark> marks(of.nodes().size(), mark::fresh);
  std::vector<node*> order;
  order.reserve(of.nodes().size());
  std::vector<std::pair<node*, size_t>>
      path; // a node and how many of its predecessors were visited
  auto predecessor = [](node* n, size_t i) -> node* {
    if (i < n->inputs().size())
      return n->inputs()[i].node;
    i -= n->inputs().size();
    return i < n->controls().size() ? n->controls()[i] : nullptr;
  };
  for (const auto& start : of.nodes()) {
    if (marks[static_cast<size_t>(start->id())] != mark::fresh)
      continue;
    path.emplace_back(start.get(), 0);
    marks[static_cast<size_t>(start->id())] = mark::open;
    while (!path.empty()) {
      auto [at, next] = path.back();
      auto* before = predecessor(at, next);
      if (!before) {
        marks[static_cast<size_t>(at->id())] = mark::done;
        order.push_back(at);
        path.pop_back();
        continue;
      }
      ++path.back().second;
      auto& its_mark = marks[static_cast<size_t>(before->id())];
      if (its_mark == mark::fresh) {
        its_mark = mark::open;
        path.emplace_back(before, 0);
      } else if (its_mark == mark::open) {
        std::ostringstream names;
        auto from = std::ranges::find(path, before, &std::pair<node*, size_t>::first);
        for (auto it = path.rbegin(); it.base() != from; ++it)
          names << '\'' << it->first->name() << "' -> ";
        return invalid(before->description(), ": a cycle without a loop: ", std::move(names).str(),
                       '\'', path.back().first->name(), "'");
      }
    }
  }
  return order;
}

} // namespace troupe
