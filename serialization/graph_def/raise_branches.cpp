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
  branch_raiser(flow_graph& in, int part, const std::set<std::string>* wanted = nullptr)
      : in_(in), part_(part), named_(wanted != nullptr), wanted_(wanted) {}

  status run() {
    TROUPE_ASSIGN(known_, find_deadness(in_, part_, needed_indices()));
    if (named_)
      name_all();
    else
      TROUPE_TRY(check_results());
    note_facts();
    std::vector<int> left;
    for (auto i : std::exchange(in_.part_at(part_).items, {}))
      if (in_.at(i).kind != flow::gone)
        left.push_back(i);
    TROUPE_ASSIGN(auto order, in_.ordered(left));
    return raise(order, 0, part_);
  }

  stand_ins take_names() { return std::move(names_); }

private:
  const condition& when(int i) const { return known_.of(i); }
  bool is_here(int i) const { return in_.at(i).part == part_; }

  // A loop runs as its items do: what its own nodes ask again of a predicate is known.
  void note_facts() {
    auto owner = in_.part_at(part_).owner;
    for (auto i : in_.part_at(part_).items) {
      if (in_.at(i).kind != flow::loop)
        continue;
      auto facts = owner >= 0 ? in_.at(owner).facts : std::vector<std::pair<source, bool>>{};
      for (const auto& each : when(i))
        facts.emplace_back(known_.predicates[static_cast<size_t>(each.predicate)].from, each.holds);
      in_.at(i).facts = std::move(facts);
    }
  }

  std::set<int> needed_indices() const {
    std::set<int> all;
    auto note = [&](source what) {
      if (what.item >= 0 && in_.at(what.item).kind == flow::merge && what.output == 1)
        all.insert(what.item);
    };
    for (auto i : in_.part_at(part_).items) {
      for (const auto& each : in_.at(i).data)
        note(each);
      if (named_)
        note({i, 1});
    }
    for (const auto& each : in_.part_at(part_).results)
      note(each);
    return all;
  }

  status check_results() const {
    for (const auto& each : in_.part_at(part_).results) {
      auto from = in_.behind_exits(each);
      if (!is_here(from.item))
        continue;
      auto kind = in_.at(from.item).kind;
      if (!known_.is_always_there(from, in_))
        return invalid("the loop needs '", in_.named(from), "' in each turn, ",
                       kind == flow::gone     ? "which never runs"
                       : kind == flow::either ? "an output of a Switch without a Merge"
                                              : concat("and it is there only if ",
                                                       to_text(when(from.item), in_, known_)));
    }
    return {};
  }

  // -- names ------------------------------------------------------------------------------------

  void name_all() {
    const auto items = in_.part_at(part_).items;
    const auto read = leading_to_merges(items);
    for (auto i : items)
      name(i, read.contains(i));
    for (const auto& [exit, from] : in_.exits)
      if (is_here(from.item) && in_.at(from.item).kind != flow::gone) {
        const auto own = in_.at(exit).def.name();
        if (when(from.item).empty())
          names_[own] = {{from}, from.item};
        else if (read.contains(from.item) && !is_wanted(own))
          hide(own, from.item);
        else
          names_[own].outputs = {alive(from, when(from.item), own)}, end_at(own, from.item);
      }
  }

  bool is_wanted(const std::string& name) const { return wanted_->contains(name); }

  // What a Merge needs is asked for there; the rest by its own name.
  std::set<int> leading_to_merges(const std::vector<int>& items) const {
    std::set<int> found, switches;
    std::vector<int> open;
    auto visit = [&](int i) {
      i = in_.behind_exits(i);
      if (is_here(i) && !when(i).empty() && found.insert(i).second)
        open.push_back(i);
    };
    auto visit_inputs = [&](int i) {
      for (const auto& each : in_.at(i).data)
        visit(in_.behind_exits(each).item);
      for (auto each : in_.at(i).controls)
        visit(each);
    };
    for (auto i : items) {
      for (const auto& each : in_.at(i).data)
        if (auto from = in_.behind_exits(each).item; in_.at(from).kind == flow::either)
          switches.insert(from);
      if (when(i).empty() || in_.at(i).kind == flow::merge)
        visit_inputs(i);
    }
    while (!open.empty()) {
      auto i = open.back();
      open.pop_back();
      visit_inputs(i);
    }
    found.merge(switches);
    return found;
  }

  // Who runs it does not care whether it is dead.
  void end_at(const std::string& own, int i) {
    names_[own].end = i;
    ends_.insert(i);
  }

  void hide(const std::string& own, int i) {
    in_.hidden[own] = concat("runs only if ", to_text(when(i), in_, known_),
                             ": ask for a Merge behind it, or read the graph with '", own,
                             "' in graph_def_options::wanted");
  }

  void name(int i, bool is_read) {
    auto kind = in_.at(i).kind;
    const auto own = in_.at(i).def.name();
    if (kind == flow::gone || kind == flow::loop)
      return;
    if (kind == flow::either) {
      if (is_read && !is_wanted(own)) {
        in_.hidden[own] = concat("is a Switch: ask for what it leads to, or read the graph with '",
                                 own, "' in graph_def_options::wanted");
        return;
      }
      auto predicate = predicate_of(i);
      if (std::ranges::find(when(i), predicate, &literal::predicate) != when(i).end()) {
        in_.hidden[own] = "is a Switch within a branch of its own predicate";
        return;
      }
      for (int k = 0; k < 2; ++k) {
        auto of = when(i);
        of.push_back({predicate, k == 1});
        known_.sort(of);
        names_[own].outputs.push_back(alive({i, k}, of, own));
      }
      names_[own].end = in_.at(i).data[0].item;
      names_[own].is_exclusive = true;
      return;
    }
    if (kind == flow::merge)
      return; // one of ours
    auto is_merge = kind == flow::pass || in_.at(i).index.item >= 0;
    if (when(i).empty()) {
      if (is_merge)
        names_[own] = {{{i, 0}, in_.at(i).index}, i};
      return;
    }
    if (kind == flow::plain && is_pivot(i) && (when(i).size() == 1 || !is_wanted(own))) {
      if (when(i).size() == 1 && (wanted_->empty() || is_wanted(own)))
        name_pivot(i);
      else
        hide(own, i);
      if (!is_read)
        in_.at(i).kind = flow::gone;
      return;
    }
    if (is_read && !is_wanted(own)) {
      hide(own, i);
      return;
    }
    end_at(own, i);
    auto count = is_merge ? 2 : in_.outputs_of(i);
    for (int k = 0; k < count; ++k)
      names_[own].outputs.push_back(
          alive(is_merge && k == 1 ? in_.at(i).index : source{i, k}, when(i), own));
  }

  // It is the predicate, where that is what it must be.
  void name_pivot(int i) {
    const auto own = in_.at(i).def.name();
    const auto at = when(i).front();
    auto asked = known_.predicates[static_cast<size_t>(at.predicate)].from;
    auto holds = asked;
    if (!at.holds) {
      item inverse;
      inverse.def.set_op("LogicalNot");
      inverse.def.set_name(in_.unique(concat(own, "/holds")));
      inverse.data = {asked};
      holds = {add(std::move(inverse), {}), 0};
    }
    item made;
    made.def.set_op("Identity");
    made.def.set_name(in_.unique(concat(own, "/value")));
    (*made.def.mutable_attr())["T"].set_type(DT_BOOL);
    made.data = {asked};
    made.controls = {add_check(holds, {}, own, why_dead(at, own))};
    source value{add(std::move(made), {}), 0};
    names_[own] = {{value}, asked.item};
  }

  // An Identity of a predicate under its own Switch: only control edges are meant to leave it.
  bool is_pivot(int i) const {
    const auto& one = in_.at(i);
    if (one.def.op() != "Identity" || one.data.size() != 1)
      return false;
    const auto& from = in_.at(in_.behind_exits(one.data[0]).item);
    return from.kind == flow::either && from.data[0] == from.data[1];
  }

  int predicate_of(int by) const {
    for (size_t p = 0; p < known_.predicates.size(); ++p)
      if (known_.predicates[p].by_switch == by ||
          in_.at(known_.predicates[p].by_switch).data[1] == in_.at(by).data[1])
        return static_cast<int>(p);
    return 0; // there is one for each Switch
  }

  std::string why_dead(const literal& at, const std::string& own) const {
    const auto& asked = known_.predicates[static_cast<size_t>(at.predicate)];
    return concat(own, " is dead: predicate ", in_.named(asked.from), " of ",
                  in_.at(asked.by_switch).def.op(), ' ', in_.at(asked.by_switch).def.name(), " is ",
                  at.holds ? "false" : "true");
  }

  // The value, or an error that says which predicate is in the way.
  source alive(source what, const condition& of, const std::string& own) {
    for (auto left = of.size(); left-- > 0;) {
      condition outer{of.begin(), of.begin() + static_cast<std::ptrdiff_t>(left)};
      const auto at = of[left];
      auto inner = outer;
      inner.push_back({at.predicate, !at.holds});
      auto dead = add_dead(inner, own, why_dead(at, own), what.item);
      item made;
      made.kind = flow::merge;
      made.def.set_op("Merge");
      made.def.set_name(in_.unique(concat(own, "/alive")));
      made.predicate = at.predicate;
      made.data = {what, {dead, -1}};
      if (!at.holds)
        std::swap(made.data[0], made.data[1]);
      what = {add(std::move(made), outer, at.predicate), 0};
    }
    return what;
  }

  int add(item made, const condition& under, int predicate = -1) {
    for (const auto& each : under)
      made.order.push_back(known_.predicates[static_cast<size_t>(each.predicate)].by_switch);
    if (predicate >= 0)
      made.order.push_back(known_.predicates[static_cast<size_t>(predicate)].by_switch);
    auto i = in_.add(std::move(made));
    in_.move(i, part_);
    known_.when[i] = under;
    return i;
  }

  source add_constant(DataType type, const std::string& text, const condition& under,
                      const std::string& name) {
    item made;
    made.def.set_op("Const");
    made.def.set_name(in_.unique(name));
    (*made.def.mutable_attr())["dtype"].set_type(type);
    auto& value = *(*made.def.mutable_attr())["value"].mutable_tensor();
    value.set_dtype(type);
    value.mutable_tensor_shape();
    if (type == DT_BOOL)
      value.add_bool_val(false);
    else
      value.add_string_val(text);
    return {add(std::move(made), under), 0};
  }

  // The nodes stay in one branch with the value, which comes first: they belong to its phase.
  int add_dead(const condition& under, const std::string& own, const std::string& why, int value) {
    const auto first = in_.size();
    auto dead = add_check(add_constant(DT_BOOL, "", under, concat(own, "/dead")), under, own, why);
    for (auto i = first; i < in_.size(); ++i)
      in_.at(i).order.push_back(value);
    return dead;
  }

  int add_check(source holds, const condition& under, const std::string& own,
                const std::string& why) {
    item made;
    made.data = {holds, add_constant(DT_STRING, why, under, concat(own, "/why"))};
    made.def.set_op("Assert");
    made.def.set_name(in_.unique(concat(own, "/is_alive")));
    (*made.def.mutable_attr())["T"].mutable_list()->add_type(DT_STRING);
    return add(std::move(made), under);
  }

  // -- one level --------------------------------------------------------------------------------

  struct key {
    int predicate = -1, phase = 0;
    bool operator==(const key&) const = default;
  };

  // What is known of the items that lie directly in a branch, or further within.
  struct level {
    const std::vector<int>& items; // each after what it needs
    size_t depth;
    std::unordered_map<int, size_t> place = {};
    std::vector<int> phase = {};
    std::vector<key> keys = {};
    std::vector<std::vector<size_t>> readers = {};
    std::vector<bits> effects = {}; ///< what runs with an item; only where steps choose
  };

  bool is_own(const level& at, size_t k) const { return when(at.items[k]).size() == at.depth; }

  bool is_end(const level& at, size_t k) const {
    return at.readers[k].empty() || ends_.contains(at.items[k]);
  }

  // The items before it that are here, too.
  std::vector<size_t> before(const level& at, size_t k, bool with_order) const {
    std::vector<size_t> all;
    auto note = [&](int i) {
      if (auto found = at.place.find(i); found != at.place.end())
        all.push_back(found->second);
    };
    const auto& one = in_.at(at.items[k]);
    for (const auto& each : one.data)
      note(in_.behind_exits(each).item);
    for (auto each : one.controls)
      note(in_.behind_exits(each));
    if (with_order)
      for (auto each : one.order)
        note(each);
    return all;
  }

  // Between two items of one predicate and one phase, there is no way through what lies outside of
  // its branches: they may become one branch.
  void find_phases(level& at) const {
    auto count = at.items.size();
    for (size_t k = 0; k < count; ++k)
      at.place.emplace(at.items[k], k);
    at.phase.assign(count, 0);
    at.keys.assign(count, {});
    at.readers.assign(count, {});
    for (size_t k = 0; k < count; ++k) {
      auto own = is_own(at, k), merges = own && in_.at(at.items[k]).kind == flow::merge;
      for (auto b : before(at, k, true)) {
        auto leaves = merges || (own && !is_own(at, b));
        at.phase[k] = std::max(at.phase[k], at.phase[b] + (leaves ? 1 : 0));
      }
      for (auto b : before(at, k, false))
        at.readers[b].push_back(k);
      if (merges)
        at.keys[k] = {in_.at(at.items[k]).predicate, at.phase[k] - 1};
      else if (!own)
        at.keys[k] = {when(at.items[k])[at.depth].predicate, at.phase[k]};
    }
  }

  // Items of one key that hang together.
  std::vector<std::vector<size_t>> components(const level& at) const {
    std::vector<size_t> root(at.items.size());
    std::iota(root.begin(), root.end(), size_t{0});
    auto find = [&](size_t k) {
      while (root[k] != k)
        k = root[k] = root[root[k]];
      return k;
    };
    for (size_t k = 0; k < at.items.size(); ++k)
      if (at.keys[k].predicate >= 0)
        for (auto b : before(at, k, false))
          if (!is_own(at, b) && at.keys[b] == at.keys[k])
            root[find(b)] = find(k);
    std::map<size_t, std::vector<size_t>> all;
    for (size_t k = 0; k < at.items.size(); ++k)
      if (at.keys[k].predicate >= 0)
        all[find(k)].push_back(k);
    std::vector<std::vector<size_t>> made;
    for (auto& [first, members] : all)
      made.push_back(std::move(members));
    return made;
  }

  static void mark(bits& in, size_t which) { in[which / 64] |= uint64_t{1} << (which % 64); }

  static void join(bits& to, const bits& from) {
    for (size_t w = 0; w < to.size(); ++w)
      to[w] |= from[w];
  }

  // All that is done when an item runs, by it and by what it needs.
  status find_effects(level& at) const {
    std::vector<size_t> acting;
    for (size_t k = 0; k < at.items.size(); ++k)
      if (in_.has_effect(at.items[k]) || (!is_own(at, k) && is_end(at, k)))
        acting.push_back(k);
    auto words = (acting.size() + 63) / 64;
    if (words * at.items.size() > max_words)
      return failure(error_kind::resource_exhausted, at.items.size(), " nodes and ", acting.size(),
                     " with effects are too many for branches of TensorFlow 1");
    at.effects.assign(at.items.size(), bits(words));
    for (size_t e = 0; e < acting.size(); ++e)
      mark(at.effects[acting[e]], e);
    for (size_t k = 0; k < at.items.size(); ++k)
      for (auto b : before(at, k, false))
        join(at.effects[k], at.effects[b]);
    return {};
  }

  // A step runs what it needs: nodes that only some of what leaves the branch needs become a branch
  // of their own if they, or what they need, have effects.
  std::vector<std::vector<size_t>> split(const level& at, std::vector<size_t> whole) const {
    std::vector<std::vector<size_t>> made;
    std::unordered_map<size_t, size_t> within;
    for (size_t m = 0; m < whole.size(); ++m)
      within.emplace(whole[m], m);
    // Results that need the same effects are one kind: what one of them runs, all do. The predicate
    // is asked in any case.
    auto asked = known_.predicates[static_cast<size_t>(at.keys[whole[0]].predicate)].from.item;
    auto predicate = at.place.find(asked);
    std::map<bits, size_t> kinds;
    std::vector<std::pair<size_t, size_t>> sinks; // and their kinds
    if (!at.effects.empty())
      for (auto k : whole) {
        auto inner =
            std::ranges::count_if(at.readers[k], [&](size_t r) { return within.contains(r); });
        if (!is_own(at, k) && !is_end(at, k) && static_cast<size_t>(inner) == at.readers[k].size())
          continue;
        auto needs = at.effects[k];
        if (predicate != at.place.end())
          for (size_t w = 0; w < needs.size(); ++w)
            needs[w] &= ~at.effects[predicate->second][w];
        sinks.emplace_back(k, kinds.emplace(std::move(needs), kinds.size()).first->second);
      }
    if (kinds.size() < 2) {
      made.push_back(std::move(whole));
      return made;
    }
    std::vector<bits> reach(whole.size(), bits((kinds.size() + 63) / 64));
    for (auto [k, kind] : sinks)
      mark(reach[within.at(k)], kind);
    for (size_t m = whole.size(); m-- > 0;)
      for (auto r : at.readers[whole[m]])
        if (auto found = within.find(r); found != within.end())
          join(reach[m], reach[found->second]);
    std::map<bits, std::vector<size_t>> groups;
    for (size_t m = 0; m < whole.size(); ++m)
      groups[reach[m]].push_back(whole[m]);
    for (auto& [reached, members] : groups)
      made.push_back(std::move(members));
    return made;
  }

  status raise(const std::vector<int>& items, size_t depth, int part) {
    level at{items, depth};
    find_phases(at);
    if (named_ && depth == 0)
      TROUPE_TRY(find_effects(at));
    std::vector<std::pair<std::vector<int>, int>> inner; // what goes into which part
    for (auto& whole : components(at))
      for (const auto& group : split(at, std::move(whole)))
        make_branch(at, group, part, inner);
    for (size_t k = 0; k < items.size(); ++k)
      if (is_own(at, k)) {
        auto kind = in_.at(items[k]).kind;
        if (kind == flow::plain || kind == flow::loop || kind == flow::trigger)
          in_.move(items[k], part);
        else
          in_.at(items[k]).part = part;
      }
    for (const auto& [arm, to] : inner)
      TROUPE_TRY(raise(arm, depth + 1, to));
    return {};
  }

  void make_branch(const level& at, const std::vector<size_t>& group, int part,
                   std::vector<std::pair<std::vector<int>, int>>& inner) {
    auto predicate = at.keys[group.front()].predicate;
    auto first = at.items[group.front()];
    for (auto k : group)
      if (is_own(at, k)) {
        first = at.items[k];
        break;
      }
    item made;
    made.kind = flow::branch;
    made.def.set_op("If");
    made.def.set_name(in_.unique(name_of_branch(in_.at(first).def.name())));
    made.data = {known_.predicates[static_cast<size_t>(predicate)].from};
    auto branch = in_.add(std::move(made));
    in_.move(branch, part);
    std::vector<int> arms[2];
    int parts[] = {in_.add_part(branch), in_.add_part(branch)};
    in_.at(branch).parts = {parts[0], parts[1]};
    for (auto k : group) {
      auto i = at.items[k];
      if (!is_own(at, k)) {
        arms[when(i)[at.depth].holds ? 0 : 1].push_back(i);
        continue;
      }
      in_.at(i).branch = branch;
      in_.at(i).slot = static_cast<int>(in_.part_at(parts[0]).results.size());
      in_.at(branch).keeps_ref.push_back(in_.at(i).by_ref);
      for (size_t side = 0; side < 2; ++side)
        in_.part_at(parts[side]).results.push_back(in_.at(i).data[side]);
    }
    for (size_t side = 0; side < 2; ++side)
      inner.emplace_back(std::move(arms[side]), parts[side]);
  }

  // "cond/Merge/merged" is a part of "cond".
  static std::string name_of_branch(const std::string& of) {
    auto name = of;
    for (std::string_view ours : {"/merged", "/alive"})
      if (auto at = name.rfind(ours); at != name.npos)
        name.resize(at);
    auto slash = name.rfind('/');
    return slash == name.npos ? concat(name, "/branch") : name.substr(0, slash);
  }

  flow_graph& in_;
  const int part_;
  const bool named_;
  const std::set<std::string>* wanted_;
  deadness known_;
  stand_ins names_;
  std::set<int> ends_; // of names
};

} // namespace

status raise_branches(flow_graph& in, int part) { return branch_raiser{in, part}.run(); }

result<stand_ins> raise_named_branches(flow_graph& in, int part,
                                       const std::set<std::string>& wanted) {
  branch_raiser raiser{in, part, &wanted};
  TROUPE_TRY(raiser.run());
  return raiser.take_names();
}

} // namespace troupe::graph_def
