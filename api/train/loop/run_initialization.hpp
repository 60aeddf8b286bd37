// Initializes the variables of a run where another program may also initialize them.
#pragma once
#include "troupe/api/initialized_by_other_client.hpp"
#include "troupe/api/session.hpp"

#include <source_location>

namespace troupe {

/// The initialization at the start of a run, with retries.
class run_initialization {
public:
  /// Calls `act` within session::initialize_tasks.
  template <class Act>
  void run(session& in, const std::source_location& where, const Act& act) {
    auto has_acted = false;
    auto initialize = [&](session&) {
      act();
      has_acted = true;
    };
    try {
      in.initialize_tasks(initialize, where);
      may_be_initialized_ = true; // other programs may run steps from now on
    } catch (const initialized_by_other_client&) {
      may_be_initialized_ = true;
      throw;
    } catch (const error&) {
      may_be_initialized_ |=
          has_acted; // the tasks may have been notified, and other programs may have run steps
      throw;
    }
  }

  /// Returns true if all tasks may be initialized already, by another program or by this one.
  bool may_be_initialized() const noexcept { return may_be_initialized_; }
  /// Within `act`, after it has used the state of the tasks: returns true if an earlier
  /// initialization was not completed.
  bool is_incomplete(const session& in) const noexcept {
    return may_be_initialized_ && in.is_initializing();
  }

private:
  bool may_be_initialized_ = false;
};

} // namespace troupe
