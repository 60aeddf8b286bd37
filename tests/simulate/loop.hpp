// Watches the connections of one simulated process; replaces the thread that waits for sockets.
#pragma once
#include "tests/simulate/dice.hpp"
#include "troupe/actors/execution/io_loop.hpp"

#include <deque>
#include <map>
#include <memory>
#include <set>
#include <utility>
#include <vector>

namespace troupe::simulate {

/// The readiness of a socket.
class socket_states {
public:
  virtual bool readable(int socket) const = 0;
  virtual bool writable(int socket) const = 0;

protected:
  ~socket_states() = default;
};

/// Like the loop of io_loop::own(), it handles all ready sockets, removes closed ones, then calls
/// the due timers; but each run_one() does a single thing.
class simulated_loop final : public io_loop {
public:
  explicit simulated_loop(const socket_states& states) : states_(states), scratch_(64 * 1024) {}

  status add(int socket, socket_handler& handler, std::chrono::milliseconds tick_period,
             std::shared_ptr<void> keep) override;
  void want_writable(int socket, bool wants_writable) override;
  void remove(int socket) override;
  allocator& memory() noexcept override { return memory_; }
  int64_t live() const noexcept { return memory_.live; } ///< payloads in use

  /// Notifies the loop of an event at this socket.
  void wake(int socket) {
    woken_.insert(socket);
    changed_ = true;
  }
  /// The earliest time at which there is work; time_point::max() if there is none.
  time_point next() const;
  /// Whether next() may have changed since the last call.
  bool has_changed() { return std::exchange(changed_, false); }
  void run_one(time_point now, dice* order);
  /// Handles ready sockets and removes closed ones, without advancing time. Returns whether there
  /// were any.
  bool settle();
  size_t sockets() const noexcept { return entries_.size(); }

  bool ticks = true; ///< false plants a defect, to test the simulation

private:
  struct counting_memory final : allocator {
    void* allocate(size_t bytes) noexcept override {
      ++live;
      return heap_allocator().allocate(bytes);
    }
    void deallocate(void* memory, size_t bytes) noexcept override {
      --live;
      heap_allocator().deallocate(memory, bytes);
    }
    int64_t live = 0;
  };
  struct entry {
    socket_handler* handler;
    duration period;
    time_point due;
    std::shared_ptr<void> keep;
    bool wants_writable = false;
  };
  void handle(int socket);
  void remove_all();
  void tick(time_point now);
  void find_due();

  const socket_states& states_;
  counting_memory memory_;
  std::map<int, entry> entries_;
  time_point due_ = time_point::max(); ///< the earliest due time
  bool changed_ = true;
  std::set<int> woken_;
  std::vector<int> batch_, to_remove_;
  std::vector<std::byte> scratch_;
};

} // namespace troupe::simulate
