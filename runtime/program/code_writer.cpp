#include "troupe/runtime/program/code_writer.hpp"

#include "troupe/runtime/device/accelerator.hpp"
#include "troupe/runtime/device/upload.hpp"
#include "troupe/runtime/graph/function.hpp"
#include "troupe/runtime/graph/internal_ops.hpp"
#include "troupe/runtime/graph/registry.hpp"
#include "troupe/runtime/program/fused_loop.hpp"

#include <algorithm>

namespace troupe {
namespace {

// Limits recursion in which each call has other variables, and so a block of its own.
constexpr size_t max_open = 64;

// Returns whether the last use of a tensor may take its memory. A kernel with effect `forwardable`
// may write its output over an input. If it has the same tensor as two inputs, it would still read
// the other input, unless it reads each element just before it writes that element.
bool may_take_memory(const instruction& code, int uses) {
  if (code.kind == action::call)
    return uses == 1;
  if (code.kind != action::run)
    return true;
  auto effects = code.origin->op().effects;
  return has(effects, effect::forwardable) && (uses == 1 || has(effects, effect::elementwise));
}

} // namespace

code_writer::code_writer(program_writer& writer, const graph& source)
    : writer_(writer), out_(writer.out), graph_(source),
      accelerator_(out_.device().as_accelerator()),
      kernel_sites_(graph_, accelerator_ ? out_.device().kind() : device_kind::cpu) {}

draft& code_writer::add(action kind, const node* origin) {
  auto& added = drafts_.emplace_back();
  added.code.kind = kind;
  added.code.origin = origin;
  added.inputs = out_.slot_pool_.size();
  return added;
}

void code_writer::add_input(draft& instruction_draft, uint32_t slot) {
  out_.slot_pool_.push_back(slot);
  ++instruction_draft.code.input_count;
}

// A ref input that a node needs as a value is read right before the node runs, so that the node
// sees every update that it depends on.
result<code_writer::gathered> code_writer::gather(node& node) {
  gathered operands;
  bool any_ref = false;
  std::vector<std::pair<uint32_t, named_state*>> reads;
  for (int i = 0; i < static_cast<int>(node.inputs().size()); ++i) {
    const auto& from = node.inputs()[static_cast<size_t>(i)];
    operands.states.push_back(nullptr);
    if (!from.node->output_is_ref(from.index)) {
      auto uploaded = kernel_sites_.wants_on_device(node, i) && kernel_sites_.lies_on_host(from);
      operands.slots.push_back(uploaded ? upload(from) : slot_of(from));
      continue;
    }
    auto* resource_node = resource_behind(from);
    if (!resource_node)
      return invalid(node.description(), ": input ", i, " refers to no state");
    if (!node.input_is_ref(i) && resource_node->op().state_kind != resource::variable)
      return invalid(node.description(), ": input ", i, " must be a value, and '",
                     resource_node->name(), "' is a ", to_string(resource_node->op().state_kind));
    if (resource_node->op().make_waitable_resource)
      continue; // the wait refers to the resource itself
    TROUPE_ASSIGN(auto* state, state_behind(*resource_node));
    if (node.input_is_ref(i)) {
      any_ref = true;
      operands.states.back() = state;
      operands.slots.push_back(0);
    } else {
      operands.slots.push_back(slots_);
      reads.emplace_back(slots_++, state);
    }
  }
  for (auto [slot, state] : reads)
    add_read(node, slot, state);
  if (!any_ref)
    operands.states.clear();
  return operands;
}

void code_writer::add_read(const node& reader, uint32_t slot, named_state* state) {
  auto& code = add(action::read, &reader);
  code.code.first_output = slot;
  code.code.output_count = 1;
  code.states = out_.state_pool_.size();
  out_.state_pool_.push_back(state);
}

// Writes a read that is a node of its own.
status code_writer::write_read(node& node) {
  const auto* variable_node = resource_behind(node.inputs()[0]);
  if (!variable_node || variable_node->op().state_kind != resource::variable)
    return invalid(node.description(), ": must refer to a variable");
  TROUPE_ASSIGN(auto* state, state_behind(*variable_node));
  add_read(node, first_slot_.at(&node), state);
  on_outputs_written(node);
  return {};
}

// Uploads a tensor of the host at most once in each region that needs it on the device.
uint32_t code_writer::upload(edge from) {
  auto [slot, is_new] = uploads_.emplace(std::tuple{from.node, from.index, region_}, slots_);
  if (!is_new)
    return slot->second;
  ++slots_;
  auto& code = add(action::upload, from.node);
  add_input(code, slot_of(from));
  code.code.first_output = slot->second;
  code.code.output_count = 1;
  if (internal_ops::is_constant(*from.node)) {
    auto kept = std::make_shared<cached_upload>();
    code.code.state = kept.get();
    out_.states_.push_back(std::move(kept));
  }
  return slot->second;
}

status code_writer::write_kernel(node& node, const gathered& operands) {
  auto on_host = accelerator_ && kernel_sites_.runs_on_host(node);
  auto& device = on_host ? accelerator_->host() : *out_.device_;
  auto* kernel = graph_.ops().find_kernel(node.op().name, device.kind());
  auto run = kernel ? kernel->find(node) : nullptr;
  if (!run)
    return failure(error_kind::unimplemented, node.description(), ": there is no ",
                   to_string(device.kind()), " kernel for its types");
  std::shared_ptr<void> state;
  if (kernel->prepare) {
    kernel_state_maker prepare = [&] { return kernel->prepare({node, device}); };
    auto shared = writer_.find_kernel_state && has(node.op().effects, effect::stateful);
    auto prepared =
        shared ? writer_.find_kernel_state(node, prepare, kernel->state_format) : prepare();
    if (!prepared)
      return with_node_context(node, prepared.status());
    state = *std::move(prepared);
  }
  auto& code = add(on_host ? action::run_on_host : action::run, &node);
  code.code.run = run;
  code.code.state = state.get();
  if (state)
    out_.states_.push_back(std::move(state));
  finish_operands(code, node, operands);
  return {};
}

// A function that is only named was unknown when the node was checked.
status code_writer::write_callee(call_site& site, const node& caller, const function_value& callee,
                                 const program_writer::state_list& states) {
  TROUPE_ASSIGN(auto called, writer_.resolve(callee));
  auto is_condition = site.kind == call_kind::while_true && site.blocks.empty();
  std::vector<dtype> result_types;
  for (int i = 0; !is_condition && i < caller.outputs(); ++i)
    result_types.push_back(caller.output_type(i));
  if (is_condition && called->results() == 1)
    result_types.push_back(called->result_type(0));
  TROUPE_TRY(check_call(*called, caller.inputs(), site.first_argument, result_types));
  for (size_t i = 0; i < called->arguments(); ++i) {
    const auto& required = called->argument(i).output_shape(0);
    auto implied = [&](const partial_shape& known) {
      return join_shapes(required, known) == required;
    };
    auto guaranteed =
        implied(caller.inputs()[site.first_argument + i].dims()) &&
        (site.kind != call_kind::while_true || is_condition || implied(called->result_dims(i)));
    if (!called->argument_is_ref(i) && required.has_rank() && !guaranteed)
      site.required_shapes.push_back({i, required});
  }
  TROUPE_ASSIGN(const auto* written, writer_.block_of(called, states));
  site.blocks.push_back(written);
  return {};
}

status code_writer::write_call(node& node, const gathered& operands) {
  auto site = std::make_shared<call_site>();
  site->kind = node.op().calls;
  site->first_argument = static_cast<uint32_t>(first_argument(node.op()));
  program_writer::state_list states(node.inputs().size() - site->first_argument);
  for (size_t i = site->first_argument; i < operands.states.size(); ++i)
    states[i - site->first_argument] = operands.states[i];
  for (const auto* callee : functions_of(node))
    if (auto written = write_callee(*site, node, *callee, states); !written)
      return with_node_context(node, std::move(written));
  const auto functions = functions_of(node);
  if (site->kind == call_kind::while_true && writer_.fuse_loops && !accelerator_ &&
      functions[0]->body && functions[1]->body)
    site->fused = std::make_shared<fused_loops>(node);
  auto& code = add(action::call, &node);
  code.code.state = site.get();
  out_.states_.push_back(std::move(site));
  finish_operands(code, node, operands);
  return {};
}

void code_writer::finish_operands(draft& code, node& node, const gathered& operands) {
  for (auto slot : operands.slots)
    add_input(code, slot);
  if (!operands.states.empty()) {
    code.states = out_.state_pool_.size();
    out_.state_pool_.insert(out_.state_pool_.end(), operands.states.begin(), operands.states.end());
  }
  code.code.first_output = first_slot_.at(&node);
  code.code.output_count = static_cast<uint16_t>(node.outputs());
  code.types = out_.type_pool_.size();
  for (int i = 0; i < node.outputs(); ++i)
    out_.type_pool_.push_back(node.output_type(i));
  on_outputs_written(node);
}

std::map<uint32_t, bool> code_writer::release_after_last_use(size_t first, size_t count) {
  std::map<uint32_t, bool> used_later; // slots, seen from the last instruction on
  for (auto position = first + count; position-- > first;) {
    auto& current = drafts_[position];
    auto& code = current.code;
    std::vector<uint32_t> releases;
    for (uint16_t i = 0; i < code.output_count; ++i)
      if (!used_later.contains(code.first_output + i))
        releases.push_back(code.first_output + i); // never read
    std::set<uint32_t> last_used;
    std::map<uint32_t, int> uses; // by this instruction
    for (uint16_t i = 0; i < code.input_count; ++i) {
      if (current.states != draft::npos && out_.state_pool_[current.states + i])
        continue; // a ref has no slot
      auto slot = out_.slot_pool_[current.inputs + i];
      ++uses[slot];
      if (used_later.emplace(slot, true).second && !constant_slots_.contains(slot))
        last_used.insert(slot);
    }
    for (uint16_t i = 0; i < std::min<uint16_t>(code.input_count, 64); ++i)
      if (auto slot = out_.slot_pool_[current.inputs + i];
          last_used.contains(slot) && may_take_memory(code, uses[slot]))
        code.last_uses |= uint64_t{1} << i;
    releases.insert(releases.end(), last_used.begin(), last_used.end());
    current.releases = out_.slot_pool_.size();
    code.release_count = static_cast<uint16_t>(std::min<size_t>(releases.size(), UINT16_MAX));
    out_.slot_pool_.insert(out_.slot_pool_.end(), releases.begin(), releases.end());
  }
  return used_later;
}

instruction code_writer::resolved(const draft& unresolved, const program& owner) {
  auto code = unresolved.code;
  code.inputs = owner.slot_pool_.data() + unresolved.inputs;
  code.releases = owner.slot_pool_.data() + unresolved.releases;
  code.output_types = owner.type_pool_.data() + unresolved.types;
  if (unresolved.states != draft::npos)
    code.states = owner.state_pool_.data() + unresolved.states;
  return code;
}

// -- functions ------------------------------------------------------------------------------------

namespace {

class block_writer final : public code_writer {
public:
  block_writer(program_writer& writer, const function& called,
               const program_writer::state_list& states)
      : code_writer(writer, called.body()), function_(called), states_(states) {}

