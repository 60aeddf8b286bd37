#include "troupe/runtime/state/element_store.hpp"

#include <algorithm>
#include <utility>

namespace troupe {
namespace {

uint64_t bytes_of_numbered(const auto& elements) {
  uint64_t all = 0;
  for (const auto& one : elements)
    all += bytes_of(one.tensors);
  return all;
}

} // namespace

uint64_t bytes_of(const element& what) {
  uint64_t all = 0;
  for (const auto& one : what)
    all += one.empty() ? 0 : one.bytes();
  return all;
}

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
  auto number = position_ += 0x9e3779b97f4a7c15u;
  number = (number ^ number >> 30) * 0xbf58476d1ce4e5b9u;
  number = (number ^ number >> 27) * 0x94d049bb133111ebu;
  number ^= number >> 31;
  // The remainder favours small numbers by less than 2^-40 for any queue that fits into memory.
  auto& chosen = elements_[number % elements_.size()];
  auto taken = std::exchange(chosen, {});
  std::swap(chosen, elements_.back());
  elements_.pop_back();
  return taken;
}

uint64_t fifo_store::bytes() const { return bytes_of_numbered(elements_); }

uint64_t shuffle_store::bytes() const { return bytes_of_numbered(elements_); }

uint64_t priority_store::bytes() const {
  uint64_t all = 0;
  for (const auto& [place, tensors] : elements_)
    all += bytes_of(tensors);
  return all;
}

std::vector<numbered_element> priority_store::all() const {
  std::vector<numbered_element> found;
  for (const auto& [place, tensors] : elements_)
    found.push_back({place.second, tensors});
  return found;
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
