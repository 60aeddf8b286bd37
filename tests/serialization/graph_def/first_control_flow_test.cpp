// TensorFlow 1's Switch, Merge and frames are converted to branches and loops.
#include "tests/support/catch.hpp"
#include "tests/support/watchdog.hpp"
#include "troupe/actors/session/client.hpp"
#include "troupe/api/internal/library.hpp"
#include "troupe/runtime/graph/function.hpp"
#include "troupe/serialization/graph_def/graph_def.hpp"

namespace troupe::test::first_control_flow_test {
namespace {

using Catch::Matchers::Contains;

// "name = Op(input, input:1, ^control) attributes", one per line; a number is a Const of i32.
std::string nodes(std::string_view lines) {
  std::string graph_text;
  while (!lines.empty()) {
    auto end = std::min(lines.find('\n'), lines.size());
    std::string line{lines.substr(0, end)};
    lines.remove_prefix(std::min(end + 1, lines.size()));
    auto equals_position = line.find(" = ");
    if (equals_position == line.npos)
      continue;
    auto name =
        line.substr(line.find_first_not_of(' '), equals_position - line.find_first_not_of(' '));
    auto definition = line.substr(equals_position + 3);
    auto open = definition.find('('), close = definition.rfind(')');
    if (open == definition.npos) {
      graph_text +=
          concat("node { name: '", name, "' op: 'Const' attr { key: 'dtype' value { type: ",
                 definition == "true" || definition == "false" ? "DT_BOOL" : "DT_INT32",
                 " } } attr { key: 'value' value { tensor { dtype: ",
                 definition == "true" || definition == "false" ? "DT_BOOL bool_val: "
                                                               : "DT_INT32 int_val: ",
                 definition, " tensor_shape { } } } } }\n");
      continue;
    }
    graph_text += concat("node { name: '", name, "' op: '", definition.substr(0, open), '\'');
    auto inputs = definition.substr(open + 1, close - open - 1);
    for (size_t at = 0; at < inputs.size();) {
      auto comma = std::min(inputs.find(", ", at), inputs.size());
      graph_text += concat(" input: '", inputs.substr(at, comma - at), '\'');
      at = comma + 2;
    }
    auto attrs = definition.substr(close + 1);
    for (size_t at = attrs.find('='); at != attrs.npos; at = attrs.find('=', at + 1)) {
      auto first = attrs.rfind(' ', at) + 1, last = std::min(attrs.find(' ', at), attrs.size());
      graph_text += concat(" attr { key: '", attrs.substr(first, at - first), "' value { ",
                           attrs.substr(at + 1, last - at - 1), " } }");
    }
    graph_text += " }\n";
  }
  return graph_text;
}

constexpr std::string_view placeholders = R"(
  p = Placeholder() dtype=type:DT_BOOL shape=shape:{}
  q = Placeholder() dtype=type:DT_BOOL shape=shape:{}
  x = Placeholder() dtype=type:DT_INT32 shape=shape:{}
  v = VariableV2() dtype=type:DT_INT32 shape=shape:{}
  zero = 0
  one = 1
  ten = 10
  init = Assign(v, zero)
)";

// The names, with the placeholders that each run uses.
std::vector<std::string> with_inputs(std::vector<std::string> wanted_names) {
  if (!wanted_names.empty())
    for (const auto* input_name : {"p", "q", "x", "v", "init"})
      wanted_names.emplace_back(input_name);
  return wanted_names;
}

constexpr struct text_tag {
} as_text;

struct imported {
  explicit imported(std::string_view lines, std::string_view further = {},
                    std::vector<std::string> wanted = {})
      : imported(as_text, nodes(concat(placeholders, lines)) + std::string{further},
                 std::move(wanted)) {}

  imported(text_tag, const std::string& text, std::vector<std::string> wanted = {})
      : g(library()),
        read(read_graph_def_text(text, g, {.wanted = with_inputs(std::move(wanted))})) {
    client_options options;
    options.ops = &library();
    options.make_devices = [] { return make_devices({.intra_op_threads = 1, .gpus = 0}); };
    session = *client::local(options);
  }

  // The fetched values, or the error. v counts the effects that ran.
  std::string run(bool p, bool q, int x, const std::vector<std::string>& fetches,
                  const std::vector<std::string>& targets = {}) {
    INFO(read.status());
    REQUIRE(read);
    auto started = step({}, {*read->find("init")}, p, q, x);
    REQUIRE(started);
    std::vector<edge> edges;
    for (const auto& fetch_name : fetches) {
      auto edge_found = read->find_edge(fetch_name);
      if (!edge_found)
        return edge_found.status().message();
      edges.push_back(*edge_found);
    }
    std::vector<std::reference_wrapper<node>> nodes;
    for (const auto& target_name : targets) {
      REQUIRE(read->find(target_name));
      nodes.push_back(*read->find(target_name));
    }
    auto got = step(edges, nodes, p, q, x);
    if (!got)
      return got.status().message();
    std::string text;
    for (const auto& value : *got)
      text += concat(text.empty() ? "" : " ", to_string(value));
    return text;
  }

  int changed() {
    auto got = step({*read->find_edge("v")}, {}, false, false, 0);
    REQUIRE(got);
    return *(*got)[0].data<int32_t>();
  }

