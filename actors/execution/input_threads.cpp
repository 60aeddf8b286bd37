#include "troupe/actors/execution/input_threads.hpp"

#include "troupe/actors/base/give_way.hpp"
#include "troupe/serialization/records/files_for_readers.hpp"

#include <condition_variable>
#include <deque>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

namespace troupe {
struct input_threads::state {
  const size_t most;
  const std::unique_ptr<file_access> files = files_for_readers(real_files());
  std::mutex mutex;
  std::condition_variable changed;
  std::deque<std::function<void(file_access&)>> work;
  std::vector<std::thread> threads;
  size_t idle = 0;
  bool ends = false;

  explicit state(size_t threads_at_most) : most(threads_at_most) {}

  void serve() {
    give_way();
    std::unique_lock lock{mutex};
    while (!ends) {
      if (work.empty()) {
        ++idle;
        changed.wait(lock, [&] { return ends || !work.empty(); });
        --idle;
        continue;
      }
      auto next = std::move(work.front());
      work.pop_front();
      lock.unlock();
      next(*files);
      next = nullptr; // what it holds may end other things
      lock.lock();
    }
  }
};

input_threads::input_threads(size_t most) : state_(std::make_shared<state>(most)) {}

input_threads::~input_threads() { close(); }

void input_threads::close() {
  std::deque<std::function<void(file_access&)>> dropped;
  std::vector<std::thread> threads;
  {
    std::lock_guard guard{state_->mutex};
    state_->ends = true;
    dropped.swap(state_->work);
    threads.swap(state_->threads);
  }
  state_->changed.notify_all();
  for (auto& one : threads)
    if (one.get_id() == std::this_thread::get_id())
      one.detach();
    else
      one.join();
}

bool input_threads::run(std::function<void(file_access&)> work) {
  auto& s = *state_;
  if (s.most == 0) {
    work(*s.files);
    return true;
  }
  {
    std::lock_guard guard{s.mutex};
    if (s.ends)
      return true;
    s.work.push_back(std::move(work));
    if (s.idle < s.work.size() && s.threads.size() < s.most) {
      try {
        s.threads.emplace_back([of = state_] { of->serve(); });
      } catch (const std::system_error&) {
        if (s.threads.empty()) {
          s.work.pop_back();
          return false;
        }
      }
    }
  }
  s.changed.notify_one();
  return true;
}

} // namespace troupe
