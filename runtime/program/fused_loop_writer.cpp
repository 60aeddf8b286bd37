#include "troupe/runtime/program/fused_loop_writer.hpp"

#include "troupe/runtime/graph/internal_ops.hpp"

#include <algorithm>
#include <cstring>

namespace troupe {
namespace {

// Limits: the first-level cache, and the code of nested calls, which may grow exponentially.
constexpr size_t max_bytes = 64 * 1024, max_code = 4096, max_visited = 16'384;

bool is_plain(dtype type) {
  return type != dtype::none && type != dtype::string && type != dtype::variant;
}

} // namespace

std::shared_ptr<const fused_loop> fused_loop_writer::write(const function& condition,
                                                           const function& body,
                                                           std::span<const tensor> initial) {
  loop_.reset(new fused_loop);
  loop_->initial_.resize(16); // so that no cell is at 0
  const auto by_condition = read_arguments(condition), by_body = read_arguments(body);
  cells variables(initial.size());
  for (size_t i = 0; i < initial.size(); ++i)
    if (by_condition[i] || by_body[i] || body.passed_through(i) != static_cast<int>(i))
      if (const auto& variable = initial[i]; variable.on_host())
        variables[i] = make_cell(variable.type(), variable.dims()).value_or(cell{});
  if (!write_loop(condition, body, variables, true))
    return nullptr;
  add(opcode::end);
  for (size_t i = 0; i < variables.size(); ++i) {
    const auto& variable = variables[i];
    auto changes = body.passed_through(i) != static_cast<int>(i);
    loop_->variables_.push_back(
        {.used = changes || (variable.offset != 0 && read_.contains(variable.offset)),
         .changes = changes,
         .offset = variable.offset,
         .type = variable.type,
         .dims = variable.dims});
  }
  return loop_;
}

std::vector<bool> fused_loop_writer::read_arguments(const function& called) {
  std::vector<bool> is_read(called.arguments());
  for (const auto& body_node : called.body().nodes())
    for (const auto& input : body_node->inputs())
      if (called.runs(*body_node) && is_argument(*input.node))
        is_read[static_cast<size_t>(input.node->attr<int64_t>("index"))] = true;
  return is_read;
}

auto fused_loop_writer::add(opcode kind) -> instruction& {
  return loop_->code_.emplace_back(instruction{.operation = kind});
}

auto fused_loop_writer::make_cell(dtype type, const shape& dims) -> std::optional<cell> {
  cell new_cell{0, type, dims};
  auto elements = dims.elements();
  if (!is_plain(type) || elements == 0 ||
      elements > static_cast<int64_t>(fused_loop::max_value_bytes / size_of(type)))
    return {};
  auto& image = loop_->initial_;
  size_t alignment = new_cell.bytes() <= 16 ? 16 : tensor_alignment;
  auto offset = (image.size() + alignment - 1) / alignment * alignment;
  if (offset + new_cell.bytes() > max_bytes || loop_->code_.size() > max_code)
    return {};
  image.resize(offset + new_cell.bytes());
  new_cell.offset = static_cast<uint32_t>(offset);
  return new_cell;
}

auto fused_loop_writer::constant(const node& source) -> std::optional<cell> {
  const auto& value = source.attr<tensor>("value");
  auto value_cell = value.on_host() ? make_cell(value.type(), value.dims()) : std::nullopt;
  if (!value_cell)
    return {};
  std::memcpy(loop_->initial_.data() + value_cell->offset, value.raw(), value_cell->bytes());
  value_cell->constant = true;
  return value_cell;
}

void fused_loop_writer::copy(const cell& from, const cell& to) {
  if (from.is(to))
    return;
  auto& code = add(opcode::copy);
  code.from[0] = from.offset;
  code.to = to.offset;
  code.count = from.bytes();
  read_.insert(from.offset);
}

// -- functions ------------------------------------------------------------------------------------

auto fused_loop_writer::run_function(const function& called, const cells& arguments)
    -> std::optional<cells> {
  node_values values;
  cells results(called.results());
  for (size_t i = 0; i < called.arguments(); ++i)
    values[{&called.argument(i), 0}] = arguments[i];
  for (const auto& body_node : called.body().nodes())
    if (called.runs(*body_node) && !write_node(*body_node, values, results))
      return {};
  for (size_t i = 0; i < results.size(); ++i)
    if (auto argument = called.passed_through(i); argument >= 0)
      results[i] = arguments[static_cast<size_t>(argument)];
  return results;
}

bool fused_loop_writer::write_node(const node& written, node_values& values, cells& results) {
  const auto& op = written.op();
  if (is_argument(written))
    return true;
  if (++visited_ > max_visited || loop_->code_.size() > max_code)
    return false;
  cells inputs;
  for (const auto& input : written.inputs()) {
    auto value = values.find({input.node, input.index});
    if (value == values.end())
      return false;
    inputs.push_back(value->second);
  }
  if (&op == &internal_ops::fetch) {
    results[static_cast<size_t>(written.attr<int64_t>("index"))] = inputs[0];
    return true;
  }
  if (runs_functions(op)) {
    auto outputs = write_call(written, inputs);
    for (size_t i = 0; outputs && i < outputs->size(); ++i)
      values[{&written, static_cast<int>(i)}] = (*outputs)[i];
    return outputs.has_value();
  }
  constexpr auto never = effect::stateful | effect::random | effect::blocking | effect::must_be_fed;
  if (has(op.effects, never) || op.state_kind != resource::none)
    return false;
  if (written.outputs() == 0)
    return true; // the order of the code replaces its control edges
  std::optional<cell> output;
  if (op.name == "Const")
    output = constant(written);
  else if (&op == &internal_ops::fused)
    output = write_stages(written, inputs);
  else if (written.outputs() == 1)
    output = compute(written, inputs);
  if (output)
    values[{&written, 0}] = *output;
  return output.has_value();
}

// -- arithmetic -----------------------------------------------------------------------------------

auto fused_loop_writer::compute(const node& computed, const cells& inputs) -> std::optional<cell> {
  const auto* kernel = computed.graph().ops().find_kernel(computed.op().name, device_kind::cpu);
  if (!kernel || inputs.empty())
    return {};
  if (kernel->find_inner_loop)
    return compute(computed.op(), nullptr, kernel->find_inner_loop(computed),
                   computed.output_type(0), inputs);
  const auto* entry = kernel->find(inputs[0].type);
  if (!entry || !kernel->find(computed) || !has(computed.op().effects, effect::elementwise))
    return {};
  return compute(computed.op(), entry, entry->inner_loop, computed.output_type(0), inputs);
}

auto fused_loop_writer::compute(const op_def& op, const typed_kernel* entry, inner_loop_fn run,
                                dtype type, const cells& inputs) -> std::optional<cell> {
  if (!run || inputs.empty() || inputs.size() > 3)
    return {};
  auto dims = inputs[0].dims;
  for (const auto& input : inputs) {
    if (input.elements() == 0 || (entry && input.type != inputs[0].type))
      return {};
    auto joint = broadcast(dims, input.dims);
    if (!joint || (!(input.dims == dims) && !has(op.effects, effect::broadcasting)))
      return {};
    dims = *joint;
  }
  auto output = make_cell(type, dims);
  if (!output)
    return {};
  instruction code{.operation = opcode::compute, .run = run};
  code.to = output->offset;
  code.count = static_cast<uint32_t>(output->elements());
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (inputs[i].elements() != 1 && inputs[i].elements() != output->elements())
      return {};
    code.from[i] = inputs[i].offset;
    // A single element is read again in each step of the inner loop.
    code.steps[i] = inputs[i].elements() == 1 ? 0 : 1;
    read_.insert(inputs[i].offset);
  }
  if (entry && entry->accepts_second_input) {
    const auto& second = inputs[1];
    auto count = static_cast<uint32_t>(second.elements());
    if (second.constant) {
      if (!entry->accepts_second_input(loop_->initial_.data() + second.offset, count))
        return {};
    } else {
      auto& check = add(opcode::check);
      check.from[1] = second.offset;
      check.count = count;
      check.takes = entry->accepts_second_input;
      may_fail_ = true;
    }
  }
  loop_->code_.push_back(code);
  nanoseconds_ += 5 + (entry ? entry->cost : 0.5) * code.count;
  return output;
}

