#include "troupe/api/train/loop/living_tasks.hpp"

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

constexpr size_t most_at_once = 16, most_with_all = 32, neighbours = 8;
constexpr std::chrono::milliseconds look_interval{20};

// A step in which each task hears from all others, or from so many that all are connected.
struct barrier_step {
  graph_builder g;
  edge epoch;
  std::vector<edge> heard;

  explicit barrier_step(const tasks& all) : epoch(g.placeholder(dtype::i64, {}, "epoch")) {
    std::vector<edge> says;
    for (const auto& one : all) {
      auto there = g.on(to_string(one) + "/cpu:0");
      says.push_back(add(epoch, epoch));
    }
    auto count = all.size(), from = count > most_with_all ? neighbours : count - 1;
    for (size_t i = 0; i < count; ++i) {
      auto there = g.on(to_string(all[i]) + "/cpu:0");
      std::vector<edge> said{says[i]};
      for (size_t k = 1; k <= from; ++k)
        said.push_back(says[(i + k) % count]);
      heard.push_back(add_n(said));
    }
  }

  status pass(session& in, int64_t value, std::chrono::milliseconds patience, location where) {
    try {
      in.run({{epoch, tensor::scalar(value)}}, heard, {}, {.timeout = patience}, where);
      return {};
    } catch (const error& e) {
      return status{e.kind(), e.what()};
    }
  }
};

template <class... Why>
[[noreturn]] void reject_living(location where, const Why&... why) {
  throw error{invalid("living_tasks (", to_string(where), ") ", why...)};
}

bool is_about_life(const status& what) {
  return what.kind() == error_kind::unavailable || what.kind() == error_kind::aborted ||
         what.kind() == error_kind::deadline_exceeded || what.kind() == error_kind::not_found;
}

} // namespace

struct living_tasks::state {
  std::vector<std::string> devices;
  std::vector<task_name> of; // of each device
  tasks all;
  living_tasks_options options;
  std::map<task_name, std::unique_ptr<barrier_step>> alone;
  tasks formed;
  std::unique_ptr<barrier_step> together; // of those that are `formed`
  int64_t epoch = 0;
  std::map<task_name, uint64_t> before; // the set that was agreed on last, with incarnations
  std::map<task_name, status> why;      // a task is not in it

  status pass(session& in, const tasks& which, location where) {
    if (which != formed || !together) {
      formed = which;
      together = std::make_unique<barrier_step>(which);
    }
    return together->pass(in, epoch, options.patience, where);
  }

  // Those that the cluster has: nothing is to be heard of others. At first it may not be known yet.
  tasks there(session& in, location where) {
    auto until = std::chrono::steady_clock::now() + options.patience;
    for (;;) {
      auto known = in.tasks(where);
      tasks found;
      for (const auto& one : all)
        if (std::ranges::find(known, to_string(one)) != known.end())
          found.push_back(one);
      if (found.size() >= std::max<size_t>(options.at_least, 1) ||
          std::chrono::steady_clock::now() >= until) {
        for (const auto& one : all)
          if (std::ranges::find(found, one) == found.end())
            why[one] = failure(error_kind::not_found, "the cluster does not have it");
        return found;
      }
      std::this_thread::sleep_for(look_interval);
    }
  }

  // Those that answer, all asked at once.
  tasks answering(session& in, const tasks& which, location where) {
    tasks found;
    for (size_t begin = 0; begin < which.size(); begin += most_at_once) {
      auto end = std::min(which.size(), begin + most_at_once);
      std::vector<std::future<status>> asked;
      for (auto i = begin; i < end; ++i) {
        auto& one = alone[which[i]];
        if (!one)
          one = std::make_unique<barrier_step>(tasks{which[i]});
        asked.push_back(std::async(std::launch::async, [&in, &one = *one, this, where] {
          auto outcome = one.pass(in, epoch, options.patience, where);
          // The session notices that a task has been restarted, and says so once.
          return outcome.kind() == error_kind::aborted
                     ? one.pass(in, epoch, options.patience, where)
                     : outcome;
        }));
      }
      for (auto i = begin; i < end; ++i) {
        auto outcome = asked[i - begin].get();
        if (outcome.ok())
          found.push_back(which[i]);
        else if (is_about_life(outcome))
          why[which[i]] = std::move(outcome);
        else
          throw error{std::move(outcome)};
      }
    }
    return found;
  }

