#include "troupe/actors/task/task_inspector.hpp"

#include "troupe/actors/execution/step_waits.hpp"
#include "troupe/actors/execution/waitable_state.hpp"
#include "troupe/actors/task/link_stats.hpp"
#include "troupe/actors/task/process_stats.hpp"
#include "troupe/actors/task/resources.hpp"
#include "troupe/actors/task/step_server.hpp"
#include "troupe/runtime/version.hpp"

#include <algorithm>
#include <cstdio>

#include <unistd.h>

namespace troupe {
namespace {

// The limit for the waits of one step. Only programs of thousands of devices wait for more.
constexpr size_t max_step_waits = 256;

int64_t to_int64(auto number) { return static_cast<int64_t>(number); }

std::string hex(uint64_t number) {
  char text[20];
  std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(number));
  return text;
}

std::string as_kind(std::string_view text) {
  std::string kind{text};
  std::ranges::replace(kind, ' ', '_');
  return kind;
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

status not_found(const inspection_ref& ref) {
  return failure(error_kind::not_found, to_string(ref), " does not exist (any more)");
}

inspection empty_part(const inspection_ref& ref) { return {to_string(ref), ref.parts.back().kind}; }

std::string device_id(const device& subject) {
  return concat(to_string(subject.kind()), ':', subject.ordinal());
}

} // namespace

// Builds one inspection. Each function makes a part, with children down to `depth`. Below zero, the
// part has only its name.
class tree {
public:
  tree(const task_inspector& inspector, const inspection_scope& scope)
      : task_(inspector), parts_(inspector.parts_), server_(*inspector.parts_.server),
        scope_(scope) {}

  result<inspection> find(const inspection_ref& ref) {
    auto depth = std::clamp(scope_.depth, 0, inspection_limits::depth);
    if (ref.task() != server_.self())
      return not_found(ref);
    auto path = ref.within_task();
    if (path.empty())
      return this_task(depth);
    const auto& first = path[0];
    if (first.kind == "step" && path.size() <= 2)
      return step(ref, path, depth);
    if (first.kind == "hosted_session" && path.size() <= 2)
      return hosted(ref, path, depth);
    if (first.kind == "client" && path.size() <= 2)
      return client(ref, path, depth);
    if (first.kind == "container" && path.size() <= 2)
      return container(ref, path, depth);
    if (path.size() > 1)
      return not_found(ref);
    if (first.kind == "device")
      for (const auto& device_of_task : parts_.devices)
        if (device_id(*device_of_task) == first.id)
          return device_part(*device_of_task, depth);
    if (first.kind == "link")
      for (const auto& connection : server_.connections().open())
        if (link_id(connection->peer) == first.id)
          return link(*connection, depth);
    if (first.kind == "program")
      for (const auto& program : server_.programs().list())
        if (std::to_string(program.handle) == first.id)
          return program_part(program, depth);
    return not_found(ref);
  }

private:
  // Returns whether a child of that kind is in the scope, and reserves room for it.
  bool reserve_child(inspection& parent, std::string_view kind) {
    if (!scope_.includes(kind))
      return false;
    if (parent.children.size() < inspection_limits::children && count_ < inspection_limits::parts) {
      ++count_;
      return true;
    }
    ++parent.omitted_children;
    return false;
  }

  inspection this_task(int depth) {
    auto part = empty_part(task_.self_);
    if (depth < 0)
      return part;
    add_properties_of_task(part);
    add_children_of_task(part, depth - 1);
    return part;
  }

