#include "troupe/runtime/program/fused_loop_writer.hpp"

#include "troupe/runtime/graph/internal_ops.hpp"

#include <algorithm>
#include <cstring>

namespace troupe {
namespace {

// More than the first-level cache holds, and code without end where calls lie within calls.
constexpr size_t max_bytes = 64 * 1024, max_code = 4096, max_visited = 16'384;

bool is_plain(dtype type) {
  return type != dtype::none && type != dtype::string && type != dtype::variant;
}

} // namespace

std::shared_ptr<const fused_loop> fused_loop_writer::write(const function& condition,
                                                           const function& body,
                                                           std::span<const tensor> initial) {
  made_.reset(new fused_loop);
  made_->initial_.resize(16); // so that no cell is at 0
  const auto by_condition = read_arguments(condition), by_body = read_arguments(body);
  cells variables(initial.size());
  for (size_t i = 0; i < initial.size(); ++i)
    if (by_condition[i] || by_body[i] || body.handed_on(i) != static_cast<int>(i))
      if (const auto& one = initial[i]; one.on_host())
        variables[i] = make_cell(one.type(), one.dims()).value_or(cell{});
  if (!write_loop(condition, body, variables, true))
    return nullptr;
  add(opcode::end);
  for (size_t i = 0; i < variables.size(); ++i) {
    const auto& at = variables[i];
    auto changes = body.handed_on(i) != static_cast<int>(i);
    made_->variables_.push_back({.used = changes || (at.offset != 0 && read_.contains(at.offset)),
                                 .changes = changes,
                                 .offset = at.offset,
                                 .type = at.type,
                                 .dims = at.dims});
  }
  return made_;
}

std::vector<bool> fused_loop_writer::read_arguments(const function& of) {
  std::vector<bool> found(of.arguments());
  for (const auto& one : of.body().nodes())
    for (const auto& input : one->inputs())
      if (of.runs(*one) && is_argument(*input.node))
        found[static_cast<size_t>(input.node->attr<int64_t>("index"))] = true;
  return found;
}

auto fused_loop_writer::add(opcode what) -> instruction& {
  return made_->code_.emplace_back(instruction{.what = what});
}

auto fused_loop_writer::make_cell(dtype type, const shape& dims) -> std::optional<cell> {
  cell made{0, type, dims};
  auto elements = dims.elements();
  if (!is_plain(type) || elements == 0 ||
      elements > static_cast<int64_t>(fused_loop::max_value_bytes / size_of(type)))
    return {};
  auto& image = made_->initial_;
  size_t alignment = made.bytes() <= 16 ? 16 : tensor_alignment;
  auto offset = (image.size() + alignment - 1) / alignment * alignment;
  if (offset + made.bytes() > max_bytes || made_->code_.size() > max_code)
    return {};
  image.resize(offset + made.bytes());
  made.offset = static_cast<uint32_t>(offset);
  return made;
}

auto fused_loop_writer::constant(const node& from) -> std::optional<cell> {
  const auto& value = from.attr<tensor>("value");
  auto made = value.on_host() ? make_cell(value.type(), value.dims()) : std::nullopt;
  if (!made)
    return {};
  std::memcpy(made_->initial_.data() + made->offset, value.raw(), made->bytes());
  made->constant = true;
  return made;
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

auto fused_loop_writer::run_function(const function& of, const cells& arguments)
    -> std::optional<cells> {
  found values;
  cells results(of.results());
  for (size_t i = 0; i < of.arguments(); ++i)
    values[{&of.argument(i), 0}] = arguments[i];
  for (const auto& one : of.body().nodes())
    if (of.runs(*one) && !write_node(*one, values, results))
      return {};
  for (size_t i = 0; i < results.size(); ++i)
    if (auto from = of.handed_on(i); from >= 0)
      results[i] = arguments[static_cast<size_t>(from)];
  return results;
}

bool fused_loop_writer::write_node(const node& one, found& values, cells& results) {
  const auto& op = one.op();
  if (is_argument(one))
    return true;
  if (++visited_ > max_visited || made_->code_.size() > max_code)
    return false;
  cells from;
  for (const auto& input : one.inputs()) {
    auto it = values.find({input.node, input.index});
    if (it == values.end())
      return false;
    from.push_back(it->second);
  }
  if (&op == &internal_ops::fetch) {
    results[static_cast<size_t>(one.attr<int64_t>("index"))] = from[0];
    return true;
  }
  if (runs_functions(op)) {
    auto given = write_call(one, from);
    for (size_t i = 0; given && i < given->size(); ++i)
      values[{&one, static_cast<int>(i)}] = (*given)[i];
    return given.has_value();
  }
  constexpr auto never = effect::stateful | effect::random | effect::blocking | effect::fed;
  if (has(op.effects, never) || op.makes != resource::none)
    return false;
  if (one.outputs() == 0)
    return true; // orders others: so does the code
  std::optional<cell> made;
  if (op.name == "Const")
    made = constant(one);
  else if (&op == &internal_ops::fused)
    made = write_stages(one, from);
  else if (one.outputs() == 1)
    made = compute(one, from);
  if (made)
    values[{&one, 0}] = *made;
  return made.has_value();
}

// -- arithmetic -----------------------------------------------------------------------------------

auto fused_loop_writer::compute(const node& one, const cells& from) -> std::optional<cell> {
  const auto* kernel = one.graph().ops().find_kernel(one.op().name, device_kind::cpu);
  if (!kernel || from.empty())
    return {};
  if (kernel->find_inner_loop)
    return compute(one.op(), nullptr, kernel->find_inner_loop(one), one.output_type(0), from);
  const auto* entry = kernel->find(from[0].type);
  if (!entry || !kernel->find(one) || !has(one.op().effects, effect::elementwise))
    return {};
  return compute(one.op(), entry, entry->inner_loop, one.output_type(0), from);
}

auto fused_loop_writer::compute(const op_def& op, const typed_kernel* entry, inner_loop_fn run,
                                dtype type, const cells& from) -> std::optional<cell> {
  if (!run || from.empty() || from.size() > 3)
    return {};
  auto dims = from[0].dims;
  for (const auto& one : from) {
    if (one.elements() == 0 || (entry && one.type != from[0].type))
      return {};
    auto joint = broadcast(dims, one.dims);
    if (!joint || (!(one.dims == dims) && !has(op.effects, effect::broadcasting)))
      return {};
    dims = *joint;
  }
  auto made = make_cell(type, dims);
  if (!made)
    return {};
  instruction code{.what = opcode::compute, .run = run};
  code.to = made->offset;
  code.count = static_cast<uint32_t>(made->elements());
  for (size_t i = 0; i < from.size(); ++i) {
    if (from[i].elements() != 1 && from[i].elements() != made->elements())
      return {};
    code.from[i] = from[i].offset;
    // A single element needs none of the ways that loops have for vectors.
    code.steps[i] = from[i].elements() == 1 ? 0 : 1;
    read_.insert(from[i].offset);
  }
  if (entry && entry->takes_second) {
    const auto& second = from[1];
    auto count = static_cast<uint32_t>(second.elements());
    if (second.constant) {
      if (!entry->takes_second(made_->initial_.data() + second.offset, count))
        return {};
    } else {
      auto& check = add(opcode::check);
      check.from[1] = second.offset;
      check.count = count;
      check.takes = entry->takes_second;
      may_fail_ = true;
    }
  }
  made_->code_.push_back(code);
  nanoseconds_ += 5 + (entry ? entry->cost : 0.5) * code.count;
  return made;
}

auto fused_loop_writer::write_stages(const node& fused, const cells& from) -> std::optional<cell> {
  auto stages = fused_stages::of(fused);
  if (!stages)
    return {};
  auto values = from;
  for (const auto& stage : stages->all) {
    const auto* kernel = fused.graph().ops().find_kernel(stage.op->name, device_kind::cpu);
    const auto* entry = kernel ? kernel->find(stage.operand_type) : nullptr;
    cells operands;
    for (size_t k = 0; k < stage.arity; ++k)
      operands.push_back(values[stage.operands[k]]);
    auto made =
        entry ? compute(*stage.op, entry, entry->inner_loop, stage.type, operands) : std::nullopt;
    if (!made)
      return {};
    values.push_back(*made);
  }
  return values.back();
}

// -- branches and loops ---------------------------------------------------------------------------

// Whether what a function says of its arguments' shapes holds: where it does not, blocks say so.
bool fused_loop_writer::keeps_promises(const node& call, const function& called,
                                       const cells& from) {
  auto first = static_cast<size_t>(first_argument(call.op()));
  for (size_t i = 0; i < called.arguments(); ++i) {
    const auto& wanted = called.argument(i).output_shape(0);
    if (called.argument_is_ref(i) || !wanted.has_rank())
      continue;
    const auto& given = from[first + i];
    if (given.elements() > 0 ? !wanted.compatible(given.dims)
                             : widened(wanted, call.inputs()[first + i].dims()) != wanted)
      return false;
  }
  return true;
}

auto fused_loop_writer::write_call(const node& one, const cells& from) -> std::optional<cells> {
  for (const auto* each : functions_of(one))
    if (!each->body)
      return {}; // one that calls itself
  const auto functions = functions_of(one);
  auto first = static_cast<size_t>(first_argument(one.op()));
  for (const auto* each : functions)
    if (each->body->arguments() != from.size() - first || !keeps_promises(one, *each->body, from))
      return {};
  switch (one.op().calls) {
    case calling::once: return run_function(*functions[0]->body, from);
    case calling::if_true:
    case calling::by_number: return write_choice(one, from);
    case calling::while_true:
      return write_loop(*functions[0]->body, *functions[1]->body, from, false);
    case calling::never: break;
  }
  return {};
}

// All branches leave their results in the same cells.
auto fused_loop_writer::write_choice(const node& one, const cells& from) -> std::optional<cells> {
  const auto functions = functions_of(one);
  const auto& by = from[0];
  auto of_two = one.op().calls == calling::if_true;
  if (by.type != (of_two ? dtype::boolean : dtype::i32) || by.dims.rank() != 0)
    return {};
  read_.insert(by.offset);
  const cells arguments{from.begin() + first_argument(one.op()), from.end()};
  const auto choice = here();
  auto& chooses = add(of_two ? opcode::branch : opcode::choose);
  chooses.from[0] = by.offset;
  chooses.count = static_cast<uint32_t>(functions.size());
  std::vector<uint32_t> begins, jumps;
  cells joint;
  for (const auto* each : functions) {
    begins.push_back(here());
    auto given = run_function(*each->body, arguments);
    if (!given || (begins.size() > 1 && given->size() != joint.size()))
      return {};
    for (size_t i = 0; i < given->size(); ++i) {
      const auto& result = (*given)[i];
      if (begins.size() == 1) {
        auto made = make_cell(result.type, result.dims);
        if (!made)
          return {};
        joint.push_back(*made);
      }
      if (result.type != joint[i].type || !(result.dims == joint[i].dims))
        return {};
      copy(result, joint[i]);
    }
    jumps.push_back(here());
    add(opcode::jump);
  }
  for (auto jump : jumps)
    made_->code_[jump].target = here();
  if (of_two) {
    made_->code_[choice].target = begins[1];
  } else {
    made_->code_[choice].target = static_cast<uint32_t>(made_->targets_.size());
    made_->targets_.insert(made_->targets_.end(), begins.begin(), begins.end());
  }
  return joint;
}

// What a loop within changes gets cells of its own; what it only hands on stays where it is.
auto fused_loop_writer::write_loop(const function& condition, const function& body,
                                   const cells& initial, bool outermost) -> std::optional<cells> {
  auto variables = initial;
  for (size_t i = 0; i < variables.size(); ++i)
    if (body.handed_on(i) != static_cast<int>(i)) {
      if (initial[i].elements() == 0)
        return {};
      if (outermost)
        continue;
      auto made = make_cell(initial[i].type, initial[i].dims);
      if (!made)
        return {};
      variables[i] = *made;
      copy(initial[i], variables[i]);
    }
  const auto begin = here();
  const auto before = nanoseconds_;
  auto verdict = run_function(condition, variables);
  if (!verdict || verdict->size() != 1 || verdict->front().type != dtype::boolean ||
      verdict->front().dims.rank() != 0)
    return {};
  const auto leaves = here();
  add(opcode::branch).from[0] = verdict->front().offset;
  read_.insert(verdict->front().offset);
  const auto body_begin = here();
  auto results = run_function(body, variables);
  if (!results || !hand_on(*results, variables, body_begin, outermost))
    return {};
  auto& again = add(opcode::turn);
  again.target = begin;
  again.outermost = outermost;
  again.count = static_cast<uint32_t>(std::clamp(nanoseconds_ - before, 1.0, 1e9));
  made_->code_[leaves].target = here();
  return variables;
}

// Gives the loop variables their new values, all at once.
bool fused_loop_writer::hand_on(const cells& results, cells& variables, size_t body_begin,
                                bool outermost) {
  std::vector<std::pair<cell, cell>> copies; // from, to
  for (size_t i = 0; i < variables.size(); ++i) {
    if (variables[i].elements() == 0)
      continue; // only passes
    if (results[i].type != variables[i].type || !(results[i].dims == variables[i].dims))
      return false;
    if (!results[i].is(variables[i]))
      copies.emplace_back(results[i], variables[i]);
  }
  auto is_variable = [&](const cell& one) {
    return std::ranges::any_of(variables, [&](const cell& other) { return one.is(other); });
  };
  auto uses = [&](const cell& result) {
    return std::ranges::count_if(copies, [&](const auto& one) { return one.first.is(result); });
  };
  std::vector<std::pair<cell, cell>> rest;
  for (auto& [from, to] : copies)
    if (is_variable(from)) { // whose own new value may come first
      auto kept = make_cell(from.type, from.dims);
      if (!kept)
        return false;
      copy(from, *kept);
      from = *kept;
    }
  // Where an error would be found by running this turn again, its variables must be as they were.
  auto in_place = !(outermost && may_fail_);
  for (const auto& [from, to] : copies)
    if (!in_place || from.constant || uses(from) > 1 || !compute_in_place(from, to, body_begin))
      rest.emplace_back(from, to);
  for (const auto& [from, to] : rest)
    copy(from, to);
  return true;
}

// The op that computes a result writes it to the variable itself, where nothing reads the old value
// after it.
bool fused_loop_writer::compute_in_place(const cell& result, const cell& variable,
                                         size_t body_begin) const {
  auto& code = made_->code_;
  auto maker = code.size();
  while (maker-- > body_begin) {
    const auto& one = code[maker];
    auto straight =
        one.what == opcode::compute || one.what == opcode::check || one.what == opcode::copy;
    if (!straight || (one.what == opcode::copy && one.to == result.offset))
      return false;
    if (one.what == opcode::compute && one.to == result.offset)
      break;
    if (std::ranges::count(one.from, variable.offset) > 0)
      return false;
  }
  if (maker + 1 == body_begin)
    return false;
  code[maker].to = variable.offset;
  for (auto later = maker + 1; later < code.size(); ++later)
    std::ranges::replace(code[later].from, result.offset, variable.offset);
  return true;
}

} // namespace troupe
