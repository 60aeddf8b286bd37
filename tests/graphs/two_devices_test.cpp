// The results of a graph do not depend on the placement of its nodes on two processors.
#include "tests/graphs/all_cases.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/processes.hpp"
#include "tests/support/processors.hpp"
#include "tests/support/text_case.hpp"
#include "tests/support/watchdog.hpp"
#include "troupe/serialization/text/close_to.hpp"

#include <map>
#include <random>

namespace troupe::test::two_devices_test {

namespace {

// A random device for each node. States that one node uses together share a device.
class random_devices {
public:
  random_devices(unsigned seed, const graph& placed_graph) : dice_(seed) {
    for (const auto& node : placed_graph.nodes())
      for (int i = 0; i < static_cast<int>(node->inputs().size()); ++i)
        if (node->input_is_ref(i)) {
          const auto* root_state = last_of(resource_behind(node->inputs()[0]));
          together_[last_of(resource_behind(node->inputs()[static_cast<size_t>(i)]))] = root_state;
        }
  }
  std::string operator()(const node& at) {
    for (int i = 0; i < static_cast<int>(at.inputs().size()); ++i)
      if (at.input_is_ref(i))
        return ""; // placed with its state
    auto device_number = dice_() % 2;
    if (at.op().state_kind != resource::none)
      device_number = of_state_.try_emplace(last_of(&at), device_number).first->second;
    return concat("/cpu:", device_number);
  }

private:
  const node* last_of(const node* state) const {
    for (auto entry = together_.find(state); entry != together_.end() && entry->second != state;
         entry = together_.find(state))
      state = entry->second;
    return state;
  }

  std::mt19937 dice_;
  std::map<const node*, const node*> together_;
  std::map<const node*, unsigned long> of_state_;
};

using outcomes = std::vector<result<std::vector<tensor>>>;

outcomes run_all_of(client& session, const text_graph& text, const graph& placed_graph) {
  outcomes results;
  for (const auto& run : text.runs) {
    auto deadline = step_clock::now() + std::chrono::seconds{20};
    results.push_back([&]() -> result<std::vector<tensor>> {
      TROUPE_ASSIGN(auto step, session.prepare(placed_graph, signature_of(run), deadline));
      return session.run(*step, feeds_of(run), deadline);
    }());
  }
  REQUIRE(session.reset("", step_clock::now() + std::chrono::seconds{20}));
  return results;
}

std::string difference(const outcomes& expected, const outcomes& actual, double tolerance) {
  for (size_t run = 0; run < expected.size(); ++run) {
    const auto &a = expected[run], &b = actual[run];
    if (bool(a) != bool(b) || (!a && a.status().kind() != b.status().kind()))
      return concat("run ", run, ": ", a.status(), ", and on two devices: ", b.status());
    std::string mismatch;
    for (size_t i = 0; a && i < a->size(); ++i)
      if (!close_to((*b)[i], (*a)[i], tolerance, &mismatch))
        return concat("run ", run, ", fetch ", i, ": ", mismatch);
  }
  return "";
}

// The same with handles; these updates have no outputs.
constexpr std::string_view old_and_new_by_handle = R"(
v = VarHandleOp dtype=f32 shape=[2] @"{home}"
init = AssignVariableOp(v, f32[1, 2])
x = Placeholder dtype=f32 shape=[2]
early = ReadVariableOp(v) @"{away}"
delta = Mul(x, early)
train = AssignAddVariableOp(v, delta)
also_early = ReadVariableOp(v)
old = Mul(also_early, f32(2)) @"{away}"
late = ReadVariableOp(v, ^train) @"{away}"
new = Mul(late, f32(2)) @"{away}"
row = ResourceGather(v, i32(1), ^train)
both = Sub(new, old) @"{away}"
again = AssignAddVariableOp(v, both)
last = ReadVariableOp(v, ^again)
newest = Neg(last) @"{away}"
target init
run
feed x = f32[3, 4]
fetch old = f32[2, 4]
fetch new = f32[8, 20]
fetch row = f32(10)
fetch newest = f32[-10, -26]
fetch v = f32[10, 26]
)";

constexpr std::string_view old_and_new = R"(
v = VariableV2 dtype=f32 shape=[2] @"{home}"
init = Assign(v, f32[1, 2])
x = Placeholder dtype=f32 shape=[2]
delta = Mul(x, v) @"{away}"
train = AssignAdd(v, delta)
old = Mul(v, f32(2)) @"{away}"
new = Mul(v, f32(2), ^train) @"{away}"
group = NoOp(^train) @"{away}"
also_new = Neg(v, ^group) @"{away}"
both = Sub(new, old) @"{away}"
again = AssignAdd(v, both)
newest = Neg(again) @"{away}"
target init
run
feed x = f32[3, 4]
fetch old = f32[2, 4]
fetch new = f32[8, 20]
fetch also_new = f32[-4, -10]
fetch newest = f32[-10, -26]
fetch v = f32[10, 26]
)";

