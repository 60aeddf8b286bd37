#include "troupe/serialization/graph_def/raise_loops.hpp"

#include "troupe/serialization/graph_def/function_library.hpp"
#include "troupe/serialization/graph_def/single_turn.hpp"

#include <algorithm>

namespace troupe::graph_def {
namespace {

constexpr int deepest_frame = 64;

struct frame {
  std::string name;
  int parent = -1, depth = 0;
  std::vector<int> members; // with the exits from it
  int64_t parallel = -1;
};

class loop_raiser {
public:
  explicit loop_raiser(flow_graph& in) : in_(in) {}

  result<int> run() {
    std::vector<int> all;
    for (int i = 0; i < in_.size(); ++i)
      all.push_back(i);
    TROUPE_ASSIGN(auto order, in_.ordered(all));
    frames_.push_back({});
    inside_.assign(all.size(), 0);
    outside_.assign(all.size(), 0);
    for (auto i : order)
      TROUPE_TRY(find_frame(i));
    TROUPE_TRY(check_ways_back(order));
    std::vector<int> by_depth;
    for (int f = 1; f < static_cast<int>(frames_.size()); ++f)
      by_depth.push_back(f);
    std::ranges::stable_sort(by_depth, std::greater<>{}, [this](int f) { return at(f).depth; });
    for (auto f : by_depth)
      if (auto raised = raise(f); !raised)
        return std::move(raised).within(concat("frame '", path(f), '\''));
    auto root = in_.add_part(-1);
    for (auto i : at(0).members)
      in_.move(i, root);
    return root;
  }

private:
  frame& at(int f) { return frames_[static_cast<size_t>(f)]; }
  const frame& at(int f) const { return frames_[static_cast<size_t>(f)]; }
  int& inside(int i) { return inside_[static_cast<size_t>(i)]; }
  int& outside(int i) { return outside_[static_cast<size_t>(i)]; } // where its outputs are

  std::string path(int f) const {
    auto text = at(f).name;
    for (f = at(f).parent; f > 0; f = at(f).parent)
      text = concat(at(f).name, '/', text);
    return text;
  }

  std::string where(int f) const { return f == 0 ? "outside" : concat("frame '", path(f), '\''); }

  // -- which node is in which frame -------------------------------------------------------------

  status find_frame(int i) {
    const auto& one = in_.at(i);
    int found = -1, like = -1;
    auto look = [&](int before) -> status {
      if (one.kind == flow::merge && in_.at(before).kind == flow::next)
        return {};
      if (found >= 0 && outside(before) != found)
        return mixed(i, like, before);
      found = outside(before);
      like = before;
      return {};
    };
    for (const auto& each : one.data)
      TROUPE_TRY(look(each.item));
    for (auto each : one.controls)
      TROUPE_TRY(look(each));
    inside(i) = outside(i) = std::max(found, 0);
    switch (one.kind) {
      case flow::enter: {
        TROUPE_ASSIGN(outside(i), entered(i));
        break;
      }
      case flow::leave:
        if (inside(i) == 0)
          return invalid(in_.described(i), " is in no frame that it could leave: it reads '",
                         in_.named(one.data[0]), '\'');
        outside(i) = at(inside(i)).parent;
        break;
      case flow::next:
      case flow::loop_cond:
        if (inside(i) == 0)
          return invalid(in_.described(i), " is in no frame: its loop needs an Enter");
        break;
      default: break;
    }
    at(one.kind == flow::leave ? inside(i) : outside(i)).members.push_back(i);
    return {};
  }

  // Says which of the two is not where it should be.
  status mixed(int i, int a, int b) const {
    auto fa = outside_[static_cast<size_t>(a)], fb = outside_[static_cast<size_t>(b)];
    auto inner = at(fa).depth < at(fb).depth ? b : a, other = inner == a ? b : a;
    auto fi = outside_[static_cast<size_t>(inner)], fo = outside_[static_cast<size_t>(other)];
    auto reads = [&](int what) { return concat('\'', in_.at(what).def.name(), '\''); };
    auto within_it = [&] {
      for (auto f = fi; f > 0; f = at(f).parent)
        if (at(f).parent == fo)
          return true;
      return false;
    }();
    if (within_it)
      return invalid(in_.described(i), " reads ", reads(inner), " of ", where(fi), " and ",
                     reads(other),
                     fo == 0 ? ", which is outside: " : concat(" of ", where(fo), ": "),
                     "either an Exit from the one is missing, or an Enter of the other");
    return invalid(in_.described(i), " in ", where(fi), " reads ", reads(other), " of ", where(fo),
                   " without an Exit");
  }

