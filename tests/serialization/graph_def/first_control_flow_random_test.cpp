// Random programs of TensorFlow 1's control flow, against an interpreter that does what its
// executor does: tokens that are dead or not, in frames and iterations.
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
  int value = 0; ///< of a Const; of an effect, which variable
  bool constant = false;
  int loop = -1; ///< that it is in; an Exit is in that around
};

struct program_loop {
  int around = -1;
  int condition = -1; ///< the LoopCond
};

struct program {
  std::vector<program_node> nodes;
  std::vector<program_loop> loops;
  std::vector<output> results; ///< what can be asked for

  static std::string name(int i) { return "n" + std::to_string(i); }

  std::string text() const {
    std::string made;
    for (int v = 0; v < variables; ++v)
      made += concat("node { name: 'v", v,
                     "' op: 'VariableV2' attr { key: 'dtype' value { type: "
                     "DT_INT32 } } attr { key: 'shape' value { shape { } } } }\n",
                     "node { name: 'init", v, "' op: 'Assign' input: 'v", v, "' input: 'zero' }\n");
    made += constant("zero", 0);
    for (size_t i = 0; i < nodes.size(); ++i) {
      const auto& one = nodes[i];
      auto own = name(static_cast<int>(i));
      if (one.op == "Const") {
        made += constant(own, one.value, one.controls);
        continue;
      }
      made += concat("node { name: '", own, "' op: '", one.op, '\'');
      for (const auto& each : one.inputs)
        made += each.node < 0 ? concat(" input: 'v", each.index, '\'')
                              : concat(" input: '", name(each.node), ':', each.index, '\'');
      for (auto each : one.controls)
        made += concat(" input: '^", name(each), '\'');
      if (one.op == "Enter" || one.op == "RefEnter")
        made += concat(
            " attr { key: 'frame_name' value { s: 'frame_", one.loop,
            "' } } attr { key: 'is_constant' value { b: ", one.constant ? "true" : "false", " } }");
      made += " }\n";
    }
    return made;
  }

  static std::string constant(const std::string& own, int value,
                              const std::vector<int>& controls = {}) {
    auto made = concat("node { name: '", own, "' op: 'Const'");
    for (auto each : controls)
      made += concat(" input: '^", name(each), '\'');
    return made +
           concat(" attr { key: 'dtype' value { type: DT_INT32 } } attr { key: 'value' value "
                  "{ tensor { dtype: DT_INT32 tensor_shape { } int_val: ",
                  value, " } } } }\n");
  }
};

// -- what TensorFlow does -------------------------------------------------------------------------

class interpreter {
public:
  explicit interpreter(const program& of) : of_(of) {}

  int changed[variables] = {};

  std::optional<int> value(output what) { return value(what, {}); }

  // Runs all that the outputs need.
  void run(const std::vector<output>& asked) {
    std::set<int> needed;
    std::vector<int> open;
    auto visit = [&](int i) {
      if (i >= 0 && needed.insert(i).second)
        open.push_back(i);
    };
    for (const auto& each : asked)
      visit(each.node);
    while (!open.empty()) {
      const auto& one = of_.nodes[static_cast<size_t>(open.back())];
      open.pop_back();
      for (const auto& each : one.inputs)
        visit(each.node);
      for (auto each : one.controls)
        visit(each);
    }
    for (auto i : needed)
      if (of_.nodes[static_cast<size_t>(i)].op == "AssignAdd")
        run_each_time(i, of_.nodes[static_cast<size_t>(i)].loop, {});
  }

private:
  using times = std::vector<int>; // the iteration of each frame, the outermost first

  std::vector<int> frames(int loop) const {
    std::vector<int> all;
    for (; loop >= 0; loop = of_.loops[static_cast<size_t>(loop)].around)
      all.insert(all.begin(), loop);
    return all;
  }

  void run_each_time(int i, int loop, times at) {
    auto all = frames(loop);
    if (at.size() == all.size()) {
      if (is_alive(i, at)) {
        const auto& one = of_.nodes[static_cast<size_t>(i)];
        changed[one.value] += *value(one.inputs[1], at);
      }
      return;
    }
    auto inner = all[at.size()];
    auto condition = of_.loops[static_cast<size_t>(inner)].condition;
    for (at.push_back(0);; ++at.back()) {
      run_each_time(i, loop, at);
      auto more = value({condition, 0}, at);
      if (!more || *more == 0)
        return;
    }
  }