  graph g;
  result<imported_graph> read;
  std::unique_ptr<client> session;

private:
  result<std::vector<tensor>> step(const std::vector<edge>& fetches,
                                   const std::vector<std::reference_wrapper<node>>& targets, bool p,
                                   bool q, int x) {
    auto deadline = step_clock::now() + std::chrono::seconds{20};
    step_signature signature;
    signature.feeds = {*read->find_edge("p"), *read->find_edge("q"), *read->find_edge("x")};
    signature.fetches = fetches;
    for (auto& target_node : targets)
      signature.targets.push_back(&target_node.get());
    TROUPE_ASSIGN(auto prepared, session->prepare(g, signature, deadline));
    const std::vector<tensor> fed{tensor::scalar(p), tensor::scalar(q),
                                  tensor::scalar(static_cast<int32_t>(x))};
    return session->run(*prepared, fed, deadline);
  }
};

std::string refusal(std::string_view lines, std::vector<std::string> wanted_names = {}) {
  graph g{library()};
  auto read = read_graph_def_text(nodes(concat(placeholders, lines)), g,
                                  {.wanted = std::move(wanted_names)});
  REQUIRE_FALSE(read);
  return read.status().message();
}

// A loop that counts to x and sums.
constexpr std::string_view loop = R"(
  i0 = Enter(zero) frame_name=s:'loop'
  s0 = Enter(ten) frame_name=s:'loop'
  n = Enter(x) frame_name=s:'loop' is_constant=b:true
  i = Merge(i0, i3)
  s = Merge(s0, s3)
  less = Less(i, n)
  more = LoopCond(less)
  i1 = Switch(i, more)
  s1 = Switch(s, more)
  i2 = Identity(i1:1)
  step = Const(^i2) dtype=type:DT_INT32 value=tensor:{dtype:DT_INT32,int_val:1,tensor_shape:{}}
  next = Add(i2, step)
  sum = Add(s1:1, i2)
  i3 = NextIteration(next)
  s3 = NextIteration(sum)
  i4 = Exit(i1)
  s4 = Exit(s1)
)";

} // namespace

TEST_CASE("a Merge is fetched by its name, and reports which input was live") {
  watchdog watch;
  imported in{R"(
    s = Switch(x, p)
    a = Add(s:1, one)
    b = Neg(s)
    m = Merge(b, a)
    y = Mul(m, ten)
  )"};
  CHECK(in.run(true, false, 5, {"m", "m:1", "y"}) == "i32[] {6} i32[] {1} i32[] {60}");
  CHECK(in.run(false, false, 5, {"m:0", "m:1", "y"}) == "i32[] {-5} i32[] {0} i32[] {-50}");
  CHECK_THAT(in.run(true, true, 0, {"m:2"}), Contains("there is no output 'm:2'"));
  CHECK_THAT(in.run(true, true, 0, {"a"}),
             Contains("'a' to be read, it runs only if 'p' is true: ask for a Merge after it"));
  CHECK_THAT(in.run(true, true, 0, {"s"}),
             Contains("is a Switch: ask for a node that it leads to"));
  CHECK(in.read->find("m")->op().name == "StatelessIf");
}

TEST_CASE("an Exit is fetched by its name, but no node inside its loop") {
  watchdog watch;
  imported in{loop};
  CHECK(in.run(false, false, 4, {"s4", "i4"}) == "i32[] {16} i32[] {4}");
  CHECK(in.run(false, false, 0, {"s4:0"}) == "i32[] {10}");
  CHECK_THAT(in.run(true, true, 0, {"sum"}), Contains("it is in the body of the loop 'loop'"));
  CHECK_THAT(in.run(true, true, 0, {"less"}),
             Contains("it is in the condition of the loop 'loop'"));
  CHECK_THAT(in.run(true, true, 0, {"i"}), Contains("it is in the loop 'loop'"));
  CHECK(in.read->find("s4")->op().name == "StatelessWhile");
}

TEST_CASE("nodes on one side of a Switch run only if it is taken") {
  watchdog watch;
  imported in{R"(
    s = Switch(x, p)
    a = Add(s:1, one)
    t = Switch(a, q)
    deep = Mul(t, ten)
    count = AssignAdd(v, one, ^s)
    here = Identity(s:1)
    counted = AssignAdd(v, ten, ^here)
    deepest = AssignAdd(v, x, ^deep)
  )"};
  CHECK(in.run(true, false, 6, {"deep"}) == "i32[] {70}");
  CHECK(in.changed() == 0);
  CHECK(in.run(true, false, 6, {"deepest"}) == "i32[] {6}");
  CHECK(in.run(true, false, 6, {"deep"}, {"counted"}) == "i32[] {70}");
  CHECK(in.changed() == 10);
  CHECK(in.run(false, false, 6, {}, {"counted", "deepest", "deep"}) == "");
  CHECK(in.changed() == 0);
  CHECK(in.run(false, false, 6, {}, {"count"}) == "");
  CHECK(in.changed() == 1);
  CHECK_THAT(in.run(false, false, 6, {"deep"}),
             Contains("deep is dead: predicate p of Switch s is false"));
  CHECK_THAT(in.run(true, true, 6, {"deep"}),
             Contains("deep is dead: predicate q of Switch t is true"));
  CHECK_THAT(in.run(false, true, 6, {"counted"}),
             Contains("counted is dead: predicate p of Switch s is false"));
}

TEST_CASE("an update in a branch runs only in steps that need it") {
  watchdog watch;
  imported in{R"(
    s = Switch(x, p)
    shared = Mul(s:1, ten)
    change = AssignAdd(v, shared)
    a = Identity(shared, ^change)
    b = Neg(shared)
    m = Merge(s, a)
    n = Merge(s, b)
  )"};
  CHECK(in.run(true, false, 2, {"n"}) == "i32[] {-20}");
  CHECK(in.changed() == 0);
  CHECK(in.run(true, false, 2, {"m", "n"}) == "i32[] {20} i32[] {-20}");
  CHECK(in.changed() == 20);
  CHECK(in.run(false, false, 2, {"m"}) == "i32[] {2}");
  CHECK(in.changed() == 0);
}

