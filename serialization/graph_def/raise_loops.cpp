#include "troupe/serialization/graph_def/raise_loops.hpp"

#include "troupe/serialization/graph_def/function_library.hpp"
#include "troupe/serialization/graph_def/single_iteration.hpp"

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

// Copies the items that both the condition and the body of a loop have. Returns the copy of each.
std::map<int, int> copy_shared_items(flow_graph& graph, const std::set<int>& condition,
                                     const std::set<int>& body) {
  std::map<int, int> copies;
  for (auto i : body)
    if (condition.contains(i)) {
      auto copy = graph.at(i);
      copies[i] = graph.add(std::move(copy));
    }
  return copies;
}

class loop_raiser {
public:
  explicit loop_raiser(flow_graph& graph) : graph_(graph) {}

  result<int> run() {
    std::vector<int> items;
    for (int i = 0; i < graph_.size(); ++i)
      items.push_back(i);
    TROUPE_ASSIGN(auto order, graph_.ordered(items));
    frames_.push_back({});
    inside_.assign(items.size(), 0);
    outside_.assign(items.size(), 0);
    for (auto i : order)
      TROUPE_TRY(find_frame(i));
    TROUPE_TRY(check_ways_back(order));
    std::vector<int> by_depth;
    for (int f = 1; f < static_cast<int>(frames_.size()); ++f)
      by_depth.push_back(f);
    std::ranges::stable_sort(by_depth, std::greater<>{}, [this](int f) { return at(f).depth; });
    for (auto f : by_depth)
      if (auto raised = raise(f); !raised)
        return std::move(raised).with_context(concat("frame '", path(f), '\''));
    auto root = graph_.add_part(-1);
    for (auto i : at(0).members)
      graph_.move(i, root);
    return root;
  }

private:
  frame& at(int f) { return frames_[static_cast<size_t>(f)]; }
  const frame& at(int f) const { return frames_[static_cast<size_t>(f)]; }
  int& inside(int i) { return inside_[static_cast<size_t>(i)]; }
  int& outside(int i) { return outside_[static_cast<size_t>(i)]; } // the frame of its outputs

  std::string path(int f) const {
    auto text = at(f).name;
    for (f = at(f).parent; f > 0; f = at(f).parent)
      text = concat(at(f).name, '/', text);
    return text;
  }

  std::string where(int f) const { return f == 0 ? "outside" : concat("frame '", path(f), '\''); }

  // -- the frame of each node -------------------------------------------------------------------

  status find_frame(int i) {
    const auto& visited = graph_.at(i);
    int input_frame = -1, first_input = -1;
    auto check_input = [&](int input_item) -> status {
      if (visited.kind == flow::merge && graph_.at(input_item).kind == flow::next_iteration)
        return {};
      if (input_frame >= 0 && outside(input_item) != input_frame)
        return fail_mixed(i, first_input, input_item);
      input_frame = outside(input_item);
      first_input = input_item;
      return {};
    };
    for (const auto& input : visited.data)
      TROUPE_TRY(check_input(input.item));
    for (auto control : visited.controls)
      TROUPE_TRY(check_input(control));
    inside(i) = outside(i) = std::max(input_frame, 0);
    switch (visited.kind) {
      case flow::enter: {
        TROUPE_ASSIGN(outside(i), find_or_add_frame(i));
        break;
      }
      case flow::exit:
        if (inside(i) == 0)
          return invalid(graph_.described(i), " is in no frame that it could leave: it reads '",
                         graph_.named(visited.data[0]), '\'');
        outside(i) = at(inside(i)).parent;
        break;
      case flow::next_iteration:
      case flow::loop_cond:
        if (inside(i) == 0)
          return invalid(graph_.described(i), " is in no frame: its loop needs an Enter");
        break;
      default: break;
    }
    at(visited.kind == flow::exit ? inside(i) : outside(i)).members.push_back(i);
    return {};
  }

