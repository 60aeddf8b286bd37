#include "troupe/api/train/input/batches_ahead.hpp"

#include <boost/asio/post.hpp>
#include <boost/asio/thread_pool.hpp>

namespace troupe {

struct batches_ahead::pool {
  boost::asio::thread_pool threads;
};

batches_ahead::batches_ahead(std::function<batch(int64_t n)> make, size_t threads)
    : make_(std::move(make)), threads_(new pool{boost::asio::thread_pool{threads}}) {}

batches_ahead::~batches_ahead() {
  threads_->threads.stop(); // what has not begun need not
  threads_->threads.join();
}

void batches_ahead::ask(int64_t from, int64_t count) {
  std::erase_if(asked_, [&](const auto& one) { return one.first < from - count; });
  for (auto n = from; n < from + count; ++n) {
    if (asked_.contains(n))
      continue;
    auto made = std::make_shared<std::packaged_task<batch()>>([this, n] { return make_(n); });
    asked_[n] = made->get_future().share();
    boost::asio::post(threads_->threads, [made] { (*made)(); });
  }
}

} // namespace troupe
