#include "troupe/actors/execution/region.hpp"

#include "troupe/actors/base/caf_internals.hpp"
#include "troupe/actors/execution/frames.hpp"
#include "troupe/actors/execution/kernel_threads.hpp"
#include "troupe/actors/execution/outlet.hpp"
#include "troupe/actors/execution/task_program.hpp"
#include "troupe/devices/collective/exchange.hpp"
#include "troupe/runtime/simulation.hpp"

#include <caf/send.hpp>

#include <algorithm>
#include <chrono>
#include <optional>

namespace troupe {
namespace {

// Turns what a region's code emits into messages.
class messenger final : public emission_sink {
public:
  messenger(task_instance& in, uint32_t program, caf::execution_unit* unit)
      : in_(in), program_(program), unit_(unit) {}

  void send_token(token&& to_region) override {
    auto& target = in_.region(program_, to_region.region);
    deliver(target, std::move(to_region), unit_);
  }

  void send_export(uint32_t export_index, tensor&& value, bool dead) override {
    if (!value.on_host() && take_over(export_index, value))
      return pass_on(export_index, std::move(value), dead);
    on_host(std::move(value), [=](messenger& self, tensor&& here) {
      self.pass_on(export_index, std::move(here), dead);
    });
  }

  // What runs within a step hands on what it gives as it lies.
  void send_fetch(uint32_t fetch_index, tensor&& value, bool dead) override {
    if (in_.program().runs_within_steps())
      return deliver(in_.conductor(), fetched{fetch_index, std::move(value), dead}, unit_);
    on_host(std::move(value), [=](messenger& self, tensor&& here) {
      deliver(self.in_.conductor(), fetched{fetch_index, std::move(here), dead}, self.unit_);
    });
  }

  void start_wait(uint32_t wait_index, std::span<tensor> inputs) override {
    const auto& wait = in_.part(program_).program().waits()[wait_index];
    in_.begin_wait(program_, wait_index);
    if (wait.by == answered_by::frame)
      return in_.root().frames()->begin(in_, program_, wait_index, inputs, unit_);
    if (auto seat = in_.program().seat(program_, wait_index); seat.group != collective_seat::none)
      return join(seat, inputs.empty() ? tensor{} : inputs.front());
    deliver(in_.program().responder(program_, wait_index),
            ask{.step = in_.step(),
                .origin = wait.origin,
                .wait = wait_index,
                .inputs = {std::move_iterator{inputs.begin()}, std::move_iterator{inputs.end()}},
                .region = caf::actor_cast<caf::actor>(&in_.region(program_, wait.region)),
                .source = in_.program().source(program_, wait_index)},
            unit_);
  }

private:
  // Whoever comes last computes for all; the others have gone on to other work.
  void join(const collective_seat& seat, tensor input) {
    auto& meeting = in_.meeting(seat.group);
    const auto& group = meeting.group();
    collective_part mine{.on = group.members[seat.member].on, .input = std::move(input)};
    if (auto prepared = prepare_collective(group.call, mine); !prepared)
      return (void)in_.conductor().abort(
          in_.conductor().step(), within(*group.members[seat.member].origin, std::move(prepared)),
          unit_);
    if (meeting.arrive(seat.member, std::move(mine)) != collective_rendezvous::arrival::last)
      return;
    auto& all = meeting.take();
    auto outcome = [&]() -> status {
      TROUPE_ASSIGN(auto what, group.check(all));
      return within(*group.members.front().origin, exchange(what, all, &in_.conductor().stop()));
    }();
    for (auto& one : all) {
      one.input.reset();
      one.ready.reset();
    }
    if (!outcome) {
      in_.conductor().abort(in_.conductor().step(), std::move(outcome), unit_);
      return;
    }
    for (size_t i = 0; i < all.size(); ++i) {
      const auto& to = group.members[i];
      const auto& wait = in_.part(to.program).program().waits()[to.wait];
      auto value = std::move(all[i].output);
      in_.end_wait(to.program, to.wait, value.bytes());
      auto wanted = wait.slots[0] != token::no_slot;
      deliver(in_.region(to.program, wait.region),
              token{.region = wait.region,
                    .slot = wait.slots[0],
                    .value = wanted ? std::move(value) : tensor{}},
              unit_);
    }
  }