  void add_properties_of_task(inspection& part) const {
    auto now = std::chrono::steady_clock::now();
    auto process = process_stats::now();
    const auto& counts = server_.counts();
    uint64_t ended = 0, failed = 0, refused = 0;
    for (size_t i = 0; i < step_counts::kinds; ++i) {
      auto kind = static_cast<error_kind>(i);
      ended += counts.ended_with(kind);
      failed += kind == error_kind::ok ? 0 : counts.ended_with(kind);
      refused += counts.refused_with(kind);
    }
    auto table = server_.steps().sizes();
    part.add("address", parts_.address);
    part.add("incarnation", std::to_string(server_.incarnation()));
    part.add("version", std::string{library_version});
    part.add("pid", to_int64(::getpid()));
    part.add("uptime_seconds", seconds_between(task_.began_, now));
    part.add("draining", server_.draining());
    part.add("initialized", !server_.initialization().closed());
    if (auto peer = server_.initialization().initializer(); !peer.empty())
      part.add("initialized_by", peer);
    part.add("steps_running", to_int64(table.running));
    part.add("steps_ended", to_int64(ended));
    part.add("steps_failed", to_int64(failed));
    part.add("steps_refused", to_int64(refused));
    part.add("steps_seconds", counts.total_seconds());
    part.add("steps_unsettled", to_int64(server_.unsettled()));
    part.add("early_steps", to_int64(table.early_steps));
    part.add("early_bytes", to_int64(table.early_bytes));
    part.add("programs", to_int64(server_.programs().size()));
    part.add("connections", to_int64(server_.connections().open().size()));
    part.add("hosted_sessions", to_int64(server_.hosted().size()));
    part.add("hosted_sessions_most", to_int64(server_.hosted().limit.load()));
    part.add("resident_bytes", to_int64(process.resident_bytes));
    part.add("cpu_seconds", process.cpu_seconds);
    part.add("threads", process.threads);
    part.add("descriptors", process.descriptors);
  }

  void add_children_of_task(inspection& part, int depth) {
    for (const auto& device_of_task : parts_.devices)
      if (reserve_child(part, "device"))
        part.children.push_back(device_part(*device_of_task, depth));
    for (const auto& connection : server_.connections().open())
      if (reserve_child(part, "link"))
        part.children.push_back(link(*connection, depth));
    for (const auto& program : server_.programs().list())
      if (reserve_child(part, "program"))
        part.children.push_back(program_part(program, depth));
    for (const auto& session : server_.hosted().open())
      if (reserve_child(part, "hosted_session"))
        part.children.push_back(hosted_part(*session, depth));
    for (const auto& connection : server_.connections().open())
      if (auto waits = connection->waits.now(); !waits.empty() && reserve_child(part, "client"))
        part.children.push_back(client_part(*connection, waits, depth));
    for (const auto& running : server_.steps().running())
      if (reserve_child(part, "step"))
        part.children.push_back(step_part(running, depth));
    for (const auto& [name, states] : parts_.state->all())
      if (reserve_child(part, "container"))
        part.children.push_back(container_part(name, states, depth));
  }

  inspection device_part(const device& subject, int depth) {
    auto part = empty_part(task_.self_ / ref_part{"device", device_id(subject)});
    if (depth < 0)
      return part;
    auto memory = subject.statistics();
    part.add("description", subject.description());
    part.add("threads", to_int64(subject.threads()));
    part.add("bytes_in_use", to_int64(memory.in_use));
    part.add("bytes_peak", to_int64(memory.peak));
    part.add("bytes_cached", to_int64(memory.cached));
    part.add("bytes_swapped", to_int64(memory.swapped));
    part.add("bytes_limit", to_int64(subject.memory_limit()));
    part.add("allocations", to_int64(memory.allocations));
    return part;
  }

  inspection link(const peer_connection& subject, int depth) {
    auto part = empty_part(task_.self_ / ref_part{"link", link_id(subject.peer)});
    if (depth < 0)
      return part;
    part.add("peer", subject.peer);
    part.add("incarnation", std::to_string(subject.incarnation));
    part.add("last_heard_seconds", subject.seconds_since_heard());
    part.add("bytes_received", to_int64(subject.received.load(std::memory_order_relaxed)));
    part.add("bytes_sent", to_int64(subject.sent.load(std::memory_order_relaxed)));
    part.add("steps", to_int64(subject.running.load(std::memory_order_relaxed)));
    part.add("registering", to_int64(subject.registering.load(std::memory_order_relaxed)));
    part.add("same_host_reads", subject.is_memory_readable.load(std::memory_order_relaxed));
    auto pending = link_stats_of(subject);
    part.add("bytes_queued", to_int64(pending.messages));
    part.add("bytes_announced", to_int64(pending.payloads));
    part.add("bytes_pending", to_int64(pending.pending));
    part.add("requests_unanswered", to_int64(pending.asked));
    return part;
  }

