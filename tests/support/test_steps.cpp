#include "tests/support/test_steps.hpp"

#include <algorithm>
#include <optional>

namespace troupe::test {
namespace {

int64_t to_number(const tensor& value) { return value.data<int64_t>()[0]; }

// Integers wrap around, in kernels as in the reference.
int64_t wrap(uint64_t value) { return static_cast<int64_t>(value); }
uint64_t raw(int64_t value) { return static_cast<uint64_t>(value); }

} // namespace

step_player::step_player(instance& running_instance, std::mt19937& generator, oracle answers)
    : instance_(running_instance), generator_(generator), answers_(std::move(answers)) {}

tensor step_player::number(int64_t value) {
  auto result = *tensor::make(dtype::i64, {}, instance_.program().device().memory());
  result.data<int64_t>()[0] = value;
  return result;
}

status step_player::play(const std::vector<int64_t>& feeds) {
  const auto& program = instance_.program();
  runs.assign(program.regions().size(), 0);
  fetched.clear();
  exported.clear();
  messages = {};
  under_way_.clear();
  instance_.reset();
  for (size_t i = 0; i < program.feeds().size(); ++i)
    instance_.set_feed(i, number(feeds.at(program.feeds()[i].index)));
  post({.region = 0}, &message_counts::starts);
  for (uint32_t wait = 0; wait < program.waits().size(); ++wait)
    // Peers send channels' values without a request.
    if (program.waits()[wait].answered_by == answer_source::channel)
      answer(wait, {});
  while (!under_way_.empty()) {
    auto chosen = generator_() % under_way_.size();
    std::swap(under_way_[chosen], under_way_.back());
    auto deliver = std::move(under_way_.back());
    under_way_.pop_back();
    uint32_t region = 0;
    if (!deliver(region))
      continue;
    ++runs[region];
    TROUPE_TRY(instance_.run(region, *this, stop));
    ++messages.region_ends;
  }
  return {};
}

void step_player::send_token(token&& to_region) {
  post(std::move(to_region), &message_counts::tokens);
}

void step_player::post(token&& to_region, uint64_t message_counts::*kind) {
  auto shared = std::make_shared<token>(std::move(to_region));
  under_way_.push_back([this, shared, kind](uint32_t& region) {
    ++(messages.*kind);
    region = shared->region;
    return instance_.receive(std::move(*shared));
  });
}

void step_player::send_export(uint32_t export_index, tensor&& value, bool dead) {
  auto& slot = exported[instance_.program().exports()[export_index].key];
  slot = dead ? std::nullopt : std::optional{value.empty() ? 0 : to_number(value)};
}

void step_player::send_fetch(uint32_t fetch_index, tensor&& value, bool dead) {
  ++messages.fetches;
  fetched[fetch_index] = dead ? std::nullopt : std::optional{to_number(value)};
}

void step_player::start_wait(uint32_t wait_index, std::span<tensor> inputs) {
  std::vector<int64_t> wait_inputs;
  for (const auto& input : inputs)
    wait_inputs.push_back(to_number(input));
  if (instance_.program().waits()[wait_index].answered_by == answer_source::state)
    ++messages.requests;
  answer(wait_index, wait_inputs);
}

void step_player::answer(uint32_t wait_index, const std::vector<int64_t>& wait_inputs) {
  const auto& wait = instance_.program().waits()[wait_index];
  auto reply = answers_(wait, wait_inputs);
  bool dead = reply.empty();
  under_way_.push_back(
      [this, wait_index, region = wait.region, reply, dead](uint32_t& started_region) {
        std::vector<tensor> values;
        for (auto value : reply)
          values.push_back(number(value));
        started_region = region;
        ++messages.answers;
        return instance_.answer(wait_index, values, dead);
      });
}

std::vector<int64_t> random_step_graph::reply(const node& answering_node,
                                              const std::vector<int64_t>& wait_inputs) {
  auto sum = raw(answering_node.id());
  for (auto input : wait_inputs)
    sum += raw(input);
  // A live answer without outputs must still differ from a dead one.
  if (answering_node.outputs() == 0)
    return {0};
  return answering_node.outputs() == 1 ? std::vector{wrap(sum)}
                                       : std::vector{wrap(sum * 3), wrap(sum - 7)};
}

namespace {

// Adds random nodes to a graph.
class random_nodes {
public:
  random_nodes(graph& target, unsigned seed) : graph_(target), generator_(seed) {
    for (int i = 0; i < 2; ++i)
      states_.push_back({.ref = add(graph_, {.op = "Variable", .attrs = {{"dtype", dtype::i64}}})});
  }

  void add_node(int number) {
    controls_.clear();
    if (below(5) == 0)
      controls_.push_back(nodes_[below(nodes_.size())]);
    auto& variable_state = states_[below(states_.size())];
    switch (below(12)) {
      case 0:
        make("Const", {}, {{"value", tensor::scalar<int64_t>(number)}, {"dtype", dtype::i64}});
        break;
      case 1:
        controls_.clear(); // like a Recv, it waits for no other node
        make("_Feed", {}, {{"index", feeds_++}, {"dtype", dtype::i64}, {"shape", shape{}}});
        break;
      case 2:
        controls_.clear();
        make("_Recv", {},
             {{"key", number}, {"from", ""}, {"dtype", dtype::i64}, {"shape", shape{}}});
        break;
      case 3:
        controls_.clear();
        make("_RecvControl", {}, {{"key", number}, {"from", ""}});
        break;
      case 4: make("Ask", {queue_, any_value(), any_value()}); break;
      case 5: make("Both", {any_value()}); break;
      case 6: make("Neg", {any_value()}); break;
      case 7: make("AddN", {any_value(), any_value(), any_value()}); break;
      case 8: read(variable_state); break;
      case 9: update(variable_state); break;
      case 10: make("Mul", {any_value(), any_value()}); break;
      default: make("Add", {any_value(), any_value()}); break;
    }
  }

