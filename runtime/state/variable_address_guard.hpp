// Variables that stay where they are while launches on them are noted down, or made again.
#pragma once
#include "troupe/runtime/state/variable.hpp"

#include <vector>

namespace troupe {

/// While one exists, its thread changes variables in place only: what would give a variable other
/// memory fails instead, and leaves it as it was. Knows what the thread has used. At most one for
/// each thread.
///
/// It works through the functions of `variable`, whose callers, kernels for the most part, do not
/// see it. With a guard on the calling thread, read(), update() and update_unlocked() note the
/// variable here; and assign(), or an update of a value that somebody still holds, fails with
/// aborted. Without one, none of them looks at anything else.
class variable_address_guard {
public:
  struct place {
    variable* which = nullptr;
    const void* memory = nullptr;
    shape dims = {};
    bool changed = false;
    bool locked = false; ///< some change keeps others out
  };

  variable_address_guard() noexcept;
  ~variable_address_guard();
  variable_address_guard(const variable_address_guard&) = delete;
  variable_address_guard& operator=(const variable_address_guard&) = delete;

  static variable_address_guard* current() noexcept; ///< this thread's, or null

  /// Each variable that was used, by address.
  const std::vector<place>& places() const noexcept { return places_; }
  /// Says whether another thread gave one of them other memory meanwhile.
  bool moved() const noexcept { return moved_; }

  void note(variable& which, const tensor& value, bool changed, bool locked);

private:
  std::vector<place> places_;
  bool moved_ = false;
};

} // namespace troupe
