// Threads of their own for the regions of some programs.
#pragma once

namespace caf {
class resumable;
}

namespace troupe {

/// Any thread may call.
class region_threads {
public:
  virtual ~region_threads() = default;

  /// Whether such regions run there; `heavy` are those that are worth another thread.
  virtual bool takes(bool heavy) const noexcept = 0;
  /// Takes over one reference.
  virtual void run_later(caf::resumable* ready) = 0;
};

} // namespace troupe
