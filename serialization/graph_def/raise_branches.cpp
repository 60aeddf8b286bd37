#include "troupe/serialization/graph_def/raise_branches.hpp"

#include "troupe/serialization/graph_def/deadness.hpp"

#include <algorithm>
#include <functional>
#include <numeric>

namespace troupe::graph_def {
namespace {

using bits = std::vector<uint64_t>;
constexpr size_t max_words = size_t{1} << 24;

class branch_raiser {
public:
  branch_raiser(flow_graph& graph, int part, const std::set<std::string>* wanted = nullptr)
      : graph_(graph), part_(part), named_(wanted != nullptr), wanted_(wanted) {}

  status run() {
    TROUPE_ASSIGN(known_, find_deadness(graph_, part_, needed_indices()));
    if (named_)
      name_all();
    else
      TROUPE_TRY(check_results());
    note_facts();
    std::vector<int> remaining;
    for (auto i : std::exchange(graph_.part_at(part_).items, {}))
      if (graph_.at(i).kind != flow::removed)
        remaining.push_back(i);
    TROUPE_ASSIGN(auto order, graph_.ordered(remaining));
    return raise(order, 0, part_);
  }

  stand_ins take_names() { return std::move(names_); }

private:
  const condition& when(int i) const { return known_.condition_of(i); }
  bool is_here(int i) const { return graph_.at(i).part == part_; }

  // A loop runs under its condition, so these predicates are known to its nodes.
  void note_facts() {
    auto owner = graph_.part_at(part_).owner;
    for (auto i : graph_.part_at(part_).items) {
      if (graph_.at(i).kind != flow::loop)
        continue;
      auto facts = owner >= 0 ? graph_.at(owner).facts : std::vector<std::pair<source, bool>>{};
      for (const auto& needed : when(i))
        facts.emplace_back(known_.predicates[static_cast<size_t>(needed.predicate)].from,
                           needed.holds);
      graph_.at(i).facts = std::move(facts);
    }
  }

  std::set<int> needed_indices() const {
    std::set<int> merges;
    auto add_index = [&](source value) {
      if (value.item >= 0 && graph_.at(value.item).kind == flow::merge && value.output == 1)
        merges.insert(value.item);
    };
    for (auto i : graph_.part_at(part_).items) {
      for (const auto& value : graph_.at(i).data)
        add_index(value);
      if (named_)
        add_index({i, 1});
    }
    for (const auto& value : graph_.part_at(part_).results)
      add_index(value);
    return merges;
  }

  status check_results() const {
    for (const auto& result : graph_.part_at(part_).results) {
      auto from = graph_.behind_exits(result);
      if (!is_here(from.item))
        continue;
      auto kind = graph_.at(from.item).kind;
      if (!known_.is_always_there(from, graph_))
        return invalid(
            "the loop needs '", graph_.named(from), "' in each iteration, ",
            kind == flow::removed ? "which never runs"
            : kind == flow::switch_node
                ? "an output of a Switch without a Merge"
                : concat("but it exists only if ", to_text(when(from.item), graph_, known_)));
    }
    return {};
  }

  // -- names ------------------------------------------------------------------------------------

  void name_all() {
    const auto items = graph_.part_at(part_).items;
    const auto leads_to_merge = leading_to_merges(items);
    for (auto i : items)
      name(i, leads_to_merge.contains(i));
    for (const auto& [exit, from] : graph_.exits)
      if (is_here(from.item) && graph_.at(from.item).kind != flow::removed) {
        const auto exit_name = graph_.at(exit).def.name();
        if (when(from.item).empty())
          names_[exit_name] = {{from}, from.item};
        else if (leads_to_merge.contains(from.item) && !is_wanted(exit_name))
          hide(exit_name, from.item);
        else
          names_[exit_name].outputs = {alive(from, when(from.item), exit_name)},
          end_at(exit_name, from.item);
      }
  }

  bool is_wanted(const std::string& name) const { return wanted_->contains(name); }

