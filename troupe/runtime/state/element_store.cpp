#include "troupe/runtime/state/element_store.hpp"

#include <utility>

namespace troupe {
namespace {

int64_t priority_of(const element& what) { return *what.front().data<int64_t>(); }

} // namespace

element fifo_store::take() {
  auto first = std::move(elements_.front());
  elements_.pop_front();
  return first;
}

element shuffle_store::take() {
  // The remainder favours small numbers by less than 2^-40 for any queue that fits into memory.
  auto& chosen = elements_[dice_() % elements_.size()];
  auto taken = std::exchange(chosen, {});
  std::swap(chosen, elements_.back());
  elements_.pop_back();
  return taken;
}

void priority_store::put(element what) {
  auto priority = priority_of(what);
  elements_.emplace_hint(elements_.upper_bound(priority), priority, std::move(what));
}

void priority_store::put_back(element what) {
  auto priority = priority_of(what);
  elements_.emplace_hint(elements_.lower_bound(priority), priority, std::move(what));
}

element priority_store::take() {
  auto first = std::move(elements_.begin()->second);
  elements_.erase(elements_.begin());
  return first;
}

} // namespace troupe
