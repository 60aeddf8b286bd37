#include "troupe/actors/task/task_inspector.hpp"

#include "troupe/actors/execution/responder.hpp"
#include "troupe/actors/execution/step_waits.hpp"
#include "troupe/actors/task/link_numbers.hpp"
#include "troupe/actors/task/process_numbers.hpp"
#include "troupe/actors/task/resources.hpp"
#include "troupe/actors/task/step_server.hpp"
#include "troupe/runtime/version.hpp"

#include <algorithm>
#include <cstdio>

#include <unistd.h>

namespace troupe {
namespace {

// Of one step; a step that waits for more is a program of thousands of devices.
constexpr size_t most_waits = 256;

int64_t whole(auto number) { return static_cast<int64_t>(number); }

std::string hex(uint64_t number) {
  char text[20];
  std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(number));
  return text;
}

std::string as_kind(std::string_view text) {
  std::string made{text};
  std::ranges::replace(made, ' ', '_');
  return made;
}

// "/job:ps/task:0" as "ps:0", "client 5" as "client:5".
std::string link_id(std::string peer) {
  if (auto name = device_name::parse(peer); name && !name->job.empty() && name->task >= 0)
    return concat(name->job, ':', name->task);
  std::ranges::replace(peer, ' ', ':');
  return peer;
}

std::string step_text(step_id id) { return concat(hex(id.session), '.', id.sequence); }

double seconds_between(std::chrono::steady_clock::time_point from,
                       std::chrono::steady_clock::time_point to) {
  return std::chrono::duration<double>(to - from).count();
}

} // namespace

// One look. Each function makes a part, with its children as deep as it is told; below zero, it is
// a name alone.
class tree {
public:
  tree(const task_inspector& of, const inspection_scope& scope)
      : task_(of), of_(of.of_), server_(*of.of_.server), scope_(scope) {}

  result<inspection> find(const inspection_ref& ref) {
    auto depth = std::clamp(scope_.depth, 0, inspection_limits::depth);
    if (ref.task() != server_.self())
      return not_found(ref);
    auto within = ref.within_task();
    if (within.empty())
      return this_task(depth);
    const auto& first = within[0];
    if (first.kind == "step" && within.size() <= 2)
      return step(ref, within, depth);
    if (first.kind == "hosted_session" && within.size() <= 2)
      return hosted(ref, within, depth);
    if (first.kind == "client" && within.size() <= 2)
      return client(ref, within, depth);
    if (first.kind == "container" && within.size() <= 2)
      return container(ref, within, depth);
    if (within.size() > 1)
      return not_found(ref);
    if (first.kind == "device")
      for (const auto& one : of_.devices)
        if (device_id(*one) == first.id)
          return device_part(*one, depth);
    if (first.kind == "link")
      for (const auto& one : server_.connections().open())
        if (link_id(one->peer) == first.id)
          return link(*one, depth);
    if (first.kind == "program")
      for (const auto& one : server_.programs().all())
        if (std::to_string(one.handle) == first.id)
          return program_part(one, depth);
    return not_found(ref);
  }

private:
  static status not_found(const inspection_ref& ref) {
    return failure(error_kind::not_found, to_string(ref), " is not there (any more)");
  }

  static inspection bare(const inspection_ref& ref) {
    return {to_string(ref), ref.parts.back().kind};
  }

  // Whether one more child is wanted, and there is room for it.
  bool takes(inspection& parent, std::string_view kind) {
    if (!scope_.includes(kind))
      return false;
    if (parent.children.size() < inspection_limits::children && count_ < inspection_limits::parts) {
      ++count_;
      return true;
    }
    ++parent.left_out;
    return false;
  }

