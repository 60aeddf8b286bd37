#include "troupe/actors/worker.hpp"

#include "troupe/actors/background_step.hpp"
#include "troupe/actors/device.hpp"
#include "troupe/actors/errors.hpp"
#include "troupe/actors/launch_thread.hpp"
#include "troupe/actors/messages.hpp"
#include "troupe/actors/queue.hpp"
#include "troupe/actors/step_table.hpp"
#include "troupe/actors/task_program.hpp"
#include "troupe/devices/deterministic/deterministic.hpp"
#include "troupe/runtime/program/kernel_states.hpp"
#include "troupe/runtime/simulation.hpp"
#include "troupe/serialization/files/statistics.hpp"
#include "troupe/serialization/wire/wire.hpp"

#include <caf/actor_system.hpp>
#include <caf/event_based_actor.hpp>
#include <caf/send.hpp>
#include <caf/stateful_actor.hpp>

#include <algorithm>
#include <functional>
#include <map>
#include <new>

namespace troupe {
namespace {

constexpr std::chrono::seconds connect_patience{10};
// Later deadlines are none: a century.
constexpr uint64_t max_deadline_ms = uint64_t{100} * 365 * 24 * 3600 * 1000;
// Instances that no step has used for that long go, or for twice that long at most.
constexpr std::chrono::seconds idle_patience{10};

// How long after its deadline a step is ended that whoever asked for it has not ended; and how
// often a worker looks for such.
constexpr std::chrono::milliseconds grace{1000}, expiry_period{250};

// Worker -> itself: time to look for idle instances. No answer.
using tidy_atom = caf::atom_constant<caf::atom("tidy")>;
// Worker -> itself: time to look for steps whose deadlines have passed. No answer.
using expire_atom = caf::atom_constant<caf::atom("expire")>;

struct owned_device {
  device_name name;
  std::shared_ptr<device> runs;
  caf::actor actor;
  std::shared_ptr<launch_thread> launches; // where it has one
};

// A program that somebody registered. It goes with the connection that it came by: its owner.
struct registration {
  std::shared_ptr<task_program> program;
  std::string owner;
  bool linked = false; // all tasks that it sends to are reached
};

// Two connections of one peer, before and after a loss, are two owners.
std::string owner_of(const std::string& peer, const caf::actor_addr& exchange) {
  return concat(peer, " #", exchange ? exchange.id() : 0);
}

constexpr std::string_view this_process = "this process";

// What memory and kernels' preparations throw is an error of who asked, and the worker lives on.
template <class Act>
auto guarded(const char* what, Act act) -> decltype(act()) {
  try {
    return act();
  } catch (const std::bad_alloc&) {
    return failure(error_kind::resource_exhausted, "out of memory while ", what);
  } catch (const std::exception& why) {
    return failure(error_kind::internal, what, " threw an exception: ", why.what());
  }
}

struct worker_state {
  explicit worker_state() {}
  static inline const char* name = "troupe.worker";
  worker_options options;
  std::vector<owned_device> devices;
  std::map<std::string, std::shared_ptr<container>> containers;
  std::vector<caf::actor_addr> all_queues; // to end them with us
  std::map<uint64_t, registration> programs;
  // By owner of programs, session and device; as long as the owner is there.
  std::map<std::string, std::map<std::pair<uint64_t, std::string>, kernel_states>> kept;
  uint64_t next_handle = 1;
  bool tidies = false;  // a tidy_atom is under way, as long as there are programs
  bool expires = false; // an expire_atom is under way, as long as there are steps
  std::shared_ptr<flight_recorder> recorder = std::make_shared<flight_recorder>();
  std::map<uint64_t, caf::typed_response_promise<step_result>> asked; // by step
};

using worker_self = caf::stateful_actor<worker_state>*;

// The name that a variable, queue or table has among all sessions.
std::pair<std::string, std::string> full_name(const node& maker, const std::string& fallback) {
  auto text = [&](std::string_view attr) {
    auto it = maker.attrs().find(attr);
    return it == maker.attrs().end() ? std::string{} : *it->second.get_if<std::string>();
  };
  auto held_by = text("container"), shared = text("shared_name");
  return {held_by.empty() ? fallback : held_by, shared.empty() ? maker.name() : shared};
}

container& container_of(worker_self self, const std::string& name) {
  auto& held = self->state.containers[name];
  if (!held)
    held = std::make_shared<container>();
  return *held;
}

result<std::shared_ptr<named_state>> find_state(worker_self self, const node& maker,
                                                const std::string& fallback) {
  auto [held_by, name] = full_name(maker, fallback);
  return container_of(self, held_by).find_or_add(maker.op().make(maker, name));
}

// The program keeps the queue, which may be that of a container before a reset.
result<caf::actor> find_queue(worker_self self, const node& maker, const std::string& fallback,
                              task_program& program) {
  auto [held_by, name] = full_name(maker, fallback);
  TROUPE_ASSIGN(auto declared, queue_state::declare(maker, name));
  auto found = container_of(self, held_by).find_or_add(std::move(declared));
  if (!found)
    return within(maker, found.status());
  auto actor = static_cast<queue_state&>(**found).actor(self->system());
  program.keep(*std::move(found));
  auto& all = self->state.all_queues;
  std::erase_if(all, [](const auto& one) { return !caf::actor_cast<caf::actor>(one); });
  if (std::ranges::find(all, actor.address()) == all.end())
    all.push_back(actor.address());
  return actor;
}

result<std::shared_ptr<task_program>> compile(worker_self self, register_partitions& what,
                                              const std::string& owner) {
  std::vector<std::shared_ptr<const program>> programs;
  std::vector<device_name> devices;
  std::vector<std::shared_ptr<device>> owned;
  std::vector<std::shared_ptr<launch_thread>> launches;
  auto regions = self->state.options.regions;
  regions.one_per_node = what.region_per_node;
  regions.replay = what.replay;
  node_times measured;
  for (auto& one : what.costs)
    measured.add(
        {.node = std::move(one.node), .device = {}, .runs = 1, .mean_ns = one.nanoseconds});
  regions.measured = &measured;
  regions.strict_order = what.deterministic || self->state.options.deterministic;
  for (auto& part : what.partitions) {
    auto on = std::ranges::find(self->state.devices, part.device, &owned_device::name);
    if (on == self->state.devices.end())
      return failure(error_kind::not_found, "there is no device ", part.device);
    regions.nodes_use_all_threads = on->runs->threads() > 1;
    auto find = [&](const node& maker) { return find_state(self, maker, what.container); };
    auto& kept = self->state.kept[owner][{what.session, to_string(part.device)}];
    auto find_kernel_state = [&](const node& of, const kernel_state_maker& make) {
      return kept.find_or_make(of, make);
    };
    auto runs = regions.strict_order ? deterministic_view(on->runs) : on->runs;
    TROUPE_ASSIGN(auto made,
                  program::compile(std::move(part.nodes), *runs, find, regions, find_kernel_state));
    programs.push_back(std::move(made));
    devices.push_back(part.device);
    owned.push_back(std::move(runs));
    launches.push_back(on->launches);
  }
  auto linked = std::make_shared<task_program>(self->system(), std::move(programs),
                                               std::move(owned), self->state.recorder);
  linked->set_launch_threads(std::move(launches));
  TROUPE_TRY(linked->link(self->state.options.self, devices, [&](const node& maker) {
    return find_queue(self, maker, what.container, *linked);
  }));
  return linked;
}

void tidy_later(worker_self self) {
  auto& state = self->state;
  if (!std::exchange(state.tidies, !state.programs.empty()) && state.tidies)
    self->delayed_send(self, idle_patience, tidy_atom::value);
}

void tidy(worker_self self) {
  for (auto& [handle, one] : self->state.programs)
    one.program->shrink();
  self->state.tidies = false;
  tidy_later(self);
}

using on_registered = std::function<void(result<registered>)>;

// Compiles, then reaches the tasks that the programs send to; calls back when all is ready. Nobody
// may run the program before.
void register_programs(worker_self self, register_partitions& what, std::string owner,
                       on_registered then) {
  auto compiled = guarded("compiling a step", [&] { return compile(self, what, owner); });
  if (!compiled)
    return then(compiled.status());
  auto program = *std::move(compiled);
  auto handle = self->state.next_handle++;
  self->state.programs[handle] = {program, std::move(owner), program->peers().empty()};
  tidy_later(self);
  if (program->peers().empty())
    return then(registered{handle, program});

  struct progress {
    progress(size_t n, on_registered f) : exchanges(n), missing(n), reply(std::move(f)) {}
    std::vector<caf::actor> exchanges;
    size_t missing;
    bool failed = false;
    on_registered reply;
  };
  auto state = std::make_shared<progress>(program->peers().size(), std::move(then));
  for (size_t i = 0; i < program->peers().size(); ++i) {
    auto deadline = step_clock::now() + connect_patience;
    self->request(self->state.options.membership, connect_patience + std::chrono::seconds{1},
                  connect_request{program->peers()[i], deadline})
        .then(
            [=](const peer_link& link) {
              state->exchanges[i] = link.exchange;
              if (--state->missing > 0 || state->failed)
                return;
              auto it = self->state.programs.find(handle);
              if (it == self->state.programs.end()) { // its owner has left meanwhile
                TROUPE_REACHED("a program's owner leaves before the program is linked");
                return state->reply(failure(error_kind::aborted, "the program was dropped"));
              }
              program->set_exchanges(std::move(state->exchanges));
              it->second.linked = true;
              state->reply(registered{handle, program});
            },
            [=](const caf::error& why) {
              if (std::exchange(state->failed, true))
                return;
              self->state.programs.erase(handle);
              state->reply(from_caf(why)
                               .on_task(to_string(self->state.options.self))
                               .within(concat(self->state.options.self, " cannot reach ",
                                              program->peers()[i])));
            });
  }
}

caf::result<registered> register_here(worker_self self, register_partitions& what) {
  auto promise = self->make_response_promise<registered>();
  register_programs(self, what, std::string{this_process}, [=](result<registered> done) mutable {
    if (done)
      promise.deliver(*std::move(done));
    else
      promise.deliver(to_caf(done.status()));
  });
  return promise;
}

// -- running steps that no thread of this process drives ------------------------------------------

// Whoever asked watches the deadline as well; this is for when it is gone.
void expire_later(worker_self self) {
  if (std::exchange(self->state.expires, true))
    return;
  self->delayed_send(self, expiry_period, expire_atom::value);
}

void expire(worker_self self) {
  auto& state = self->state;
  state.options.steps->expire(self->clock().now() - grace, state.options.self, self->context());
  state.expires = false;
  if (state.options.steps->size() > 0)
    expire_later(self);
}

void start_step(worker_self self, run_request what, step_end on_end) {
  auto it = self->state.programs.find(what.handle);
  if (it == self->state.programs.end()) {
    TROUPE_REACHED("a step of an unknown program comes");
    return on_end({failure(error_kind::aborted, self->state.options.self, " knows no program ",
                           what.handle, "; it may have been restarted: prepare the step again"),
                   {}});
  }
  if (!it->second.linked)
    return on_end({failure(error_kind::failed_precondition, self->state.options.self,
                           " has not registered program ", what.handle,
                           " yet: run steps of it when register_graph is answered"),
                   {}});
  expire_later(self);
  begin_in_background(it->second.program, self->state.options.steps, what,
                      to_string(self->state.options.self), std::move(on_end), self->context(),
                      by_steady_clock(what.deadline, self->clock().now()));
}

caf::result<step_result> run_local(worker_self self, run_request& what) {
  auto promise = self->make_response_promise<step_result>();
  self->state.asked.emplace(what.step, promise);
  auto step = what.step;
  start_step(self, std::move(what),
             [to = caf::actor_cast<caf::actor>(self), step](step_result result) {
               caf::anon_send(to, background_ended{step, std::move(result)});
             });
  return promise;
}

// -- what other tasks ask for --------------------------------------------------------------------

void serve_register(worker_self self, const register_graph& what, const incoming& from) {
  auto reply = [=, to = from.from, request = what.request](uint64_t handle, status outcome) {
    self->send(to, outgoing{register_reply{request, handle, std::move(outcome)}});
  };
  auto decoded = std::make_shared<register_partitions>();
  auto* parts = decoded.get();
  parts->session = what.session;
  parts->container = what.container;
  parts->region_per_node = what.region_per_node;
  parts->costs = what.costs;
  parts->deterministic = what.deterministic;
  parts->replay = what.replay;
  for (const auto& one : what.partitions) {
    auto device = device_name::parse(one.device);
    auto nodes = std::make_unique<graph>(*self->state.options.ops);
    auto bytes =
        std::as_bytes(std::span{static_cast<const char*>(one.graph.raw()), one.graph.bytes()});
    auto outcome = device ? guarded("reading a graph", [&] { return read_graph(bytes, *nodes); })
                          : device.status();
    if (!outcome)
      return reply(0, std::move(outcome));
    parts->partitions.push_back({*device, std::move(nodes)});
  }
  // At once: where the peer is gone, that is told after this.
  register_programs(self, *parts, owner_of(from.peer, from.from.address()),
                    [=](result<registered> done) {
                      auto task = to_string(self->state.options.self);
                      if (done)
                        reply(done->handle, {});
                      else
                        reply(0, done.status().on_task(task).within(task));
                    });
}

void serve_run(worker_self self, run_step& what, const incoming& from) {
  auto now = self->clock().now();
  auto left = std::chrono::milliseconds{what.deadline_ms};
  auto deadline = what.deadline_ms < max_deadline_ms ? now + left : step_clock::time_point::max();
  auto on_end = [to = from.from, request = what.request](step_result result) {
    step_done done{request, std::move(result.outcome), std::move(result.fetches)};
    if (result.statistics.subjects)
      if (auto bytes = write_statistics(result.statistics)) // a step is not lost for want of them
        done.statistics = *std::move(bytes);
    caf::anon_send(to, outgoing{std::move(done)});
  };
  start_step(self,
             {what.handle,
              what.step,
              deadline,
              std::move(what.feeds),
              {.times = what.times, .check_numerics = what.check_numerics}},
             std::move(on_end));
}

void serve(worker_self self, incoming& what) {
  auto steps = self->state.options.steps;
  if (auto* one = std::get_if<register_graph>(&what.content)) {
    serve_register(self, *one, what);
  } else if (auto* run = std::get_if<run_step>(&what.content)) {
    serve_run(self, *run, what);
  } else if (auto* cancel = std::get_if<cancel_step>(&what.content)) {
    steps->abort(cancel->step, cancel->why, self->context());
  } else if (auto* drop = std::get_if<deregister_graph>(&what.content)) {
    if (auto it = self->state.programs.find(drop->handle);
        it != self->state.programs.end() &&
        it->second.owner == owner_of(what.peer, what.from.address()))
      self->state.programs.erase(it);
  } else if (auto* reset = std::get_if<container_reset>(&what.content)) {
    auto request = reset->request;
    self->request(caf::actor_cast<caf::actor>(self), connect_patience,
                  reset_request{reset->container})
        .then([=, to = what.from](const status& outcome) {
          self->send(to, outgoing{reply{request, outcome}});
        });
  } else if (auto* list = std::get_if<device_list_request>(&what.content)) {
    self->request(caf::actor_cast<caf::actor>(self), connect_patience, list_devices_atom::value)
        .then([=, to = what.from, request = list->request](const std::vector<device_info>& all) {
          device_list_reply answer{.request = request, .devices = {}};
          for (const auto& device : all)
            answer.devices.push_back(
                {device.name, device.kind, device.memory_bytes, device.description});
          self->send(to, outgoing{std::move(answer)});
        });
  }
}

void peer_left(worker_self self, const peer_gone& what) {
  auto owner = owner_of(what.peer, what.from);
  self->state.kept.erase(owner);
  auto why = failure(error_kind::unavailable, what.peer, " is gone: ", what.why.message());
  auto& steps = *self->state.options.steps;
  steps.abort_all(what.peer, why, self->context());
  std::erase_if(self->state.programs, [&](const auto& entry) {
    if (entry.second.owner != owner)
      return false;
    steps.abort_all(*entry.second.program, why, self->context()); // nobody waits for them any more
    return true;
  });
}

// Nothing may wait any more: a step that does keeps its actors, and its queues keep the step.
void leave(worker_self self) {
  auto& state = self->state;
  auto why = failure(error_kind::unavailable, state.options.self, " shuts down");
  state.options.steps->close(why, self->context());
  for (auto& [step, promise] : std::exchange(state.asked, {}))
    promise.deliver(step_result{why, {}});
  for (const auto& one : state.all_queues)
    if (auto queue = caf::actor_cast<caf::actor>(one))
      self->send_exit(queue, caf::exit_reason::user_shutdown);
}

caf::result<std::vector<device_info>> list_devices(worker_self self) {
  auto promise = self->make_response_promise<std::vector<device_info>>();
  auto all = std::make_shared<std::vector<device_info>>();
  auto missing = std::make_shared<size_t>(self->state.devices.size());
  for (const auto& one : self->state.devices)
    self->request(one.actor, connect_patience, list_devices_atom::value)
        .then(
            [=](const std::vector<device_info>& some) mutable {
              all->insert(all->end(), some.begin(), some.end());
              if (--*missing == 0)
                promise.deliver(*all);
            },
            [=](const caf::error& why) mutable { promise.deliver(why); });
  return promise;
}

status reset_container(worker_self self, const std::string& name) {
  if (auto it = self->state.containers.find(name); it != self->state.containers.end())
    it->second->clear();
  return {};
}

caf::behavior worker_behavior(worker_self self, worker_options options) {
  auto& state = self->state;
  state.options = std::move(options);
  for (const auto& one : state.options.devices) {
    device_name name{state.options.self.job, state.options.self.task,
                     std::string{to_string(one->kind())}, one->ordinal()};
    auto launches = state.options.launch_threads && one->as_accelerator()
                        ? std::make_shared<launch_thread>(self->system())
                        : nullptr;
    state.devices.push_back(
        {name, one, spawn_device(self->system(), one, name), std::move(launches)});
  }
  self->set_default_handler(caf::drop);
  self->set_exit_handler([=](const caf::exit_msg& what) {
    leave(self);
    self->quit(what.reason);
  });
  return {
      [=](run_request& what) { return run_local(self, what); },
      [=](background_ended& what) {
        if (auto it = self->state.asked.find(what.step); it != self->state.asked.end()) {
          it->second.deliver(std::move(what.result));
          self->state.asked.erase(it);
        }
      },
      [=](incoming& what) { serve(self, what); },
      [=](outgoing& what) { // the master is in this process
        incoming here{std::move(what.content), caf::actor_cast<caf::actor>(self),
                      std::string{this_process}};
        serve(self, here);
      },
      [=](const register_request& what) { return register_here(self, *what); },
      [=](expire_atom) { expire(self); },
      [=](tidy_atom) { tidy(self); },
      [=](const forget_program& what) { self->state.programs.erase(what.handle); },
      [=](list_devices_atom) { return list_devices(self); },
      [=](const reset_request& what) { return reset_container(self, what.container); },
      [=](const peer_gone& what) { peer_left(self, what); },
  };
}

} // namespace

caf::actor spawn_worker(caf::actor_system& system, worker_options options) {
  return system.spawn(worker_behavior, std::move(options));
}

} // namespace troupe
