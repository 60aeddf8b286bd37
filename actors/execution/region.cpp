#include "troupe/actors/execution/region.hpp"

#include "troupe/actors/base/caf_internals.hpp"
#include "troupe/actors/execution/frames.hpp"
#include "troupe/actors/execution/kernel_threads.hpp"
#include "troupe/actors/execution/socket_writer.hpp"
#include "troupe/actors/execution/task_program.hpp"
#include "troupe/devices/collective/run_collective.hpp"
#include "troupe/runtime/device/launch_owner.hpp"
#include "troupe/runtime/simulation.hpp"

#include <caf/send.hpp>

#include <algorithm>
#include <chrono>
#include <optional>

namespace troupe {
namespace {

// Converts the emissions of a region's code to messages.
class messenger final : public emission_sink {
public:
  messenger(task_instance& instance, uint32_t program, caf::execution_unit* unit)
      : instance_(instance), program_(program), unit_(unit) {}

  void send_token(token&& to_region) override {
    auto& target = instance_.region(program_, to_region.region);
    deliver(target, std::move(to_region), unit_);
  }

  void send_export(uint32_t export_index, tensor&& value, bool dead) override {
    if (!value.on_host() && copy_to_receiver(export_index, value))
      return pass_on(export_index, std::move(value), dead);
    on_host(std::move(value), [=](messenger& self, tensor&& host_value) {
      self.pass_on(export_index, std::move(host_value), dead);
    });
  }

  // A function that runs within a step passes its results on without a copy to the host.
  void send_fetch(uint32_t fetch_index, tensor&& value, bool dead) override {
    if (instance_.program().runs_within_steps())
      return deliver(instance_.conductor(), fetched{fetch_index, std::move(value), dead}, unit_);
    on_host(std::move(value), [=](messenger& self, tensor&& host_value) {
      deliver(self.instance_.conductor(), fetched{fetch_index, std::move(host_value), dead},
              self.unit_);
    });
  }

  void start_wait(uint32_t wait_index, std::span<tensor> inputs) override {
    const auto& wait = instance_.part(program_).program().waits()[wait_index];
    instance_.begin_wait(program_, wait_index);
    if (wait.answered_by == answer_source::frame)
      return instance_.root().frames()->begin(instance_, program_, wait_index, inputs, unit_);
    if (auto slot = instance_.program().slot_of(program_, wait_index);
        slot.group != collective_slot::none)
      return join(slot, inputs.empty() ? tensor{} : inputs.front());
    instance_.messages().count(message_kind::request);
    deliver(instance_.program().waitable_resource(program_, wait_index),
            wait_request{
                .step = instance_.step(),
                .origin = wait.origin,
                .wait = wait_index,
                .inputs = {std::move_iterator{inputs.begin()}, std::move_iterator{inputs.end()}},
                .region = caf::actor_cast<caf::actor>(&instance_.region(program_, wait.region)),
                .source = instance_.program().source(program_, wait_index)},
            unit_);
  }

private:
  // The last member to arrive computes for all. The threads of the others do not wait.
  void join(const collective_slot& slot, tensor input) {
    auto& rendezvous = instance_.rendezvous_of(slot.group);
    const auto& group = rendezvous.group();
    collective_part added_part{.target = group.members[slot.member].target,
                               .input = std::move(input)};
    if (auto prepared = prepare_collective(group.call, added_part); !prepared)
      return (void)instance_.conductor().abort(
          instance_.conductor().step(),
          with_node_context(*group.members[slot.member].origin, std::move(prepared)), unit_);
    if (rendezvous.arrive(slot.member, std::move(added_part)) !=
        collective_rendezvous::arrival::last)
      return;
    auto& parts = rendezvous.parts();
    auto outcome = [&]() -> status {
      TROUPE_ASSIGN(auto call, group.check(parts));
      return with_node_context(*group.members.front().origin,
                               run_collective(call, parts, &instance_.conductor().stop()));
    }();
    for (auto& part : parts) {
      part.input.reset();
      part.ready.reset();
    }
    if (!outcome) {
      instance_.conductor().abort(instance_.conductor().step(), std::move(outcome), unit_);
      return;
    }
    for (size_t i = 0; i < parts.size(); ++i) {
      const auto& member = group.members[i];
      const auto& wait = instance_.part(member.program).program().waits()[member.wait];
      auto value = std::move(parts[i].output);
      instance_.end_wait(member.program, member.wait, value.bytes());
      auto is_read = wait.slots[0] != token::no_slot;
      deliver(instance_.region(member.program, wait.region),
              token{.region = wait.region,
                    .slot = wait.slots[0],
                    .value = is_read ? std::move(value) : tensor{}},
              unit_);
    }
  }