  // Describes inputs of two different frames, and names the one without an Exit or Enter.
  status fail_mixed(int i, int a, int b) const {
    auto frame_a = outside_[static_cast<size_t>(a)], frame_b = outside_[static_cast<size_t>(b)];
    auto inner = at(frame_a).depth < at(frame_b).depth ? b : a, other = inner == a ? b : a;
    auto inner_frame = outside_[static_cast<size_t>(inner)],
         other_frame = outside_[static_cast<size_t>(other)];
    auto quote = [&](int item_index) {
      return concat('\'', graph_.at(item_index).def.name(), '\'');
    };
    auto is_nested = [&] {
      for (auto f = inner_frame; f > 0; f = at(f).parent)
        if (at(f).parent == other_frame)
          return true;
      return false;
    }();
    if (is_nested)
      return invalid(graph_.described(i), " reads ", quote(inner), " of ", where(inner_frame),
                     " and ", quote(other),
                     other_frame == 0 ? ", which is outside: "
                                      : concat(" of ", where(other_frame), ": "),
                     "either an Exit from the one is missing, or an Enter of the other");
    return invalid(graph_.described(i), " in ", where(inner_frame), " reads ", quote(other), " of ",
                   where(other_frame), " without an Exit");
  }

  result<int> find_or_add_frame(int i) {
    const auto& attrs = graph_.at(i).def.attr();
    const auto* name = find(attrs, "frame_name");
    if (!name || name->s().empty())
      return invalid(graph_.described(i), ": frame_name is missing");
    const auto* parallel_attr = find(attrs, "parallel_iterations");
    int64_t parallel = parallel_attr ? parallel_attr->i() : 10;
    auto [position, is_new] = by_name_.emplace(std::pair{inside(i), name->s()}, 0);
    if (is_new) {
      position->second = static_cast<int>(frames_.size());
      frame added;
      added.name = name->s();
      added.parent = inside(i);
      added.depth = at(inside(i)).depth + 1;
      added.parallel = parallel;
      if (added.depth > deepest_frame)
        return failure(error_kind::unimplemented, graph_.described(i),
                       ": frames are nested more than ", deepest_frame, " deep");
      frames_.push_back(std::move(added));
    }
    auto f = position->second;
    if (at(f).parallel != parallel)
      return invalid(graph_.described(i), ": parallel_iterations is ", parallel, ", and ",
                     at(f).parallel, " for others of frame '", path(f), '\'');
    return f;
  }

  status check_ways_back(const std::vector<int>& order) {
    std::set<int> with_merge;
    for (auto i : order) {
      auto is_merge = graph_.at(i).kind == flow::merge;
      for (const auto& input : graph_.at(i).data) {
        if (graph_.at(input.item).kind != flow::next_iteration)
          continue;
        if (!is_merge)
          return invalid(graph_.described(input.item), " is read by ", graph_.described(i),
                         ", which is no Merge");
        if (outside(input.item) != outside(i))
          return invalid(graph_.described(i), " of ", where(outside(i)), " reads ",
                         graph_.described(input.item), " of ", where(outside(input.item)));
        with_merge.insert(input.item);
      }
      for (auto control : graph_.at(i).controls)
        if (graph_.at(control).kind == flow::next_iteration)
          return invalid(graph_.described(i), " waits for ", graph_.described(control),
                         ", which belongs to the next iteration");
    }
    for (auto i : order)
      if (graph_.at(i).kind == flow::next_iteration && !with_merge.contains(i))
        return invalid(graph_.described(i), " in ", where(outside(i)), " leads to no Merge");
    return {};
  }

  // -- one frame --------------------------------------------------------------------------------