  // Items that lead to a Merge. They are fetched through the Merge; other items by their own names.
  std::set<int> leading_to_merges(const std::vector<int>& items) const {
    std::set<int> leading, switches;
    std::vector<int> open;
    auto visit = [&](int i) {
      i = graph_.behind_exits(i);
      if (is_here(i) && !when(i).empty() && leading.insert(i).second)
        open.push_back(i);
    };
    auto visit_inputs = [&](int i) {
      for (const auto& input : graph_.at(i).data)
        visit(graph_.behind_exits(input).item);
      for (auto control : graph_.at(i).controls)
        visit(control);
    };
    for (auto i : items) {
      for (const auto& input : graph_.at(i).data)
        if (auto from = graph_.behind_exits(input).item; graph_.at(from).kind == flow::switch_node)
          switches.insert(from);
      if (when(i).empty() || graph_.at(i).kind == flow::merge)
        visit_inputs(i);
    }
    while (!open.empty()) {
      auto i = open.back();
      open.pop_back();
      visit_inputs(i);
    }
    leading.merge(switches);
    return leading;
  }

  // Sets the item to run for a name. Running it is no error if it is dead.
  void end_at(const std::string& own_name, int i) {
    names_[own_name].end = i;
    ends_.insert(i);
  }

  void hide(const std::string& own_name, int i) {
    graph_.hidden[own_name] = concat("runs only if ", to_text(when(i), graph_, known_),
                                     ": ask for a Merge after it, or read the graph with '",
                                     own_name, "' in graph_def_options::wanted");
  }

  void name(int i, bool is_read) {
    auto kind = graph_.at(i).kind;
    const auto own_name = graph_.at(i).def.name();
    if (kind == flow::removed || kind == flow::loop)
      return;
    if (kind == flow::switch_node) {
      if (is_read && !is_wanted(own_name)) {
        graph_.hidden[own_name] =
            concat("is a Switch: ask for a node that it leads to, or read the graph with '",
                   own_name, "' in graph_def_options::wanted");
        return;
      }
      auto predicate = predicate_of(i);
      if (std::ranges::find(when(i), predicate, &literal::predicate) != when(i).end()) {
        graph_.hidden[own_name] = "is a Switch within a branch of its own predicate";
        return;
      }
      for (int k = 0; k < 2; ++k) {
        auto side_condition = when(i);
        side_condition.push_back({predicate, k == 1});
        known_.sort(side_condition);
        names_[own_name].outputs.push_back(alive({i, k}, side_condition, own_name));
      }
      names_[own_name].end = graph_.at(i).data[0].item;
      names_[own_name].is_exclusive = true;
      return;
    }
    if (kind == flow::merge)
      return; // made by the conversion
    auto is_merge = kind == flow::pass || graph_.at(i).index.item >= 0;
    if (when(i).empty()) {
      if (is_merge)
        names_[own_name] = {{{i, 0}, graph_.at(i).index}, i};
      return;
    }
    if (kind == flow::plain && is_pivot(i) && (when(i).size() == 1 || !is_wanted(own_name))) {
      if (when(i).size() == 1 && (wanted_->empty() || is_wanted(own_name)))
        name_pivot(i);
      else
        hide(own_name, i);
      if (!is_read)
        graph_.at(i).kind = flow::removed;
      return;
    }
    if (is_read && !is_wanted(own_name)) {
      hide(own_name, i);
      return;
    }
    end_at(own_name, i);
    auto count = is_merge ? 2 : graph_.outputs_of(i);
    for (int k = 0; k < count; ++k)
      names_[own_name].outputs.push_back(
          alive(is_merge && k == 1 ? graph_.at(i).index : source{i, k}, when(i), own_name));
  }