auto fused_loop_writer::write_stages(const node& fused, const cells& inputs)
    -> std::optional<cell> {
  auto stages = fused_stages::decode(fused);
  if (!stages)
    return {};
  auto values = inputs;
  for (const auto& stage : stages->stages) {
    const auto* kernel = fused.graph().ops().find_kernel(stage.op->name, device_kind::cpu);
    const auto* entry = kernel ? kernel->find(stage.operand_type) : nullptr;
    cells operands;
    for (size_t k = 0; k < stage.arity; ++k)
      operands.push_back(values[stage.operands[k]]);
    auto value =
        entry ? compute(*stage.op, entry, entry->inner_loop, stage.type, operands) : std::nullopt;
    if (!value)
      return {};
    values.push_back(*value);
  }
  return values.back();
}

// -- branches and loops ---------------------------------------------------------------------------

// Returns whether the arguments have the shapes that the function requires. If not, the blocks
// report it.
bool fused_loop_writer::has_required_shapes(const node& call, const function& called,
                                            const cells& inputs) {
  auto first = static_cast<size_t>(first_argument(call.op()));
  for (size_t i = 0; i < called.arguments(); ++i) {
    const auto& required = called.argument(i).output_shape(0);
    if (called.argument_is_ref(i) || !required.has_rank())
      continue;
    const auto& argument = inputs[first + i];
    if (argument.elements() > 0
            ? !required.compatible(argument.dims)
            : join_shapes(required, call.inputs()[first + i].dims()) != required)
      return false;
  }
  return true;
}