std::string with_devices(std::string text, const std::string& home, const std::string& away) {
  for (auto [placeholder, device] : {std::pair{"{home}", home}, {"{away}", away}})
    for (size_t at; (at = text.find(placeholder)) != std::string::npos;)
      text.replace(at, std::string_view{placeholder}.size(), device);
  return text;
}

} // namespace

TEST_CASE("a read on another device sees exactly the updates that it depends on") {
  watchdog watch;
  for (bool deterministic : {false, true})
    for (bool region_per_node : {false, true})
      for (const auto& passes : {pass_options{}, pass_options::none()}) {
        INFO("deterministic: " << deterministic << ", a region per node: " << region_per_node
                               << ", passes: " << passes.fold);
        auto session = make_session(
            2, {.region_per_node = region_per_node, .deterministic = deterministic}, passes);
        for (auto [home, away] :
             {std::pair{"/cpu:0", "/cpu:1"}, {"/cpu:1", "/cpu:0"}, {"/cpu:0", "/cpu:0"}}) {
          INFO(home << ", " << away);
          for (auto text : {old_and_new, old_and_new_by_handle})
            CHECK(run_all(*session, text_case{with_devices(std::string{text}, home, away)}) == "");
        }
      }
}

TEST_CASE("a read on another task sees exactly the updates that it depends on") {
  watchdog watch;
  auto cluster = make_cluster(1, 1);
  auto ps = start_task(cluster, {"ps", 0}), worker = start_task(cluster, {"worker", 0});
  auto client = connect_to(cluster);
  for (auto text : {old_and_new, old_and_new_by_handle})
    CHECK(run_all(*client, text_case{with_devices(std::string{text}, "/job:ps/task:0",
                                                  "/job:worker/task:0")}) == "");
}

TEST_CASE("a remote read waits for the queue that its consumer waits for") {
  watchdog watch;
  auto session = make_session(2);
  text_case text{R"(
v = VariableV2 dtype=f32 shape=[] @"/cpu:0"
init = Assign(v, f32(1))
q = FIFOQueue component_types=[i32] shapes=[[]] @"/cpu:0"
go = QueueDequeue(q) component_types=[i32]
y = Neg(v, ^go) @"/cpu:1"
more = AssignAdd(v, f32(1))
put = QueueEnqueue(q, i32(7), ^more)
target init
run
fetch y = f32(-2)
run
target put
)"};
  REQUIRE(run(*session, text, 0));
  result<std::vector<tensor>> waited = failure(error_kind::internal, "nothing ran");
  {
    std::jthread first{[&] { waited = run(*session, text, 1); }};
    std::this_thread::sleep_for(std::chrono::milliseconds{50});
    REQUIRE(run(*session, text, 2));
  }
  CHECK(difference_of(text.text.runs[1], waited) == "");
}

TEST_CASE("every text graph gives the same with its nodes placed at random on two devices") {
  watchdog watch{std::chrono::seconds{100}};
  auto seed = std::random_device{}();
  auto cases = all_cases(), examples = all_examples();
  cases.insert(cases.end(), examples.begin(), examples.end());
  for (int round = 0; round < 3; ++round) {
    // Some kernels keep what they learn while these sessions live.
    auto one_device = make_session(1), two_devices = make_session(2);
    for (const auto& stored : cases) {
      INFO(stored.name << ", seed " << ++seed);
      text_case written{stored.text, stored.name};
      graph together{library()}, apart{library()};
      auto text =
          place_each(written.text, *written.nodes, together, [](auto&) { return std::string{}; });
      auto expected = run_all_of(*one_device, text, together);
      text = place_each(written.text, *written.nodes, apart, random_devices{seed, *written.nodes});
      auto actual = run_all_of(*two_devices, text, apart);
      std::string failures;
      for (size_t i = 0; i < text.runs.size(); ++i)
        failures += difference_of(text.runs[i], actual[i]);
      CHECK(failures == "");
      if (failures.empty())
        CHECK(difference(expected, actual, 1e-5) == "");
    }
  }
}

namespace {

// A graph of numbers, three variables, and updates and reads of these, by references and by
// handles, ordered by data and by control at random.
class random_graph {
public:
  random_graph(unsigned seed, bool placed) : dice_(seed), placed_(placed), lots_(seed + 1) {
    for (int i = 0; i < 3; ++i) {
      auto v = add(i == 1 ? "VarHandleOp" : "VariableV2", {},
                   {{"dtype", dtype::f64}, {"shape", shape{}}});
      states_.push_back(v);
      initializers.push_back(add("Assign", {v, constant(0.25 * (i + 1))}).node);
    }
    values_ = {constant(0.5), constant(-1.0)};
    first_ = nodes.nodes().size();
    for (int i = 0; i < 30; ++i)
      add_any();
    for (int i = 0; i < 8; ++i)
      fetches.push_back(any(values_));
    for (auto v : states_)
      fetches.push_back(v);
  }