TEST_CASE("effects of a loop's condition run once more than those of its body") {
  watchdog watch;
  imported in{R"(
    i0 = Enter(zero) frame_name=s:'loop'
    n = Enter(x) frame_name=s:'loop' is_constant=b:true
    vr = RefEnter(v) frame_name=s:'loop' is_constant=b:true
    tens = Enter(ten) frame_name=s:'loop' is_constant=b:true
    ones = Enter(one) frame_name=s:'loop' is_constant=b:true
    i = Merge(i3, i0)
    test = AssignAdd(vr, ones, ^i)
    less = Less(i, n, ^test)
    more = LoopCond(less)
    i1 = Switch(i, more)
    change = AssignAdd(vr, tens, ^i2)
    idle = AssignAdd(vr, n, ^i2)
    i2 = Identity(i1:1)
    next = Add(i2, ones, ^change)
    i3 = NextIteration(next)
    end = Exit(i1)
  )"};
  CHECK(in.run(false, false, 3, {"end"}) == "i32[] {3}");
  CHECK(in.changed() == 34);
  CHECK(in.run(false, false, 0, {}, {"end"}) == "");
  CHECK(in.changed() == 1);
}

TEST_CASE("a variable is updated after a RefMerge, and in a loop") {
  watchdog watch;
  imported in{R"(
    s = RefSwitch(v, p)
    up = AssignAdd(s:1, one)
    down = AssignAdd(s, ten)
    m = RefMerge(down, up)
    more = AssignAdd(m, x)
    index = Identity(m:1)
    i0 = Enter(zero) frame_name=s:'loop'
    s0 = Enter(one) frame_name=s:'loop'
    n = Enter(x) frame_name=s:'loop' is_constant=b:true
    vr = RefEnter(v) frame_name=s:'loop' is_constant=b:true
    ones = Enter(one) frame_name=s:'loop' is_constant=b:true
    tens = Enter(ten) frame_name=s:'loop' is_constant=b:true
    i = Merge(i0, i3)
    y = Merge(s0, s3)
    less = Less(i, n)
    cond = LoopCond(less)
    i1 = Switch(i, cond)
    y1 = Switch(y, cond)
    late = Less(ones, i1:1)
    ls = RefSwitch(vr, late)
    small = Switch(ones, late)
    large = Switch(tens, late)
    lup = AssignAdd(ls:1, large:1)
    ldown = AssignAdd(ls, small)
    lm = RefMerge(ldown, lup)
    value = Identity(lm)
    next = Add(i1:1, ones)
    i3 = NextIteration(next)
    s3 = NextIteration(value)
    end = Exit(i1)
    last = Exit(y1)
  )"};
  CHECK(in.run(true, false, 5, {"more", "index"}) == "i32[] {6} i32[] {1}");
  CHECK(in.run(false, false, 5, {"more", "index"}) == "i32[] {15} i32[] {0}");
  std::string op_names;
  for (const auto& added : in.g.nodes())
    for (const auto* f : functions_of(*added))
      op_names += concat(added->name(), '\n', describe(f->body->body()));
  INFO(op_names);
  CHECK(in.run(false, false, 4, {"end", "last"}) == "i32[] {4} i32[] {22}");
  CHECK(in.changed() == 22);
}

TEST_CASE("a trigger runs although its inputs are dead") {
  watchdog watch;
  imported in{R"(
    s = Switch(x, p)
    a = Identity(s:1)
    b = Identity(s)
    add = AssignAdd(v, a)
    all = ControlTrigger(^add, ^b)
    y = Identity(one, ^all)
    never = Identity(one, ^a, ^b)
  )"};
  CHECK(in.run(true, false, 3, {"y"}) == "i32[] {1}");
  CHECK(in.changed() == 3);
  CHECK(in.run(false, false, 3, {"y"}, {"all"}) == "i32[] {1}");
  CHECK(in.changed() == 0);
  CHECK_THAT(in.run(true, false, 3, {"never"}), Contains("never runs: it needs a predicate"));
}

TEST_CASE("Abort fails its step, but not the process") {
  watchdog watch;
  imported in{R"(
    s = Switch(x, p)
    here = Identity(s:1)
    stop = Abort(^here) error_msg=s:'enough'
    quiet = Abort(^here) exit_without_error=b:true
    y = Identity(here, ^stop)
    m = Merge(s, y)
    z = Identity(here, ^quiet)
  )"};
  CHECK(in.run(false, false, 3, {"m"}) == "i32[] {3}");
  CHECK_THAT(in.run(true, false, 3, {"m"}), Contains("'stop'") && Contains("enough"));
  CHECK(in.run(true, false, 3, {"z"}) == "i32[] {3}");
}

