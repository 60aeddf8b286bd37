#include "troupe/runtime/state/element_store.hpp"

#include "troupe/runtime/types/held_bytes.hpp"

#include <algorithm>
#include <utility>

namespace troupe {
namespace {

uint64_t bytes_of_numbered(const auto& elements) {
  uint64_t total = 0;
  for (const auto& numbered : elements)
    total += bytes_of(numbered.tensors);
  return total;
}

} // namespace

uint64_t bytes_of(const element& components) {
  uint64_t total = 0;
  for (const auto& component : components)
    total += held_bytes(component);
  return total;
}

void fifo_store::put(numbered_element numbered) {
  // An element that goes back belongs near the front.
  auto position = elements_.empty() || elements_.back().number < numbered.number
                      ? elements_.end()
                      : std::ranges::find_if(elements_, [&](const auto& stored) {
                          return stored.number > numbered.number;
                        });
  elements_.insert(position, std::move(numbered));
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
  // The remainder favours small numbers by less than 2^-40 for each queue that fits into memory.
  auto& chosen = elements_[number % elements_.size()];
  auto taken = std::exchange(chosen, {});
  std::swap(chosen, elements_.back());
  elements_.pop_back();
  return taken;
}

uint64_t fifo_store::bytes() const { return bytes_of_numbered(elements_); }

uint64_t shuffle_store::bytes() const { return bytes_of_numbered(elements_); }

uint64_t priority_store::bytes() const {
  uint64_t total = 0;
  for (const auto& [place, tensors] : elements_)
    total += bytes_of(tensors);
  return total;
}

std::vector<numbered_element> priority_store::copy_elements() const {
  std::vector<numbered_element> elements;
  for (const auto& [place, tensors] : elements_)
    elements.push_back({place.second, tensors});
  return elements;
}

void priority_store::put(numbered_element numbered) {
  auto priority = *numbered.tensors.front().data<int64_t>();
  elements_.emplace(std::pair{priority, numbered.number}, std::move(numbered.tensors));
}

numbered_element priority_store::take() {
  auto first = elements_.begin();
  numbered_element taken{first->first.second, std::move(first->second)};
  elements_.erase(first);
  return taken;
}

} // namespace troupe