  // A pivot has the value of its predicate, if it runs.
  void name_pivot(int i) {
    const auto own_name = graph_.at(i).def.name();
    const auto needed = when(i).front();
    auto predicate_value = known_.predicates[static_cast<size_t>(needed.predicate)].from;
    auto holds = predicate_value;
    if (!needed.holds) {
      item inverse;
      inverse.def.set_op("LogicalNot");
      inverse.def.set_name(graph_.unique(concat(own_name, "/holds")));
      inverse.data = {predicate_value};
      holds = {add(std::move(inverse), {}), 0};
    }
    item value_item;
    value_item.def.set_op("Identity");
    value_item.def.set_name(graph_.unique(concat(own_name, "/value")));
    (*value_item.def.mutable_attr())["T"].set_type(DT_BOOL);
    value_item.data = {predicate_value};
    value_item.controls = {add_check(holds, {}, own_name, why_dead(needed, own_name))};
    source value{add(std::move(value_item), {}), 0};
    names_[own_name] = {{value}, predicate_value.item};
  }

  // Whether an item is an Identity of a predicate under its own Switch, which has only control
  // edges.
  bool is_pivot(int i) const {
    const auto& tested = graph_.at(i);
    if (tested.def.op() != "Identity" || tested.data.size() != 1)
      return false;
    const auto& from = graph_.at(graph_.behind_exits(tested.data[0]).item);
    return from.kind == flow::switch_node && from.data[0] == from.data[1];
  }

  int predicate_of(int switch_item) const {
    for (size_t p = 0; p < known_.predicates.size(); ++p)
      if (known_.predicates[p].by_switch == switch_item ||
          graph_.at(known_.predicates[p].by_switch).data[1] == graph_.at(switch_item).data[1])
        return static_cast<int>(p);
    return 0; // unreachable: each Switch has a predicate
  }

  std::string why_dead(const literal& needed, const std::string& own_name) const {
    const auto& predicate = known_.predicates[static_cast<size_t>(needed.predicate)];
    return concat(own_name, " is dead: predicate ", graph_.named(predicate.from), " of ",
                  graph_.at(predicate.by_switch).def.op(), ' ',
                  graph_.at(predicate.by_switch).def.name(), " is ",
                  needed.holds ? "false" : "true");
  }

  // Returns the value, guarded by an error that names the false predicate.
  source alive(source value, const condition& guarded, const std::string& own_name) {
    for (auto depth = guarded.size(); depth-- > 0;) {
      condition outer{guarded.begin(), guarded.begin() + static_cast<std::ptrdiff_t>(depth)};
      const auto needed = guarded[depth];
      auto inner = outer;
      inner.push_back({needed.predicate, !needed.holds});
      auto dead = add_dead(inner, own_name, why_dead(needed, own_name), value.item);
      item merge;
      merge.kind = flow::merge;
      merge.def.set_op("Merge");
      merge.def.set_name(graph_.unique(concat(own_name, "/alive")));
      merge.predicate = needed.predicate;
      merge.data = {value, {dead, -1}};
      if (!needed.holds)
        std::swap(merge.data[0], merge.data[1]);
      value = {add(std::move(merge), outer, needed.predicate), 0};
    }
    return value;
  }

  int add(item added, const condition& context, int predicate = -1) {
    for (const auto& needed : context)
      added.order.push_back(known_.predicates[static_cast<size_t>(needed.predicate)].by_switch);
    if (predicate >= 0)
      added.order.push_back(known_.predicates[static_cast<size_t>(predicate)].by_switch);
    auto i = graph_.add(std::move(added));
    graph_.move(i, part_);
    known_.when[i] = context;
    return i;
  }

  source add_constant(DataType type, const std::string& text, const condition& context,
                      const std::string& name) {
    item constant;
    constant.def.set_op("Const");
    constant.def.set_name(graph_.unique(name));
    (*constant.def.mutable_attr())["dtype"].set_type(type);
    auto& value = *(*constant.def.mutable_attr())["value"].mutable_tensor();
    value.set_dtype(type);
    value.mutable_tensor_shape();
    if (type == DT_BOOL)
      value.add_bool_val(false);
    else
      value.add_string_val(text);
    return {add(std::move(constant), context), 0};
  }

