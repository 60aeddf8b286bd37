#include "troupe/runtime/program/replay.hpp"

#include "troupe/runtime/device/upload.hpp"
#include "troupe/runtime/graph/registry.hpp"
#include "troupe/runtime/program/collective.hpp"
#include "troupe/runtime/state/variable_address_guard.hpp"

#include <algorithm>
#include <cstring>
#include <map>
#include <optional>
#include <set>

namespace troupe {
namespace {

constexpr int min_launches = 4; // the fewest launches that are worth a recording
constexpr int min_runs = 3;     // initial value of required_runs
constexpr int max_runs = 4096;  // limit of required_runs, which doubles with each failed attempt
constexpr int max_failures = 4, max_unmatched_signatures = 100;
constexpr size_t max_signatures = 4, max_value_bytes = 1024;

bool needs_no_elements(const node& node) {
  return has(node.op().effects, effect::reads_shapes_only) || node.inputs().empty();
}

// Returns whether each run of the kernel launches the same work for the same shapes, and changes no
// state of the host.
bool is_repeatable(const instruction& code, device_kind kind) {
  const auto& origin = *code.origin;
  auto effects = origin.op().effects;
  if (has(effects, effect::random) || has(effects, effect::blocking))
    return false;
  bool has_variables = false;
  for (uint16_t i = 0; code.states && i < code.input_count; ++i)
    if (code.states[i]) {
      if (!code.states[i]->as_variable())
        return false;
      has_variables = true;
    }
  if (!has_variables)
    return !has(effects, effect::stateful);
  // A kernel that passes tensors on could make a tensor of the step the variable's value.
  const auto* kernel = origin.graph().ops().find_kernel(origin.op().name, kind);
  return code.kind == action::run && kernel && !kernel->on_any_device;
}

} // namespace

// An emission of the region, and the source of its tensor in each replay.
struct output_binding {
  enum class from : uint8_t { nothing, slot, kept, output, variable } origin = from::nothing;
  uint32_t index = 0; // slot, output or variable
  tensor kept = {};
  shape dims = {};
};

struct region_replay::capture_record {
  struct input_copy {
    uint32_t slot;
    void* to;
    size_t bytes;
  };
  std::unique_ptr<recording> launches;
  std::vector<std::pair<uint32_t, tensor>> once; // kept values, by slot
  std::vector<tensor> uploads;                   // uploaded tensors that the launches read
  std::vector<input_copy> inputs;
  std::vector<variable_address_guard::place> variables;
  std::vector<recording::output> outputs;
  std::vector<output_binding> output_bindings;
};

// -- analysis ------------------------------------------------------------------------------------

struct region_replay::analysis {
  enum class part : uint8_t { outside, value, fixed, again, launched, kept };

  explicit analysis(region_replay& analysed)
      : out(analysed), kind(analysed.program_.device().kind()) {}

  region_replay& out;
  const device_kind kind;
  std::set<uint32_t> wanted; // slots whose elements determine launches
  std::map<uint32_t, part> parts;
  std::set<uint32_t> kept;
  int launches = 0;

  static bool is_ref(const instruction& code, uint16_t input) {
    return code.states && code.states[input];
  }
  static bool is_on_host(const instruction& code, uint16_t input) {
    return code.origin->input_port(input).on_host;
  }
  static bool is_fixed(part kind_of_part) {
    return kind_of_part == part::value || kind_of_part == part::fixed;
  }

  bool run() {
    auto code = out.code();
    for (auto instruction = code.rbegin(); instruction != code.rend(); ++instruction)
      find_wanted(*instruction);
    for (const auto& instruction : code) {
      auto replay_role = role_of(instruction);
      if (!replay_role)
        return false;
      out.roles_.push_back(*replay_role);
      launches += *replay_role == role::launch && instruction.kind == action::run;
    }
    out.kept_.assign(kept.begin(), kept.end());
    return launches >= min_launches;
  }
  void find_wanted(const instruction& code) {
    auto makes_wanted = [&] {
      for (uint16_t i = 0; i < code.output_count; ++i)
        if (wanted.contains(code.first_output + i))
          return true;
      return false;
    };
    if (code.kind == action::run) {
      for (uint16_t i = 0; i < code.input_count; ++i)
        if (!is_ref(code, i) && is_on_host(code, i))
          wanted.insert(code.inputs[i]);
    } else if (code.kind == action::run_on_host && !needs_no_elements(*code.origin) &&
               makes_wanted()) {
      wanted.insert(code.inputs, code.inputs + code.input_count);
    }
  }

