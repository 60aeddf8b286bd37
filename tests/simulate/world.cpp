#include "tests/simulate/world.hpp"

#include "troupe/actors/base/random_id.hpp"

#include <algorithm>

namespace troupe::simulate {

using namespace std::chrono_literals;

namespace {

// After the faults, all losses are noticed within two timeouts; then everything works.
constexpr duration settle_patience = 15s;
// Steps end at their deadlines, and the final steps of a client have a few attempts.
constexpr duration stop_bound = 40s, final_bound = 120s;
// A task without clients releases everything. For a minute it remembers the steps that must not
// run.
constexpr duration idle_bound = 65s;

} // namespace

layout layout_of(const options& chosen) {
  return {static_cast<int>(chosen.workers), static_cast<int>(chosen.servers),
          static_cast<int>(chosen.clients)};
}

world::world(const options& chosen, bool tracing, canary planted)
    : core_(chosen, tracing), layout_(layout_of(chosen)), order_(chosen.seed, "order"),
      chance_(chosen.seed, "faults"), probes_(core_), ledger_(core_), network_(core_) {
  ledger::current = &ledger_;
  set_random_id_source([ids = dice{chosen.seed, "ids"}]() mutable { return ids.roll() | 1; });
  for (int i = 0; i < layout_.workers; ++i)
    cluster_.jobs["worker"].push_back(concat("worker", i, ":1"));
  for (int i = 0; i < layout_.servers; ++i)
    cluster_.jobs["ps"].push_back(concat("ps", i, ":1"));
  for (int i = 0; i < layout_.workers + layout_.servers; ++i) {
    auto is_worker = i < layout_.workers;
    task_name name{is_worker ? "worker" : "ps", is_worker ? i : i - layout_.workers};
    tasks_.push_back(std::make_unique<task_host>(core_, network_, ledger_, cluster_, name,
                                                 static_cast<size_t>(i)));
    if (planted == canary::deaf_listener)
      tasks_.back()->looks_for_silence = false;
  }
  for (int i = 0; i < layout_.clients; ++i) {
    clients_.push_back(
        std::make_unique<client_host>(core_, network_, ledger_, cluster_, layout_, i, tasks_));
    clients_.back()->repeats_updates = planted == canary::repeated_updates;
  }
}

world::~world() {
  ledger::current = nullptr;
  set_random_id_source({});
}

outcome world::run() {
  core_.tell("simulation", "options", to_string(core_.settings));
  auto start = core_.now;
  begin();
  faults();
  script();
  watch();
  run_until(core_.now + std::chrono::seconds{core_.settings.fault_seconds});
  heal();
  run_until(core_.now + 2 * std::chrono::milliseconds{core_.settings.peer_timeout_ms} +
            settle_patience);
  finish_clients();
  close_all();
  outcome result_of_run;
  result_of_run.violation = core_.violation().value_or("");
  result_of_run.virtual_seconds = std::chrono::duration<double>(core_.now - start).count();
  for (const auto& client : clients_) {
    result_of_run.succeeded += client->succeeded();
    result_of_run.failed += client->failed();
  }
  result_of_run.faults = core_.faults();
  result_of_run.messages = messages_;
  core_.tell("simulation", "end", result_of_run.succeeded, " steps succeeded, ",
             result_of_run.failed, " failed, ", result_of_run.messages, " messages");
  result_of_run.lines = core_.lines();
  return result_of_run;
}

void world::begin() {
  for (size_t i = 0; i < tasks_.size(); ++i) {
    auto& task_at_index = *tasks_[i];
    if (chance_.permille(800) || !core_.settings.script.empty()) {
      task_at_index.start();
      continue;
    }
    auto later = chance_.between(duration{0}, 3s);
    core_.begin_fault({fault_kind::crash, static_cast<int>(i), -1, core_.now, core_.now + later});
    core_.after(later, [&task_at_index] {
      if (!task_at_index.runs())
        task_at_index.start();
    });
  }
  for (auto& client : clients_)
    core_.after(chance_.between(duration{0}, 100ms), [&client = *client] { client.open(); });
}

// -- faults --------------------------------------------------------------------------------------

void world::every(int64_t per_minute, std::function<void()> act) {
  if (per_minute == 0)
    return;
  core_.after(chance_.between(duration{0}, duration{2min} / per_minute), [=, this] {
    if (!faulty_)
      return;
    act();
    every(per_minute, act);
  });
}

void world::faults() {
  faulty_ = true;
  const auto& chosen = core_.settings;
  every(chosen.losses, [this] { lose_connection(); });
  every(chosen.partitions, [this] { partition(); });
  every(chosen.pauses, [this] { pause(); });
  every(chosen.crashes, [this] { crash(); });
  every(chosen.shortages, [this] { shortage(); });
  every(chosen.reopens, [this] { reopen(); });
  every(chosen.splits, [this] { split(); });
}

void world::script() {
  for (const auto& event : core_.settings.script)
    core_.after(event.at, [&event, this] {
      auto first = *index_in(layout_, event.first);
      auto second = event.second.empty() ? -1 : *index_in(layout_, event.second);
      auto a = static_cast<size_t>(first), b = static_cast<size_t>(second);
      if (event.kind == "crash")
        crash(first, network::departure::crashed, event.lasts);
      else if (event.kind == "replace")
        crash(first, network::departure::silent, event.lasts);
      else if (event.kind == "pause")
        pause(first, event.lasts);
      else if (event.kind == "shortage")
        shortage(first, event.lasts);
      else if (event.kind == "reopen")
        reopen(a - tasks_.size(), network::departure::crashed, event.lasts);
      else if (event.kind == "loss")
        while (auto between = network_.lose_between(a, b, chance_))
          lost(between);
      else
        part(a, b, event.kind == "partition", event.lasts);
    });
}

void world::heal() {
  core_.tell("simulation", "heals");
  faulty_ = false;
  probes_.calm_down();
  for (auto& cure : std::exchange(cures_, {}))
    cure();
  for (auto& task : tasks_)
    if (!task->runs())
      task->start();
  for (auto& client : clients_) {
    client->calm_down();
    if (!client->running())
      client->open();
  }
}

process* world::process_of(int index) {
  auto tasks = static_cast<int>(tasks_.size());
  return index < tasks ? tasks_[static_cast<size_t>(index)]->running()
                       : clients_[static_cast<size_t>(index - tasks)]->running();
}

void world::lose_connection() { lost(network_.lose_one(chance_)); }

void world::lost(std::optional<std::pair<size_t, size_t>> between) {
  if (between)
    core_.begin_fault({fault_kind::loss, static_cast<int>(between->first),
                       static_cast<int>(between->second), core_.now,
                       core_.now + 2 * std::chrono::milliseconds{core_.settings.peer_timeout_ms}});
}

void world::partition() {
  auto count = static_cast<uint64_t>(layout_.processes());
  auto from = chance_.below(count), to = chance_.below(count);
  auto is_mutual = !chance_.permille(core_.settings.one_way);
  auto lasts = chance_.between(duration{50ms}, duration{25s});
  if (from != to)
    part(from, to, is_mutual, lasts);
}

void world::part(size_t from, size_t to, bool is_mutual, duration lasts) {
  core_.tell("network", "parts", from, is_mutual ? " and " : " from ", to, " for ",
             lasts.count() / 1'000'000, " ms");
  network_.block(from, to);
  if (is_mutual)
    network_.block(to, from);
  auto fault_index = core_.begin_fault(
      {fault_kind::partition, static_cast<int>(from), static_cast<int>(to), core_.now});
  auto over = std::make_shared<bool>(false);
  auto cure = [=, this] {
    if (std::exchange(*over, true))
      return;
    core_.tell("network", "joins", from, " and ", to);
    network_.unblock(from, to);
    if (is_mutual)
      network_.unblock(to, from);
    core_.end_fault(fault_index);
  };
  cures_.push_back(cure);
  core_.after(lasts, cure);
}

void world::pause() {
  auto index = static_cast<int>(chance_.below(static_cast<uint64_t>(layout_.processes())));
  pause(index, chance_.between(duration{5ms}, chance_.permille(500) ? duration{500ms} : 20s));
}

void world::pause(int index, duration lasts) {
  auto* target = process_of(index);
  if (!target)
    return;
  core_.tell(target->name(), "pauses", "for ", lasts.count() / 1'000'000, " ms");
  auto until = core_.now + lasts;
  target->sleep_until(until);
  core_.begin_fault({fault_kind::pause, index, -1, core_.now, until});
}

void world::crash() {
  auto index = static_cast<int>(chance_.below(tasks_.size()));
  auto silent = chance_.permille(core_.settings.machines), orderly = chance_.permille(250);
  auto downtime = chance_.between(duration{0}, chance_.permille(500) ? duration{200ms} : 15s);
  auto message_count = chance_.below(300);
  if (!tasks_[static_cast<size_t>(index)]->runs())
    return;
  // The crash happens after this many messages, so that it can interrupt simultaneous events.
  crash_at_ = messages_ + message_count;
  crash_ = [=, this] {
    crash(index,
          orderly  ? network::departure::orderly
          : silent ? network::departure::silent
                   : network::departure::crashed,
          downtime);
  };
}

void world::crash(int index, network::departure leave_mode, duration downtime) {
  auto& task = *tasks_[static_cast<size_t>(index)];
  if (!task.runs() || !faulty_)
    return;
  core_.begin_fault({fault_kind::crash, index, -1, core_.now, core_.now + downtime});
  task.stop(leave_mode);
  core_.after(downtime, [&task] {
    if (!task.runs())
      task.start();
  });
}

void world::shortage() {
  auto index = static_cast<int>(chance_.below(tasks_.size()));
  shortage(index, chance_.between(duration{1ms}, duration{2s}));
}

void world::shortage(int index, duration lasts) {
  auto& task = *tasks_[static_cast<size_t>(index)];
  core_.tell(to_string(task.name()), "short", "of memory for ", lasts.count() / 1'000'000, " ms");
  task.set_short_of_memory(true);
  auto fault_index = core_.begin_fault({fault_kind::shortage, index, -1, core_.now});
  auto over = std::make_shared<bool>(false);
  auto cure = [=, this, &task] {
    if (std::exchange(*over, true))
      return;
    task.set_short_of_memory(false);
    core_.end_fault(fault_index);
  };
  cures_.push_back(cure);
  core_.after(lasts, cure);
}

void world::reopen() {
  auto number = chance_.below(clients_.size());
  auto mode = chance_.below(3);
  auto downtime = chance_.between(duration{0}, duration{3s});
  reopen(number,
         mode == 0   ? network::departure::orderly
         : mode == 1 ? network::departure::crashed
                     : network::departure::silent,
         downtime);
}

void world::reopen(size_t number, network::departure leave_mode, duration downtime) {
  auto& client = *clients_[number];
  if (!client.running() || client.running()->wakes() > core_.now)
    return;
  core_.begin_fault({fault_kind::reopen, layout_.client(static_cast<int>(number)), -1, core_.now,
                     core_.now + downtime});
  client.close(leave_mode);
  core_.after(downtime, [&client] {
    if (!client.running())
      client.open();
  });
}

// A task that is cut off, from some hosts or from all, is restarted on another host, under its name
// and address. The old process keeps running, and the partition ends at some time.
void world::split() {
  auto index = static_cast<int>(chance_.below(tasks_.size()));
  auto& task = *tasks_[static_cast<size_t>(index)];
  auto from_every_host = chance_.permille(400);
  auto cut_off = chance_.between(duration{0}, duration{20s}), lives = chance_.between(1s, 40s),
       gap = chance_.between(duration{0}, chance_.permille(500) ? duration{100ms} : 8s);
  if (!task.serves() || task.running()->wakes() > core_.now)
    return;
  auto host = static_cast<size_t>(layout_.processes()) + ++splits_;
  core_.tell(task.running()->name(), "is cut off", "and lives on as host ", host);
  auto* old = replaced_.emplace_back(task.split(host)).get();
  std::vector<size_t> cut_hosts;
  for (size_t i = 0; i < host; ++i)
    if (from_every_host || chance_.permille(500))
      cut_hosts.push_back(i);
  for (auto cut_host : cut_hosts) {
    network_.block(cut_host, host);
    network_.block(host, cut_host);
  }
  auto fault_index = core_.begin_fault({fault_kind::split, index, -1, core_.now});
  auto joined = std::make_shared<bool>(false), over = std::make_shared<bool>(false);
  auto join = [=, this] {
    if (std::exchange(*joined, true))
      return;
    for (auto cut_host : cut_hosts) {
      network_.unblock(cut_host, host);
      network_.unblock(host, cut_host);
    }
  };
  auto end = [=, this] {
    join();
    if (std::exchange(*over, true))
      return;
    if (old->runs())
      old->stop(network::departure::crashed);
    core_.end_fault(fault_index);
  };
  cures_.push_back(end);
  core_.after(cut_off, join);
  core_.after(lives, end);
  core_.after(gap, [&task] {
    if (!task.runs())
      task.start();
  });
}

// -- the loop ------------------------------------------------------------------------------------

// Performs one event; returns false when none remains.
bool world::step() {
  if (crash_ && messages_ >= crash_at_)
    std::exchange(crash_, nullptr)();
  auto next = core_.next_event();
  auto event = next;
  std::vector<process*> ready;
  auto look_at = [&](process* process_to_check) {
    if (!process_to_check)
      return;
    auto when = process_to_check->next();
    next = std::min(next, when);
    if (when <= core_.now)
      ready.push_back(process_to_check);
  };
  for (int i = 0; i < layout_.processes(); ++i)
    look_at(process_of(i));
  for (const auto& replaced : replaced_)
    look_at(replaced->running());
  if (next == time_point::max())
    return false;
  if (next > core_.now) {
    core_.now = next;
    set_time(next);
    return true;
  }
  if (event <= core_.now && (ready.empty() || chance_order(2) == 0)) {
    core_.run_event();
    return true;
  }
  auto& chosen_process = *ready[chance_order(ready.size())];
  chosen_process.run_one(core_.now, core_.settings.shuffle ? &order_ : nullptr);
  ++messages_;
  if (core_.settings.late && order_.permille(core_.settings.late))
    chosen_process.sleep_until(core_.now + order_.between(duration{0}, 3ms));
  return true;
}

uint64_t world::chance_order(uint64_t n) { return core_.settings.shuffle ? order_.below(n) : 0; }

void world::run_until(time_point when) {
  bool reached = false;
  core_.at(when, [&] { reached = true; });
  while (!reached && !core_.violation() && step())
    ;
}

void world::run_until(const std::function<bool()>& done, duration bound, std::string_view promise) {
  auto latest = core_.now + bound;
  while (!done() && !core_.violation()) {
    if (core_.now > latest || !step())
      return core_.violated(promise, "not within ", bound.count() / 1'000'000'000, " s");
  }
}

void world::watch() {
  for (auto& client : clients_)
    client->check_waits();
  core_.after(1s, [this] {
    if (watching_)
      watch();
  });
}

// -- the end -------------------------------------------------------------------------------------

void world::finish_clients() {
  for (auto& client : clients_)
    client->stop();
  run_until(
      [this] { return std::ranges::all_of(clients_, [](auto& host) { return host->idle(); }); },
      stop_bound, "steps end when faults are over");
  for (auto& client : clients_) {
    if (core_.violation())
      return;
    auto done = std::make_shared<bool>(false);
    client->final_round([done] { *done = true; });
    run_until([done] { return *done; }, final_bound,
              "every kind of step succeeds when faults are over");
  }
}

void world::close_all() {
  if (core_.violation())
    return;
  watching_ = false;
  for (auto& client : clients_)
    client->close(network::departure::orderly);
  run_until(core_.now + idle_bound);
  for (auto& task : tasks_)
    task->check_idle();
  for (auto& task : tasks_)
    if (!core_.violation())
      task->stop(network::departure::orderly);
}

} // namespace troupe::simulate
