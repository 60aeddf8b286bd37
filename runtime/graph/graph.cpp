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

// TensorFlow's rule, so that graphs can be exchanged. Names that begin with _ are reserved for the
// runtime.
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

// Returns a substitute location for a node whose own location is no line of the program: the line
// of the last node with a location, because programs mostly add nodes in the order of their lines.
std::string line_of_last_node(const std::vector<std::unique_ptr<node>>& nodes) {
  auto last_added = std::find_if(nodes.rbegin(), nodes.rend(),
                                 [](const auto& added) { return has_user_line(added->where()); });
  return last_added == nodes.rend() ? std::string{}
                                    : concat("after ", to_string((*last_added)->where()));
}

void throw_if_none_open(size_t scopes, const char* kind) {
  if (scopes == 0)
    throw error{failure(error_kind::failed_precondition, "no ", kind, " scope is open")};
}

} // namespace

// Unique in this process, so that a graph is not mistaken for an earlier graph at the same address.
uint64_t graph::next_version() {
  static std::atomic<uint64_t> last{0};
  return last.fetch_add(1, std::memory_order_relaxed) + 1;
}

dtype edge::type() const {
  if (!node)
    throw error{invalid("an empty edge has no type")};
  return node->output_type(index);
}

const partial_shape& edge::dims() const {
  if (!node)
    throw error{invalid("an empty edge has no shape")};
  return node->output_shape(index);
}

std::string edge::name() const {
  if (!node)
    return "nothing";
  return index == 0 ? node->name() : concat(node->name(), ':', index);
}

bool edge::exists() const noexcept { return node && index >= 0 && index < node->outputs(); }

std::ostream& operator<<(std::ostream& out, const edge& source) { return out << source.name(); }

bool node::output_is_ref(int i) const { return output_ports_[output_index(i)]->ref; }

bool node::input_is_ref(int i) const { return input_ports_[input_index(i)]->ref; }

const std::string& variable_handle::name() const {
  if (!ref)
    throw error{invalid("an empty variable handle has no name")};
  return ref.node->name();
}

std::string node::description() const {
  auto where = where_text_.empty() ? to_string(where_) : where_text_;
  return concat(op_->name, " '", name_, "' (", where, ')');
}

status with_node_context(const node& failed_node, status reason) {
  if (reason.ok()) // on the path of every step that replays
    return reason;
  return std::move(reason)
      .with_origin(failed_node.op().name, failed_node.name())
      .with_context(failed_node.description());
}

void graph::set_origin(node& target, std::string_view where) {
  target.where_text_ = printable(where);
}

void graph::choose_seeds(node_spec& spec) const {
  auto is_unset = [&](const char* name) {
    auto found_attr = spec.attrs.find(name);
    if (found_attr == spec.attrs.end())
      return true;
    auto* value = found_attr->second.get_if<int64_t>();
    return value && *value == 0;
  };
  if (!random_seed_ || !is_unset("seed") || !is_unset("seed2"))
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
  // A hash spreads the ranges, because functions are nested.
  constexpr uint64_t factor = 0x9e3779b97f4a7c15u;
  auto first_seed =
      (static_cast<uint64_t>(first_seed2_) + static_cast<uint64_t>(++functions_begun_)) * factor;
  body.first_seed2_ = static_cast<int64_t>(first_seed >> 1);
}

result<edge> graph::localize(edge source) {
  if (!source)
    return invalid("an empty edge belongs to no graph");
  return &source.node->graph() == this ? result<edge>{source} : import_edge(source);
}

result<edge> graph::import_edge(edge source) {
  return invalid("input '", source, "' belongs to another graph");
}

bool graph::is_in_scope(const node& target) const noexcept { return target.graph_ == this; }

status graph::run_after(node&) { return invalid("a control input belongs to another graph"); }

result<node*> graph::add(node_spec spec) {
  if (!inner_)
    return add_here(std::move(spec));
  if (auto op = ops_->find_op(spec.op); op && outlives_steps(**op))
    return invalid("a ", to_string((*op)->state_kind),
                   " outlives a call: create it outside of the function and use it inside")
        .with_origin(spec.op, spec.name)
        .with_context(concat(spec.op, " '", spec.name, "' (", to_string(spec.where), ')'));
  return inner_->keeps_in_outer_graph(spec) ? add_here(std::move(spec))
                                            : inner_->add(std::move(spec));
}

