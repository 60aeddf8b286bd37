// Limits how many steps of one kind run at once; the others wait in a queue.
#pragma once
#include <cstddef>
#include <deque>
#include <mutex>

namespace troupe {

/// Any thread may call. Each admitted step calls leave() once.
class step_gate {
public:
  /// A queued step, which must withdraw before it is destroyed.
  class waiter {
  public:
    /// Called once, on the thread of leave(), under a lock: must not block, and must not call the
    /// gate.
    virtual void admitted() = 0;

  protected:
    ~waiter() = default;
  };

  /// 0: no limit.
  explicit step_gate(size_t limit = 0) : limit_(limit) {}

  /// Returns whether `step` is admitted at once; otherwise queues it.
  bool enter(waiter& step);
  /// Removes `step` from the queue. Returns false if it has been admitted meanwhile.
  bool withdraw(waiter& step);
  /// Ends an admitted step, and admits the first queued one.
  void leave();
  /// Calls leave() when it ends, for an admitted step.
  class admission {
  public:
    explicit admission(step_gate& gate) : gate_(gate) {}
    admission(const admission&) = delete;
    admission& operator=(const admission&) = delete;
    ~admission() { gate_.leave(); }

  private:
    step_gate& gate_;
  };
  /// Returns the number of queued steps.
  size_t waiting() const;

private:
  const size_t limit_;
  mutable std::mutex mutex_;
  size_t running_ = 0;
  std::deque<waiter*> queue_;
};

} // namespace troupe
