#include "troupe/serialization/graph_def/deadness.hpp"

#include <algorithm>
#include <optional>

namespace troupe::graph_def {
namespace {

constexpr size_t deepest_condition = 64;
constexpr int max_attempts = 4096;
constexpr size_t most_compared = 64; // inputs of a Merge

class finder {
public:
  finder(flow_graph& graph, int part, const std::set<int>& indices)
      : graph_(graph), part_(part), indices_(indices) {
    if (auto owner = graph.part_at(part).owner; owner >= 0)
      facts_.insert(graph.at(owner).facts.begin(), graph.at(owner).facts.end());
  }

  result<deadness> run() {
    TROUPE_ASSIGN(auto order, graph_.ordered(graph_.part_at(part_).items));
    for (auto i : order) {
      auto outcome = graph_.at(i).kind == flow::merge ? join(i) : join_inputs(i);
      if (!outcome)
        return std::move(outcome).with_context(graph_.described(i));
    }
    for (auto i : order)
      if (graph_.at(i).kind != flow::removed)
        skip_pivots(i);
    TROUPE_TRY(rank());
    for (auto& [i, when] : outcome_.when)
      outcome_.sort(when);
    return std::move(outcome_);
  }

private:
  bool is_here(int i) const {
    return i >= 0 && graph_.at(i).part == part_ && graph_.at(i).kind != flow::argument;
  }

  // -- predicates -------------------------------------------------------------------------------

  // The origin of a predicate, behind nodes that pass it on.
  source origin(source value) {
    std::vector<source> passed;
    for (;;) {
      value = graph_.behind_exits(value);
      if (auto known = origins_.find(value); known != origins_.end()) {
        value = known->second;
        break;
      }
      passed.push_back(value);
      const auto& from = graph_.at(value.item);
      auto is_pass_through =
          (from.kind == flow::switch_node && !from.by_ref) || from.kind == flow::pass ||
          (from.kind == flow::plain && from.def.op() == "Identity" && from.data.size() == 1);
      if (!is_pass_through || value.output > (from.kind == flow::switch_node ? 1 : 0) ||
          graph_.is_reference(graph_.behind_exits(from.data[0])))
        break;
      value = from.data[0];
    }
    for (const auto& passed_value : passed)
      origins_[passed_value] = value;
    return value;
  }

  // The value of a Switch's predicate, if it is a known fact.
  std::optional<bool> decided(int switch_item) {
    if (facts_.empty())
      return {};
    auto fact = facts_.find(origin(graph_.at(switch_item).data[1]));
    if (fact == facts_.end())
      return {};
    outcome_.decided[switch_item] = fact->second;
    return fact->second;
  }

  int predicate_of(int switch_item) {
    auto from = origin(graph_.at(switch_item).data[1]);
    auto [position, is_new] = known_.emplace(from, static_cast<int>(outcome_.predicates.size()));
    if (is_new)
      outcome_.predicates.push_back({from, switch_item});
    return position->second;
  }

  // -- conditions -------------------------------------------------------------------------------

  // The condition of a value; nullopt: it never exists.
  std::optional<condition> condition_of(source value) {
    value = graph_.behind_exits(value);
    if (!is_here(value.item))
      return condition{};
    auto when = condition_of(value.item);
    const auto& from = graph_.at(value.item);
    if (!when || from.kind != flow::switch_node)
      return when;
    if (auto fact = decided(value.item))
      return *fact == (value.output == 1) ? when : std::nullopt;
    return conjunction(*when, {{predicate_of(value.item), value.output == 1}});
  }

  std::optional<condition> condition_of(int i) const {
    if (!is_here(i))
      return condition{};
    auto entry = outcome_.when.find(i);
    return entry == outcome_.when.end() ? std::nullopt : std::optional{entry->second};
  }

  static std::optional<condition> conjunction(const condition& a, const condition& b) {
    condition joined;
    std::ranges::set_union(a, b, std::back_inserter(joined));
    for (size_t i = 1; i < joined.size(); ++i)
      if (joined[i].predicate == joined[i - 1].predicate)
        return {};
    return joined;
  }

