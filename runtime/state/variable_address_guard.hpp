// Keeps variables at their addresses while launches that use them are captured or replayed.
#pragma once
#include "troupe/runtime/state/variable.hpp"

#include <vector>

namespace troupe {

/// While a guard exists, its thread updates variables in place only: an operation that would give a
/// variable other memory fails, and leaves the variable as it was. The guard records the variables
/// that the thread has used. At most one for each thread.
///
/// The functions of `variable` consult it, so that their callers, mostly kernels, need not. With a
/// guard on the calling thread, read(), update() and update_unlocked() record the variable in it,
/// and assign(), or an update of a value that is shared, fails with aborted. Without a guard, they
/// do no extra work.
class variable_address_guard {
public:
  struct place {
    variable* used_variable = nullptr;
    const void* memory = nullptr;
    shape dims = {};
    bool changed = false;
    bool locked = false; ///< some update was made under the lock
  };

  variable_address_guard() noexcept;
  ~variable_address_guard();
  variable_address_guard(const variable_address_guard&) = delete;
  variable_address_guard& operator=(const variable_address_guard&) = delete;

  static variable_address_guard* current() noexcept; ///< the calling thread's guard, or null

  /// The variables that were used, ordered by address.
  const std::vector<place>& places() const noexcept { return places_; }
  /// Returns whether another thread gave one of them other memory meanwhile.
  bool moved() const noexcept { return moved_; }

  /// Records a use of a variable by the guard's thread. Called by the functions of `variable`.
  void note(variable& used, const tensor& value, bool changed, bool locked);

private:
  std::vector<place> places_;
  bool moved_ = false;
};

} // namespace troupe