TEST_CASE("control flow in functions is converted separately for each call") {
  watchdog watch;
  constexpr std::string_view library_text = R"(
    library { function {
      signature { name: 'count' input_arg { name: 'to' type: DT_INT32 }
                  output_arg { name: 'y' type: DT_INT32 } }
      node_def { name: 'zero' op: 'Const' attr { key: 'dtype' value { type: DT_INT32 } }
        attr { key: 'value' value { tensor { dtype: DT_INT32 int_val: 0 tensor_shape { } } } } }
      node_def { name: 'e' op: 'Enter' input: 'zero:output:0'
                 attr { key: 'frame_name' value { s: 'f' } } }
      node_def { name: 'n' op: 'Enter' input: 'to' attr { key: 'frame_name' value { s: 'f' } }
                 attr { key: 'is_constant' value { b: true } } }
      node_def { name: 'm' op: 'Merge' input: 'e:output:0' input: 'next:output:0' }
      node_def { name: 'l' op: 'Less' input: 'm:output:0' input: 'n:output:0' }
      node_def { name: 'c' op: 'LoopCond' input: 'l:z:0' }
      node_def { name: 's' op: 'Switch' input: 'm:output:0' input: 'c:output:0' }
      node_def { name: 'i' op: 'Identity' input: 's:output_true:0' }
      node_def { name: 'two' op: 'Const' input: '^i' attr { key: 'dtype' value { type: DT_INT32 } }
        attr { key: 'value' value { tensor { dtype: DT_INT32 int_val: 2 tensor_shape { } } } } }
      node_def { name: 'a' op: 'Add' input: 'i:output:0' input: 'two:output:0' }
      node_def { name: 'next' op: 'NextIteration' input: 'a:z:0' }
      node_def { name: 'x' op: 'Exit' input: 's:output_false:0' }
      ret { key: 'y' value: 'x:output:0' }
    } })";
  imported in{R"(
    a = count(x)
    b = count(a)
    y = Add(a, b)
    s = Switch(x, p)
    c = count(s:1)
    z = Merge(s, c)
    chosen = If(p, x) then_branch=func:{name:'count'} else_branch=func:{name:'count'} Tout=list:{type:DT_INT32}
  )",
              library_text};
  CHECK(in.run(true, false, 5, {"y", "a", "z", "chosen"}) ==
        "i32[] {12} i32[] {6} i32[] {6} i32[] {6}");
  CHECK(in.run(false, false, 5, {"z", "chosen"}) == "i32[] {5} i32[] {6}");
}

TEST_CASE("a call's results wait for effects in the function's branches and loops") {
  watchdog watch;
  constexpr std::string_view library_text = R"(
    library { function {
      signature { name: 'change' input_arg { name: 'v' type: DT_INT32 is_ref: true }
                  input_arg { name: 'p' type: DT_BOOL } input_arg { name: 'n' type: DT_INT32 }
                  output_arg { name: 'y' type: DT_INT32 } }
      node_def { name: 's' op: 'Switch' input: 'n' input: 'p' }
      node_def { name: 'up' op: 'AssignAdd' input: 'v' input: 's:output_true:0' }
      node_def { name: 'e' op: 'Enter' input: 'n' attr { key: 'frame_name' value { s: 'f' } } }
      node_def { name: 'w' op: 'RefEnter' input: 'v' attr { key: 'frame_name' value { s: 'f' } }
                 attr { key: 'is_constant' value { b: true } } }
      node_def { name: 'm' op: 'Merge' input: 'e:output:0' input: 'next:output:0' }
      node_def { name: 'zero' op: 'Const' input: '^m' attr { key: 'dtype' value { type: DT_INT32 } }
        attr { key: 'value' value { tensor { dtype: DT_INT32 int_val: 0 tensor_shape { } } } } }
      node_def { name: 'l' op: 'Less' input: 'zero:output:0' input: 'm:output:0' }
      node_def { name: 'c' op: 'LoopCond' input: 'l:z:0' }
      node_def { name: 't' op: 'Switch' input: 'm:output:0' input: 'c:output:0' }
      node_def { name: 'hundred' op: 'Const' input: '^i' attr { key: 'dtype' value { type: DT_INT32 } }
        attr { key: 'value' value { tensor { dtype: DT_INT32 int_val: 100 tensor_shape { } } } } }
      node_def { name: 'add' op: 'AssignAdd' input: 'w:output:0' input: 'hundred:output:0' }
      node_def { name: 'i' op: 'Identity' input: 't:output_true:0' }
      node_def { name: 'one' op: 'Const' input: '^i' attr { key: 'dtype' value { type: DT_INT32 } }
        attr { key: 'value' value { tensor { dtype: DT_INT32 int_val: 1 tensor_shape { } } } } }
      node_def { name: 'a' op: 'Sub' input: 'i:output:0' input: 'one:output:0' input: '^add' }
      node_def { name: 'next' op: 'NextIteration' input: 'a:z:0' }
      node_def { name: 'x' op: 'Exit' input: 't:output_false:0' }
      ret { key: 'y' value: 'n' }
      control_ret { key: 'up' value: 'up' }
    } })";
  imported in{R"(
    start = Assign(v, one)
    a = change(v, p, x, ^start)
    now = Identity(v, ^a)
    y = Add(a, now)
  )",
              library_text};
  CHECK(in.run(true, false, 3, {"y"}) == "i32[] {307}");
  CHECK(in.changed() == 304);
  CHECK(in.run(false, false, 2, {"now"}) == "i32[] {201}");
}

TEST_CASE("nodes at the boundary of a loop run before it, in each iteration, or after it") {
  watchdog watch;
  imported in{R"(
    i0 = Enter(zero) frame_name=s:'loop'
    s0 = Enter(ten) frame_name=s:'loop'
    first = Neg(s0)
    n = Enter(x) frame_name=s:'loop' is_constant=b:true
    i = Merge(i0, i3)
    s = Merge(first, s3, ^n)
    kept = Identity(i)
    less = Less(kept, n)
    test = Identity(less)
    more = LoopCond(test)
    decides = Identity(more)
    i1 = Switch(kept, decides)
    s1 = Switch(s, more)
    n1 = Switch(n, more)
    gate = NoOp(^i1, ^s1)
    i2 = Identity(i1:1, ^gate)
    step = Const(^i2) dtype=type:DT_INT32 value=tensor:{dtype:DT_INT32,int_val:1,tensor_shape:{}}
    next = Add(i2, step)
    sum = Add(s1:1, i2)
    i3 = NextIteration(next)
    s3 = NextIteration(sum)
    last = Identity(s1, ^gate)
    more_last = Add(last, kept)
    large = Less(n, more_last)
    way = Switch(more_last, large)
    negative = Neg(way:1)
    same = Identity(way)
    chosen = Merge(same, negative)
    i4 = Exit(i1, ^last)
    s4 = Exit(more_last)
    n4 = Exit(n1)
    c4 = Exit(chosen)
  )"};
  CHECK(in.run(false, false, 4, {"i4", "s4", "n4", "c4"}) ==
        "i32[] {4} i32[] {0} i32[] {4} i32[] {0}");
  CHECK(in.run(false, false, 9, {"s4", "c4", "last"}) == "i32[] {35} i32[] {-35} i32[] {26}");
  CHECK(in.run(false, false, 0, {"i4", "s4", "n4"}) == "i32[] {0} i32[] {-10} i32[] {0}");
  CHECK_THAT(in.run(true, true, 0, {"sum"}), Contains("it is in the body of the loop 'loop'"));
}

