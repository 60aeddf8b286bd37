// Stands between a client and a task, and withholds the task's messages when a test requests it.
#pragma once
#include <atomic>
#include <cstdint>
#include <stop_token>
#include <thread>

namespace troupe::test {

/// Listens at a port on loopback, and relays each connection to another.
class relay {
public:
  explicit relay(uint16_t target_port);
  ~relay();

  uint16_t port() const noexcept { return port_; }
  /// From now on, withholds the task's messages.
  void hold() noexcept { holds_ = true; }
  /// Ends the existing connections. Later connections are not held.
  void cut() noexcept { cuts_ = true; }
  /// Drops the client's next message, and ends its connection.
  void lose_request() noexcept { loses_ = true; }

private:
  void run(uint16_t target_port, const std::stop_token& stop);

  int listener_ = -1;
  uint16_t port_ = 0;
  std::atomic<bool> holds_{false}, cuts_{false}, loses_{false};
  std::jthread thread_;
};

} // namespace troupe::test
