// Random programs of TensorFlow 1's control flow, against an interpreter with the semantics of its
// executor: dead and live tokens, in frames and iterations.
#include "tests/support/catch.hpp"
#include "tests/support/watchdog.hpp"
#include "troupe/actors/session/client.hpp"
#include "troupe/api/internal/library.hpp"
#include "troupe/serialization/graph_def/graph_def.hpp"

#include <map>
#include <optional>
#include <random>
#include <set>

namespace troupe::test::first_control_flow_random_test {

namespace {

constexpr int prime = 997;
constexpr int variables = 3;

struct output {
  int node = -1;
  int index = 0;
};

struct program_node {
  std::string op;
  std::vector<output> inputs = {};
  std::vector<int> controls = {};
  int value = 0; ///< the value of a Const; the variable of an effect
  bool constant = false;
  int loop = -1; ///< the node's loop; of an Exit, the enclosing loop
};

struct program_loop {
  int around = -1;
  int condition = -1; ///< the LoopCond
};

struct program {
  std::vector<program_node> nodes;
  std::vector<program_loop> loops;
  std::vector<output> results; ///< the outputs that can be fetched

  static std::string name(int i) { return "n" + std::to_string(i); }

  std::string text() const {
    std::string graph_text;
    for (int v = 0; v < variables; ++v)
      graph_text +=
          concat("node { name: 'v", v,
                 "' op: 'VariableV2' attr { key: 'dtype' value { type: "
                 "DT_INT32 } } attr { key: 'shape' value { shape { } } } }\n",
                 "node { name: 'init", v, "' op: 'Assign' input: 'v", v, "' input: 'zero' }\n");
    graph_text += constant("zero", 0);
    for (size_t i = 0; i < nodes.size(); ++i) {
      const auto& added = nodes[i];
      auto own_name = name(static_cast<int>(i));
      if (added.op == "Const") {
        graph_text += constant(own_name, added.value, added.controls);
        continue;
      }
      graph_text += concat("node { name: '", own_name, "' op: '", added.op, '\'');
      for (const auto& input_output : added.inputs)
        graph_text += input_output.node < 0 ? concat(" input: 'v", input_output.index, '\'')
                                            : concat(" input: '", name(input_output.node), ':',
                                                     input_output.index, '\'');
      for (auto control : added.controls)
        graph_text += concat(" input: '^", name(control), '\'');
      if (added.op == "Enter" || added.op == "RefEnter")
        graph_text +=
            concat(" attr { key: 'frame_name' value { s: 'frame_", added.loop,
                   "' } } attr { key: 'is_constant' value { b: ", added.constant ? "true" : "false",
                   " } }");
      graph_text += " }\n";
    }
    return graph_text;
  }

  static std::string constant(const std::string& own_name, int value,
                              const std::vector<int>& controls = {}) {
    auto text = concat("node { name: '", own_name, "' op: 'Const'");
    for (auto control : controls)
      text += concat(" input: '^", name(control), '\'');
    return text +
           concat(" attr { key: 'dtype' value { type: DT_INT32 } } attr { key: 'value' value "
                  "{ tensor { dtype: DT_INT32 tensor_shape { } int_val: ",
                  value, " } } } }\n");
  }
};

// -- what TensorFlow does -------------------------------------------------------------------------

class interpreter {
public:
  explicit interpreter(const program& source) : program_(source) {}

  int changed[variables] = {};

  std::optional<int> value(output what) { return value(what, {}); }

  // Runs all nodes that the outputs need.
  void run(const std::vector<output>& requested) {
    std::set<int> needed;
    std::vector<int> open;
    auto visit = [&](int i) {
      if (i >= 0 && needed.insert(i).second)
        open.push_back(i);
    };
    for (const auto& requested_output : requested)
      visit(requested_output.node);
    while (!open.empty()) {
      const auto& opened = program_.nodes[static_cast<size_t>(open.back())];
      open.pop_back();
      for (const auto& input_output : opened.inputs)
        visit(input_output.node);
      for (auto control : opened.controls)
        visit(control);
    }
    for (auto i : needed)
      if (program_.nodes[static_cast<size_t>(i)].op == "AssignAdd")
        run_each_time(i, program_.nodes[static_cast<size_t>(i)].loop, {});
  }

private:
  using times = std::vector<int>; // the iteration of each frame, the outermost first

