// Stands between a client and a task, and keeps back what the task says when a test wants it.
#pragma once
#include <atomic>
#include <cstdint>
#include <stop_token>
#include <thread>

namespace troupe::test {

/// Listens at a port on loopback, and relays each connection to another.
class relay {
public:
  explicit relay(uint16_t to);
  ~relay();

  uint16_t port() const noexcept { return port_; }
  /// What the task says from now on comes no further.
  void hold() noexcept { holds_ = true; }
  /// Ends the connections that there are. Those that come later are not held.
  void cut() noexcept { cuts_ = true; }
  /// What a client says next comes no further, and its connection ends.
  void lose_request() noexcept { loses_ = true; }

private:
  void run(uint16_t to, const std::stop_token& stop);

  int listener_ = -1;
  uint16_t port_ = 0;
  std::atomic<bool> holds_{false}, cuts_{false}, loses_{false};
  std::jthread thread_;
};

} // namespace troupe::test