  status run(block& target, std::vector<draft>& drafts) {
    target.name = function_.name();
    target.passed_arguments = function_.passed_through();
    target.arguments.assign(function_.arguments(), block::no_slot);
    target.is_also_result.assign(function_.arguments(), false);
    for (auto argument : target.passed_arguments)
      if (argument >= 0)
        target.is_also_result[static_cast<size_t>(argument)] = true;
    for (const auto& body_node : graph_.nodes()) {
      first_slot_[body_node.get()] = slots_;
      slots_ += static_cast<uint32_t>(body_node->outputs());
    }
    for (const auto& body_node : graph_.nodes())
      if (function_.runs(*body_node))
        TROUPE_TRY(write(*body_node));
    auto read = release_after_last_use(0, drafts_.size());
    for (size_t i = 0; i < function_.arguments(); ++i)
      if (auto slot = first_slot_.at(&function_.argument(i)); read.contains(slot))
        target.arguments[i] = slot;
    target.slots = slots_;
    drafts = std::move(drafts_);
    return {};
  }

private:
  uint32_t slot_of(edge from) const override {
    return first_slot_.at(from.node) + static_cast<uint32_t>(from.index);
  }

  result<named_state*> state_behind(const node& maker) override {
    auto index = static_cast<size_t>(maker.attr<int64_t>("index"));
    if (index >= states_.size() || !states_[index])
      return failure(error_kind::internal, maker.description(),
                     ": no state was given for this argument");
    return states_[index];
  }

