#include "troupe/api/train/loop/live_tasks.hpp"
// Finds the live tasks of a cluster by barriers among them.

#include "troupe/api/generated/ops.hpp"
#include "troupe/api/graph_builder.hpp"
#include "troupe/runtime/device/device_name.hpp"

#include <algorithm>
#include <future>
#include <map>
#include <optional>
#include <set>
#include <thread>

namespace troupe {
namespace {

using location = std::source_location;
using tasks = std::vector<task_name>;

constexpr size_t max_concurrent_queries = 16; // of tasks
// In larger sets, each task receives messages only from the tasks that follow it.
constexpr size_t max_fully_connected = 32, max_senders = 8;
constexpr std::chrono::milliseconds poll_interval{20};

// A step in which each task receives a tensor from all others; in larger sets, from enough others
// that the tensors connect all tasks.
struct barrier_step {
  graph_builder g;
  edge epoch;
  std::vector<edge> received; // on each member: the sum of its inputs

  explicit barrier_step(const tasks& members) : epoch(g.placeholder(dtype::i64, {}, "epoch")) {
    std::vector<edge> signals;
    for (const auto& member : members) {
      auto scope = g.on(to_string(member) + "/cpu:0");
      signals.push_back(add(epoch, epoch));
    }
    auto count = members.size(), senders = count > max_fully_connected ? max_senders : count - 1;
    for (size_t i = 0; i < count; ++i) {
      auto scope = g.on(to_string(members[i]) + "/cpu:0");
      std::vector<edge> inputs{signals[i]};
      for (size_t k = 1; k <= senders; ++k)
        inputs.push_back(signals[(i + k) % count]);
      received.push_back(add_n(inputs));
    }
  }

  status pass(session& in, int64_t value, std::chrono::milliseconds timeout, location where) {
    try {
      in.run({{epoch, tensor::scalar(value)}}, received, {}, {.timeout = timeout}, where);
      return {};
    } catch (const error& cause) {
      return status{cause.kind(), cause.what()};
    }
  }
};

template <class... Parts>
[[noreturn]] void reject_living(location where, const Parts&... parts) {
  throw error{invalid("live_tasks (", to_string(where), ") ", parts...)};
}

bool is_liveness_error(const status& outcome) {
  return outcome.kind() == error_kind::unavailable || outcome.kind() == error_kind::aborted ||
         outcome.kind() == error_kind::deadline_exceeded || outcome.kind() == error_kind::not_found;
}

} // namespace

struct live_tasks::state {
  std::vector<std::string> devices;
  std::vector<task_name> device_tasks; // of each device
  tasks all_tasks;
  live_tasks_options options;
  std::map<task_name, std::unique_ptr<barrier_step>> single_barriers; // of one task each
  tasks barrier_tasks;
  std::unique_ptr<barrier_step> barrier; // of barrier_tasks
  int64_t epoch = 0;
  std::map<task_name, uint64_t> previous; // the last set that was agreed on, with incarnations
  std::map<task_name, status> failures;   // why a task is not in the set

  status pass(session& in, const tasks& members, location where) {
    if (members != barrier_tasks || !barrier) {
      barrier_tasks = members;
      barrier = std::make_unique<barrier_step>(members);
    }
    return barrier->pass(in, epoch, options.timeout, where);
  }

  // Returns the tasks that the cluster has. At first the session may not know the cluster yet, so
  // this waits.
  tasks known_tasks(session& in, location where) {
    auto until = std::chrono::steady_clock::now() + options.timeout;
    for (;;) {
      auto known = in.tasks(where);
      tasks present;
      for (const auto& task : all_tasks)
        if (std::ranges::find(known, to_string(task)) != known.end())
          present.push_back(task);
      if (present.size() >= std::max<size_t>(options.min_tasks, 1) ||
          std::chrono::steady_clock::now() >= until) {
        for (const auto& task : all_tasks)
          if (std::ranges::find(present, task) == present.end())
            failures[task] = failure(error_kind::not_found, "the cluster does not have it");
        return present;
      }
      std::this_thread::sleep_for(poll_interval);
    }
  }

  // Queries tasks concurrently, and returns those that answer.
  tasks answering(session& in, const tasks& candidates, location where) {
    tasks live;
    for (size_t begin = 0; begin < candidates.size(); begin += max_concurrent_queries) {
      auto end = std::min(candidates.size(), begin + max_concurrent_queries);
      std::vector<std::future<status>> outcomes;
      for (auto i = begin; i < end; ++i) {
        auto& single = single_barriers[candidates[i]];
        if (!single)
          single = std::make_unique<barrier_step>(tasks{candidates[i]});
        outcomes.push_back(std::async(std::launch::async, [&in, &query = *single, this, where] {
          auto outcome = query.pass(in, epoch, options.timeout, where);
          // The session reports a restarted task once, by an aborted step.
          return outcome.kind() == error_kind::aborted
                     ? query.pass(in, epoch, options.timeout, where)
                     : outcome;
        }));
      }
      for (auto i = begin; i < end; ++i) {
        auto outcome = outcomes[i - begin].get();
        if (outcome.ok())
          live.push_back(candidates[i]);
        else if (is_liveness_error(outcome))
          failures[candidates[i]] = std::move(outcome);
        else
          throw error{std::move(outcome)};
      }
    }
    return live;
  }

