// A task's metrics (docs/operating.md lists them).
#include "troupe/actors/execution/responder.hpp"
#include "troupe/actors/execution/step_waits.hpp"
#include "troupe/actors/task/link_numbers.hpp"
#include "troupe/actors/task/process_numbers.hpp"
#include "troupe/actors/task/resources.hpp"
#include "troupe/actors/task/step_server.hpp"
#include "troupe/actors/task/task_inspector.hpp"
#include "troupe/runtime/insight/metrics_text.hpp"
#include "troupe/runtime/version.hpp"
#include "troupe/serialization/discovery/cluster_view.hpp"

#include <algorithm>
#include <map>

namespace troupe {
namespace {

using metric = metrics_text::type;

// Names of queues and containers are users': so many samples of a family at most.
constexpr size_t max_samples = 1000;
// Steps that are looked at for what they wait for.
constexpr size_t max_looked_at = 1000, most_waits_of_step = 256;

constexpr std::array error_kinds = {
    error_kind::ok,
    error_kind::cancelled,
    error_kind::invalid_argument,
    error_kind::deadline_exceeded,
    error_kind::not_found,
    error_kind::already_exists,
    error_kind::resource_exhausted,
    error_kind::failed_precondition,
    error_kind::aborted,
    error_kind::out_of_range,
    error_kind::unimplemented,
    error_kind::internal,
    error_kind::unavailable,
    error_kind::data_loss,
};

void write_steps(metrics_text& to, step_server& server) {
  const auto& counts = server.counts();
  to.family("troupe_steps_total", metric::counter, "Steps that have ended here, by how they ended");
  uint64_t all = 0;
  for (auto kind : error_kinds) {
    all += counts.ended_with(kind);
    to.sample(static_cast<double>(counts.ended_with(kind)), {{"outcome", to_string(kind)}});
  }
  to.family("troupe_steps_refused_total", metric::counter,
            "Steps that were not begun, by the reason");
  for (auto kind : error_kinds)
    if (kind != error_kind::ok)
      to.sample(static_cast<double>(counts.refused_with(kind)), {{"reason", to_string(kind)}});
  to.family("troupe_step_seconds", metric::histogram, "How long steps took here, waits included");
  uint64_t below = 0;
  for (size_t i = 0; i < step_counts::bounds.size(); ++i) {
    below += counts.in_class(i);
    to.sample("_bucket", static_cast<double>(below), {{"le", concat(step_counts::bounds[i])}});
  }
  below += counts.in_class(step_counts::bounds.size());
  to.sample("_bucket", static_cast<double>(below), {{"le", "+Inf"}});
  to.sample("_sum", counts.seconds());
  to.sample("_count", static_cast<double>(below));

  auto table = server.steps().sizes();
  to.single("troupe_steps_running", metric::gauge, "Steps that have begun here and not ended",
            static_cast<double>(table.running));
  to.single("troupe_steps_unsettled", metric::gauge,
            "Steps that have ended here and wait for the rest of theirs",
            static_cast<double>(server.unsettled()));
  to.single("troupe_early_steps", metric::gauge, "Steps that tensors wait for that have not come",
            static_cast<double>(table.early_steps));
  to.single("troupe_early_bytes", metric::gauge, "Bytes of those tensors",
            static_cast<double>(table.early_bytes));
  to.single("troupe_programs", metric::gauge, "Compiled programs",
            static_cast<double>(server.programs().size()));
}

void write_waits(metrics_text& to, step_server& server) {
  std::map<step_wait::on, std::pair<size_t, double>> waits; // how many, the longest
  size_t looked_at = 0;
  for (const auto& one : server.steps().running()) {
    if (++looked_at > max_looked_at)
      break;
    for (const auto& wait : waits_of_step(*one.in, one.id.sequence, most_waits_of_step)) {
      auto& [count, longest] = waits[wait.what];
      ++count;
      longest = std::max(longest, static_cast<double>(steady_ns() - wait.since_ns) * 1e-9);
    }
  }
  to.family("troupe_waits", metric::gauge, "What steps wait for now, and regions that run");
  for (const auto& [what, found] : waits)
    to.sample(static_cast<double>(found.first), {{"for", to_string(what)}});
  to.family("troupe_longest_wait_seconds", metric::gauge,
            "How long the longest of them has lasted");
  for (const auto& [what, found] : waits)
    to.sample(found.second, {{"for", to_string(what)}});
}

void write_links(metrics_text& to, const connection_list& of) {
  auto all = of.by_peer();
  to.family("troupe_connections", metric::gauge, "Connections with a peer; clients count together");
  for (const auto& [peer, one] : all)
    to.sample(static_cast<double>(one.connections), {{"peer", peer}});
  to.family("troupe_connections_opened_total", metric::counter, "Connections that there ever were");
  for (const auto& [peer, one] : all)
    to.sample(static_cast<double>(one.opened), {{"peer", peer}});
  std::map<std::string, link_look::numbers> waiting;
  std::map<std::string, double> silent;
  for (const auto& one : of.open()) {
    auto& longest = silent[connection_list::class_of(one->peer)];
    longest = std::max(longest, one->seconds_since_heard());
    auto more = numbers_of(*one);
    auto& sum = waiting[connection_list::class_of(one->peer)];
    sum.messages += more.messages;
    sum.payloads += more.payloads;
  }
  to.family("troupe_link_queued_bytes", metric::gauge, "Bytes that wait to be sent to a peer");
  for (const auto& [peer, one] : waiting)
    if (all.contains(peer))
      to.sample(static_cast<double>(one.messages + one.payloads), {{"peer", peer}});
  to.family("troupe_link_last_heard_seconds", metric::gauge,
            "How long ago a peer was last heard; of several connections, the most silent");
  for (const auto& [peer, seconds] : silent)
    if (all.contains(peer))
      to.sample(seconds, {{"peer", peer}});
  to.family("troupe_link_received_bytes_total", metric::counter, "Bytes that came from a peer");
  for (const auto& [peer, one] : all)
    to.sample(static_cast<double>(one.received), {{"peer", peer}});
  to.family("troupe_link_sent_bytes_total", metric::counter, "Bytes that went to a peer");
  for (const auto& [peer, one] : all)
    to.sample(static_cast<double>(one.sent), {{"peer", peer}});
}

// Of a cluster that is joined.
void write_members(metrics_text& to, const member_list& of, const task_name& self) {
  if (of.epoch() == list_epoch{})
    return;
  std::map<presence, size_t> count;
  for (const auto& [task, one] : of.members())
    ++count[one.state];
  to.family("troupe_members", metric::gauge,
            "Members of the cluster that was joined, as this task knows them");
  for (auto state : {presence::here, presence::unreachable, presence::left, presence::gone})
    to.sample(static_cast<double>(count[state]), {{"presence", to_string(state)}});
  to.single("troupe_member_list_changes", metric::gauge,
            "Changes of that list since its coordinator began",
            static_cast<double>(of.epoch().change));
  to.single("troupe_coordinator", metric::gauge, "1 where the task decides that list",
            of.coordinator() == self ? 1 : 0);
}

struct state_numbers {
  std::string container;
  std::string_view kind;
  std::string name;
  responder_numbers numbers;
};

// Sessions of clients, whose masters are in this task; clients count together.
void write_hosted(metrics_text& to, const hosted_session_list& of) {
  auto gauge = [&](const char* name, const char* help, uint64_t value) {
    to.single(name, metric::gauge, help, static_cast<double>(value));
  };
  size_t running = 0, in_line = 0, requests = 0, programs = 0;
  uint64_t bytes = 0;
  auto open = of.open();
  for (const auto& one : open) {
    running += one->running;
    in_line += one->in_line();
    requests += one->requests;
    programs += one->programs;
    bytes += one->bytes;
  }
  gauge("troupe_hosted_sessions", "Sessions that the task hosts for clients", open.size());
  gauge("troupe_hosted_sessions_limit", "Sessions that it may host at once", of.most);
  to.single("troupe_hosted_sessions_opened_total", metric::counter,
            "Hosted sessions that there ever were", static_cast<double>(of.opened()));
  to.single("troupe_hosted_sessions_refused_total", metric::counter,
            "Sessions that it did not take", static_cast<double>(of.refused));
  to.family("troupe_hosted_steps_total", metric::counter,
            "Steps of hosted sessions, by how they ended");
  for (auto kind : error_kinds)
    to.sample(static_cast<double>(of.steps.ended_with(kind)), {{"outcome", to_string(kind)}});
  to.family("troupe_hosted_steps_refused_total", metric::counter,
            "Steps of hosted sessions that were not begun, by the reason");
  for (auto kind : error_kinds)
    if (kind != error_kind::ok)
      to.sample(static_cast<double>(of.steps.refused_with(kind)), {{"reason", to_string(kind)}});
  gauge("troupe_hosted_steps_running", "Steps of hosted sessions that have been let in", running);
  gauge("troupe_hosted_steps_in_line", "Steps of hosted sessions that wait for their turn",
        in_line);
  gauge("troupe_hosted_requests", "What hosted sessions are asked and have not answered", requests);
  gauge("troupe_hosted_programs", "Kinds of steps that hosted sessions have prepared", programs);
  gauge("troupe_hosted_bytes", "Bytes of graphs and feeds that hosted sessions hold", bytes);
}

void write_state(metrics_text& to, const resources& of) {
  std::vector<state_numbers> asked;
  std::map<std::pair<std::string, std::string_view>, size_t> entries;
  uint64_t left_out = 0;
  for (const auto& [container, held] : of.all())
    for (const auto& one : held) {
      ++entries[{container, one->kind()}];
      auto* responder = dynamic_cast<const responder_state*>(one.get());
      if (responder && asked.size() < max_samples)
        asked.push_back({container, one->kind(), one->name(), responder->numbers()});
      else if (responder)
        ++left_out;
    }
  to.family("troupe_state_entries", metric::gauge, "Variables, queues and the like in containers");
  size_t written = 0;
  for (const auto& [key, count] : entries)
    if (++written <= max_samples)
      to.sample(static_cast<double>(count), {{"container", key.first}, {"kind", key.second}});
    else
      ++left_out;
  auto each = [&](auto write) {
    for (const auto& one : asked)
      write(one);
  };
  to.family("troupe_queue_size", metric::gauge, "Elements of queues and the like");
  each([&](const state_numbers& one) {
    if (one.numbers.size >= 0)
      to.sample(static_cast<double>(one.numbers.size),
                {{"container", one.container}, {"kind", one.kind}, {"name", one.name}});
  });
  auto both_sides = [&](auto number_of) {
    each([&](const state_numbers& one) {
      for (bool puts : {true, false})
        to.sample(number_of(one.numbers, puts), {{"container", one.container},
                                                 {"kind", one.kind},
                                                 {"name", one.name},
                                                 {"side", puts ? "put" : "take"}});
    });
  };
  to.family("troupe_queue_waiting", metric::gauge, "Requests that wait there");
  both_sides([](const responder_numbers& of_one, bool puts) {
    return static_cast<double>(puts ? of_one.puts_waiting : of_one.takes_waiting);
  });
  to.family("troupe_queue_requests_total", metric::counter, "Requests that have come");
  both_sides([](const responder_numbers& of_one, bool puts) {
    return static_cast<double>((puts ? of_one.usage.puts : of_one.usage.takes).requests);
  });
  to.family("troupe_queue_wait_seconds_total", metric::counter, "How long requests have waited");
  both_sides([](const responder_numbers& of_one, bool puts) {
    return (puts ? of_one.usage.puts : of_one.usage.takes).total_seconds;
  });
  to.single("troupe_samples_left_out", metric::gauge, "Samples of state beyond what is written",
            static_cast<double>(left_out));
}

void write_devices(metrics_text& to, const std::vector<std::shared_ptr<device>>& all) {
  auto name = [](const device& of) { return concat(to_string(of.kind()), ':', of.ordinal()); };
  to.family("troupe_device_memory_bytes", metric::gauge, "Memory of devices");
  for (const auto& one : all) {
    auto memory = one->statistics();
    auto sample = [&](const char* state, size_t bytes) {
      to.sample(static_cast<double>(bytes), {{"device", name(*one)}, {"state", state}});
    };
    sample("in_use", memory.in_use);
    sample("peak", memory.peak);
    sample("cached", memory.cached);
    sample("swapped", memory.swapped);
    if (one->memory_limit() > 0)
      sample("limit", one->memory_limit());
  }
  to.family("troupe_device_allocations_total", metric::counter, "Allocations of devices");
  for (const auto& one : all)
    to.sample(static_cast<double>(one->statistics().allocations), {{"device", name(*one)}});
}

// As other exporters name them.
void write_process(metrics_text& to, double began_at) {
  auto process = process_numbers::now();
  auto gauge = [&](const char* name, const char* help, double value) {
    to.single(name, metric::gauge, help, value);
  };
  gauge("process_resident_memory_bytes", "Resident memory",
        static_cast<double>(process.resident_bytes));
  gauge("process_virtual_memory_bytes", "Virtual memory",
        static_cast<double>(process.virtual_bytes));
  to.single("process_cpu_seconds_total", metric::counter, "Processor time", process.cpu_seconds);
  gauge("process_threads", "Threads", static_cast<double>(process.threads));
  gauge("process_open_fds", "Open descriptors", static_cast<double>(process.descriptors));
  gauge("process_max_fds", "Descriptors that may be open",
        static_cast<double>(process.max_descriptors));
  gauge("process_start_time_seconds", "When the task began, in seconds of the epoch", began_at);
}

} // namespace

std::string task_inspector::metrics() const {
  metrics_text to;
  to.family("troupe_task_info", metric::gauge, "1; what the task is");
  to.sample(1, {{"task", to_string(of_.server->self())},
                {"incarnation", std::to_string(of_.server->incarnation())},
                {"version", library_version}});
  to.single("troupe_draining", metric::gauge, "1 where the task takes nothing new",
            of_.server->draining() ? 1 : 0);
  to.single("troupe_unfilled", metric::gauge, "1 where the task waits to be filled",
            of_.server->filling().closed() ? 1 : 0);
  auto now = std::chrono::steady_clock::now();
  to.single("troupe_uptime_seconds", metric::gauge, "Since the task began",
            std::chrono::duration<double>(now - began_).count());
  write_steps(to, *of_.server);
  write_waits(to, *of_.server);
  write_links(to, of_.server->connections());
  write_members(to, *of_.cluster->members(), of_.server->self());
  write_hosted(to, of_.server->hosted());
  write_state(to, *of_.state);
  write_devices(to, of_.devices);
  write_process(to, std::chrono::duration<double>(began_at_.time_since_epoch()).count());
  return to.take();
}

} // namespace troupe
