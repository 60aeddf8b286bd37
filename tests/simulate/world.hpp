// A whole cluster in one thread: a phase with faults, then recovery, then the final checks.
#pragma once
#include "tests/simulate/client_host.hpp"
#include "tests/simulate/probes.hpp"

#include <set>

namespace troupe::simulate {

/// Defects to plant, which the simulation must detect.
enum class canary : uint8_t { none, repeated_updates, deaf_listener };

struct outcome {
  std::string violation; ///< the broken promise with details; empty if all held
  double virtual_seconds = 0;
  uint64_t succeeded = 0, failed = 0, faults = 0, messages = 0, lines = 0;
};

layout layout_of(const options& chosen);

class world {
public:
  world(const options& chosen, bool tracing, canary planted);
  ~world();

  outcome run();
  uint64_t probes_hit() const noexcept { return probes_.hits(); }

private:
  void begin();
  void faults();
  void script();
  void every(int64_t per_minute, std::function<void()> act);
  void heal();
  void finish_clients();
  void close_all();
  void watch();

  // Faults: those without arguments are drawn at random.
  void lose_connection();
  void lost(std::optional<std::pair<size_t, size_t>> between);
  void partition();
  void part(size_t from, size_t to, bool is_mutual, duration lasts);
  void pause();
  void pause(int index, duration lasts);
  void crash();
  void crash(int index, network::departure leave_mode, duration downtime);
  void shortage();
  void shortage(int index, duration lasts);
  void reopen();
  void reopen(size_t client, network::departure leave_mode, duration downtime);
  void split();
  process* process_of(int index);

  // The loop.
  bool step();
  uint64_t chance_order(uint64_t n);
  void run_until(time_point when);
  void run_until(const std::function<bool()>& done, duration bound, std::string_view promise);

  core core_;
  layout layout_;
  dice order_, chance_;
  probes probes_;
  ledger ledger_;
  network network_;
  cluster_spec cluster_;
  std::vector<std::unique_ptr<task_host>> tasks_;
  std::vector<std::unique_ptr<client_host>> clients_;
  std::vector<std::unique_ptr<task_host>> replaced_; // replaced tasks that still run
  size_t splits_ = 0;
  std::vector<std::function<void()>> cures_; // functions that end the current faults
  bool faulty_ = false, watching_ = true;
  uint64_t messages_ = 0, crash_at_ = 0;
  std::function<void()> crash_;
};

} // namespace troupe::simulate
