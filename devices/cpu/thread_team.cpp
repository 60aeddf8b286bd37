#include "troupe/devices/cpu/thread_team.hpp"

#include "troupe/devices/deterministic/deterministic.hpp"
#include "troupe/runtime/platform/flush_subnormals.hpp"

#include <algorithm>
#include <cmath>
#include <exception>
#include <map>
#include <pthread.h>

namespace troupe {
namespace {

// Waking a thread costs some 5 us, and the thread starts 10 to 50 us later.
constexpr double min_thread_work = 20'000; // ns of work
constexpr double smallest_range = 5'000;   // ns: the contention for shorter ranges costs too much
constexpr int ranges_per_thread = 4;       // so that a late thread does not delay the others
// Longer loops poll the stop signal of their step at this interval. The estimates of costs may be
// far off before users notice a delay.
constexpr double min_stoppable_work = 100'000, poll_interval = 500'000; // ns

thread_local bool inside_loop = false;

// Counts the calling thread as active until its outermost loop ends, also with an exception.
class active_caller {
public:
  explicit active_caller(std::atomic<int>& active) : active_(inside_loop ? nullptr : &active) {
    if (active_)
      active_->fetch_add(1, std::memory_order_relaxed);
  }
  active_caller(const active_caller&) = delete;
  active_caller& operator=(const active_caller&) = delete;
  ~active_caller() {
    if (active_)
      active_->fetch_sub(1, std::memory_order_relaxed);
  }

private:
  std::atomic<int>* const active_;
};

// Returns the items of a range. Ranges of cheap items begin at multiples of vector_granule.
int64_t range_for(int64_t items, int64_t count, double nanoseconds_per_item) {
  auto range = (items + count - 1) / count;
  if (nanoseconds_per_item * vector_granule > smallest_range)
    return range;
  return (range + vector_granule - 1) / vector_granule * vector_granule;
}

bool stopped(stop_signal* stop) { return stop && stop->is_due(); }

// Returns how many items run between two polls of the stop signal.
int64_t items_per_poll(int64_t items, double nanoseconds_per_item) {
  auto most = poll_interval / nanoseconds_per_item;
  if (most >= static_cast<double>(items))
    return items;
  auto length = std::max(int64_t{1}, static_cast<int64_t>(most));
  return length > vector_granule ? length - length % vector_granule : length;
}

void run_alone(int64_t items, int64_t range, range_body body, stop_signal* stop) {
  for (int64_t begin = 0; begin < items && !stopped(stop); begin += range)
    body.call(body.context, begin, std::min(begin + range, items));
}

} // namespace

struct thread_team::loop {
  range_body body;
  int64_t items;
  int64_t range;
  stop_signal* stop;
  std::atomic<int64_t> next{0};
  int remaining_joins; // this and the following members are guarded by the team's mutex
  int helpers = 0;
  bool caller_waits = false;      // for the helpers to leave
  std::exception_ptr failed = {}; // the first exception of the body
  std::condition_variable done = {};
  loop* next_open = nullptr;
};

std::shared_ptr<thread_team> thread_team::shared(int threads) {
  static std::mutex mutex;
  static std::map<int, std::weak_ptr<thread_team>> teams;
  std::lock_guard guard{mutex};
  auto& shared_team = teams[threads];
  auto team = shared_team.lock();
  if (!team)
    shared_team = team = std::make_shared<thread_team>(threads);
  return team;
}

thread_team::~thread_team() {
  {
    std::lock_guard guard{mutex_};
    stopping_ = true;
  }
  wake_.notify_all();
  for (auto& worker : workers_)
    worker.join();
}

int thread_team::started_workers() const {
  std::lock_guard guard{mutex_};
  return static_cast<int>(workers_.size());
}

// Returns how many helpers the team can spare. The caller is counted as active already.
int thread_team::admit_helpers(int wanted) {
  return std::clamp(threads_ - active_.load(std::memory_order_relaxed), 0, wanted);
}

void thread_team::run(int64_t items, double nanoseconds_per_item, range_body body,
                      stop_signal* stop) {
  if (items <= 0)
    return;
  auto work = static_cast<double>(items) * nanoseconds_per_item;
  if (!(work >= min_stoppable_work))
    stop = nullptr;
  auto longest = stop ? items_per_poll(items, nanoseconds_per_item) : items;
  if (threads_ == 1 || items == 1 || !(work >= 2 * min_thread_work))
    return run_alone(items, longest, body, stop);

  const active_caller counted_caller{active_};
  auto wanted =
      std::min({static_cast<double>(threads_), static_cast<double>(items), work / min_thread_work});
  auto helpers = admit_helpers(static_cast<int>(wanted) - 1);
  if (helpers == 0) {
    run_alone(items, longest, body, stop);
  } else {
    auto ranges = std::min({static_cast<double>((helpers + 1) * ranges_per_thread),
                            static_cast<double>(items), std::ceil(work / smallest_range)});
    auto count = static_cast<int64_t>(ranges);
    loop current{.body = body,
                 .items = items,
                 .range = std::min(range_for(items, count, nanoseconds_per_item), longest),
                 .stop = stop,
                 .remaining_joins = helpers};
    {
      std::lock_guard guard{mutex_};
      if (workers_.empty())
        start_workers();
      current.next_open = open_;
      open_ = &current;
    }
    for (int i = 0; i < helpers; ++i)
      wake_.notify_one();
    run_ranges(current, false);
    std::unique_lock lock{mutex_};
    auto** link = &open_;
    while (*link != &current)
      link = &(*link)->next_open;
    *link = current.next_open;
    current.caller_waits = true;
    current.done.wait(lock, [&] { return current.helpers == 0; });
    if (current.failed) [[unlikely]]
      std::rethrow_exception(current.failed);
  }
}

void thread_team::start_workers() {
  try {
    for (int i = 1; i < threads_; ++i) {
      workers_.emplace_back([this] { this->work(); });
      pthread_setname_np(workers_.back().native_handle(), "troupe-loop");
    }
  } catch (const std::exception&) {
    // The system has no more threads: the started workers and the callers do the work.
  }
}

void thread_team::work() {
  const flush_subnormals same_as_callers;
  inside_loop = true;
  std::unique_lock lock{mutex_};
  while (!stopping_) {
    // A caller that finds no spare thread opens no loop, but more callers may be active since.
    auto* joined = active_.load(std::memory_order_relaxed) < threads_ ? open_ : nullptr;
    while (joined && (joined->remaining_joins == 0 ||
                      joined->next.load(std::memory_order_relaxed) >= joined->items))
      joined = joined->next_open;
    if (!joined) {
      wake_.wait(lock);
      continue;
    }
    --joined->remaining_joins;
    ++joined->helpers;
    active_.fetch_add(1, std::memory_order_relaxed);
    lock.unlock();
    run_ranges(*joined, true);
    lock.lock();
    active_.fetch_sub(1, std::memory_order_relaxed);
    if (--joined->helpers == 0 && joined->caller_waits)
      // Notifies under the lock: the loop is destroyed as soon as its caller sees the change.
      joined->done.notify_one();
  }
}

void thread_team::run_ranges(loop& current, bool is_helper) {
  auto outer = std::exchange(inside_loop, true);
  while (!is_helper || active_.load(std::memory_order_relaxed) <= threads_) {
    auto begin = current.next.fetch_add(current.range, std::memory_order_relaxed);
    if (begin >= current.items || stopped(current.stop))
      break;
    try {
      current.body.call(current.body.context, begin,
                        std::min(begin + current.range, current.items));
    } catch (...) { // rethrown by the caller
      current.next.store(current.items, std::memory_order_relaxed);
      std::lock_guard guard{mutex_};
      if (!current.failed)
        current.failed = std::current_exception();
    }
  }
  inside_loop = outer;
}

} // namespace troupe
