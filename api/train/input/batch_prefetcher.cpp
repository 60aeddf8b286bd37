#include "troupe/api/train/input/batch_prefetcher.hpp"
// Computes batches on a thread pool before they are needed.

#include <boost/asio/post.hpp>
#include <boost/asio/thread_pool.hpp>

namespace troupe {

struct batch_prefetcher::pool {
  boost::asio::thread_pool threads;
};

batch_prefetcher::batch_prefetcher(std::function<batch(int64_t number)> make, size_t threads)
    : make_(std::move(make)), threads_(new pool{boost::asio::thread_pool{threads}}) {}

batch_prefetcher::~batch_prefetcher() {
  threads_->threads.stop(); // drops batches that have not begun
  threads_->threads.join();
}

void batch_prefetcher::request(int64_t first, int64_t count) {
  std::erase_if(requested_, [&](const auto& entry) { return entry.first < first - count; });
  for (auto number = first; number < first + count; ++number) {
    if (requested_.contains(number))
      continue;
    auto task =
        std::make_shared<std::packaged_task<batch()>>([this, number] { return make_(number); });
    requested_[number] = task->get_future().share();
    boost::asio::post(threads_->threads, [task] { (*task)(); });
  }
}

} // namespace troupe