  // Calls `then` with the value in the host's memory: at once if the value is there, otherwise when
  // the device has copied it, if the step still runs then.
  template <class Then>
  void on_host(tensor&& value, Then then) {
    if (value.on_host()) {
      then(*this, std::move(value));
      return;
    }
    auto& device = *instance_.part(program_).program().device().as_accelerator();
    device.download(std::move(value),
                    [kept = instance_.shared_from_this(), program = program_,
                     step = instance_.conductor().step(), then](result<tensor> host_value) {
                      kept->conductor().act_for(step, [&]() -> status {
                        if (!host_value)
                          return host_value.status();
                        messenger late{*kept, program, nullptr};
                        then(late, *std::move(host_value));
                        return {};
                      });
                    });
  }

  // Copies a tensor directly to the receiving device. Returns false if that is not possible. The
  // reader of the tensor is launched behind the copy.
  bool copy_to_receiver(uint32_t export_index, tensor& value) {
    const auto& route = instance_.program().route(program_, export_index);
    if (route.remote)
      return false;
    const auto& receiver = instance_.part(route.program).program();
    auto* device = receiver.device().as_accelerator();
    if (!device || !receiver.waits()[route.wait].on_device)
      return false;
    auto moved = device->copy_from_device(value);
    if (!moved)
      return false; // goes by the host, which reports the error if that fails, too
    value = *std::move(moved);
    return true;
  }

  void pass_on(uint32_t export_index, tensor&& value, bool dead) {
    const auto& route = instance_.program().route(program_, export_index);
    if (route.remote) {
      instance_.messages().count(message_kind::send);
      instance_.program().recorder().note(flight_event::sent, instance_.conductor().step(),
                                          instance_.program().first_number() + program_,
                                          export_index);
      caf::anon_send(instance_.program().exchange(route.peer),
                     outgoing{tensor_push{.step = instance_.step(),
                                          .key = route.key,
                                          .is_dead = dead,
                                          .value = std::move(value),
                                          .frame = instance_.frame(),
                                          .iteration = instance_.run()}});
    } else {
      export_value(route, std::move(value), dead);
    }
  }

  void export_value(const export_route& route, tensor&& value, bool dead) {
    instance_.end_wait(route.program, route.wait, value.bytes());
    deliver(instance_.region(route.program, route.region),
            token{.region = route.region,
                  .slot = dead ? token::no_slot : route.slot,
                  .value = std::move(value),
                  .dead = dead},
            unit_);
  }

