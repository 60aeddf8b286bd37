#include "troupe/runtime/state/element_store.hpp"

#include <algorithm>
#include <utility>

namespace troupe {

void fifo_store::put(numbered_element what) {
  // What comes back belongs near the front.
  auto at = elements_.empty() || elements_.back().number < what.number
                ? elements_.end()
                : std::ranges::find_if(elements_,
                                       [&](const auto& one) { return one.number > what.number; });
  elements_.insert(at, std::move(what));
}

numbered_element fifo_store::take() {
  auto first = std::move(elements_.front());
  elements_.pop_front();
  return first;
}

numbered_element shuffle_store::take() {
  // The remainder favours small numbers by less than 2^-40 for any queue that fits into memory.
  auto& chosen = elements_[dice_() % elements_.size()];
  auto taken = std::exchange(chosen, {});
  std::swap(chosen, elements_.back());
  elements_.pop_back();
  return taken;
}

void priority_store::put(numbered_element what) {
  auto priority = *what.tensors.front().data<int64_t>();
  elements_.emplace(std::pair{priority, what.number}, std::move(what.tensors));
}

numbered_element priority_store::take() {
  auto first = elements_.begin();
  numbered_element taken{first->first.second, std::move(first->second)};
  elements_.erase(first);
  return taken;
}

} // namespace troupe