  status raise(int f) {
    frame_ = f;
    loop_ = {};
    for (auto i : at(f).members)
      if (graph_.at(i).kind != flow::exit)
        loop_.members.insert(i);
    TROUPE_TRY(find_condition());
    find_roles();
    single_iteration_nodes single_nodes{graph_, loop_};
    TROUPE_ASSIGN(auto order, graph_.ordered({loop_.members.begin(), loop_.members.end()}));
    single_nodes.sort(std::move(order));
    TROUPE_TRY(check_variables(single_nodes));
    TROUPE_TRY(need_around(single_nodes));
    TROUPE_TRY(choose_nodes(single_nodes));
    TROUPE_TRY(single_nodes.move_out(iteration::first));
    TROUPE_TRY(make_loop(single_nodes));
    TROUPE_TRY(single_nodes.move_out(iteration::last));
    for (const auto& chosen : chosen_)
      for (auto i : chosen)
        if (single_nodes.is_moved(i))
          return invalid(graph_.described(i), " runs in one iteration only, and each needs it");
    for (int part_index = 0; part_index < 2; ++part_index)
      TROUPE_TRY(fill(part_index));
    TROUPE_TRY(connect_exits(single_nodes));
    for (auto i : at(f).members)
      if (graph_.at(i).part < 0 && graph_.at(i).kind != flow::exit && !single_nodes.is_moved(i))
        graph_.at(i).kind = flow::removed;
    for (auto i : single_nodes.moved())
      add_enclosing_call(i);
    return {};
  }

  // Adds an item to the outer frame.
  void add_enclosing_call(int i) {
    auto size = std::max(inside_.size(), static_cast<size_t>(i) + 1);
    inside_.resize(size, -1);
    outside_.resize(size, -1);
    inside(i) = outside(i) = at(frame_).parent;
    at(at(frame_).parent).members.push_back(i);
  }

  status find_condition() {
    for (auto i : at(frame_).members) {
      if (graph_.at(i).kind != flow::loop_cond)
        continue;
      if (loop_.condition >= 0)
        return invalid("has two conditions, ", graph_.described(loop_.condition), " and ",
                       graph_.described(i));
      loop_.condition = i;
    }
    if (loop_.condition < 0)
      return invalid("has no LoopCond: nothing ends the loop");
    return {};
  }

  // Whether a predicate is the LoopCond, perhaps behind Identities.
  bool is_condition(source predicate) const {
    constexpr int max_passed = 64;
    for (int passed = 0; passed < max_passed; ++passed) {
      predicate = graph_.behind_exits(predicate);
      const auto& from = graph_.at(predicate.item);
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
      const auto& node = graph_.at(i);
      if (node.kind == flow::switch_node && is_condition(node.data[1])) {
        loop_.by_switch.insert(i);
        continue;
      }
      if (node.kind != flow::merge)
        continue;
      auto next = std::ranges::find_if(node.data, [&](auto& input) {
        return graph_.at(input.item).kind == flow::next_iteration;
      });
      if (next == node.data.end())
        continue;
      loop_.by_merge[i] = loop_.variables.size();
      auto initial = node.data[next == node.data.begin() && node.data.size() > 1 ? 1 : 0];
      loop_.variables.push_back({i, next->item, graph_.behind_exits(initial),
                                 graph_.behind_exits(graph_.at(next->item).data[0])});
    }
  }

  status check_variables(const single_iteration_nodes& single_nodes) const {
    for (const auto& [merge, next, initial, result, arguments] : loop_.variables) {
      const auto& node = graph_.at(merge);
      if (node.data.size() != 2)
        return invalid(graph_.described(merge),
                       ": a loop's Merge has two inputs, of an Enter and of a "
                       "NextIteration, this node has ",
                       node.data.size());
      auto enters = graph_.at(initial.item).kind == flow::enter;
      if (!enters && !single_nodes.runs_in(initial.item, iteration::first))
        return invalid(graph_.described(merge),
                       ": a loop's Merge reads an Enter and a NextIteration, not ",
                       graph_.described(initial.item), " and ", graph_.described(next));
      if (enters && is_constant(initial.item))
        return invalid(graph_.described(merge), ": ", graph_.described(initial.item),
                       " is constant in the loop, which a loop variable cannot be");
      for (auto control : node.controls) {
        auto waited = graph_.behind_exits(control);
        if (single_nodes.acts(waited) || single_nodes.runs_in_body(waited) ||
            single_nodes.runs_in(waited, iteration::first) ||
            single_nodes.runs_in(waited, iteration::last) ||
            (graph_.at(waited).kind == flow::enter && is_member(waited) && !is_constant(waited)))
          return failure(error_kind::unimplemented, graph_.described(merge), ": waits for ",
                         graph_.described(waited),
                         ", which has an effect or does not run in each iteration");
      }
    }
    if (loop_.variables.empty())
      return invalid("has no loop variable: no Merge reads a NextIteration");
    return {};
  }