  // Returns a set of live tasks that reach each other. Each task in turn joins the set if it
  // reaches all of its members.
  tasks connected_tasks(session& in, const tasks& candidates, location where) {
    tasks members;
    for (const auto& candidate : candidates) {
      members.push_back(candidate);
      auto outcome = members.size() == 1 ? status{} : pass(in, members, where);
      if (outcome.ok())
        continue;
      if (!is_liveness_error(outcome))
        throw error{std::move(outcome)};
      failures[candidate] = std::move(outcome);
      members.pop_back();
    }
    return members;
  }

  tasks agree(session& in, location where) {
    failures.clear();
    auto living = answering(in, known_tasks(in, where), where);
    while (living.size() > 1) {
      auto outcome = pass(in, living, where);
      if (outcome.ok())
        return living;
      if (!is_liveness_error(outcome))
        throw error{std::move(outcome)};
      auto remaining = answering(in, living, where);
      if (remaining == living) {
        living = connected_tasks(in, living, where);
        if (living.size() < 2 || pass(in, living, where).ok())
          return living;
        remaining = answering(in, living, where);
      }
      if (remaining.size() == living.size())
        remaining.pop_back(); // ensures that the loop ends
      living = std::move(remaining);
    }
    return living;
  }
};

live_tasks::live_tasks(const std::vector<std::string>& devices, live_tasks_options options,
                       location where)
    : state_(std::make_unique<state>()) {
  if (devices.empty())
    reject_living(where, "needs at least one device");
  if (options.timeout.count() <= 0)
    reject_living(where, "needs a positive timeout, got ", options.timeout.count(), " ms");
  state_->options = options;
  add_devices(devices, where);
}

void live_tasks::add_devices(const std::vector<std::string>& devices, location where) {
  if (!state_)
    reject_living(where, "was moved from");
  auto& group = *state_;
  for (const auto& device : devices) {
    auto name = device_name::parse(device);
    if (!name || name->job.empty() || name->task < 0)
      reject_living(where,
                    "needs devices with a job and a task, such as /job:worker/task:0/cpu:0, ",
                    "got '", device, "'");
    group.devices.push_back(device);
    group.device_tasks.push_back(name->name_of_task());
    if (std::ranges::find(group.all_tasks, group.device_tasks.back()) == group.all_tasks.end())
      group.all_tasks.push_back(group.device_tasks.back());
  }
}

live_tasks::live_tasks(live_tasks&&) noexcept = default;
live_tasks& live_tasks::operator=(live_tasks&&) noexcept = default;
live_tasks::~live_tasks() = default;

live_set live_tasks::agree(session& in, location where) {
  if (!state_)
    reject_living(where, "was moved from");
  auto& group = *state_;
  auto now = std::chrono::duration_cast<std::chrono::microseconds>(
      std::chrono::system_clock::now().time_since_epoch());
  group.epoch = std::max<int64_t>(group.epoch + 1, now.count());
  auto living = group.agree(in, where);
  if (living.size() < std::max<size_t>(group.options.min_tasks, 1)) {
    std::string text;
    for (const auto& [task, outcome] : group.failures)
      text += concat("\n  ", task, ": ", outcome.message());
    throw error{failure(error_kind::unavailable, "live_tasks (", to_string(where),
                        "): ", living.size(), " of ", group.all_tasks.size(),
                        " tasks are alive, at least ", group.options.min_tasks,
                        " are needed (min_tasks)", text)};
  }
  std::map<task_name, uint64_t> incarnations;
  std::vector<std::string> names;
  for (const auto& task : living) {
    incarnations[task] = 0;
    names.push_back(to_string(task));
  }
  for (const auto& positions :
       in.random_state(names, where)) // only these tasks: others may be silent
    if (auto name = device_name::parse(positions.task);
        name && incarnations.contains(name->name_of_task()))
      incarnations[name->name_of_task()] = positions.incarnation;
  live_set agreed{.epoch = group.epoch};
  auto is_kept = [&](const task_name& task) {
    auto earlier = group.previous.find(task);
    return earlier != group.previous.end() && earlier->second == incarnations.at(task) &&
           earlier->second != 0;
  };
  for (auto kept : {true, false})
    for (size_t i = 0; i < group.devices.size(); ++i) {
      if (!incarnations.contains(group.device_tasks[i])) {
        if (!kept)
          agreed.missing.push_back(group.devices[i]);
      } else if (is_kept(group.device_tasks[i]) == kept) {
        agreed.devices.push_back(group.devices[i]);
        agreed.incarnations.push_back(incarnations.at(group.device_tasks[i]));
        agreed.kept_count += kept;
      }
    }
  agreed.changed = incarnations != group.previous;
  group.previous = std::move(incarnations);
  return agreed;
}

} // namespace troupe
