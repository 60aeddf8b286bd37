#include "troupe/runtime/graph/accesses.hpp"
#include "troupe/runtime/graph/internal_ops.hpp"
#include "troupe/runtime/graph/op.hpp"
#include "troupe/runtime/passes/passes.hpp"
#include "troupe/runtime/passes/rewriter.hpp"

#include <algorithm>
#include <map>
#include <set>

namespace troupe {
namespace {

constexpr auto impure = effect::stateful | effect::random | effect::blocking | effect::fed;

// The type attribute of a node's f32 data that may as well be `type`; empty where there is none.
std::string_view data_attr(const node& node, dtype type) {
  if (has(node.op().effects, impure) || node.op().makes != resource::none)
    return {};
  for (int i = 0; i < static_cast<int>(node.inputs().size()); ++i) {
    if (node.input_is_ref(i))
      return {};
    if (node.inputs()[static_cast<size_t>(i)].type() != dtype::f32)
      continue;
    const auto* found = node.op().find_attr(node.input_port(i).type);
    bool good = found && found->kind == attr_kind::type && found->allowed.contains(type);
    return good ? found->name : std::string_view{};
  }
  return {};
}

// A node's part in this: decided for all before any is changed.
struct part {
  std::string_view attr;     // of its data; empty: stays as it is
  std::vector<bool> outputs; // which are such data
  bool reached = false;      // is given 16 bits, or makes them
  bool wanted = false;       // has readers that want them, or wants them itself

  bool chosen() const { return reached && wanted; }
};

class precision_mixer {
public:
  precision_mixer(step_graph& of, dtype type) : change_(of), type_(type) {}

  void run() {
    choose();
    find_updates();
    for (auto* node : change_.nodes()) {
      change_.refresh(*node);
      for (const auto& access : accesses_of(*node))
        if (access.updates)
          reads_.erase(access.state);
      if (part_of(*node).chosen())
        convert(*node);
      else if (has(node->op().effects, effect::of_shape))
        look_at_narrow(*node);
    }
    change_.finish();
  }

private:
  part& part_of(const node& node) { return parts_[static_cast<size_t>(node.id())]; }

  bool is_data(const node& node, size_t input) {
    return node.input_port(static_cast<int>(input)).type == part_of(node).attr;
  }
  bool is_data(const edge& from) {
    const auto& outputs = part_of(*from.node).outputs;
    return static_cast<size_t>(from.index) < outputs.size() &&
           outputs[static_cast<size_t>(from.index)];
  }

  // What keeps 16 bits has them where it lies between nodes that are worth them.
  void choose() {
    parts_.resize(change_.nodes().size());
    for (auto* node : change_.nodes()) {
      auto& of = part_of(*node);
      if (!has(node->op().effects, effect::autocast_allow | effect::autocast_infer))
        continue;
      of.attr = data_attr(*node, type_);
      if (of.attr.empty())
        continue;
      for (const auto& port : node->op().outputs) {
        auto count = port.count.empty() ? 1 : node->attr<int64_t>(port.count);
        of.outputs.insert(of.outputs.end(), static_cast<size_t>(count), port.type == of.attr);
      }
      of.reached = of.wanted = has(node->op().effects, effect::autocast_allow);
      for (size_t i = 0; i < node->inputs().size(); ++i)
        of.reached = of.reached || (is_data(*node, i) && part_of(*node->inputs()[i].node).reached &&
                                    is_data(node->inputs()[i]));
    }
    for (size_t next = change_.nodes().size(); next-- > 0;) {
      auto* at = change_.nodes()[next];
      if (part_of(*at).chosen())
        for (size_t i = 0; i < at->inputs().size(); ++i)
          if (is_data(*at, i) && is_data(at->inputs()[i]))
            part_of(*at->inputs()[i].node).wanted = true;
    }
  }

  // Who comes after an update of a variable that is to be cast.
  void find_updates() {
    const update_order updates{change_.graph()};
    for (auto* node : change_.nodes())
      if (part_of(*node).chosen())
        for (const auto& access : accesses_of(*node))
          if (updates.seen_by(*node, *access.state) != update_order::none)
            sees_update_.emplace(node, access.state);
  }