  bool is_alive(int i, const times& at) {
    const auto& one = of_.nodes[static_cast<size_t>(i)];
    for (const auto& each : one.inputs)
      if (!is_there(each, at))
        return false;
    for (auto each : one.controls)
      if (!value({each, -1}, at))
        return false;
    return true;
  }

  bool is_there(output what, const times& at) {
    return what.node < 0 || value(what, at).has_value();
  }

  std::optional<int> value(output what, const times& at) {
    if (what.node < 0)
      return 0;
    auto key = std::tuple{what.node, what.index, at};
    if (auto known = known_.find(key); known != known_.end())
      return known->second;
    auto made = compute(what, at);
    known_[key] = made;
    return made;
  }

  std::optional<int> compute(output what, const times& at) {
    const auto& one = of_.nodes[static_cast<size_t>(what.node)];
    auto outer = [&] {
      auto made = at;
      made.pop_back();
      return made;
    };
    if (one.op == "Enter" || one.op == "RefEnter")
      return one.constant || at.back() == 0 ? value(one.inputs[0], outer()) : std::nullopt;
    if (one.op == "Merge" && is_of_loop(one)) {
      if (at.back() == 0)
        return value(one.inputs[0], at);
      auto last = at;
      --last.back();
      return value(of_.nodes[static_cast<size_t>(one.inputs[1].node)].inputs[0], last);
    }
    if (one.op == "Exit")
      return last_value(one, at);
    if (one.op == "Merge") {
      for (size_t k = 0; k < one.inputs.size(); ++k)
        if (auto found = value(one.inputs[k], at))
          return what.index == 1 ? static_cast<int>(k) : *found;
      return {};
    }
    if (!is_alive(what.node, at))
      return {};
    auto input = [&](size_t k) { return *value(one.inputs[k], at); };
    if (one.op == "Switch")
      return what.index < 0 || (input(1) != 0) == (what.index == 1) ? std::optional{input(0)}
                                                                    : std::nullopt;
    if (one.op == "Const")
      return one.value;
    if (one.op == "Add")
      return input(0) + input(1);
    if (one.op == "Mul")
      return input(0) * input(1);
    if (one.op == "FloorMod")
      return input(0) % input(1);
    if (one.op == "Less")
      return input(0) < input(1);
    if (one.op == "Identity" || one.op == "LoopCond")
      return input(0);
    return 0; // NoOp, AssignAdd
  }

  bool is_of_loop(const program_node& merge) const {
    return merge.inputs.size() == 2 && merge.inputs[1].node >= 0 &&
           of_.nodes[static_cast<size_t>(merge.inputs[1].node)].op == "NextIteration";
  }

  // An Exit gives what it reads in the turn that ends the loop.
  std::optional<int> last_value(const program_node& exit, const times& at) {
    auto loop = of_.nodes[static_cast<size_t>(exit.inputs[0].node)].loop;
    auto condition = of_.loops[static_cast<size_t>(loop)].condition;
    auto inner = at;
    for (inner.push_back(0);; ++inner.back()) {
      auto more = value({condition}, inner);
      if (!more)
        return {};
      if (*more == 0)
        return value(exit.inputs[0], inner);
    }
  }

  const program& of_;
  std::map<std::tuple<int, int, times>, std::optional<int>> known_;
};

// -- random programs ------------------------------------------------------------------------------

class writer {
public:
  explicit writer(unsigned seed) : dice_(seed), most_(20 + seed % 100 * 4) {}

  program write() {
    block top;
    top.values = {constant(dice(20), top), constant(dice(20), top), constant(dice(20), top)};
    fill(top, 6, 0);
    made_.results = top.values;
    return std::move(made_);
  }

private:
  // Where nodes are being added: under which conditions, in which loop.
  struct block {
    std::vector<output> values = {};
    std::vector<int> controls = {}; ///< of nodes that have no inputs
    int loop = -1;
    /// Of a loop, the Merge of its counter: effects wait for it, for TensorFlow runs what needs
    /// only that part of a loop which is not dead.
    std::vector<int> anchor = {};
    std::vector<int> variables = {-1, -1, -1}; ///< what stands for them in the loop
    /// Predicates of the branches around, and which side this is.
    std::vector<std::pair<output, int>> known = {};
    /// Branches that have been: another one of the same predicate may read what is in them.
    struct old_branch {
      output predicate;
      std::vector<output> inner[2];
      int pivots[2];
    };
    std::vector<old_branch> old = {};
  };