  task_instance& instance_;
  uint32_t program_;
  caf::execution_unit* unit_;
};

} // namespace

bool region_actor::is_heavy() const noexcept {
  return instance_->part(program_).program().regions()[region_].is_heavy;
}

// True where the measured time decides on which thread the region runs next.
bool region_actor::measures_itself() const noexcept {
  auto* threads = instance_->program().threads_of(program_);
  return (threads && !threads->takes(is_heavy())) || duration_.often_long();
}

// A loop may take long in one run although all earlier runs were brief.
bool region_actor::is_brief() const noexcept {
  const auto& code = instance_->part(program_).program().regions()[region_];
  return !code.is_heavy && !code.has_loops && !duration_.often_long() &&
         instance_->program().accelerators().empty(); // the end of a step may wait for a device
}

// It has no loop, and its nodes are small.
bool region_actor::is_quick() const noexcept {
  constexpr double most_ns = 5e6;
  const auto& code = instance_->part(program_).program().regions()[region_];
  return !code.has_loops && code.nanoseconds < most_ns;
}

bool region_actor::has_stopped() const noexcept { return instance_->conductor().stop().raised(); }

step_queue_state* region_actor::step_queue() const noexcept {
  return &instance_->root().queue_state();
}

void region_actor::run_elsewhere() noexcept {
  if (auto* threads = instance_->program().kernels())
    threads->run_later(this);
  else
    home_system().scheduler().enqueue(this);
}

bool region_actor::receive(caf::mailbox_element& message, caf::execution_unit* unit) {
  if (auto* received = content_if<token>(message)) {
    instance_->messages().count(message_kind::to_region);
    received->region = region_;
    auto prefer_other_thread = received->prefer_other_thread;
    if (instance_->part(program_).receive(std::move(*received)))
      become_ready(unit, prefer_other_thread);
    return true;
  }
  if (auto* answer = content_if<wait_answer>(message)) {
    receive_answer(*answer, unit);
    return true;
  }
  return false;
}

// Values of a waitable resource are checked like those of peers, because graphs are compiled for
// declared types and shapes.
status region_actor::check(const wait_answer& answer) const {
  const auto& wait = instance_->part(program_).program().waits()[answer.wait];
  const auto& origin = *wait.origin;
  auto source = [&] {
    return wait.state
               ? concat(to_string(wait.state->op().state_kind), " '", wait.state->name(), '\'')
               : std::string{"its work"};
  };
  if (static_cast<size_t>(origin.outputs()) != answer.values.size())
    return with_node_context(origin,
                             failure(error_kind::internal, "expected ", origin.outputs(),
                                     " tensors of ", source(), ", got ", answer.values.size()));
  for (int i = 0; i < origin.outputs(); ++i) {
    const auto& value = answer.values[static_cast<size_t>(i)];
    if (value.type() != origin.output_type(i) || !origin.output_shape(i).compatible(value.dims()))
      return with_node_context(origin, invalid("expected ", origin.output_type(i),
                                               origin.output_shape(i), " as output ", i, ", ",
                                               source(), " gave ", value.type(), value.dims()));
  }
  return {};
}

// Elements of queues may be in a device's memory. Copies them to where they are read, one after
// another: there are few.
void region_actor::transfer_values(std::shared_ptr<wait_answer> answer, size_t first) {
  const launching_for scope{0}; // errors of the elements belong to the steps that made them
  const auto& program = instance_->part(program_).program();
  const auto& wait = program.waits()[answer->wait];
  auto* device = program.device().as_accelerator();
  for (auto i = first; i < answer->values.size(); ++i) {
    auto& value = answer->values[i];
    auto is_here = device && value.space() == program.device().memory().space();
    if (value.on_host() || (is_here && !(i < wait.on_host.size() && wait.on_host[i])))
      continue;
    if (is_here)
      return device->download(std::move(value),
                              [this, kept = instance_, self = caf::actor_cast<caf::actor>(this),
                               answer, i](result<tensor> host) {
                                if (!host) {
                                  answer->outcome = host.status();
                                  return apply_answer(*answer, nullptr);
                                }
                                answer->values[i] = *std::move(host);
                                transfer_values(answer, i + 1);
                              });
    if (device)
      if (auto moved = device->copy_from_device(value)) {
        value = *std::move(moved);
        continue;
      }
    answer->outcome = failure(error_kind::failed_precondition, "the element is in the memory of ",
                              value.space()->name(), ": dequeue it on that device");
    break;
  }
  apply_answer(*answer, nullptr);
}

void region_actor::receive_answer(wait_answer& answer, caf::execution_unit* unit) {
  if (std::ranges::all_of(answer.values, [](const tensor& value) { return value.on_host(); }))
    return apply_answer(answer, unit);
  transfer_values(std::make_shared<wait_answer>(std::move(answer)), 0);
}

// If the step has ended meanwhile, the waitable resource takes back the values.
void region_actor::apply_answer(wait_answer& answer, caf::execution_unit* unit) {
  instance_->conductor().act_for(
      answer.step.sequence,
      [&]() -> status {
        TROUPE_TRY(std::move(answer.outcome));
        TROUPE_TRY(check(answer));
        if (!answer.values.empty())
          TROUPE_REACHED("a queue's element comes to its step");
        uint64_t bytes = 0;
        for (const auto& value : answer.values)
          bytes += value.bytes();
        instance_->end_wait(program_, answer.wait, bytes);
        instance_->messages().count(message_kind::to_region);
        if (instance_->part(program_).answer(answer.wait, answer.values, false))
          become_ready(unit, false);
        return {};
      },
      unit);
}

void region_actor::become_ready(caf::execution_unit* unit, bool prefer_other_thread) {
  if (!instance_->conductor().enter())
    return;                     // the step has failed
  intrusive_ptr_add_ref_impl(); // until it has run
  if (auto* threads = instance_->program().threads_of(program_);
      threads && threads->takes(is_heavy() || duration_.often_long()))
    threads->run_later(this);
  else if (unit && !(prefer_other_thread && is_heavy()))
    unit->exec_later(this);
  else
    run_elsewhere();
}

caf::resumable::resume_result region_actor::resume(caf::execution_unit* unit, size_t) {
  // The last message may end the step, and then the instance may release this actor.
  auto kept = instance_;
  // Tensors to one task are sent together, unless the region takes long.
  std::optional<write_batch> batch;
  if (!kept->program().peers().empty() && !is_heavy())
    batch.emplace();
  messenger out{*kept, program_, unit};
  auto& running_since = kept->runs_since(program_, region_);
  running_since.store(ticks_now(), std::memory_order_relaxed);
  auto measures_time = measures_itself();
  std::chrono::steady_clock::time_point begin{};
  if (measures_time)
    begin = std::chrono::steady_clock::now();
  std::optional<launching_for> scope; // also of the downloads that it begins
  if (auto owner = kept->conductor().launch_owner())
    scope.emplace(owner);
  auto outcome = kept->part(program_).run(region_, out, kept->conductor().stop());
  scope.reset();
  running_since.store(0, std::memory_order_relaxed);
  if (measures_time)
    took(std::chrono::steady_clock::now() - begin);
  kept->program().recorder().note(flight_event::region_ran, kept->conductor().step(),
                                  kept->program().first_number() + program_, region_);
  deliver(kept->conductor(), region_ended{std::move(outcome)}, unit);
  return done;
}

} // namespace troupe