  result<int> entered(int i) {
    const auto& attrs = in_.at(i).def.attr();
    const auto* name = find(attrs, "frame_name");
    if (!name || name->s().empty())
      return invalid(in_.described(i), ": frame_name is missing");
    const auto* given = find(attrs, "parallel_iterations");
    int64_t parallel = given ? given->i() : 10;
    auto [known, fresh] = by_name_.emplace(std::pair{inside(i), name->s()}, 0);
    if (fresh) {
      known->second = static_cast<int>(frames_.size());
      frame made;
      made.name = name->s();
      made.parent = inside(i);
      made.depth = at(inside(i)).depth + 1;
      made.parallel = parallel;
      if (made.depth > deepest_frame)
        return failure(error_kind::unimplemented, in_.described(i),
                       ": frames are nested more than ", deepest_frame, " deep");
      frames_.push_back(std::move(made));
    }
    auto f = known->second;
    if (at(f).parallel != parallel)
      return invalid(in_.described(i), ": parallel_iterations is ", parallel, ", and ",
                     at(f).parallel, " for others of frame '", path(f), '\'');
    return f;
  }

  status check_ways_back(const std::vector<int>& order) {
    std::set<int> led;
    for (auto i : order) {
      auto is_merge = in_.at(i).kind == flow::merge;
      for (const auto& each : in_.at(i).data) {
        if (in_.at(each.item).kind != flow::next)
          continue;
        if (!is_merge)
          return invalid(in_.described(each.item), " is read by ", in_.described(i),
                         ", which is no Merge");
        if (outside(each.item) != outside(i))
          return invalid(in_.described(i), " of ", where(outside(i)), " reads ",
                         in_.described(each.item), " of ", where(outside(each.item)));
        led.insert(each.item);
      }
      for (auto each : in_.at(i).controls)
        if (in_.at(each).kind == flow::next)
          return invalid(in_.described(i), " waits for ", in_.described(each),
                         ", which belongs to the next turn");
    }
    for (auto i : order)
      if (in_.at(i).kind == flow::next && !led.contains(i))
        return invalid(in_.described(i), " in ", where(outside(i)), " leads to no Merge");
    return {};
  }

  // -- one frame --------------------------------------------------------------------------------

  status raise(int f) {
    frame_ = f;
    loop_ = {};
    for (auto i : at(f).members)
      if (in_.at(i).kind != flow::leave)
        loop_.members.insert(i);
    TROUPE_TRY(find_condition());
    find_roles();
    single_turn_nodes around{in_, loop_};
    TROUPE_ASSIGN(auto order, in_.ordered({loop_.members.begin(), loop_.members.end()}));
    around.sort(std::move(order));
    TROUPE_TRY(check_variables(around));
    TROUPE_TRY(need_around(around));
    TROUPE_TRY(choose_nodes(around));
    TROUPE_TRY(around.move_out(turn::first));
    TROUPE_TRY(make(around));
    TROUPE_TRY(around.move_out(turn::last));
    for (const auto& chosen : chosen_)
      for (auto i : chosen)
        if (around.is_moved(i))
          return invalid(in_.described(i), " runs in one turn only, and each turn needs it");
    for (int which = 0; which < 2; ++which)
      TROUPE_TRY(fill(which));
    TROUPE_TRY(connect_exits(around));
    for (auto i : at(f).members)
      if (in_.at(i).part < 0 && in_.at(i).kind != flow::leave && !around.is_moved(i))
        in_.at(i).kind = flow::gone;
    for (auto i : around.moved())
      put_around(i);
    return {};
  }

  // Makes an item one of the frame around.
  void put_around(int i) {
    auto size = std::max(inside_.size(), static_cast<size_t>(i) + 1);
    inside_.resize(size, -1);
    outside_.resize(size, -1);
    inside(i) = outside(i) = at(frame_).parent;
    at(at(frame_).parent).members.push_back(i);
  }

  status find_condition() {
    for (auto i : at(frame_).members) {
      if (in_.at(i).kind != flow::loop_cond)
        continue;
      if (loop_.condition >= 0)
        return invalid("has two conditions, ", in_.described(loop_.condition), " and ",
                       in_.described(i));
      loop_.condition = i;
    }
    if (loop_.condition < 0)
      return invalid("has no LoopCond: nothing ends the loop");
    return {};
  }