  // All of them live. One after the other joins those that reach each other already.
  tasks reaching_each_other(session& in, const tasks& which, location where) {
    tasks made;
    for (const auto& one : which) {
      made.push_back(one);
      auto outcome = made.size() == 1 ? status{} : pass(in, made, where);
      if (outcome.ok())
        continue;
      if (!is_about_life(outcome))
        throw error{std::move(outcome)};
      why[one] = std::move(outcome);
      made.pop_back();
    }
    return made;
  }

  tasks agree(session& in, location where) {
    why.clear();
    auto living = answering(in, there(in, where), where);
    while (living.size() > 1) {
      auto outcome = pass(in, living, where);
      if (outcome.ok())
        return living;
      if (!is_about_life(outcome))
        throw error{std::move(outcome)};
      auto still = answering(in, living, where);
      if (still == living) {
        living = reaching_each_other(in, living, where);
        if (living.size() < 2 || pass(in, living, where).ok())
          return living;
        still = answering(in, living, where);
      }
      if (still.size() == living.size())
        still.pop_back(); // or it might never end
      living = std::move(still);
    }
    return living;
  }
};

living_tasks::living_tasks(const std::vector<std::string>& devices, living_tasks_options options,
                           location where)
    : state_(std::make_unique<state>()) {
  if (devices.empty())
    reject_living(where, "needs at least one device");
  if (options.patience.count() <= 0)
    reject_living(where, "needs some patience, got ", options.patience.count(), " ms");
  state_->options = options;
  also(devices, where);
}

void living_tasks::also(const std::vector<std::string>& devices, location where) {
  if (!state_)
    reject_living(where, "it was moved away");
  auto& mine = *state_;
  for (const auto& one : devices) {
    auto name = device_name::parse(one);
    if (!name || name->job.empty() || name->task < 0)
      reject_living(where,
                    "needs devices with a job and a task, such as /job:worker/task:0/cpu:0, ",
                    "got '", one, "'");
    mine.devices.push_back(one);
    mine.of.push_back(name->on_task());
    if (std::ranges::find(mine.all, mine.of.back()) == mine.all.end())
      mine.all.push_back(mine.of.back());
  }
}

living_tasks::living_tasks(living_tasks&&) noexcept = default;
living_tasks& living_tasks::operator=(living_tasks&&) noexcept = default;
living_tasks::~living_tasks() = default;

live_set living_tasks::agree(session& in, location where) {
  if (!state_)
    reject_living(where, "it was moved away");
  auto& mine = *state_;
  auto now = std::chrono::duration_cast<std::chrono::microseconds>(
      std::chrono::system_clock::now().time_since_epoch());
  mine.epoch = std::max<int64_t>(mine.epoch + 1, now.count());
  auto living = mine.agree(in, where);
  if (living.size() < std::max<size_t>(mine.options.at_least, 1)) {
    std::string text;
    for (const auto& [task, why] : mine.why)
      text += concat("\n  ", task, ": ", why.message());
    throw error{failure(error_kind::unavailable, "living_tasks (", to_string(where),
                        "): ", living.size(), " of ", mine.all.size(), " tasks live, ",
                        mine.options.at_least, " are needed", text)};
  }
  std::map<task_name, uint64_t> found;
  std::vector<std::string> names;
  for (const auto& one : living) {
    found[one] = 0;
    names.push_back(to_string(one));
  }
  for (const auto& one : in.positions(names, where)) // and of none that is silent
    if (auto name = device_name::parse(one.task); name && found.contains(name->on_task()))
      found[name->on_task()] = one.incarnation;
  live_set made{.epoch = mine.epoch};
  auto is_kept = [&](const task_name& task) {
    auto it = mine.before.find(task);
    return it != mine.before.end() && it->second == found.at(task) && it->second != 0;
  };
  for (auto kept : {true, false})
    for (size_t i = 0; i < mine.devices.size(); ++i) {
      if (!found.contains(mine.of[i])) {
        if (!kept)
          made.missing.push_back(mine.devices[i]);
      } else if (is_kept(mine.of[i]) == kept) {
        made.devices.push_back(mine.devices[i]);
        made.incarnations.push_back(found.at(mine.of[i]));
        made.kept += kept;
      }
    }
  made.changed = found != mine.before;
  mine.before = std::move(found);
  return made;
}

} // namespace troupe