auto fused_loop_writer::write_call(const node& call, const cells& inputs) -> std::optional<cells> {
  for (const auto* callee : functions_of(call))
    if (!callee->body)
      return {}; // a recursive function
  const auto functions = functions_of(call);
  auto first = static_cast<size_t>(first_argument(call.op()));
  for (const auto* callee : functions)
    if (callee->body->arguments() != inputs.size() - first ||
        !has_required_shapes(call, *callee->body, inputs))
      return {};
  switch (call.op().calls) {
    case call_kind::once: return run_function(*functions[0]->body, inputs);
    case call_kind::if_true:
    case call_kind::by_number: return write_choice(call, inputs);
    case call_kind::while_true:
      return write_loop(*functions[0]->body, *functions[1]->body, inputs, false);
    case call_kind::never: break;
  }
  return {};
}

// Writes all branches so that they leave their results in the same cells.
auto fused_loop_writer::write_choice(const node& call, const cells& inputs)
    -> std::optional<cells> {
  const auto functions = functions_of(call);
  const auto& selector = inputs[0];
  auto is_if = call.op().calls == call_kind::if_true;
  if (selector.type != (is_if ? dtype::boolean : dtype::i32) || selector.dims.rank() != 0)
    return {};
  read_.insert(selector.offset);
  const cells arguments{inputs.begin() + first_argument(call.op()), inputs.end()};
  const auto choice_at = position();
  auto& choice = add(is_if ? opcode::branch : opcode::choose);
  choice.from[0] = selector.offset;
  choice.count = static_cast<uint32_t>(functions.size());
  std::vector<uint32_t> begins, jumps;
  cells joint;
  for (const auto* callee : functions) {
    begins.push_back(position());
    auto branch_results = run_function(*callee->body, arguments);
    if (!branch_results || (begins.size() > 1 && branch_results->size() != joint.size()))
      return {};
    for (size_t i = 0; i < branch_results->size(); ++i) {
      const auto& result = (*branch_results)[i];
      if (begins.size() == 1) {
        auto joint_cell = make_cell(result.type, result.dims);
        if (!joint_cell)
          return {};
        joint.push_back(*joint_cell);
      }
      if (result.type != joint[i].type || !(result.dims == joint[i].dims))
        return {};
      copy(result, joint[i]);
    }
    jumps.push_back(position());
    add(opcode::jump);
  }
  for (auto jump : jumps)
    loop_->code_[jump].target = position();
  if (is_if) {
    loop_->code_[choice_at].target = begins[1];
  } else {
    loop_->code_[choice_at].target = static_cast<uint32_t>(loop_->targets_.size());
    loop_->targets_.insert(loop_->targets_.end(), begins.begin(), begins.end());
  }
  return joint;
}