  part part_of(uint32_t slot) {
    auto [known, is_new] = parts.emplace(slot, part::outside);
    if (is_new) {
      auto by_value = wanted.contains(slot);
      known->second = by_value ? part::value : part::outside;
      out.sources_.push_back({.slot = slot, .by_value = by_value});
    }
    return known->second;
  }
  void set_outputs(const instruction& code, part output_part) {
    for (uint16_t i = 0; i < code.output_count; ++i)
      parts[code.first_output + i] = output_part;
  }
  void use(uint32_t slot) { std::ranges::find(out.sources_, slot, &source::slot)->used = true; }

  std::optional<role> role_of(const instruction& code) {
    switch (code.kind) {
      case action::run: return launch(code);
      case action::run_on_host: return on_host(code);
      case action::upload: return upload(code);
      case action::read:
        if (!(*code.states)->as_variable())
          return {};
        set_outputs(code, part::launched);
        return role::launch;
      case action::token:
      case action::send:
      case action::fetch:
      case action::wait:
        if (code.kind == action::wait && !is_collective(code.origin->op()))
          break; // a wait for a resource
        if (code.input_count)
          part_of(code.inputs[0]);
        return role::leave;
      case action::call: break;
    }
    return {};
  }

  std::optional<role> launch(const instruction& code) {
    if (!is_repeatable(code, kind))
      return {};
    for (uint16_t i = 0; i < code.input_count; ++i) {
      if (is_ref(code, i))
        continue;
      auto input_part = part_of(code.inputs[i]);
      if (is_on_host(code, i) ? !is_fixed(input_part)
                              : input_part == part::fixed || input_part == part::again)
        return {};
      if (!is_on_host(code, i) && (input_part == part::outside || input_part == part::value))
        use(code.inputs[i]);
    }
    set_outputs(code, part::launched);
    return role::launch;
  }

  std::optional<role> on_host(const instruction& code) {
    if (!is_repeatable(code, kind))
      return {};
    bool fixed = true;
    for (uint16_t i = 0; i < code.input_count; ++i)
      fixed &= is_fixed(part_of(code.inputs[i]));
    if (fixed || needs_no_elements(*code.origin)) {
      set_outputs(code, part::fixed);
      return role::once;
    }
    for (uint16_t i = 0; i < code.input_count; ++i) {
      auto input_part = part_of(code.inputs[i]);
      if (input_part == part::launched || input_part == part::kept)
        return {};
      if (input_part == part::fixed)
        kept.insert(code.inputs[i]);
    }
    set_outputs(code, part::again);
    return role::again;
  }