TEST_CASE("constants in branches of an iteration keep their sides after the loop") {
  watchdog watch;
  imported in{concat(loop, R"(
    few = Less(i, ten_each)
    ten_each = Enter(ten) frame_name=s:'loop' is_constant=b:true
    way = Switch(few, few)
    taken = Identity(way:1)
    other = Identity(way)
    a = Const(^taken) dtype=type:DT_INT32 value=tensor:{dtype:DT_INT32,int_val:7,tensor_shape:{}}
    b = Const(^other) dtype=type:DT_INT32 value=tensor:{dtype:DT_INT32,int_val:8,tensor_shape:{}}
    chosen = Merge(a, b)
    last = Add(i1, chosen)
    e = Exit(last)
  )")};
  CHECK(in.run(false, false, 3, {"e"}) == "i32[] {10}");
  CHECK(in.run(false, false, 12, {"e"}) == "i32[] {20}");
}

TEST_CASE(
    "effects behind a loop's Exit happen once, and those that wait for a Switch in each turn") {
  watchdog watch;
  imported in{R"(
    in_branch = Switch(x, p)
    i0 = Enter(zero) frame_name=s:'loop'
    n = Enter(in_branch:1) frame_name=s:'loop' is_constant=b:true
    vr = RefEnter(v) frame_name=s:'loop' is_constant=b:true
    ones = Enter(one) frame_name=s:'loop' is_constant=b:true
    tens = Enter(ten) frame_name=s:'loop' is_constant=b:true
    i = Merge(i0, i3)
    less = Less(i, n)
    more = LoopCond(less)
    i1 = Switch(i, more)
    each = AssignAdd(vr, tens, ^i1)
    next = Add(i1:1, ones, ^each)
    i3 = NextIteration(next)
    last = Identity(i1)
    count = AssignAdd(vr, ones, ^last)
    counted = Identity(last, ^count)
    end = Exit(counted)
    late = Exit(i1, ^each)
  )"};
  CHECK(in.run(true, false, 3, {"end"}) == "i32[] {3}");
  CHECK(in.changed() == 41);
  CHECK(in.run(true, false, 0, {"end", "late"}) == "i32[] {0} i32[] {0}");
  CHECK(in.changed() == 11);
  CHECK_THAT(in.run(false, false, 3, {"end"}),
             Contains("end is dead: predicate p of Switch in_branch is false"));
  CHECK(in.run(false, false, 3, {}, {"end"}) == "");
  CHECK(in.changed() == 0);
}

TEST_CASE("a loop in a branch reuses the known predicate of the branch") {
  watchdog watch;
  imported in{R"(
    a = Switch(x, p)
    b = Switch(zero, p)
    i0 = Enter(b:1) frame_name=s:'loop'
    s0 = Enter(ten) frame_name=s:'loop'
    n = Enter(a:1) frame_name=s:'loop' is_constant=b:true
    asked = Enter(p) frame_name=s:'loop' is_constant=b:true
    other = Enter(q) frame_name=s:'loop' is_constant=b:true
    i = Merge(i0, i3)
    s = Merge(s0, s3)
    less = Less(i, n)
    more = LoopCond(less)
    i1 = Switch(i, more)
    s1 = Switch(s, more)
    step = Const(^i1) dtype=type:DT_INT32 value=tensor:{dtype:DT_INT32,int_val:1,tensor_shape:{}}
    next = Add(i1:1, step)
    again = Switch(next, asked)
    never = Neg(again)
    i3 = NextIteration(again:1)
    j0 = Enter(again:1) frame_name=s:'inner'
    inner_asked = Enter(asked) frame_name=s:'inner' is_constant=b:true
    inner_n = Enter(n) frame_name=s:'inner' is_constant=b:true
    j = Merge(j0, j3)
    inner_less = Less(j, inner_n)
    inner_more = LoopCond(inner_less)
    j1 = Switch(j, inner_more)
    once = Switch(j1:1, inner_asked)
    twice = Add(once:1, once:1)
    j3 = NextIteration(twice)
    j4 = Exit(j1)
    way = Switch(j4, other)
    less_of_it = Neg(way:1)
    joined = Merge(way, less_of_it)
    sum = Add(s1:1, joined)
    s3 = NextIteration(sum)
    i4 = Exit(i1)
    s4 = Exit(s1)
    m = Merge(a, i4)
    t = Merge(a, s4)
  )"};
  CHECK(in.run(true, false, 3, {"m", "t"}) == "i32[] {3} i32[] {21}");
  CHECK(in.run(true, true, 3, {"m", "t"}) == "i32[] {3} i32[] {-1}");
  CHECK(in.run(false, true, 3, {"m", "t"}) == "i32[] {3} i32[] {3}");
}

TEST_CASE("values within branches are fetched by wanted names, where the branch is taken") {
  watchdog watch;
  constexpr std::string_view cond = R"(
    cond/Switch = Switch(p, p)
    cond/switch_t = Identity(cond/Switch:1)
    cond/switch_f = Identity(cond/Switch)
    s = Switch(x, p)
    a = Add(s:1, one, ^cond/switch_t)
    inner = Switch(a, q)
    deep = Mul(inner:1, ten)
    count = AssignAdd(v, deep)
    joined = Merge(inner, count)
    b = Neg(s, ^cond/switch_f)
    m = Merge(b, joined)
  )";
  imported complete{cond};
  CHECK(complete.run(true, false, 5, {"m", "cond/switch_t"}) == "i32[] {6} bool[] {true}");
  CHECK(complete.run(false, false, 5, {"m", "cond/switch_f"}) == "i32[] {-5} bool[] {false}");
  CHECK_THAT(complete.run(false, false, 5, {"cond/switch_t"}),
             Contains("cond/switch_t is dead: predicate p of Switch cond/Switch is false"));
  CHECK_THAT(complete.run(true, false, 5, {"cond/switch_f"}),
             Contains("cond/switch_f is dead: predicate p of Switch cond/Switch is true"));
  CHECK_THAT(complete.run(true, false, 5, {"a"}),
             Contains("ask for a Merge after it, or read the graph with 'a' in "
                      "graph_def_options::wanted"));
  imported selected{cond, {}, {"a", "s:1", "deep:0", "joined", "m", "cond/switch_t"}};
  CHECK(selected.run(true, false, 5, {"a", "s:1", "m"}) == "i32[] {6} i32[] {5} i32[] {6}");
  CHECK(selected.changed() == 0);
  CHECK(selected.run(true, true, 5, {"deep"}) == "i32[] {60}");
  CHECK(selected.changed() == 0);
  CHECK(selected.run(true, true, 5, {"joined", "a"}) == "i32[] {60} i32[] {6}");
  CHECK(selected.changed() == 60);
  CHECK(selected.run(false, true, 5, {"s", "m"}) == "i32[] {5} i32[] {-5}");
  CHECK_THAT(selected.run(false, true, 5, {"a"}),
             Contains("a is dead: predicate p of Switch cond/Switch is false"));
  CHECK_THAT(selected.run(true, false, 5, {"deep"}),
             Contains("deep is dead: predicate q of Switch inner is false"));
  CHECK_THAT(selected.run(true, false, 5, {"s"}), Contains("s is dead: predicate p"));
  CHECK_THAT(selected.run(true, false, 5, {"b"}), Contains("ask for a Merge after it"));
  CHECK_THAT(selected.run(false, false, 5, {"cond/switch_t"}), Contains("cond/switch_t is dead"));
}

