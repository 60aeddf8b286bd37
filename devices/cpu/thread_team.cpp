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

// Waking a thread costs some 5 us here and lets it start 10 to 50 us later.
constexpr double worth_a_thread = 20'000; // ns of work
constexpr double smallest_range = 5'000;  // ns: shorter ones spend their time on taking turns
constexpr int ranges_per_thread = 4;      // so that a late thread does not hold up the others
// Loops that take longer look whether their step is stopped, and as often: estimates may be wrong
// by a lot until this becomes noticeable to people.
constexpr double worth_a_look = 100'000, between_looks = 500'000; // ns

thread_local bool inside_loop = false;

// Counts the calling thread as one of those inside loops, until the outermost of its loops ends,
// with an exception or without.
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

// Where cheap items are so many that nobody misses it, ranges begin at multiples of vector_granule.
int64_t range_for(int64_t items, int64_t count, double nanoseconds_per_item) {
  auto range = (items + count - 1) / count;
  if (nanoseconds_per_item * vector_granule > smallest_range)
    return range;
  return (range + vector_granule - 1) / vector_granule * vector_granule;
}

bool stopped(stop_signal* stop) { return stop && stop->due(); }

// How many items may run until somebody looks.
int64_t items_between_looks(int64_t items, double nanoseconds_per_item) {
  auto most = between_looks / nanoseconds_per_item;
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
  int wanted; // how many more threads may join; this and the rest under the team's mutex
  int helpers = 0;
  bool left = false;              // the caller waits for the helpers
  std::exception_ptr failed = {}; // the first exception of the body
  std::condition_variable done = {};
  loop* after = nullptr;
};

std::shared_ptr<thread_team> thread_team::of(int threads) {
  static std::mutex mutex;
  static std::map<int, std::weak_ptr<thread_team>> teams;
  std::lock_guard guard{mutex};
  auto& known = teams[threads];
  auto team = known.lock();
  if (!team)
    known = team = std::make_shared<thread_team>(threads);
  return team;
}

thread_team::~thread_team() {
  {
    std::lock_guard guard{mutex_};
    stopping_ = true;
  }
  wake_.notify_all();
  for (auto& one : workers_)
    one.join();
}

int thread_team::started() const {
  std::lock_guard guard{mutex_};
  return static_cast<int>(workers_.size());
}

// Says how many threads the team can spare, the caller being one of those that are active.
int thread_team::admit_helpers(int wanted) {
  return std::clamp(threads_ - active_.load(std::memory_order_relaxed), 0, wanted);
}

void thread_team::run(int64_t items, double nanoseconds_per_item, range_body body,
                      stop_signal* stop) {
  if (items <= 0)
    return;
  auto work = static_cast<double>(items) * nanoseconds_per_item;
  if (!(work >= worth_a_look))
    stop = nullptr;
  auto longest = stop ? items_between_looks(items, nanoseconds_per_item) : items;
  if (threads_ == 1 || items == 1 || !(work >= 2 * worth_a_thread))
    return run_alone(items, longest, body, stop);

  const active_caller counted{active_};
  auto wanted =
      std::min({static_cast<double>(threads_), static_cast<double>(items), work / worth_a_thread});
  auto helpers = admit_helpers(static_cast<int>(wanted) - 1);
  if (helpers == 0) {
    run_alone(items, longest, body, stop);
  } else {
    auto ranges = std::min({static_cast<double>((helpers + 1) * ranges_per_thread),
                            static_cast<double>(items), std::ceil(work / smallest_range)});
    auto count = static_cast<int64_t>(ranges);
    loop mine{.body = body,
              .items = items,
              .range = std::min(range_for(items, count, nanoseconds_per_item), longest),
              .stop = stop,
              .wanted = helpers};
    {
      std::lock_guard guard{mutex_};
      if (workers_.empty())
        start_workers();
      mine.after = open_;
      open_ = &mine;
    }
    for (int i = 0; i < helpers; ++i)
      wake_.notify_one();
    run_ranges(mine, false);
    std::unique_lock lock{mutex_};
    auto** link = &open_;
    while (*link != &mine)
      link = &(*link)->after;
    *link = mine.after;
    mine.left = true;
    mine.done.wait(lock, [&] { return mine.helpers == 0; });
    if (mine.failed) [[unlikely]]
      std::rethrow_exception(mine.failed);
  }
}

void thread_team::start_workers() {
  try {
    for (int i = 1; i < threads_; ++i) {
      workers_.emplace_back([this] { this->work(); });
      pthread_setname_np(workers_.back().native_handle(), "troupe-loop");
    }
  } catch (const std::exception&) {
    // The system gives no more threads: those that run, and the callers, do the work.
  }
}

void thread_team::work() {
  const flush_subnormals as_the_callers_do;
  inside_loop = true;
  std::unique_lock lock{mutex_};
  while (!stopping_) {
    // A caller that finds no thread to spare opens no loop, but others may have come since.
    auto* found = active_.load(std::memory_order_relaxed) < threads_ ? open_ : nullptr;
    while (found &&
           (found->wanted == 0 || found->next.load(std::memory_order_relaxed) >= found->items))
      found = found->after;
    if (!found) {
      wake_.wait(lock);
      continue;
    }
    --found->wanted;
    ++found->helpers;
    active_.fetch_add(1, std::memory_order_relaxed);
    lock.unlock();
    run_ranges(*found, true);
    lock.lock();
    active_.fetch_sub(1, std::memory_order_relaxed);
    if (--found->helpers == 0 && found->left)
      found->done.notify_one(); // under the lock: the loop is gone as soon as its caller sees this
  }
}

void thread_team::run_ranges(loop& of, bool helps) {
  auto outer = std::exchange(inside_loop, true);
  while (!helps || active_.load(std::memory_order_relaxed) <= threads_) {
    auto begin = of.next.fetch_add(of.range, std::memory_order_relaxed);
    if (begin >= of.items || stopped(of.stop))
      break;
    try {
      of.body.call(of.body.context, begin, std::min(begin + of.range, of.items));
    } catch (...) { // for the caller, whatever thread it comes from
      of.next.store(of.items, std::memory_order_relaxed);
      std::lock_guard guard{mutex_};
      if (!of.failed)
        of.failed = std::current_exception();
    }
  }
  inside_loop = outer;
}

} // namespace troupe