  // Hands on what lies in the host's memory now; else when the device has brought it there, if the
  // step still runs then.
  template <class Then>
  void on_host(tensor&& value, Then then) {
    if (value.on_host()) {
      then(*this, std::move(value));
      return;
    }
    auto& device = *in_.part(program_).program().device().as_accelerator();
    device.download(std::move(value), [keep = in_.shared_from_this(), program = program_,
                                       step = in_.conductor().step(), then](result<tensor> here) {
      keep->conductor().act_for(step, [&]() -> status {
        if (!here)
          return here.status();
        messenger late{*keep, program, nullptr};
        then(late, *std::move(here));
        return {};
      });
    });
  }

  // Brings a tensor straight to the device that wants it, where that is possible. Who reads it
  // there is launched behind the copy.
  bool take_over(uint32_t export_index, tensor& value) {
    const auto& route = in_.program().route(program_, export_index);
    if (route.remote)
      return false;
    const auto& receiver = in_.part(route.program).program();
    auto* device = receiver.device().as_accelerator();
    if (!device || !receiver.waits()[route.wait].on_device)
      return false;
    auto there = device->take_over(value);
    if (!there)
      return false; // by way of the host, which says what is wrong if that fails as well
    value = *std::move(there);
    return true;
  }

  void pass_on(uint32_t export_index, tensor&& value, bool dead) {
    const auto& route = in_.program().route(program_, export_index);
    if (route.remote) {
      in_.program().recorder().note(flight_event::sent, in_.conductor().step(),
                                    in_.program().first_number() + program_, export_index);
      caf::anon_send(in_.program().exchange(route.peer),
                     outgoing{tensor_push{.step = in_.step(),
                                          .key = route.key,
                                          .dead = dead,
                                          .value = std::move(value),
                                          .frame = in_.frame(),
                                          .iteration = in_.run()}});
    } else {
      export_value(route, std::move(value), dead);
    }
  }

  void export_value(const export_route& route, tensor&& value, bool dead) {
    in_.end_wait(route.program, route.wait, value.bytes());
    deliver(in_.region(route.program, route.region),
            token{.region = route.region,
                  .slot = dead ? token::no_slot : route.slot,
                  .value = std::move(value),
                  .dead = dead},
            unit_);
  }