  std::vector<int> frames(int loop) const {
    std::vector<int> enclosing;
    for (; loop >= 0; loop = program_.loops[static_cast<size_t>(loop)].around)
      enclosing.insert(enclosing.begin(), loop);
    return enclosing;
  }

  void run_each_time(int i, int loop, times at) {
    auto enclosing = frames(loop);
    if (at.size() == enclosing.size()) {
      if (is_alive(i, at)) {
        const auto& candidate = program_.nodes[static_cast<size_t>(i)];
        changed[candidate.value] += *value(candidate.inputs[1], at);
      }
      return;
    }
    auto inner = enclosing[at.size()];
    auto condition = program_.loops[static_cast<size_t>(inner)].condition;
    for (at.push_back(0);; ++at.back()) {
      run_each_time(i, loop, at);
      auto condition_value = value({condition, 0}, at);
      if (!condition_value || *condition_value == 0)
        return;
    }
  }

  bool is_alive(int i, const times& at) {
    const auto& evaluated = program_.nodes[static_cast<size_t>(i)];
    for (const auto& input_output : evaluated.inputs)
      if (!is_there(input_output, at))
        return false;
    for (auto control : evaluated.controls)
      if (!value({control, -1}, at))
        return false;
    return true;
  }

  bool is_there(output target, const times& at) {
    return target.node < 0 || value(target, at).has_value();
  }

  std::optional<int> value(output target, const times& at) {
    if (target.node < 0)
      return 0;
    auto key = std::tuple{target.node, target.index, at};
    if (auto known_value = known_values_.find(key); known_value != known_values_.end())
      return known_value->second;
    auto computed = compute(target, at);
    known_values_[key] = computed;
    return computed;
  }

  std::optional<int> compute(output target, const times& at) {
    const auto& evaluated = program_.nodes[static_cast<size_t>(target.node)];
    auto outer = [&] {
      auto inner_times = at;
      inner_times.pop_back();
      return inner_times;
    };
    if (evaluated.op == "Enter" || evaluated.op == "RefEnter")
      return evaluated.constant || at.back() == 0 ? value(evaluated.inputs[0], outer())
                                                  : std::nullopt;
    if (evaluated.op == "Merge" && is_of_loop(evaluated)) {
      if (at.back() == 0)
        return value(evaluated.inputs[0], at);
      auto last = at;
      --last.back();
      return value(program_.nodes[static_cast<size_t>(evaluated.inputs[1].node)].inputs[0], last);
    }
    if (evaluated.op == "Exit")
      return last_value(evaluated, at);
    if (evaluated.op == "Merge") {
      for (size_t k = 0; k < evaluated.inputs.size(); ++k)
        if (auto input_value = value(evaluated.inputs[k], at))
          return target.index == 1 ? static_cast<int>(k) : *input_value;
      return {};
    }
    if (!is_alive(target.node, at))
      return {};
    auto input = [&](size_t k) { return *value(evaluated.inputs[k], at); };
    if (evaluated.op == "Switch")
      return target.index < 0 || (input(1) != 0) == (target.index == 1) ? std::optional{input(0)}
                                                                        : std::nullopt;
    if (evaluated.op == "Const")
      return evaluated.value;
    if (evaluated.op == "Add")
      return input(0) + input(1);
    if (evaluated.op == "Mul")
      return input(0) * input(1);
    if (evaluated.op == "FloorMod")
      return input(0) % input(1);
    if (evaluated.op == "Less")
      return input(0) < input(1);
    if (evaluated.op == "Identity" || evaluated.op == "LoopCond")
      return input(0);
    return 0; // NoOp, AssignAdd
  }

  bool is_of_loop(const program_node& merge) const {
    return merge.inputs.size() == 2 && merge.inputs[1].node >= 0 &&
           program_.nodes[static_cast<size_t>(merge.inputs[1].node)].op == "NextIteration";
  }