  // Whether the LoopCond is what a predicate is, perhaps behind an Identity.
  bool is_condition(source predicate) const {
    constexpr int longest = 64;
    for (int passed = 0; passed < longest; ++passed) {
      predicate = in_.behind_exits(predicate);
      const auto& from = in_.at(predicate.item);
      if (predicate.item == loop_.condition)
        return true;
      if (from.kind != flow::plain || from.def.op() != "Identity" || from.data.size() != 1 ||
          !from.controls.empty())
        return false;
      predicate = from.data[0];
    }
    return false;
  }

  void find_roles() {
    for (auto i : at(frame_).members) {
      const auto& node = in_.at(i);
      if (node.kind == flow::either && is_condition(node.data[1])) {
        loop_.by_switch.insert(i);
        continue;
      }
      if (node.kind != flow::merge)
        continue;
      auto next = std::ranges::find_if(
          node.data, [&](auto& each) { return in_.at(each.item).kind == flow::next; });
      if (next == node.data.end())
        continue;
      loop_.by_merge[i] = loop_.variables.size();
      auto initial = node.data[next == node.data.begin() && node.data.size() > 1 ? 1 : 0];
      loop_.variables.push_back(
          {i, next->item, in_.behind_exits(initial), in_.behind_exits(in_.at(next->item).data[0])});
    }
  }

  status check_variables(const single_turn_nodes& around) const {
    for (const auto& [merge, next, initial, result, arguments] : loop_.variables) {
      const auto& node = in_.at(merge);
      if (node.data.size() != 2)
        return invalid(in_.described(merge),
                       ": a loop's Merge has two inputs, of an Enter and of a "
                       "NextIteration, this node has ",
                       node.data.size());
      auto enters = in_.at(initial.item).kind == flow::enter;
      if (!enters && !around.runs_in(initial.item, turn::first))
        return invalid(in_.described(merge),
                       ": a loop's Merge reads an Enter and a NextIteration, not ",
                       in_.described(initial.item), " and ", in_.described(next));
      if (enters && is_constant(initial.item))
        return invalid(in_.described(merge), ": ", in_.described(initial.item),
                       " is constant in the loop, a variable of it cannot be");
      for (auto each : node.controls) {
        auto c = in_.behind_exits(each);
        if (around.acts(c) || around.runs_in_body(c) || around.runs_in(c, turn::first) ||
            around.runs_in(c, turn::last) ||
            (in_.at(c).kind == flow::enter && is_member(c) && !is_constant(c)))
          return failure(error_kind::unimplemented, in_.described(merge), ": waits for ",
                         in_.described(c), ", which has an effect or does not run in each turn");
      }
    }
    if (loop_.variables.empty())
      return invalid("has no loop variable: no Merge reads a NextIteration");
    return {};
  }

  // Notes the nodes that come to lie around the loop: behind an Enter, and before an Exit.
  status need_around(single_turn_nodes& around) const {
    for (const auto& variable : loop_.variables)
      if (in_.at(variable.initial.item).kind != flow::enter)
        TROUPE_TRY(
            around.need(variable.initial, turn::first).within(in_.described(variable.merge)));
    for (auto i : at(frame_).members) {
      const auto& exit = in_.at(i);
      if (exit.kind != flow::leave)
        continue;
      auto from = in_.behind_exits(exit.data[0]);
      auto by_switch = loop_.by_switch.contains(from.item) && from.output == 0;
      if (!by_switch && !around.runs_in(from.item, turn::last))
        return failure(error_kind::unimplemented, in_.described(i), " reads '", in_.named(from),
                       "': what leaves a loop comes from the first output of a Switch by the "
                       "LoopCond, which is there when the loop ends");
      TROUPE_TRY(around.need(from, turn::last).within(in_.described(i)));
      for (auto each : exit.controls) {
        auto c = in_.behind_exits(each);
        TROUPE_TRY(around.need_control(i, c, turn::last));
        if (around.runs_in(c, turn::last))
          TROUPE_TRY(around.need({c, -1}, turn::last).within(in_.described(i)));
      }
    }
    return {};
  }

  bool is_constant(int enter) const {
    const auto* value = find(in_.at(enter).def.attr(), "is_constant");
    return value && value->b();
  }

