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

// Functions that call themselves with other variables each time would have no end.
constexpr size_t max_open = 64;

// Whether the last user of a tensor may have it. A kernel may write its output over what it has:
// that is what `forwardable` allows. One that takes the tensor twice would still read it as the
// other input, unless it reads each element just before it writes that element.
bool may_end(const instruction& code, int uses) {
  if (code.what == action::call)
    return uses == 1;
  if (code.what != action::run)
    return true;
  auto effects = code.origin->op().effects;
  return has(effects, effect::forwardable) && (uses == 1 || has(effects, effect::elementwise));
}

} // namespace

code_writer::code_writer(program_writer& with, const graph& of)
    : with_(with), out_(with.out), graph_(of), accelerator_(out_.device().as_accelerator()),
      kernel_sites_(graph_, accelerator_ ? out_.device().kind() : device_kind::cpu) {}

draft& code_writer::add(action what, const node* origin) {
  auto& made = drafts_.emplace_back();
  made.code.what = what;
  made.code.origin = origin;
  made.inputs = out_.slot_pool_.size();
  return made;
}

void code_writer::add_input(draft& to, uint32_t slot) {
  out_.slot_pool_.push_back(slot);
  ++to.code.input_count;
}

// A ref that is wanted as a value is read right before its consumer, so that the consumer sees
// every update that it depends on.
result<code_writer::gathered> code_writer::gather(node& node) {
  gathered found;
  bool any_ref = false;
  std::vector<std::pair<uint32_t, named_state*>> reads;
  for (int i = 0; i < static_cast<int>(node.inputs().size()); ++i) {
    const auto& from = node.inputs()[static_cast<size_t>(i)];
    found.states.push_back(nullptr);
    if (!from.node->output_is_ref(from.index)) {
      auto uploaded = kernel_sites_.wants_on_device(node, i) && kernel_sites_.lies_on_host(from);
      found.slots.push_back(uploaded ? upload(from) : slot_of(from));
      continue;
    }
    auto* behind = resource_behind(from);
    if (!behind)
      return invalid(node.description(), ": input ", i, " refers to nothing");
    if (!node.input_is_ref(i) && behind->op().makes != resource::variable)
      return invalid(node.description(), ": input ", i, " must be a value, and '", behind->name(),
                     "' is a ", to_string(behind->op().makes));
    if (behind->op().make_responder)
      continue; // the wait knows whom it asks
    TROUPE_ASSIGN(auto* state, state_behind(*behind));
    if (node.input_is_ref(i)) {
      any_ref = true;
      found.states.back() = state;
      found.slots.push_back(0);
    } else {
      found.slots.push_back(slots_);
      reads.emplace_back(slots_++, state);
    }
  }
  for (auto [slot, state] : reads)
    add_read(node, slot, state);
  if (!any_ref)
    found.states.clear();
  return found;
}

void code_writer::add_read(const node& by, uint32_t slot, named_state* state) {
  auto& code = add(action::read, &by);
  code.code.first_output = slot;
  code.code.output_count = 1;
  code.states = out_.state_pool_.size();
  out_.state_pool_.push_back(state);
}

// A read that is a node of its own.
status code_writer::write_read(node& node) {
  const auto* behind = resource_behind(node.inputs()[0]);
  if (!behind || behind->op().makes != resource::variable)
    return invalid(node.description(), ": must refer to a variable");
  TROUPE_ASSIGN(auto* state, state_behind(*behind));
  add_read(node, first_slot_.at(&node), state);
  outputs_made(node);
  return {};
}

