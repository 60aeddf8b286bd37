// Interface of separate threads for the regions of some programs.
#pragma once

namespace caf {
class resumable;
}

namespace troupe {

/// Any thread may call.
class region_threads {
public:
  virtual ~region_threads() = default;

  /// Whether such regions run on these threads; `heavy` regions are worth another thread.
  virtual bool takes(bool heavy) const noexcept = 0;
  /// Takes over one reference.
  virtual void run_later(caf::resumable* ready) = 0;
};

} // namespace troupe
