// The metrics of a task (docs/operating.md lists them).
#include "troupe/actors/execution/step_waits.hpp"
#include "troupe/actors/execution/waitable_state.hpp"
#include "troupe/actors/task/link_stats.hpp"
#include "troupe/actors/task/process_stats.hpp"
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

// Users choose the names of queues and containers: the number of samples of a family is limited.
constexpr size_t max_samples = 1000;
// The limits for steps, and for the waits of a step, that the metrics of waits count.
constexpr size_t max_counted_steps = 1000, max_waits_of_step = 256;

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

void write_steps(metrics_text& text, step_server& server) {
  const auto& counts = server.counts();
  text.family("troupe_steps_total", metric::counter,
              "Steps that have ended here, by how they ended");
  uint64_t total = 0;
  for (auto kind : error_kinds) {
    total += counts.ended_with(kind);
    text.sample(static_cast<double>(counts.ended_with(kind)), {{"outcome", to_string(kind)}});
  }
  text.family("troupe_steps_refused_total", metric::counter,
              "Steps that were not begun, by the reason");
  for (auto kind : error_kinds)
    if (kind != error_kind::ok)
      text.sample(static_cast<double>(counts.refused_with(kind)), {{"reason", to_string(kind)}});
  text.family("troupe_step_seconds", metric::histogram, "How long steps took here, waits included");
  uint64_t below = 0;
  for (size_t i = 0; i < step_counts::bounds.size(); ++i) {
    below += counts.in_bucket(i);
    text.sample("_bucket", static_cast<double>(below), {{"le", concat(step_counts::bounds[i])}});
  }
  below += counts.in_bucket(step_counts::bounds.size());
  text.sample("_bucket", static_cast<double>(below), {{"le", "+Inf"}});
  text.sample("_sum", counts.total_seconds());
  text.sample("_count", static_cast<double>(below));

  auto table = server.steps().sizes();
  text.single("troupe_steps_running", metric::gauge, "Steps that have begun here and not ended",
              static_cast<double>(table.running));
  text.single("troupe_steps_unsettled", metric::gauge,
              "Steps that have ended here and wait for their parts on other tasks",
              static_cast<double>(server.unsettled()));
  text.single("troupe_early_steps", metric::gauge,
              "Steps that have not begun and have early tensors",
              static_cast<double>(table.early_steps));
  text.single("troupe_early_bytes", metric::gauge, "Bytes of the early tensors of such steps",
              static_cast<double>(table.early_bytes));
  text.single("troupe_programs", metric::gauge, "Compiled programs",
              static_cast<double>(server.programs().size()));
}

void write_waits(metrics_text& text, step_server& server) {
  std::map<step_wait::wait_kind, std::pair<size_t, double>> waits; // their number, the longest
  size_t step_count = 0;
  for (const auto& step : server.steps().running()) {
    if (++step_count > max_counted_steps)
      break;
    for (const auto& wait : waits_of_step(*step.instance, step.id.sequence, max_waits_of_step)) {
      auto& [count, longest] = waits[wait.kind];
      ++count;
      longest = std::max(longest, static_cast<double>(steady_ns() - wait.since_ns) * 1e-9);
    }
  }
  text.family("troupe_waits", metric::gauge, "Current waits of steps, and running regions");
  for (const auto& [kind, stats] : waits)
    text.sample(static_cast<double>(stats.first), {{"for", to_string(kind)}});
  text.family("troupe_longest_wait_seconds", metric::gauge, "Duration of the longest current wait");
  for (const auto& [kind, stats] : waits)
    text.sample(stats.second, {{"for", to_string(kind)}});
}

void write_links(metrics_text& text, const connection_list& connections) {
  auto totals = connections.by_peer();
  text.family("troupe_connections", metric::gauge,
              "Connections with a peer; clients count together");
  for (const auto& [peer, total] : totals)
    text.sample(static_cast<double>(total.connections), {{"peer", peer}});
  text.family("troupe_connections_opened_total", metric::counter, "Connections that were opened");
  for (const auto& [peer, total] : totals)
    text.sample(static_cast<double>(total.opened), {{"peer", peer}});
  std::map<std::string, link_stats_query::stats> waiting;
  std::map<std::string, double> silent;
  for (const auto& connection : connections.open()) {
    auto& longest = silent[connection_list::class_of(connection->peer)];
    longest = std::max(longest, connection->seconds_since_heard());
    auto numbers = link_stats_of(*connection);
    auto& sum = waiting[connection_list::class_of(connection->peer)];
    sum.messages += numbers.messages;
    sum.payloads += numbers.payloads;
  }
  text.family("troupe_link_queued_bytes", metric::gauge, "Bytes that wait to be sent to a peer");
  for (const auto& [peer, numbers] : waiting)
    if (totals.contains(peer))
      text.sample(static_cast<double>(numbers.messages + numbers.payloads), {{"peer", peer}});
  text.family("troupe_link_last_heard_seconds", metric::gauge,
              "Time since a peer was last heard; of several connections, the longest");
  for (const auto& [peer, seconds] : silent)
    if (totals.contains(peer))
      text.sample(seconds, {{"peer", peer}});
  text.family("troupe_link_received_bytes_total", metric::counter, "Bytes that came from a peer");
  for (const auto& [peer, total] : totals)
    text.sample(static_cast<double>(total.received), {{"peer", peer}});
  text.family("troupe_link_sent_bytes_total", metric::counter, "Bytes that went to a peer");
  for (const auto& [peer, total] : totals)
    text.sample(static_cast<double>(total.sent), {{"peer", peer}});
}