  int dice(int sides) { return static_cast<int>(dice_() % static_cast<unsigned>(sides)); }

  int add(program_node one, const block& in) {
    one.loop = one.op == "Enter" || one.op == "RefEnter" ? one.loop : in.loop;
    made_.nodes.push_back(std::move(one));
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
    for (int i = 0; i < statements && made_.nodes.size() < most_; ++i)
      switch (dice(depth < 4 ? 9 : 5)) {
        case 0:
        case 1: in.values.push_back(computed(in)); break;
        case 2: effect(in); break;
        case 3: in.values.push_back(constant(dice(prime), in)); break;
        case 4: alone(in); break;
        case 5:
        case 6: branch(in, depth, predicate(in)); break;
        case 7: again(in, depth); break;
        case 8: loop(in, depth); break;
        default: break;
      }
  }

  // An update that a value waits for, or nothing does.
  void effect(block& in) {
    auto which = dice(variables);
    auto at = in.variables[static_cast<size_t>(which)];
    auto change = add({.op = "AssignAdd",
                       .inputs = {at < 0 ? output{-1, which} : output{at}, drawn(in)},
                       .controls = in.anchor,
                       .value = which},
                      in);
    if (dice(4))
      in.values.push_back(
          {add({.op = "Identity", .inputs = {drawn(in)}, .controls = {change}}, in)});
  }

  // A Switch without a Merge, and what hangs on it.
  void alone(block& in) {
    auto by = add({.op = "Switch", .inputs = {drawn(in), predicate(in)}}, in);
    auto arm = in;
    arm.values = {{by, dice(2)}};
    arm.controls = {add({.op = "Identity", .inputs = arm.values}, in)};
    effect(arm);
  }

  block arm_of(const block& in, output by, int side, int pivot) {
    auto arm = in;
    arm.old.clear();
    arm.controls = {pivot};
    arm.values.clear();
    for (int i = 1 + dice(3); i > 0; --i)
      arm.values.push_back({add({.op = "Switch", .inputs = {drawn(in), by}}, in), side});
    return arm;
  }