TEST_CASE("a Merge takes the input that is live in more cases, where the other may be live, too") {
  watchdog watch;
  imported in{R"(
    s = Switch(x, p)
    t = Switch(s:1, q)
    m = Merge(t, s:1, ten)
    a = Neg(s)
    n = Merge(t:1, a, s:1)
  )"};
  CHECK(in.run(true, false, 5, {"m", "m:1"}) == "i32[] {10} i32[] {2}");
  CHECK(in.run(false, false, 5, {"m", "m:1"}) == "i32[] {10} i32[] {2}");
  CHECK(in.run(true, true, 5, {"n", "n:1"}) == "i32[] {5} i32[] {2}");
  CHECK(in.run(false, true, 5, {"n", "n:1"}) == "i32[] {-5} i32[] {1}");
}

TEST_CASE("a value of a branch is dead after a Switch to the other side") {
  watchdog watch;
  imported in{R"(
    s = Switch(x, p)
    a = Neg(s:1)
    m = Merge(s, a)
    after = Switch(m, p)
    low = Identity(after)
  )"};
  CHECK(in.run(false, false, 5, {"low"}) == "i32[] {5}");
  CHECK_THAT(in.run(true, false, 5, {"low"}), Contains("low is dead: predicate p"));
}

TEST_CASE("nodes read only by unneeded nodes of a loop do not run") {
  watchdog watch;
  imported in{R"(
    j0 = Enter(one) frame_name=s:'outer'
    vr = RefEnter(v) frame_name=s:'outer' is_constant=b:true
    m = Enter(x) frame_name=s:'outer' is_constant=b:true
    j = Merge(j0, j3)
    j_less = Less(j, m)
    j_more = LoopCond(j_less)
    j1 = Switch(j, j_more)
    count = AssignAdd(vr, j1:1)
    k0 = Enter(j1:1) frame_name=s:'inner'
    unneeded = Enter(count) frame_name=s:'inner' is_constant=b:true
    k_m = Enter(m) frame_name=s:'inner' is_constant=b:true
    k = Merge(k0, k3)
    idle = Add(k, unneeded)
    k_less = Less(k, k_m)
    k_more = LoopCond(k_less)
    k1 = Switch(k, k_more)
    double = Add(k1:1, k1:1)
    k3 = NextIteration(double)
    k4 = Exit(k1)
    j3 = NextIteration(k4)
    j4 = Exit(j1)
  )"};
  CHECK(in.run(false, false, 20, {"j4"}) == "i32[] {32}");
  CHECK(in.changed() == 0);
}

