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

constexpr int fewest_launches = 4; // that are worth a recording
constexpr int enough_runs = 3;     // with the same shapes
constexpr int max_runs = 4096;     // of patience, which doubles with each disappointment
constexpr int max_failures = 4, max_strangers = 100;
constexpr size_t max_signatures = 4, max_value_bytes = 1024;

bool needs_no_elements(const node& node) {
  return has(node.op().effects, effect::of_shape) || node.inputs().empty();
}

// Whether each run of the kernel launches the same for the same shapes, and changes nothing of the
// host's.
bool is_repeatable(const instruction& code, device_kind on) {
  const auto& at = *code.origin;
  auto effects = at.op().effects;
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
  // Who hands tensors on would make one a variable's.
  const auto* kernel = at.graph().ops().find_kernel(at.op().name, on);
  return code.what == action::run && kernel && !kernel->on_any_device;
}

} // namespace

// What leaves the region, and where it comes from in each replay.
struct output_binding {
  enum class from : uint8_t { nothing, slot, kept, output, variable } origin = from::nothing;
  uint32_t index = 0; // slot, output or variable
  tensor kept = {};
  shape dims = {};
};

struct region_replay::capture_record {
  struct copy_in {
    uint32_t slot;
    void* to;
    size_t bytes;
  };
  std::unique_ptr<recording> launches;
  std::vector<std::pair<uint32_t, tensor>> once; // what is kept, by slot
  std::vector<tensor> uploads;                   // that the launches read
  std::vector<copy_in> inputs;
  std::vector<variable_address_guard::place> variables;
  std::vector<recording::output> outputs;
  std::vector<output_binding> output_bindings;
};

// -- what can be repeated ------------------------------------------------------------------------

struct region_replay::analysis {
  enum class part : uint8_t { outside, value, fixed, again, launched, kept };

  explicit analysis(region_replay& of) : out(of), kind(of.program_.device().kind()) {}

  region_replay& out;
  const device_kind kind;
  std::set<uint32_t> wanted; // slots on whose elements launches depend
  std::map<uint32_t, part> parts;
  std::set<uint32_t> kept;
  int launches = 0;

  static bool is_ref(const instruction& code, uint16_t input) {
    return code.states && code.states[input];
  }
  static bool is_on_host(const instruction& code, uint16_t input) {
    return code.origin->input_port(input).on_host;
  }
  static bool is_fixed(part what) { return what == part::value || what == part::fixed; }

  bool run() {
    auto code = out.code();
    for (auto at = code.rbegin(); at != code.rend(); ++at)
      find_wanted(*at);
    for (const auto& one : code) {
      auto found = role_of(one);
      if (!found)
        return false;
      out.roles_.push_back(*found);
      launches += *found == role::launch && one.what == action::run;
    }
    out.kept_.assign(kept.begin(), kept.end());
    return launches >= fewest_launches;
  }

  void find_wanted(const instruction& code) {
    auto makes_wanted = [&] {
      for (uint16_t i = 0; i < code.output_count; ++i)
        if (wanted.contains(code.first_output + i))
          return true;
      return false;
    };
    if (code.what == action::run) {
      for (uint16_t i = 0; i < code.input_count; ++i)
        if (!is_ref(code, i) && is_on_host(code, i))
          wanted.insert(code.inputs[i]);
    } else if (code.what == action::run_on_host && !needs_no_elements(*code.origin) &&
               makes_wanted()) {
      wanted.insert(code.inputs, code.inputs + code.input_count);
    }
  }

  part part_of(uint32_t slot) {
    auto [it, fresh] = parts.emplace(slot, part::outside);
    if (fresh) {
      auto counts = wanted.contains(slot);
      it->second = counts ? part::value : part::outside;
      out.sources_.push_back({.slot = slot, .by_value = counts});
    }
    return it->second;
  }
  void set_outputs(const instruction& code, part to) {
    for (uint16_t i = 0; i < code.output_count; ++i)
      parts[code.first_output + i] = to;
  }
  void use(uint32_t slot) { std::ranges::find(out.sources_, slot, &source::slot)->used = true; }

  std::optional<role> role_of(const instruction& code) {
    switch (code.what) {
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
        if (code.what == action::wait && !is_collective(code.origin->op()))
          break; // a queue's
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
      auto what = part_of(code.inputs[i]);
      if (is_on_host(code, i) ? !is_fixed(what) : what == part::fixed || what == part::again)
        return {};
      if (!is_on_host(code, i) && (what == part::outside || what == part::value))
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
      auto what = part_of(code.inputs[i]);
      if (what == part::launched || what == part::kept)
        return {};
      if (what == part::fixed)
        kept.insert(code.inputs[i]);
    }
    set_outputs(code, part::again);
    return role::again;
  }

