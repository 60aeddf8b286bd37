// Interface of separate threads for the regions of some programs.
#pragma once

namespace troupe {

class ready_work;

/// Any thread may call.
class region_threads {
public:
  virtual ~region_threads() = default;

  /// Whether a region runs on these threads. `heavy`: running it on another thread pays, by the
  /// estimate of the compiler or by measurement.
  virtual bool takes(bool heavy) const noexcept = 0;
  /// Queues a region. Takes over one reference.
  virtual void run_later(ready_work* ready) = 0;
};

} // namespace troupe