result<node*> graph::add_before(node& later, node_spec spec) {
  if (later.graph_ != this)
    return invalid(later.description(), " belongs to another graph");
  // A node placed before another cannot have control inputs that come after it.
  auto scopes = std::exchange(control_scopes_, {});
  auto added = add_here(std::move(spec));
  control_scopes_ = std::move(scopes);
  TROUPE_ASSIGN(auto* new_node, std::move(added));
  auto position = nodes_.begin() + later.id_;
  std::rotate(position, nodes_.end() - 1, nodes_.end());
  for (auto shifted = position; shifted != nodes_.end(); ++shifted)
    (*shifted)->id_ = static_cast<int>(shifted - nodes_.begin());
  for (auto& part : recomputed_) {
    part.first += part.first > new_node->index();
    part.end += part.end > new_node->index();
  }
  return new_node;
}

status graph::widen(node& target, const std::vector<edge>& new_inputs, attr_map attrs) {
  if (target.graph_ != this)
    return invalid(target.description(), " belongs to another graph");
  for (const auto& [name, value] : target.attrs_) {
    const auto* attr = target.op_->find_attr(name); // null for attributes that any op may have
    if (!attr || (attr->kind != attr_kind::types && attr->kind != attr_kind::shapes))
      attrs.emplace(name, value);
  }
  auto inputs = target.inputs_;
  inputs.insert(inputs.end(), new_inputs.begin(), new_inputs.end());
  TROUPE_ASSIGN(auto matched, match_signature(*target.op_, inputs, std::move(attrs)));
  if (!std::ranges::equal(target.types_, std::span{matched.output_types}.first(std::min(
                                             target.types_.size(), matched.output_types.size()))))
    return failure(error_kind::internal, target.description(), ": its outputs changed their types");
  target.attrs_ = std::move(matched.attrs);
  target.inputs_ = std::move(inputs);
  target.types_ = std::move(matched.output_types);
  target.input_ports_ = std::move(matched.input_ports);
  target.output_ports_ = std::move(matched.output_ports);
  version_ = next_version();
  auto inferred = target.op_->infer(infer_context{target});
  if (!inferred)
    return inferred.status().with_context(target.description());
  target.shapes_ = *std::move(inferred);
  return {};
}

// Makes a node of a graph from its description. Errors have no context yet.
class graph::node_maker {
public:
  node_maker(graph& target, node_spec& spec) : target_(target), spec_(spec) {}

  // Moves `origin` into the node.
  result<std::unique_ptr<node>> make(const std::string& name, std::string& origin) {
    TROUPE_ASSIGN(const auto* op, target_.ops_->find_op(spec_.op));
    TROUPE_TRY(import_inputs());
    TROUPE_ASSIGN(auto matched, match_signature(*op, spec_.inputs, std::move(spec_.attrs)));
    auto new_node = std::make_unique<node>();
    new_node->id_ = static_cast<int>(target_.nodes_.size());
    new_node->name_ = name;
    new_node->op_ = op;
    new_node->attrs_ = std::move(matched.attrs);
    new_node->inputs_ = std::move(spec_.inputs);
    new_node->where_ = spec_.where;
    new_node->where_text_ = std::move(origin);
    new_node->graph_ = &target_;
    new_node->types_ = std::move(matched.output_types);
    new_node->input_ports_ = std::move(matched.input_ports);
    new_node->output_ports_ = std::move(matched.output_ports);
    new_node->device_ =
        device_in_scope(std::move(spec_.device),
                        target_.devices_.empty() ? std::string{} : target_.devices_.back());
    new_node->controls_ = std::move(spec_.controls);
    TROUPE_TRY(complete_controls(*new_node));
    TROUPE_TRY(infer_shapes(*new_node));
    return new_node;
  }

private:
  status import_inputs() {
    for (auto& input : spec_.inputs) {
      if (input && &input.node->graph() != &target_) {
        TROUPE_ASSIGN(input, target_.import_edge(input));
      }
      if (input && !input.exists())
        return invalid("there is no output '", input, "', ", input.node->description(), " has ",
                       input.node->outputs());
    }
    return {};
  }

