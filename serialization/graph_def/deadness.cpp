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
  finder(flow_graph& in, int part, const std::set<int>& indices)
      : in_(in), part_(part), indices_(indices) {
    if (auto owner = in.part_at(part).owner; owner >= 0)
      facts_.insert(in.at(owner).facts.begin(), in.at(owner).facts.end());
  }

  result<deadness> run() {
    TROUPE_ASSIGN(auto order, in_.ordered(in_.part_at(part_).items));
    for (auto i : order) {
      auto found = in_.at(i).kind == flow::merge ? join(i) : all_of(i);
      if (!found)
        return std::move(found).within(in_.described(i));
    }
    for (auto i : order)
      if (in_.at(i).kind != flow::gone)
        skip_pivots(i);
    TROUPE_TRY(rank());
    for (auto& [i, when] : found_.when)
      found_.sort(when);
    return std::move(found_);
  }

private:
  bool is_here(int i) const {
    return i >= 0 && in_.at(i).part == part_ && in_.at(i).kind != flow::argument;
  }

  // -- predicates -------------------------------------------------------------------------------

  // What a predicate is behind nodes that pass it on.
  source origin(source what) {
    std::vector<source> passed;
    for (;;) {
      what = in_.behind_exits(what);
      if (auto known = origins_.find(what); known != origins_.end()) {
        what = known->second;
        break;
      }
      passed.push_back(what);
      const auto& from = in_.at(what.item);
      auto passes =
          (from.kind == flow::either && !from.by_ref) || from.kind == flow::pass ||
          (from.kind == flow::plain && from.def.op() == "Identity" && from.data.size() == 1);
      if (!passes || what.output > (from.kind == flow::either ? 1 : 0) ||
          in_.is_reference(in_.behind_exits(from.data[0])))
        break;
      what = from.data[0];
    }
    for (const auto& each : passed)
      origins_[each] = what;
    return what;
  }

  // Of a Switch whose predicate is a fact, its value.
  std::optional<bool> decided(int by) {
    if (facts_.empty())
      return {};
    auto fact = facts_.find(origin(in_.at(by).data[1]));
    if (fact == facts_.end())
      return {};
    found_.decided[by] = fact->second;
    return fact->second;
  }

  int predicate_of(int by) {
    auto from = origin(in_.at(by).data[1]);
    auto [at, fresh] = known_.emplace(from, static_cast<int>(found_.predicates.size()));
    if (fresh)
      found_.predicates.push_back({from, by});
    return at->second;
  }

  // -- conditions -------------------------------------------------------------------------------

  // Nothing: it never runs.
  std::optional<condition> of(source what) {
    what = in_.behind_exits(what);
    if (!is_here(what.item))
      return condition{};
    auto when = of(what.item);
    const auto& from = in_.at(what.item);
    if (!when || from.kind != flow::either)
      return when;
    if (auto value = decided(what.item))
      return *value == (what.output == 1) ? when : std::nullopt;
    return together(*when, {{predicate_of(what.item), what.output == 1}});
  }

  std::optional<condition> of(int i) const {
    if (!is_here(i))
      return condition{};
    auto found = found_.when.find(i);
    return found == found_.when.end() ? std::nullopt : std::optional{found->second};
  }

  static std::optional<condition> together(const condition& a, const condition& b) {
    condition all;
    std::ranges::set_union(a, b, std::back_inserter(all));
    for (size_t i = 1; i < all.size(); ++i)
      if (all[i].predicate == all[i - 1].predicate)
        return {};
    return all;
  }

  status all_of(int i) {
    auto& one = in_.at(i);
    std::optional<condition> when{std::in_place};
    auto needs = [&](const std::optional<condition>& more) {
      when = when && more ? together(*when, *more) : std::nullopt;
    };
    if (one.kind != flow::trigger) {
      for (const auto& each : one.data)
        needs(of(each));
      for (auto each : one.controls)
        needs(of(in_.behind_exits(each)));
    }
    if (!when) {
      one.kind = flow::gone;
      in_.hidden[one.def.name()] = "never runs: it needs a predicate to be true and to be false";
      return {};
    }
    if (when->size() > deepest_condition)
      return failure(error_kind::unimplemented, "branches are nested more than ", deepest_condition,
                     " deep");
    found_.when[i] = *std::move(when);
    if (one.kind == flow::either && !decided(i))
      predicate_of(i);
    return {};
  }

  // A control edge from an Identity of a Switch says when a node runs, and nothing else.
  void skip_pivots(int i) {
    auto controls = std::exchange(in_.at(i).controls, {});
    for (auto c : controls) {
      auto by = is_pivot(c);
      if (by < 0) {
        in_.at(i).controls.push_back(c);
        continue;
      }
      in_.at(i).order.push_back(by);
      const auto& from = in_.at(by);
      if (origin(from.data[0]) != origin(from.data[1]) || !from.controls.empty())
        in_.at(i).controls.push_back(by);
    }
  }

  // The Switch behind it.
  int is_pivot(int i) const {
    i = in_.behind_exits(i);
    if (!is_here(i))
      return -1;
    const auto& one = in_.at(i);
    if (one.kind != flow::plain || one.def.op() != "Identity" || one.data.size() != 1 ||
        !one.controls.empty())
      return -1;
    auto by = in_.behind_exits(one.data[0]).item;
    return is_here(by) && in_.at(by).kind == flow::either && !in_.at(by).by_ref ? by : -1;
  }

  // -- merges -----------------------------------------------------------------------------------

  struct way {
    source from, index;
    condition when;
  };

  item made_like(int merge, std::string_view further) {
    item made;
    made.def.set_name(in_.unique(concat(in_.at(merge).def.name(), further)));
    made.def.set_device(in_.at(merge).def.device());
    return made;
  }

  int add(item made, const condition& when) {
    for (const auto& each : when)
      made.order.push_back(found_.predicates[static_cast<size_t>(each.predicate)].by_switch);
    auto i = in_.add(std::move(made));
    in_.move(i, part_);
    found_.when[i] = when;
    return i;
  }

  // Who asks for the number needs the value, too.
  int add_index(int merge, int value, source of, const condition& when) {
    auto made = made_like(merge, "/value_index");
    made.def.set_op("Const");
    made.controls = {of.item};
    auto& attrs = *made.def.mutable_attr();
    attrs["dtype"].set_type(DT_INT32);
    attrs["value"].mutable_tensor()->set_dtype(DT_INT32);
    attrs["value"].mutable_tensor()->mutable_tensor_shape();
    attrs["value"].mutable_tensor()->add_int_val(value);
    return add(std::move(made), when);
  }

  // Whether `a` holds whenever `b` does, and in other cases as well. Where an input of a Merge is
  // there, and another is there in more cases, TensorFlow takes either; here the Merge takes the
  // other always. Gradients of rows that a branch takes have such a Merge, of equal values.
  static bool is_wider(const condition& a, const condition& b) {
    return a.size() < b.size() && std::ranges::includes(b, a);
  }

  status join(int merge) {
    std::vector<way> ways;
    const auto given = in_.at(merge).data;
    std::vector<std::optional<condition>> conditions;
    for (const auto& each : given)
      conditions.push_back(of(each));
    for (size_t k = 0; k < given.size(); ++k) {
      if (!conditions[k] ||
          (given.size() <= most_compared && std::ranges::any_of(conditions, [&](const auto& other) {
             return other && is_wider(*other, *conditions[k]);
           })))
        continue;
      way next{in_.behind_exits(given[k]), {}, *conditions[k]};
      if (indices_.contains(merge))
        next.index = {add_index(merge, static_cast<int>(k), next.from, next.when), 0};
      ways.push_back(std::move(next));
    }
    if (ways.empty()) {
      in_.at(merge).kind = flow::gone;
      in_.hidden[in_.at(merge).def.name()] = "never runs: none of its inputs does";
      return {};
    }
    way all;
    if (ways.size() == 1) {
      all = ways.front();
    } else {
      attempts_ = 0;
      auto joined = one_of(merge, ways);
      if (!joined)
        return unclear(merge, ways);
      all = *std::move(joined);
    }
    auto& one = in_.at(merge);
    one.index = all.index;
    // What it waits for besides may run in other cases.
    auto waits = !one.controls.empty();
    one.kind = waits ? flow::plain : flow::pass;
    if (waits) {
      one.def.set_op("Identity");
      one.def.mutable_attr()->erase("N");
    }
    one.data = {all.from};
    for (const auto& each : all.when)
      one.order.push_back(found_.predicates[static_cast<size_t>(each.predicate)].by_switch);
    found_.when[merge] = all.when;
    return {};
  }

  // Finds a predicate that decides among the ways, and others for those on either side.
  std::optional<way> one_of(int merge, const std::vector<way>& ways) {
    if (ways.size() == 1)
      return ways.front();
    for (const auto& candidate : ways.front().when) {
      if (++attempts_ > max_attempts)
        return {};
      const auto made_before = in_.size();
      std::vector<way> sides[2];
      for (const auto& each : ways)
        for (const auto& one : each.when)
          if (one.predicate == candidate.predicate)
            sides[one.holds ? 0 : 1].push_back(each);
      if (sides[0].size() + sides[1].size() != ways.size() || sides[0].empty() || sides[1].empty())
        continue;
      auto taken = one_of(merge, sides[0]), other = taken ? one_of(merge, sides[1]) : taken;
      if (!other) {
        forget(made_before);
        continue;
      }
      auto is_it = [&](const literal& one) { return one.predicate == candidate.predicate; };
      auto when = taken->when, same = other->when;
      std::erase_if(when, is_it);
      std::erase_if(same, is_it);
      if (when != same) {
        forget(made_before);
        continue;
      }
      way made{{}, {}, when};
      made.from = {merge_two(merge, candidate.predicate, taken->from, other->from, when), 0};
      if (taken->index.item >= 0)
        made.index = {merge_two(merge, candidate.predicate, taken->index, other->index, when), 0};
      if (made.index.item >= 0)
        in_.at(made.index.item).by_ref = false;
      return made;
    }
    return {};
  }

  // Merges that led nowhere.
  void forget(int first) {
    for (int i = first; i < in_.size(); ++i) {
      in_.at(i).kind = flow::gone;
      found_.when.erase(i);
    }
  }

  int merge_two(int like, int predicate, source taken, source other, const condition& when) {
    auto made = made_like(like, "/merged");
    made.kind = flow::merge;
    made.def.set_op("Merge");
    made.data = {taken, other};
    made.predicate = predicate;
    made.by_ref = in_.at(like).by_ref;
    made.order.push_back(found_.predicates[static_cast<size_t>(predicate)].by_switch);
    return add(std::move(made), when);
  }

  status unclear(int merge, const std::vector<way>& ways) const {
    std::string text;
    for (const auto& each : ways) {
      if (text.size() > 500) {
        text += ", ...";
        break;
      }
      text +=
          concat(text.empty() ? "" : ", ", '\'', in_.named(each.from), "' is there ",
                 each.when.empty() ? "always" : "if ", graph_def::to_text(each.when, in_, found_));
    }
    return failure(error_kind::unimplemented,
                   "cannot become a branch, which takes exactly one input whenever it runs: ", text,
                   in_.at(merge).data.size() > 100 ? " ..." : "");
  }

  // -- the order of predicates ------------------------------------------------------------------

  // A branch lies within those that its predicate needs, and within those that its merges are in.
  status rank() {
    auto count = found_.predicates.size();
    std::vector<std::set<int>> before(count);
    for (size_t p = 0; p < count; ++p)
      if (auto when = of(found_.predicates[p].from))
        for (const auto& each : *when)
          before[p].insert(each.predicate);
    for (auto i : in_.part_at(part_).items)
      if (in_.at(i).kind == flow::merge)
        for (const auto& each : found_.when[i])
          before[static_cast<size_t>(in_.at(i).predicate)].insert(each.predicate);
    std::vector<std::vector<size_t>> after(count);
    std::vector<size_t> waits(count);
    std::set<size_t> ready;
    for (size_t p = 0; p < count; ++p) {
      waits[p] = before[p].size();
      for (auto b : before[p])
        after[static_cast<size_t>(b)].push_back(p);
      if (waits[p] == 0)
        ready.insert(p);
    }
    for (int next = 0; next < static_cast<int>(count); ++next) {
      if (ready.empty())
        return overlap(waits);
      auto chosen = *ready.begin();
      ready.erase(ready.begin());
      found_.predicates[chosen].rank = next;
      for (auto p : after[chosen])
        if (--waits[p] == 0)
          ready.insert(p);
    }
    return {};
  }

  status overlap(const std::vector<size_t>& waits) const {
    std::string names;
    int told = 0;
    for (size_t p = 0; p < waits.size(); ++p)
      if (waits[p] > 0 && told++ < 5)
        names += concat(names.empty() ? "" : ", ", in_.described(found_.predicates[p].by_switch));
    return failure(error_kind::unimplemented, "the branches of ", names,
                   " overlap: neither is within the other");
  }

  flow_graph& in_;
  const int part_;
  const std::set<int>& indices_;
  std::map<source, bool> facts_; // predicates around the loop
  std::map<source, int> known_;
  std::map<source, source> origins_;
  deadness found_;
  int attempts_ = 0;
};

} // namespace

const condition& deadness::of(int item) const {
  static const condition always;
  auto found = when.find(item);
  return found == when.end() ? always : found->second;
}

bool deadness::is_always_there(source what, const flow_graph& in) const {
  if (!of(what.item).empty() || in.at(what.item).kind == flow::gone)
    return false;
  if (in.at(what.item).kind != flow::either)
    return true;
  auto value = decided.find(what.item);
  return value != decided.end() && value->second == (what.output == 1);
}

void deadness::sort(condition& when) const {
  std::ranges::sort(when, {}, [this](const literal& each) {
    return predicates[static_cast<size_t>(each.predicate)].rank;
  });
}

result<deadness> find_deadness(flow_graph& in, int part, const std::set<int>& indices) {
  return finder{in, part, indices}.run();
}

std::string to_text(const condition& when, const flow_graph& in, const deadness& all) {
  std::string text;
  for (const auto& each : when)
    text += concat(text.empty() ? "" : " and ", '\'',
                   in.named(all.predicates[static_cast<size_t>(each.predicate)].from), "' is ",
                   each.holds ? "true" : "false");
  return text;
}

} // namespace troupe::graph_def