  // Finds the nodes that move out of the loop: those after an Enter, and those before an Exit.
  status need_around(single_iteration_nodes& single_nodes) const {
    for (const auto& variable : loop_.variables)
      if (graph_.at(variable.initial.item).kind != flow::enter)
        TROUPE_TRY(single_nodes.need(variable.initial, iteration::first)
                       .with_context(graph_.described(variable.merge)));
    for (auto i : at(frame_).members) {
      const auto& exit = graph_.at(i);
      if (exit.kind != flow::exit)
        continue;
      auto from = graph_.behind_exits(exit.data[0]);
      auto by_switch = loop_.by_switch.contains(from.item) && from.output == 0;
      if (!by_switch && !single_nodes.runs_in(from.item, iteration::last))
        return failure(error_kind::unimplemented, graph_.described(i), " reads '",
                       graph_.named(from),
                       "': the results of a loop come from the first output of a Switch by the "
                       "LoopCond, which exists when the loop ends");
      TROUPE_TRY(single_nodes.need(from, iteration::last).with_context(graph_.described(i)));
      for (auto control : exit.controls) {
        auto waited = graph_.behind_exits(control);
        TROUPE_TRY(single_nodes.need_control(i, waited, iteration::last));
        if (single_nodes.runs_in(waited, iteration::last))
          TROUPE_TRY(
              single_nodes.need({waited, -1}, iteration::last).with_context(graph_.described(i)));
      }
    }
    return {};
  }

  bool is_constant(int enter) const {
    const auto* value = find(graph_.at(enter).def.attr(), "is_constant");
    return value && value->b();
  }

  bool is_member(int i) const {
    return static_cast<size_t>(i) < outside_.size() && outside_[static_cast<size_t>(i)] == frame_ &&
           graph_.at(i).kind != flow::exit;
  }

  // Whether a backward search within an iteration stops at an item.
  bool ends(int i) const {
    return !is_member(i) || graph_.at(i).kind == flow::enter || loop_.by_merge.contains(i) ||
           loop_.by_switch.contains(i) || i == loop_.condition;
  }

  // All items before the roots, within the iteration. `follow` selects the control edges to follow.
  template <class Follow>
  std::set<int> predecessors_of(const std::vector<int>& roots, Follow&& follow) const {
    std::set<int> earlier;
    std::vector<int> open;
    auto visit = [&](int i) {
      if (!ends(i) && earlier.insert(i).second)
        open.push_back(i);
    };
    for (auto i : roots)
      visit(i);
    while (!open.empty()) {
      auto i = open.back();
      open.pop_back();
      for (const auto& input : graph_.at(i).data) {
        auto from = graph_.behind_exits(input);
        visit(loop_.by_switch.contains(from.item) ? behind_switch(from).item : from.item);
        if (from.item == loop_.condition)
          visit(graph_.behind_exits(graph_.at(loop_.condition).data[0]).item);
      }
      for (auto control : graph_.at(i).controls)
        if (auto waited = graph_.behind_exits(control); follow(waited))
          visit(waited);
    }
    return earlier;
  }

  source behind_switch(source value) const {
    return graph_.behind_exits(graph_.at(value.item).data[0]);
  }

  // Items that run in each iteration, and once more when the condition fails: they need no Switch.
  std::set<int> always(const std::set<int>& items) const {
    std::vector<int> item_list(items.begin(), items.end());
    std::set<int> unconditional;
    const auto order = graph_.ordered(item_list);
    if (!order)
      return unconditional;
    for (auto i : *order) {
      // A Switch runs in each iteration, and sets one of its outputs.
      auto is_always = [&](int from, bool is_control) {
        return (is_control || !loop_.by_switch.contains(from)) &&
               (!items.contains(from) || unconditional.contains(from));
      };
      const auto& tested = graph_.at(i);
      if (std::ranges::all_of(
              tested.data,
              [&](auto& s) { return is_always(graph_.behind_exits(s).item, false); }) &&
          std::ranges::all_of(tested.controls,
                              [&](int c) { return is_always(graph_.behind_exits(c), true); }))
        unconditional.insert(i);
    }
    return unconditional;
  }