  inspection this_task(int depth) {
    auto made = bare(task_.self_);
    if (depth < 0)
      return made;
    auto now = std::chrono::steady_clock::now();
    auto process = process_numbers::now();
    const auto& counts = server_.counts();
    uint64_t ended = 0, failed = 0, refused = 0;
    for (size_t i = 0; i < step_counts::kinds; ++i) {
      auto kind = static_cast<error_kind>(i);
      ended += counts.ended_with(kind);
      failed += kind == error_kind::ok ? 0 : counts.ended_with(kind);
      refused += counts.refused_with(kind);
    }
    auto table = server_.steps().sizes();
    made.add("address", of_.address);
    made.add("incarnation", std::to_string(server_.incarnation()));
    made.add("version", std::string{library_version});
    made.add("pid", whole(::getpid()));
    made.add("uptime_seconds", seconds_between(task_.began_, now));
    made.add("draining", server_.draining());
    made.add("filled", !server_.filling().closed());
    if (auto by = server_.filling().filler(); !by.empty())
      made.add("filled_by", by);
    made.add("steps_running", whole(table.running));
    made.add("steps_ended", whole(ended));
    made.add("steps_failed", whole(failed));
    made.add("steps_refused", whole(refused));
    made.add("steps_seconds", counts.seconds());
    made.add("steps_unsettled", whole(server_.unsettled()));
    made.add("early_steps", whole(table.early_steps));
    made.add("early_bytes", whole(table.early_bytes));
    made.add("programs", whole(server_.programs().size()));
    made.add("connections", whole(server_.connections().open().size()));
    made.add("hosted_sessions", whole(server_.hosted().size()));
    made.add("hosted_sessions_most", whole(server_.hosted().most.load()));
    made.add("resident_bytes", whole(process.resident_bytes));
    made.add("cpu_seconds", process.cpu_seconds);
    made.add("threads", process.threads);
    made.add("descriptors", process.descriptors);
    for (const auto& one : of_.devices)
      if (takes(made, "device"))
        made.children.push_back(device_part(*one, depth - 1));
    for (const auto& one : server_.connections().open())
      if (takes(made, "link"))
        made.children.push_back(link(*one, depth - 1));
    for (const auto& one : server_.programs().all())
      if (takes(made, "program"))
        made.children.push_back(program_part(one, depth - 1));
    for (const auto& one : server_.hosted().open())
      if (takes(made, "hosted_session"))
        made.children.push_back(hosted_part(*one, depth - 1));
    for (const auto& one : server_.connections().open())
      if (auto waits = one->waits.now(); !waits.empty() && takes(made, "client"))
        made.children.push_back(client_part(*one, waits, depth - 1));
    for (const auto& one : server_.steps().running())
      if (takes(made, "step"))
        made.children.push_back(step_part(one, depth - 1));
    for (const auto& [name, held] : of_.state->all())
      if (takes(made, "container"))
        made.children.push_back(container_part(name, held, depth - 1));
    return made;
  }

  static std::string device_id(const device& of) {
    return concat(to_string(of.kind()), ':', of.ordinal());
  }

  inspection device_part(const device& of, int depth) {
    auto made = bare(task_.self_ / ref_part{"device", device_id(of)});
    if (depth < 0)
      return made;
    auto memory = of.statistics();
    made.add("description", of.description());
    made.add("threads", whole(of.threads()));
    made.add("bytes_in_use", whole(memory.in_use));
    made.add("bytes_peak", whole(memory.peak));
    made.add("bytes_cached", whole(memory.cached));
    made.add("bytes_swapped", whole(memory.swapped));
    made.add("bytes_limit", whole(of.memory_limit()));
    made.add("allocations", whole(memory.allocations));
    return made;
  }

  inspection link(const peer_connection& of, int depth) {
    auto made = bare(task_.self_ / ref_part{"link", link_id(of.peer)});
    if (depth < 0)
      return made;
    made.add("peer", of.peer);
    made.add("incarnation", std::to_string(of.incarnation));
    made.add("last_heard_seconds", of.seconds_since_heard());
    made.add("bytes_received", whole(of.received.load(std::memory_order_relaxed)));
    made.add("bytes_sent", whole(of.sent.load(std::memory_order_relaxed)));
    made.add("steps", whole(of.running.load(std::memory_order_relaxed)));
    made.add("registering", whole(of.registering.load(std::memory_order_relaxed)));
    made.add("near_memory", of.near.load(std::memory_order_relaxed));
    auto waits = numbers_of(of);
    made.add("bytes_queued", whole(waits.messages));
    made.add("bytes_announced", whole(waits.payloads));
    made.add("bytes_pending", whole(waits.pending));
    made.add("requests_unanswered", whole(waits.asked));
    return made;
  }

