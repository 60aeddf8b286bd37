#include "troupe/actors/execution/file_threads.hpp"

#include "troupe/actors/base/lower_thread_priority.hpp"
#include "troupe/serialization/records/files_for_readers.hpp"

#include <condition_variable>
#include <deque>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

namespace troupe {
struct file_threads::state {
  const size_t max_threads;
  const std::unique_ptr<file_access> files = files_for_readers(real_files());
  std::mutex mutex;
  std::condition_variable changed;
  std::deque<std::function<void(file_access&)>> work;
  std::vector<std::thread> threads;
  size_t idle = 0;
  bool closing = false;

  explicit state(size_t limit) : max_threads(limit) {}

  void serve() {
    lower_thread_priority();
    std::unique_lock lock{mutex};
    while (!closing) {
      if (work.empty()) {
        ++idle;
        changed.wait(lock, [&] { return closing || !work.empty(); });
        --idle;
        continue;
      }
      auto next = std::move(work.front());
      work.pop_front();
      lock.unlock();
      next(*files);
      next = nullptr; // its destructor may end actors; not under the lock
      lock.lock();
    }
  }
};

file_threads::file_threads(size_t max_threads) : state_(std::make_shared<state>(max_threads)) {}

file_threads::~file_threads() { close(); }

void file_threads::close() {
  std::deque<std::function<void(file_access&)>> dropped;
  std::vector<std::thread> threads;
  {
    std::lock_guard guard{state_->mutex};
    state_->closing = true;
    dropped.swap(state_->work);
    threads.swap(state_->threads);
  }
  state_->changed.notify_all();
  for (auto& thread : threads)
    if (thread.get_id() == std::this_thread::get_id())
      thread.detach();
    else
      thread.join();
}

bool file_threads::run(std::function<void(file_access&)> work) {
  auto& shared = *state_;
  if (shared.max_threads == 0) {
    work(*shared.files);
    return true;
  }
  {
    std::lock_guard guard{shared.mutex};
    if (shared.closing)
      return true;
    shared.work.push_back(std::move(work));
    if (shared.idle < shared.work.size() && shared.threads.size() < shared.max_threads) {
      try {
        shared.threads.emplace_back([shared_state = state_] { shared_state->serve(); });
      } catch (const std::system_error&) {
        if (shared.threads.empty()) {
          shared.work.pop_back();
          return false;
        }
      }
    }
  }
  shared.changed.notify_one();
  return true;
}

} // namespace troupe
