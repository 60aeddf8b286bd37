#include "tests/support/evaluate.hpp"

#include "troupe/runtime/graph/function.hpp"
#include "troupe/runtime/graph/internal_ops.hpp"

#include <algorithm>
#include <numeric>
#include <set>

namespace troupe::test {

struct evaluator::step {
  std::map<const node*, uint32_t> first_slots;
  std::vector<tensor> slots;
  std::vector<int> uses_left; // per slot
  std::set<std::pair<const node*, int>> fed;

  uint32_t slot_of(edge produced) const {
    return first_slots.at(produced.node) + static_cast<uint32_t>(produced.index);
  }
};

named_state& evaluator::state_of(const node& state_node) {
  auto& result = states_[&state_node];
  if (!result)
    result = state_node.op().create_state(state_node, state_node.name());
  return *result;
}

evaluator::elements evaluator::queue_of(const node& state_node) {
  auto& result = queues_[&state_node];
  if (!result)
    result = std::make_shared<std::deque<element>>();
  return result;
}

status evaluator::run_queue(const node& n, step& current) {
  if (n.op().state_kind == resource::queue)
    return {};
  auto* resource_node = resource_behind(n.inputs()[0]);
  if (!resource_node)
    return failure(error_kind::unimplemented, n.description(), ": takes no queue");
  auto& elements_held = *queue_of(*resource_node);
  if (n.op().name == "QueueEnqueue") {
    element new_element;
    for (size_t i = 1; i < n.inputs().size(); ++i) {
      TROUPE_ASSIGN(auto value, read(n.inputs()[i], current));
      --current.uses_left[current.slot_of(n.inputs()[i])];
      new_element.push_back(std::move(value));
    }
    elements_held.push_back(std::move(new_element));
    return {};
  }
  if (n.op().name != "QueueDequeue")
    return failure(error_kind::unimplemented, n.description(), ": is beyond the interpreter");
  if (elements_held.empty())
    return failure(error_kind::out_of_range, n.description(), ": the queue is empty");
  for (int i = 0; i < n.outputs(); ++i)
    current.slots[current.slot_of({const_cast<node*>(&n), i})] =
        elements_held.front()[static_cast<size_t>(i)];
  elements_held.pop_front();
  return {};
}

result<evaluator::compiled*> evaluator::compile(const node& compiled_node) {
  if (auto compiled_entry = compiled_.find(&compiled_node); compiled_entry != compiled_.end())
    return &compiled_entry->second;
  auto* kernel = graph_.ops().find_kernel(compiled_node.op().name, device_kind::cpu);
  compiled prepared{kernel ? kernel->find(compiled_node) : nullptr, {}};
  if (!prepared.run)
    return failure(error_kind::unimplemented, compiled_node.description(),
                   ": no kernel for the CPU");
  if (kernel->prepare) {
    auto state = kernel->prepare({compiled_node, device_});
    if (!state)
      return state.status().with_context(compiled_node.description());
    prepared.state = *std::move(state);
  }
  return &compiled_.emplace(&compiled_node, std::move(prepared)).first->second;
}

result<tensor> evaluator::read(edge read_edge, step& current) {
  if (read_edge.node->output_is_ref(read_edge.index) &&
      !current.fed.contains({read_edge.node, read_edge.index})) {
    auto* resource_node = resource_behind(read_edge);
    if (!resource_node || resource_node->op().state_kind != resource::variable)
      return failure(error_kind::unimplemented, "'", read_edge, "' cannot be read");
    return state_of(*resource_node).read();
  }
  return current.slots[current.slot_of(read_edge)];
}

// A function is a graph whose arguments are fed and whose results are fetched; all nodes with an
// effect run.
result<std::vector<tensor>> evaluator::call(const function_value& function, const node& caller,
                                            const std::vector<tensor>& arguments) {
  auto called = function;
  for (auto outer_function = around_.rbegin(); !called.body && outer_function != around_.rend();
       ++outer_function)
    if (outer_function->name == function.name)
      called = *outer_function;
  if (!called.body)
    return failure(error_kind::not_found, "no function '", function.name, "'");
  const auto& body = called.body->body();
  evaluator inner{body, device_};
  inner.around_ = around_;
  inner.around_.push_back(called);
  std::vector<feed> feeds;
  std::vector<edge> fetches;
  std::vector<node*> targets;
  auto first = static_cast<size_t>(first_argument(caller.op()));
  for (size_t i = 0; i < called.body->arguments(); ++i) {
    auto& argument_node = const_cast<node&>(called.body->argument(i));
    if (called.body->argument_is_ref(i) && argument_node.op().state_kind == resource::queue)
      inner.queues_[&argument_node] = queue_of(*resource_behind(caller.inputs()[first + i]));
    else if (called.body->argument_is_ref(i))
      inner.states_[&argument_node] = std::shared_ptr<named_state>{
          std::shared_ptr<void>{}, &state_of(*resource_behind(caller.inputs()[first + i]))};
    else
      feeds.push_back({argument_node.output(0), arguments[i]});
  }
  std::vector<size_t> computed;
  for (const auto& body_node : body.nodes())
    if (&body_node->op() == &internal_ops::fetch) {
      computed.push_back(static_cast<size_t>(body_node->attr<int64_t>("index")));
      fetches.push_back(body_node->inputs()[0]);
    } else if (has(body_node->op().effects, effect::stateful)) {
      targets.push_back(body_node.get());
    }
  TROUPE_ASSIGN(auto fetched, inner.run(feeds, fetches, targets));
  std::vector<tensor> results(called.body->results());
  for (size_t i = 0; i < computed.size(); ++i)
    results[computed[i]] = fetched[i];
  for (size_t i = 0; i < results.size(); ++i)
    if (auto from = called.body->passed_through(i); from >= 0)
      results[i] = arguments[static_cast<size_t>(from)];
  return results;
}

status evaluator::run_call(const node& n, step& current) {
  auto first = static_cast<size_t>(first_argument(n.op()));
  std::vector<tensor> inputs(n.inputs().size());
  for (size_t i = 0; i < inputs.size(); ++i)
    if (!n.input_is_ref(static_cast<int>(i))) {
      TROUPE_ASSIGN(inputs[i], read(n.inputs()[i], current));
      --current.uses_left[current.slot_of(n.inputs()[i])];
    }
  auto is_true = [](const tensor& value) {
    return value.type() == dtype::boolean && value.rank() == 0 ? *value.data<bool>() : false;
  };
  std::vector<tensor> arguments(inputs.begin() + static_cast<std::ptrdiff_t>(first), inputs.end());
  auto functions = functions_of(n);
  if (n.op().calls == call_kind::while_true) {
    for (;;) {
      TROUPE_ASSIGN(auto verdict, call(*functions[0], n, arguments));
      if (!is_true(verdict[0]))
        break;
      TROUPE_ASSIGN(arguments, call(*functions[1], n, arguments));
    }
  } else {
    size_t branch = 0;
    if (n.op().calls == call_kind::if_true)
      branch = is_true(inputs[0]) ? 0 : 1;
    if (n.op().calls == call_kind::by_number) {
      auto branch_number = *inputs[0].data<int32_t>();
      auto last = static_cast<int32_t>(functions.size()) - 1;
      branch =
          static_cast<size_t>(branch_number < 0 || branch_number > last ? last : branch_number);
    }
    TROUPE_ASSIGN(arguments, call(*functions[branch], n, arguments));
  }
  for (int i = 0; i < n.outputs(); ++i)
    current.slots[current.slot_of({const_cast<node*>(&n), i})] = arguments[static_cast<size_t>(i)];
  return {};
}

// The inputs of one node, as its kernel reads them.
struct evaluator::node_inputs {
  std::vector<tensor> slots;
  std::vector<named_state*> states; // of references
  std::vector<tensor> values;       // for the observer
  uint64_t last_uses = 0;
};

result<evaluator::node_inputs> evaluator::read_inputs(const node& n, step& current) {
  auto count = n.inputs().size();
  node_inputs inputs{.slots = std::vector<tensor>(count),
                     .states = std::vector<named_state*>(count),
                     .values = {}};
  for (size_t i = 0; i < count; ++i) {
    auto input_edge = n.inputs()[i];
    if (n.input_is_ref(static_cast<int>(i))) {
      auto* resource_node = resource_behind(input_edge);
      if (!resource_node || !(resource_node->op().create_state || states_.contains(resource_node)))
        return failure(error_kind::unimplemented, n.description(), ": input ", i,
                       " is nothing that kernels use");
      inputs.states[i] = &state_of(*resource_node);
      inputs.values.push_back(inputs.states[i]->read() ? *inputs.states[i]->read() : tensor{});
      continue;
    }
    TROUPE_ASSIGN(inputs.slots[i], read(input_edge, current));
    inputs.values.push_back(inputs.slots[i]);
    auto& uses = current.uses_left[current.slot_of(input_edge)];
    if (--uses == 0 && !observer_) {
      current.slots[current.slot_of(input_edge)].reset();
      inputs.last_uses |= i < 64 ? uint64_t{1} << i : 0;
    }
  }
  if (!observer_)
    inputs.values.clear();
  return inputs;
}

// Checks the types and shapes of the outputs, and keeps them for their readers. Returns the values
// that an observer sees.
result<std::vector<tensor>> evaluator::keep_outputs(const node& n, std::span<tensor> values,
                                                    step& current) {
  std::vector<tensor> outputs;
  for (int i = 0; i < n.outputs(); ++i) {
    edge output_edge{const_cast<node*>(&n), i};
    if (!n.output_is_ref(i)) {
      auto& value = values[static_cast<size_t>(i)];
      if (value.type() != n.output_type(i))
        return failure(error_kind::internal, n.description(), ": output ", i, " is ", value.type(),
                       ", must be ", n.output_type(i));
      if (!n.output_shape(i).compatible(value.dims()))
        return failure(error_kind::internal, n.description(), ": output ", i, " has shape ",
                       value.dims(), ", inferred was ", n.output_shape(i));
      if (!current.fed.contains({&n, i}))
        current.slots[current.slot_of(output_edge)] = value;
      outputs.push_back(std::move(value));
    } else if (observer_) {
      auto value = read(output_edge, current);
      outputs.push_back(value ? *value : tensor{});
    }
  }
  return outputs;
}

status evaluator::run_node(const node& n, step& current) {
  if (n.op().calls != call_kind::never)
    return run_call(n, current);
  if (&n.op() == &internal_ops::fetch || (is_argument(n) && n.op().state_kind != resource::none))
    return {};
  if (n.op().state_kind == resource::queue ||
      (n.op().start_operation && n.op().inputs[0].state_kind == resource::queue))
    return run_queue(n, current);
  TROUPE_ASSIGN(auto* code, compile(n));
  TROUPE_ASSIGN(auto inputs, read_inputs(n, current));
  // The node's inputs, then its outputs: a program would use the slots of the graph's edges.
  auto count = inputs.slots.size();
  auto slots = std::move(inputs.slots);
  slots.resize(count + static_cast<size_t>(n.outputs()));
  std::vector<uint32_t> input_slots(count);
  std::iota(input_slots.begin(), input_slots.end(), 0u);
  std::vector<dtype> types;
  for (int i = 0; i < n.outputs(); ++i)
    types.push_back(n.output_type(i));
  instruction next{.run = code->run,
                   .state = code->state.get(),
                   .inputs = input_slots.data(),
                   .states = inputs.states.data(),
                   .output_types = types.data(),
                   .first_output = static_cast<uint32_t>(count),
                   .input_count = static_cast<uint16_t>(count),
                   .output_count = static_cast<uint16_t>(types.size()),
                   .last_uses = inputs.last_uses,
                   .origin = &n};
  kernel_context context{slots.data(), device_};
  context.step_to(next);
  if (auto outcome = next.run(context); !outcome)
    return std::move(outcome).with_context(n.description());
  TROUPE_ASSIGN(auto outputs, keep_outputs(n, std::span{slots}.subspan(count), current));
  if (observer_)
    observer_(n, inputs.values, outputs);
  return {};
}

result<std::vector<tensor>> evaluator::run(const std::vector<feed>& feeds,
                                           const std::vector<edge>& fetches,
                                           const std::vector<node*>& targets) {
  step current;
  uint32_t slots = 0;
  for (const auto& graph_node : graph_.nodes()) {
    current.first_slots[graph_node.get()] = slots;
    slots += static_cast<uint32_t>(graph_node->outputs());
  }
  current.slots.resize(slots);
  current.uses_left.resize(slots);
  for (const auto& [target, value] : feeds) {
    if (value.type() != target.type() || !target.dims().compatible(value.dims()))
      return invalid("'", target, "' is ", target.type(), target.dims(), ", and is fed ",
                     value.type(), value.dims());
    current.fed.emplace(target.node, target.index);
    current.slots[current.slot_of(target)] = value;
  }
  TROUPE_ASSIGN(auto order, topological_order(graph_));
  std::set<const node*> needed{targets.begin(), targets.end()};
  auto need = [&](edge needed_edge) {
    ++current.uses_left[current.slot_of(needed_edge)];
    if (!current.fed.contains({needed_edge.node, needed_edge.index}))
      needed.insert(needed_edge.node);
  };
  for (const auto& fetched : fetches)
    need(fetched);
  for (auto position = order.rbegin(); position != order.rend(); ++position)
    if (needed.contains(*position)) {
      for (const auto& input_edge : (*position)->inputs())
        need(input_edge);
      needed.insert((*position)->controls().begin(), (*position)->controls().end());
    }
  for (auto* node : order)
    if (needed.contains(node))
      TROUPE_TRY(run_node(*node, current));
  std::vector<tensor> fetched;
  for (const auto& fetched_edge : fetches) {
    TROUPE_ASSIGN(auto value, read(fetched_edge, current));
    fetched.push_back(std::move(value));
  }
  return fetched;
}

} // namespace troupe::test