  // An Exit has the value that it reads in the last iteration of the loop.
  std::optional<int> last_value(const program_node& exit, const times& at) {
    auto loop = program_.nodes[static_cast<size_t>(exit.inputs[0].node)].loop;
    auto condition = program_.loops[static_cast<size_t>(loop)].condition;
    auto inner = at;
    for (inner.push_back(0);; ++inner.back()) {
      auto condition_value = value({condition}, inner);
      if (!condition_value)
        return {};
      if (*condition_value == 0)
        return value(exit.inputs[0], inner);
    }
  }

  const program& program_;
  std::map<std::tuple<int, int, times>, std::optional<int>> known_values_;
};

// -- random programs ------------------------------------------------------------------------------

class writer {
public:
  explicit writer(unsigned seed) : dice_(seed), max_nodes_(20 + seed % 100 * 4) {}

  program write() {
    block top;
    top.values = {constant(dice(20), top), constant(dice(20), top), constant(dice(20), top)};
    fill(top, 6, 0);
    made_.results = top.values;
    return std::move(made_);
  }

private:
  // The context of added nodes: their conditions and their loop.
  struct block {
    std::vector<output> values = {};
    std::vector<int> controls = {}; ///< controls of nodes without inputs
    int loop = -1;
    /// In a loop, the Merge of its counter. Effects wait for it, because TensorFlow runs only the
    /// live part of a loop that is needed.
    std::vector<int> anchor = {};
    std::vector<int> variables = {-1, -1, -1}; ///< their nodes in the loop
    /// The predicates of the enclosing branches, and the side of each.
    std::vector<std::pair<output, int>> known = {};
    /// Earlier branches: another branch with the same predicate may read values from them.
    struct old_branch {
      output predicate;
      std::vector<output> inner[2];
      int pivots[2];
    };
    std::vector<old_branch> old = {};
  };

  int dice(int sides) { return static_cast<int>(dice_() % static_cast<unsigned>(sides)); }

  int add(program_node new_node, const block& in) {
    new_node.loop = new_node.op == "Enter" || new_node.op == "RefEnter" ? new_node.loop : in.loop;
    made_.nodes.push_back(std::move(new_node));
    return static_cast<int>(made_.nodes.size()) - 1;
  }

  output constant(int value, const block& in) {
    return {add({.op = "Const", .controls = in.controls, .value = value}, in)};
  }

  output drawn(const block& in) {
    return in.values[static_cast<size_t>(dice(static_cast<int>(in.values.size())))];
  }

  output computed(block& in) {
    auto mixed = add({.op = dice(2) ? "Add" : "Mul", .inputs = {drawn(in), drawn(in)}}, in);
    return {add({.op = "FloorMod", .inputs = {{mixed}, constant(prime, in)}}, in)};
  }

  output predicate(block& in) {
    return {
        add({.op = "Less", .inputs = {drawn(in), dice(3) ? constant(dice(prime), in) : drawn(in)}},
            in)};
  }

  void fill(block& in, int statements, int depth) {
    for (int i = 0; i < statements && made_.nodes.size() < max_nodes_; ++i)
      switch (dice(depth < 4 ? 9 : 5)) {
        case 0:
        case 1: in.values.push_back(computed(in)); break;
        case 2: effect(in); break;
        case 3: in.values.push_back(constant(dice(prime), in)); break;
        case 4: lone_switch(in); break;
        case 5:
        case 6: branch(in, depth, predicate(in)); break;
        case 7: repeat_branch(in, depth); break;
        case 8: loop(in, depth); break;
        default: break;
      }
  }

  // An update, with or without a value that waits for it.
  void effect(block& in) {
    auto variable_index = dice(variables);
    auto at = in.variables[static_cast<size_t>(variable_index)];
    auto change = add({.op = "AssignAdd",
                       .inputs = {at < 0 ? output{-1, variable_index} : output{at}, drawn(in)},
                       .controls = in.anchor,
                       .value = variable_index},
                      in);
    if (dice(4))
      in.values.push_back(
          {add({.op = "Identity", .inputs = {drawn(in)}, .controls = {change}}, in)});
  }