// Writes the metrics of a cluster that the task has joined.
void write_members(metrics_text& text, const member_list& members, const task_name& self) {
  if (members.epoch() == list_epoch{})
    return;
  std::map<presence, size_t> count;
  for (const auto& [task, entry] : members.members())
    ++count[entry.state];
  text.family("troupe_members", metric::gauge,
              "Members of the cluster that was joined, as this task knows them");
  for (auto state : {presence::here, presence::unreachable, presence::left, presence::gone})
    text.sample(static_cast<double>(count[state]), {{"presence", to_string(state)}});
  text.single("troupe_member_list_changes", metric::gauge,
              "Changes of the list of members since its coordinator began",
              static_cast<double>(members.epoch().change));
  text.single("troupe_coordinator", metric::gauge, "1 if the task is the cluster coordinator",
              members.coordinator() == self ? 1 : 0);
}

struct state_numbers {
  std::string container;
  std::string_view kind;
  std::string name;
  waitable_stats numbers;
};

// Writes the metrics of sessions of clients whose masters are in this task, summed over clients.
void write_hosted(metrics_text& text, const hosted_session_list& sessions) {
  auto gauge = [&](const char* name, const char* help, uint64_t value) {
    text.single(name, metric::gauge, help, static_cast<double>(value));
  };
  size_t running = 0, queued_steps = 0, requests = 0, programs = 0;
  uint64_t bytes = 0;
  auto open = sessions.open();
  for (const auto& session : open) {
    running += session->running;
    queued_steps += session->queued_steps();
    requests += session->requests;
    programs += session->programs;
    bytes += session->bytes;
  }
  gauge("troupe_hosted_sessions", "Sessions that the task hosts for clients", open.size());
  gauge("troupe_hosted_sessions_limit", "The number of sessions that the task may host at once",
        sessions.limit);
  text.single("troupe_hosted_sessions_opened_total", metric::counter,
              "Hosted sessions that were opened", static_cast<double>(sessions.opened()));
  text.single("troupe_hosted_sessions_refused_total", metric::counter,
              "Hosted sessions that were refused", static_cast<double>(sessions.refused));
  text.family("troupe_hosted_steps_total", metric::counter,
              "Steps of hosted sessions, by how they ended");
  for (auto kind : error_kinds)
    text.sample(static_cast<double>(sessions.steps.ended_with(kind)),
                {{"outcome", to_string(kind)}});
  text.family("troupe_hosted_steps_refused_total", metric::counter,
              "Steps of hosted sessions that were not begun, by the reason");
  for (auto kind : error_kinds)
    if (kind != error_kind::ok)
      text.sample(static_cast<double>(sessions.steps.refused_with(kind)),
                  {{"reason", to_string(kind)}});
  gauge("troupe_hosted_steps_running", "Steps of hosted sessions that were admitted", running);
  gauge("troupe_hosted_steps_queued", "Queued steps of hosted sessions", queued_steps);
  gauge("troupe_hosted_requests", "Requests to hosted sessions that are not answered", requests);
  gauge("troupe_hosted_programs", "Steps that hosted sessions have prepared", programs);
  gauge("troupe_hosted_bytes", "Bytes of graphs and feeds that hosted sessions hold", bytes);
}