  bool is_member(int i) const {
    return static_cast<size_t>(i) < outside_.size() && outside_[static_cast<size_t>(i)] == frame_ &&
           in_.at(i).kind != flow::leave;
  }

  // Where the nodes of a turn end, looking back.
  bool ends(int i) const {
    return !is_member(i) || in_.at(i).kind == flow::enter || loop_.by_merge.contains(i) ||
           loop_.by_switch.contains(i) || i == loop_.condition;
  }

  // All before the roots, within the turn. `through` says whether to follow a control edge.
  template <class Follow>
  std::set<int> before(const std::vector<int>& roots, Follow&& follow) const {
    std::set<int> found;
    std::vector<int> open;
    auto visit = [&](int i) {
      if (!ends(i) && found.insert(i).second)
        open.push_back(i);
    };
    for (auto i : roots)
      visit(i);
    while (!open.empty()) {
      auto i = open.back();
      open.pop_back();
      for (const auto& each : in_.at(i).data) {
        auto from = in_.behind_exits(each);
        visit(loop_.by_switch.contains(from.item) ? behind_switch(from).item : from.item);
        if (from.item == loop_.condition)
          visit(in_.behind_exits(in_.at(loop_.condition).data[0]).item);
      }
      for (auto each : in_.at(i).controls)
        if (auto c = in_.behind_exits(each); follow(c))
          visit(c);
    }
    return found;
  }

  source behind_switch(source what) const { return in_.behind_exits(in_.at(what.item).data[0]); }

  // Nodes that run in each turn, and once more when the condition fails: they need no Switch.
  std::set<int> always(const std::set<int>& all) const {
    std::vector<int> list(all.begin(), all.end());
    std::set<int> found;
    const auto order = in_.ordered(list);
    if (!order)
      return found;
    for (auto i : *order) {
      // A Switch runs in each turn, and gives one of its outputs.
      auto is_always = [&](int from, bool control) {
        return (control || !loop_.by_switch.contains(from)) &&
               (!all.contains(from) || found.contains(from));
      };
      const auto& one = in_.at(i);
      if (std::ranges::all_of(
              one.data, [&](auto& s) { return is_always(in_.behind_exits(s).item, false); }) &&
          std::ranges::all_of(one.controls,
                              [&](int c) { return is_always(in_.behind_exits(c), true); }))
        found.insert(i);
    }
    return found;
  }

  status choose_nodes(const single_turn_nodes& around) {
    auto everything = [](int) { return true; };
    std::vector<int> roots{in_.behind_exits(in_.at(loop_.condition).data[0]).item};
    auto add_controls = [&](std::vector<int>& to, int of) {
      for (auto each : in_.at(of).controls)
        to.push_back(in_.behind_exits(each));
    };
    add_controls(roots, loop_.condition);
    std::vector<int> ends_of_body;
    for (const auto& one : loop_.variables) {
      auto from = one.result;
      ends_of_body.push_back(loop_.by_switch.contains(from.item) ? behind_switch(from).item
                                                                 : from.item);
      add_controls(ends_of_body, one.next);
    }
    auto body = before(ends_of_body, everything);
    for (auto i : always(body))
      if (in_.has_effect(i))
        roots.push_back(i);
    for (auto i : loop_.by_switch)
      for (auto each : in_.at(i).controls)
        if (auto c = in_.behind_exits(each); around.acts(c) && !around.runs_in_body(c))
          roots.push_back(c);
    roots.insert(roots.end(), around.effects().begin(), around.effects().end());
    chosen_[0] = before(roots, everything);
    for (auto i : chosen_[0])
      for (const auto& each : in_.at(i).data)
        if (loop_.by_switch.contains(in_.behind_exits(each).item))
          return invalid(in_.described(loop_.condition), " needs ", in_.described(i),
                         ", which runs only when the condition holds: it reads '", in_.named(each),
                         '\'');
    chosen_[1] = before(ends_of_body, [&](int c) { return !chosen_[0].contains(c); });
    for (auto i : chosen_[1])
      if (chosen_[0].contains(i) && in_.has_effect(i) && read_in_body(i))
        return failure(error_kind::unimplemented, in_.described(i),
                       " has an effect, or draws random numbers, and both the condition and the "
                       "body of the loop need it: move it into one of them");
    std::erase_if(chosen_[1], [&](int i) { return chosen_[0].contains(i) && in_.has_effect(i); });
    return {};
  }

