#include "tests/support/evaluate.hpp"

#include "troupe/runtime/graph/function.hpp"
#include "troupe/runtime/graph/internal_ops.hpp"

#include <algorithm>
#include <set>

namespace troupe::test {

struct evaluator::step {
  std::map<const node*, uint32_t> first_slots;
  std::vector<tensor> slots;
  std::vector<int> uses_left; // per slot
  std::set<std::pair<const node*, int>> fed;

  uint32_t slot_of(edge of) const {
    return first_slots.at(of.node) + static_cast<uint32_t>(of.index);
  }
};

named_state& evaluator::state_of(const node& stands_for_it) {
  auto& found = states_[&stands_for_it];
  if (!found)
    found = stands_for_it.op().make(stands_for_it, stands_for_it.name());
  return *found;
}

evaluator::elements evaluator::queue_of(const node& stands_for_it) {
  auto& found = queues_[&stands_for_it];
  if (!found)
    found = std::make_shared<std::deque<element>>();
  return found;
}

status evaluator::run_queue(const node& n, step& in) {
  if (n.op().makes == resource::queue)
    return {};
  auto* behind = resource_behind(n.inputs()[0]);
  if (!behind)
    return failure(error_kind::unimplemented, n.description(), ": takes no queue");
  auto& held = *queue_of(*behind);
  if (n.op().name == "QueueEnqueue") {
    element put;
    for (size_t i = 1; i < n.inputs().size(); ++i) {
      TROUPE_ASSIGN(auto value, read(n.inputs()[i], in));
      --in.uses_left[in.slot_of(n.inputs()[i])];
      put.push_back(std::move(value));
    }
    held.push_back(std::move(put));
    return {};
  }
  if (n.op().name != "QueueDequeue")
    return failure(error_kind::unimplemented, n.description(), ": is beyond the interpreter");
  if (held.empty())
    return failure(error_kind::out_of_range, n.description(), ": the queue is empty");
  for (int i = 0; i < n.outputs(); ++i)
    in.slots[in.slot_of({const_cast<node*>(&n), i})] = held.front()[static_cast<size_t>(i)];
  held.pop_front();
  return {};
}

result<evaluator::compiled*> evaluator::compile(const node& of) {
  if (auto it = compiled_.find(&of); it != compiled_.end())
    return &it->second;
  auto* kernel = graph_.ops().find_kernel(of.op().name, device_kind::cpu);
  compiled made{kernel ? kernel->find(of) : nullptr, {}};
  if (!made.run)
    return failure(error_kind::unimplemented, of.description(), ": no kernel for the CPU");
  if (kernel->prepare) {
    auto state = kernel->prepare({of, device_});
    if (!state)
      return state.status().within(of.description());
    made.state = *std::move(state);
  }
  return &compiled_.emplace(&of, std::move(made)).first->second;
}

result<tensor> evaluator::read(edge of, step& in) {
  if (of.node->output_is_ref(of.index) && !in.fed.contains({of.node, of.index})) {
    auto* behind = resource_behind(of);
    if (!behind || behind->op().makes != resource::variable)
      return failure(error_kind::unimplemented, "'", of, "' cannot be read");
    return state_of(*behind).read();
  }
  return in.slots[in.slot_of(of)];
}

// A function is a graph whose arguments are fed and whose results are fetched; all that has an
// effect runs.
result<std::vector<tensor>> evaluator::call(const function_value& what, const node& by,
                                            const std::vector<tensor>& arguments) {
  auto called = what;
  for (auto it = around_.rbegin(); !called.body && it != around_.rend(); ++it)
    if (it->name == what.name)
      called = *it;
  if (!called.body)
    return failure(error_kind::not_found, "no function '", what.name, "'");
  const auto& body = called.body->body();
  evaluator inner{body, device_};
  inner.around_ = around_;
  inner.around_.push_back(called);
  std::vector<feed> feeds;
  std::vector<edge> fetches;
  std::vector<node*> targets;
  auto first = static_cast<size_t>(first_argument(by.op()));
  for (size_t i = 0; i < called.body->arguments(); ++i) {
    auto& at = const_cast<node&>(called.body->argument(i));
    if (called.body->argument_is_ref(i) && at.op().makes == resource::queue)
      inner.queues_[&at] = queue_of(*resource_behind(by.inputs()[first + i]));
    else if (called.body->argument_is_ref(i))
      inner.states_[&at] = std::shared_ptr<named_state>{
          std::shared_ptr<void>{}, &state_of(*resource_behind(by.inputs()[first + i]))};
    else
      feeds.push_back({at.output(0), arguments[i]});
  }
  std::vector<size_t> computed;
  for (const auto& one : body.nodes())
    if (&one->op() == &internal_ops::fetch) {
      computed.push_back(static_cast<size_t>(one->attr<int64_t>("index")));
      fetches.push_back(one->inputs()[0]);
    } else if (has(one->op().effects, effect::stateful)) {
      targets.push_back(one.get());
    }
  TROUPE_ASSIGN(auto fetched, inner.run(feeds, fetches, targets));
  std::vector<tensor> results(called.body->results());
  for (size_t i = 0; i < computed.size(); ++i)
    results[computed[i]] = fetched[i];
  for (size_t i = 0; i < results.size(); ++i)
    if (auto from = called.body->handed_on(i); from >= 0)
      results[i] = arguments[static_cast<size_t>(from)];
  return results;
}

status evaluator::run_call(const node& n, step& in) {
  auto first = static_cast<size_t>(first_argument(n.op()));
  std::vector<tensor> inputs(n.inputs().size());
  for (size_t i = 0; i < inputs.size(); ++i)
    if (!n.input_is_ref(static_cast<int>(i))) {
      TROUPE_ASSIGN(inputs[i], read(n.inputs()[i], in));
      --in.uses_left[in.slot_of(n.inputs()[i])];
    }
  auto holds = [](const tensor& one) {
    return one.type() == dtype::boolean && one.rank() == 0 ? *one.data<bool>() : false;
  };
  std::vector<tensor> arguments(inputs.begin() + static_cast<std::ptrdiff_t>(first), inputs.end());
  auto all = functions_of(n);
  if (n.op().calls == calling::while_true) {
    for (;;) {
      TROUPE_ASSIGN(auto verdict, call(*all[0], n, arguments));
      if (!holds(verdict[0]))
        break;
      TROUPE_ASSIGN(arguments, call(*all[1], n, arguments));
    }
  } else {
    size_t which = 0;
    if (n.op().calls == calling::if_true)
      which = holds(inputs[0]) ? 0 : 1;
    if (n.op().calls == calling::by_number) {
      auto at = *inputs[0].data<int32_t>();
      auto last = static_cast<int32_t>(all.size()) - 1;
      which = static_cast<size_t>(at < 0 || at > last ? last : at);
    }
    TROUPE_ASSIGN(arguments, call(*all[which], n, arguments));
  }
  for (int i = 0; i < n.outputs(); ++i)
    in.slots[in.slot_of({const_cast<node*>(&n), i})] = arguments[static_cast<size_t>(i)];
  return {};
}

status evaluator::run_node(const node& n, step& in) {
  if (n.op().calls != calling::never)
    return run_call(n, in);
  if (&n.op() == &internal_ops::fetch || (is_argument(n) && n.op().makes != resource::none))
    return {};
  if (n.op().makes == resource::queue || (n.op().ask && n.op().inputs[0].to == resource::queue))
    return run_queue(n, in);
  TROUPE_ASSIGN(auto* code, compile(n));
  auto count = n.inputs().size();
  // The node's inputs, then its outputs: a program would use the slots of the graph's edges.
  std::vector<tensor> slots(count + static_cast<size_t>(n.outputs()));
  std::vector<uint32_t> inputs;
  std::vector<named_state*> states(count);
  std::vector<tensor> seen;
  uint64_t last_uses = 0;
  for (size_t i = 0; i < count; ++i) {
    auto of = n.inputs()[i];
    inputs.push_back(static_cast<uint32_t>(i));
    if (n.input_is_ref(static_cast<int>(i))) {
      auto* behind = resource_behind(of);
      if (!behind || !(behind->op().make || states_.contains(behind)))
        return failure(error_kind::unimplemented, n.description(), ": input ", i,
                       " is nothing that kernels use");
      states[i] = &state_of(*behind);
      seen.push_back(states[i]->read() ? *states[i]->read() : tensor{});
      continue;
    }
    TROUPE_ASSIGN(slots[i], read(of, in));
    seen.push_back(slots[i]);
    auto& left = in.uses_left[in.slot_of(of)];
    if (--left == 0 && !observer_) {
      in.slots[in.slot_of(of)].reset();
      last_uses |= i < 64 ? uint64_t{1} << i : 0;
    }
  }
  if (!observer_)
    seen.clear();
  std::vector<dtype> types;
  for (int i = 0; i < n.outputs(); ++i)
    types.push_back(n.output_type(i));
  instruction next{.run = code->run,
                   .state = code->state.get(),
                   .inputs = inputs.data(),
                   .states = states.data(),
                   .output_types = types.data(),
                   .first_output = static_cast<uint32_t>(count),
                   .input_count = static_cast<uint16_t>(count),
                   .output_count = static_cast<uint16_t>(types.size()),
                   .last_uses = last_uses,
                   .origin = &n};
  kernel_context context{slots.data(), device_};
  context.step_to(next);
  if (auto outcome = next.run(context); !outcome)
    return std::move(outcome).within(n.description());
  std::vector<tensor> outputs;
  for (int i = 0; i < n.outputs(); ++i) {
    edge out{const_cast<node*>(&n), i};
    if (!n.output_is_ref(i)) {
      auto& made = slots[count + static_cast<size_t>(i)];
      if (made.type() != n.output_type(i))
        return failure(error_kind::internal, n.description(), ": output ", i, " is ", made.type(),
                       ", must be ", n.output_type(i));
      if (!n.output_shape(i).compatible(made.dims()))
        return failure(error_kind::internal, n.description(), ": output ", i, " has shape ",
                       made.dims(), ", inferred was ", n.output_shape(i));
      if (!in.fed.contains({&n, i}))
        in.slots[in.slot_of(out)] = made;
      outputs.push_back(std::move(made));
    } else if (observer_) {
      auto value = read(out, in);
      outputs.push_back(value ? *value : tensor{});
    }
  }
  if (observer_)
    observer_(n, seen, outputs);
  return {};
}

result<std::vector<tensor>> evaluator::run(const std::vector<feed>& feeds,
                                           const std::vector<edge>& fetches,
                                           const std::vector<node*>& targets) {
  step in;
  uint32_t slots = 0;
  for (const auto& one : graph_.nodes()) {
    in.first_slots[one.get()] = slots;
    slots += static_cast<uint32_t>(one->outputs());
  }
  in.slots.resize(slots);
  in.uses_left.resize(slots);
  for (const auto& [to, value] : feeds) {
    if (value.type() != to.type() || !to.dims().compatible(value.dims()))
      return invalid("'", to, "' is ", to.type(), to.dims(), ", and is fed ", value.type(),
                     value.dims());
    in.fed.emplace(to.node, to.index);
    in.slots[in.slot_of(to)] = value;
  }
  TROUPE_ASSIGN(auto order, topological_order(graph_));
  std::set<const node*> needed{targets.begin(), targets.end()};
  auto need = [&](edge of) {
    ++in.uses_left[in.slot_of(of)];
    if (!in.fed.contains({of.node, of.index}))
      needed.insert(of.node);
  };
  for (const auto& of : fetches)
    need(of);
  for (auto it = order.rbegin(); it != order.rend(); ++it)
    if (needed.contains(*it)) {
      for (const auto& of : (*it)->inputs())
        need(of);
      needed.insert((*it)->controls().begin(), (*it)->controls().end());
    }
  for (auto* node : order)
    if (needed.contains(node))
      TROUPE_TRY(run_node(*node, in));
  std::vector<tensor> fetched;
  for (const auto& of : fetches) {
    TROUPE_ASSIGN(auto value, read(of, in));
    fetched.push_back(std::move(value));
  }
  return fetched;
}

} // namespace troupe::test