  // The nodes are in one branch with the value, which comes first, so that they share its phase.
  int add_dead(const condition& context, const std::string& own_name, const std::string& reason,
               int value) {
    const auto first = graph_.size();
    auto dead = add_check(add_constant(DT_BOOL, "", context, concat(own_name, "/dead")), context,
                          own_name, reason);
    for (auto i = first; i < graph_.size(); ++i)
      graph_.at(i).order.push_back(value);
    return dead;
  }

  int add_check(source holds, const condition& context, const std::string& own_name,
                const std::string& reason) {
    item check;
    check.data = {holds, add_constant(DT_STRING, reason, context, concat(own_name, "/why"))};
    check.def.set_op("Assert");
    check.def.set_name(graph_.unique(concat(own_name, "/is_alive")));
    (*check.def.mutable_attr())["T"].mutable_list()->add_type(DT_STRING);
    return add(std::move(check), context);
  }

  // -- one level --------------------------------------------------------------------------------

  struct key {
    int predicate = -1, phase = 0;
    bool operator==(const key&) const = default;
  };

  // The items of a branch, directly or nested, at one level of nesting.
  struct level {
    const std::vector<int>& items; // in an order of dependencies
    size_t depth;
    std::unordered_map<int, size_t> place = {};
    std::vector<int> phase = {};
    std::vector<key> keys = {};
    std::vector<std::vector<size_t>> readers = {};
    std::vector<bits> effects = {}; ///< effects that an item needs; only where steps choose nodes
  };

  bool is_own(const level& branch_level, size_t k) const {
    return when(branch_level.items[k]).size() == branch_level.depth;
  }

  bool is_end(const level& branch_level, size_t k) const {
    return branch_level.readers[k].empty() || ends_.contains(branch_level.items[k]);
  }

  // The inputs of an item at this level.
  std::vector<size_t> input_positions(const level& branch_level, size_t k, bool with_order) const {
    std::vector<size_t> positions;
    auto add_position = [&](int i) {
      if (auto position = branch_level.place.find(i); position != branch_level.place.end())
        positions.push_back(position->second);
    };
    const auto& reader = graph_.at(branch_level.items[k]);
    for (const auto& input : reader.data)
      add_position(graph_.behind_exits(input).item);
    for (auto control : reader.controls)
      add_position(graph_.behind_exits(control));
    if (with_order)
      for (auto earlier : reader.order)
        add_position(earlier);
    return positions;
  }

  // Items of one predicate and one phase may become one branch: no path between two of them leaves
  // the predicate's branches.
  void find_phases(level& branch_level) const {
    auto count = branch_level.items.size();
    for (size_t k = 0; k < count; ++k)
      branch_level.place.emplace(branch_level.items[k], k);
    branch_level.phase.assign(count, 0);
    branch_level.keys.assign(count, {});
    branch_level.readers.assign(count, {});
    for (size_t k = 0; k < count; ++k) {
      auto is_owned = is_own(branch_level, k),
           is_merge = is_owned && graph_.at(branch_level.items[k]).kind == flow::merge;
      for (auto input : input_positions(branch_level, k, true)) {
        auto leaves = is_merge || (is_owned && !is_own(branch_level, input));
        branch_level.phase[k] =
            std::max(branch_level.phase[k], branch_level.phase[input] + (leaves ? 1 : 0));
      }
      for (auto input : input_positions(branch_level, k, false))
        branch_level.readers[input].push_back(k);
      if (is_merge)
        branch_level.keys[k] = {graph_.at(branch_level.items[k]).predicate,
                                branch_level.phase[k] - 1};
      else if (!is_owned)
        branch_level.keys[k] = {when(branch_level.items[k])[branch_level.depth].predicate,
                                branch_level.phase[k]};
    }
  }

