// A connection to another process, as seen by the receivers of its requests.
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

/// The steps or requests whose cancellations have arrived before them, at most the latest
/// `capacity`. Any thread may call.
template <class Key>
class early_cancels {
public:
  static constexpr size_t capacity = 1024;
  void add(const Key& key) {
    std::lock_guard guard{mutex_};
    if (keys_.size() >= capacity)
      keys_.pop_front();
    keys_.push_back(key);
  }
  /// Removes `key`; returns whether it was there.
  bool take(const Key& key) {
    std::lock_guard guard{mutex_};
    return std::erase(keys_, key) > 0;
  }

private:
  std::mutex mutex_;
  std::deque<Key> keys_;
};

/// The waits of steps that the client at the other end has reported. Any thread may call.
class reported_waits {
public:
  /// A client reports its waits every second.
  static constexpr std::chrono::seconds valid_for{5};
  /// Truncates the list and its texts to the limits of client_wait.
  void set(client_wait_list waits) {
    if (waits.size() > client_wait::max_waits)
      waits.resize(client_wait::max_waits);
    for (auto& wait : waits)
      for (auto* text : {&wait.target, &wait.reason})
        text->resize(std::min(text->size(), client_wait::max_text));
    std::lock_guard guard{mutex_};
    waits_ = std::move(waits);
    reported_ = std::chrono::steady_clock::now();
  }
  /// Returns the last report, or an empty list if it is older than `valid_for`.
  client_wait_list now() const {
    std::lock_guard guard{mutex_};
    return std::chrono::steady_clock::now() - reported_ < valid_for ? waits_ : client_wait_list{};
  }

private:
  mutable std::mutex mutex_;
  client_wait_list waits_;
  std::chrono::steady_clock::time_point reported_{};
};

/// One connection, which owns the state that its requests create: the state ends with it. A peer
/// that reconnects after a loss has another peer_connection. Any thread may use it; the
/// members that are neither atomic nor locked are set before its first request is served.
struct peer_connection {
  std::string peer;         ///< "/job:worker/task:1", "client 5", "this process"
  uint64_t incarnation = 0; ///< of the peer
  caf::actor_addr exchange = {};
  std::atomic<bool> is_closed{false};
  std::atomic<size_t> registering{0};          ///< graphs that wait to be compiled
  std::atomic<size_t> running{0};              ///< steps
  std::atomic<size_t> open_inspections{0};     ///< not answered yet
  std::atomic<uint64_t> feed_bytes{0};         ///< bytes of the feeds of its running steps
  std::atomic<bool> is_memory_readable{false}; ///< this process can read the peer's memory
  std::atomic<uint64_t> received{0};           ///< bytes, including those read from its memory
  std::atomic<uint64_t> sent{0};
  std::atomic<int64_t> heard_ns{steady_ns()}; ///< when bytes last came, by steady_ns()
  std::shared_ptr<peer_account> account = {}; ///< of a client on the access list; else null
  early_cancels<step_id> cancelled = {};      ///< by such a client
  reported_waits waits = {};                  ///< of a client

  /// Notes that this number of bytes has come from the peer.
  void hear(size_t bytes) noexcept {
    received.fetch_add(bytes, std::memory_order_relaxed);
    heard_ns.store(steady_ns(), std::memory_order_relaxed);
  }
  double seconds_since_heard() const noexcept {
    auto heard = heard_ns.load(std::memory_order_relaxed);
    return static_cast<double>(std::max<int64_t>(0, steady_ns() - heard)) * 1e-9;
  }

  /// Adds the bytes of a step's feeds, unless that exceeds the limit. A single step may exceed it.
  bool take_feeds(uint64_t bytes, uint64_t limit) noexcept {
    auto before = feed_bytes.fetch_add(bytes, std::memory_order_relaxed);
    if (before == 0 || bytes == 0 || before + bytes <= limit)
      return true;
    feed_bytes.fetch_sub(bytes, std::memory_order_relaxed);
    return false;
  }

  /// Notes that a step has ended or, if the consumption of its inputs depends on other tasks, that
  /// it is settled.
  void end_step() noexcept {
    running.fetch_sub(1, std::memory_order_relaxed);
    if (account)
      account->steps.fetch_sub(1, std::memory_order_relaxed);
  }
};

using connection_ptr = std::shared_ptr<peer_connection>;

} // namespace troupe