  status join_inputs(int i) {
    auto& joined = graph_.at(i);
    std::optional<condition> when{std::in_place};
    auto require = [&](const std::optional<condition>& needed) {
      when = when && needed ? conjunction(*when, *needed) : std::nullopt;
    };
    if (joined.kind != flow::trigger) {
      for (const auto& input : joined.data)
        require(condition_of(input));
      for (auto control : joined.controls)
        require(condition_of(graph_.behind_exits(control)));
    }
    if (!when) {
      joined.kind = flow::removed;
      graph_.hidden[joined.def.name()] =
          "never runs: it needs a predicate to be true and to be false";
      return {};
    }
    if (when->size() > deepest_condition)
      return failure(error_kind::unimplemented, "branches are nested more than ", deepest_condition,
                     " deep");
    outcome_.when[i] = *std::move(when);
    if (joined.kind == flow::switch_node && !decided(i))
      predicate_of(i);
    return {};
  }

  // Removes control edges from an Identity of a Switch: they only state when a node runs, which the
  // condition has already.
  void skip_pivots(int i) {
    auto controls = std::exchange(graph_.at(i).controls, {});
    for (auto control : controls) {
      auto switch_item = switch_of_pivot(control);
      if (switch_item < 0) {
        graph_.at(i).controls.push_back(control);
        continue;
      }
      graph_.at(i).order.push_back(switch_item);
      const auto& from = graph_.at(switch_item);
      if (origin(from.data[0]) != origin(from.data[1]) || !from.controls.empty())
        graph_.at(i).controls.push_back(switch_item);
    }
  }

  // Returns the Switch of a pivot (an Identity of a Switch's output), or -1.
  int switch_of_pivot(int i) const {
    i = graph_.behind_exits(i);
    if (!is_here(i))
      return -1;
    const auto& pivot = graph_.at(i);
    if (pivot.kind != flow::plain || pivot.def.op() != "Identity" || pivot.data.size() != 1 ||
        !pivot.controls.empty())
      return -1;
    auto switch_item = graph_.behind_exits(pivot.data[0]).item;
    return is_here(switch_item) && graph_.at(switch_item).kind == flow::switch_node &&
                   !graph_.at(switch_item).by_ref
               ? switch_item
               : -1;
  }

  // -- merges -----------------------------------------------------------------------------------

  struct alternative {
    source from, index;
    condition when;
  };

  item copy_identity(int merge, std::string_view suffix) {
    item created;
    created.def.set_name(graph_.unique(concat(graph_.at(merge).def.name(), suffix)));
    created.def.set_device(graph_.at(merge).def.device());
    return created;
  }

  int add(item created, const condition& when) {
    for (const auto& needed : when)
      created.order.push_back(outcome_.predicates[static_cast<size_t>(needed.predicate)].by_switch);
    auto i = graph_.add(std::move(created));
    graph_.move(i, part_);
    outcome_.when[i] = when;
    return i;
  }

  // Adds a constant for the index of a Merge, with a control edge from the value.
  int add_index(int merge, int value, source chosen_value, const condition& when) {
    auto index_item = copy_identity(merge, "/value_index");
    index_item.def.set_op("Const");
    index_item.controls = {chosen_value.item};
    auto& attrs = *index_item.def.mutable_attr();
    attrs["dtype"].set_type(DT_INT32);
    attrs["value"].mutable_tensor()->set_dtype(DT_INT32);
    attrs["value"].mutable_tensor()->mutable_tensor_shape();
    attrs["value"].mutable_tensor()->add_int_val(value);
    return add(std::move(index_item), when);
  }

  // Whether `a` holds whenever `b` does, and in further cases. If one input of a Merge exists in
  // all cases of another, TensorFlow may take either; here the Merge always takes the wider one.
  // Gradients of rows that a branch takes have such a Merge, of equal values.
  static bool is_wider(const condition& a, const condition& b) {
    return a.size() < b.size() && std::ranges::includes(b, a);
  }

