#include "troupe/api/train/input/input_statistics.hpp"

#include "troupe/runtime/types/status.hpp"

#include <algorithm>
#include <cmath>

namespace troupe {
namespace {

// Below this, what steps wait is the price of taking turns.
constexpr double notable = 0.05;

double starved(const queue_use& of) { return of.seconds > 0 ? of.dequeue_waiting / of.seconds : 0; }

} // namespace

input_statistics operator-(const input_statistics& now, const input_statistics& since) {
  auto difference = now;
  for (auto& one : difference.queues) {
    auto before = std::ranges::find(since.queues, one.queue, &queue_use::queue);
    if (before == since.queues.end())
      continue;
    auto size = one.mean_size * one.seconds - before->mean_size * before->seconds;
    one.seconds -= before->seconds;
    one.mean_size = one.seconds > 0 ? size / one.seconds : 0;
    one.enqueues -= before->enqueues;
    one.dequeues -= before->dequeues;
    one.enqueue_seconds -= before->enqueue_seconds;
    one.dequeue_seconds -= before->dequeue_seconds;
    one.enqueue_waiting -= before->enqueue_waiting;
    one.dequeue_waiting -= before->dequeue_waiting;
  }
  return difference;
}

std::string describe_input(const input_statistics& during) {
  const queue_use* worst = nullptr;
  for (const auto& one : during.queues)
    if (one.last && (!worst || starved(one) > starved(*worst)))
      worst = &one;
  if (!worst)
    return "there is no input to wait for";
  auto percent = std::lround(100 * starved(*worst));
  if (starved(*worst) < notable)
    return concat("the input keeps up: ", percent, " % of each step waits for '", worst->queue,
                  '\'');
  // The first queue that is mostly empty: all behind it wait for what fills it.
  auto slowest =
      std::ranges::find_if(during.queues, [](const queue_use& one) { return starved(one) > 0.5; });
  auto text = concat("the input is the bottleneck: ", percent, " % of each step waits for '",
                     worst->queue, '\'');
  if (slowest != during.queues.end() && &*slowest != worst)
    text += concat("; what fills '", slowest->queue, "' is the slowest part");
  return text;
}

} // namespace troupe