  inspection program_part(const program_store::program_entry& subject, int depth) {
    auto part = empty_part(task_.self_ / ref_part{"program", std::to_string(subject.handle)});
    if (depth < 0)
      return part;
    part.add("owner", subject.owner->peer);
    part.add("session", hex(subject.program->session()));
    part.add("linked", subject.linked);
    part.add("devices", to_int64(subject.program->programs().size()));
    part.add("regions", to_int64(subject.program->regions()));
    part.add("idle_instances", to_int64(subject.program->idle()));
    if (!subject.lost.ok())
      part.add("lost", subject.lost.message());
    return part;
  }

  // A hosted session has the id of its connection, which has no other session.
  result<inspection> hosted(const inspection_ref& ref, std::span<const ref_part> path, int depth) {
    for (const auto& session : server_.hosted().open())
      if (link_id(session->client) == path[0].id) {
        if (path.size() == 1)
          return hosted_part(*session, depth);
        for (auto& wait : hosted_part(*session, 1).children)
          if (wait.ref == to_string(ref))
            return std::move(wait);
      }
    return not_found(ref);
  }

  inspection hosted_part(const listed_session& subject, int depth) {
    auto ref = task_.self_ / ref_part{"hosted_session", link_id(subject.client)};
    auto part = empty_part(ref);
    if (depth < 0)
      return part;
    part.add("client", subject.client);
    part.add("session", hex(subject.session));
    part.add("age_seconds", seconds_between(subject.opened, std::chrono::steady_clock::now()));
    part.add("steps_ended", to_int64(subject.ended.load()));
    part.add("steps_failed", to_int64(subject.failed.load()));
    part.add("steps_running", to_int64(subject.running.load()));
    part.add("queued_steps", to_int64(subject.queued_steps()));
    part.add("requests_unanswered", to_int64(subject.requests.load()));
    part.add("programs", to_int64(subject.programs.load()));
    part.add("bytes", to_int64(subject.bytes.load()));
    auto now = steady_ns();
    auto since = subject.waiting_since(max_step_waits);
    for (size_t i = 0; i < since.size(); ++i) {
      if (!reserve_child(part, "wait"))
        continue;
      auto wait = empty_part(ref / ref_part{"wait", std::to_string(i)});
      if (depth > 0) {
        wait.add("for", std::string{"turn"});
        wait.add("node", concat("a step of ", subject.client));
        wait.add("target", std::string{"its turn among hosted steps"});
        wait.add("seconds", static_cast<double>(now - since[i]) * 1e-9);
      }
      part.children.push_back(std::move(wait));
    }
    return part;
  }

  // A client that has reported what its steps wait for before they reach their tasks. It has the id
  // of its connection.
  result<inspection> client(const inspection_ref& ref, std::span<const ref_part> path, int depth) {
    for (const auto& connection : server_.connections().open())
      if (auto waits = connection->waits.now();
          !waits.empty() && link_id(connection->peer) == path[0].id) {
        if (path.size() == 1)
          return client_part(*connection, waits, depth);
        for (auto& wait : client_part(*connection, waits, 1).children)
          if (wait.ref == to_string(ref))
            return std::move(wait);
      }
    return not_found(ref);
  }

  inspection client_part(const peer_connection& subject, const client_wait_list& waits, int depth) {
    auto ref = task_.self_ / ref_part{"client", link_id(subject.peer)};
    auto part = empty_part(ref);
    if (depth < 0)
      return part;
    part.add("client", subject.peer);
    for (size_t i = 0; i < waits.size(); ++i) {
      if (!reserve_child(part, "wait"))
        continue;
      auto wait = empty_part(ref / ref_part{"wait", std::to_string(i)});
      if (depth > 0) {
        wait.add("for", std::string{"task"});
        wait.add("target", waits[i].target);
        wait.add("node", waits[i].reason);
        wait.add("steps", to_int64(waits[i].steps));
        wait.add("seconds", waits[i].seconds);
      }
      part.children.push_back(std::move(wait));
    }
    return part;
  }