  status join(int merge) {
    std::vector<alternative> alternatives;
    const auto inputs = graph_.at(merge).data;
    std::vector<std::optional<condition>> conditions;
    for (const auto& input : inputs)
      conditions.push_back(condition_of(input));
    for (size_t k = 0; k < inputs.size(); ++k) {
      if (!conditions[k] || (inputs.size() <= most_compared &&
                             std::ranges::any_of(conditions, [&](const auto& other) {
                               return other && is_wider(*other, *conditions[k]);
                             })))
        continue;
      alternative next{graph_.behind_exits(inputs[k]), {}, *conditions[k]};
      if (indices_.contains(merge))
        next.index = {add_index(merge, static_cast<int>(k), next.from, next.when), 0};
      alternatives.push_back(std::move(next));
    }
    if (alternatives.empty()) {
      graph_.at(merge).kind = flow::removed;
      graph_.hidden[graph_.at(merge).def.name()] = "never runs: none of its inputs does";
      return {};
    }
    alternative chosen;
    if (alternatives.size() == 1) {
      chosen = alternatives.front();
    } else {
      attempts_ = 0;
      auto joined = choose(merge, alternatives);
      if (!joined)
        return fail_unclear(merge, alternatives);
      chosen = *std::move(joined);
    }
    auto& merged = graph_.at(merge);
    merged.index = chosen.index;
    // Its control inputs may run under other conditions.
    auto has_controls = !merged.controls.empty();
    merged.kind = has_controls ? flow::plain : flow::pass;
    if (has_controls) {
      merged.def.set_op("Identity");
      merged.def.mutable_attr()->erase("N");
    }
    merged.data = {chosen.from};
    for (const auto& needed : chosen.when)
      merged.order.push_back(outcome_.predicates[static_cast<size_t>(needed.predicate)].by_switch);
    outcome_.when[merge] = chosen.when;
    return {};
  }

  // Finds a predicate that splits the alternatives in two, and recursively for both sides.
  std::optional<alternative> choose(int merge, const std::vector<alternative>& alternatives) {
    if (alternatives.size() == 1)
      return alternatives.front();
    for (const auto& candidate : alternatives.front().when) {
      if (++attempts_ > max_attempts)
        return {};
      const auto first_new = graph_.size();
      std::vector<alternative> sides[2];
      for (const auto& option : alternatives)
        for (const auto& needed : option.when)
          if (needed.predicate == candidate.predicate)
            sides[needed.holds ? 0 : 1].push_back(option);
      if (sides[0].size() + sides[1].size() != alternatives.size() || sides[0].empty() ||
          sides[1].empty())
        continue;
      auto on_true = choose(merge, sides[0]),
           on_false = on_true ? choose(merge, sides[1]) : on_true;
      if (!on_false) {
        forget(first_new);
        continue;
      }
      auto is_candidate = [&](const literal& needed) {
        return needed.predicate == candidate.predicate;
      };
      auto when = on_true->when, when_false = on_false->when;
      std::erase_if(when, is_candidate);
      std::erase_if(when_false, is_candidate);
      if (when != when_false) {
        forget(first_new);
        continue;
      }
      alternative merged{{}, {}, when};
      merged.from = {merge_two(merge, candidate.predicate, on_true->from, on_false->from, when), 0};
      if (on_true->index.item >= 0)
        merged.index = {
            merge_two(merge, candidate.predicate, on_true->index, on_false->index, when), 0};
      if (merged.index.item >= 0)
        graph_.at(merged.index.item).by_ref = false;
      return merged;
    }
    return {};
  }

  // Removes items of a failed attempt.
  void forget(int first) {
    for (int i = first; i < graph_.size(); ++i) {
      graph_.at(i).kind = flow::removed;
      outcome_.when.erase(i);
    }
  }

  int merge_two(int original, int predicate, source on_true, source on_false,
                const condition& when) {
    auto merged = copy_identity(original, "/merged");
    merged.kind = flow::merge;
    merged.def.set_op("Merge");
    merged.data = {on_true, on_false};
    merged.predicate = predicate;
    merged.by_ref = graph_.at(original).by_ref;
    merged.order.push_back(outcome_.predicates[static_cast<size_t>(predicate)].by_switch);
    return add(std::move(merged), when);
  }