  void add_fetches(int count) {
    for (int i = 0; i < count; ++i)
      add(graph_, {.op = "_Fetch", .inputs = {any_value()}, .attrs = {{"index", i}}});
  }

  int feeds() const { return feeds_; }

private:
  // Each variable's updates and reads are ordered by control edges; otherwise their order would be
  // undefined.
  struct state {
    edge ref;
    node* last_update = nullptr;
    std::vector<node*> reads = {};
  };

  size_t below(size_t bound) { return static_cast<size_t>(generator_() % bound); }
  edge any_value() { return values_[below(values_.size())]; }

  node* make(std::string op, std::vector<edge> inputs, attr_map attrs = {}) {
    auto added = add(graph_, {.op = std::move(op),
                              .inputs = std::move(inputs),
                              .attrs = std::move(attrs),
                              .controls = controls_});
    nodes_.push_back(added.node);
    for (int k = 0; k < added.node->outputs(); ++k)
      if (!added.node->output_is_ref(k))
        values_.push_back({added.node, k});
    return added.node;
  }

  void read(state& of_variable) {
    if (of_variable.last_update)
      controls_.push_back(of_variable.last_update);
    of_variable.reads.push_back(make("Identity", {of_variable.ref}));
  }

  void update(state& of_variable) {
    controls_.insert(controls_.end(), of_variable.reads.begin(), of_variable.reads.end());
    if (of_variable.last_update)
      controls_.push_back(of_variable.last_update);
    of_variable = {.ref = of_variable.ref,
                   .last_update = make("AssignAdd", {of_variable.ref, any_value()})};
  }

  graph& graph_;
  std::mt19937 generator_;
  edge queue_ = add(graph_, {.op = "Queue"});
  std::vector<edge> values_{constant(graph_, int64_t{1})};
  std::vector<node*> nodes_{values_[0].node};
  std::vector<state> states_;
  std::vector<node*> controls_; // of the next node
  int feeds_ = 0;
};

} // namespace

random_step_graph::random_step_graph(unsigned seed, int size)
    : graph_(std::make_unique<graph>(ops())) {
  random_nodes nodes{*graph_, seed};
  for (int i = 0; i < size; ++i)
    nodes.add_node(i);
  nodes.add_fetches(8);
  feeds_ = nodes.feeds();
}

std::map<uint32_t, std::optional<int64_t>>
random_step_graph::expected(const graph& played_graph, const std::vector<int64_t>& feeds,
                            const std::function<bool(const node&)>& dies,
                            std::map<std::string, int64_t>& state) const {
  std::map<uint32_t, std::optional<int64_t>> fetched;
  std::map<std::pair<const node*, int>, int64_t> values;
  std::map<const node*, bool> dead;
  for (const auto& owner : played_graph.nodes()) {
    const auto& computed_node = *owner;
    const auto& op = computed_node.op().name;
    std::vector<int64_t> input_values;
    auto& is_dead = dead[&computed_node];
    for (const auto& input : computed_node.inputs()) {
      is_dead = is_dead || dead[input.node];
      if (input.node->op().name == "Variable")
        input_values.push_back(state[input.node->name()]);
      else if (!input.node->output_is_ref(input.index))
        input_values.push_back(values[{input.node, input.index}]);
    }
    for (auto* before : computed_node.controls())
      is_dead = is_dead || dead[before];
    if (has(computed_node.op().effects, effect::blocking))
      is_dead = is_dead || dies(computed_node);
    if (op == "_Fetch")
      fetched[static_cast<uint32_t>(computed_node.attr<int64_t>("index"))] =
          is_dead ? std::nullopt : std::optional{input_values[0]};
    if (is_dead)
      continue;
    auto x = input_values.empty() ? 0 : raw(input_values[0]);
    auto give = [&](uint64_t value, int i = 0) { values[{&computed_node, i}] = wrap(value); };
    if (op == "Const")
      give(raw(computed_node.attr<tensor>("value").data<int64_t>()[0]));
    else if (op == "_Feed")
      give(raw(feeds.at(static_cast<size_t>(computed_node.attr<int64_t>("index")))));
    else if (has(computed_node.op().effects, effect::blocking))
      for (int i = 0; const auto& value : reply(computed_node, input_values))
        give(raw(value), i++);
    else if (op == "Both")
      give(x + 1, 0), give(x - 1, 1);
    else if (op == "Neg")
      give(-x);
    else if (op == "Identity")
      give(x);
    else if (op == "AddN")
      give(x + raw(input_values[1]) + raw(input_values[2]));
    else if (op == "AssignAdd")
      state[computed_node.inputs()[0].node->name()] = wrap(x + raw(input_values[1]));
    else if (op == "Mul")
      give(x * raw(input_values[1]));
    else if (op == "Add")
      give(x + raw(input_values[1]));
  }
  return fetched;
}

} // namespace troupe::test
