#include "troupe/runtime/cluster/directory_calls.hpp"

#include <algorithm>
#include <cassert>
#include <set>

namespace troupe {
namespace {

using namespace std::chrono_literals;

// The longest pauses between two calls: without any link, with one, and to a node that is not
// listed any longer.
constexpr std::chrono::milliseconds pause_without_link = 1s, pause_with_link = 8s,
                                    pause_of_forgotten = 30s;
// Time in which the node with the lesser process number calls.
constexpr std::chrono::milliseconds patience_with_lesser = 1s;

} // namespace

directory_calls::directory_calls(std::vector<std::string> named, uint64_t own_process,
                                 const directory_limits& limits)
    : own_process_(own_process), limits_(limits), random_state_(own_process) {
  for (auto& address : named)
    if (!find(address))
      calls_.push_back({.address = std::move(address), .is_named = true});
}

void directory_calls::learn(uint64_t process, const std::vector<std::string>& addresses,
                            time_point now) {
  assert(process != own_process_);
  std::erase_if(calls_, [&](const call& former) {
    return former.process == process && !former.is_named &&
           std::ranges::find(addresses, former.address) == addresses.end();
  });
  std::set<uint64_t> learned;
  for (const auto& other : calls_)
    if (!other.is_named && !other.forget_at)
      learned.insert(other.process);
  if (!learned.contains(process) && learned.size() >= limits_.nodes)
    return;
  for (const auto& address : addresses) {
    auto* known = find(address);
    if (!known) {
      calls_.push_back({.address = address});
      known = &calls_.back();
    }
    known->forget_at.reset();
    known->process = process;
    known->pause.reset();
    known->due = own_process_ < process ? now : now + patience_with_lesser;
  }
}

void directory_calls::forget(uint64_t process, bool left, time_point now) {
  std::erase_if(calls_, [&](const call& former) {
    return former.process == process && !former.is_named && left;
  });
  size_t forgotten_count = 0;
  for (auto& former : calls_) {
    if (former.process == process && !former.is_named && !former.forget_at)
      former.forget_at = now + limits_.remember;
    forgotten_count += former.forget_at.has_value();
  }
  // Those that were learned first make room.
  for (auto first = calls_.begin(); forgotten_count > limits_.nodes; --forgotten_count) {
    first = std::find_if(first, calls_.end(), [](const call& c) { return c.forget_at; });
    first = calls_.erase(first);
  }
}

std::vector<std::string> directory_calls::take_due(time_point now, size_t room,
                                                   const link_test& is_linked) {
  std::erase_if(calls_, [&](const call& former) {
    return former.forget_at && now >= *former.forget_at && !former.is_calling;
  });
  std::set<uint64_t> called;
  size_t calling_count = 0;
  for (const auto& other : calls_)
    if (other.is_calling) {
      ++calling_count;
      called.insert(other.process);
    }
  std::vector<std::string> due;
  for (auto& next : calls_) {
    if (calling_count >= std::min(room, limits_.calls))
      break;
    if (next.is_self || next.is_calling || now < next.due)
      continue;
    if (next.process != 0 && (is_linked(next.process) || called.contains(next.process)))
      continue;
    next.is_calling = true;
    next.began = now;
    ++calling_count;
    if (next.process != 0)
      called.insert(next.process);
    due.push_back(next.address);
  }
  return due;
}

void directory_calls::failed(const std::string& address, const status& why, bool lasting,
                             bool has_links, time_point now) {
  auto* ended = find(address);
  if (!ended || !ended->is_calling)
    return;
  ended->is_calling = false;
  ended->why = why;
  schedule(*ended, std::chrono::duration_cast<std::chrono::milliseconds>(now - ended->began),
           lasting, has_links, now);
}

void directory_calls::reached(const std::string& address, uint64_t process) {
  auto* ended = find(address);
  if (!ended)
    return;
  ended->is_calling = false;
  ended->process = process;
  ended->why = {};
  ended->pause.reset();
  ended->forget_at.reset();
}

void directory_calls::reached_self(const std::string& address) {
  if (auto* ended = find(address)) {
    ended->is_calling = false;
    ended->is_self = true;
    ended->why = {};
  }
}

void directory_calls::lost(uint64_t process, const status& why, bool lasting, bool has_links,
                           time_point now) {
  for (auto& next : calls_)
    if (next.process == process && !next.is_calling) {
      next.why = why;
      schedule(next, 0ms, lasting, has_links, now);
      if (process < own_process_)
        next.due += patience_with_lesser;
    }
}

bool directory_calls::names(bool self) const {
  return std::ranges::any_of(
      calls_, [&](const call& next) { return next.is_named && next.is_self == self; });
}

bool directory_calls::is_busy(time_point end, size_t room, const link_test& is_linked) const {
  return std::ranges::any_of(calls_, [&](const call& next) {
    return next.is_calling || (room > 0 && !next.is_self && next.due < end &&
                               (next.process == 0 || !is_linked(next.process)));
  });
}

std::string directory_calls::problems() const {
  std::string text;
  for (const auto& next : calls_)
    if (!next.why.ok())
      text += concat(text.empty() ? "" : "; ", next.address, ": ", next.why.message());
  return text;
}

directory_calls::call* directory_calls::find(const std::string& address) {
  auto entry = std::ranges::find(calls_, address, &call::address);
  return entry == calls_.end() ? nullptr : &*entry;
}

void directory_calls::schedule(call& next, std::chrono::milliseconds call_time, bool lasting,
                               bool has_links, time_point now) {
  auto longest = next.forget_at ? pause_of_forgotten
                 : has_links    ? pause_with_link
                                : pause_without_link;
  next.due = now + (lasting ? pause_with_link : next.pause.next(call_time, longest, random()));
}

// A step of SplitMix64.
uint64_t directory_calls::random() {
  auto bits = random_state_ += 0x9e3779b97f4a7c15;
  bits = (bits ^ (bits >> 30)) * 0xbf58476d1ce4e5b9;
  bits = (bits ^ (bits >> 27)) * 0x94d049bb133111eb;
  return bits ^ (bits >> 31);
}

} // namespace troupe