  std::optional<role> upload(const instruction& code) {
    auto what = part_of(code.inputs[0]);
    if (what == part::launched || what == part::kept)
      return {};
    set_outputs(code, is_fixed(what) ? part::kept : part::launched);
    return is_fixed(what) ? role::once : role::again;
  }
};

std::shared_ptr<region_replay> region_replay::make(const program& of, uint32_t region) {
  std::shared_ptr<region_replay> made{new region_replay{of}};
  made->region_ = region;
  if (std::ranges::any_of(of.waits(), [](auto& one) { return one.by == answered_by::caller; }))
    made->most_alike_ = 2;
  if (!analysis{*made}.run())
    return nullptr;
  return made;
}

region_replay::~region_replay() = default;

std::span<const instruction> region_replay::code() const noexcept {
  const auto& region = program_.regions()[region_];
  return program_.code().subspan(region.first, region.count);
}

// -- when ----------------------------------------------------------------------------------------

// Runs of these shapes and values; null where they cannot be repeated.
region_replay::signature* region_replay::find(const tensor* slots) {
  for (const auto& one : sources_) {
    const auto& value = slots[one.slot];
    if (one.by_value &&
        (!value.on_host() || value.type() >= dtype::string || value.bytes() > max_value_bytes))
      return nullptr;
    if (one.used && value.on_host())
      return nullptr;
  }
  auto fits = [&](const source& from, const seen& before) {
    const auto& now = slots[from.slot];
    return now.type() == before.type && now.dims() == before.dims &&
           now.on_host() == before.on_host &&
           (!from.by_value || std::memcmp(now.raw(), before.value.raw(), now.bytes()) == 0);
  };
  auto known = std::ranges::find_if(signatures_, [&](const signature& one) {
    return std::ranges::equal(sources_, one.sources, fits);
  });
  if (known != signatures_.end()) {
    std::rotate(known, known + 1, signatures_.end());
    return &signatures_.back();
  }
  // Where all runs differ, there is nothing to wait for.
  given_up_ = ++strangers_ > max_strangers;
  signature fresh{.sources = {}, .enough = enough_runs, .repeats = {}};
  for (const auto& one : sources_) {
    const auto& now = slots[one.slot];
    seen noted{.type = now.type(), .dims = now.dims(), .on_host = now.on_host()};
    if (one.by_value) {
      auto copy = now.clone(); // who feeds it may write to it
      if (!copy)
        return nullptr;
      noted.value = *std::move(copy);
    }
    fresh.sources.push_back(std::move(noted));
  }
  if (signatures_.size() == max_signatures)
    signatures_.erase(signatures_.begin());
  signatures_.push_back(std::move(fresh));
  return &signatures_.back();
}

result<bool> region_replay::run(tensor* slots, std::vector<tensor>& leaving) {
  std::unique_lock guard{mutex_, std::try_to_lock};
  if (!guard)
    return false;
  if (given_up_)
    signatures_.clear();
  auto* now = given_up_ ? nullptr : find(slots);
  if (!now)
    return false;
  auto start_over = [&] {
    now->repeats.clear();
    now->runs = 0;
    now->enough = std::min(now->enough * 2, max_runs);
  };
  if (!std::ranges::all_of(now->repeats, [](auto& one) { return one->launches->usable(); }))
    start_over();
  if (now->repeats.empty() && ++now->runs < now->enough)
    return false;
  for (size_t i = 0; i < most_alike_; ++i) {
    if (i == now->repeats.size()) {
      auto made = record(*now, slots);
      if (!made) {
        start_over();
        // A variable that others were using may be free another time.
        if (made.status().kind() != error_kind::aborted)
          given_up_ = ++failures_ == max_failures;
        return false;
      }
      now->repeats.push_back(*std::move(made));
    }
    auto moved = false;
    auto outcome = replay(*now->repeats[i], slots, leaving, moved);
    if (moved)
      start_over();
    else if (outcome && *outcome)
      failures_ = strangers_ = 0;
    if (moved || !outcome || *outcome)
      return outcome;
  }
  return false;
}

// -- recording -----------------------------------------------------------------------------------

namespace {

// The region's code, run on slots of its own while all is noted down.
class dry_run {
public:
  dry_run(const program& of, recording& notes)
      : program_(of), notes_(notes), device_(*of.device().as_accelerator()), slots_(of.slots()) {}

  status take_source(uint32_t slot, const tensor& value, bool used) {
    if (used)
      return placeholder_for(slot, value);
    slots_[slot] = value;
    return {};
  }