void write_state(metrics_text& text, const resources& state) {
  std::vector<state_numbers> waitable_resources;
  std::map<std::pair<std::string, std::string_view>, size_t> entries;
  uint64_t left_out = 0;
  for (const auto& [container, states] : state.all())
    for (const auto& entry : states) {
      ++entries[{container, entry->kind()}];
      auto* waitable_resource = dynamic_cast<const waitable_state*>(entry.get());
      if (waitable_resource && waitable_resources.size() < max_samples)
        waitable_resources.push_back(
            {container, entry->kind(), entry->name(), waitable_resource->numbers()});
      else if (waitable_resource)
        ++left_out;
    }
  text.family("troupe_state_entries", metric::gauge,
              "Variables, queues and other state in containers");
  size_t written = 0;
  for (const auto& [key, count] : entries)
    if (++written <= max_samples)
      text.sample(static_cast<double>(count), {{"container", key.first}, {"kind", key.second}});
    else
      ++left_out;
  auto for_each_waitable_resource = [&](auto write) {
    for (const auto& entry : waitable_resources)
      write(entry);
  };
  text.family("troupe_queue_size", metric::gauge,
              "Elements of queues and other waitable resources");
  for_each_waitable_resource([&](const state_numbers& entry) {
    if (entry.numbers.size >= 0)
      text.sample(static_cast<double>(entry.numbers.size),
                  {{"container", entry.container}, {"kind", entry.kind}, {"name", entry.name}});
  });
  auto write_both_sides = [&](auto number_of) {
    for_each_waitable_resource([&](const state_numbers& entry) {
      for (bool puts : {true, false})
        text.sample(number_of(entry.numbers, puts), {{"container", entry.container},
                                                     {"kind", entry.kind},
                                                     {"name", entry.name},
                                                     {"side", puts ? "put" : "take"}});
    });
  };
  text.family("troupe_queue_waiting", metric::gauge,
              "Requests that wait for queues and other waitable resources");
  write_both_sides([](const waitable_stats& numbers, bool puts) {
    return static_cast<double>(puts ? numbers.puts_waiting : numbers.takes_waiting);
  });
  text.family("troupe_queue_requests_total", metric::counter,
              "Requests to queues and other waitable resources");
  write_both_sides([](const waitable_stats& numbers, bool puts) {
    return static_cast<double>((puts ? numbers.usage.puts : numbers.usage.takes).requests);
  });
  text.family("troupe_queue_wait_seconds_total", metric::counter,
              "Time that requests to queues and other waitable resources have waited");
  write_both_sides([](const waitable_stats& numbers, bool puts) {
    return (puts ? numbers.usage.puts : numbers.usage.takes).total_seconds;
  });
  text.single("troupe_samples_left_out", metric::gauge, "Samples of state that were left out",
              static_cast<double>(left_out));
}

void write_devices(metrics_text& text, const std::vector<std::shared_ptr<device>>& devices) {
  auto name = [](const device& named_device) {
    return concat(to_string(named_device.kind()), ':', named_device.ordinal());
  };
  text.family("troupe_device_memory_bytes", metric::gauge, "Memory of devices");
  for (const auto& device_of_task : devices) {
    auto memory = device_of_task->statistics();
    auto sample = [&](const char* state, size_t bytes) {
      text.sample(static_cast<double>(bytes),
                  {{"device", name(*device_of_task)}, {"state", state}});
    };
    sample("in_use", memory.in_use);
    sample("peak", memory.peak);
    sample("cached", memory.cached);
    sample("swapped", memory.swapped);
    if (device_of_task->memory_limit() > 0)
      sample("limit", device_of_task->memory_limit());
  }
  text.family("troupe_device_allocations_total", metric::counter, "Allocations of devices");
  for (const auto& device_of_task : devices)
    text.sample(static_cast<double>(device_of_task->statistics().allocations),
                {{"device", name(*device_of_task)}});
}

// Writes the metrics of the process, with the names that other exporters use.
void write_process(metrics_text& text, double began_at) {
  auto process = process_stats::now();
  auto gauge = [&](const char* name, const char* help, double value) {
    text.single(name, metric::gauge, help, value);
  };
  gauge("process_resident_memory_bytes", "Resident memory",
        static_cast<double>(process.resident_bytes));
  gauge("process_virtual_memory_bytes", "Virtual memory",
        static_cast<double>(process.virtual_bytes));
  text.single("process_cpu_seconds_total", metric::counter, "Processor time", process.cpu_seconds);
  gauge("process_threads", "Threads", static_cast<double>(process.threads));
  gauge("process_open_fds", "Open descriptors", static_cast<double>(process.descriptors));
  gauge("process_max_fds", "Descriptors that may be open",
        static_cast<double>(process.max_descriptors));
  gauge("process_start_time_seconds", "Start time of the task, in seconds since the epoch",
        began_at);
}

} // namespace

std::string task_inspector::metrics() const {
  metrics_text text;
  text.family("troupe_task_info", metric::gauge, "1; the labels identify the task");
  text.sample(1, {{"task", to_string(parts_.server->self())},
                  {"incarnation", std::to_string(parts_.server->incarnation())},
                  {"version", library_version}});
  text.single("troupe_draining", metric::gauge, "1 if the task refuses new requests",
              parts_.server->draining() ? 1 : 0);
  text.single("troupe_uninitialized", metric::gauge, "1 if the task waits to be initialized",
              parts_.server->initialization().closed() ? 1 : 0);
  auto now = std::chrono::steady_clock::now();
  text.single("troupe_uptime_seconds", metric::gauge, "Time since the task began",
              std::chrono::duration<double>(now - began_).count());
  write_steps(text, *parts_.server);
  write_waits(text, *parts_.server);
  write_links(text, parts_.server->connections());
  write_members(text, *parts_.cluster->members(), parts_.server->self());
  write_hosted(text, parts_.server->hosted());
  write_state(text, *parts_.state);
  write_devices(text, parts_.devices);
  write_process(text, std::chrono::duration<double>(began_at_.time_since_epoch()).count());
  return text.take();
}

} // namespace troupe