  inspection program_part(const program_store::listed& of, int depth) {
    auto made = bare(task_.self_ / ref_part{"program", std::to_string(of.handle)});
    if (depth < 0)
      return made;
    made.add("owner", of.owner->peer);
    made.add("session", hex(of.program->session()));
    made.add("linked", of.linked);
    made.add("devices", whole(of.program->programs().size()));
    made.add("regions", whole(of.program->regions()));
    made.add("idle_instances", whole(of.program->idle()));
    if (!of.lost.ok())
      made.add("lost", of.lost.message());
    return made;
  }

  // With the same id as its connection, which has no other session.
  result<inspection> hosted(const inspection_ref& ref, std::span<const ref_part> within,
                            int depth) {
    for (const auto& one : server_.hosted().open())
      if (link_id(one->client) == within[0].id) {
        if (within.size() == 1)
          return hosted_part(*one, depth);
        for (auto& wait : hosted_part(*one, 1).children)
          if (wait.ref == to_string(ref))
            return std::move(wait);
      }
    return not_found(ref);
  }

  inspection hosted_part(const listed_session& of, int depth) {
    auto ref = task_.self_ / ref_part{"hosted_session", link_id(of.client)};
    auto made = bare(ref);
    if (depth < 0)
      return made;
    made.add("client", of.client);
    made.add("session", hex(of.session));
    made.add("age_seconds", seconds_between(of.opened, std::chrono::steady_clock::now()));
    made.add("steps_ended", whole(of.ended.load()));
    made.add("steps_failed", whole(of.failed.load()));
    made.add("steps_running", whole(of.running.load()));
    made.add("steps_in_line", whole(of.in_line()));
    made.add("requests_unanswered", whole(of.requests.load()));
    made.add("programs", whole(of.programs.load()));
    made.add("bytes", whole(of.bytes.load()));
    auto now = steady_ns();
    auto since = of.waiting_since(most_waits);
    for (size_t i = 0; i < since.size(); ++i) {
      if (!takes(made, "wait"))
        continue;
      auto wait = bare(ref / ref_part{"wait", std::to_string(i)});
      if (depth > 0) {
        wait.add("for", std::string{"turn"});
        wait.add("node", concat("a step of ", of.client));
        wait.add("target", std::string{"its turn among hosted steps"});
        wait.add("seconds", static_cast<double>(now - since[i]) * 1e-9);
      }
      made.children.push_back(std::move(wait));
    }
    return made;
  }

  // A client that has told this task what its steps wait for before they reach their tasks. With
  // the same id as its connection.
  result<inspection> client(const inspection_ref& ref, std::span<const ref_part> within,
                            int depth) {
    for (const auto& one : server_.connections().open())
      if (auto waits = one->waits.now(); !waits.empty() && link_id(one->peer) == within[0].id) {
        if (within.size() == 1)
          return client_part(*one, waits, depth);
        for (auto& wait : client_part(*one, waits, 1).children)
          if (wait.ref == to_string(ref))
            return std::move(wait);
      }
    return not_found(ref);
  }

  inspection client_part(const peer_connection& of, const client_wait_list& waits, int depth) {
    auto ref = task_.self_ / ref_part{"client", link_id(of.peer)};
    auto made = bare(ref);
    if (depth < 0)
      return made;
    made.add("client", of.peer);
    for (size_t i = 0; i < waits.size(); ++i) {
      if (!takes(made, "wait"))
        continue;
      auto wait = bare(ref / ref_part{"wait", std::to_string(i)});
      if (depth > 0) {
        wait.add("for", std::string{"task"});
        wait.add("target", waits[i].target);
        wait.add("node", waits[i].reason);
        wait.add("steps", whole(waits[i].steps));
        wait.add("seconds", waits[i].seconds);
      }
      made.children.push_back(std::move(wait));
    }
    return made;
  }