  // Connected components of items with one key.
  std::vector<std::vector<size_t>> components(const level& branch_level) const {
    std::vector<size_t> root(branch_level.items.size());
    std::iota(root.begin(), root.end(), size_t{0});
    auto find = [&](size_t k) {
      while (root[k] != k)
        k = root[k] = root[root[k]];
      return k;
    };
    for (size_t k = 0; k < branch_level.items.size(); ++k)
      if (branch_level.keys[k].predicate >= 0)
        for (auto input : input_positions(branch_level, k, false))
          if (!is_own(branch_level, input) && branch_level.keys[input] == branch_level.keys[k])
            root[find(input)] = find(k);
    std::map<size_t, std::vector<size_t>> groups;
    for (size_t k = 0; k < branch_level.items.size(); ++k)
      if (branch_level.keys[k].predicate >= 0)
        groups[find(k)].push_back(k);
    std::vector<std::vector<size_t>> result_groups;
    for (auto& [first, members] : groups)
      result_groups.push_back(std::move(members));
    return result_groups;
  }

  static void mark(bits& in, size_t which) { in[which / 64] |= uint64_t{1} << (which % 64); }

  static void join(bits& to, const bits& from) {
    for (size_t w = 0; w < to.size(); ++w)
      to[w] |= from[w];
  }

  // Finds the effects of each item and of the items that it needs.
  status find_effects(level& branch_level) const {
    std::vector<size_t> effectful;
    for (size_t k = 0; k < branch_level.items.size(); ++k)
      if (graph_.has_effect(branch_level.items[k]) ||
          (!is_own(branch_level, k) && is_end(branch_level, k)))
        effectful.push_back(k);
    auto words = (effectful.size() + 63) / 64;
    if (words * branch_level.items.size() > max_words)
      return failure(error_kind::resource_exhausted, branch_level.items.size(), " nodes and ",
                     effectful.size(), " with effects are too many for branches of TensorFlow 1");
    branch_level.effects.assign(branch_level.items.size(), bits(words));
    for (size_t e = 0; e < effectful.size(); ++e)
      mark(branch_level.effects[effectful[e]], e);
    for (size_t k = 0; k < branch_level.items.size(); ++k)
      for (auto input : input_positions(branch_level, k, false))
        join(branch_level.effects[k], branch_level.effects[input]);
    return {};
  }

  // A step runs only the nodes that it needs. So nodes that only some results of the branch need
  // become a separate branch, if they or their inputs have effects.
  std::vector<std::vector<size_t>> split(const level& branch_level,
                                         std::vector<size_t> members_in) const {
    std::vector<std::vector<size_t>> split_groups;
    std::unordered_map<size_t, size_t> positions;
    for (size_t m = 0; m < members_in.size(); ++m)
      positions.emplace(members_in[m], m);
    // Results that need the same effects form one kind: running one of them runs the effects of
    // all. The predicate runs in any case.
    auto predicate_item =
        known_.predicates[static_cast<size_t>(branch_level.keys[members_in[0]].predicate)]
            .from.item;
    auto predicate = branch_level.place.find(predicate_item);
    std::map<bits, size_t> kinds;
    std::vector<std::pair<size_t, size_t>> sinks; // and their kinds
    if (!branch_level.effects.empty())
      for (auto k : members_in) {
        auto inner = std::ranges::count_if(branch_level.readers[k],
                                           [&](size_t r) { return positions.contains(r); });
        if (!is_own(branch_level, k) && !is_end(branch_level, k) &&
            static_cast<size_t>(inner) == branch_level.readers[k].size())
          continue;
        auto needs = branch_level.effects[k];
        if (predicate != branch_level.place.end())
          for (size_t w = 0; w < needs.size(); ++w)
            needs[w] &= ~branch_level.effects[predicate->second][w];
        sinks.emplace_back(k, kinds.emplace(std::move(needs), kinds.size()).first->second);
      }
    if (kinds.size() < 2) {
      split_groups.push_back(std::move(members_in));
      return split_groups;
    }
    std::vector<bits> reach(members_in.size(), bits((kinds.size() + 63) / 64));
    for (auto [k, kind] : sinks)
      mark(reach[positions.at(k)], kind);
    for (size_t m = members_in.size(); m-- > 0;)
      for (auto r : branch_level.readers[members_in[m]])
        if (auto reader = positions.find(r); reader != positions.end())
          join(reach[m], reach[reader->second]);
    std::map<bits, std::vector<size_t>> groups;
    for (size_t m = 0; m < members_in.size(); ++m)
      groups[reach[m]].push_back(members_in[m]);
    for (auto& [reached, members] : groups)
      split_groups.push_back(std::move(members));
    return split_groups;
  }