  std::optional<role> upload(const instruction& code) {
    auto input_part = part_of(code.inputs[0]);
    if (input_part == part::launched || input_part == part::kept)
      return {};
    set_outputs(code, is_fixed(input_part) ? part::kept : part::launched);
    return is_fixed(input_part) ? role::once : role::again;
  }
};

std::shared_ptr<region_replay> region_replay::make(const program& compiled, uint32_t region) {
  std::shared_ptr<region_replay> created{new region_replay{compiled}};
  created->region_ = region;
  if (std::ranges::any_of(compiled.waits(),
                          [](auto& wait) { return wait.answered_by == answer_source::caller; }))
    created->max_repeats_ = 2;
  if (!analysis{*created}.run())
    return nullptr;
  return created;
}

region_replay::~region_replay() = default;

std::span<const instruction> region_replay::code() const noexcept {
  const auto& region = program_.regions()[region_];
  return program_.code().subspan(region.first, region.count);
}

// -- decision ------------------------------------------------------------------------------------

// Returns the signature of these shapes and values; null if the run cannot be replayed.
region_replay::signature* region_replay::find(const tensor* slots) {
  for (const auto& input : sources_) {
    const auto& value = slots[input.slot];
    if (input.by_value &&
        (!value.on_host() || value.type() >= dtype::string || value.bytes() > max_value_bytes))
      return nullptr;
    if (input.used && value.on_host())
      return nullptr;
  }
  auto fits = [&](const source& from, const seen& before) {
    const auto& current = slots[from.slot];
    return current.type() == before.type && current.dims() == before.dims &&
           current.on_host() == before.on_host &&
           (!from.by_value || std::memcmp(current.raw(), before.value.raw(), current.bytes()) == 0);
  };
  auto known = std::ranges::find_if(signatures_, [&](const signature& candidate) {
    return std::ranges::equal(sources_, candidate.sources, fits);
  });
  if (known != signatures_.end()) {
    std::rotate(known, known + 1, signatures_.end());
    return &signatures_.back();
  }
  // If all runs differ, gives up.
  given_up_ = ++unmatched_signatures_ > max_unmatched_signatures;
  signature new_signature{.sources = {}, .required_runs = min_runs, .repeats = {}};
  for (const auto& input : sources_) {
    const auto& current = slots[input.slot];
    seen observed{.type = current.type(), .dims = current.dims(), .on_host = current.on_host()};
    if (input.by_value) {
      auto copy = current.clone(); // the caller may write to a fed tensor later
      if (!copy)
        return nullptr;
      observed.value = *std::move(copy);
    }
    new_signature.sources.push_back(std::move(observed));
  }
  if (signatures_.size() == max_signatures)
    signatures_.erase(signatures_.begin());
  signatures_.push_back(std::move(new_signature));
  return &signatures_.back();
}

result<bool> region_replay::run(tensor* slots, std::vector<tensor>& leaving) {
  std::unique_lock guard{mutex_, std::try_to_lock};
  if (!guard)
    return false;
  if (given_up_)
    signatures_.clear();
  auto* current = given_up_ ? nullptr : find(slots);
  if (!current)
    return false;
  auto start_over = [&] {
    current->repeats.clear();
    current->runs = 0;
    current->required_runs = std::min(current->required_runs * 2, max_runs);
  };
  if (!std::ranges::all_of(current->repeats,
                           [](auto& repeat) { return repeat->launches->usable(); }))
    start_over();
  if (current->repeats.empty() && ++current->runs < current->required_runs)
    return false;
  for (size_t i = 0; i < max_repeats_; ++i) {
    if (i == current->repeats.size()) {
      auto recorded = record(*current, slots);
      if (!recorded) {
        start_over();
        // A variable that was in use may be free at another time.
        if (recorded.status().kind() != error_kind::aborted)
          given_up_ = ++failures_ == max_failures;
        return false;
      }
      current->repeats.push_back(*std::move(recorded));
    }
    auto moved = false;
    auto outcome = replay(*current->repeats[i], slots, leaving, moved);
    if (moved)
      start_over();
    else if (outcome && *outcome)
      failures_ = unmatched_signatures_ = 0;
    if (moved || !outcome || *outcome)
      return outcome;
  }
  return false;
}

// -- recording -----------------------------------------------------------------------------------

namespace {

// Runs the region's code on slots of its own, while its launches are recorded.
class dry_run {
public:
  dry_run(const program& compiled, recording& launch_recording)
      : program_(compiled), recording_(launch_recording),
        device_(*compiled.device().as_accelerator()), slots_(compiled.slots()) {}

  status take_source(uint32_t slot, const tensor& value, bool used) {
    if (used)
      return placeholder_for(slot, value);
    slots_[slot] = value;
    return {};
  }

  // Allocates memory of the recording for a tensor that has another address in each run.
  status placeholder_for(uint32_t slot, const tensor& original) {
    TROUPE_ASSIGN(slots_[slot], recording_.make_input(original.type(), original.dims()));
    inputs.emplace_back(slot, slots_[slot]);
    return {};
  }

  status step(const instruction& code, bool again) {
    kernel_context context{slots_.data(), program_.device(), device_.memory(), nullptr};
    switch (code.kind) {
      case action::run:
        context.step_to(code);
        TROUPE_TRY(run_kernel(code, context));
        for (uint16_t i = 0; i < code.output_count; ++i)
          if (const auto& output = slots_[code.first_output + i];
              !output.empty() && output.on_host())
            return failure(error_kind::unimplemented, "a launch returned a tensor of the host");
        break;
      case action::run_on_host: {
        kernel_context host_context{slots_.data(), device_.host(), device_.host().memory(),
                                    nullptr};
        host_context.step_to(code);
        TROUPE_TRY(run_kernel(code, host_context));
        break;
      }
      case action::upload: {
        const auto& from = slots_[code.inputs[0]];
        if (again) {
          TROUPE_TRY(placeholder_for(code.first_output, from));
          break;
        }
        TROUPE_ASSIGN(auto uploaded,
                      upload(device_, from, static_cast<cached_upload*>(code.state)));
        slots_[code.first_output] = uploaded;
        uploads.push_back(std::move(uploaded));
        break;
      }
      case action::read: {
        TROUPE_ASSIGN(auto value, (*code.states)->read());
        if (value.space() != device_.memory().space())
          return failure(error_kind::failed_precondition,
                         "the variable is in another memory space");
        slots_[code.first_output] = std::move(value);
        break;
      }
      default: leaving.push_back(code.input_count ? slots_[code.inputs[0]] : tensor{}); break;
    }
    return {};
  }

