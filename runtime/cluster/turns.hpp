// Lets so many steps run at once; those that wait take turns, one of each client after the other.
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <map>
#include <utility>

namespace troupe {

/// A client none of whose steps runs is let in at once, however many of others do: what these wait
/// for may be its to bring. So there may be as many more as there are clients, less one. Where all
/// that run wait for what only one in line brings, nobody leaves: whoever has a clock notices, and
/// lets one more in.
class turns {
public:
  using client = uint64_t;

  explicit turns(size_t most) : most_(most) {}

  /// Calls `go` now, or when its turn has come; whoever was called leaves once. `step` is a number
  /// that the client gives to no other that waits. Says whether it was let in.
  bool enter(client who, uint64_t step, std::function<void()> go) {
    auto& line = lines_[who];
    if (line.running > 0 && running_ >= most_) {
      if (line.waiting.empty())
        order_.push_back(who);
      line.waiting.emplace_back(step, std::move(go));
      ++waiting_;
      return false;
    }
    begin(line);
    go();
    return true;
  }

  /// Calls whoever is the next in line, however many run.
  void let_one_more() {
    if (!order_.empty())
      call_next();
  }

  /// Says whether it waited, and now does not any more.
  bool withdraw(client who, uint64_t step) {
    auto line = lines_.find(who);
    if (line == lines_.end() ||
        line->second.waiting.remove_if([&](const auto& one) { return one.first == step; }) == 0)
      return false;
    --waiting_;
    if (line->second.waiting.empty())
      order_.remove(who);
    return true;
  }

  void leave(client who) {
    auto line = lines_.find(who);
    --line->second.running;
    --running_;
    ++left_;
    if (line->second.running == 0 && !line->second.waiting.empty()) {
      order_.remove(who);
      order_.push_front(who);
      call_next();
    } else if (line->second.running == 0) {
      lines_.erase(line);
    }
    while (running_ < most_ && !order_.empty())
      call_next();
  }

  size_t running() const noexcept { return running_; }
  size_t waiting() const noexcept { return waiting_; }
  /// How many have left, ever.
  uint64_t left() const noexcept { return left_; }

private:
  struct line {
    size_t running = 0;
    std::list<std::pair<uint64_t, std::function<void()>>> waiting = {};
  };

  void begin(line& of) {
    ++of.running;
    ++running_;
  }

  void call_next() {
    auto who = order_.front();
    order_.pop_front();
    auto& line = lines_.at(who);
    auto go = std::move(line.waiting.front().second);
    line.waiting.pop_front();
    --waiting_;
    if (!line.waiting.empty())
      order_.push_back(who);
    begin(line);
    go();
  }

  const size_t most_;
  size_t running_ = 0, waiting_ = 0;
  uint64_t left_ = 0;
  std::map<client, line> lines_; // of those that have steps
  std::list<client> order_;      // of those that wait
};

} // namespace troupe