  // Adds the controls of the scopes, replaces those of other graphs, and sorts all.
  status complete_controls(node& new_node) {
    auto& controls = new_node.controls_;
    for (const auto& scope : target_.control_scopes_)
      controls.insert(controls.end(), scope.begin(), scope.end());
    for (auto*& before : controls) {
      if (before && before->graph_ == &target_)
        continue;
      TROUPE_TRY(before ? target_.run_after(*before) : invalid("a control input is no node"));
      before = nullptr;
    }
    std::erase(controls, nullptr);
    std::ranges::sort(controls, {}, &node::id);
    auto duplicates = std::ranges::unique(controls);
    controls.erase(duplicates.begin(), duplicates.end());
    return {};
  }

  static status infer_shapes(node& new_node) {
    if (new_node.op_->infer) {
      TROUPE_ASSIGN(new_node.shapes_, new_node.op_->infer(infer_context{new_node}));
      if (new_node.op_->outputs.empty())
        new_node.shapes_.clear();
    }
    if (new_node.shapes_.size() != new_node.types_.size())
      return failure(error_kind::internal, "its shape function returned ", new_node.shapes_.size(),
                     " shapes for ", new_node.types_.size(), " outputs");
    for (size_t i = 0; i < new_node.shapes_.size(); ++i)
      if (auto checked = partial_shape::make(new_node.shapes_[i].extents()); !checked)
        return checked.status().with_context(
            concat("output ", i, " would have shape ", new_node.shapes_[i]));
    return {};
  }

  graph& target_;
  node_spec& spec_;
};

result<node*> graph::add_here(node_spec spec) {
  choose_seeds(spec);
  auto origin = has_user_line(spec.where) ? std::string{} : line_of_last_node(nodes_);
  auto with_origin = [&](status why, const std::string& name) {
    return std::move(why)
        .with_origin(spec.op, name)
        .with_context(concat(spec.op, " '", name, "' (",
                             origin.empty() ? to_string(spec.where) : origin, ')'));
  };
  auto name = name_for(spec);
  if (!name)
    return with_origin(name.status(), spec.name);
  auto new_node = node_maker{*this, spec}.make(*name, origin);
  if (!new_node)
    return with_origin(new_node.status(), *name);
  auto* added = new_node->get();
  by_name_.emplace(added->name_, added);
  nodes_.push_back(*std::move(new_node));
  version_ = next_version();
  return added;
}

node* graph::add_copy(const node& source, std::vector<edge> inputs, std::vector<node*> controls) {
  return add_copy(source, source.name(), std::move(inputs), std::move(controls));
}