  void release_after(const instruction& code) {
    for (uint16_t i = 0; i < code.release_count; ++i)
      slots_[code.releases[i]].reset();
  }

  const tensor& at(uint32_t slot) const { return slots_[slot]; }

  std::vector<std::pair<uint32_t, tensor>> inputs;
  std::vector<tensor> uploads, leaving;

private:
  const program& program_;
  recording& recording_;
  accelerator& device_;
  std::vector<tensor> slots_;
};

// Finds the source of a tensor that leaves the region: an output of the launches, a variable, or an
// uploaded tensor.
template <class Capture>
status find_origin(Capture& capture, const tensor& value, output_binding& binding) {
  binding.dims = value.dims();
  if (capture.launches->owns(value.raw())) {
    auto& outputs = capture.outputs;
    auto output = std::ranges::find(outputs, value.raw(), &recording::output::memory);
    if (output == outputs.end())
      output = outputs.insert(output,
                              {.memory = value.raw(), .type = value.type(), .dims = value.dims()});
    binding.origin = output_binding::from::output;
    binding.index = static_cast<uint32_t>(output - outputs.begin());
    return output->type == value.type()
               ? status{}
               : failure(error_kind::unimplemented,
                         "two outputs of different types share their memory");
  }
  auto place =
      std::ranges::find(capture.variables, value.raw(), &variable_address_guard::place::memory);
  if (place != capture.variables.end()) {
    binding.origin = output_binding::from::variable;
    binding.index = static_cast<uint32_t>(place - capture.variables.begin());
    return place->used_variable->type() == value.type()
               ? status{}
               : failure(error_kind::unimplemented, "a variable leaves the region as another type");
  }
  if (std::ranges::find(capture.uploads, value.raw(), &tensor::raw) == capture.uploads.end())
    return failure(error_kind::unimplemented, "a region output has no producer");
  binding.origin = output_binding::from::kept;
  binding.kept = value;
  return {};
}

} // namespace

// Changes nothing that the host knows: if it fails, the region can run as usual.
result<std::shared_ptr<region_replay::capture_record>>
region_replay::record(const signature& model, const tensor* slots) const {
  auto capture = std::make_shared<capture_record>();
  TROUPE_ASSIGN(capture->launches, program_.device().as_accelerator()->record());
  {
    dry_run dry{program_, *capture->launches};
    {
      variable_address_guard guard;
      for (size_t i = 0; i < sources_.size(); ++i) {
        const auto& input = sources_[i];
        TROUPE_TRY(dry.take_source(
            input.slot, input.by_value ? model.sources[i].value : slots[input.slot], input.used));
      }
      for (size_t i = 0; i < roles_.size(); ++i) {
        const auto& instruction = code()[i];
        TROUPE_TRY(dry.step(instruction, roles_[i] == role::again));
        if (roles_[i] == role::once)
          for (uint32_t slot = instruction.first_output;
               slot < instruction.first_output + instruction.output_count; ++slot)
            if (std::ranges::binary_search(kept_, slot))
              capture->once.emplace_back(slot, dry.at(slot));
        dry.release_after(instruction);
      }
      if (guard.moved())
        return failure(error_kind::aborted, "a variable got other memory meanwhile");
      capture->variables = guard.places();
    }
    capture->uploads = std::move(dry.uploads);
    for (const auto& [slot, value] : dry.inputs)
      capture->inputs.push_back({slot, value.raw(), value.bytes()});
    auto next = dry.leaving.begin();
    for (size_t i = 0; i < roles_.size(); ++i) {
      if (roles_[i] != role::leave)
        continue;
      auto& binding = capture->output_bindings.emplace_back();
      const auto& value = *next++;
      if (value.empty())
        continue;
      auto slot = code()[i].inputs[0];
      auto is_output_of = [&](const instruction& instruction, role instruction_role) {
        return instruction_role != role::leave && slot >= instruction.first_output &&
               slot < instruction.first_output + instruction.output_count;
      };
      std::optional<role> maker; // none: the tensor comes from outside
      for (size_t k = 0; k < i; ++k)
        if (is_output_of(code()[k], roles_[k]))
          maker = roles_[k];
      if (!maker || (*maker == role::again && value.on_host())) {
        binding.origin = output_binding::from::slot;
        binding.index = slot;
      } else if (value.on_host()) {
        binding.origin = output_binding::from::kept;
        binding.kept = value;
      } else {
        TROUPE_TRY(find_origin(*capture, value, binding));
      }
    }
  }
  TROUPE_TRY(capture->launches->end());
  return capture;
}

// -- replay --------------------------------------------------------------------------------------

namespace {

// Calls `then` with all variables at their recorded addresses and locked against changes.
struct launch_on_variables {
  std::span<const variable_address_guard::place> places;
  allocator& memory;
  const std::vector<bool>& leave; // whether the value at each place leaves the region
  std::vector<tensor>& values;
  const std::function<status()>& then;
  bool moved = false, launched = false;