  void convert(node& node) {
    const auto& of = part_of(node);
    auto inputs = node.inputs();
    for (size_t i = 0; i < inputs.size(); ++i)
      if (is_data(node, i)) {
        inputs[i] = narrow(inputs[i], node);
        if (!inputs[i])
          return;
      }
    auto* made = rebuilt(node, std::move(inputs), of.attr);
    if (!made)
      return;
    std::vector<edge> by;
    for (int i = 0; i < node.outputs(); ++i) {
      auto one = made->output(i);
      if (one.type() != node.output_type(i)) {
        auto wide = cast({&node, i}, one, dtype::f32, node, {});
        if (!wide)
          return;
        narrow_[wide.node] = one;
        one = wide;
      }
      by.push_back(one);
    }
    change_.merge(node, by);
    change_.take_name(*made, node);
  }

  // Who asks for shapes only is no reason to widen anything.
  void look_at_narrow(node& node) {
    auto attr = data_attr(node, type_);
    if (attr.empty())
      return;
    for (int i = 0; i < node.outputs(); ++i)
      if (floating.contains(node.output_type(i)))
        return;
    auto inputs = node.inputs();
    for (size_t i = 0; i < inputs.size(); ++i)
      if (node.input_port(static_cast<int>(i)).type == attr) {
        auto known = narrow_.find(inputs[i].node);
        if (known == narrow_.end())
          return;
        inputs[i] = known->second;
      }
    if (auto* made = rebuilt(node, std::move(inputs), attr)) {
      change_.merge(node, *made);
      change_.take_name(*made, node);
    }
  }

  // The same node over other inputs; nullptr where its op does not take them after all.
  node* rebuilt(const node& node, std::vector<edge> inputs, std::string_view without) {
    auto attrs = node.attrs();
    attrs.erase(std::string{without});
    auto made = change_.add({.op = std::string{node.op().name},
                             .inputs = std::move(inputs),
                             .attrs = std::move(attrs),
                             .controls = node.controls()},
                            node);
    return made ? *made : nullptr;
  }

  // The value in 16 bits, for that reader.
  edge narrow(const edge& value, const node& reader) {
    if (auto known = narrow_.find(value.node); known != narrow_.end())
      return known->second;
    const auto& like = internal_ops::is_boundary(*value.node) ? reader : *value.node;
    if (!value.node->output_is_ref(value.index)) {
      auto& made = casts_[{value.node, value.index, like.device()}];
      if (!made)
        made = cast(value, value, type_, like, {});
      return made;
    }
    // A variable must be read when its reader would have read it.
    if (!sees_update_.contains({&reader, resource_behind(value)})) {
      auto& made = reads_[resource_behind(value)][{value.node, value.index, like.device()}];
      if (!made)
        made = cast(value, value, type_, like, {});
      return made;
    }
    auto after = reader.controls();
    for (const auto& input : reader.inputs())
      if (input.node != value.node)
        after.push_back(input.node);
    std::ranges::sort(after);
    auto twice = std::ranges::unique(after);
    after.erase(twice.begin(), twice.end());
    return cast(value, value, type_, like, std::move(after));
  }

  // Called after the value that the user knows.
  edge cast(const edge& known_as, const edge& value, dtype to, const node& like,
            std::vector<node*> after) {
    auto name = known_as.node->name();
    if (internal_ops::is_boundary(*known_as.node))
      name = name.substr(name.find('/') + 1);
    if (known_as.index > 0)
      name += concat('_', known_as.index);
    name += concat('/', to);
    if (change_.graph().find(name))
      name.clear();
    auto made = change_.add({.op = "Cast",
                             .name = std::move(name),
                             .inputs = {value},
                             .attrs = {{"DstT", to}},
                             .controls = std::move(after)},
                            like);
    return made ? (*made)->output(0) : edge{};
  }

  using place = std::tuple<const node*, int, std::string>; // an edge, on a device

  rewriter change_;
  dtype type_;
  std::set<std::pair<const node*, const node*>> sees_update_; // a reader, and of which variable
  std::vector<part> parts_;                                   // by id, of the nodes from before
  std::map<const node*, edge> narrow_;                        // what a cast to f32 was made from
  std::map<place, edge> casts_;                               // to 16 bits
  // The same of variables, by variable: what was read since its last update.
  std::map<const node*, std::map<place, edge>> reads_;
};

} // namespace

void mix_precision(step_graph& of, dtype type) { precision_mixer{of, type}.run(); }

} // namespace troupe