  void branch(block& in, int depth, output by, const std::vector<output>* more = nullptr) {
    auto pivot = add({.op = "Switch", .inputs = {by, by}}, in);
    typename block::old_branch noted;
    noted.predicate = by;
    std::vector<block> arms;
    for (int side = 0; side < 2; ++side) {
      auto here = add({.op = "Identity", .inputs = {{pivot, side}}}, in);
      arms.push_back(arm_of(in, by, side, here));
      arms.back().known.emplace_back(by, side);
      if (more)
        arms.back().values.insert(arms.back().values.end(), more[side].begin(), more[side].end());
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

  // As gradients do: under the same predicate as before, with what was computed there.
  void again(block& in, int depth) {
    if (in.old.empty())
      return branch(in, depth, predicate(in));
    auto old = in.old[static_cast<size_t>(dice(static_cast<int>(in.old.size())))];
    branch(in, depth, old.predicate, old.inner);
  }

  void loop(block& in, int depth) {
    auto which = static_cast<int>(made_.loops.size());
    made_.loops.push_back({in.loop, -1});
    auto enter = [&](output what, bool constant, const char* op = "Enter") {
      return add({.op = op, .inputs = {what}, .constant = constant, .loop = which}, in);
    };
    auto turns = add({.op = "FloorMod", .inputs = {drawn(in), constant(4, in)}}, in);
    std::vector<output> initial{constant(0, in)};
    for (int i = dice(3); i >= 0; --i)
      initial.push_back(drawn(in));
    block inside;
    inside.loop = which;
    std::vector<int> merges;
    std::vector<output> merged;
    for (const auto& each : initial) {
      auto first = enter(each, false);
      if (dice(4) == 0)
        first = add({.op = "Identity", .inputs = {{first}}}, inside);
      merges.push_back(add({.op = "Merge", .inputs = {{first}, {first}}}, inside));
      merged.push_back({merges.back()});
    }
    output limit{enter({turns}, true)};
    std::vector<output> fixed;
    for (int i = dice(3); i > 0; --i)
      fixed.push_back({enter(drawn(in), true)});
    for (int v = 0; v < variables; ++v) {
      auto at = in.variables[static_cast<size_t>(v)];
      inside.variables[static_cast<size_t>(v)] =
          enter(at < 0 ? output{-1, v} : output{at}, true, "RefEnter");
    }
    inside.anchor = {merges[0]};
    auto test = inside;
    test.controls = {merges[0]};
    test.values = merged;
    test.values.insert(test.values.end(), fixed.begin(), fixed.end());
    output turn{merges[0]};
    if (dice(3) == 0) { // an effect in each test, also in the last
      effect(test);
      turn = {add({.op = "Identity", .inputs = {turn}, .controls = {last_of(test)}}, test)};
    }
    auto less = add({.op = "Less", .inputs = {turn, limit}}, test);
    auto condition = add({.op = "LoopCond", .inputs = {{less}}}, test);
    made_.loops[static_cast<size_t>(which)].condition = condition;
    auto body = inside;
    std::vector<int> switches;
    for (const auto& each : merged) {
      switches.push_back(add({.op = "Switch", .inputs = {each, {condition}}}, inside));
      body.values.push_back({add({.op = "Identity", .inputs = {{switches.back(), 1}}}, inside)});
    }
    body.controls = {body.values[0].node};
    auto counter = body.values[0];
    if (dice(4) == 0) { // a Switch itself runs in each turn, with the last
      auto each = inside;
      each.values = merged;
      each.anchor = {switches[0]};
      effect(each);
      counter = {add({.op = "Identity", .inputs = {counter}, .controls = {last_of(each)}}, body)};
    }
    // In a branch, its predicate is asked again.
    for (const auto& [asked, side] : in.known)
      if (dice(2)) {
        auto again = enter(asked, true);
        auto by = add({.op = "Switch", .inputs = {counter, {again}}}, body);
        counter = {by, side};
        inside.known.emplace_back(output{again}, side);
      }
    body.known = inside.known;
    for (const auto& each : fixed)
      body.values.push_back(each);
    fill(body, 1 + dice(4), depth + 1);
    std::vector<output> given{{add({.op = "Add", .inputs = {counter, constant(1, body)}}, body)}};
    for (size_t k = 1; k < merges.size(); ++k) {
      // A loop variable is not there in each turn, but where a Switch has let it through.
      auto next = drawn(body);
      given.push_back(
          {add({.op = "Identity", .inputs = {next}, .controls = {counter.node}}, body)});
    }
    std::vector<output> exits;
    for (size_t k = 0; k < merges.size(); ++k) {
      auto next = add({.op = "NextIteration", .inputs = {given[k]}}, body);
      made_.nodes[static_cast<size_t>(merges[k])].inputs[1] = {next};
      exits.push_back(
          {add({.op = "Exit", .inputs = {last_turn(switches, k, merged, inside)}}, in)});
    }
    // A loop runs as a whole: all of it is needed.
    auto sum = exits[0];
    for (size_t k = 1; k < exits.size(); ++k)
      sum = {add({.op = "Add", .inputs = {sum, exits[k]}}, in)};
    in.values.push_back({add({.op = "FloorMod", .inputs = {sum, constant(prime, in)}}, in)});
  }

  // What an Exit reads: the Switch, or nodes that run in the last turn.
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

  // The update that was added last.
  int last_of(const block&) const {
    for (auto i = static_cast<int>(made_.nodes.size()); i-- > 0;)
      if (made_.nodes[static_cast<size_t>(i)].op == "AssignAdd")
        return i;
    return -1;
  }

  std::mt19937 dice_;
  const size_t most_;
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

result<std::vector<tensor>> run(client& in, const graph& of, std::vector<edge> fetches,
                                std::vector<node*> targets = {}) {
  auto deadline = step_clock::now() + std::chrono::seconds{20};
  step_signature signature;
  signature.fetches = std::move(fetches);
  signature.targets = std::move(targets);
  TROUPE_ASSIGN(auto step, in.prepare(of, signature, deadline));
  return in.run(*step, {}, deadline);
}

void check(client& session, unsigned seed) {
  INFO("seed " << seed);
  auto made = writer{seed}.write();
  auto text = made.text();
  INFO(text);
  graph g{library()};
  auto in = read_graph_def_text(text, g);
  INFO(in.status());
  REQUIRE(in);
  std::mt19937 dice{seed};
  for (int step = 0; step < 3; ++step) {
    std::vector<node*> inits;
    std::vector<edge> state;
    for (int v = 0; v < variables; ++v) {
      inits.push_back(in->find(concat("init", v)));
      state.push_back(*in->find_edge(concat("v", v)));
    }
    REQUIRE(run(session, g, {}, inits));
    std::vector<output> asked;
    std::vector<edge> fetches;
    std::string names;
    for (const auto& each : made.results)
      if (dice() % (step == 0 ? 1 : 3) == 0 || asked.empty()) {
        asked.push_back(each);
        names += concat(' ', program::name(each.node), ':', each.index);
        auto found = in->find_edge(concat(program::name(each.node), ':', each.index));
        INFO(found.status());
        REQUIRE(found);
        fetches.push_back(*found);
      }
    INFO("fetches" << names);
    interpreter by{made};
    by.run(asked);
    auto got = run(session, g, fetches);
    INFO(got.status());
    REQUIRE(got);
    for (size_t i = 0; i < asked.size(); ++i) {
      INFO(program::name(asked[i].node) << ':' << asked[i].index);
      auto expected = by.value(asked[i]);
      REQUIRE(expected);
      REQUIRE(*(*got)[i].data<int32_t>() == *expected);
    }
    auto after = run(session, g, state);
    REQUIRE(after);
    for (int v = 0; v < variables; ++v) {
      INFO("variable " << v);
      REQUIRE(*(*after)[static_cast<size_t>(v)].data<int32_t>() == by.changed[v]);
    }
  }
}

// Values in branches are there if their side is taken.
void check_inner_values(client& session, unsigned seed) {
  INFO("seed " << seed);
  auto made = writer{seed}.write();
  auto text = made.text();
  INFO(text);
  std::mt19937 dice{seed};
  std::vector<output> asked;
  std::set<int> of_one_exit; // a loop runs as a whole, in TensorFlow only as far as it is needed
  for (size_t i = 0; i < made.nodes.size(); ++i) {
    const auto& one = made.nodes[i];
    if (one.op == "Exit" || (one.op == "Add" && of_one_exit.contains(one.inputs[0].node)))
      of_one_exit.insert(static_cast<int>(i));
    if (one.loop < 0 && one.op != "AssignAdd" && one.op != "NoOp" && dice() % 5 == 0 &&
        !of_one_exit.contains(static_cast<int>(i)))
      asked.push_back({static_cast<int>(i),
                       one.op == "Switch" || one.op == "Merge" ? static_cast<int>(dice() % 2) : 0});
  }
  std::vector<std::string> names;
  for (int v = 0; v < variables; ++v) {
    names.push_back(concat("init", v));
    names.push_back(concat("v", v));
  }
  for (const auto& each : asked)
    names.push_back(concat(program::name(each.node), ':', each.index));
  graph g{library()};
  auto in = read_graph_def_text(text, g, {.wanted = names});
  INFO(in.status());
  REQUIRE(in);
  for (const auto& each : asked) {
    std::vector<node*> inits;
    std::vector<edge> state;
    for (int v = 0; v < variables; ++v) {
      inits.push_back(in->find(concat("init", v)));
      state.push_back(*in->find_edge(concat("v", v)));
    }
    REQUIRE(run(session, g, {}, inits));
    auto name = concat(program::name(each.node), ':', each.index);
    INFO(name);
    interpreter by{made};
    auto expected = by.value(each);
    auto found = in->find_edge(name);
    INFO(found.status());
    if (!found) { // a Switch in a branch of its own predicate
      REQUIRE(found.status().message().find("within a branch of its own predicate") !=
              std::string::npos);
      continue;
    }
    auto got = run(session, g, {*found});
    INFO(got.status());
    REQUIRE(got.ok() == expected.has_value());
    if (!expected) {
      REQUIRE(got.status().message().find("is dead: predicate") != std::string::npos);
      continue;
    }
    const auto& value = (*got)[0];
    REQUIRE((value.type() == dtype::boolean ? *value.data<bool>() : *value.data<int32_t>()) ==
            *expected);
    by.run({each});
    auto after = run(session, g, state);
    REQUIRE(after);
    for (int v = 0; v < variables; ++v) {
      INFO("variable " << v);
      REQUIRE(*(*after)[static_cast<size_t>(v)].data<int32_t>() == by.changed[v]);
    }
  }
}

} // namespace

TEST_CASE("random branches and loops of TensorFlow 1 do what its executor does") {
  watchdog watch;
  world in;
  for (unsigned seed = 0; seed < 120; ++seed)
    check(*in.session, seed);
}

TEST_CASE("random values in branches of TensorFlow 1 are fetched where its executor has them") {
  watchdog watch;
  world in;
  for (unsigned seed = 0; seed < 20; ++seed)
    check_inner_values(*in.session, seed);
}

TEST_CASE("many random branches and loops of TensorFlow 1 do what its executor does", "[slow]") {
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