  bool read_in_body(int i) const {
    auto reads = [&](const source& each) { return in_.behind_exits(each).item == i; };
    return std::ranges::any_of(loop_.variables, [&](auto& one) { return reads(one.result); }) ||
           std::ranges::any_of(chosen_[1],
                               [&](int by) { return std::ranges::any_of(in_.at(by).data, reads); });
  }

  // The loop as a node outside.
  status make(const single_turn_nodes& around) {
    const auto& condition = in_.at(loop_.condition).def;
    auto scope = condition.name().substr(0, condition.name().rfind('/'));
    item made;
    made.kind = flow::loop;
    made.def.set_op("While");
    made.def.set_name(in_.unique(scope.empty() ? "while" : scope));
    (*made.def.mutable_attr())["parallel_iterations"].set_i(
        std::max<int64_t>(at(frame_).parallel, 1));
    made.variables = loop_.variables.size();
    std::set<int> waits;
    auto enter = [&](int i) {
      made.data.push_back(in_.behind_exits(in_.at(i).data[0]));
      for (auto each : in_.at(i).controls)
        waits.insert(in_.behind_exits(each));
    };
    for (const auto& variable : loop_.variables) {
      const auto& from = in_.at(variable.initial.item);
      if (from.kind == flow::enter) {
        enter(variable.initial.item);
      } else {
        TROUPE_ASSIGN(auto initial, around.outside(variable.initial, turn::first));
        made.data.push_back(initial);
      }
      made.keeps_ref.push_back(from.kind == flow::enter && from.by_ref &&
                               in_.at(variable.next).by_ref);
    }
    for (auto i : needed_enters(around))
      if (is_constant(i))
        enter(i);
    made.controls.assign(waits.begin(), waits.end());
    auto loop = in_.add(std::move(made));
    put_around(loop);
    loop_.loop = loop;
    for (int which = 0; which < 2; ++which) {
      auto part = in_.add_part(loop);
      in_.at(loop).parts.push_back(part);
      for (size_t k = 0; k < loop_.variables.size(); ++k) {
        item argument;
        argument.kind = flow::argument;
        argument.part = part;
        argument.def.set_op("NoOp");
        argument.def.set_name(concat("_variable_", in_.size()));
        argument.slot = static_cast<int>(k);
        loop_.variables[k].arguments[which] = in_.add(std::move(argument));
      }
    }
    return {};
  }

  // The Enters that needed nodes read. A loop waits for no others.
  std::set<int> needed_enters(const single_turn_nodes& around) const {
    std::set<int> enters;
    auto look = [&](source from) {
      from = in_.behind_exits(from);
      while (is_member(from.item) &&
             (loop_.by_switch.contains(from.item) || from.item == loop_.condition))
        from = in_.behind_exits(in_.at(from.item).data[0]);
      if (is_member(from.item) && in_.at(from.item).kind == flow::enter)
        enters.insert(from.item);
    };
    auto look_before = [&](int i) {
      for (const auto& each : in_.at(i).data)
        look(each);
      for (auto each : in_.at(i).controls)
        look({each});
    };
    look_before(loop_.condition);
    for (const auto& variable : loop_.variables) {
      look_before(variable.merge);
      look_before(variable.next);
    }
    for (auto i : at(frame_).members)
      if (in_.at(i).kind == flow::leave)
        look_before(i);
    for (const auto* nodes : {&chosen_[0], &chosen_[1], &around.needed(turn::last)})
      for (auto i : *nodes)
        look_before(i);
    return enters;
  }

  // What a source within the frame is in the condition (0) or the body (1).
  result<source> within_part(source what, int which) {
    what = in_.behind_exits(what);
    for (;;) {
      if (what.item == loop_.condition)
        what = in_.behind_exits(in_.at(loop_.condition).data[0]);
      else if (loop_.by_switch.contains(what.item) && what.output == 1)
        what = behind_switch(what);
      else
        break;
    }
    if (loop_.by_switch.contains(what.item))
      return invalid("the body of the loop needs '", in_.named(what),
                     "', which is there when the loop ends");
    if (auto found = loop_.by_merge.find(what.item); found != loop_.by_merge.end()) {
      if (what.output != 0)
        return failure(error_kind::unimplemented, "value_index of ", in_.described(what.item),
                       ", a loop's Merge, is read");
      return source{loop_.variables[found->second].arguments[which]};
    }
    if (is_member(what.item) && in_.at(what.item).kind == flow::enter) {
      if (!is_constant(what.item))
        return invalid(in_.described(what.item), " is there in the first turn only: it must lead "
                                                 "to a Merge, or be constant");
      return in_.behind_exits(in_.at(what.item).data[0]);
    }
    if (auto copy = copies_.find(what.item); which == 1 && copy != copies_.end())
      what.item = copy->second;
    return what;
  }