  status choose_nodes(const single_iteration_nodes& single_nodes) {
    auto everything = [](int) { return true; };
    std::vector<int> roots{graph_.behind_exits(graph_.at(loop_.condition).data[0]).item};
    auto add_controls = [&](std::vector<int>& target, int waiting) {
      for (auto control : graph_.at(waiting).controls)
        target.push_back(graph_.behind_exits(control));
    };
    add_controls(roots, loop_.condition);
    std::vector<int> ends_of_body;
    for (const auto& variable : loop_.variables) {
      auto from = variable.result;
      ends_of_body.push_back(loop_.by_switch.contains(from.item) ? behind_switch(from).item
                                                                 : from.item);
      add_controls(ends_of_body, variable.next);
    }
    auto body = predecessors_of(ends_of_body, everything);
    for (auto i : always(body))
      if (graph_.has_effect(i))
        roots.push_back(i);
    for (auto i : loop_.by_switch)
      for (auto control : graph_.at(i).controls)
        if (auto waited = graph_.behind_exits(control);
            single_nodes.acts(waited) && !single_nodes.runs_in_body(waited))
          roots.push_back(waited);
    roots.insert(roots.end(), single_nodes.effects().begin(), single_nodes.effects().end());
    chosen_[0] = predecessors_of(roots, everything);
    for (auto i : chosen_[0])
      for (const auto& input : graph_.at(i).data)
        if (loop_.by_switch.contains(graph_.behind_exits(input).item))
          return invalid(graph_.described(loop_.condition), " needs ", graph_.described(i),
                         ", which runs only when the condition holds: it reads '",
                         graph_.named(input), '\'');
    chosen_[1] = predecessors_of(ends_of_body, [&](int c) { return !chosen_[0].contains(c); });
    for (auto i : chosen_[1])
      if (chosen_[0].contains(i) && graph_.has_effect(i) && read_in_body(i))
        return failure(error_kind::unimplemented, graph_.described(i),
                       " has an effect, or draws random numbers, and both the condition and the "
                       "body of the loop need it: move it into one of them");
    std::erase_if(chosen_[1],
                  [&](int i) { return chosen_[0].contains(i) && graph_.has_effect(i); });
    return {};
  }

  bool read_in_body(int i) const {
    auto reads = [&](const source& value) { return graph_.behind_exits(value).item == i; };
    return std::ranges::any_of(loop_.variables,
                               [&](auto& variable) { return reads(variable.result); }) ||
           std::ranges::any_of(chosen_[1], [&](int reader) {
             return std::ranges::any_of(graph_.at(reader).data, reads);
           });
  }