  status visit(size_t next) {
    if (next == places.size()) {
      launched = true;
      return then();
    }
    const auto& place = places[next];
    auto check_address = [&](const tensor& value) -> status {
      if (value.raw() != place.memory || !(value.dims() == place.dims)) {
        moved = true;
        return failure(error_kind::aborted, "a variable has moved to another address");
      }
      if (leave[next])
        values[next] = value;
      return visit(next + 1);
    };
    if (!place.changed) {
      TROUPE_ASSIGN(auto value, place.used_variable->read());
      return check_address(value);
    }
    return place.locked ? place.used_variable->update(check_address, memory)
                        : place.used_variable->update_unlocked(check_address, memory);
  }
};

} // namespace

// Runs the host's kernels and the uploads again; changes nothing that a usual run needs.
status region_replay::run_beforehand(const capture_record& capture, tensor* slots,
                                     std::vector<tensor>& leaving) const {
  auto& device = *program_.device().as_accelerator();
  for (const auto& [slot, value] : capture.once)
    slots[slot] = value;
  auto output_binding = capture.output_bindings.begin();
  for (size_t i = 0; i < roles_.size(); ++i) {
    const auto& instruction = code()[i];
    if (roles_[i] == role::leave) {
      auto is_there = output_binding->origin == output_binding::from::slot;
      leaving.push_back(is_there ? slots[output_binding->index] : output_binding->kept);
      ++output_binding;
    }
    if (roles_[i] != role::again)
      continue;
    auto outcome = [&]() -> status {
      if (instruction.kind == action::upload) {
        TROUPE_ASSIGN(slots[instruction.first_output],
                      upload(device, slots[instruction.inputs[0]],
                             static_cast<cached_upload*>(instruction.state)));
        return {};
      }
      auto keeps_inputs = instruction;
      keeps_inputs.last_uses = 0;
      kernel_context host_context{slots, device.host(), device.host().memory(), nullptr};
      host_context.step_to(keeps_inputs);
      return run_kernel(keeps_inputs, host_context);
    }();
    TROUPE_TRY(with_node_context(*instruction.origin, std::move(outcome)));
  }
  for (const auto& input : capture.inputs)
    TROUPE_TRY(device.memory().space()->copy(input.to, slots[input.slot].raw(), input.bytes));
  return {};
}

result<bool> region_replay::replay(capture_record& capture, tensor* slots,
                                   std::vector<tensor>& leaving, bool& moved) const {
  if (!capture.launches->prepare_launch(capture.outputs))
    return false;
  std::vector<tensor> values(capture.variables.size());
  std::vector<bool> leave(capture.variables.size());
  for (const auto& binding : capture.output_bindings)
    if (binding.origin == output_binding::from::variable)
      leave[binding.index] = true;
  std::function<status()> launch = [&] { return capture.launches->launch(); };
  launch_on_variables launcher{capture.variables, program_.device().memory(), leave, values,
                               launch};
  auto outcome = run_beforehand(capture, slots, leaving);
  auto prepared = outcome.ok();
  if (prepared) {
    variable_address_guard guard;
    outcome = launcher.visit(0);
  }
  for (size_t i = 0; launcher.launched && outcome && i < leaving.size(); ++i) {
    const auto& binding = capture.output_bindings[i];
    if (binding.origin == output_binding::from::output)
      leaving[i] = capture.outputs[binding.index].value.reshaped(binding.dims);
    else if (binding.origin == output_binding::from::variable)
      leaving[i] = values[binding.index].reshaped(binding.dims);
  }
  for (auto& output : capture.outputs)
    output.value.reset();
  if (!launcher.launched)
    capture.launches->cancel_launch();
  if (launcher.launched || !prepared)
    return outcome ? result<bool>{true} : result<bool>{std::move(outcome)};
  leaving.clear();
  moved = launcher.moved;
  return false;
}

} // namespace troupe