  // A Switch without a Merge, and its dependents.
  void lone_switch(block& in) {
    auto switch_node = add({.op = "Switch", .inputs = {drawn(in), predicate(in)}}, in);
    auto arm = in;
    arm.values = {{switch_node, dice(2)}};
    arm.controls = {add({.op = "Identity", .inputs = arm.values}, in)};
    effect(arm);
  }

  block arm_of(const block& in, output switch_node, int side, int pivot) {
    auto arm = in;
    arm.old.clear();
    arm.controls = {pivot};
    arm.values.clear();
    for (int i = 1 + dice(3); i > 0; --i)
      arm.values.push_back({add({.op = "Switch", .inputs = {drawn(in), switch_node}}, in), side});
    return arm;
  }

  void branch(block& in, int depth, output switch_node,
              const std::vector<output>* extra_values = nullptr) {
    auto pivot = add({.op = "Switch", .inputs = {switch_node, switch_node}}, in);
    typename block::old_branch noted;
    noted.predicate = switch_node;
    std::vector<block> arms;
    for (int side = 0; side < 2; ++side) {
      auto pivot_node = add({.op = "Identity", .inputs = {{pivot, side}}}, in);
      arms.push_back(arm_of(in, switch_node, side, pivot_node));
      arms.back().known.emplace_back(switch_node, side);
      if (extra_values)
        arms.back().values.insert(arms.back().values.end(), extra_values[side].begin(),
                                  extra_values[side].end());
      fill(arms.back(), 1 + dice(3), depth + 1);
      noted.inner[side] = arms.back().values;
    }
    for (int i = dice(3); i >= 0; --i) {
      program_node merge{.op = "Merge", .inputs = {drawn(arms[0]), drawn(arms[1])}};
      if (dice(2))
        std::swap(merge.inputs[0], merge.inputs[1]);
      auto merged = add(std::move(merge), in);
      in.values.push_back({merged});
      if (dice(3) == 0)
        in.values.push_back({merged, 1});
    }
    in.old.push_back(std::move(noted));
  }

  // Like gradients: under the same predicate as an earlier branch, reading values from it.
  void repeat_branch(block& in, int depth) {
    if (in.old.empty())
      return branch(in, depth, predicate(in));
    auto old = in.old[static_cast<size_t>(dice(static_cast<int>(in.old.size())))];
    branch(in, depth, old.predicate, old.inner);
  }

  // A loop while it is written.
  struct open_loop {
    int index;
    block inside = {};               ///< the context of nodes that run in each iteration
    std::vector<int> merges = {};    ///< of the loop variables; the first is the counter's
    std::vector<output> merged = {}; ///< their values
    output limit = {};               ///< of the counter
    std::vector<output> fixed = {};  ///< values from outside
    int condition = -1;              ///< the LoopCond
    std::vector<int> switches = {};
  };

  void loop(block& in, int depth) {
    auto opened = begin_loop(in);
    add_condition(opened);
    auto body = opened.inside;
    auto counter = begin_body(in, opened, body);
    fill(body, 1 + dice(4), depth + 1);
    end_loop(in, opened, body, counter);
  }

  int enter(const open_loop& entered, const block& in, output source, bool is_constant,
            const char* op = "Enter") {
    return add({.op = op, .inputs = {source}, .constant = is_constant, .loop = entered.index}, in);
  }

  open_loop begin_loop(block& in) {
    open_loop opened{.index = static_cast<int>(made_.loops.size())};
    made_.loops.push_back({in.loop, -1});
    auto turns = add({.op = "FloorMod", .inputs = {drawn(in), constant(4, in)}}, in);
    std::vector<output> initial{constant(0, in)};
    for (int i = dice(3); i >= 0; --i)
      initial.push_back(drawn(in));
    auto& inside = opened.inside;
    inside.loop = opened.index;
    for (const auto& initial_value : initial) {
      auto first = enter(opened, in, initial_value, false);
      if (dice(4) == 0)
        first = add({.op = "Identity", .inputs = {{first}}}, inside);
      opened.merges.push_back(add({.op = "Merge", .inputs = {{first}, {first}}}, inside));
      opened.merged.push_back({opened.merges.back()});
    }
    opened.limit = {enter(opened, in, {turns}, true)};
    for (int i = dice(3); i > 0; --i)
      opened.fixed.push_back({enter(opened, in, drawn(in), true)});
    for (int v = 0; v < variables; ++v) {
      auto at = in.variables[static_cast<size_t>(v)];
      inside.variables[static_cast<size_t>(v)] =
          enter(opened, in, at < 0 ? output{-1, v} : output{at}, true, "RefEnter");
    }
    inside.anchor = {opened.merges[0]};
    return opened;
  }