// A tensor of the host is taken to the device once in a region that needs it there.
uint32_t code_writer::upload(edge from) {
  auto [it, fresh] = uploads_.emplace(std::tuple{from.node, from.index, here_}, slots_);
  if (!fresh)
    return it->second;
  ++slots_;
  auto& code = add(action::upload, from.node);
  add_input(code, slot_of(from));
  code.code.first_output = it->second;
  code.code.output_count = 1;
  if (internal_ops::is_constant(*from.node)) {
    auto kept = std::make_shared<kept_upload>();
    code.code.state = kept.get();
    out_.states_.push_back(std::move(kept));
  }
  return it->second;
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
    auto shared = with_.find_kernel_state && has(node.op().effects, effect::stateful);
    auto prepared = shared ? with_.find_kernel_state(node, prepare, kernel->position) : prepare();
    if (!prepared)
      return within(node, prepared.status());
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

// What is only named was not seen when the node was checked.
status code_writer::write_callee(call_site& to, const node& by, const function_value& callee,
                                 const program_writer::state_list& states) {
  TROUPE_ASSIGN(auto called, with_.resolve(callee));
  auto is_condition = to.how == calling::while_true && to.blocks.empty();
  std::vector<dtype> gives;
  for (int i = 0; !is_condition && i < by.outputs(); ++i)
    gives.push_back(by.output_type(i));
  if (is_condition && called->results() == 1)
    gives.push_back(called->result_type(0));
  TROUPE_TRY(check_call(*called, by.inputs(), to.first_argument, gives));
  for (size_t i = 0; i < called->arguments(); ++i) {
    const auto& wanted = called->argument(i).output_shape(0);
    auto implied = [&](const partial_shape& known) { return widened(wanted, known) == wanted; };
    auto sure = implied(by.inputs()[to.first_argument + i].dims()) &&
                (to.how != calling::while_true || is_condition || implied(called->result_dims(i)));
    if (!called->argument_is_ref(i) && wanted.has_rank() && !sure)
      to.promises.push_back({i, wanted});
  }
  TROUPE_ASSIGN(const auto* written, with_.block_of(called, states));
  to.blocks.push_back(written);
  return {};
}

status code_writer::write_call(node& node, const gathered& operands) {
  auto site = std::make_shared<call_site>();
  site->how = node.op().calls;
  site->first_argument = static_cast<uint32_t>(first_argument(node.op()));
  program_writer::state_list states(node.inputs().size() - site->first_argument);
  for (size_t i = site->first_argument; i < operands.states.size(); ++i)
    states[i - site->first_argument] = operands.states[i];
  for (const auto* each : functions_of(node))
    if (auto written = write_callee(*site, node, *each, states); !written)
      return within(node, std::move(written));
  const auto functions = functions_of(node);
  if (site->how == calling::while_true && with_.fuse_loops && !accelerator_ && functions[0]->body &&
      functions[1]->body)
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
  outputs_made(node);
}

std::map<uint32_t, bool> code_writer::release_after_last_use(size_t first, size_t count) {
  std::map<uint32_t, bool> dead; // slots seen from behind
  for (auto at = first + count; at-- > first;) {
    auto& one = drafts_[at];
    auto& code = one.code;
    std::vector<uint32_t> releases;
    for (uint16_t i = 0; i < code.output_count; ++i)
      if (!dead.contains(code.first_output + i))
        releases.push_back(code.first_output + i); // nobody reads it
    std::set<uint32_t> dying;
    std::map<uint32_t, int> uses; // by this instruction
    for (uint16_t i = 0; i < code.input_count; ++i) {
      if (one.states != draft::npos && out_.state_pool_[one.states + i])
        continue; // a ref has no slot
      auto slot = out_.slot_pool_[one.inputs + i];
      ++uses[slot];
      if (dead.emplace(slot, true).second && !constant_slots_.contains(slot))
        dying.insert(slot);
    }
    for (uint16_t i = 0; i < std::min<uint16_t>(code.input_count, 64); ++i)
      if (auto slot = out_.slot_pool_[one.inputs + i];
          dying.contains(slot) && may_end(code, uses[slot]))
        code.last_uses |= uint64_t{1} << i;
    releases.insert(releases.end(), dying.begin(), dying.end());
    one.releases = out_.slot_pool_.size();
    code.release_count = static_cast<uint16_t>(std::min<size_t>(releases.size(), UINT16_MAX));
    out_.slot_pool_.insert(out_.slot_pool_.end(), releases.begin(), releases.end());
  }
  return dead;
}

instruction code_writer::resolved(const draft& from, const program& in) {
  auto code = from.code;
  code.inputs = in.slot_pool_.data() + from.inputs;
  code.releases = in.slot_pool_.data() + from.releases;
  code.output_types = in.type_pool_.data() + from.types;
  if (from.states != draft::npos)
    code.states = in.state_pool_.data() + from.states;
  return code;
}

// -- functions ------------------------------------------------------------------------------------

namespace {

class block_writer final : public code_writer {
public:
  block_writer(program_writer& with, const function& of, const program_writer::state_list& states)
      : code_writer(with, of.body()), of_(of), states_(states) {}

  status run(block& into, std::vector<draft>& drafts) {
    into.name = of_.name();
    into.handed_on = of_.handed_on();
    into.arguments.assign(of_.arguments(), block::no_slot);
    into.kept.assign(of_.arguments(), false);
    for (auto argument : into.handed_on)
      if (argument >= 0)
        into.kept[static_cast<size_t>(argument)] = true;
    for (const auto& one : graph_.nodes()) {
      first_slot_[one.get()] = slots_;
      slots_ += static_cast<uint32_t>(one->outputs());
    }
    for (const auto& one : graph_.nodes())
      if (of_.runs(*one))
        TROUPE_TRY(write(*one));
    auto read = release_after_last_use(0, drafts_.size());
    for (size_t i = 0; i < of_.arguments(); ++i)
      if (auto slot = first_slot_.at(&of_.argument(i)); read.contains(slot))
        into.arguments[i] = slot;
    into.slots = slots_;
    drafts = std::move(drafts_);
    return {};
  }

private:
  uint32_t slot_of(edge from) const override {
    return first_slot_.at(from.node) + static_cast<uint32_t>(from.index);
  }

  result<named_state*> state_behind(const node& maker) override {
    auto at = static_cast<size_t>(maker.attr<int64_t>("index"));
    if (at >= states_.size() || !states_[at])
      return failure(error_kind::internal, maker.description(), ": nothing was given for it");
    return states_[at];
  }

  status write(node& one) {
    const auto& op = one.op();
    if (&op == &internal_ops::feed || op.makes != resource::none)
      return {}; // an argument
    if (has(op.effects, effect::blocking))
      return failure(error_kind::unimplemented, one.description(),
                     ": waits within a function that calls itself: let a node outside do it");
    if (one.inputs().size() > UINT16_MAX || one.outputs() > UINT16_MAX)
      return invalid(one.description(), ": has more than ", UINT16_MAX, " inputs or outputs");
    if (&op == &internal_ops::read)
      return write_read(one);
    TROUPE_ASSIGN(auto operands, gather(one));
    if (&op == &internal_ops::fetch) {
      auto& code = add(action::fetch, &one);
      add_input(code, operands.slots[0]);
      code.code.target = static_cast<uint32_t>(one.attr<int64_t>("index"));
      return {};
    }
    return runs_functions(op) ? write_call(one, operands) : write_kernel(one, operands);
  }

  const function& of_;
  const program_writer::state_list& states_;
};

} // namespace

result<std::shared_ptr<const function>>
program_writer::resolve(const function_value& called) const {
  if (called.body)
    return called.body;
  auto it = std::ranges::find(open.rbegin(), open.rend(), called.name, &open_function::name);
  if (it == open.rend())
    return failure(error_kind::not_found, "there is no function '", called.name,
                   "' around this node");
  return it->body;
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
  auto [it, fresh] = blocks.emplace(std::pair{body.get(), states}, nullptr);
  if (!fresh)
    return it->second;
  if (open.size() == max_open)
    return failure(error_kind::resource_exhausted, "functions lie more than ", max_open,
                   " deep within functions");
  auto* made = &out.blocks_.emplace_back();
  it->second = made;
  open.push_back({body->name(), body});
  std::vector<draft> drafts;
  auto done = block_writer{*this, *body, states}.run(*made, drafts);
  open.pop_back();
  TROUPE_TRY(std::move(done).within(concat("function '", body->name(), "'")));
  written.push_back({made, std::move(drafts)});
  return made;
}

void program_writer::finish() {
  for (auto& one : written)
    for (const auto& each : one.drafts)
      one.made->code.push_back(code_writer::resolved(each, out));
}

} // namespace troupe