  // Makes the loop an item of the outer frame.
  status make_loop(const single_iteration_nodes& single_nodes) {
    const auto& condition = graph_.at(loop_.condition).def;
    auto scope = condition.name().substr(0, condition.name().rfind('/'));
    item created;
    created.kind = flow::loop;
    created.def.set_op("While");
    created.def.set_name(graph_.unique(scope.empty() ? "while" : scope));
    (*created.def.mutable_attr())["parallel_iterations"].set_i(
        std::max<int64_t>(at(frame_).parallel, 1));
    created.variables = loop_.variables.size();
    std::set<int> waits;
    auto enter = [&](int i) {
      created.data.push_back(graph_.behind_exits(graph_.at(i).data[0]));
      for (auto control : graph_.at(i).controls)
        waits.insert(graph_.behind_exits(control));
    };
    for (const auto& variable : loop_.variables) {
      const auto& from = graph_.at(variable.initial.item);
      if (from.kind == flow::enter) {
        enter(variable.initial.item);
      } else {
        TROUPE_ASSIGN(auto initial, single_nodes.outside(variable.initial, iteration::first));
        created.data.push_back(initial);
      }
      created.keeps_ref.push_back(from.kind == flow::enter && from.by_ref &&
                                  graph_.at(variable.next).by_ref);
    }
    for (auto i : needed_enters(single_nodes))
      if (is_constant(i))
        enter(i);
    created.controls.assign(waits.begin(), waits.end());
    auto loop = graph_.add(std::move(created));
    add_enclosing_call(loop);
    loop_.loop = loop;
    for (int part_index = 0; part_index < 2; ++part_index) {
      auto part = graph_.add_part(loop);
      graph_.at(loop).parts.push_back(part);
      for (size_t k = 0; k < loop_.variables.size(); ++k) {
        item argument;
        argument.kind = flow::argument;
        argument.part = part;
        argument.def.set_op("NoOp");
        argument.def.set_name(concat("_variable_", graph_.size()));
        argument.slot = static_cast<int>(k);
        loop_.variables[k].arguments[part_index] = graph_.add(std::move(argument));
      }
    }
    return {};
  }

  // The Enters that needed nodes read. The loop does not wait for others.
  std::set<int> needed_enters(const single_iteration_nodes& single_nodes) const {
    std::set<int> enters;
    auto visit = [&](source from) {
      from = graph_.behind_exits(from);
      while (is_member(from.item) &&
             (loop_.by_switch.contains(from.item) || from.item == loop_.condition))
        from = graph_.behind_exits(graph_.at(from.item).data[0]);
      if (is_member(from.item) && graph_.at(from.item).kind == flow::enter)
        enters.insert(from.item);
    };
    auto visit_inputs = [&](int i) {
      for (const auto& input : graph_.at(i).data)
        visit(input);
      for (auto control : graph_.at(i).controls)
        visit({control});
    };
    visit_inputs(loop_.condition);
    for (const auto& variable : loop_.variables) {
      visit_inputs(variable.merge);
      visit_inputs(variable.next);
    }
    for (auto i : at(frame_).members)
      if (graph_.at(i).kind == flow::exit)
        visit_inputs(i);
    for (const auto* nodes : {&chosen_[0], &chosen_[1], &single_nodes.needed(iteration::last)})
      for (auto i : *nodes)
        visit_inputs(i);
    return enters;
  }

  // Translates a source within the frame to the condition (0) or the body (1).
  result<source> within_part(source value, int part_index) {
    value = graph_.behind_exits(value);
    for (;;) {
      if (value.item == loop_.condition)
        value = graph_.behind_exits(graph_.at(loop_.condition).data[0]);
      else if (loop_.by_switch.contains(value.item) && value.output == 1)
        value = behind_switch(value);
      else
        break;
    }
    if (loop_.by_switch.contains(value.item))
      return invalid("the body of the loop needs '", graph_.named(value),
                     "', which exists only when the loop ends");
    if (auto merge = loop_.by_merge.find(value.item); merge != loop_.by_merge.end()) {
      if (value.output != 0)
        return failure(error_kind::unimplemented, "value_index of ", graph_.described(value.item),
                       ", a loop's Merge, is read");
      return source{loop_.variables[merge->second].arguments[part_index]};
    }
    if (is_member(value.item) && graph_.at(value.item).kind == flow::enter) {
      if (!is_constant(value.item))
        return invalid(graph_.described(value.item), " exists in the first iteration only: it must "
                                                     "lead to a Merge, or be constant");
      return graph_.behind_exits(graph_.at(value.item).data[0]);
    }
    if (auto copy = copies_.find(value.item); part_index == 1 && copy != copies_.end())
      value.item = copy->second;
    return value;
  }

