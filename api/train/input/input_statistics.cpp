#include "troupe/api/train/input/input_statistics.hpp"
// Computes and describes the use of input queues.

#include "troupe/runtime/types/status.hpp"

#include <algorithm>
#include <cmath>

namespace troupe {
namespace {

// Smaller shares of waiting time are caused by queue operations themselves.
constexpr double min_notable_share = 0.05;

double waiting_share(const queue_usage& use) {
  return use.seconds > 0 ? use.dequeue_waiting / use.seconds : 0;
}

} // namespace

input_statistics operator-(const input_statistics& now, const input_statistics& since) {
  auto difference = now;
  for (auto& use : difference.queues) {
    auto before = std::ranges::find(since.queues, use.queue, &queue_usage::queue);
    if (before == since.queues.end())
      continue;
    auto size = use.mean_size * use.seconds - before->mean_size * before->seconds;
    use.seconds -= before->seconds;
    use.mean_size = use.seconds > 0 ? size / use.seconds : 0;
    use.enqueues -= before->enqueues;
    use.dequeues -= before->dequeues;
    use.enqueue_seconds -= before->enqueue_seconds;
    use.dequeue_seconds -= before->dequeue_seconds;
    use.enqueue_waiting -= before->enqueue_waiting;
    use.dequeue_waiting -= before->dequeue_waiting;
  }
  return difference;
}

std::string describe_input(const input_statistics& during) {
  const queue_usage* worst = nullptr;
  for (const auto& use : during.queues)
    if (use.is_last_stage && (!worst || waiting_share(use) > waiting_share(*worst)))
      worst = &use;
  if (!worst)
    return "there is no input to wait for";
  auto percent = std::lround(100 * waiting_share(*worst));
  if (waiting_share(*worst) < min_notable_share)
    return concat("the input keeps up: ", percent, " % of each step waits for '", worst->queue,
                  '\'');
  // The first queue that is mostly empty: later stages wait for its producer.
  auto slowest = std::ranges::find_if(
      during.queues, [](const queue_usage& use) { return waiting_share(use) > 0.5; });
  auto text = concat("the input is the bottleneck: ", percent, " % of each step waits for '",
                     worst->queue, '\'');
  if (slowest != during.queues.end() && &*slowest != worst)
    text += concat("; the stage that fills '", slowest->queue, "' is the slowest");
  return text;
}

} // namespace troupe
