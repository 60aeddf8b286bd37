// The state that all parts of a simulation share: time, future events, chance, the trace, and the
// first violation.
#pragma once
#include "tests/simulate/dice.hpp"
#include "tests/simulate/options.hpp"

#include <cstdio>
#include <functional>
#include <optional>
#include <queue>
#include <string>
#include <vector>

namespace troupe::simulate {

/// split: a task was cut off and replaced, and keeps running.
enum class fault_kind : uint8_t {
  loss,
  partition,
  pause,
  crash,
  shortage,
  buggify,
  reopen,
  reset,
  split
};
std::string_view to_string(fault_kind kind);

/// A fault that was injected into processes, given by index; -1 for all of them.
struct fault {
  fault_kind kind;
  int first = -1, second = -1;
  time_point begin;
  time_point end = time_point::max();
};

class core {
public:
  explicit core(const options& chosen, bool tracing);

  const options settings;
  time_point now;

  void at(time_point when, std::function<void()> act);
  void after(duration later, std::function<void()> act) { at(now + later, std::move(act)); }
  time_point next_event() const;
  void run_event();

  /// Writes one line of the trace: time, subject, action, and details.
  template <class... Ts>
  void tell(std::string_view subject, std::string_view action, const Ts&... details) {
    ++lines_;
    if (tracing_)
      print(subject, action, concat(details...));
  }

  /// Reports a broken promise, which ends the simulation. Only the first one is kept.
  template <class... Ts>
  void violated(std::string_view promise, const Ts&... how) {
    if (violation_)
      return;
    violation_ = concat(promise, ": ", how...);
    tell("simulation", "violated", *violation_);
  }
  const std::optional<std::string>& violation() const noexcept { return violation_; }
  uint64_t lines() const noexcept { return lines_; }

  size_t begin_fault(fault new_fault);
  void end_fault(size_t fault_index) { faults_[fault_index].end = now; }
  /// Whether a fault of these kinds affected one of the processes between these times.
  bool had_fault(std::initializer_list<fault_kind> kinds, const std::vector<int>& processes,
                 time_point from, time_point to) const;
  size_t faults() const noexcept { return faults_.size(); }

private:
  struct event {
    time_point when;
    uint64_t number;
    std::function<void()> act;
    bool operator<(const event& other) const { // the earliest event is on top
      return std::pair{other.when, other.number} < std::pair{when, number};
    }
  };
  void print(std::string_view subject, std::string_view action, const std::string& details) const;

  bool tracing_;
  uint64_t lines_ = 0;
  uint64_t next_number_ = 0;
  std::priority_queue<event> events_;
  std::vector<fault> faults_;
  std::optional<std::string> violation_;
};

} // namespace troupe::simulate