  status fill(int which) {
    auto part = in_.at(loop_.loop).parts[static_cast<size_t>(which)];
    std::vector<std::pair<int, int>> all; // the item, and what it was
    if (which == 0) {
      copies_.clear();
      for (auto i : chosen_[1])
        if (chosen_[0].contains(i)) {
          auto copy = in_.at(i);
          copies_[i] = in_.add(std::move(copy));
        }
      inside_.resize(static_cast<size_t>(in_.size()), -1);
      outside_.resize(static_cast<size_t>(in_.size()), -1);
    }
    for (auto i : chosen_[which]) {
      auto copy = copies_.find(i);
      all.emplace_back(which == 1 && copy != copies_.end() ? copy->second : i, i);
    }
    for (auto [i, was] : all) {
      auto data = in_.at(i).data;
      for (auto& each : data) {
        auto moved = within_part(each, which);
        if (!moved)
          return moved.status().within(in_.described(was));
        each = *moved;
      }
      std::vector<int> controls;
      for (auto each : in_.at(i).controls) {
        auto c = in_.behind_exits(each);
        if (c == loop_.condition && which == 0)
          c = in_.behind_exits(in_.at(c).data[0]).item;
        if (ends(c) || !chosen_[which].contains(c) || (which == 1 && chosen_[0].contains(c)))
          continue; // it has run before
        controls.push_back(c);
      }
      in_.at(i).data = std::move(data);
      in_.at(i).controls = std::move(controls);
      in_.move(i, part);
      for (auto inner : in_.at(i).parts)
        TROUPE_TRY(in_.replace_reads(inner,
                                     [&](source& each) -> status {
                                       if (is_member(each.item)) {
                                         TROUPE_ASSIGN(each, within_part(each, which));
                                       }
                                       return {};
                                     })
                       .within(in_.described(was)));
      in_.hidden[in_.at(i).def.name()] = concat("is in the ", which == 0 ? "condition" : "body",
                                                " of the loop '", path(frame_), '\'');
    }
    auto give = [&](source what) -> status {
      TROUPE_ASSIGN(auto own, within_part(what, which));
      in_.part_at(part).results.push_back(own);
      return {};
    };
    if (which == 0)
      return give({loop_.condition});
    for (const auto& one : loop_.variables)
      if (auto given = give(one.result); !given)
        return std::move(given).within(in_.described(one.next));
    return {};
  }

  status connect_exits(const single_turn_nodes& around) {
    for (auto i : at(frame_).members)
      if (!around.is_moved(i) && in_.at(i).kind != flow::leave)
        in_.hidden.emplace(in_.at(i).def.name(), concat("is in the loop '", path(frame_), '\''));
    for (auto i : at(frame_).members) {
      if (in_.at(i).kind != flow::leave)
        continue;
      TROUPE_ASSIGN(auto value, around.outside(in_.at(i).data[0], turn::last));
      auto waits = around.outside_controls(i, turn::last);
      auto of_loop = value.item == loop_.loop || around.runs_in(value.item, turn::last);
      if (!of_loop || !waits.empty()) {
        // It is not there before the loop ends, and not at all where there is no loop.
        item identity;
        identity.def.set_op("Identity");
        identity.def.set_name(in_.unique(concat(in_.at(i).def.name(), "/value")));
        identity.def.set_device(in_.at(i).def.device());
        identity.data = {value};
        waits.insert(loop_.loop);
        identity.controls.assign(waits.begin(), waits.end());
        value = {in_.add(std::move(identity)), 0};
        put_around(value.item);
      }
      in_.exits[i] = value;
    }
    return {};
  }

  flow_graph& in_;
  std::vector<frame> frames_;
  std::vector<int> inside_, outside_;
  std::map<std::pair<int, std::string>, int> by_name_;
  // Of the frame that is being raised:
  int frame_ = 0;
  loop_frame loop_;
  std::set<int> chosen_[2];
  std::map<int, int> copies_; // of what the condition needs, too
};

} // namespace

result<int> raise_loops(flow_graph& in) { return loop_raiser{in}.run(); }

} // namespace troupe::graph_def