  status fail_unclear(int merge, const std::vector<alternative>& alternatives) const {
    std::string text;
    for (const auto& option : alternatives) {
      if (text.size() > 500) {
        text += ", ...";
        break;
      }
      text += concat(text.empty() ? "" : ", ", '\'', graph_.named(option.from), "' exists ",
                     option.when.empty() ? "always" : "if ",
                     graph_def::to_text(option.when, graph_, outcome_));
    }
    return failure(error_kind::unimplemented,
                   "cannot become a branch, which takes exactly one input whenever it runs: ", text,
                   graph_.at(merge).data.size() > 100 ? " ..." : "");
  }

  // -- the order of predicates ------------------------------------------------------------------

  // Orders predicates: a branch is within those that its predicate needs, and those of its merges.
  status rank() {
    auto count = outcome_.predicates.size();
    std::vector<std::set<int>> before(count);
    for (size_t p = 0; p < count; ++p)
      if (auto when = condition_of(outcome_.predicates[p].from))
        for (const auto& needed : *when)
          before[p].insert(needed.predicate);
    for (auto i : graph_.part_at(part_).items)
      if (graph_.at(i).kind == flow::merge)
        for (const auto& needed : outcome_.when[i])
          before[static_cast<size_t>(graph_.at(i).predicate)].insert(needed.predicate);
    std::vector<std::vector<size_t>> after(count);
    std::vector<size_t> missing(count);
    std::set<size_t> ready;
    for (size_t p = 0; p < count; ++p) {
      missing[p] = before[p].size();
      for (auto b : before[p])
        after[static_cast<size_t>(b)].push_back(p);
      if (missing[p] == 0)
        ready.insert(p);
    }
    for (int next = 0; next < static_cast<int>(count); ++next) {
      if (ready.empty())
        return fail_overlap(missing);
      auto chosen = *ready.begin();
      ready.erase(ready.begin());
      outcome_.predicates[chosen].rank = next;
      for (auto p : after[chosen])
        if (--missing[p] == 0)
          ready.insert(p);
    }
    return {};
  }

  status fail_overlap(const std::vector<size_t>& missing) const {
    std::string names;
    int listed = 0;
    for (size_t p = 0; p < missing.size(); ++p)
      if (missing[p] > 0 && listed++ < 5)
        names +=
            concat(names.empty() ? "" : ", ", graph_.described(outcome_.predicates[p].by_switch));
    return failure(error_kind::unimplemented, "the branches of ", names,
                   " overlap: neither is within the other");
  }

  flow_graph& graph_;
  const int part_;
  const std::set<int>& indices_;
  std::map<source, bool> facts_; // values of predicates that are known around the loop
  std::map<source, int> known_;
  std::map<source, source> origins_;
  deadness outcome_;
  int attempts_ = 0;
};

} // namespace

const condition& deadness::condition_of(int item) const {
  static const condition always;
  auto entry = when.find(item);
  return entry == when.end() ? always : entry->second;
}

bool deadness::is_always_there(source value, const flow_graph& graph) const {
  if (!condition_of(value.item).empty() || graph.at(value.item).kind == flow::removed)
    return false;
  if (graph.at(value.item).kind != flow::switch_node)
    return true;
  auto fact = decided.find(value.item);
  return fact != decided.end() && fact->second == (value.output == 1);
}

void deadness::sort(condition& when) const {
  std::ranges::sort(when, {}, [this](const literal& needed) {
    return predicates[static_cast<size_t>(needed.predicate)].rank;
  });
}

result<deadness> find_deadness(flow_graph& graph, int part, const std::set<int>& indices) {
  return finder{graph, part, indices}.run();
}

std::string to_text(const condition& when, const flow_graph& graph, const deadness& known) {
  std::string text;
  for (const auto& needed : when)
    text += concat(text.empty() ? "" : " and ", '\'',
                   graph.named(known.predicates[static_cast<size_t>(needed.predicate)].from),
                   "' is ", needed.holds ? "true" : "false");
  return text;
}

} // namespace troupe::graph_def