  result<inspection> step(const inspection_ref& ref, std::span<const ref_part> path, int depth) {
    for (const auto& running : server_.steps().running())
      if (step_text(running.id) == path[0].id) {
        if (path.size() == 1)
          return step_part(running, depth);
        for (auto& wait : step_part(running, 1).children)
          if (wait.ref == to_string(ref))
            return std::move(wait);
      }
    return not_found(ref);
  }

  inspection step_part(const step_table::running_step& subject, int depth) {
    auto ref = task_.self_ / ref_part{"step", step_text(subject.id)};
    auto part = empty_part(ref);
    if (depth < 0)
      return part;
    part.add("session", hex(subject.id.session));
    part.add("sequence", to_int64(subject.id.sequence));
    auto now = server_.now();
    if (subject.deadline != step_clock::time_point::max())
      part.add("seconds_left", seconds_between(now, subject.deadline));
    auto waits = waits_of_step(*subject.instance, subject.id.sequence, max_step_waits);
    for (size_t i = 0; i < waits.size(); ++i)
      if (reserve_child(part, "wait"))
        part.children.push_back(
            wait_part(ref / ref_part{"wait", std::to_string(i)}, waits[i], depth - 1));
    return part;
  }

  static inspection wait_part(const inspection_ref& ref, const step_wait& subject, int depth) {
    auto part = empty_part(ref);
    if (depth < 0)
      return part;
    part.add("for", std::string{to_string(subject.kind)});
    part.add("node", subject.node);
    if (!subject.target.empty())
      part.add("target", subject.target);
    if (!subject.state.empty())
      part.add("name", subject.state);
    if (!subject.detail.empty())
      part.add("detail", subject.detail);
    part.add("seconds", static_cast<double>(steady_ns() - subject.since_ns) * 1e-9);
    return part;
  }

  result<inspection> container(const inspection_ref& ref, std::span<const ref_part> path,
                               int depth) {
    for (const auto& [name, states] : parts_.state->all()) {
      if (name != path[0].id)
        continue;
      if (path.size() == 1)
        return container_part(name, states, depth);
      for (const auto& state : states)
        if (as_kind(state->kind()) == path[1].kind && state->name() == path[1].id)
          return state_part(name, *state, depth);
    }
    return not_found(ref);
  }

  inspection container_part(const std::string& name, const resources::states& states, int depth) {
    auto part = empty_part(task_.self_ / ref_part{"container", name});
    if (depth < 0)
      return part;
    part.add("entries", to_int64(states.size()));
    for (const auto& state : states)
      if (reserve_child(part, as_kind(state->kind())))
        part.children.push_back(state_part(name, *state, depth - 1));
    return part;
  }

  inspection state_part(const std::string& container_name, const named_state& subject, int depth) {
    auto part = empty_part(task_.self_ / ref_part{"container", container_name} /
                           ref_part{as_kind(subject.kind()), subject.name()});
    if (depth < 0)
      return part;
    auto info = subject.describe();
    part.add("holds", info.holds);
    part.add("content", info.content);
    part.add("bytes", to_int64(info.bytes));
    if (auto* waitable_resource = dynamic_cast<const waitable_state*>(&subject)) {
      auto numbers = waitable_resource->numbers();
      if (numbers.size >= 0)
        part.add("size", numbers.size);
      part.add("mean_size", numbers.usage.mean_size);
      auto add_side = [&](const char* name, const waiting_times& times, int64_t waiting) {
        part.add(concat(name, "_waiting"), waiting);
        part.add(concat(name, "_requests"), times.requests);
        part.add(concat(name, "_wait_seconds"), times.total_seconds);
      };
      add_side("puts", numbers.usage.puts, numbers.puts_waiting);
      add_side("takes", numbers.usage.takes, numbers.takes_waiting);
    }
    return part;
  }

  const task_inspector& task_;
  const task_inspector::parts& parts_;
  step_server& server_;
  const inspection_scope& scope_;
  size_t count_ = 1;
};

task_inspector::task_inspector(parts components)
    : parts_(std::move(components)), self_(inspection_ref::of(parts_.server->self())) {}

result<inspection> task_inspector::inspect(const inspection_ref& ref,
                                           const inspection_scope& scope) const {
  return tree{*this, scope}.find(ref);
}

} // namespace troupe
