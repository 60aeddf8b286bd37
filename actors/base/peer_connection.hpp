// A connection to another process, as whoever it brings requests to knows it.
#pragma once
#include "troupe/actors/base/peer_account.hpp"
#include "troupe/runtime/insight/client_wait.hpp"
#include "troupe/runtime/platform/tsc_clock.hpp"
#include "troupe/runtime/types/step_id.hpp"

#include <caf/actor_addr.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <string>

namespace troupe {

/// What was cancelled before it came, steps or requests: the latest ones. Any thread may call.
template <class Key>
class early_cancels {
public:
  static constexpr size_t most = 1024;
  void add(const Key& one) {
    std::lock_guard guard{mutex_};
    if (all_.size() >= most)
      all_.pop_front();
    all_.push_back(one);
  }
  /// Says whether it was one of them, which is then forgotten.
  bool take(const Key& one) {
    std::lock_guard guard{mutex_};
    return std::erase(all_, one) > 0;
  }

private:
  std::mutex mutex_;
  std::deque<Key> all_;
};

/// What the client at the other end has told of its waits. Any thread may call.
class told_waits {
public:
  /// A client tells them each second.
  static constexpr std::chrono::seconds valid_for{5};
  /// Keeps as much as client_wait allows.
  void set(client_wait_list waits) {
    if (waits.size() > client_wait::most)
      waits.resize(client_wait::most);
    for (auto& each : waits)
      for (auto* text : {&each.target, &each.reason})
        text->resize(std::min(text->size(), client_wait::most_text));
    std::lock_guard guard{mutex_};
    waits_ = std::move(waits);
    told_ = std::chrono::steady_clock::now();
  }
  client_wait_list now() const {
    std::lock_guard guard{mutex_};
    return std::chrono::steady_clock::now() - told_ < valid_for ? waits_ : client_wait_list{};
  }

private:
  mutable std::mutex mutex_;
  client_wait_list waits_;
  std::chrono::steady_clock::time_point told_{};
};

/// What comes by a connection belongs to it, and goes with it: two connections of one peer, before
/// and after a loss, are two.
struct peer_connection {
  std::string peer;         ///< "/job:worker/task:1", "client 5", "this process"
  uint64_t incarnation = 0; ///< of the peer
  caf::actor_addr exchange = {};
  std::atomic<bool> gone{false};
  std::atomic<size_t> registering{0}; ///< graphs that wait to be compiled
  std::atomic<size_t> running{0};     ///< steps
  std::atomic<size_t> questions{0};   ///< of what there is to see, that are not answered
  std::atomic<uint64_t> fed{0};       ///< bytes that its running steps were fed with
  std::atomic<bool> near{false};      ///< its memory can be read from here
  std::atomic<uint64_t> received{0};  ///< bytes, those read out of its memory among them
  std::atomic<uint64_t> sent{0};
  std::atomic<int64_t> heard_ns{steady_ns()}; ///< when the peer was last heard, by steady_ns()
  std::shared_ptr<peer_account> account = {}; ///< of a client that is on an access list
  early_cancels<step_id> cancelled = {};      ///< of such a client
  told_waits waits = {};                      ///< of a client

  /// So many bytes have come from the peer.
  void hear(size_t bytes) noexcept {
    received.fetch_add(bytes, std::memory_order_relaxed);
    heard_ns.store(steady_ns(), std::memory_order_relaxed);
  }
  double seconds_since_heard() const noexcept {
    auto heard = heard_ns.load(std::memory_order_relaxed);
    return static_cast<double>(std::max<int64_t>(0, steady_ns() - heard)) * 1e-9;
  }

  /// Counts what a step was fed with. A step alone may have more than the limit.
  bool take_feeds(uint64_t bytes, uint64_t limit) noexcept {
    auto before = fed.fetch_add(bytes, std::memory_order_relaxed);
    if (before == 0 || bytes == 0 || before + bytes <= limit)
      return true;
    fed.fetch_sub(bytes, std::memory_order_relaxed);
    return false;
  }

  /// A step has ended, or, where what it was given depends on others, is settled.
  void end_step() noexcept {
    running.fetch_sub(1, std::memory_order_relaxed);
    if (account)
      account->steps.fetch_sub(1, std::memory_order_relaxed);
  }
};

using connection_ptr = std::shared_ptr<peer_connection>;

} // namespace troupe