  task_instance& in_;
  uint32_t program_;
  caf::execution_unit* unit_;
};

} // namespace

bool region_actor::heavy() const noexcept {
  return in_->part(program_).program().regions()[which_].heavy;
}

// Where that decides which thread is next to run it.
bool region_actor::measures_itself() const noexcept {
  auto* own = in_->program().threads_of(program_);
  return (own && !own->takes(heavy())) || length_.often_long();
}

// A loop may take long in one run though it was brief in all runs before.
bool region_actor::brief() const noexcept {
  const auto& code = in_->part(program_).program().regions()[which_];
  return !code.heavy && !code.loops && !length_.often_long() &&
         in_->program().accelerators().empty(); // for which the end of a step may wait
}

bool region_actor::quick() const noexcept {
  constexpr double most_ns = 5e6;
  const auto& code = in_->part(program_).program().regions()[which_];
  return !code.loops && code.nanoseconds < most_ns;
}

bool region_actor::has_stopped() const noexcept { return in_->conductor().stop().raised(); }

task_instance& region_actor::step() const noexcept { return in_->root(); }

void region_actor::run_elsewhere() {
  if (auto* threads = in_->program().kernels())
    threads->run_later(this);
  else
    home_system().scheduler().enqueue(this);
}

void hand_on(caf::actor_system& system, caf::resumable* ready) {
  if (auto* region = dynamic_cast<region_actor*>(ready))
    region->run_elsewhere();
  else
    system.scheduler().enqueue(ready);
}

bool region_actor::receive(caf::mailbox_element& message, caf::execution_unit* unit) {
  if (auto* one = content_if<token>(message)) {
    one->region = which_;
    auto prefer_other_thread = one->prefer_other_thread;
    if (in_->part(program_).receive(std::move(*one)))
      become_ready(unit, prefer_other_thread);
    return true;
  }
  if (auto* answer = content_if<wait_answer>(message)) {
    take(*answer, unit);
    return true;
  }
  return false;
}

// What a responder gives is checked as what peers send is: graphs are compiled for what is
// declared.
status region_actor::check(const wait_answer& what) const {
  const auto& wait = in_->part(program_).program().waits()[what.wait];
  const auto& from = *wait.origin;
  auto source = [&] {
    return wait.state ? concat(to_string(wait.state->op().makes), " '", wait.state->name(), '\'')
                      : std::string{"its work"};
  };
  if (static_cast<size_t>(from.outputs()) != what.values.size())
    return within(from, failure(error_kind::internal, "expected ", from.outputs(), " tensors of ",
                                source(), ", got ", what.values.size()));
  for (int i = 0; i < from.outputs(); ++i) {
    const auto& value = what.values[static_cast<size_t>(i)];
    if (value.type() != from.output_type(i) || !from.output_shape(i).compatible(value.dims()))
      return within(from,
                    invalid("expected ", from.output_type(i), from.output_shape(i), " as output ",
                            i, ", ", source(), " gave ", value.type(), value.dims()));
  }
  return {};
}

// Elements of queues may lie in a device's memory. Brings them to where they are read, one after
// the other: there are few.
void region_actor::bring(std::shared_ptr<wait_answer> what, size_t from) {
  const auto& program = in_->part(program_).program();
  const auto& wait = program.waits()[what->wait];
  auto* device = program.device().as_accelerator();
  for (auto i = from; i < what->values.size(); ++i) {
    auto& value = what->values[i];
    auto here = device && value.space() == program.device().memory().space();
    if (value.on_host() || (here && !(i < wait.on_host.size() && wait.on_host[i])))
      continue;
    if (here)
      return device->download(std::move(value),
                              [this, keep = in_, self = caf::actor_cast<caf::actor>(this), what,
                               i](result<tensor> host) {
                                if (!host) {
                                  what->outcome = host.status();
                                  return settle(*what, nullptr);
                                }
                                what->values[i] = *std::move(host);
                                bring(what, i + 1);
                              });
    if (device)
      if (auto there = device->take_over(value)) {
        value = *std::move(there);
        continue;
      }
    what->outcome = failure(error_kind::failed_precondition, "the element lies in the memory of ",
                            value.space()->name(), ": take it out on that device");
    break;
  }
  settle(*what, nullptr);
}

void region_actor::take(wait_answer& what, caf::execution_unit* unit) {
  if (std::ranges::all_of(what.values, [](const tensor& one) { return one.on_host(); }))
    return settle(what, unit);
  bring(std::make_shared<wait_answer>(std::move(what)), 0);
}

// Where the step has ended meanwhile, the responder takes back what it gave.
void region_actor::settle(wait_answer& what, caf::execution_unit* unit) {
  in_->conductor().act_for(
      what.step.sequence,
      [&]() -> status {
        TROUPE_TRY(std::move(what.outcome));
        TROUPE_TRY(check(what));
        if (!what.values.empty())
          TROUPE_REACHED("a queue's element comes to its step");
        uint64_t bytes = 0;
        for (const auto& one : what.values)
          bytes += one.bytes();
        in_->end_wait(program_, what.wait, bytes);
        if (in_->part(program_).answer(what.wait, what.values, false))
          become_ready(unit, false);
        return {};
      },
      unit);
}

void region_actor::become_ready(caf::execution_unit* unit, bool prefer_other_thread) {
  if (!in_->conductor().enter())
    return;                     // the step has failed
  intrusive_ptr_add_ref_impl(); // until it has run
  if (auto* own = in_->program().threads_of(program_);
      own && own->takes(heavy() || length_.often_long()))
    own->run_later(this);
  else if (unit && !(prefer_other_thread && heavy()))
    unit->exec_later(this);
  else
    run_elsewhere();
}

caf::resumable::resume_result region_actor::resume(caf::execution_unit* unit, size_t) {
  // The conductor may end the step, and with it the instance's use of this actor, in the last
  // message.
  auto keep = in_;
  std::optional<write_batch> batch; // tensors to one task travel together, if none waits long
  if (!keep->program().peers().empty() && !heavy())
    batch.emplace();
  messenger out{*keep, program_, unit};
  auto& since = keep->runs_since(program_, which_);
  since.store(ticks_now(), std::memory_order_relaxed);
  auto measured = measures_itself();
  std::chrono::steady_clock::time_point begin{};
  if (measured)
    begin = std::chrono::steady_clock::now();
  auto outcome = keep->part(program_).run(which_, out, keep->conductor().stop());
  since.store(0, std::memory_order_relaxed);
  if (measured)
    took(std::chrono::steady_clock::now() - begin);
  keep->program().recorder().note(flight_event::region_ran, keep->conductor().step(),
                                  keep->program().first_number() + program_, which_);
  deliver(keep->conductor(), region_ended{std::move(outcome)}, unit);
  return done;
}

} // namespace troupe