  void add_condition(open_loop& opened) {
    auto test = opened.inside;
    test.controls = {opened.merges[0]};
    test.values = opened.merged;
    test.values.insert(test.values.end(), opened.fixed.begin(), opened.fixed.end());
    output turn{opened.merges[0]};
    if (dice(3) == 0) { // an effect in each test, including the last
      effect(test);
      turn = {add({.op = "Identity", .inputs = {turn}, .controls = {last_of(test)}}, test)};
    }
    auto comparison = add({.op = "Less", .inputs = {turn, opened.limit}}, test);
    opened.condition = add({.op = "LoopCond", .inputs = {{comparison}}}, test);
    made_.loops[static_cast<size_t>(opened.index)].condition = opened.condition;
  }

  // Adds the Switches of the loop variables. Returns the counter in the body.
  output begin_body(const block& in, open_loop& opened, block& body) {
    auto& inside = opened.inside;
    for (const auto& merge : opened.merged) {
      opened.switches.push_back(
          add({.op = "Switch", .inputs = {merge, {opened.condition}}}, inside));
      body.values.push_back(
          {add({.op = "Identity", .inputs = {{opened.switches.back(), 1}}}, inside)});
    }
    body.controls = {body.values[0].node};
    auto counter = body.values[0];
    if (dice(4) == 0) { // a Switch itself runs in each iteration, including the last
      auto switched = inside;
      switched.values = opened.merged;
      switched.anchor = {opened.switches[0]};
      effect(switched);
      counter = {
          add({.op = "Identity", .inputs = {counter}, .controls = {last_of(switched)}}, body)};
    }
    // In a branch, its predicate is evaluated again.
    for (const auto& [asked, side] : in.known)
      if (dice(2)) {
        auto predicate_input = enter(opened, in, asked, true);
        auto switch_node = add({.op = "Switch", .inputs = {counter, {predicate_input}}}, body);
        counter = {switch_node, side};
        inside.known.emplace_back(output{predicate_input}, side);
      }
    body.known = inside.known;
    for (const auto& fixed_value : opened.fixed)
      body.values.push_back(fixed_value);
    return counter;
  }

  void end_loop(block& in, const open_loop& opened, block& body, output counter) {
    const auto& merges = opened.merges;
    std::vector<output> next_values{
        {add({.op = "Add", .inputs = {counter, constant(1, body)}}, body)}};
    for (size_t k = 1; k < merges.size(); ++k) {
      // A loop variable exists in an iteration only if a Switch has let it through.
      auto next = drawn(body);
      next_values.push_back(
          {add({.op = "Identity", .inputs = {next}, .controls = {counter.node}}, body)});
    }
    std::vector<output> exits;
    for (size_t k = 0; k < merges.size(); ++k) {
      auto next = add({.op = "NextIteration", .inputs = {next_values[k]}}, body);
      made_.nodes[static_cast<size_t>(merges[k])].inputs[1] = {next};
      exits.push_back({add(
          {.op = "Exit", .inputs = {last_turn(opened.switches, k, opened.merged, opened.inside)}},
          in)});
    }
    // A loop runs completely: all its nodes are needed.
    auto sum = exits[0];
    for (size_t k = 1; k < exits.size(); ++k)
      sum = {add({.op = "Add", .inputs = {sum, exits[k]}}, in)};
    in.values.push_back({add({.op = "FloorMod", .inputs = {sum, constant(prime, in)}}, in)});
  }