TEST_CASE("names of Merge, Exit and branch predicates are kept when a graph is written") {
  watchdog watch;
  imported in{concat(loop, R"(
    cond/Switch = Switch(p, p)
    cond/switch_t = Identity(cond/Switch:1)
    way = Switch(x, p)
    a = Add(way:1, one, ^cond/switch_t)
    alone = Switch(s4, q)
    behind = Neg(alone:1)
    m = Merge(way, a)
    y = Mul(m, s4)
    used = AssignAdd(v, ten)
  )")};
  INFO(in.read.status());
  REQUIRE(in.read);
  auto written = write_graph_def(in.g, graph_def_format::text);
  INFO(written.status());
  REQUIRE(written);
  imported copy{as_text, *written};
  INFO(copy.read.status());
  REQUIRE(copy.read);
  CHECK(copy.g.find("m")->op().name == "IdentityN");
  CHECK(copy.g.find("s4")->op().name == "Identity");
  CHECK(copy.g.find("cond/switch_t")->op().name == "Identity");
  CHECK(copy.run(true, true, 4, {"m", "m:1", "y", "s4", "i4", "cond/switch_t", "behind"}) ==
        in.run(true, true, 4, {"m", "m:1", "y", "s4", "i4", "cond/switch_t", "behind"}));
  CHECK(copy.run(false, false, 4, {"m", "m:1", "y", "s4"}) ==
        "i32[] {4} i32[] {0} i32[] {64} i32[] {16}");
  CHECK_THAT(copy.run(false, false, 4, {"cond/switch_t"}), Contains("cond/switch_t is dead"));
  CHECK_THAT(copy.run(true, false, 4, {"behind"}), Contains("behind is dead"));
}

TEST_CASE("nodes that depend on a Placeholder of a handle fail when they are fetched") {
  watchdog watch;
  imported in{concat(loop, R"(
    h = Placeholder() dtype=type:DT_RESOURCE
    read = ReadVariableOp(h) dtype=type:DT_INT32
    z = Add(read, one)
    y = Add(x, one)
    both = NoOp(^z, ^y)
    j0 = Enter(zero) frame_name=s:'reads'
    r = Enter(h) frame_name=s:'reads' is_constant=b:true
    j = Merge(j0, j3)
    value = ReadVariableOp(r, ^j) dtype=type:DT_INT32
    j_less = Less(j, value)
    j_more = LoopCond(j_less)
    j1 = Switch(j, j_more)
    j3 = NextIteration(j1:1)
    j4 = Exit(j1)
  )")};
  CHECK(in.run(false, false, 2, {"y", "s4"}) == "i32[] {3} i32[] {11}");
  for (const auto* name : {"h", "read", "z", "j4"})
    CHECK_THAT(in.run(false, false, 2, {name}), Contains(concat("there is no '", name, "'")) &&
                                                    Contains("DT_RESOURCE") &&
                                                    Contains("VarHandleOp"));
  CHECK_THAT(in.run(false, false, 2, {"z"}), Contains("it needs Placeholder 'h': a handle"));
  CHECK(in.read->find("both") == nullptr);
  CHECK_THAT(in.run(false, false, 2, {"j0"}),
             Contains("leads only to nodes that need Placeholder 'h'"));
}

TEST_CASE("only nodes that wanted names need are read, and their errors are reported") {
  watchdog watch;
  constexpr std::string_view lines = R"(
    y = Add(x, one)
    bad = FromElsewhere(y)
    z = Add(bad, one)
    far = Neg(z)
    lost = Add(nowhere, one)
    e = Enter(x) frame_name=s:'broken'
    f = Add(e, x)
    m = Merge(x, one)
  )";
  CHECK_THAT(refusal(lines), Contains("no such op: FromElsewhere ('bad')"));
  CHECK_THAT(refusal(lines, {"y", "far:0"}),
             Contains("no such op: FromElsewhere ('bad', which 'far:0' needs)"));
  CHECK_THAT(refusal(lines, {"bad"}), Contains("no such op: FromElsewhere ('bad')"));
  CHECK_THAT(refusal(lines, {"lost"}), Contains("there is no node 'nowhere'"));
  CHECK_THAT(refusal(lines, {"f"}), Contains("of frame 'broken'"));
  CHECK_THAT(refusal(lines, {"m"}), Contains("cannot become a branch"));
  CHECK_THAT(refusal(lines, {"y", "farr"}),
             Contains("there is no node 'farr', did you mean 'far'?"));
  imported in{lines, {}, {"y:0"}};
  CHECK(in.run(false, false, 2, {"y"}) == "i32[] {3}");
  CHECK_THAT(in.run(false, false, 2, {"z"}),
             Contains("'z' to be read, it was not read") && Contains("wanted"));
  CHECK(in.g.find("ten") == nullptr);
}

TEST_CASE("invalid nodes around loops are reported by name") {
  auto refusal_with = [](std::string_view lines) { return refusal(concat(loop, lines)); };
  CHECK_THAT(refusal_with("e = Exit(i1, ^next)"),
             Contains("Exit 'e' never runs: it waits for Add 'next'"));
  CHECK_THAT(refusal_with("l = Add(i1, i2)\n e = Exit(l)"),
             Contains("Exit 'e'") &&
                 Contains("'i1:1' does not exist in the iteration that ends the loop"));
  CHECK_THAT(refusal_with("l = Add(i1, s0)\n e = Exit(l)"),
             Contains("Enter 's0' exists in the first iteration only"));
  CHECK_THAT(refusal_with("r = RefEnter(v) frame_name=s:'loop' is_constant=b:true\n"
                          "c = AssignAdd(r, n, ^i)\n l = Add(i1, c)\n e = Exit(l)"),
             Contains("AssignAdd 'c' has an effect") && Contains("after the loop"));
  CHECK_THAT(
      refusal_with("l = Identity(i1)\n k = NextIteration(l)\n k0 = Enter(x) frame_name=s:'loop'\n"
                   "k1 = Merge(k0, k)\n k2 = Switch(k1, more)\n k3 = Exit(k2)"),
      Contains("which exists only when the loop ends"));
}

TEST_CASE("errors in frames are reported by name") {
  CHECK_THAT(refusal("y = Add(e, x)\n e = Enter(x) frame_name=s:'f'"),
             Contains("Add 'y'") && Contains("'e' of frame 'f'") && Contains("an Exit") &&
                 Contains("'x', which is outside"));
  CHECK_THAT(refusal(concat(loop, "bad = Add(i2, x)")),
             Contains("Add 'bad'") && Contains("frame 'loop'"));
  CHECK_THAT(refusal(concat(loop, R"(
      j0 = Enter(i2) frame_name=s:'inner'
      bad = Add(j0, n)
    )")),
             Contains("Add 'bad' reads 'j0' of frame 'loop/inner' and 'n' of frame 'loop'"));
  CHECK_THAT(refusal(concat(loop, R"(
      k0 = Enter(x) frame_name=s:'other'
      bad = Add(k0, i2)
    )")),
             Contains("without an Exit"));
  CHECK_THAT(refusal("e = Enter(x)"), Contains("Enter 'e': frame_name is missing"));
  CHECK_THAT(refusal("e = Exit(x)"), Contains("Exit 'e' is in no frame"));
  CHECK_THAT(refusal("n = NextIteration(x)"), Contains("NextIteration 'n' is in no frame"));
  CHECK_THAT(refusal("l = LoopCond(p)"), Contains("LoopCond 'l' is in no frame"));
  CHECK_THAT(refusal("e = Enter(x) frame_name=s:'f'\n n = NextIteration(e)"),
             Contains("NextIteration 'n' in frame 'f' leads to no Merge"));
  CHECK_THAT(refusal("e = Enter(x) frame_name=s:'f'\n n = NextIteration(e)\n a = Identity(n)"),
             Contains("NextIteration 'n' is read by Identity 'a', which is no Merge"));
  CHECK_THAT(refusal("e = Enter(x) frame_name=s:'f' parallel_iterations=i:3\n"
                     "f = Enter(x) frame_name=s:'f' parallel_iterations=i:4"),
             Contains("Enter 'f': parallel_iterations is 4, and 3 for others of frame 'f'"));
  CHECK_THAT(refusal("e = Enter(x) frame_name=s:'f'\n m = Merge(e, n)\n n = NextIteration(m)"),
             Contains("frame 'f': has no LoopCond"));
  CHECK_THAT(refusal(concat(loop, "second = LoopCond(less)")),
             Contains("two conditions, LoopCond 'more' and LoopCond 'second'"));
  CHECK_THAT(refusal("e = Enter(p) frame_name=s:'f'\n l = LoopCond(e)"),
             Contains("no loop variable"));
  CHECK_THAT(refusal("a = Add(b, x)\n b = Switch(a, p)"), Contains("need each other"));
  CHECK_THAT(refusal("a = Switch(x)"), Contains("Switch 'a': has 1 inputs"));
  CHECK_THAT(refusal("a = Switch(x, p)\n b = Neg(a:2)"), Contains("there is no output 'a:2'"));
  CHECK_THAT(refusal("a = Switch(x, gone)"), Contains("there is no node 'gone'"));
}

TEST_CASE("loops that cannot be converted are reported by name") {
  auto changed = [](std::string_view from, std::string_view to) {
    std::string text{loop};
    text.replace(text.find(from), from.size(), to);
    return refusal(text);
  };
  CHECK_THAT(changed("less = Less(i, n)", "less = Less(i2, n)"),
             Contains("LoopCond 'more' needs Identity 'i2'") || Contains("need each other"));
  CHECK_THAT(changed("i4 = Exit(i1)", "i4 = Exit(next)"),
             Contains("Exit 'i4' reads 'next'") && Contains("frame 'loop'"));
  CHECK_THAT(changed("sum = Add(s1:1, i2)", "sum = Add(s0, i2)"),
             Contains("Enter 's0' exists in the first iteration only"));
  CHECK_THAT(changed("sum = Add(s1:1, i2)", "sum = Add(s1, i2)"),
             Contains("'s1', which exists only when the loop ends"));
  CHECK_THAT(changed("sum = Add(s1:1, i2)", "sum = Add(s:1, i2)"), Contains("value_index"));
  CHECK_THAT(changed("s = Merge(s0, s3)", "s = Merge(s0, s3, s0)"), Contains("two inputs"));
  CHECK_THAT(changed("s0 = Enter(ten) frame_name=s:'loop'",
                     "s0 = Enter(ten) frame_name=s:'loop' is_constant=b:true"),
             Contains("constant in the loop"));
}

TEST_CASE("merges that cannot be converted are reported by name") {
  CHECK_THAT(refusal("m = Merge(x, one)"),
             Contains("Merge 'm': cannot become a branch") && Contains("'x' exists always"));
  CHECK_THAT(refusal("a = Switch(x, p)\n b = Switch(x, q)\n m = Merge(a, b:1)"),
             Contains("'a' exists if 'p' is false, 'b:1' exists if 'q' is true"));
  CHECK_THAT(refusal("a = Switch(x, p)\n b = Switch(a, q)\n m = Merge(b, a:1)"),
             Contains("Merge 'm'") && Contains("'p' is false and 'q' is false"));
  std::string dead{loop};
  constexpr std::string_view sum = "sum = Add(s1:1, i2)";
  dead.replace(dead.find(sum), sum.size(),
               "odd = Less(i2, step)\n d = Switch(i2, odd)\n sum = Neg(d)");
  CHECK_THAT(refusal(dead),
             Contains("the loop needs 'sum' in each iteration, but it exists only if"));
}

} // namespace troupe::test::first_control_flow_test