  result<inspection> step(const inspection_ref& ref, std::span<const ref_part> within, int depth) {
    for (const auto& one : server_.steps().running())
      if (step_text(one.id) == within[0].id) {
        if (within.size() == 1)
          return step_part(one, depth);
        for (auto& wait : step_part(one, 1).children)
          if (wait.ref == to_string(ref))
            return std::move(wait);
      }
    return not_found(ref);
  }

  inspection step_part(const step_table::running_step& of, int depth) {
    auto ref = task_.self_ / ref_part{"step", step_text(of.id)};
    auto made = bare(ref);
    if (depth < 0)
      return made;
    made.add("session", hex(of.id.session));
    made.add("sequence", whole(of.id.sequence));
    auto now = server_.now();
    if (of.deadline != step_clock::time_point::max())
      made.add("seconds_left", seconds_between(now, of.deadline));
    auto waits = waits_of_step(*of.in, of.id.sequence, most_waits);
    for (size_t i = 0; i < waits.size(); ++i)
      if (takes(made, "wait"))
        made.children.push_back(
            wait_part(ref / ref_part{"wait", std::to_string(i)}, waits[i], depth - 1));
    return made;
  }

  static inspection wait_part(const inspection_ref& ref, const step_wait& of, int depth) {
    auto made = bare(ref);
    if (depth < 0)
      return made;
    made.add("for", std::string{to_string(of.what)});
    made.add("node", of.node);
    if (!of.target.empty())
      made.add("target", of.target);
    if (!of.state.empty())
      made.add("name", of.state);
    if (!of.detail.empty())
      made.add("detail", of.detail);
    made.add("seconds", static_cast<double>(steady_ns() - of.since_ns) * 1e-9);
    return made;
  }

  result<inspection> container(const inspection_ref& ref, std::span<const ref_part> within,
                               int depth) {
    for (const auto& [name, held] : of_.state->all()) {
      if (name != within[0].id)
        continue;
      if (within.size() == 1)
        return container_part(name, held, depth);
      for (const auto& one : held)
        if (as_kind(one->kind()) == within[1].kind && one->name() == within[1].id)
          return state_part(name, *one, depth);
    }
    return not_found(ref);
  }

  inspection container_part(const std::string& name, const resources::states& held, int depth) {
    auto made = bare(task_.self_ / ref_part{"container", name});
    if (depth < 0)
      return made;
    made.add("entries", whole(held.size()));
    for (const auto& one : held)
      if (takes(made, as_kind(one->kind())))
        made.children.push_back(state_part(name, *one, depth - 1));
    return made;
  }

  inspection state_part(const std::string& held_by, const named_state& of, int depth) {
    auto made = bare(task_.self_ / ref_part{"container", held_by} /
                     ref_part{as_kind(of.kind()), of.name()});
    if (depth < 0)
      return made;
    auto about = of.describe();
    made.add("holds", about.holds);
    made.add("content", about.content);
    made.add("bytes", whole(about.bytes));
    if (auto* asked = dynamic_cast<const responder_state*>(&of)) {
      auto numbers = asked->numbers();
      if (numbers.size >= 0)
        made.add("size", numbers.size);
      made.add("mean_size", numbers.usage.mean_size);
      auto line = [&](const char* name, const waiting_times& times, int64_t waiting) {
        made.add(concat(name, "_waiting"), waiting);
        made.add(concat(name, "_requests"), times.requests);
        made.add(concat(name, "_wait_seconds"), times.total_seconds);
      };
      line("puts", numbers.usage.puts, numbers.puts_waiting);
      line("takes", numbers.usage.takes, numbers.takes_waiting);
    }
    return made;
  }

  const task_inspector& task_;
  const task_inspector::parts& of_;
  step_server& server_;
  const inspection_scope& scope_;
  size_t count_ = 1;
};

task_inspector::task_inspector(parts of)
    : of_(std::move(of)), self_(inspection_ref::of(of_.server->self())) {}

result<inspection> task_inspector::inspect(const inspection_ref& ref,
                                           const inspection_scope& scope) const {
  return tree{*this, scope}.find(ref);
}

} // namespace troupe