  // The input of an Exit: the Switch, or nodes that run in the last iteration.
  output last_turn(const std::vector<int>& switches, size_t k, const std::vector<output>& merged,
                   const block& inside) {
    output last{switches[k], 0};
    if (dice(2)) {
      auto gate = add({.op = "NoOp", .controls = {switches.begin(), switches.end()}}, inside);
      last = {add({.op = "Identity", .inputs = {last}, .controls = {gate}}, inside)};
    }
    if (dice(4) == 0) {
      auto tail = inside;
      tail.controls = {add({.op = "Identity", .inputs = {last}}, inside)};
      tail.anchor = tail.controls;
      tail.values = {last, merged[static_cast<size_t>(dice(static_cast<int>(merged.size())))]};
      last = computed(tail);
      tail.values.push_back(last);
      if (dice(2)) {
        effect(tail);
        last = {add({.op = "Identity", .inputs = {last}, .controls = {last_of(tail)}}, inside)};
      }
      if (dice(2)) {
        branch(tail, 4, predicate(tail));
        last = tail.values[2 + static_cast<size_t>(dice(static_cast<int>(tail.values.size()) - 2))];
      }
      if (dice(4) == 0) {
        loop(tail, 4);
        last = tail.values.back();
      }
      last = {add({.op = "Identity", .inputs = {last}, .controls = tail.controls}, inside)};
    }
    return last;
  }

  // The last added update.
  int last_of(const block&) const {
    for (auto i = static_cast<int>(made_.nodes.size()); i-- > 0;)
      if (made_.nodes[static_cast<size_t>(i)].op == "AssignAdd")
        return i;
    return -1;
  }

  std::mt19937 dice_;
  const size_t max_nodes_;
  program made_;
};

struct world {
  world() {
    client_options options;
    options.ops = &library();
    options.make_devices = [] { return make_devices({.intra_op_threads = 1, .gpus = 0}); };
    auto started = client::local(options);
    REQUIRE(started);
    session = *std::move(started);
  }
  std::unique_ptr<client> session;
};

result<std::vector<tensor>> run(client& in, const graph& steps_graph, std::vector<edge> fetches,
                                std::vector<node*> targets = {}) {
  auto deadline = step_clock::now() + std::chrono::seconds{20};
  step_signature signature;
  signature.fetches = std::move(fetches);
  signature.targets = std::move(targets);
  TROUPE_ASSIGN(auto step, in.prepare(steps_graph, signature, deadline));
  return in.run(*step, {}, deadline);
}

std::string name_of(output requested) {
  return concat(program::name(requested.node), ':', requested.index);
}

// The variables of a program, in the graph that was read.
struct program_variables {
  explicit program_variables(const imported_graph& in) {
    for (int v = 0; v < variables; ++v) {
      initializers.push_back(in.find(concat("init", v)));
      values.push_back(*in.find_edge(concat("v", v)));
    }
  }

  void check(client& session, const graph& g, const interpreter& reference) const {
    auto state_after = run(session, g, values);
    REQUIRE(state_after);
    for (int v = 0; v < variables; ++v) {
      INFO("variable " << v);
      REQUIRE(*(*state_after)[static_cast<size_t>(v)].data<int32_t>() == reference.changed[v]);
    }
  }

