// Lets only so many steps of one kind run at once; the others wait in line.
#pragma once
#include <cstddef>
#include <deque>
#include <mutex>

namespace troupe {

/// Any thread may call. Whoever was let in leaves once.
class step_gate {
public:
  /// Somebody in line, who must withdraw before it goes.
  class waiter {
  public:
    /// Called once, on the thread of whoever left; must not block.
    virtual void let_in() = 0;

  protected:
    ~waiter() = default;
  };

  /// 0: as many as come.
  explicit step_gate(size_t most = 0) : most_(most) {}

  /// Returns whether `who` may go in at once; else it stands in line.
  bool enter(waiter& who);
  /// Leaves the line. Returns false when `who` was let in meanwhile: then it is inside.
  bool withdraw(waiter& who);
  void leave();
  /// Leaves when it ends, for one that was let in.
  class turn {
  public:
    explicit turn(step_gate& gate) : gate_(gate) {}
    turn(const turn&) = delete;
    turn& operator=(const turn&) = delete;
    ~turn() { gate_.leave(); }

  private:
    step_gate& gate_;
  };
  size_t waiting() const;

private:
  const size_t most_;
  mutable std::mutex mutex_;
  size_t inside_ = 0;
  std::deque<waiter*> line_;
};

} // namespace troupe