  status fill(int part_index) {
    auto part = graph_.at(loop_.loop).parts[static_cast<size_t>(part_index)];
    std::vector<std::pair<int, int>> moved_items; // the item, and the original item
    if (part_index == 0) {
      copies_ = copy_shared_items(graph_, chosen_[0], chosen_[1]);
      inside_.resize(static_cast<size_t>(graph_.size()), -1);
      outside_.resize(static_cast<size_t>(graph_.size()), -1);
    }
    for (auto i : chosen_[part_index]) {
      auto copy = copies_.find(i);
      moved_items.emplace_back(part_index == 1 && copy != copies_.end() ? copy->second : i, i);
    }
    for (auto [i, original] : moved_items) {
      auto data = graph_.at(i).data;
      for (auto& input : data) {
        auto moved = within_part(input, part_index);
        if (!moved)
          return moved.status().with_context(graph_.described(original));
        input = *moved;
      }
      std::vector<int> controls;
      for (auto control : graph_.at(i).controls) {
        auto waited = graph_.behind_exits(control);
        if (waited == loop_.condition && part_index == 0)
          waited = graph_.behind_exits(graph_.at(waited).data[0]).item;
        if (ends(waited) || !chosen_[part_index].contains(waited) ||
            (part_index == 1 && chosen_[0].contains(waited)))
          continue; // it has run already
        controls.push_back(waited);
      }
      graph_.at(i).data = std::move(data);
      graph_.at(i).controls = std::move(controls);
      graph_.move(i, part);
      for (auto inner : graph_.at(i).parts)
        TROUPE_TRY(graph_
                       .replace_reads(inner,
                                      [&](source& input) -> status {
                                        if (is_member(input.item)) {
                                          TROUPE_ASSIGN(input, within_part(input, part_index));
                                        }
                                        return {};
                                      })
                       .with_context(graph_.described(original)));
      graph_.hidden[graph_.at(i).def.name()] =
          concat("is in the ", part_index == 0 ? "condition" : "body", " of the loop '",
                 path(frame_), '\'');
    }
    auto add_result = [&](source value) -> status {
      TROUPE_ASSIGN(auto inner, within_part(value, part_index));
      graph_.part_at(part).results.push_back(inner);
      return {};
    };
    if (part_index == 0)
      return add_result({loop_.condition});
    for (const auto& variable : loop_.variables)
      if (auto outcome = add_result(variable.result); !outcome)
        return std::move(outcome).with_context(graph_.described(variable.next));
    return {};
  }

  status connect_exits(const single_iteration_nodes& single_nodes) {
    for (auto i : at(frame_).members)
      if (!single_nodes.is_moved(i) && graph_.at(i).kind != flow::exit)
        graph_.hidden.emplace(graph_.at(i).def.name(),
                              concat("is in the loop '", path(frame_), '\''));
    for (auto i : at(frame_).members) {
      if (graph_.at(i).kind != flow::exit)
        continue;
      TROUPE_ASSIGN(auto value, single_nodes.outside(graph_.at(i).data[0], iteration::last));
      auto waits = single_nodes.outside_controls(i, iteration::last);
      auto is_of_loop =
          value.item == loop_.loop || single_nodes.runs_in(value.item, iteration::last);
      if (!is_of_loop || !waits.empty()) {
        // The value exists when the loop has ended, and only if the loop runs.
        item identity;
        identity.def.set_op("Identity");
        identity.def.set_name(graph_.unique(concat(graph_.at(i).def.name(), "/value")));
        identity.def.set_device(graph_.at(i).def.device());
        identity.data = {value};
        waits.insert(loop_.loop);
        identity.controls.assign(waits.begin(), waits.end());
        value = {graph_.add(std::move(identity)), 0};
        add_enclosing_call(value.item);
      }
      graph_.exits[i] = value;
    }
    return {};
  }

  flow_graph& graph_;
  std::vector<frame> frames_;
  std::vector<int> inside_, outside_;
  std::map<std::pair<int, std::string>, int> by_name_;
  // Of the frame that is being converted:
  int frame_ = 0;
  loop_frame loop_;
  std::set<int> chosen_[2];
  std::map<int, int> copies_; // in the body, of items that the condition needs, too
};

} // namespace

result<int> raise_loops(flow_graph& graph) { return loop_raiser{graph}.run(); }

} // namespace troupe::graph_def