// Gives variables that a nested loop changes cells of their own; the other variables keep theirs.
auto fused_loop_writer::write_loop(const function& condition, const function& body,
                                   const cells& initial, bool outermost) -> std::optional<cells> {
  auto variables = initial;
  for (size_t i = 0; i < variables.size(); ++i)
    if (body.passed_through(i) != static_cast<int>(i)) {
      if (initial[i].elements() == 0)
        return {};
      if (outermost)
        continue;
      auto own_cell = make_cell(initial[i].type, initial[i].dims);
      if (!own_cell)
        return {};
      variables[i] = *own_cell;
      copy(initial[i], variables[i]);
    }
  const auto begin = position();
  const auto before = nanoseconds_;
  auto condition_results = run_function(condition, variables);
  if (!condition_results || condition_results->size() != 1 ||
      condition_results->front().type != dtype::boolean ||
      condition_results->front().dims.rank() != 0)
    return {};
  const auto exit_at = position();
  add(opcode::branch).from[0] = condition_results->front().offset;
  read_.insert(condition_results->front().offset);
  const auto body_begin = position();
  auto results = run_function(body, variables);
  if (!results || !assign_variables(*results, variables, body_begin, outermost))
    return {};
  auto& next_iteration = add(opcode::iterate);
  next_iteration.target = begin;
  next_iteration.outermost = outermost;
  next_iteration.count = static_cast<uint32_t>(std::clamp(nanoseconds_ - before, 1.0, 1e9));
  loop_->code_[exit_at].target = position();
  return variables;
}

// Assigns their new values to the loop variables, all at once.
bool fused_loop_writer::assign_variables(const cells& results, cells& variables, size_t body_begin,
                                         bool outermost) {
  std::vector<std::pair<cell, cell>> copies; // from, to
  for (size_t i = 0; i < variables.size(); ++i) {
    if (variables[i].elements() == 0)
      continue; // the loop does not change it
    if (results[i].type != variables[i].type || !(results[i].dims == variables[i].dims))
      return false;
    if (!results[i].is(variables[i]))
      copies.emplace_back(results[i], variables[i]);
  }
  auto is_variable = [&](const cell& value) {
    return std::ranges::any_of(variables, [&](const cell& other) { return value.is(other); });
  };
  auto uses = [&](const cell& result) {
    return std::ranges::count_if(copies, [&](const auto& copy) { return copy.first.is(result); });
  };
  std::vector<std::pair<cell, cell>> remaining_copies;
  for (auto& [from, to] : copies)
    if (is_variable(from)) { // an earlier copy may overwrite the variable
      auto kept = make_cell(from.type, from.dims);
      if (!kept)
        return false;
      copy(from, *kept);
      from = *kept;
    }
  // If this iteration may have to run again to report an error, its variables must not change
  // early.
  auto in_place = !(outermost && may_fail_);
  for (const auto& [from, to] : copies)
    if (!in_place || from.constant || uses(from) > 1 || !compute_in_place(from, to, body_begin))
      remaining_copies.emplace_back(from, to);
  for (const auto& [from, to] : remaining_copies)
    copy(from, to);
  return true;
}

// Makes the op that computes a result write it directly to the variable's cell. Fails if later code
// still reads the old value.
bool fused_loop_writer::compute_in_place(const cell& result, const cell& variable,
                                         size_t body_begin) const {
  auto& code = loop_->code_;
  auto producer = code.size();
  while (producer-- > body_begin) {
    const auto& candidate = code[producer];
    auto straight = candidate.operation == opcode::compute ||
                    candidate.operation == opcode::check || candidate.operation == opcode::copy;
    if (!straight || (candidate.operation == opcode::copy && candidate.to == result.offset))
      return false;
    if (candidate.operation == opcode::compute && candidate.to == result.offset)
      break;
    if (std::ranges::count(candidate.from, variable.offset) > 0)
      return false;
  }
  if (producer + 1 == body_begin)
    return false;
  code[producer].to = variable.offset;
  for (auto later = producer + 1; later < code.size(); ++later)
    std::ranges::replace(code[later].from, result.offset, variable.offset);
  return true;
}

} // namespace troupe