  status write(node& body_node) {
    const auto& op = body_node.op();
    if (&op == &internal_ops::feed || op.state_kind != resource::none)
      return {}; // an argument
    if (has(op.effects, effect::blocking))
      return failure(error_kind::unimplemented, body_node.description(),
                     ": a recursive function cannot wait: move this node out of it");
    if (body_node.inputs().size() > UINT16_MAX || body_node.outputs() > UINT16_MAX)
      return invalid(body_node.description(), ": has more than ", UINT16_MAX, " inputs or outputs");
    if (&op == &internal_ops::read)
      return write_read(body_node);
    TROUPE_ASSIGN(auto operands, gather(body_node));
    if (&op == &internal_ops::fetch) {
      auto& code = add(action::fetch, &body_node);
      add_input(code, operands.slots[0]);
      code.code.target = static_cast<uint32_t>(body_node.attr<int64_t>("index"));
      return {};
    }
    return runs_functions(op) ? write_call(body_node, operands) : write_kernel(body_node, operands);
  }

  const function& function_;
  const program_writer::state_list& states_;
};

} // namespace

result<std::shared_ptr<const function>>
program_writer::resolve(const function_value& called) const {
  if (called.body)
    return called.body;
  auto found_function =
      std::ranges::find(open.rbegin(), open.rend(), called.name, &open_function::name);
  if (found_function == open.rend())
    return failure(error_kind::not_found, "there is no function '", called.name,
                   "' around this node");
  return found_function->body;
}

result<const block*> program_writer::block_of(const std::shared_ptr<const function>& called,
                                              const state_list& states) {
  const auto& body = called;
  if (states.size() != body->arguments())
    return invalid("function '", body->name(), "' takes ", body->arguments(), " arguments, got ",
                   states.size());
  for (size_t i = 0; i < states.size(); ++i)
    if (body->argument_is_ref(i) != (states[i] != nullptr))
      return invalid("function '", body->name(), "' takes a ",
                     body->argument_is_ref(i) ? "variable or table" : "value", " as argument ", i);
  auto [entry, is_new] = blocks.emplace(std::pair{body.get(), states}, nullptr);
  if (!is_new)
    return entry->second;
  if (open.size() == max_open)
    return failure(error_kind::resource_exhausted, "functions are nested more than ", max_open,
                   " deep");
  auto* new_block = &out.blocks_.emplace_back();
  entry->second = new_block;
  open.push_back({body->name(), body});
  std::vector<draft> drafts;
  auto outcome = block_writer{*this, *body, states}.run(*new_block, drafts);
  open.pop_back();
  TROUPE_TRY(std::move(outcome).with_context(concat("function '", body->name(), "'")));
  written.push_back({new_block, std::move(drafts)});
  return new_block;
}

void program_writer::finish() {
  for (auto& [target, drafts] : written)
    for (const auto& unresolved : drafts)
      target->code.push_back(code_writer::resolved(unresolved, out));
}

} // namespace troupe
