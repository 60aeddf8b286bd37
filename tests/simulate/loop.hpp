// Watches the connections of one simulated process, in the place of the thread that waits for
// sockets.
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

/// Says what a socket is ready for.
class socket_states {
public:
  virtual bool readable(int socket) const = 0;
  virtual bool writable(int socket) const = 0;

protected:
  ~socket_states() = default;
};

/// As io_loop::make()'s does, it handles all sockets that are ready, removes what is to go, then
/// tells the time to those who are due; but one thing for each run_one().
class simulated_loop final : public io_loop {
public:
  explicit simulated_loop(const socket_states& states) : states_(states), scratch_(64 * 1024) {}

  status add(int socket, socket_handler& handler, std::chrono::milliseconds tick_period,
             std::shared_ptr<void> keep) override;
  void want_writable(int socket, bool wanted) override;
  void remove(int socket) override;
  allocator& memory() noexcept override { return memory_; }
  int64_t live() const noexcept { return memory_.live; } ///< payloads that are in use

  /// Something has happened at this socket.
  void rouse(int socket) {
    roused_.insert(socket);
    changed_ = true;
  }
  /// The earliest time at which there is something to do; none: time_point::max().
  time_point next() const;
  /// Since it was asked last, next() may have become another.
  bool has_changed() { return std::exchange(changed_, false); }
  void run_one(time_point now, dice* order);
  /// Handles what is ready and removes what is to go, without time. Says whether there was any.
  bool settle();
  size_t sockets() const noexcept { return entries_.size(); }

  bool ticks = true; ///< else a defect is planted, to be found

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
  time_point due_ = time_point::max(); ///< of the first of them
  bool changed_ = true;
  std::set<int> roused_;
  std::vector<int> batch_, to_remove_;
  std::vector<std::byte> scratch_;
};

} // namespace troupe::simulate