node* graph::add_copy(const node& source, std::string name, std::vector<edge> inputs,
                      std::vector<node*> controls) {
  auto copy = std::make_unique<node>(source);
  copy->id_ = static_cast<int>(nodes_.size());
  copy->name_ = std::move(name);
  copy->inputs_ = std::move(inputs);
  copy->controls_ = std::move(controls);
  copy->graph_ = this;
  auto* added = copy.get();
  by_name_.emplace(added->name_, added);
  nodes_.push_back(std::move(copy));
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
  auto found_node = by_name_.find(std::string{name});
  return found_node == by_name_.end() ? nullptr : found_node->second;
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
  auto* named_node = find(node_name);
  if (!named_node) {
    std::vector<std::string_view> names;
    for (const auto& known : nodes_)
      names.push_back(known->name());
    return failure(error_kind::not_found, "the graph has no node '", node_name, "'",
                   did_you_mean(node_name, names));
  }
  if (index >= named_node->outputs())
    return failure(error_kind::not_found, named_node->description(), " has ", named_node->outputs(),
                   " outputs, there is no '", name, "'");
  return edge{named_node, index};
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
    return invalid(
        "'", full,
        "' is no valid name: only letters, digits and _ . / \\ - > are allowed, and only a "
        "letter, a digit or . at its start");
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

size_t graph::depth(scope_kind kind) const noexcept {
  if (inner_)
    return inner_->depth(kind);
  switch (kind) {
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

edge graph::add_or_record_error(node_spec spec) {
  for (const auto& input : spec.inputs)
    if (!input)
      return {}; // the error that caused this is recorded already
  auto added = add(std::move(spec));
  if (added)
    return (*added)->output(0);
  record_error(added.status());
  return {};
}

void graph::record_error(status error) {
  if (recorded_error_.ok())
    recorded_error_ = std::move(error);
}

std::string describe(const graph& printed) {
  std::ostringstream out;
  for (const auto& node : printed.nodes()) {
    out << node->name() << " = " << node->op().name << '(';
    const char* separator = "";
    for (const auto& input : node->inputs()) {
      out << separator << input;
      separator = ", ";
    }
    for (auto* before : node->controls()) {
      out << separator << '^' << before->name();
      separator = ", ";
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

const tensor* constant_value(edge source) noexcept {
  if (!source || source.index != 0 || !source.node->inputs().empty() ||
      has(source.node->op().effects, effect::stateful))
    return nullptr;
  auto value_attr = source.node->attrs().find("value");
  return value_attr == source.node->attrs().end() ? nullptr : value_attr->second.get_if<tensor>();
}

const node* resource_behind(edge ref) noexcept {
  while (ref && ref.node->op().state_kind == resource::none) {
    if (runs_functions(ref.node->op())) {
      auto argument =
          passed_through(ref.node->op(), ref.node->attrs(), static_cast<size_t>(ref.index));
      auto input = static_cast<size_t>(argument + first_argument(ref.node->op()));
      ref = argument >= 0 && input < ref.node->inputs().size() ? ref.node->inputs()[input] : edge{};
      continue;
    }
    // An op with a ref output passes through its first ref input, as Assign does.
    size_t ref_input = 0;
    const auto& inputs = ref.node->inputs();
    while (ref_input < inputs.size() && !ref.node->input_is_ref(static_cast<int>(ref_input)))
      ++ref_input;
    ref = ref_input < inputs.size() ? inputs[ref_input] : edge{};
  }
  return ref.node;
}

result<std::vector<node*>> topological_order(const graph& source) {
  enum class visit_state : uint8_t { fresh, open, done };
  std::vector<visit_state> states(source.nodes().size(), visit_state::fresh);
  std::vector<node*> order;
  order.reserve(source.nodes().size());
  std::vector<std::pair<node*, size_t>> path; // a node, and its number of visited predecessors
  auto predecessor = [](node* visited, size_t i) -> node* {
    if (i < visited->inputs().size())
      return visited->inputs()[i].node;
    i -= visited->inputs().size();
    return i < visited->controls().size() ? visited->controls()[i] : nullptr;
  };
  for (const auto& start : source.nodes()) {
    if (states[static_cast<size_t>(start->id())] != visit_state::fresh)
      continue;
    path.emplace_back(start.get(), 0);
    states[static_cast<size_t>(start->id())] = visit_state::open;
    while (!path.empty()) {
      auto [current, next] = path.back();
      auto* before = predecessor(current, next);
      if (!before) {
        states[static_cast<size_t>(current->id())] = visit_state::done;
        order.push_back(current);
        path.pop_back();
        continue;
      }
      ++path.back().second;
      auto& state = states[static_cast<size_t>(before->id())];
      if (state == visit_state::fresh) {
        state = visit_state::open;
        path.emplace_back(before, 0);
      } else if (state == visit_state::open) {
        std::ostringstream cycle;
        auto cycle_start = std::ranges::find(path, before, &std::pair<node*, size_t>::first);
        for (auto on_cycle = path.rbegin(); on_cycle.base() != cycle_start; ++on_cycle)
          cycle << '\'' << on_cycle->first->name() << "' -> ";
        return invalid(before->description(), ": a cycle without a loop: ", std::move(cycle).str(),
                       '\'', path.back().first->name(), "'");
      }
    }
  }
  return order;
}

} // namespace troupe