  status raise(const std::vector<int>& items, size_t depth, int part) {
    level current{items, depth};
    find_phases(current);
    if (named_ && depth == 0)
      TROUPE_TRY(find_effects(current));
    std::vector<std::pair<std::vector<int>, int>> inner; // items and their parts
    for (auto& component : components(current))
      for (const auto& group : split(current, std::move(component)))
        make_branch(current, group, part, inner);
    for (size_t k = 0; k < items.size(); ++k)
      if (is_own(current, k)) {
        auto kind = graph_.at(items[k]).kind;
        if (kind == flow::plain || kind == flow::loop || kind == flow::trigger)
          graph_.move(items[k], part);
        else
          graph_.at(items[k]).part = part;
      }
    for (const auto& [arm, to] : inner)
      TROUPE_TRY(raise(arm, depth + 1, to));
    return {};
  }

  void make_branch(const level& current, const std::vector<size_t>& group, int part,
                   std::vector<std::pair<std::vector<int>, int>>& inner) {
    auto predicate = current.keys[group.front()].predicate;
    auto first = current.items[group.front()];
    for (auto k : group)
      if (is_own(current, k)) {
        first = current.items[k];
        break;
      }
    item created;
    created.kind = flow::branch;
    created.def.set_op("If");
    created.def.set_name(graph_.unique(name_of_branch(graph_.at(first).def.name())));
    created.data = {known_.predicates[static_cast<size_t>(predicate)].from};
    auto branch = graph_.add(std::move(created));
    graph_.move(branch, part);
    std::vector<int> arms[2];
    int parts[] = {graph_.add_part(branch), graph_.add_part(branch)};
    graph_.at(branch).parts = {parts[0], parts[1]};
    for (auto k : group) {
      auto i = current.items[k];
      if (!is_own(current, k)) {
        arms[when(i)[current.depth].holds ? 0 : 1].push_back(i);
        continue;
      }
      graph_.at(i).branch = branch;
      graph_.at(i).slot = static_cast<int>(graph_.part_at(parts[0]).results.size());
      graph_.at(branch).keeps_ref.push_back(graph_.at(i).by_ref);
      for (size_t side = 0; side < 2; ++side)
        graph_.part_at(parts[side]).results.push_back(graph_.at(i).data[side]);
    }
    for (size_t side = 0; side < 2; ++side)
      inner.emplace_back(std::move(arms[side]), parts[side]);
  }

  // Names a branch after the scope of its first node: "cond" for "cond/Merge/merged".
  static std::string name_of_branch(const std::string& node_name) {
    auto name = node_name;
    for (std::string_view suffix : {"/merged", "/alive"})
      if (auto position = name.rfind(suffix); position != name.npos)
        name.resize(position);
    auto slash = name.rfind('/');
    return slash == name.npos ? concat(name, "/branch") : name.substr(0, slash);
  }

  flow_graph& graph_;
  const int part_;
  const bool named_;
  const std::set<std::string>* wanted_;
  deadness known_;
  stand_ins names_;
  std::set<int> ends_; // items that run for names
};

} // namespace

status raise_branches(flow_graph& graph, int part) { return branch_raiser{graph, part}.run(); }

result<stand_ins> raise_named_branches(flow_graph& graph, int part,
                                       const std::set<std::string>& wanted) {
  branch_raiser raiser{graph, part, &wanted};
  TROUPE_TRY(raiser.run());
  return raiser.take_names();
}

} // namespace troupe::graph_def