  graph nodes{library()};
  std::vector<node*> initializers;
  std::vector<edge> fetches;

private:
  size_t below(size_t bound) { return dice_() % bound; }
  edge any(const std::vector<edge>& candidates) { return candidates[below(candidates.size())]; }

  edge add(std::string op, std::vector<edge> inputs, attr_map attrs = {},
           std::vector<node*> controls = {}) {
    auto at_state = !inputs.empty() && op.starts_with("Assign");
    auto device = at_state ? std::string{} : concat("/cpu:", lots_() % 2);
    auto added = nodes.add({.op = std::move(op),
                            .inputs = std::move(inputs),
                            .attrs = std::move(attrs),
                            .controls = std::move(controls),
                            .device = placed_ ? device : std::string{}});
    INFO((added ? "" : added.status().message()));
    REQUIRE(added);
    return (*added)->output(0);
  }
  edge constant(double value) {
    return add("Const", {}, {{"value", tensor::scalar(value)}, {"dtype", dtype::f64}});
  }

  void add_any() {
    std::vector<node*> controls;
    while (below(3) == 0 && nodes.nodes().size() > first_)
      controls.push_back(nodes.nodes()[first_ + below(nodes.nodes().size() - first_)].get());
    auto operand = [&] { return below(3) ? any(values_) : any(states_); };
    switch (below(11)) {
      case 8:
      case 9: values_.push_back(add("ReadVariableOp", {any(states_)}, {}, controls)); return;
      case 10:
        add("AssignAddVariableOp", {any(states_), add("Tanh", {operand()})}, {}, controls);
        return;
      case 0: groups_.push_back(add("NoOp", {}, {}, controls).node); return;
      case 1:
      case 2:
        values_.push_back(add("AssignAdd", {any(states_), add("Tanh", {operand()})}, {}, controls));
        return;
      case 3: values_.push_back(add("Assign", {any(states_), operand()}, {}, controls)); return;
      case 4: values_.push_back(add("Tanh", {operand()}, {}, controls)); return;
      case 5: values_.push_back(add("Identity", {operand()}, {}, controls)); return;
      case 6: values_.push_back(add("Sub", {operand(), operand()}, {}, controls)); return;
      default: values_.push_back(add("Add", {operand(), operand()}, {}, controls)); return;
    }
  }

  std::mt19937 dice_;
  bool placed_;
  std::mt19937 lots_;
  std::vector<edge> states_, values_;
  std::vector<node*> groups_;
  size_t first_ = 0;
};

} // namespace

TEST_CASE("random graphs with state give the same on two devices as on one") {
  watchdog watch{std::chrono::seconds{100}};
  auto base = std::random_device{}();
  std::vector<std::unique_ptr<client>> sessions;
  sessions.push_back(make_session(1, {}, pass_options::none()));
  sessions.push_back(make_session(1));
  sessions.push_back(make_session(2, {}, pass_options::none()));
  sessions.push_back(make_session(2));
  sessions.push_back(make_session(2, {.region_per_node = true}));
  sessions.push_back(make_session(2, {.deterministic = true}));
  for (unsigned round = 0; round < 150; ++round) {
    auto seed = base + round * 2;
    INFO("seed " << seed);
    outcomes expected;
    for (size_t i = 0; i < sessions.size(); ++i) {
      INFO("session " << i);
      random_graph at{seed, i >= 2};
      INFO(describe(at.nodes));
      auto deadline = step_clock::now() + std::chrono::seconds{20};
      auto run = [&](step_signature signature) -> result<std::vector<tensor>> {
        TROUPE_ASSIGN(auto step, sessions[i]->prepare(at.nodes, signature, deadline));
        return sessions[i]->run(*step, {}, deadline);
      };
      REQUIRE(run({.feeds = {}, .fetches = {}, .targets = at.initializers}));
      outcomes actual;
      for (int repetition = 0; repetition < 2; ++repetition)
        actual.push_back(run({.feeds = {}, .fetches = at.fetches, .targets = {}}));
      REQUIRE(sessions[i]->reset("", deadline));
      INFO((actual[0] ? "" : actual[0].status().message()));
      REQUIRE(actual[0]);
      if (i == 0)
        expected = std::move(actual);
      else
        REQUIRE(difference(expected, actual, 1e-9) == "");
    }
  }
}

} // namespace troupe::test::two_devices_test