  // The recording has memory of its own for what is elsewhere each time.
  status placeholder_for(uint32_t slot, const tensor& like) {
    TROUPE_ASSIGN(slots_[slot], notes_.make_input(like.type(), like.dims()));
    inputs.emplace_back(slot, slots_[slot]);
    return {};
  }

  status step(const instruction& code, bool again) {
    kernel_context context{slots_.data(), program_.device(), device_.memory(), nullptr};
    switch (code.what) {
      case action::run:
        context.step_to(code);
        TROUPE_TRY(run_kernel(code, context));
        for (uint16_t i = 0; i < code.output_count; ++i)
          if (const auto& made = slots_[code.first_output + i]; !made.empty() && made.on_host())
            return failure(error_kind::unimplemented, "a launch gave something of the host's");
        break;
      case action::run_on_host: {
        kernel_context beside{slots_.data(), device_.host(), device_.host().memory(), nullptr};
        beside.step_to(code);
        TROUPE_TRY(run_kernel(code, beside));
        break;
      }
      case action::upload: {
        const auto& from = slots_[code.inputs[0]];
        if (again) {
          TROUPE_TRY(placeholder_for(code.first_output, from));
          break;
        }
        TROUPE_ASSIGN(auto there, upload(device_, from, static_cast<kept_upload*>(code.state)));
        slots_[code.first_output] = there;
        uploads.push_back(std::move(there));
        break;
      }
      case action::read: {
        TROUPE_ASSIGN(auto value, (*code.states)->read());
        if (value.space() != device_.memory().space())
          return failure(error_kind::failed_precondition, "the variable lies elsewhere");
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
  recording& notes_;
  accelerator& device_;
  std::vector<tensor> slots_;
};

// Where what the launches have made lies, or whose it is.
template <class Capture>
status find_origin(Capture& in, const tensor& value, output_binding& to) {
  to.dims = value.dims();
  if (in.launches->owns(value.raw())) {
    auto& all = in.outputs;
    auto at = std::ranges::find(all, value.raw(), &recording::output::memory);
    if (at == all.end())
      at = all.insert(at, {.memory = value.raw(), .type = value.type(), .dims = value.dims()});
    to.origin = output_binding::from::output;
    to.index = static_cast<uint32_t>(at - all.begin());
    return at->type == value.type()
               ? status{}
               : failure(error_kind::unimplemented, "two types leave in the same memory");
  }
  auto place = std::ranges::find(in.variables, value.raw(), &variable_address_guard::place::memory);
  if (place != in.variables.end()) {
    to.origin = output_binding::from::variable;
    to.index = static_cast<uint32_t>(place - in.variables.begin());
    return place->which->type() == value.type()
               ? status{}
               : failure(error_kind::unimplemented, "a variable leaves as another type");
  }
  if (std::ranges::find(in.uploads, value.raw(), &tensor::raw) == in.uploads.end())
    return failure(error_kind::unimplemented, "what leaves comes from nowhere");
  to.origin = output_binding::from::kept;
  to.kept = value;
  return {};
}

} // namespace

// Nothing that the host knows is changed: where it fails, the region can run as usual.
result<std::shared_ptr<region_replay::capture_record>>
region_replay::record(const signature& like, const tensor* slots) const {
  auto made = std::make_shared<capture_record>();
  TROUPE_ASSIGN(made->launches, program_.device().as_accelerator()->record());
  {
    dry_run dry{program_, *made->launches};
    {
      variable_address_guard steady;
      for (size_t i = 0; i < sources_.size(); ++i) {
        const auto& one = sources_[i];
        TROUPE_TRY(dry.take_source(one.slot, one.by_value ? like.sources[i].value : slots[one.slot],
                                   one.used));
      }
      for (size_t i = 0; i < roles_.size(); ++i) {
        const auto& one = code()[i];
        TROUPE_TRY(dry.step(one, roles_[i] == role::again));
        if (roles_[i] == role::once)
          for (uint32_t slot = one.first_output; slot < one.first_output + one.output_count; ++slot)
            if (std::ranges::binary_search(kept_, slot))
              made->once.emplace_back(slot, dry.at(slot));
        dry.release_after(one);
      }
      if (steady.moved())
        return failure(error_kind::aborted, "a variable got other memory meanwhile");
      made->variables = steady.places();
    }
    made->uploads = std::move(dry.uploads);
    for (const auto& [slot, value] : dry.inputs)
      made->inputs.push_back({slot, value.raw(), value.bytes()});
    auto next = dry.leaving.begin();
    for (size_t i = 0; i < roles_.size(); ++i) {
      if (roles_[i] != role::leave)
        continue;
      auto& to = made->output_bindings.emplace_back();
      const auto& value = *next++;
      if (value.empty())
        continue;
      auto slot = code()[i].inputs[0];
      auto is_made = [&](const instruction& one, role what) {
        return what != role::leave && slot >= one.first_output &&
               slot < one.first_output + one.output_count;
      };
      std::optional<role> maker; // none: it comes from outside
      for (size_t k = 0; k < i; ++k)
        if (is_made(code()[k], roles_[k]))
          maker = roles_[k];
      if (!maker || (*maker == role::again && value.on_host())) {
        to.origin = output_binding::from::slot;
        to.index = slot;
      } else if (value.on_host()) {
        to.origin = output_binding::from::kept;
        to.kept = value;
      } else {
        TROUPE_TRY(find_origin(*made, value, to));
      }
    }
  }
  TROUPE_TRY(made->launches->end());
  return made;
}

// -- replay --------------------------------------------------------------------------------------

namespace {

// Calls `then` while all variables lie where they were, and nobody else can change that.
struct launch_on_variables {
  std::span<const variable_address_guard::place> places;
  allocator& memory;
  const std::vector<bool>& leave; // by place, as the next
  std::vector<tensor>& values;
  const std::function<status()>& then;
  bool moved = false, launched = false;

  status from(size_t next) {
    if (next == places.size()) {
      launched = true;
      return then();
    }
    const auto& place = places[next];
    auto go_on = [&](const tensor& value) -> status {
      if (value.raw() != place.memory || !(value.dims() == place.dims)) {
        moved = true;
        return failure(error_kind::aborted, "a variable lies elsewhere");
      }
      if (leave[next])
        values[next] = value;
      return from(next + 1);
    };
    if (!place.changed) {
      TROUPE_ASSIGN(auto value, place.which->read());
      return go_on(value);
    }
    return place.locked ? place.which->update(go_on, memory)
                        : place.which->update_unlocked(go_on, memory);
  }
};

} // namespace

// What the host computes and uploads is made again; it changes nothing that a usual run needs.
status region_replay::run_beforehand(const capture_record& with, tensor* slots,
                                     std::vector<tensor>& leaving) const {
  auto& device = *program_.device().as_accelerator();
  for (const auto& [slot, value] : with.once)
    slots[slot] = value;
  auto output_binding = with.output_bindings.begin();
  for (size_t i = 0; i < roles_.size(); ++i) {
    const auto& at = code()[i];
    if (roles_[i] == role::leave) {
      auto is_there = output_binding->origin == output_binding::from::slot;
      leaving.push_back(is_there ? slots[output_binding->index] : output_binding->kept);
      ++output_binding;
    }
    if (roles_[i] != role::again)
      continue;
    auto outcome = [&]() -> status {
      if (at.what == action::upload) {
        TROUPE_ASSIGN(slots[at.first_output],
                      upload(device, slots[at.inputs[0]], static_cast<kept_upload*>(at.state)));
        return {};
      }
      auto keeps_inputs = at;
      keeps_inputs.last_uses = 0;
      kernel_context beside{slots, device.host(), device.host().memory(), nullptr};
      beside.step_to(keeps_inputs);
      return run_kernel(keeps_inputs, beside);
    }();
    TROUPE_TRY(within(*at.origin, std::move(outcome)));
  }
  for (const auto& one : with.inputs)
    TROUPE_TRY(device.memory().space()->copy(one.to, slots[one.slot].raw(), one.bytes));
  return {};
}

result<bool> region_replay::replay(capture_record& with, tensor* slots,
                                   std::vector<tensor>& leaving, bool& moved) const {
  if (!with.launches->claim(with.outputs))
    return false;
  std::vector<tensor> values(with.variables.size());
  std::vector<bool> leave(with.variables.size());
  for (const auto& one : with.output_bindings)
    if (one.origin == output_binding::from::variable)
      leave[one.index] = true;
  std::function<status()> launch = [&] { return with.launches->launch(); };
  launch_on_variables held{with.variables, program_.device().memory(), leave, values, launch};
  auto outcome = run_beforehand(with, slots, leaving);
  auto prepared = outcome.ok();
  if (prepared) {
    variable_address_guard steady;
    outcome = held.from(0);
  }
  for (size_t i = 0; held.launched && outcome && i < leaving.size(); ++i) {
    const auto& from = with.output_bindings[i];
    if (from.origin == output_binding::from::output)
      leaving[i] = with.outputs[from.index].value.reshaped(from.dims);
    else if (from.origin == output_binding::from::variable)
      leaving[i] = values[from.index].reshaped(from.dims);
  }
  for (auto& one : with.outputs)
    one.value.reset();
  if (!held.launched)
    with.launches->unclaim();
  if (held.launched || !prepared)
    return outcome ? result<bool>{true} : result<bool>{std::move(outcome)};
  leaving.clear();
  moved = held.moved;
  return false;
}

} // namespace troupe