  std::vector<node*> initializers;
  std::vector<edge> values;
};

void check(client& session, unsigned seed) {
  INFO("seed " << seed);
  auto random_program = writer{seed}.write();
  auto text = random_program.text();
  INFO(text);
  graph g{library()};
  auto in = read_graph_def_text(text, g);
  INFO(in.status());
  REQUIRE(in);
  std::mt19937 dice{seed};
  for (int step = 0; step < 3; ++step) {
    program_variables state{*in};
    REQUIRE(run(session, g, {}, state.initializers));
    std::vector<output> requested;
    std::vector<edge> fetches;
    std::string names;
    for (const auto& program_result : random_program.results)
      if (dice() % (step == 0 ? 1 : 3) == 0 || requested.empty()) {
        requested.push_back(program_result);
        names += concat(' ', name_of(program_result));
        auto edge_found = in->find_edge(name_of(program_result));
        INFO(edge_found.status());
        REQUIRE(edge_found);
        fetches.push_back(*edge_found);
      }
    INFO("fetches" << names);
    interpreter reference{random_program};
    reference.run(requested);
    auto got = run(session, g, fetches);
    INFO(got.status());
    REQUIRE(got);
    for (size_t i = 0; i < requested.size(); ++i) {
      INFO(name_of(requested[i]));
      auto expected = reference.value(requested[i]);
      REQUIRE(expected);
      REQUIRE(*(*got)[i].data<int32_t>() == *expected);
    }
    state.check(session, g, reference);
  }
}

// Some outputs of nodes outside of loops, among them values in branches.
std::vector<output> inner_outputs(const program& source, unsigned seed) {
  std::mt19937 dice{seed};
  std::vector<output> requested;
  std::set<int> of_one_exit; // a loop runs completely, in TensorFlow only its needed part
  for (size_t i = 0; i < source.nodes.size(); ++i) {
    const auto& candidate = source.nodes[i];
    if (candidate.op == "Exit" ||
        (candidate.op == "Add" && of_one_exit.contains(candidate.inputs[0].node)))
      of_one_exit.insert(static_cast<int>(i));
    if (candidate.loop < 0 && candidate.op != "AssignAdd" && candidate.op != "NoOp" &&
        dice() % 5 == 0 && !of_one_exit.contains(static_cast<int>(i)))
      requested.push_back({static_cast<int>(i), candidate.op == "Switch" || candidate.op == "Merge"
                                                    ? static_cast<int>(dice() % 2)
                                                    : 0});
  }
  return requested;
}

// A value in a branch exists if its side is taken.
void check_inner_value(client& session, const graph& g, const imported_graph& in,
                       const program& source, output requested) {
  program_variables state{in};
  REQUIRE(run(session, g, {}, state.initializers));
  INFO(name_of(requested));
  interpreter reference{source};
  auto expected = reference.value(requested);
  auto edge_found = in.find_edge(name_of(requested));
  INFO(edge_found.status());
  if (!edge_found) { // a Switch in a branch of its own predicate
    REQUIRE(edge_found.status().message().find("within a branch of its own predicate") !=
            std::string::npos);
    return;
  }
  auto got = run(session, g, {*edge_found});
  INFO(got.status());
  REQUIRE(got.ok() == expected.has_value());
  if (!expected) {
    REQUIRE(got.status().message().find("is dead: predicate") != std::string::npos);
    return;
  }
  const auto& value = (*got)[0];
  REQUIRE((value.type() == dtype::boolean ? *value.data<bool>() : *value.data<int32_t>()) ==
          *expected);
  reference.run({requested});
  state.check(session, g, reference);
}

void check_inner_values(client& session, unsigned seed) {
  INFO("seed " << seed);
  auto random_program = writer{seed}.write();
  auto text = random_program.text();
  INFO(text);
  auto requested = inner_outputs(random_program, seed);
  std::vector<std::string> names;
  for (int v = 0; v < variables; ++v) {
    names.push_back(concat("init", v));
    names.push_back(concat("v", v));
  }
  for (const auto& requested_output : requested)
    names.push_back(name_of(requested_output));
  graph g{library()};
  auto in = read_graph_def_text(text, g, {.wanted = names});
  INFO(in.status());
  REQUIRE(in);
  for (const auto& requested_output : requested)
    check_inner_value(session, g, *in, random_program, requested_output);
}

} // namespace

TEST_CASE("random branches and loops of TensorFlow 1 match its executor") {
  watchdog watch;
  world in;
  for (unsigned seed = 0; seed < 120; ++seed)
    check(*in.session, seed);
}

TEST_CASE(
    "random values in branches of TensorFlow 1 are fetched where its executor computes them") {
  watchdog watch;
  world in;
  for (unsigned seed = 0; seed < 20; ++seed)
    check_inner_values(*in.session, seed);
}

TEST_CASE("many random branches and loops of TensorFlow 1 match its executor", "[slow]") {
  world in;
  // TODO(limit): seed 2895 has a loop with effects that the condition and the body of the loop
  // around it need both, which is refused.
  for (unsigned seed = 1000; seed < 2800; ++seed) {
    watchdog watch;
    check(*in.session, seed);
    if (seed % 10 == 0)
      check_inner_values(*in.session, seed);
  }
}

} // namespace troupe::test::first_control_flow_random_test
